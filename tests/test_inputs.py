"""Hand-supplied files: what is read, and how every fault is told with line, column, value and remedy."""

import io
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.damage import damaged
from transforms.errors import UsageError
from transforms.numbers import decimal
from transforms.sources import (
    Scope,
    inputs,
    inputs_candidates,
    inputs_certificates,
    inputs_collections,
    inputs_polling_place_districts,
    inputs_proposals,
)
from warehouse import sample

MODULES = (
    inputs_candidates,
    inputs_certificates,
    inputs_collections,
    inputs_polling_place_districts,
    inputs_proposals,
)
CANDIDATES = "area_id;area_name;kind;district_codes;note\n"
CERTIFICATES = "area_id;requirement;value;body;document;date;note\n"
PLACES = "municipality_code;zone;place;district_code;source\n"
PROPOSALS = "proposal_id;area_id;event;date;document;body;value;note\n"
COLLECTIONS = "uf;exercicio;cod_municipio;cod_distrito;nivel;esfera_arrecadadora;tributo;valor;qualidade;metodo\n"


def parsed(module: ModuleType, text: str | bytes) -> pl.DataFrame:
    raw = text.encode() if isinstance(text, str) else text
    table: pl.DataFrame = module.SOURCE.tables[0].parse(io.BytesIO(raw))
    return table


def refused(module: ModuleType, text: str | bytes) -> str:
    with pytest.raises(UsageError) as error:
        parsed(module, text)
    assert error.value.exit_code == 2
    assert error.value.where.startswith(module.FORM.file)
    return str(error.value)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.SOURCE.name)
def test_every_file_is_asked_for_by_name_and_may_be_absent(module: ModuleType) -> None:
    conversation = module.SOURCE.conversation(Scope("ES", date(2026, 11, 30)))
    request = next(conversation)
    assert (request.part, request.path) == (module.FORM.file, module.FORM.file)
    assert (request.media, request.optional, request.shared) == ("csv", True, True)
    with pytest.raises(StopIteration):
        conversation.send(None)
    assert not module.SOURCE.required


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.SOURCE.name)
def test_the_samples_files_are_read_whole_and_without_warnings(module: ModuleType) -> None:
    raw = (sample.inputs() / module.FORM.file).read_bytes()
    found = parsed(module, raw)
    assert found.height == raw.count(b"\n") - 1
    assert sorted(found["line"]) == list(range(2, raw.count(b"\n") + 1))
    assert inputs.warnings(io.BytesIO(raw), module.FORM.file) == ()


# How a file may be written

ONE = f"{CERTIFICATES}320500210;population;10.001;IBGE;Ofício nº 1;2026-03-04;\n"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(ONE.replace("10.001", "10001").encode(), id="utf-8"),
        pytest.param(ONE.replace("10.001", "10001").encode("utf-8-sig"), id="bom"),
        pytest.param(ONE.replace("10.001", "10001").encode("cp1252"), id="windows-1252"),
        pytest.param(ONE.replace("10.001", "10001").replace("\n", "\r\n").encode(), id="crlf"),
        pytest.param(ONE.replace("10.001", "10001").replace(";", ",").encode(), id="commas"),
        pytest.param((ONE.replace("10.001", "10001") + ";;;;;;\n\n").encode(), id="blank-rows"),
        pytest.param(ONE.replace("10.001", '" 10001 "').replace("area_id", '"Area_ID "').encode(), id="quotes"),
        pytest.param(ONE.replace("10.001", "10001").replace(";note", "").replace("04;", "04").encode(), id="no-note"),
        pytest.param(ONE.replace("10.001", "10001").replace("í", "i\u0301").encode(), id="decomposed"),
        pytest.param(ONE.replace("10.001", "R$ 10.001,00").encode(), id="money"),
        pytest.param(ONE.replace("10.001", "10001").replace("population", "Population").encode(), id="case"),
    ],
)
def test_the_same_row_however_it_is_written(raw: bytes) -> None:
    assert parsed(inputs_certificates, raw).rows() == [
        ("320500210", "population", Decimal(10001), "IBGE", "Ofício nº 1", date(2026, 3, 4), None, 2)
    ]


def test_windows_text_is_read_with_a_warning() -> None:
    (told,) = inputs.warnings(io.BytesIO(ONE.encode("cp1252")), "certificates.csv")
    assert told == "certificates.csv: not UTF-8 (line 2), read as Windows-1252: check its accents"


