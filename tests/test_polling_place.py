"""Voters of polling places to districts: the order of evidence, the doubts, the sums."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import shapely

from transforms import geometry
from transforms.core import district_electorate, polling_place
from transforms.errors import SourceChanged, UsageError
from transforms.sources import Scope

SCOPE = Scope("ES", date(2026, 11, 30))
# Two municípios, 3200003 to the east of 3200001; a degree is about 107 km there.
DISTRICTS = pl.DataFrame(
    [
        ("320000105", "Alegria", "3200001", True),
        ("320000110", "Barra do Sul", "3200001", False),
        ("320000115", "São José", "3200001", False),
        ("320000305", "Vizinha", "3200003", True),
    ],
    schema=["district_code", "district_name", "municipality_code", "is_seat"],
    orient="row",
).with_columns(uf=pl.lit("ES"))
SQUARES = {
    "320000105": (-41.0, -20.0, -40.9, -19.9),
    "320000110": (-40.9, -20.0, -40.8, -19.9),
    "320000115": (-41.0, -20.1, -40.8, -20.0),
    "320000305": (-40.8, -20.1, -40.7, -19.9),
}
MESH = pl.DataFrame(
    {
        "district_code": list(SQUARES),
        "geometry": geometry.wkb(np.array([shapely.box(*square) for square in SQUARES.values()])),
    }
)
CROSSWALK = pl.DataFrame({"tse_municipality_code": ["50001", "50003"], "municipality_code": ["3200001", "3200003"]})
SECTION: dict[str, Any] = {
    "uf": "ES",
    "tse_municipality_code": "50001",
    "zone": "1",
    "section": "1",
    "place": "1010",
    "place_name": "EMEF X",
    "address": "RUA A, 1",
    "neighbourhood": "OUTRO",
    "latitude": None,
    "longitude": None,
    "voters": 100,
    "original_place": None,
    "original_place_name": "EMEF X",
    "original_address": "RUA A, 1",
}
SCHEMA = dict.fromkeys(SECTION, pl.String) | {
    "latitude": pl.Float64,
    "longitude": pl.Float64,
    "voters": pl.Int64,
}
HAND = pl.DataFrame(
    schema=dict.fromkeys(["municipality_code", "zone", "place", "district_code"], pl.String) | {"line": pl.Int64}
)


def sections(*rows: dict[str, Any]) -> pl.LazyFrame:
    complete = [SECTION | {"section": str(number)} | row for number, row in enumerate(rows, 1)]
    for row in complete:
        row["original_place"] = row["original_place"] or row["place"]
    return pl.DataFrame(complete, schema=SCHEMA).lazy()


def places(
    *rows: dict[str, Any],
    previous: pl.LazyFrame | None = None,
    hand: pl.DataFrame = HAND,
    mesh: pl.DataFrame | None = MESH,
    districts: pl.DataFrame = DISTRICTS,
) -> pl.DataFrame:
    before = sections() if previous is None else previous
    return polling_place.polling_place(sections(*rows), before, CROSSWALK, districts, hand, mesh, SCOPE)


def place(*rows: dict[str, Any], **given: Any) -> dict[str, Any]:
    return places(*rows, **given).row(0, named=True)


def electorate(frame: pl.DataFrame) -> dict[str, tuple[int | None, ...]]:
    table = district_electorate.district_electorate(frame, DISTRICTS)
    return {row[0]: row[1:] for row in table.select("district_code", "low", "value", "high").rows()}


INSIDE_BARRA = {"latitude": -19.95, "longitude": -40.85}


def test_a_coordinate_well_inside_a_district_is_sure() -> None:
    row = place(INSIDE_BARRA)
    assert (row["district_code"], row["method"], row["flags"], row["points_to"]) == (
        "320000110",
        "coordinates",
        "",
        "",
    )
    assert row["is_sure"]
    assert row["border_distance_m"] == pytest.approx(5230, abs=10)


def test_a_coordinate_near_a_border_points_to_every_district_within_500_m() -> None:
    # 0.004° of longitude are 419 m here; the corner of three districts is at (-40.9, -20.0).
    row = place({"latitude": -19.998, "longitude": -40.896})
    assert (row["district_code"], row["flags"], row["points_to"]) == (
        "320000110",
        "border",
        "320000105|320000115",
    )
    assert not row["is_sure"]
    assert row["border_distance_m"] == pytest.approx(221.4, abs=0.5)


def test_the_edge_of_the_mesh_is_no_border() -> None:
    assert place({"latitude": -19.9001, "longitude": -40.85})["flags"] == ""


def test_a_coordinate_outside_its_municipality_is_not_used() -> None:
    row = place({"latitude": -20.0, "longitude": -40.75})
    assert (row["district_code"], row["method"], row["flags"], row["is_sure"]) == (
        None,
        "unassigned",
        "outside",
        False,
    )


def test_a_coordinate_against_a_name_is_a_conflict_and_counts_high_in_both() -> None:
    frame = places(INSIDE_BARRA | {"neighbourhood": "SÃO JOSÉ-DISTRITO"})
    row = frame.row(0, named=True)
    assert (row["district_code"], row["flags"], row["points_to"], row["is_sure"]) == (
        "320000110",
        "conflict",
        "320000115",
        False,
    )
    assert electorate(frame) == {
        "320000105": (0, None, 100),
        "320000110": (0, 100, 100),
        "320000115": (0, None, 100),
        "320000305": (None, None, None),
    }


def test_another_years_coordinate_enters_value_only() -> None:
    frame = places({}, previous=sections(INSIDE_BARRA))
    row = frame.row(0, named=True)
    assert (row["district_code"], row["method"], row["is_sure"]) == ("320000110", "previous_coordinates", False)
    assert electorate(frame)["320000110"] == (0, 100, 100)


def test_the_hand_supplied_table_wins_and_is_unflagged() -> None:
    hand = pl.DataFrame([("3200001", "1", "1010", "320000115", 2)], schema=HAND.columns, orient="row")
    row = place(INSIDE_BARRA | {"neighbourhood": "BARRA DO SUL"}, hand=hand)
    assert (row["district_code"], row["method"], row["flags"], row["is_sure"]) == ("320000115", "hand", "", True)


def test_a_hand_supplied_district_of_another_municipality_is_refused() -> None:
    hand = pl.DataFrame([("3200001", "1", "1010", "320000305", 2)], schema=HAND.columns, orient="row")
    with pytest.raises(
        UsageError, match=r"320000305 is not a district of município 3200001.*\[polling_place_districts.csv, line 2,"
    ):
        places({}, hand=hand)


@pytest.mark.parametrize(
    ("text", "district"),
    [
        ({"neighbourhood": "DIST. DE BARRA DO SUL"}, "320000110"),
        ({"neighbourhood": "SAO JOSE-DISTRITO"}, "320000115"),
        ({"neighbourhood": "CENTRO (BARRA DO SUL)"}, "320000110"),
        ({"neighbourhood": "CENTRO (CAUCAIA DO ALTO)"}, None),
        ({"neighbourhood": "CENTRO"}, "320000105"),
        ({"neighbourhood": "SEDE"}, "320000105"),
        ({"neighbourhood": "ESPLANADA-SEDE"}, "320000105"),
        ({"neighbourhood": "CENTRO", "address": "POVOADO DE SÃO JOSÉ, S/N"}, "320000115"),
        ({"neighbourhood": "ALEGRIA"}, None),
        ({"neighbourhood": "ZONA RURAL", "address": "RUA SÃO JOSÉ, 12"}, None),
        ({"neighbourhood": "ZONA RURAL", "address": "SÃO JOSÉ, 12"}, None),
        ({"neighbourhood": "JARDIM SÃO JOSÉ"}, None),
        ({"neighbourhood": "ZONA RURAL", "address": "RUA A, S/N - BARRA DO SUL"}, "320000110"),
        ({"neighbourhood": "ZONA RURAL", "place_name": "EMEF SILVA (BARRA DO SUL)"}, "320000110"),
        ({"neighbourhood": "BARRA DO SUL / SÃO JOSÉ"}, None),
        ({"neighbourhood": "BARRA DO SUL - SÃO JOSÉ", "address": "SÃO JOSÉ"}, "320000115"),
        ({"neighbourhood": None, "address": None}, None),
    ],
    ids=str,
)
def test_names_alone(text: dict[str, str], district: str | None) -> None:
    row = place(text, mesh=None)
    assert (row["district_code"], row["is_sure"]) == (district, False)
    assert row["method"] == ("name" if district else "unassigned")


def test_a_longer_name_is_not_the_shorter_one() -> None:
    districts = DISTRICTS.with_columns(
        pl.col("district_name").replace({"São José": "Barra do Sul de Cima", "Alegria": "Barra do Sul Velha"})
    )
    assert place({"neighbourhood": "BARRA DO SUL DE CIMA"}, districts=districts)["district_code"] == "320000115"
    assert place({"neighbourhood": "BARRA DO SUL VELHA"}, districts=districts)["district_code"] is None


@pytest.mark.parametrize(
    ("text", "district"),
    [
        ({"neighbourhood": "NOVA ESPERANÇA (PEQUIZEIRO)"}, "320000110"),
        ({"neighbourhood": "DISTRITO DE NOVA ESPERANCA ( PEQUIZEIRO ) - ZONA RURAL"}, "320000110"),
        ({"neighbourhood": "ZONA RURAL", "address": "VILA NOVA ESPERANÇA (PEQUIZEIRO), S/N"}, "320000110"),
        ({"neighbourhood": "CENTRO (PEQUIZEIRO)"}, "320000115"),
        ({"neighbourhood": "ESPERANÇA (PEQUIZEIRO)"}, "320000115"),
        ({"neighbourhood": "ZONA RURAL", "address": "RUA NOVA ESPERANÇA (PEQUIZEIRO), 12"}, "320000115"),
        ({"neighbourhood": "PEQUIZEIRO"}, "320000115"),
        ({"neighbourhood": "NOVA ESPERANÇA"}, None),
    ],
    ids=str,
)
def test_a_name_with_a_parenthesis_goes_before_what_stands_in_it(text: dict[str, str], district: str) -> None:
    """510340325 and 230495425 are named so; in the parenthesis stands what may be another district's name."""
    named = {"Barra do Sul": "Nova Esperança (Pequizeiro)", "São José": "Pequizeiro"}
    districts = DISTRICTS.with_columns(pl.col("district_name").replace(named))
    assert place(text, districts=districts, mesh=None)["district_code"] == district


