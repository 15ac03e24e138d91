"""Names and codes as other sources write them: compared without guessing, completed without cutting."""

import csv
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.answers import staged
from transforms.codes import BY_CODE, is_municipality, municipality
from transforms.columns import MUNICIPALITY
from transforms.errors import SourceChanged, UsageError
from transforms.names import ALIASES, comparable, current, matched
from transforms.schema import Table
from transforms.sources.ibge_localities import parse_dtb


def compared(*names: str) -> list[str]:
    return pl.Series("name", names).to_frame().select(comparable(pl.col("name")))["name"].to_list()


def places(rows: Sequence[tuple[str, ...]], *columns: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.mark.parametrize(
    "names",
    [
        ("Figueirópolis D'Oeste", "FIGUEIROPOLIS D’OESTE", "figueiropolis doeste", "Figueirópolis d´ oeste"),
        ("Pau D'Arco", "PAU D ARCO", "Pau d`Arco"),
        ("Xique-Xique", "XIQUE  XIQUE", " Xique\u2010Xique "),
        ("Sa\u0303o Joa\u0303o", "São João", "SAO JOAO"),
        ("Açu", "ACU"),
    ],
)
def test_spellings_of_one_name_compare_equal(names: tuple[str, ...]) -> None:
    assert len(set(compared(*names))) == 1


def test_different_names_stay_different() -> None:
    names = (
        "São João",
        "São João do Sul",
        "Santa Rita",
        "Santa Rita d",
        "Bom Jesus",
        "Bom Jesus de Goiás",
        "Dom Pedro",
    )
    assert len(set(compared(*names))) == len(names)


@given(st.text(max_size=30))
def test_comparing_is_settled_after_once(name: str) -> None:
    once = compared(name)
    assert compared(*once) == once


def test_case_37_apostrophe_case_hyphen(shared: Path) -> None:
    folder = shared / "cases/37-apostrophe-case-hyphen"
    official, other = (
        pl.read_csv(folder / f"{name}.csv", separator=";", infer_schema=False).rename({"nome": "name"})
        for name in ("ibge", "outra")
    )
    found = matched(other, official, "cod", within=["uf"])
    assert found.select("name", "valor", "cod").rows() == [
        ("FIGUEIROPOLIS D’OESTE", "1", "5103809"),
        ("XIQUE XIQUE", "2", "2933604"),
        ("DIAS D`AVILA", "3", "2910057"),
    ]


def test_case_38_nfd_and_nfc_are_one_group(shared: Path) -> None:
    found = pl.read_csv(shared / "cases/38-nfd-vs-nfc/dois.csv", separator=";")
    assert found["nome"].n_unique() == 2
    assert found.group_by(comparable(pl.col("nome"))).agg(pl.col("v").sum()).rows() == [("sao joao", 30)]


def test_case_39_old_spellings_resolve_and_unknown_ones_are_not_guessed(shared: Path) -> None:
    folder = shared / "cases/39-old-spellings"
    with (folder / "alias.csv").open(encoding="utf-8") as lines:
        expected = {(row["uf"], row["nome_antigo"]): row["nome_ibge"] for row in csv.DictReader(lines, delimiter=";")}
    with (shared / "data/ibge/RELATORIO_DTB_BRASIL_DISTRITO_2022.xls").open("rb") as file:
        official = parse_dtb(file).select("uf", "municipality_code", name="municipality_name").unique()
    old = pl.read_csv(folder / "nomes.csv", separator=";").rename({"nome": "name"})
    found = matched(old, official, "municipality_code", within=["uf"])
    names = dict(official.select("municipality_code", "name").iter_rows())
    resolved = {(uf, name): names.get(code) for uf, name, code in found.iter_rows()}
    assert resolved == {**expected, ("MG", "Brasópolis do Sul"): None}


def test_every_alias_leads_from_another_spelling_to_the_census_name(shared: Path) -> None:
    raw = (shared / "data/ibge/Agregados_por_municipios_basico_BR_20260520.csv").read_text("cp1252")
    rows = csv.DictReader(raw.splitlines(), delimiter=";")
    official = {(BY_CODE[row["CD_UF"]].uf, row["NM_MUN"]) for row in rows}
    assert len(official) == 5570
    assert {(uf, name) for uf, _, name in ALIASES} <= official
    assert not {(uf, old) for uf, old, _ in ALIASES} & official


def test_case_41_homonyms_are_refused_by_name_and_kept_by_code(shared: Path) -> None:
    folder = shared / "cases/41-homonyms"
    districts = pl.read_csv(folder / "distritos.csv", separator=";", infer_schema=False)
    official = districts.select("municipio", name="nome", code="cod_distrito", uf=pl.lit("MG"))
    voters = pl.read_csv(folder / "eleitores.csv", separator=";").select("eleitores", name="nome", uf=pl.lit("MG"))
    with pytest.raises(UsageError, match=r"'santa rita' \(2\).*310620010, 310630910"):
        matched(voters, official, "code", within=["uf"])
    inside = voters.with_columns(municipio=pl.Series(["Beta", "Alfa"]))
    found = matched(inside, official, "code", within=["uf", "municipio"])
    assert found.select("eleitores", "code").rows() == [(100, "310630910"), (200, "310620010")]


def test_homonyms_that_nobody_asks_for_do_no_harm() -> None:
    official = places([("SP", "A", "1"), ("SP", "a", "2"), ("SP", "B", "3"), ("PR", "B", "4")], "uf", "name", "code")
    found = matched(places([("PR", "b"), ("SP", "c")], "uf", "name"), official, "code", within=["uf"])
    assert found.rows() == [("PR", "b", "4"), ("SP", "c", None)]


def test_an_old_spelling_counts_in_its_state_only() -> None:
    frame = places([("SP", "Embu"), ("MG", "Embu"), ("GO", "BOM JESUS"), ("PB", "Bom Jesus")], "uf", "name")
    found = frame.select(current(pl.col("name"), pl.col("uf")))
    assert found.to_series().to_list() == ["embu das artes", "embu", "bom jesus de goias", "bom jesus"]


def test_case_42_six_digit_and_float_codes(shared: Path) -> None:
    codes = (shared / "cases/42-six-digit-and-float-codes/codigos.csv").read_text().split()[1:]
    *good, ignored = codes
    assert [municipality(code) for code in good] == ["5300108", "5300108", "5300108", "3550308"]
    with pytest.raises(UsageError, match="'110000' is no município"):
        municipality(ignored)


@pytest.mark.parametrize("code", ["2201919", "2201988", "5203962"])
def test_codes_with_an_official_wrong_check_digit_are_completed_to_it(code: str) -> None:
    assert municipality(code[:6]) == code
    assert is_municipality(code)


@pytest.mark.parametrize("text", ["", "53001", "5300109", "530010805", "5.3001E5", "990010", "١٢٣٤٥٦", "355030 8"])
def test_what_is_no_code_is_refused_never_cut(text: str) -> None:
    with pytest.raises(UsageError, match="is no município"):
        municipality(text)


def test_case_45_codes_are_text_and_a_missing_one_is_reported(shared: Path) -> None:
    found = pl.read_csv(shared / "cases/45-codes-become-floats/codigos.csv", separator=";", infer_schema=False)
    table = Table("staging.test", "", "", ("municipality_code",), (MUNICIPALITY,))
    rows = found.select(municipality_code="cod_municipio")
    assert rows["municipality_code"].to_list() == ["3550308", None]
    with pytest.raises(SourceChanged, match=r"municipality_code does not fit.*in 1 of 2 rows"):
        staged(table, rows, "test")
    assert staged(table, rows.drop_nulls(), "test").schema == {"municipality_code": pl.String()}