def test_columns_may_come_in_any_order() -> None:
    found = parsed(
        inputs_polling_place_districts,
        "source;place;zone;district_code;municipality_code\nx;0012;007;320500210;3205002\n",
    )
    assert found.rows() == [("3205002", "7", "12", "320500210", "x", None, 2)]


def test_a_cell_over_several_lines_keeps_the_count_of_lines() -> None:
    text = f'{CANDIDATES}g;G;group;320500210|320500215;"two\nlines"\ng;H;group;320500210|320500215;\n'
    assert "g is in line 2 already [candidates.csv, line 4, column area_id]" in refused(inputs_candidates, text)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        pytest.param(b"", "missing ['area_id'", id="empty"),
        pytest.param(b"PK\x03\x04rest", "a spreadsheet", id="xlsx"),
        pytest.param(b"\xd0\xcf\x11\xe0\xa1\xb1", "a spreadsheet", id="xls"),
        pytest.param(CANDIDATES.encode("utf-16"), "UTF-16", id="utf-16"),
        pytest.param(CANDIDATES.encode() + b"a\x00b;", "not a text file [candidates.csv, line 2]", id="binary"),
        pytest.param(b"area_id;area_name;kind;x\n", "missing ['district_codes'], unexpected ['x']", id="heading"),
        pytest.param(b"area_id;area_id;area_name;kind;district_codes\n", "repeated ['area_id']", id="repeated"),
        pytest.param(CANDIDATES.encode() + b"a;b\n", "5 cells expected, 2 read", id="short"),
        pytest.param(CANDIDATES.encode() + b"a;b;c;d;e;f\n", "5 cells expected, 6 read", id="long"),
        pytest.param(CANDIDATES.encode() + b'a;"b\n', "not a row of cells", id="open-quote"),
        pytest.param(b"Title\n" + CANDIDATES.encode(), "missing", id="title-above"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table_is_refused(raw: bytes, told: str) -> None:
    assert told in refused(inputs_candidates, raw)


def test_every_fault_is_told_at_once_in_the_order_of_lines() -> None:
    told = refused(
        inputs_certificates,
        f"{CERTIFICATES}a;population;x;IBGE;1;2026-03-04;\nb;tax;1;;1;04-03-2026;\nc;urban_houses;201,5;IBGE;1;2026-02-30;\n",
    )
    first, second, *_ = told.splitlines()
    assert first == "5 faults in certificates.csv:"
    assert second.startswith("  line 2, column value: not a number: 'x': write 1234567,89 or 1234567.89, without")
    assert "line 3, column requirement: 'tax' is not known: one of population, electorate" in told
    assert "line 3, column body: empty: Body that certifies" in told
    assert "line 3, column date: '04-03-2026' is no date: write year-month-day, as in 2026-04-03" in told
    assert "line 4, column date: '2026-02-30' is no date" in told
    assert "[certificates.csv]\n" in told


def test_many_faults_are_counted() -> None:
    told = refused(inputs_certificates, CERTIFICATES + "a;population;x;IBGE;1;2026-03-04;\n" * 50)
    assert told.startswith("50 faults in certificates.csv:")
    assert told.count("\n  line ") == 20
    assert "and 30 more" in told


# Candidates


def test_candidates_codes_are_kept_sorted_with_bars_between() -> None:
    found = parsed(inputs_candidates, f"{CANDIDATES}g 1;Grupo;group;320500215 | 320500210;\n")
    assert found.rows() == [("g 1", "Grupo", "group", "320500210|320500215", None, 2)]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("320500210;A;district;320500210", "a district is a candidate of its own under its code"),
        ("a|b;A;district;320500210", "up to 64 characters"),
        ("a;A;group;320500210", "a group has two districts or more"),
        ("a;A;district;320500210|320500215", "a district is one code, not 2"),
        ("a;A;fusion;320500210|320500215", "two municípios or more"),
        ("a;A;group;320500210|320500210", "a district twice"),
        ("a;A;group;320500210|330455705", "districts of several states"),
        ("a;A;group;320500210|32050021", "'32050021' (8 characters) is no district code"),
        ("a;A;group;320500210|3,2050021E8", "is no district code"),
        ("a;A;group;320500210|320500305", "its check digit is wrong"),
        ("a;A;city;320500210", "'city' is not known: one of district, group, fusion"),
        (";A;group;320500210|320500215", "empty"),
    ],
)
def test_candidates_that_are_no_area_are_refused(row: str, told: str) -> None:
    assert told in refused(inputs_candidates, f"{CANDIDATES}{row};\n")