def test_a_name_with_a_parenthesis_is_found_where_no_other_has_that_name() -> None:
    districts = DISTRICTS.with_columns(
        pl.col("district_name").replace({"Barra do Sul": "Núcleo Colonial Pio XII (São Gerônimo)"})
    )
    found = place({"neighbourhood": "NUCLEO COLONIAL PIO XII (SAO GERONIMO)"}, districts=districts, mesh=None)
    assert (found["district_code"], found["method"]) == ("320000110", "name")


def test_a_municipality_of_one_district_is_assigned_whole() -> None:
    row = place({"tse_municipality_code": "50003", "neighbourhood": "X"})
    assert (row["district_code"], row["method"], row["is_sure"]) == ("320000305", "single_district", True)


def test_voters_count_where_they_are_registered() -> None:
    relocated = {"place": "1028", "original_place": "1010", "voters": 40} | INSIDE_BARRA
    own = {"place": "1010", "latitude": -20.05, "longitude": -40.9, "voters": 60}
    frame = places(relocated, own)
    assert frame.select("place", "voters", "sections", "district_code").rows() == [("1010", 100, 2, "320000115")]


def test_a_place_no_section_votes_at_has_no_coordinate() -> None:
    row = place({"place": "1028", "original_place": "1010", "original_place_name": "EE Y"} | INSIDE_BARRA)
    assert (row["place"], row["place_name"], row["neighbourhood"], row["latitude"], row["method"]) == (
        "1010",
        "EE Y",
        None,
        None,
        "unassigned",
    )


