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

_GROUPED = re.compile(r"\d{1,3}(\.\d{3})+(,\d+)?")
_COMMA = re.compile(r"\d+,\d+")
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

    A lone point is a decimal mark (`1234.5`) unless it groups three digits, which is ambiguous: `1.234` needs
    `decimal_mark` ("," or "."). Negatives: `-1`, `−1`, `1-`, `(1)`. Raises UsageError on anything else.

    >>> decimal("(1.234,56)")
    Decimal('-1234.56')
    """
    body = text.strip().replace("\u00a0", " ").removeprefix("R$").strip().replace("\u2212", "-")
    negative = body.startswith("-") or body.endswith("-") or (body.startswith("(") and body.endswith(")"))
    if negative:
        body = body.strip("-()").removeprefix("R$").strip()
    if _WHOLE.fullmatch(body):
        plain = body
    elif decimal_mark != "." and "," in body and (_GROUPED.fullmatch(body) or _COMMA.fullmatch(body)):
        plain = body.replace(".", "").replace(",", ".")
    elif (decimal_mark == "," and _GROUPED.fullmatch(body)) or (body.count(".") > 1 and _GROUPED.fullmatch(body)):
        plain = body.replace(".", "")
    elif decimal_mark != "," and _POINT.fullmatch(body) and (decimal_mark == "." or not _GROUPED.fullmatch(body)):
        plain = body
    else:
        raise UsageError(
            f"not a number, or an ambiguous one: {text!r}",
            action="write 1234567,89 or 1234567.89, without thousands marks",
        )
    return -Decimal(plain) if negative else Decimal(plain)