def test_case_11_only_district_codes_make_an_area(shared: Path) -> None:
    good, *others = (shared / "cases/11-wrong-geographic-level/codigos.csv").read_text().split()[1:]
    told = refused(inputs_candidates, f"{CANDIDATES}a;A;group;{'|'.join((good, *others))};\n")
    assert all(f"'{code}' ({len(code)} characters) is no district code" in told for code in others)
    assert f"'{good}' (" not in told


# Certificates


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ("population;10000,5", "10000.5 is not a whole number"),
        ("collection;10000,5055", "10000.5055 is not R$ with two decimals"),
        ("collection;10000,505", "ambiguous: '10000,505'"),
        ("electorate;-1", "'-1' is less than 0"),
        ("electorate;1.234", "ambiguous: '1.234' may have marks of thousands, or decimals: write 1234, or 1234,00,"),
        ("electorate;1,234.56", "not a number"),
        ("urban_houses;", "empty"),
        ("urban_houses;1e3", "not a number"),
        ("collection;10000000000000000", "too large"),
        (f"collection;{'9' * 40}", "too large"),  # more digits than decimal's own precision
    ],
)
def test_certificates_figures_are_exact_or_refused(cells: str, told: str) -> None:
    assert told in refused(inputs_certificates, f"{CERTIFICATES}a;{cells};IBGE;1;2026-03-04;\n")


@pytest.mark.parametrize("lacks", ["body", "document", "date"])
def test_a_certificate_names_its_body_document_and_date(lacks: str) -> None:
    cells = {"body": "IBGE", "document": "1", "date": "2026-03-04"} | {lacks: ""}
    told = refused(inputs_certificates, f"{CERTIFICATES}a;population;1;{';'.join(cells.values())};\n")
    assert f"column {lacks}]" in told
    assert told.startswith("empty")


def test_a_certificate_is_of_the_competent_body() -> None:
    row = "a;{};1;{};1;2026-03-04;\n"
    for requirement, body in (("population", "Padaria do Ze"), ("electorate", "IBGE"), ("collection", "TRE-ES")):
        told = refused(inputs_certificates, CERTIFICATES + row.format(requirement, body))
        assert told.startswith(f"{body!r} does not certify {requirement}: its body is ")
        assert "[certificates.csv, line 2, column body]" in told


def test_a_requirement_is_certified_once_a_day_and_renewed_on_another() -> None:
    row = "a;population;{};IBGE;1;{};\n"
    told = refused(inputs_certificates, CERTIFICATES + row.format(1, "2026-03-04") + row.format(2, "04/03/2026"))
    assert "a population 2026-03-04 is in line 2 already [certificates.csv, line 3, column area_id, requir" in told
    renewed = parsed(inputs_certificates, CERTIFICATES + row.format(1, "2026-03-05") + row.format(2, "2026-03-04"))
    assert renewed.select("value", "date", "line").rows() == [
        (Decimal(2), date(2026, 3, 4), 3),
        (Decimal(1), date(2026, 3, 5), 2),
    ]


# Polling places


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("3205002;7;12;320501010;x", "320501010 is no district of 3205002"),
        ("320500;7;12;320500210;x", "'320500' (6 characters) does not fit: the check digit is missing: is it 3205002?"),
        ("110000;7;12;110000005;x", "'110000' (6 characters) does not fit: no município has this code"),
        ("3205003;7;12;320500310;x", "'3205003' is of no município: its check digit is wrong"),
        ("3205002.0;7;12;320500210;x", "'3205002.0' (9 characters) does not fit"),
        ("3205002;VII;12;320500210;x", "'VII' (3 characters) does not fit"),
        ("3205002;7;0;320500210;x", "column place"),
        ("3205002;7;12;320500210;", "empty"),
    ],
)
def test_polling_places_that_cannot_be_are_refused(row: str, told: str) -> None:
    assert told in refused(inputs_polling_place_districts, f"{PLACES}{row}\n")


def test_a_place_number_repeats_between_zones() -> None:
    found = parsed(inputs_polling_place_districts, f"{PLACES}3205002;7;12;320500210;x\n3205002;8;12;320500215;x\n")
    assert found.select("zone", "place", "district_code").rows() == [("7", "12", "320500210"), ("8", "12", "320500215")]