def test_the_same_number_in_another_zone_is_another_place() -> None:
    frame = places({"zone": "1"}, {"zone": "2"} | INSIDE_BARRA)
    assert frame.select("zone", "district_code").rows() == [("1", None), ("2", "320000110")]


def test_a_district_the_mesh_lacks_may_hold_any_place_of_its_municipality() -> None:
    row = place(INSIDE_BARRA, mesh=MESH.filter(pl.col("district_code") != "320000115"))
    assert (row["district_code"], row["flags"], row["points_to"], row["is_sure"]) == (
        "320000110",
        "mesh_incomplete",
        "320000115",
        False,
    )


def test_case_27_voters_abroad_zz() -> None:
    rows = sections({"uf": "ZZ", "voters": 40}, {"uf": "VT", "voters": 7}, {})
    frame = polling_place.polling_place(rows, sections(), CROSSWALK, DISTRICTS, HAND, MESH, SCOPE)
    assert frame["voters"].sum() == 100
    assert polling_place.beyond_the_states(rows).rows() == [("VT", 1, 7), ("ZZ", 1, 40)]


def test_a_municipality_without_ibge_code_stops_the_run() -> None:
    with pytest.raises(SourceChanged, match="59999"):
        places({"tse_municipality_code": "59999"})


def test_case_29_municipal_total_on_each_district() -> None:
    rows = [{"place": "1031", "voters": 3000}, {"place": "1040", "voters": 4500}, {"place": "1058", "voters": 500}]
    assert electorate(places(*rows, mesh=None))["320000110"] == (0, None, 8000)
    hand = pl.DataFrame(
        [("3200001", "1", "1031", "320000110", 2), ("3200001", "1", "1040", "320000115", 3)],
        schema=HAND.columns,
        orient="row",
    )
    table = district_electorate.district_electorate(places(*rows, mesh=None, hand=hand), DISTRICTS)
    assert table.filter(pl.col("municipality_code") == "3200001").select(
        "district_code", "places", "low", "value", "high", "unassigned"
    ).rows() == [
        ("320000105", 0, 0, None, 8000, 500),
        ("320000110", 1, 3000, 3000, 3500, 500),
        ("320000115", 1, 4500, 4500, 5000, 500),
    ]
    assert str(table["share_unassigned"][0]) == "0.0625"


