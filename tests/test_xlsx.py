"""elegibilidade.xlsx read back cell by cell, and opened by LibreOffice as the assembly does."""

import csv
import shutil
import subprocess
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from zipfile import ZipFile

import polars as pl
import pytest

from tests.assembly import Released, sample
from transforms.catalog import sources
from transforms.schema import Column, Kind, Table, Unit
from warehouse.ddl import stored
from warehouse.export import xlsx
from warehouse.export.csv import ASSEMBLY, assembly, is_number
from warehouse.export.naming import named
from warehouse.export.portuguese import PERIOD, is_worded, sentence
from warehouse.export.xlsx import FILE, READING, SHEETS

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
MANIFEST: dict[str, Any] = {
    "uf": "ES",
    "as_of": "2026-11-30",
    "simulated": False,
    "legal_notice": "Aviso.",
    "rule_sets": [{"id": "lc_1_1967", "title": "LC 1", "sha256": "ab" * 32}],
    "snapshots": [],
    "contents_hash": "cd" * 32,
    "fingerprint": "ef" * 32,
    "code": "01" * 32,
}
ODD = Table(
    "mart.eligibility",
    "Elegibilidade",
    "One row.",
    ("code",),
    (
        Column("code", Kind.CODE, "Code.", "Código"),
        Column("area_name", Kind.TEXT, "Name.", "Nome"),
        Column("change", Kind.RATIO, "Change.", "Variação", Unit.SHARE, nullable=True),
        Column("brl", Kind.MONEY, "Money.", "Valor", Unit.BRL, nullable=True),
    ),
)


@pytest.fixture(scope="module")
def released() -> Released:
    return sample()


def sheet(path: Path, number: int) -> list[list[tuple[str, str]]]:
    """The cells of a sheet, row by row: their type (s: text, n: number, f: formula) and what they hold."""
    with ZipFile(path) as book:
        shared = ET.fromstring(book.read("xl/sharedStrings.xml"))
        texts = ["".join(t.text or "" for t in item.iter(f"{MAIN}t")) for item in shared]
        rows = ET.fromstring(book.read(f"xl/worksheets/sheet{number}.xml")).iter(f"{MAIN}row")
        found = []
        for row in rows:
            cells: dict[int, tuple[str, str]] = {}
            for cell in row:
                value, kind = cell.findtext(f"{MAIN}v", ""), cell.get("t", "n")
                kind = "f" if cell.find(f"{MAIN}f") is not None else kind
                cells[_place(cell.get("r", ""))] = (kind, texts[int(value)] if kind == "s" else value)
            found.append([cells.get(place, ("", "")) for place in range(max(cells, default=-1) + 1)])
    return found


def _place(reference: str) -> int:
    place = 0
    for letter in reference.rstrip("0123456789"):
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


def rows_of_csv(text: bytes) -> list[list[str]]:
    return list(csv.reader(text.decode("utf-8-sig").splitlines(keepends=True), delimiter=";"))


@pytest.mark.parametrize("name", ASSEMBLY)
def test_each_csv_holds_what_its_table_holds(released: Released, name: str) -> None:
    table, frame = named(released.tables, name)
    found = (released.folder / "export" / ASSEMBLY[name]).read_bytes()
    assert rows_of_csv(found) == rows_of_csv(assembly(table, frame))


@pytest.mark.parametrize(("number", "name"), list(enumerate(SHEETS, 1)))
def test_each_cell_of_each_sheet_is_its_tables(released: Released, number: int, name: str) -> None:
    table, frame = named(released.tables, name)
    compare(sheet(released.folder / "export" / FILE, number), table, stored(table, frame))