# Collections


def collection(**cells: str) -> str:
    row = {
        "uf": "ES", "exercicio": "2025", "cod_municipio": "3205002", "cod_distrito": "320500210", "nivel": "distrito",
        "esfera_arrecadadora": "estadual", "tributo": "ICMS", "valor": "1,00", "qualidade": "declarado", "metodo": "",
    }  # fmt: skip
    return ";".join((row | cells).values()) + "\n"


MUNICIPAL = {"nivel": "municipio", "cod_distrito": ""}


def test_collections_rows_are_typed_and_empty_is_no_data() -> None:
    text = COLLECTIONS + collection(valor="1.234,50") + collection(valor="", tributo="IPVA") + collection(
        uf="es", nivel="Estado", cod_municipio="", cod_distrito="", tributo="total_impostos", valor="-0,05"
    )  # fmt: skip
    found = parsed(inputs_collections, text)
    assert found.select("place_code", "level", "tax", "value", "regime", "territorial_basis", "line").rows() == [
        ("32", "estado", "TOTAL_IMPOSTOS", Decimal("-0.05"), "bruta_liquida_restituicoes", "nao_informada", 4),
        ("320500210", "distrito", "ICMS", Decimal("1234.50"), "bruta_liquida_restituicoes", "nao_informada", 2),
        ("320500210", "distrito", "IPVA", None, "bruta_liquida_restituicoes", "nao_informada", 3),
    ]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"uf": "XX"}, "'XX' is not known"),
        ({"uf": "RJ"}, "3205002 is not in RJ"),
        ({"exercicio": "25"}, "'25' is less than 1990"),
        ({"exercicio": "2025,5"}, "more than 0 decimals"),
        ({"cod_municipio": ""}, "a row of level distrito needs one"),
        ({"cod_distrito": ""}, "a row of level distrito needs one"),
        ({"nivel": "municipio"}, "a row of level municipio has none"),
        ({"nivel": "estado", "cod_distrito": ""}, "a row of level estado has none"),
        ({"cod_distrito": "320501010"}, "320501010 is no district of 3205002"),
        ({"cod_municipio": "320500"}, "is it 3205002?"),
        ({"tributo": "IPI"}, "'IPI' is not known: one of ICMS, IPVA"),
        ({"esfera_arrecadadora": "federal"}, "'federal' is not known"),
        (
            {"tributo": "IPTU"},
            "IPTU is a tax of esfera municipal, not estadual: correct either [collections.csv, line 2",
        ),
        ({"tributo": "ISS"}, "ISS is a tax of esfera municipal, not estadual"),
        ({"tributo": "ITBI"}, "ITBI is a tax of esfera municipal, not estadual"),
        ({"esfera_arrecadadora": "municipal"}, "ICMS is a tax of esfera estadual, not municipal"),
        ({"tributo": "IPVA", "esfera_arrecadadora": "municipal"}, "IPVA is a tax of esfera estadual, not municipal"),
        ({"tributo": "ITCMD", "esfera_arrecadadora": "municipal"}, "ITCMD is a tax of esfera estadual, not municipal"),
        ({"valor": "1,234"}, "ambiguous: '1,234'"),
        ({"valor": "1,2345"}, "more than 2 decimals"),
        ({"exercicio": "2.025"}, "ambiguous: '2.025' may have marks of thousands, or decimals: write 2025"),
        ({"qualidade": "certificado"}, "empty: what is certified needs it"),
        ({"qualidade": "estimado"}, "an estimate needs its method"),
    ],
)
def test_collections_that_break_the_contract_are_refused(cells: dict[str, str], told: str) -> None:
    assert told in refused(inputs_collections, COLLECTIONS + collection(**cells))


@pytest.mark.parametrize("tax", ["IRRF", "OUTROS_IMPOSTOS", "TOTAL_IMPOSTOS"])
def test_collections_of_either_sphere_may_hold_taxes_of_both(tax: str) -> None:
    rows = (collection(tributo=tax, esfera_arrecadadora=sphere) for sphere in ("estadual", "municipal"))
    assert parsed(inputs_collections, COLLECTIONS + "".join(rows)).height == 2


def test_collections_of_the_distrito_federal_which_levies_all_taxes_stop_no_other_state() -> None:
    federal = {"uf": "DF", "cod_municipio": "5300108", "cod_distrito": "530010805", "tributo": "IPTU"}
    assert parsed(inputs_collections, COLLECTIONS + collection() + collection(**federal)).height == 2


