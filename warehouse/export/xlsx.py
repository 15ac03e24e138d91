"""`elegibilidade.xlsx`: the assembly's tables as one workbook, with codes as text and figures as numbers.

The same rows, order, headings and words as the Portuguese CSVs. No cell is a formula or a link, whatever a name starts
with. Equal inputs give equal bytes: the workbook is dated by the date of its data, and nothing in it tells when it was
made.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import xlsxwriter
from xlsxwriter.format import Format

from transforms.catalog import sources
from transforms.schema import Column, Kind, Table
from warehouse.build import Tables
from warehouse.ddl import stored
from warehouse.export.csv import ASSEMBLY, in_words, is_number
from warehouse.export.leia_me import day_of
from warehouse.export.naming import named
from warehouse.export.portuguese import VOCABULARY
from warehouse.export.worksheet import Sheet
from warehouse.release import short_id

FILE = "elegibilidade.xlsx"
SHEETS = tuple(dict.fromkeys([*ASSEMBLY, "mart.sensitivity", "mart.joint_departure"]))  # those the release has
NAMED = "area_name"  # columns up to this one stay in view
LONGEST_TITLE, LONGEST_CELL = 31, 32_767  # characters, Excel's own limits: it opens no book with more
TITLES: Mapping[str, str] = {"mart.proposal_stage": "Propostas"}  # where the table's own title would be cut
WIDEST, LINE = 46, 15.5  # characters, points
DAY, DAY_ZERO = "dd/mm/yyyy", date(1899, 12, 30)  # a day is the number of days since then
NOTES = (30, 92, 13, 26, 68)  # widths of the columns of the notes sheet
COLOURS: Mapping[str, tuple[str, str]] = {  # background, text: contrast of 7 or more, and apart in grey too
    "eligible": ("#CDE8DF", "#0B4A3C"),
    "met": ("#CDE8DF", "#0B4A3C"),
    "kept": ("#CDE8DF", "#0B4A3C"),
    "undetermined": ("#FCE9BF", "#5C3D00"),
    "ineligible": ("#F3D9D6", "#6E1F18"),
    "not_met": ("#F3D9D6", "#6E1F18"),
    "lost": ("#F3D9D6", "#6E1F18"),
}
COLOURED = ("status", "origin_status", "verdict", "becomes")
READING = (
    "Cada cifra tem um mínimo e um máximo: o que só pode ser, diante dos dados. O valor é a cifra ou a sua estimativa.",
    "Atende: o requisito vale para todo valor entre o mínimo e o máximo. Não atende: para nenhum. "
    "Indeterminado: os dados não bastam; ver as pendências.",
    "Folga: valor ÷ limite − 1. Negativa: falta para o limite.",
    "Evidência: certificado (pelo órgão competente), oficial (publicado para a própria área), derivado (calculado de "
    "dados oficiais pelo método dito), simulado (exemplo do programa), sem dado.",
    "Os códigos são texto, com zeros à esquerda. Listas separam-se por |. Célula vazia: não se sabe, ou não se aplica.",
)


@dataclass(frozen=True, slots=True)
class Book:
    """A workbook, and each of its formats once."""

    file: xlsxwriter.Workbook
    formats: dict[tuple[tuple[str, Any], ...], Format] = field(default_factory=dict)

    def format(self, **properties: Any) -> Format:
        key = tuple(properties.items())
        if key not in self.formats:
            self.formats[key] = self.file.add_format(properties)
        return self.formats[key]


def write(folder: Path, tables: Tables, manifest: Mapping[str, Any]) -> None:
    """The workbook into a release's export folder. `manifest` is the release's (see warehouse.release)."""
    with xlsxwriter.Workbook(folder / FILE, {"in_memory": True}) as file:
        book = Book(file)
        file.set_properties(
            {
                "title": f"Triagem de áreas para criação de municípios: {manifest['uf']}",
                "comments": manifest["legal_notice"],
                "created": datetime.fromisoformat(manifest["as_of"]),
            }
        )
        for name in SHEETS:
            if name in tables:
                _sheet(book, *named(tables, name), manifest)
        _notes(book, manifest)


def _sheet(book: Book, table: Table, frame: pl.DataFrame | pl.LazyFrame, manifest: Mapping[str, Any]) -> None:
    """One table: header in view, filters, widths from what it holds, colours for the verdicts."""
    told = in_words(table, stored(table, frame))
    cut = pl.all().str.head(LONGEST_CELL - 1) + "…"  # the CSV has it whole
    days = [pl.col(column.name).str.to_date() - DAY_ZERO for column in table.columns if column.kind is Kind.DATE]
    cells = told.select(pl.when(pl.all().str.len_chars() > LONGEST_CELL).then(cut).otherwise(pl.all())).with_columns(
        day.dt.total_days().cast(pl.String) for day in days
    )
    title = TITLES.get(table.name, table.title)[:LONGEST_TITLE].rstrip()
    sheet: Sheet = book.file.add_worksheet(title, worksheet_class=Sheet)
    heading = book.format(bold=True, text_wrap=True, valign="top", indent=1, bottom=1, bg_color="#E8ECEB")
    longest = told.select(pl.all().str.len_chars().max().fill_null(0)).row(0)
    for place, column in enumerate(table.columns):
        sheet.write_string(0, place, column.label, heading)
        sheet.set_column(place, place, _width(column, longest[place]))
        if column.name in COLOURED:
            _colour(book, sheet, column, place, cells.height)
    sheet.write_table(cells, {column.name: _style(book, column) for column in table.columns})
    sheet.set_row(0, 2 * LINE)
    kept = table.names.index(NAMED) + 1 if NAMED in table.names else 0
    sheet.freeze_panes(1, kept)
    sheet.autofilter(0, 0, max(cells.height, 1), len(table.columns) - 1)
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)
    banner = "  ·  DADOS SIMULADOS" if manifest["simulated"] else ""
    sheet.set_footer(f"&L&8Triagem técnica; não é aprovação. Ver a folha Notas.{banner}&R&8&A  ·  &P de &N")


def _style(book: Book, column: Column) -> Format | dict[int, Format]:
    """Texts as they are; days as days; figures with as many decimals as the CSV shows, shares as percentages."""
    if column.kind is Kind.DATE:
        return {0: book.format(num_format=DAY)}
    if not is_number(column):
        return book.format(num_format="@", indent=1)
    if column.kind is Kind.RATIO:
        return {4: book.format(num_format="0.00%")}
    return {places: book.format(num_format=f"#,##0.{'0' * places}".rstrip(".")) for places in range(7)}


def _width(column: Column, longest: int) -> float:
    grouped = longest * 4 / 3 if is_number(column) else longest
    words = max(map(len, column.label.split()))  # a heading may break between words
    return min(max(grouped, words + 2, 7) + 2, WIDEST)


def _colour(book: Book, sheet: Sheet, column: Column, place: int, height: int) -> None:
    for value in column.values or ():
        if height and value in COLOURS:
            background, text = COLOURS[value]
            rule = {
                "type": "cell",
                "criteria": "==",
                "value": f'"{VOCABULARY[value]}"',
                "format": book.format(bg_color=background, font_color=text),
            }
            sheet.conditional_format(1, place, height, place, rule)


def _notes(book: Book, manifest: Mapping[str, Any]) -> None:
    """What the figures are, where they come from, and by which hashes they can be told."""
    sheet = book.file.add_worksheet("Notas")
    for place, width in enumerate(NOTES):
        sheet.set_column(place, place, width)
    wrapped = {"num_format": "@", "text_wrap": True, "valign": "top"}
    plain, heading = book.format(**wrapped), book.format(bold=True, font_size=13)
    for row, cells in enumerate(notes(manifest)):
        for place, cell in enumerate(cells):
            sheet.write_string(row, place, cell, heading if len(cells) == 1 else plain)
        lines = [-(-len(cell) // (NOTES[place] - 4)) for place, cell in enumerate(cells)]
        sheet.set_row(row, LINE * (2 if len(cells) == 1 else max(lines)))
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)


def notes(manifest: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The rows of the notes sheet; a row of one cell is a heading."""
    yield (f"Triagem de áreas para criação de municípios: {manifest['uf']}",)
    if manifest["simulated"]:
        yield "DADOS SIMULADOS", "Exemplo que acompanha o programa; nenhuma cifra serve a um processo."
    yield "Publicação", short_id(manifest)
    yield "Dados até", day_of(manifest["as_of"])
    yield "Aviso", manifest["legal_notice"]
    yield ("Regras aplicadas",)
    for rule_set in manifest["rule_sets"]:
        yield rule_set["id"], f"{rule_set['title']} (SHA-256 {rule_set['sha256']})"
    yield ("Como ler",)
    for line in READING:
        yield "", line
    yield ("Fontes",)
    yield "Fonte", "Arquivo", "Baixado em", "Órgão", "SHA-256"
    yield from _files(manifest["snapshots"])
    yield ("Conferência",)
    yield "Conteúdo (SHA-256)", manifest["contents_hash"]
    yield "Entradas (SHA-256)", manifest["fingerprint"]
    yield "Programa (SHA-256)", manifest["code"]


def _files(snapshots: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    known = sources()
    for file in snapshots:
        source, fetched = known[file["source"]], file["fetched_at"]
        day = fetched[:10] if isinstance(fetched, str) else fetched.date().isoformat()
        publisher = "entregue pelo usuário" if source.base == "inputs" else source.publisher
        yield source.title, file["url"] or file["part"], day_of(day), publisher, file["sha256"]
