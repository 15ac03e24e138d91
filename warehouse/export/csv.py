"""The CSV files of a release: for programs (comma, dot, LF, codes as text) and for the assembly (pt-BR Excel).

Numbers are written from exact decimals, never from floats: no exponent, no noise, and equal inputs give equal
bytes. The assembly's files carry Portuguese headings and words, a decimal comma, a BOM, and no cell that a
spreadsheet would run as a formula.
"""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from transforms.schema import Column, Kind, Table, Unit
from warehouse.build import Tables
from warehouse.ddl import stored
from warehouse.export.naming import named
from warehouse.export.portuguese import in_portuguese

MACHINE: Mapping[str, str] = {
    "mart.eligibility": "eligibility.csv",
    "mart.requirement_result": "requirements.csv",
    "mart.origin_result": "origins.csv",
    "mart.pending": "pending.csv",
    "mart.no_candidate": "no_candidate.csv",
    "mart.proposal_stage": "proposals.csv",
}
ASSEMBLY: Mapping[str, str] = {
    "mart.eligibility": "elegibilidade.csv",
    "mart.requirement_result": "requisitos.csv",
    "mart.origin_result": "municipios_de_origem.csv",
    "mart.pending": "pendencias.csv",
    "mart.no_candidate": "sem_candidatos.csv",
    "mart.proposal_stage": "propostas.csv",
}
NUMBERS = (Kind.INTEGER, Kind.MONEY, Kind.EXACT, Kind.RATIO, Kind.FLOAT)
# How finely a float is told: half a metre, a hectare. Any other with two decimals.
DECIMALS: Mapping[Unit | None, int] = {Unit.DEGREES: 6, Unit.KM2: 3, Unit.SHARE: 4, Unit.METRES: 1}
FORMULA = r"^([=+\-@\t\r])"


def write(folder: Path, tables: Tables) -> None:
    """Every CSV file of a release into its export folder."""
    folder.mkdir(exist_ok=True)
    for name, file in MACHINE.items():
        (folder / file).write_bytes(machine(*tables[name]))
    for name, file in ASSEMBLY.items():
        (folder / file).write_bytes(assembly(*named(tables, name)))


def machine(table: Table, frame: pl.DataFrame | pl.LazyFrame) -> bytes:
    """The rows for programs: UTF-8, comma, dot, LF, true/false, nulls empty, ISO dates."""
    return _bytes(as_text(table, stored(table, frame)))


def assembly(table: Table, frame: pl.DataFrame | pl.LazyFrame) -> bytes:
    """The rows for a double click in Excel with Brazilian settings."""
    rows = in_words(table, stored(table, frame))
    return _bytes(rows.select(_for_excel(column) for column in table.columns), brazilian=True)


def in_words(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """Every cell as text for people: figures exact and with a point, words in Portuguese."""
    return as_text(table, rows).with_columns(in_portuguese(table, rows))


def as_text(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """Every cell as the text a program reads back exactly; empty texts become nulls, so that both print as nothing."""
    return rows.select(_text(table, column) for column in table.columns)


def is_number(column: Column) -> bool:
    """Whether the column is printed as a number."""
    return column.kind in NUMBERS


def formula_safe(text: pl.Expr) -> pl.Expr:
    """Text a spreadsheet would run as a formula, behind an apostrophe."""
    return text.str.replace(FORMULA, "'$1")


def _for_excel(column: Column) -> pl.Expr:
    """A column of texts for people under its Portuguese heading: decimal comma, day first, no formulas."""
    cell = pl.col(column.name)
    if is_number(column):
        cell = cell.str.replace(".", ",", literal=True)
    elif column.kind is Kind.DATE:
        cell = cell.str.replace(r"^(\d{4})-(\d\d)-(\d\d)$", "$3/$2/$1")
    elif column.kind is Kind.TEXT:
        cell = formula_safe(cell)
    return cell.alias(column.label)


def _text(table: Table, column: Column) -> pl.Expr:
    cell = pl.col(column.name)
    match column.kind:
        case Kind.EXACT:
            return exact_text(cell, is_money(table, column))
        case Kind.FLOAT:
            return cell.cast(pl.Decimal(38, DECIMALS.get(column.unit, 2))).cast(pl.String)
        case Kind.BOOLEAN:
            return pl.when(cell).then(pl.lit("true")).when(~cell).then(pl.lit("false")).alias(column.name)
        case Kind.TIMESTAMP:
            return cell.dt.strftime("%Y-%m-%dT%H:%M:%SZ")
        case Kind.BINARY:
            return cell.bin.encode("hex")
        case _:
            text = cell.cast(pl.String)
            return pl.when(text != "").then(text)


def exact_text(cell: pl.Expr, money: pl.Expr) -> pl.Expr:
    """An exact figure without trailing zeros, except that money keeps its cents."""
    digits = cell.cast(pl.String)
    plain = digits.str.strip_chars_end("0").str.strip_chars_end(".")
    return (
        pl.when(money)
        .then(digits.str.replace(r"(\.\d\d\d*?)0+$", "$1"))
        .otherwise(plain)
        .alias(cell.meta.output_name())
    )


def is_money(table: Table, column: Column) -> pl.Expr:
    """Whether a row's figure is in R$: the column says so, else the row's unit, else the requirement it is for."""
    if column.unit is not Unit.VARIES:
        return pl.lit(column.unit is Unit.BRL)
    if "unit" in table.names:
        return pl.col("unit") == Unit.BRL.value
    return pl.col("requirement") == "collection"


def _bytes(texts: pl.DataFrame, *, brazilian: bool = False) -> bytes:
    return texts.write_csv(
        separator=";" if brazilian else ",",
        line_terminator="\r\n" if brazilian else "\n",
        include_bom=brazilian,
    ).encode("utf-8")