def test_collections_after_transfers_are_not_judged() -> None:
    text = COLLECTIONS.replace("metodo", "regime") + collection(metodo="liquida_repasses")
    assert "figures after transfers to the municípios are not judged" in refused(inputs_collections, text)


def test_what_is_certified_names_document_body_and_both_dates() -> None:
    heading = COLLECTIONS.replace("metodo", "documento;orgao;data_documento;data_extracao")
    row = collection(qualidade="certificado", metodo="Certidão 1;SEFAZ;2026-03-04;2026-03-01")
    found = parsed(inputs_collections, heading + row)
    assert found.select("document", "body", "document_date", "extracted_on").rows() == [
        ("Certidão 1", "SEFAZ", date(2026, 3, 4), date(2026, 3, 1))
    ]
    told = refused(inputs_collections, heading + row.replace("2026-03-04", ""))
    assert "column data_documento]" in told
    told = refused(inputs_collections, heading + row.replace("SEFAZ", "Padaria do Zé"))
    assert "'Padaria do Zé' does not certify collection: its body is state treasury (art. 2º, § 2º), as in" in told
    assert "[collections.csv, line 2, column orgao]" in told


def test_the_same_figure_twice_is_never_added_up() -> None:
    told = refused(inputs_collections, COLLECTIONS + collection() + collection(valor="2,00"))
    assert "2025 320500210 estadual ICMS is in line 2 already" in told


@pytest.mark.parametrize(
    ("total", "parts", "holds"),
    [
        ("3,00", ("1,00", "2,00"), True),
        ("3,02", ("1,00", "2,00"), True),
        ("3,03", ("1,00", "2,00"), False),
        ("2,97", ("1,00", "2,00"), False),
        ("9,00", ("1,00", ""), True),
        ("", ("1,00", "2,00"), True),
        ("9,00", (), True),
    ],
)
def test_a_total_beside_its_parts_is_their_sum_to_a_cent_each(total: str, parts: tuple[str, ...], holds: bool) -> None:
    rows = [collection(tributo="TOTAL_IMPOSTOS", valor=total)]
    rows += [collection(tributo=tax, valor=value) for tax, value in zip(("ICMS", "IPVA"), parts, strict=False)]
    text = COLLECTIONS + "".join(rows)
    if holds:
        assert parsed(inputs_collections, text).height == len(rows)
    else:
        assert f"the total is {total.replace(',', '.')}, its parts add up to 3.00" in refused(inputs_collections, text)


def test_a_total_speaks_of_its_own_place_sphere_and_year_only() -> None:
    text = COLLECTIONS + "".join(
        (
            collection(tributo="TOTAL_IMPOSTOS", valor="9,00"),
            collection(exercicio="2024"),
            collection(esfera_arrecadadora="municipal", tributo="ISS"),
            collection(**MUNICIPAL),
        )
    )
    assert parsed(inputs_collections, text).height == 4


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (("1.234,00", "1.234,50"), ("1234.00", "1234.50")),
        (("1234", "12"), ("1234.00", "12.00")),
        (("1234.5", "12.25"), ("1234.50", "12.25")),
        (("1.234.567,89", "1234567,89"), ("1234567.89", "1234567.89")),
        (("1234567.89", "1"), ("1234567.89", "1.00")),
    ],
)
def test_numbers_are_read_with_a_comma_or_a_point(written: tuple[str, ...], read: tuple[str, ...]) -> None:
    rows = [collection(tributo=tax, valor=value) for tax, value in zip(("ICMS", "IPVA"), written, strict=True)]
    assert parsed(inputs_collections, COLLECTIONS + "".join(rows))["value"].to_list() == [*map(Decimal, read)]


@pytest.mark.parametrize("beside", ["1", "1234,50", "1.234,50", "1234.50", "1.234"])
@pytest.mark.parametrize(
    ("cell", "whole"),
    [
        ("10.000", "10000"),
        ("10,000", "10000"),
        ("140.000.000", "140000000"),
        ("1,234,567", "1234567"),
        ("1.234,567", "1234567"),
        ("1234.567", "1234567"),
        ("R$ 1.234", "1234"),
        ("-1.234", "-1234"),
        ("(1.234)", "-1234"),
    ],
)
def test_three_digits_after_a_mark_are_refused_whatever_stands_beside_them(cell: str, whole: str, beside: str) -> None:
    text = COLLECTIONS + collection(tributo="IPVA", valor=beside) + collection(valor=cell)
    mark = "." if beside == "1234.50" else ","
    told = f"ambiguous: {cell!r} may have marks of thousands, or decimals: write {whole}, or {whole}{mark}00, if it is"
    said = refused(inputs_collections, text)
    assert told in said
    assert "line 3, column valor" in said