def census_districts(shared: Path, municipality: str) -> pl.DataFrame:
    return (
        pl.read_csv(
            shared / "data/ibge/Agregados_por_distritos_basico_BR_20260520.csv",
            separator=";",
            encoding="cp1252",
            infer_schema=False,
        )
        .filter(pl.col("CD_MUN").str.starts_with(municipality))
        .select(
            district_code="CD_DIST",
            district_name="NM_DIST",
            municipality_code="CD_MUN",
            is_seat=pl.col("CD_DIST").str.ends_with("05"),
        )
    )


def test_itapira_by_names_alone(shared: Path) -> None:
    register = pl.read_csv(shared / "data/tse/itapira_SP_secoes_2026.csv", infer_schema=False).select(
        pl.lit("SP").alias("uf"),
        pl.lit("65250").alias("tse_municipality_code"),
        zone="NR_ZONA",
        section="NR_SECAO",
        place="NR_LOCAL_VOTACAO",
        place_name="NM_LOCAL_VOTACAO",
        address="DS_ENDERECO",
        neighbourhood="NM_BAIRRO",
        latitude=pl.lit(None, pl.Float64),
        longitude=pl.lit(None, pl.Float64),
        voters=pl.col("QT_ELEITOR_SECAO").cast(pl.Int64),
        original_place="NR_LOCAL_VOTACAO",
        original_place_name="NM_LOCAL_VOTACAO",
        original_address="DS_ENDERECO",
    )
    codes = pl.DataFrame({"tse_municipality_code": ["65250"], "municipality_code": ["3522604"]})
    frame = polling_place.polling_place(
        register.lazy(),
        register.clear().lazy(),
        codes,
        census_districts(shared, "3522604"),
        HAND,
        None,
        Scope("SP", date(2026, 11, 30)),
    )
    assert (frame["voters"].sum(), frame.height) == (53424, 22)
    away = frame.filter(pl.col("district_code").is_in(["352260410", "352260415"]))
    assert away.select("place", "district_code", "voters", "method").rows() == [
        ("1090", "352260410", 1668, "name"),
        ("1104", "352260415", 495, "name"),
    ]


