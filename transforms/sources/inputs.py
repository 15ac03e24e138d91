"""Files that people make by hand (candidates, certificates, the treasury's collections …), read with patience.

A declaration says it all: a column's `source` is its heading in the file (its own name where it has none), its
kind, pattern and vocabulary say what a cell may hold, nullable ones may be empty or absent. UTF-8 with or without
BOM; else Windows-1252, as Excel saves it, with a warning; `;` or `,`. Every fault is told with file, line, column,
value and remedy, all at once; a file with one is not used (exit 2). What rows can only say together with official
lists (is there such a district?) is core's to judge, which is why `line` is kept.
"""

import codecs
import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, BinaryIO

import polars as pl

from transforms.codes import DISTRICT_CODE, MUNICIPALITY_CODE, is_municipality, municipality
from transforms.delimited import from_windows, wrong_columns
from transforms.errors import UsageError
from transforms.numbers import decimal, shown_mark
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Conversation, Request, Scope, Source, Staged

LINE = Column("line", Kind.INTEGER, "Line of the file that says so.", "Linha", Unit.COUNT, minimum=2)
MOST_FAULTS = 20  # told at once
LARGEST = 50_000_000  # bytes

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at one place of a file, and how to put it right."""

    line: int
    column: str
    reason: str


@dataclass(frozen=True, slots=True)
class Form:
    """One hand-supplied file: its name, its table, and what its declaration cannot say.

    `rule` gives one row's faults (heading, reason), `whole` those of all rows together. `defaults` fill cells
    left empty; `clean` puts a cell in its one form; `derived` columns are made of a row's others.
    """

    file: str
    table: Table
    rule: Callable[[Row], Iterator[tuple[str, str]]] | None = None
    whole: Callable[[Sequence[Row]], Iterator[Fault]] | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)
    clean: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    derived: Mapping[str, Callable[[Row], Any]] = field(default_factory=dict)
    version: int = 1  # of what its rules let pass: see Staged
    to_fill: str = ""  # a row of the template whose cell of this heading is still empty says nothing yet

    @property
    def columns(self) -> dict[str, Column]:
        """The columns by their heading in the file."""
        made = {LINE.name, *self.derived}
        return {column.source or column.name: column for column in self.table.columns if column.name not in made}


def source(form: Form, *, name: str, title: str, cadence: str, stale_after: int) -> Source:
    """The source of one file in the inputs folder. It may be absent."""

    def conversation(_: Scope) -> Conversation:
        yield Request(part=form.file, path=form.file, media="csv", shared=True, optional=True)

    def parse(stream: BinaryIO) -> pl.DataFrame:
        return rows(stream, form)

    return Source(
        name=name,
        title=title,
        publisher="handed in by the user",
        home_page="",
        licence="as stated by the document each row names",
        cadence=cadence,
        stale_after=stale_after,
        base="inputs",
        encoding="utf-8, else windows-1252",
        conversation=conversation,
        tables=(Staged(form.table, form.file, parse, form.version),),
        required=False,
        largest=LARGEST,
    )


def rows(stream: BinaryIO, form: Form) -> pl.DataFrame:
    """The file's rows as its table declares them. Raises UsageError with every fault, up to twenty."""
    text, _ = _text(stream, form.file)
    records = [(line, record) for line, record in _records(text, form) if not form.to_fill or record.get(form.to_fill)]
    faults, kept = list[Fault](), list[Row]()
    marks = {heading: _decimal_mark(record.get(heading, "") for _, record in records) for heading in form.columns}
    for line, record in records:
        row, found = _row(line, record, form, marks)
        if not found and form.rule:
            found = [Fault(line, heading, reason) for heading, reason in form.rule(row)]
        faults += found
        if not found:
            kept.append(row | {name: make(row) for name, make in form.derived.items()})
    faults += _repeated(kept, form)
    if form.whole:
        faults += form.whole(kept)
    if faults:
        raise refusal(faults, form.file)
    return form.table.frame(kept)