@pytest.mark.parametrize(("requirement", "cell"), [("electorate", "10.000"), ("population", "340.000")])
def test_thousands_beside_dotted_cents_are_not_read_as_tens(requirement: str, cell: str) -> None:
    body = {"electorate": "TRE-ES", "population": "IBGE"}[requirement]
    rows = f"a;collection;900000000.00;SEFAZ-ES;1;2026-03-04;\na;{requirement};{cell};{body};1;2026-03-04;\n"
    whole = cell.replace(".", "")
    assert refused(inputs_certificates, CERTIFICATES + rows) == (
        f"ambiguous: {cell!r} may have marks of thousands, or decimals: write {whole}, or {whole}.00, if it is that "
        "many [certificates.csv, line 3, column value]\n  → correct the file and run again; nothing of it was used"
    )
    assert parsed(inputs_certificates, CERTIFICATES + rows.replace(cell, f"{whole}.00"))["value"].to_list() == [
        Decimal(900_000_000), Decimal(whole)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "line", "told"),
    [
        (
            ("900000000.00", "140.000.000,00", "1234.5", "7"),
            3,
            "'140.000.000,00' has a decimal comma, the rest of its column a decimal point: "
            "write 140000000.00 here, or decimal commas, as in 1234567,89, in the whole column",
        ),
        (
            ("1234.50", "1,00", "2", "12,25"),
            2,
            "'1234.50' has a decimal point, the rest of its column a decimal comma: "
            "write 1234,50 here, or decimal points, as in 1234567.89, in the whole column",
        ),
        (("1,5", "2.5", "3", "4"), 3, "'2.5' has a decimal point, the rest of its column a decimal comma: write 2,5 h"),
    ],
)
def test_the_row_whose_mark_is_not_the_columns_is_named(cells: tuple[str, ...], line: int, told: str) -> None:
    rows = (f"a{number};collection;{cell};SEFAZ;1;2026-03-04;\n" for number, cell in enumerate(cells))
    said = refused(inputs_certificates, CERTIFICATES + "".join(rows))
    assert said.startswith(told)
    assert f"[certificates.csv, line {line}, column value]" in said


def test_case_35_negatives_keep_their_sign(shared: Path) -> None:
    *good, bad = (shared / "cases/35-negative-sign-lost/valores.csv").read_text().split("\n")[1:6]
    taxes = ("ICMS", "IPVA", "ITCMD", "IRRF")
    rows = [collection(tributo=tax, valor=value) for tax, value in zip(taxes, good, strict=True)]
    assert parsed(inputs_collections, COLLECTIONS + "".join(rows))["value"].to_list() == [Decimal("-1234.56")] * 4
    assert "'1.234,5,6'" in refused(inputs_collections, COLLECTIONS + collection(valor=bad))


def test_case_46_brazilian_numbers_are_exact_and_other_locales_refused(shared: Path) -> None:
    rows = (shared / "cases/46-ptbr-thousands-and-decimal/receita.csv").read_text().splitlines()[1:]
    *good, bad = (row.split(";", 1)[1] for row in rows)
    taxes = ("ICMS", "IPVA", "ITCMD", "IRRF")
    text = COLLECTIONS + "".join(collection(tributo=tax, valor=cell) for tax, cell in zip(taxes, good, strict=True))
    found = parsed(inputs_collections, text).sort("line")["value"]
    assert found.to_list() == [*map(Decimal, ("1234.56", "12.50", "1234.00", "1234567.89"))]
    assert "'1,234.56'" in refused(inputs_collections, COLLECTIONS + collection(valor=bad))