@pytest.mark.parametrize(("number", "name"), list(enumerate(SHEETS, 1)))
def test_one_altered_figure_of_each_column_is_noticed(released: Released, number: int, name: str) -> None:
    table, frame = named(released.tables, name)
    rows, cells = stored(table, frame), sheet(released.folder / "export" / FILE, number)
    for column in table.columns:
        if is_number(column) and rows[column.name].null_count() < rows.height:
            at = rows[column.name].is_not_null().arg_max() or 0
            more = pl.when(pl.int_range(pl.len()) == at).then(pl.col(column.name) + 1).otherwise(column.name)
            altered = rows.with_columns(more.cast(rows.schema[column.name]).alias(column.name))
            with pytest.raises(AssertionError):
                compare(cells, table, altered)


def compare(found: list[list[tuple[str, str]]], table: Table, rows: pl.DataFrame) -> None:
    """Cell by cell: figures exact and as numbers, all else as text in Portuguese, nothing where nothing is known."""
    assert len(found) == rows.height + 1
    assert found[0] == [("s", column.label) for column in table.columns]
    for cells, row in zip(found[1:], rows.to_dicts(), strict=True):
        padded = cells + [("", "")] * (len(table.columns) - len(cells))
        for column, (kind, cell) in zip(table.columns, padded, strict=True):
            value = row[column.name]
            if value is None or value == "":
                assert (kind, cell) == ("", "")
            elif is_number(column):
                assert (kind, Decimal(cell)) == ("n", Decimal(value))
            elif isinstance(value, date):
                assert (kind, date(1899, 12, 30) + timedelta(int(cell))) == ("n", value)
            else:
                assert (kind, cell) == ("s", in_words(column, value))


def in_words(column: Column, value: str | bool) -> str:
    """A value that is no figure, as its cell has it."""
    if isinstance(value, bool):
        return "sim" if value else "não"
    if column.name == PERIOD:
        return "|".join("/".join(reversed(period.split("-"))) for period in value.split("|"))
    return sentence(value) if is_worded(column) else value


def odd(tmp_path: Path, names: list[str]) -> Path:
    rows = [
        {"code": f"0{n}457", "area_name": name, "change": Decimal("-12.5"), "brl": Decimal("1234567890.12")}
        for n, name in enumerate(names)
    ]
    xlsx.write(tmp_path, {ODD.name: (ODD, ODD.frame(rows))}, MANIFEST)
    return tmp_path / FILE


def test_cases_53_54_55_codes_and_names_are_text_and_nothing_is_a_formula(tmp_path: Path) -> None:
    names = ["Km 3", "Mar 3", "1-2", '=HYPERLINK("http://exemplo.invalid";"y")', "+Vila", "-Vila", "@Vila", "\tVila"]
    names += ["http://exemplo.invalid", 'Vila "A"; B\nC']
    found = sheet(odd(tmp_path, names), 1)[1:]
    assert [row[1] for row in found] == [("s", name) for name in names]
    assert [row[0] for row in found] == [("s", f"0{n}457") for n in range(len(names))]
    assert {row[2] for row in found} == {("n", "-12.5000")}
    assert {row[3] for row in found} == {("n", "1234567890.12")}


def test_figures_show_the_decimals_they_have_and_shares_are_percentages(tmp_path: Path) -> None:
    exact = Column("figure", Kind.EXACT, "Figure.", "Cifra", Unit.PERSONS, nullable=True)
    table = replace(ODD, columns=(*ODD.columns, exact))
    figures = [Decimal(10000), Decimal("4870.65"), Decimal("0.00001"), None]
    change, brl = Decimal("0.5"), Decimal(1)
    rows = [
        {"code": f"{n}", "area_name": "Vila", "change": change, "brl": brl, "figure": f} for n, f in enumerate(figures)
    ]
    xlsx.write(tmp_path, {table.name: (table, table.frame(rows))}, MANIFEST)
    with ZipFile(tmp_path / FILE) as book:
        styles = ET.fromstring(book.read("xl/styles.xml"))
        cells = list(ET.fromstring(book.read("xl/worksheets/sheet1.xml")).iter(f"{MAIN}c"))
    written = {each.get("numFmtId"): each.get("formatCode") for each in styles.iter(f"{MAIN}numFmt")}
    known = {"0": "", "3": "#,##0", "4": "#,##0.00", "10": "0.00%", "49": "@", **written}  # Excel has some of its own
    formats = [known[each.get("numFmtId", "")] for each in next(styles.iter(f"{MAIN}cellXfs"))]
    shown = {cell.get("r"): formats[int(cell.get("s", 0))] for cell in cells}
    assert [shown[f"{letter}2"] for letter in "ABCDE"] == ["@", "@", "0.00%", "#,##0.00", "#,##0"]
    assert [shown.get(f"E{n}") for n in (3, 4, 5)] == ["#,##0.00", "#,##0.00000", None]