def test_ceara_2014_by_names_alone(shared: Path) -> None:
    text = (shared / "data/tse/tre-ce-eleicoes-2014-secoes.csv").read_bytes().decode("latin-1")
    rows = [line.split(";") for line in text.splitlines() if line[:1].isdigit()]
    fields = ["zone", "tse", "_", "place", "place_name", "address", "neighbourhood", "_cep", "section"]
    register = pl.DataFrame(rows, schema=[*fields, "_a", "_b", "_c", "voters"], orient="row").select(
        pl.lit("CE").alias("uf"),
        pl.col("tse").alias("tse_municipality_code"),
        "zone",
        "section",
        "place",
        "place_name",
        "address",
        "neighbourhood",
        pl.lit(None, pl.Float64).alias("latitude"),
        pl.lit(None, pl.Float64).alias("longitude"),
        pl.col("voters").cast(pl.Int64),
        pl.col("place").alias("original_place"),
        pl.col("place_name").alias("original_place_name"),
        pl.col("address").alias("original_address"),
    )
    codes = pl.read_csv(
        shared / "data/tse/municipio_tse_ibge_20260531.csv",
        separator=";",
        encoding="iso-8859-1",
        infer_schema=False,
    ).select(tse_municipality_code=pl.col("CD_MUNICIPIO_TSE").str.zfill(5), municipality_code="CD_MUNICIPIO_IBGE")
    listed = json.loads((shared / "data/ibge/distritos_api_2023_flat.json").read_text())
    districts = pl.DataFrame(
        [(str(d["id"]), d["nome"], str(d["cid"]), str(d["id"]).endswith("05")) for d in listed if d["uf"] == "CE"],
        schema=["district_code", "district_name", "municipality_code", "is_seat"],
        orient="row",
    )
    frame = polling_place.polling_place(
        register.lazy(),
        register.clear().lazy(),
        codes,
        districts,
        HAND,
        None,
        Scope("CE", date(2026, 11, 30)),
    )
    table = district_electorate.district_electorate(frame, districts)
    assert frame["voters"].sum() == 6271554
    split = districts.filter(pl.len().over("municipality_code") > 1)
    away = table.join(split.filter(~pl.col("is_seat")), on="district_code", how="semi")
    assert away.height == 708
    assert away["value"].count() == 639
    of_split = frame.join(split, on="municipality_code", how="semi")["voters"].sum()
    assert round(1000 * int(away["value"].sum()) / int(of_split)) == 244
    totals = frame.group_by("municipality_code").agg(pl.col("voters").sum())
    sums = table.group_by("municipality_code").agg(
        pl.col("value").sum() + pl.col("unassigned").first(), pl.col("low").sum()
    )
    assert sums.join(totals, on="municipality_code").filter(pl.col("value") != pl.col("voters")).is_empty()
    assert away.filter(pl.col("low") > 0).is_empty()
    assert away.filter(pl.col("high") < pl.col("value").fill_null(0)).is_empty()