def test_case_48_money_is_exact_to_the_cent(shared: Path) -> None:
    rows = (shared / "cases/48-float-equality-on-money/receita.csv").read_text().splitlines()[1:]
    taxes = ("ICMS", "IPVA", "ITCMD")
    cells = [row.split(";") for row in rows]
    text = COLLECTIONS + "".join(collection(tributo=tax, valor=row[1]) for tax, row in zip(taxes, cells, strict=True))
    found = dict(parsed(inputs_collections, text).select("tax", "value").iter_rows())
    meets = [found[tax] * 1000 >= 5 * decimal(row[2]) for tax, row in zip(taxes, cells, strict=True)]
    assert meets == [True, False, True]


def test_case_49_dates_are_read_in_a_declared_form_and_never_guessed(shared: Path) -> None:
    days = (shared / "cases/49-day-month-swap/datas.csv").read_text().split()[1:]
    rows = [f"{area};population;1;IBGE;1;{day};\n" for area, day in enumerate(days)]
    read = parsed(inputs_certificates, CERTIFICATES + "".join(rows[:2]))
    assert read["date"].to_list() == [date(2026, 4, 3), date(2026, 4, 13)]
    told = refused(inputs_certificates, CERTIFICATES + "".join(rows))
    assert f"line 4, column date: '{days[2]}' is no date" in told or "certificates.csv, line 4, column date" in told


# Proposals


def test_proposals_events_keep_the_order_of_their_dates() -> None:
    text = (
        f"{PROPOSALS}p1;320500210;law;2026-08-14;Lei 1;ALES;limits=yes;\n"
        "p1;320500210;representation_received;2026-02-09;;ALES;claimed=150|recognised=121;\n"
    )
    found = parsed(inputs_proposals, text)
    assert found.select("event", "value", "line").rows() == [
        ("representation_received", "claimed=150|recognised=121", 3),
        ("law", "limits=yes", 2),
    ]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ("vote;2026-02-09;;;", "'vote' is not known"),
        ("bill;02/13/2026;;;", "is no date"),
        ("bill;2026-02-09;;;yes=1", "'yes=1' is no figure of bill"),
        ("representation_received;2026-02-09;;;claimed=1,5", "'claimed=1,5' is no figure"),
        ("representation_received;2026-02-09;;;claimed=1|claimed=2", "'claimed=2' is no figure"),
        ("representation_received;2026-02-09;;;claimed=99|recognised=100", "recognised is more than claimed"),
        ("plebiscite_held;2026-10-04;;;electorate=5|turnout=6", "turnout is more than electorate"),
        ("plebiscite_held;2026-10-04;;;turnout=6|yes=3|no=1|blank=1|null=0", "add up to 5, the turnout is 6"),
        ("certificate_received;2026-02-09;;IBGE;", "a certificate has a document and a body"),
    ],
)
def test_proposals_that_cannot_be_are_refused(cells: str, told: str) -> None:
    assert told in refused(inputs_proposals, f"{PROPOSALS}p1;320500210;{cells};\n")


def test_a_plebiscite_over_two_municipalities_is_two_rows() -> None:
    rows = "".join(f"p1;f;plebiscite_held;2026-10-04;ata;TRE;area={code}|turnout=6;\n" for code in (3203601, 3204252))
    assert parsed(inputs_proposals, PROPOSALS + rows).height == 2


# Whatever comes

GOOD = (
    (inputs_candidates, f"{CANDIDATES}g;Grúpo;group;320500210|320500215;\n".encode()),
    (inputs_certificates, ONE.replace(".", "").encode("cp1252")),
    (inputs_collections, (COLLECTIONS + collection() + collection(tributo="TOTAL_IMPOSTOS")).encode()),
    (inputs_polling_place_districts, f"{PLACES}3205002;7;12;320500210;x\n".encode("utf-8-sig")),
    (inputs_proposals, f"{PROPOSALS}p1;a;plebiscite_held;2026-10-04;;;turnout=6|yes=6;\n".encode()),
)


@given(data=st.data(), number=st.sampled_from(range(len(GOOD))))
def test_any_bytes_give_rows_or_a_refusal(data: st.DataObject, number: int) -> None:
    module, good = GOOD[number]
    try:
        found = parsed(module, data.draw(damaged(good)))
    except UsageError:
        return
    assert found.schema == module.FORM.table.schema


def test_a_row_of_the_template_not_yet_filled_in_says_nothing() -> None:
    found = parsed(
        inputs_polling_place_districts,
        f"{PLACES}3205002;7;12;;;\n3205002;7;13;320500210;TRE;\n".replace(";source\n", ";source;note\n"),
    )
    assert found["place"].to_list() == ["13"]