def test_a_text_longer_than_excel_opens_is_cut_and_says_so(tmp_path: Path) -> None:
    rows = ODD.frame([{"code": code, "area_name": "x" * length} for code, length in (("1", 32_767), ("2", 32_768))])
    xlsx.write(tmp_path, {"mart.eligibility": (ODD, rows)}, MANIFEST)
    cells = [row[1][1] for row in sheet(tmp_path / FILE, 1)[1:]]
    assert cells == ["x" * 32_767, "x" * 32_766 + "…"]


def test_a_table_without_rows_is_its_headings(tmp_path: Path) -> None:
    assert sheet(odd(tmp_path, []), 1) == [[("s", column.label) for column in ODD.columns]]


def test_the_list_of_texts_tells_how_often_they_stand(released: Released) -> None:
    with ZipFile(released.folder / "export" / FILE) as book:
        texts = ET.fromstring(book.read("xl/sharedStrings.xml"))
        sheets = [ET.fromstring(book.read(name)) for name in book.namelist() if name.startswith("xl/worksheets/sheet")]
    standing = sum(cell.get("t") == "s" for each in sheets for cell in each.iter(f"{MAIN}c"))
    assert (texts.get("count"), texts.get("uniqueCount")) == (str(standing), str(len(texts)))


def test_equal_inputs_give_equal_bytes(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    assert odd(tmp_path / "a", ["Vila"]).read_bytes() == odd(tmp_path / "b", ["Vila"]).read_bytes()


def test_the_header_stays_in_view_and_can_be_filtered(released: Released) -> None:
    with ZipFile(released.folder / "export" / FILE) as book:
        first = ET.fromstring(book.read("xl/worksheets/sheet1.xml"))
        titles = [sheet.get("name") for sheet in ET.fromstring(book.read("xl/workbook.xml")).iter(f"{MAIN}sheet")]
    pane, filtered = first.find(f".//{MAIN}pane"), first.find(f"{MAIN}autoFilter")
    assert pane is not None
    assert (pane.get("ySplit"), pane.get("state")) == ("1", "frozen")
    assert filtered is not None
    assert filtered.get("ref") == f"A1:X{released.rows('mart.eligibility').height + 1}"
    assert titles[:4] == ["Elegibilidade", "Requisitos", "Municípios de origem", "Pendências"]
    assert titles[4:6] == ["Municípios sem candidatos", "Propostas"]
    assert titles[-1] == "Notas"


def test_every_sheet_is_printed_landscape_as_wide_as_the_page_with_its_header(released: Released) -> None:
    with ZipFile(released.folder / "export" / FILE) as book:
        names = ET.fromstring(book.read("xl/workbook.xml"))
        sheets = [ET.fromstring(book.read(name)) for name in book.namelist() if name.startswith("xl/worksheets/sheet")]
    setups = [found for sheet in sheets if (found := sheet.find(f"{MAIN}pageSetup")) is not None]
    assert len(setups) == len(sheets)
    assert {(each.get("orientation"), each.get("fitToHeight")) for each in setups} == {("landscape", "0")}
    repeated = [name for name in names.iter(f"{MAIN}definedName") if name.get("name") == "_xlnm.Print_Titles"]
    assert len(repeated) == len(sheets) - 1  # the notes have no header


def test_the_three_statuses_are_coloured(released: Released) -> None:
    with ZipFile(released.folder / "export" / FILE) as book:
        rules = [
            rule.findtext(f"{MAIN}formula")
            for rule in ET.fromstring(book.read("xl/worksheets/sheet1.xml")).iter(f"{MAIN}cfRule")
        ]
    assert rules[:3] == ['"elegível"', '"indeterminado"', '"não elegível"']


def test_the_notes_sheet_is_the_releases_own(released: Released) -> None:
    found = [[text for _, text in row] for row in sheet(released.folder / "export" / FILE, len(SHEETS) + 1)]
    manifest, known = released.manifest, sources()
    files = [
        [
            known[row["source"]].title,
            row["url"] or row["part"],
            f"{row['fetched_at']:%d/%m/%Y}",
            "entregue pelo usuário" if known[row["source"]].base == "inputs" else known[row["source"]].publisher,
            row["sha256"],
        ]
        for row in released.rows("meta.snapshot").to_dicts()
    ]
    (law,) = manifest["rule_sets"]
    expected = [
        ["Triagem de áreas para criação de municípios: ES"],
        ["DADOS SIMULADOS", "Exemplo que acompanha o programa; nenhuma cifra serve a um processo."],
        ["Publicação", f"ES-{manifest['contents_hash'][:8]}"],
        ["Dados até", "30/11/2026"],
        ["Aviso", manifest["legal_notice"]],
        ["Regras aplicadas"],
        [law["id"], f"{law['title']} (SHA-256 {law['sha256']})"],
        ["Como ler"],
        *(["", line] for line in READING),
        ["Fontes"],
        ["Fonte", "Arquivo", "Baixado em", "Órgão", "SHA-256"],
        *files,
        ["Conferência"],
        ["Conteúdo (SHA-256)", manifest["contents_hash"]],
        ["Entradas (SHA-256)", manifest["fingerprint"]],
        ["Programa (SHA-256)", manifest["code"]],
    ]
    assert found == expected


@pytest.mark.skipif(shutil.which("soffice") is None, reason="needs LibreOffice (libreoffice-calc-nogui)")
def test_case_57_libreoffice_shows_the_same_figures_in_csv_and_workbook(released: Released, tmp_path: Path) -> None:
    # The CSV is read as in Brazil: semicolons, UTF-8, language 1046 (pt-BR), special numbers told apart.
    how = {FILE: [], "elegibilidade.csv": ["--infilter=CSV:59,34,76,1,,1046,false,true"]}
    opened = []
    for name, extra in how.items():
        command = ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", *extra]
        target = ["--convert-to", "fods", "--outdir", str(tmp_path / name.replace(".", "-"))]
        source = str(released.folder / "export" / name)
        subprocess.run([*command, *target, source], check=True, capture_output=True, timeout=180)
        opened.append(first_sheet(tmp_path / name.replace(".", "-") / "elegibilidade.fods"))
    book, text = opened
    table = released.tables["mart.eligibility"][0]
    assert len(book) == len(text) == released.rows("mart.eligibility").height + 1
    for one, other in zip(book[1:], text[1:], strict=True):
        for column, a, b in zip(table.columns, one, other, strict=False):
            if is_number(column) and a:
                assert Decimal(a) == Decimal(b)
            elif column.kind is not Kind.CODE:
                assert a == b


def first_sheet(path: Path) -> list[list[str]]:
    """Rows of a flat OpenDocument sheet: the value of numbers, the text of texts."""
    spaces = {n: f"urn:oasis:names:tc:opendocument:xmlns:{n}:1.0" for n in ("table", "office", "text")}
    table, office, text = (f"{{{spaces[n]}}}" for n in ("table", "office", "text"))
    found = []
    first = next(ET.parse(path).iter(f"{table}table"))
    for row in first.iter(f"{table}table-row"):
        cells: list[str] = []
        for cell in row.iter(f"{table}table-cell"):
            words = "".join("".join(part.itertext()) for part in cell.iter(f"{text}p"))
            value = cell.get(f"{office}value") or words
            cells += [value] * min(int(cell.get(f"{table}number-columns-repeated", 1)), 100)
        if any(cells):
            found.append(cells)
    return found
