"""The CSV files, byte by byte: what programs read back exactly, and what Excel in Brazil shows right."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from tests.assembly import sample
from transforms.columns import EVIDENCE, UNIT, VALUE
from transforms.schema import Column, Kind, Table, Unit
from warehouse.export.csv import assembly, machine


def table(*columns: Column) -> Table:
    return Table("mart.shown", "Amostra", "One row.", (columns[0].name,), columns)


def text(name: str, label: str = "") -> Column:
    return Column(name, Kind.TEXT, name, label or name, nullable=True)


def number(name: str, kind: Kind, unit: Unit | None = None) -> Column:
    return Column(name, kind, name, name, unit, nullable=True)


CODE = Column("code", Kind.CODE, "Code.", "Código")


def lines(content: bytes, *, brazilian: bool = False) -> list[str]:
    ending = "\r\n" if brazilian else "\n"
    return content.decode("utf-8-sig" if brazilian else "utf-8").removesuffix(ending).split(ending)


@pytest.mark.parametrize(
    ("unit", "figure", "for_programs", "for_assembly"),
    [
        ("persons", "12000", "12000", "12000"),
        ("persons", "19168.56", "19168.56", "19168,56"),
        ("voters", "0", "0", "0"),
        ("houses", "1200.5", "1200.5", "1200,5"),
        ("BRL", "30000.1", "30000.10", "30000,10"),
        ("BRL", "30000", "30000.00", "30000,00"),
        ("BRL", "30000.125", "30000.125", "30000,125"),
        ("BRL", "100.00005", "100.00005", "100,00005"),
        ("BRL", "-0.5", "-0.50", "-0,50"),
        ("BRL", None, "", ""),
    ],
)
def test_exact_figures_follow_the_unit_of_their_row(
    unit: str, figure: str | None, for_programs: str, for_assembly: str
) -> None:
    declared = table(UNIT, VALUE)
    rows = declared.frame([{"unit": unit, "value": None if figure is None else Decimal(figure)}])
    word = {"persons": "habitantes", "voters": "eleitores", "houses": "casas", "BRL": "R$"}[unit]
    assert lines(machine(declared, rows)) == ["unit,value", f"{unit},{for_programs}"]
    assert lines(assembly(declared, rows), brazilian=True) == ["Unidade;Valor", f"{word};{for_assembly}"]


def test_where_no_unit_stands_in_the_row_the_requirement_tells_money() -> None:
    requirement = text("requirement").but(values=("population", "collection"))
    declared = table(requirement, VALUE)
    rows = declared.frame([{"requirement": name, "value": Decimal(7)} for name in ("population", "collection")])
    assert lines(machine(declared, rows)) == ["requirement,value", "collection,7.00", "population,7"]


def test_each_kind_is_written_for_programs() -> None:
    cells: dict[Kind, tuple[Any, str]] = {
        Kind.CODE: ("01457", "01457"),
        Kind.TEXT: ('a "b", c', '"a ""b"", c"'),
        Kind.INTEGER: (-3, "-3"),
        Kind.MONEY: (Decimal("5"), "5.00"),
        Kind.EXACT: (Decimal("5.10"), "5.1"),
        Kind.RATIO: (Decimal("-0.25"), "-0.2500"),
        Kind.FLOAT: (0.1 + 0.2, "0.30"),
        Kind.BOOLEAN: (False, "false"),
        Kind.DATE: (date(2026, 4, 3), "2026-04-03"),
        Kind.TIMESTAMP: (datetime(2026, 11, 30, 5, tzinfo=UTC), "2026-11-30T05:00:00Z"),
        Kind.BINARY: (b"\x01\xff", "01ff"),
    }
    declared = table(*(number(kind.value, kind) for kind in cells))
    row: dict[str, Any] = {kind.value: cell for kind, (cell, _) in cells.items()}
    written = machine(declared, declared.frame([row]))
    assert lines(written) == [
        ",".join(kind.value for kind in cells),
        ",".join(shown for _, shown in cells.values()),
    ]


def test_nulls_and_empty_texts_are_empty_cells() -> None:
    declared = table(CODE, text("note"), number("flag", Kind.BOOLEAN))
    cells: list[dict[str, Any]] = [{"code": "1", "note": ""}, {"code": "2", "flag": True}]
    rows = declared.frame(cells)
    assert lines(machine(declared, rows)) == ["code,note,flag", "1,,", "2,,true"]
    assert lines(assembly(declared, rows), brazilian=True) == ["Código;note;flag", "1;;", "2;;sim"]


def test_case_50_excel_finds_a_bom_and_semicolons() -> None:
    declared = table(CODE, text("name", "distrito"))
    written = assembly(declared, declared.frame([{"code": "522000905", "name": "São João d'Aliança"}]))
    assert written == "\ufeffCódigo;distrito\r\n522000905;São João d'Aliança\r\n".encode()


def test_case_52_decimal_comma_without_thousands_dots() -> None:
    declared = table(CODE, number("share", Kind.RATIO), number("brl", Kind.MONEY))
    rows = declared.frame([{"code": "A", "share": Decimal("9.1"), "brl": Decimal("1234567.5")}])
    assert lines(assembly(declared, rows), brazilian=True)[1] == "A;9,1000;1234567,50"


def test_case_53_codes_keep_zeros_and_digits() -> None:
    declared = table(CODE, CODE.but(name="sector", label="Setor"))
    rows = declared.frame([{"code": "01457", "sector": "355030805000001"}])
    assert lines(machine(declared, rows))[1] == "01457,355030805000001"
    assert lines(assembly(declared, rows), brazilian=True)[1] == "01457;355030805000001"


def test_case_54_names_like_dates_keep_their_bytes() -> None:
    declared = table(CODE, text("name"))
    names = ["Km 3", "Mar 3", "1-2", "8 de Março"]
    rows = declared.frame([{"code": str(code), "name": name} for code, name in enumerate(names)])
    shown = [line.split(";")[1] for line in lines(assembly(declared, rows), brazilian=True)[1:]]
    assert shown == names


def test_case_55_text_that_could_start_a_formula_is_made_safe_and_numbers_are_not() -> None:
    declared = table(CODE, text("name"), number("change", Kind.RATIO))
    names = {
        '=HYPERLINK("http://x";"y")': '"\'=HYPERLINK(""http://x"";""y"")"',
        "+Vila": "'+Vila",
        "-Vila": "'-Vila",
        "@Vila": "'@Vila",
        "\tVila": "'\tVila",
        "\rVila": '"\'\rVila"',
        "Vila=1": "Vila=1",
        " Vila -1": " Vila -1",
    }
    rows = declared.frame([{"code": str(n), "name": name, "change": Decimal("-12.5")} for n, name in enumerate(names)])
    shown = lines(assembly(declared, rows), brazilian=True)[1:]
    assert shown == [f"{n};{safe};-12,5000" for n, safe in enumerate(names.values())]
    assert "'+Vila" not in machine(declared, rows).decode()


def test_case_58_no_exponent_and_no_float_noise() -> None:
    declared = table(CODE, number("value", Kind.FLOAT, Unit.BRL))
    floats = [1e16, 0.1 + 0.2, 5e-7, 1234567890.12]
    rows = declared.frame([{"code": str(n), "value": value} for n, value in enumerate(floats)])
    shown = [line.split(";")[1] for line in lines(assembly(declared, rows), brazilian=True)[1:]]
    assert shown == ["10000000000000000,00", "0,30", "0,00", "1234567890,12"]


def test_a_value_of_a_closed_vocabulary_without_portuguese_stops_the_export() -> None:
    declared = table(EVIDENCE.but(values=("certified", "rumoured")))
    with pytest.raises(ValueError, match=r"no Portuguese for \['rumoured'\]"):
        assembly(declared, declared.frame([{"evidence": "rumoured"}]))


def test_rows_are_in_their_total_order_whatever_order_they_came_in() -> None:
    declared = table(CODE, text("name"))
    rows = pl.DataFrame({"code": ["3", "1", "2"], "name": ["c", "a", "b"]})
    assert machine(declared, rows) == machine(declared, rows.reverse()) == b"code,name\n1,a\n2,b\n3,c\n"


def test_reference_days_are_written_as_in_brazil() -> None:
    period = text("reference_period", "Referência")
    declared = table(CODE, period)
    rows = declared.frame([{"code": "1", "reference_period": "2025-07-01|2025"}, {"code": "2"}])
    assert lines(assembly(declared, rows), brazilian=True)[1:] == ["1;01/07/2025|2025", "2;"]
    assert lines(machine(declared, rows))[1:] == ["1,2025-07-01|2025", "2,"]


def test_each_row_for_the_assembly_names_its_area_beside_its_id() -> None:
    released = sample()
    for file in ("requisitos.csv", "municipios_de_origem.csv", "pendencias.csv"):
        heads, *rows_ = lines((released.folder / "export" / file).read_bytes(), brazilian=True)
        place = heads.split(";").index("Área")
        assert heads.split(";")[place + 1] == "Nome da área"
        assert any(cell.startswith("Município") for cell in heads.split(";")[place + 2 :])
        for row in rows_:
            area, name = row.split(";")[place : place + 2]
            if area == "320500215":
                assert name == "Carapina"
    assert "area_name" not in (released.folder / "export" / "requirements.csv").read_text().splitlines()[0]