def warnings(stream: BinaryIO, file: str) -> tuple[str, ...]:
    """What a reader of the file should know though it was read."""
    return _text(stream, file)[1]


def _text(stream: BinaryIO, file: str) -> tuple[str, tuple[str, ...]]:
    raw, told = stream.read(), tuple[str, ...]()
    if raw.startswith((b"PK", b"\xd0\xcf\x11\xe0", codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UsageError("a spreadsheet, or text in UTF-16", where=file, action="save it as CSV UTF-8")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = from_windows(raw)
        line = raw.count(b"\n", 0, error.start) + 1
        told = (f"{file}: not UTF-8 (line {line}), read as Windows-1252: check its accents",)
    if found := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", text):
        line = text.count("\n", 0, found.start()) + 1
        raise UsageError("not a text file", where=f"{file}, line {line}", action="save it as CSV UTF-8")
    return unicodedata.normalize("NFC", text).replace("\u00a0", " "), told


def _records(text: str, form: Form) -> list[tuple[int, dict[str, str]]]:
    """Each row that is not blank, with the line it begins on, its cells by heading."""
    delimiter = max(";,", key=lambda mark: len(set(_headings(text, mark)) & {*form.columns}))
    headings = _headings(text, delimiter)
    _demand_headings(headings, form)
    found, line = list[tuple[int, dict[str, str]]](), 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for read in reader:
            cells = [cell.strip() for cell in read]
            if line > 1 and any(cells):
                if len(cells) != len(headings) and any(cells[len(headings) :] or [len(cells) < len(headings)]):
                    told = f"{len(headings)} cells expected, {len(cells)} read: is there a {delimiter!r} in a text?"
                    raise UsageError(told, where=f"{form.file}, line {line}", action="put that text in quotes")
                found.append((line, dict(zip(headings, cells, strict=False))))
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"not a row of cells: {error}", where=f"{form.file}, line {line}") from error
    return found


def _headings(text: str, delimiter: str) -> list[str]:
    return [_folded(cell.strip(' "\r')) for cell in text.split("\n", 1)[0].split(delimiter)]


def _demand_headings(headings: Sequence[str], form: Form) -> None:
    known = form.columns
    needed = [name for name, column in known.items() if not column.nullable and column.name not in form.defaults]
    missing = [name for name in needed if name not in headings]
    unexpected = [name for name in headings if name and name not in known]
    repeated = sorted({name for name in headings if name and headings.count(name) > 1})
    if missing or unexpected or repeated:
        raise UsageError(
            f"wrong headings: {wrong_columns(missing, unexpected, repeated)}",
            where=f"{form.file}, line 1",
            action=f"the headings are {';'.join(known)}",
        )


def _row(line: int, record: Mapping[str, str], form: Form, marks: Mapping[str, str | None]) -> tuple[Row, list[Fault]]:
    row, faults = Row(line=line), list[Fault]()
    for heading, column in form.columns.items():
        cell = record.get(heading, "") or form.defaults.get(column.name, "")
        clean = form.clean.get(column.name, str)
        try:
            row[column.name] = _value(clean(cell), column, marks[heading])
        except UsageError as error:
            remedy = f": {error.action}" if error.action else ""
            faults.append(Fault(line, heading, f"{error.what}{remedy}"))
    return row, faults


def _value(cell: str, column: Column, mark: str | None) -> Any:
    """One cell as its column declares it; None where it is empty and may be. Raises UsageError."""
    if not cell:
        if column.nullable:
            return None
        raise UsageError("empty", action=column.description)
    if column.values is not None:
        return _word(cell, column.values)
    match column.kind:
        case Kind.DATE:
            return _day(cell)
        case Kind.INTEGER | Kind.MONEY | Kind.EXACT:
            return _number(cell, column, mark)
        case Kind.CODE:
            return _code(cell, column)
        case _:
            return _matching(cell, column)


def _word(cell: str, words: Sequence[str]) -> str:
    known = {_folded(word): word for word in words}
    if _folded(cell) not in known:
        raise UsageError(f"{cell!r} is not known", action=f"one of {', '.join(words)}")
    return known[_folded(cell)]


def _day(cell: str) -> date:
    """Year-month-day, or day/month/year, into which Excel turns it when it saves the file in Brazil."""
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)|(\d\d)/(\d\d)/(\d{4})", cell, re.ASCII)
    if found:
        year, month, day = found.group(1, 2, 3) if found.group(1) else found.group(6, 5, 4)
        try:
            return date(int(year), int(month), int(day))
        except ValueError:
            pass  # a day that does not exist
    raise UsageError(f"{cell!r} is no date", action="write year-month-day, as in 2026-04-03 (or 03/04/2026)")


