"""Numbers as Brazilian sources write them, read exactly; and the many ways they write "no number".

Everything arrives as text. A value either parses whole or is refused; what is missing keeps its marker, because
"zero", "suppressed" and "not published" lead to different verdicts.
"""

import re
from collections.abc import Iterable
from decimal import Decimal

import polars as pl

from transforms.errors import UsageError

# IBGE's table conventions. Only "-" is a number: an absolute zero.
ZERO_MARKER = "-"
NOT_APPLICABLE, NOT_AVAILABLE, SUPPRESSED, NO_DATA = "..", "...", "X", "."
IBGE_MISSING = (NOT_APPLICABLE, NOT_AVAILABLE, SUPPRESSED, NO_DATA)
# TSE's: blank, not recorded that year, not divulged; never values, and never part of a sum.
TSE_MISSING = ("#NULO", "#NULO#", "#NE", "#NE#", "#NI", "#NI#", "-1", "-3", "-4")

_AMBIGUOUS = re.compile(r"\d+([.,]\d{3})+")  # 10.000 is ten thousand to one reader and ten to another
_COMMA = re.compile(r"\d+,\d+|\d{1,3}(\.\d{3})+,\d+")
_POINT = re.compile(r"\d+\.\d+")
_WHOLE = re.compile(r"\d+")


def missing_marker(text: pl.Expr, markers: Iterable[str] = IBGE_MISSING) -> pl.Expr:
    """The marker a cell holds instead of a number, else null. An empty cell is marked by the empty text."""
    stripped = text.str.strip_chars()
    return pl.when(stripped.is_in([*markers, ""])).then(stripped)


def count(text: pl.Expr, markers: Iterable[str] = IBGE_MISSING) -> pl.Expr:
    """A whole number; null where the cell holds a missing marker; IBGE's "-" is zero. Anything else raises."""
    stripped = text.str.strip_chars()
    return (
        pl.when(stripped == ZERO_MARKER)
        .then(pl.lit("0"))
        .when(~stripped.is_in([*markers, ""]))
        .then(stripped)
        .cast(pl.Int64, strict=True)
    )


def decimal(text: str, *, decimal_mark: str | None = None) -> Decimal:
    """One number in Brazilian or plain notation, exactly: `1.234,56`, `12,5`, `1234`, `R$ 1.234.567,89`.

    Three digits after a mark say nothing of what it parts: `1.234` is refused, whatever stands beside it. Negatives:
    `-1`, `−1`, `1-`, `(1)`. `decimal_mark` refuses the other one. Raises UsageError on anything else.

    >>> decimal("(1.234,56)")
    Decimal('-1234.56')
    """
    body = _bare(text)
    negative = body.startswith("-") or body.endswith("-") or (body.startswith("(") and body.endswith(")"))
    if negative:
        body = _bare(body.strip("-()"))
    mark = shown_mark(text)
    if _AMBIGUOUS.fullmatch(body):
        whole, shown = "-" * negative + re.sub("[.,]", "", body), decimal_mark or ","
        raise UsageError(
            f"ambiguous: {text!r} may have marks of thousands, or decimals",
            action=f"write {whole}, or {whole}{shown}00, if it is that many",
        )
    if mark is None and not _WHOLE.fullmatch(body):
        raise UsageError(f"not a number: {text!r}", action="write 1234567,89 or 1234567.89, without thousands marks")
    plain = body.replace(".", "").replace(",", ".") if mark == "," else body
    if mark and decimal_mark and mark != decimal_mark:
        names = {",": "comma", ".": "point"}
        raise UsageError(
            f"{text!r} has a decimal {names[mark]}, the rest of its column a decimal {names[decimal_mark]}",
            action=f"write {plain.replace('.', decimal_mark)} here, or decimal {names[mark]}s, as in "
            f"1234567{mark}89, in the whole column",
        )
    return -Decimal(plain) if negative else Decimal(plain)


def shown_mark(text: str) -> str | None:
    """The decimal mark of a number that shows it beyond doubt: `1,5`, `1.234,56`, `1234.5`; else none."""
    body = _bare(_bare(text).strip("-()"))
    if _AMBIGUOUS.fullmatch(body):
        return None
    return "," if _COMMA.fullmatch(body) else "." if _POINT.fullmatch(body) else None


def _bare(text: str) -> str:
    """Without the currency, spaces at the ends, and the minus of typesetters."""
    return text.strip().replace("\u00a0", " ").removeprefix("R$").strip().replace("\u2212", "-")
