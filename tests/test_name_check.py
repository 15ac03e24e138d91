"""Who already has the name that an area would take (LC 46/1984)."""

import polars as pl
import pytest

from tests.states import Invented, screened

ELSEWHERE = [
    ("350010505", "Nova Esperança", "3500105", "Nova Esperança"),
    ("410010510", "Vila Rica", "4100105", "Outra Cidade"),
    ("520010505", "Jussara", "5200105", "Jussara"),
]


def found(name: str, *, groups: dict[str, list[str]] | None = None) -> list[tuple[str, str, str, str]]:
    state = Invented()
    state.district("310620005", 9_000, name="Belo Horizonte", voters=3_000, houses=100)
    state.district("310620010", 9_000, name=name, voters=3_000, houses=100)
    for code, own, municipality, municipality_name in ELSEWHERE:
        state.add(
            "ibge_census_districts__district",
            district_code=code,
            district_name=own,
            municipality_code=municipality,
            municipality_name=municipality_name,
            state_code=code[:2],
            population=1,
        )
    for area, districts in (groups or {}).items():
        state.candidate(area, "group" if len(districts) > 1 else "district", districts)
    rows = screened(state)["mart.name_check"]
    return rows.select("likeness", "kind", "code", "uf").rows()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NOVA ESPERANCA", [("same", "município", "3500105", "SP")]),
        ("Nova Esperança", [("same", "município", "3500105", "SP")]),
        ("Nova da Esperança", [("near", "município", "3500105", "SP")]),
        ("Vila Rica", [("same", "district", "410010510", "PR")]),
        ("Villa Rica", [("near", "district", "410010510", "PR")]),
        ("Juçara", []),  # heard as Jucara: not guessed
        ("Jusara", [("near", "município", "5200105", "GO")]),
        ("Nome Que Ninguém Tem", []),
    ],
)
def test_homonyms_of_the_whole_country(name: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert found(name) == expected


def test_an_areas_own_district_is_no_homonym() -> None:
    rows = found("Nome Que Ninguém Tem", groups={"Nome Que Ninguém Tem": ["310620010"]})
    assert rows == []


def test_the_order_and_the_columns() -> None:
    state = Invented()
    state.district("310620005", 9_000, name="Jussara", voters=1, houses=1)
    state.district("310620010", 9_000, name="Jusara", houses=1)
    state.district("310620015", 9_000, name="Jussara", houses=1)
    rows = screened(state)["mart.name_check"].filter(pl.col("area_id") == "310620010")
    assert rows.select("likeness", "code", "name").rows() == [
        ("near", "310620005", "Jussara"),
        ("near", "310620015", "Jussara"),
    ]