def _number(cell: str, column: Column, mark: str | None) -> Decimal | int:
    number = decimal(cell, decimal_mark=mark)
    places = {Kind.INTEGER: 0, Kind.MONEY: 2}.get(column.kind, 5)
    if abs(number) >= 10**15 or number != round(number, places):
        raise UsageError(f"{cell!r} is too large, or has more than {places} decimals")
    if column.minimum is not None and number < column.minimum:
        raise UsageError(f"{cell!r} is less than {column.minimum}")
    if column.maximum is not None and number > column.maximum:
        raise UsageError(f"{cell!r} is more than {column.maximum}")
    return int(number) if column.kind is Kind.INTEGER else number


def _code(cell: str, column: Column) -> str:
    code = _matching(cell, column)
    if column.pattern in {MUNICIPALITY_CODE, DISTRICT_CODE} and not is_municipality(code[:7]):
        raise UsageError(f"{cell!r} is of no município: its check digit is wrong")
    return code


def _matching(cell: str, column: Column) -> str:
    if column.pattern is None or re.search(column.pattern, cell, re.ASCII):
        return cell
    remedy = column.description
    if column.pattern == MUNICIPALITY_CODE and re.fullmatch(r"\d{6}(\.0)?", cell, re.ASCII):
        try:
            remedy = f"the check digit is missing: is it {municipality(cell)}?"
        except UsageError:
            remedy = "no município has this code"
    raise UsageError(f"{cell!r} ({len(cell)} characters) does not fit", action=remedy)


def _decimal_mark(cells: Iterable[str]) -> str | None:
    """The decimal mark that most cells of a column show, the first of them where as many show the other."""
    usual = Counter(mark for cell in cells if (mark := shown_mark(cell))).most_common(1)
    return usual[0][0] if usual else None


def _repeated(kept: Sequence[Row], form: Form) -> Iterator[Fault]:
    seen = dict[tuple[Any, ...], int]()
    for row in kept:
        key = tuple(row[name] for name in form.table.key)
        if key in seen:
            told = " ".join(map(str, key))
            yield Fault(row["line"], ", ".join(form.table.key), f"{told} is in line {seen[key]} already")
        seen.setdefault(key, row["line"])


def refusal(faults: Sequence[Fault], file: str) -> UsageError:
    """The error that tells every fault of a file in the order of its lines, each with its place."""
    ordered = sorted(faults, key=lambda fault: fault.line)
    first, alone = ordered[0], len(ordered) == 1
    told = [f"\n  line {fault.line}, column {fault.column}: {fault.reason}" for fault in ordered[:MOST_FAULTS]]
    more = f"\n  and {len(ordered) - len(told)} more" if len(ordered) > len(told) else ""
    return UsageError(
        first.reason if alone else "".join([f"{len(ordered)} faults in {file}:", *told, more]),
        where=f"{file}, line {first.line}, column {first.column}" if alone else file,
        action="correct the file and run again; nothing of it was used",
    )


def _folded(text: str) -> str:
    """Lower case without accents: `Município` is `municipio`."""
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
