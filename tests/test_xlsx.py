"""elegibilidade.xlsx read back cell by cell, and opened by LibreOffice as the assembly does."""

import csv
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from zipfile import ZipFile

import pytest

from tests.assembly import Released, sample
from transforms.schema import Column, Kind, Table, Unit
from warehouse.export import xlsx
from warehouse.export.csv import ASSEMBLY, assembly, is_number
from warehouse.export.naming import named
from warehouse.export.xlsx import FILE, notes

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


@pytest.mark.parametrize(("number", "name"), list(enumerate(ASSEMBLY, 1)))
def test_each_sheet_holds_what_its_csv_holds(released: Released, number: int, name: str) -> None:
    table, frame = named(released.tables, name)
    expected = rows_of_csv((released.folder / "export" / ASSEMBLY[name]).read_bytes())
    assert expected == rows_of_csv(assembly(table, frame))
    found = sheet(released.folder / "export" / FILE, number)
    assert len(found) == len(expected)
    assert [text for _, text in found[0]] == expected[0]
    for cells, wanted in zip(found[1:], expected[1:], strict=True):
        padded = cells + [("", "")] * (len(wanted) - len(cells))
        for column, (kind, cell), text in zip(table.columns, padded, wanted, strict=True):
            if text and is_number(column):
                assert (kind, Decimal(cell)) == ("n", Decimal(text.replace(",", ".")))
            else:
                assert (kind, cell) == ("s" if text else "", text)


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


def test_the_notes_tell_sources_dates_rules_notice_and_hashes(released: Released) -> None:
    told = [" ".join(row) for row in notes(released.manifest)]
    text = "\n".join(told)
    for wanted in (released.manifest["legal_notice"], "DADOS SIMULADOS", "Dados até 30/11/2026", "lc_1_1967"):
        assert wanted in text
    for file in released.manifest["snapshots"]:
        assert sum(file["sha256"] in line for line in told) == 1
    assert released.manifest["contents_hash"] in text
    assert f"Publicação ES-{released.manifest['contents_hash'][:8]}" in text


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
