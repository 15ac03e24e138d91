"""What every reader of an answer needs: JSON and spreadsheets as text, and refusals that name the rows at fault.

A reader either returns its whole table or raises one of our errors; nothing half-read leaves it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import fastexcel
import polars as pl

from transforms.codes import is_municipality
from transforms.errors import SourceChanged, SourceUnavailable
from transforms.schema import Kind, Table


@contextmanager
def understood(source: str) -> Iterator[None]:
    """Inside, a value missing, misplaced or of the wrong type means that the source's layout changed."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        told = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
        raise SourceChanged(f"the answer is not laid out as it was: {told}", where=source) from error


def from_json(stream: BinaryIO, source: str) -> Any:
    """The JSON of an answer. Raises SourceUnavailable on an error object or a web page sent instead of data."""
    raw = stream.read()
    if raw.lstrip()[:1] == b"<":
        raise SourceUnavailable("a web page came instead of data", where=source, action="try again later")
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise SourceChanged(f"not JSON: {error}", where=source) from error
    if isinstance(body, dict) and {"error", "erro", "statusCode"} & body.keys():
        raise SourceUnavailable(f"the source answered with an error: {str(body)[:200]}", where=source)
    return body


def from_sheet(stream: BinaryIO, sheet: str, columns: Mapping[str, str], source: str) -> tuple[str, pl.DataFrame]:
    """One worksheet, found by the pattern of its name: the lines above its header, and the rows below as text.

    The header is the first row that holds all the wanted headings (theirs → ours), footnote marks aside. Empty
    cells are null. A code kept as a number here and as text there reads the same but for its leading zeros.
    """
    frame = _worksheet(stream.read(), sheet, source)
    text = frame.select(pl.all().cast(pl.String).str.strip_chars())
    for index, headings in enumerate(text.head(30).select(without_footnotes(pl.all())).iter_rows()):
        if set(columns) <= set(headings):
            title = " ".join(cell for above in text.head(index).iter_rows() for cell in above if cell)
            found = {ours: text.columns[headings.index(theirs)] for theirs, ours in columns.items()}
            return title, text[index + 1 :].select(pl.col(at).alias(ours) for ours, at in found.items())
    raise SourceChanged(f"no row has the headings {list(columns)}", where=source)


def _worksheet(raw: bytes, sheet: str, source: str) -> pl.DataFrame:
    """All cells of one worksheet as text. Its reader panics on some damaged files, beyond `except Exception`."""
    try:
        workbook = fastexcel.read_excel(raw)
        names = [name for name in workbook.sheet_names if re.fullmatch(sheet, name.strip(), re.IGNORECASE)]
        if len(names) == 1:
            return workbook.load_sheet(names[0], header_row=None, dtypes="string").to_polars()
    except BaseException as error:
        if isinstance(error, fastexcel.FastExcelError) or type(error).__name__ == "PanicException":
            told = str(error).splitlines()[0]
            raise SourceChanged(f"not a readable spreadsheet: {told}", where=source) from error
        raise
    raise SourceChanged(f"no one worksheet {sheet!r} among {workbook.sheet_names[:10]}", where=source)


def without_footnotes(text: pl.Expr) -> pl.Expr:
    """Cells without the marks of their footnotes, `(1)` or `*` at the end, and with single spaces."""
    return text.str.replace_all(r"\s+", " ").str.replace(r"(\s*(\(\d+\)|\*))+\s*$", "").str.strip_chars()


def demand(frame: pl.DataFrame, holds: pl.Expr, complaint: str, keys: Sequence[str | pl.Expr], source: str) -> None:
    """Raises SourceChanged, with the first rows at fault, unless `holds` is true of every row."""
    wrong = frame.filter(~holds.fill_null(value=False))
    if not wrong.is_empty():
        shown = ", ".join(" ".join(map(str, row)) for row in wrong.select(keys).head(5).iter_rows())
        raise SourceChanged(f"{complaint}, in {wrong.height} of {frame.height} rows: {shown}", where=source)


def staged(table: Table, frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """Rows as the table declares them: types, patterns, composed accents (NFC), one row a key; or SourceChanged."""
    with understood(source):
        rows = table.conform(frame)
    text = [column.name for column in table.columns if column.kind is Kind.TEXT]
    decomposed = [name for name in text if rows[name].str.contains(r"\p{M}").any()]
    rows = rows.with_columns(pl.col(decomposed).str.normalize("NFC"))
    for column in table.columns:
        if column.pattern is not None:
            cell = pl.col(column.name)
            fits = cell.str.contains(column.pattern).fill_null(value=column.nullable)
            shown = pl.format("{} ({} characters)", cell, cell.str.len_chars())
            demand(rows, fits, f"{column.name} does not fit {column.pattern}", [shown], source)
    unique = ~pl.struct(table.key).is_duplicated()
    demand(rows, unique, f"the same {' and '.join(table.key)} more than once", list(table.key), source)
    return rows


def demand_codes(rows: pl.DataFrame, source: str) -> None:
    """Raises SourceChanged unless each município is a possible one, and each district is of its município."""
    code = pl.col("municipality_code")
    possible = [found for found in rows["municipality_code"].unique() if is_municipality(found)]
    demand(rows, code.is_in(possible), "a município code that cannot be", ["municipality_code"], source)
    if "district_code" in rows.columns:
        inside = pl.col("district_code").str.head(7) == code
        keys = ["district_code", "municipality_code"]
        demand(rows, inside, "a district of another município", keys, source)
