"""Urban centres and the houses of districts: addresses, touching sectors, sectors, and what is not known."""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import shapely

from transforms import geometry
from transforms.core import district_houses, urban_cluster, urban_cluster_district
from transforms.core.district_collection import WEIGHTS
from transforms.sources import ibge_addresses, ibge_census_sectors, ibge_district_mesh

A, B = "320010205", "320010210"
DISTRICTS = pl.DataFrame(
    [(A, "3200102"), (B, "3200102"), ("320010215", "3200102"), ("320010220", "3200102")],
    schema=["district_code", "municipality_code"],
    orient="row",
)
DWELLINGS = DISTRICTS.select("district_code", private_dwellings=pl.lit(900))
# sector, district, situation, private dwellings, houses, village houses; a string is a marker
SECTORS = [
    (f"{A}000001", A, "1", 300, 200, 10),
    (f"{A}000002", A, "2", 100, None, 5),  # V00047 suppressed
    (f"{A}000003", A, "8", 70, 60, 0),  # rural
    (f"{B}000001", B, "1", 150, 120, 0),
    (f"{B}000002", B, "1", 4, None, None),  # all suppressed
    ("320010215000001", "320010215", "5", 80, 70, 0),  # a hamlet: no urban sector
]


def sectors(rows: list[tuple[Any, ...]] = SECTORS) -> tuple[pl.DataFrame, pl.DataFrame]:
    columns = ["sector_code", "district_code", "situation_code", "private_dwellings", "houses", "village_houses"]
    types = [pl.String] * 3 + [pl.Int64] * 3
    frame = pl.DataFrame(rows, schema=dict(zip(columns, types, strict=True)), orient="row")
    return frame.select(columns[:4]), frame.select("sector_code", *columns[4:])


def cells(*groups: tuple[str, float, float, int], establishments: int = 0) -> pl.LazyFrame:
    """Address cells: sector, latitude, longitude (0, 0: without coordinates), houses."""
    rows = [
        {
            "sector_code": sector,
            "cell_y": int(y // 0.001),
            "cell_x": int(x // 0.001),
            "houses": houses,
            "establishments": establishments,
            "latitude": y or None,
            "longitude": x or None,
        }
        for sector, y, x, houses in groups
    ]
    return ibge_addresses.CELLS.frame(rows).lazy()


def mesh(boxes: Mapping[str, tuple[float, ...]]) -> pl.LazyFrame:
    shapes: Any = shapely.box(*np.array(list(boxes.values())).T)
    return pl.DataFrame({"sector_code": list(boxes), "geometry": geometry.wkb(shapes)}).lazy()


NO_MESH = ibge_district_mesh.SECTORS.frame().lazy()


def parts(
    addresses: pl.LazyFrame | None = None, sector_mesh: pl.LazyFrame = NO_MESH, rows: Any = SECTORS
) -> pl.DataFrame:
    found = cells() if addresses is None else addresses
    return urban_cluster_district.urban_cluster_district(*sectors(rows), found, sector_mesh, DISTRICTS)


def houses(addresses: pl.LazyFrame | None = None, sector_mesh: pl.LazyFrame = NO_MESH, rows: Any = SECTORS) -> Any:
    found = cells() if addresses is None else addresses
    table = district_houses.district_houses(
        parts(addresses, sector_mesh, rows), sectors(rows)[0], found, DWELLINGS, DISTRICTS
    )
    return {row[0]: row[1:] for row in table.select("district_code", "low", "value", "high", "clusters").rows()}


def test_by_sectors_all_urban_ones_are_one_centre() -> None:
    assert houses() == {
        A: (215, 215, 400, 1),  # 200 + 10 + 5: what is suppressed is in `high` only
        B: (120, 120, 154, 1),
        "320010215": (0, 0, 0, 0),  # no town: a true zero
        "320010220": (0, None, 900, 0),  # not in the sector file: nothing but its dwellings is known
    }


def test_without_any_sector_file_the_districts_dwellings_bound_it() -> None:
    assert houses(rows=[])[A] == (0, None, 900, 0)


def test_without_the_themed_file_there_is_no_value() -> None:
    rows = [(*row[:4], None, None) for row in SECTORS]
    assert houses(rows=rows)[A] == (0, None, 400, 1)


def test_touching_sectors_are_one_centre_and_the_largest_counts() -> None:
    apart: dict[str, tuple[float, ...]] = {
        f"{A}000001": (-41, -20, -40.99, -19.99),
        f"{A}000002": (-40.9, -20, -40.89, -19.99),
    }
    touching: dict[str, tuple[float, ...]] = {
        f"{B}000001": (-41, -20.01, -40.99, -20),
        f"{B}000002": (-40.99, -20.01, -40.98, -20),
    }
    found = houses(sector_mesh=mesh(apart | touching))
    assert found[A] == (210, 210, 300, 2)
    assert found[B] == (120, 120, 154, 1)


def test_a_centre_of_which_nobody_knows_the_most_may_be_the_largest() -> None:
    rows = [(*row[:3], None, *row[4:]) if row[0] == f"{A}000002" else row for row in SECTORS]
    apart: dict[str, tuple[float, ...]] = {
        f"{A}000001": (-41, -20, -40.99, -19.99),
        f"{A}000002": (-40.9, -20, -40.89, -19.99),
    }
    assert houses(sector_mesh=mesh(apart), rows=rows)[A] == (210, 210, 900, 2)  # all of the district's dwellings


def test_a_centre_that_crosses_a_border_has_a_part_in_each_district() -> None:
    boxes: dict[str, tuple[float, ...]] = {
        f"{A}000001": (-41, -20, -40.99, -19.99),
        f"{A}000002": (-40.9, -20, -40.89, -19.99),
    }
    boxes |= {f"{B}000001": (-41, -20.01, -40.99, -20), f"{B}000002": (-40.99, -20.01, -40.98, -20)}
    table = urban_cluster.urban_cluster(parts(sector_mesh=mesh(boxes)))
    assert table.select("cluster_id", "district_codes", "low", "value", "high", "method", "sectors").rows() == [
        (f"{A}000001", f"{A}|{B}", 330, 330, 454, "touching sectors", 3),
        (f"{A}000002", A, 5, 5, 100, "touching sectors", 1),
    ]


def test_a_district_with_an_unmapped_sector_is_not_split() -> None:
    assert houses(sector_mesh=mesh({f"{A}000001": (-41, -20, -40.99, -19.99)}))[A] == (215, 215, 400, 1)


def test_addresses_within_1_km_are_one_centre_and_rural_ones_none() -> None:
    found = parts(
        cells(
            (f"{A}000001", -20.0, -41.0, 150),
            (f"{A}000001", -20.008, -41.0, 100),  # 886 m further
            (f"{A}000002", -20.016, -41.0, 30),  # 886 m further again: through the one before
            (f"{A}000002", -20.026, -41.0, 40),  # 1107 m: another centre
            (f"{A}000003", -20.001, -41.0, 55),  # rural sector
        )
    ).filter(pl.col("method") == "addresses")
    assert found.select("cluster_id", "low", "value", "high", "sectors").rows() == [
        (f"{A}000001", 210, 280, 400, 2),  # sector 2 lies in two centres: its houses are in no `low`
        (f"{A}000002", 0, 40, 100, 1),
    ]
    assert found["latitude"].to_list() == [pytest.approx(-20.0045714, abs=1e-6), -20.026]


def test_one_sector_in_three_centres_has_three_names() -> None:
    found = parts(cells(*((f"{A}000001", -20.0 - 0.02 * n, -41.0, 10) for n in range(3))))
    names = found.filter(pl.col("method") == "addresses")["cluster_id"].to_list()
    assert names == [f"{A}000001", f"{A}000001-2", f"{A}000001-3"]


def test_sectors_serve_where_the_address_list_lacks_a_district() -> None:
    found = houses(cells((f"{A}000001", -20.0, -41.0, 250), (f"{A}000002", -20.0, -41.0, 20)))
    assert found[A] == (215, 270, 400, 1)
    assert found[B] == (120, 120, 154, 1)


def test_houses_the_list_cannot_place_widen_high() -> None:
    placed = cells((f"{A}000001", -20.0, -41.0, 250))
    assert houses(placed)[A] == (210, 250, 400, 1)  # sector 2 has houses, the list has none of it
    stray = cells((f"{A}000001", -20.0, -41.0, 250), (f"{A}009001", -20.0, -41.0, 33))
    assert houses(stray)[A] == (210, 250, 433, 1)  # a sector of the preliminary mesh only
    unplaced = cells((f"{A}000001", -20.0, -41.0, 250), (f"{A}000001", 0, 0, 7))
    assert houses(unplaced)[A] == (0, 250, 400, 1)  # the sector is not wholly in the centre


def test_more_addresses_than_dwellings_never_turn_the_bounds_round() -> None:
    low, value, high, _ = houses(cells((f"{A}000001", -20.0, -41.0, 1000), (f"{A}000002", -20.0, -41.0, 1)))[A]
    assert (low, value, high) == (215, 1001, 1001)


def test_establishments_are_null_where_the_list_lacks_the_municipality() -> None:
    listed = cells((f"{A}000001", -20.0, -41.0, 250), establishments=12)
    for addresses, expected in ((listed, [12, 0, 0, 0]), (cells(), [None] * 4)):
        table = district_houses.district_houses(parts(addresses), sectors()[0], addresses, DWELLINGS, DISTRICTS)
        assert table["establishments"].to_list() == expected
    assert "establishments" in WEIGHTS


def test_how_each_figure_came_about_is_said() -> None:
    addresses = cells((f"{A}000001", -20.0, -41.0, 250))
    table = district_houses.district_houses(parts(addresses), sectors()[0], addresses, DWELLINGS, DISTRICTS)
    assert table.select("method", "source", "evidence", "clustered").rows() == [
        (
            "houses of the address list in the largest urban centre (each within 1000 m of the next)",
            "ibge_addresses|ibge_census_sectors",
            "derived",
            True,
        ),
        (
            "occupied houses of all urban sectors of the district, as one centre",
            "ibge_census_sectors",
            "derived",
            False,
        ),
        ("no urban sector in the district", "ibge_census_sectors", "derived", True),
        ("private dwellings of the district", "ibge_census_districts", "missing", False),
    ]


def camacari(shared: Path) -> list[dict[str, Any]]:
    return [
        feature
        for kind in ("urbanos", "rurais")
        for feature in json.loads((shared / f"data/ibge/camacari_ba_setores_{kind}_prelim2022.geojson").read_text())[
            "features"
        ]
    ]


def test_camacari_sectors_sum_to_their_districts(shared: Path) -> None:
    features = camacari(shared)
    urban = {f["properties"]["CD_SETOR"][:15] for f in features[:635]}
    rows: list[tuple[Any, ...]] = []
    for feature in features:
        own = feature["properties"]
        code = own["CD_SETOR"][:15]
        counts = [None if own[name] in (None, ".", "") else int(own[name]) for name in ("v0003", "v0007")]
        rows.append((code, own["CD_DIST"], "1" if code in urban else "8", counts[0], counts[1], 0))
    districts = pl.DataFrame({"district_code": ["290570105", "290570110", "290570120"]})
    unmapped = urban_cluster_district.urban_cluster_district(*sectors(rows), cells(), NO_MESH, districts)
    found = {row[0]: row[1:] for row in unmapped.select("district_code", "value", "high").rows()}
    assert found["290570110"] == (28775, 50124)
    census = (
        pl.read_csv(
            shared / "data/ibge/Agregados_por_distritos_basico_BR_20260520.csv",
            separator=";",
            encoding="cp1252",
            infer_schema=False,
        )
        .filter(pl.col("CD_MUN") == "2905701")
        .sort("CD_DIST")
        .select("CD_DIST", pl.col("v0007").cast(pl.Int64))
    )
    totals = {code: sum(row[4] for row in rows if row[1] == code) for code in districts["district_code"]}
    assert totals == dict(census.rows())

    shapes = geometry.repaired(
        np.array([shapely.from_geojson(json.dumps(feature["geometry"])) for feature in features[:635]])
    )
    codes = [feature["properties"]["CD_SETOR"][:15] for feature in features[:635]]
    sector_mesh = pl.DataFrame({"sector_code": codes, "geometry": geometry.wkb(shapes)}).lazy()
    mapped = urban_cluster_district.urban_cluster_district(*sectors(rows), cells(), sector_mesh, districts)
    parts_of_one = mapped.select("cluster_id", "district_code", "value", "high").rows()  # its towns have grown together
    assert parts_of_one == [(codes[0], *row) for row in unmapped.select("district_code", "value", "high").rows()]


def test_brumadinho_houses_reproduce(shared: Path) -> None:
    clip = pl.read_csv(
        shared / "data/ibge/Agregados_por_distritos_caracteristicas_domicilio1_Brumadinho_recorte.csv",
        infer_schema=False,
    )
    header = [*clip.columns[:1], *clip.columns[2:]]
    text = "\n".join(";".join([*row[:1], *row[2:]]) for row in [clip.columns, *clip.iter_rows()])
    text = text.replace("CD_DIST", "CD_SETOR").replace("310900615;", "310900615000001;")
    text = text.replace("310900625;", "310900625000001;") + "\n"
    assert header[0] == "CD_DIST"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("Agregados_por_setores_caracteristicas_domicilio1_BR.csv", text)
    themed = ibge_census_sectors.parse_houses(stream)
    rows = [
        (f"{code}000001", code, "1", total, None, None) for code, total in (("310900615", 2700), ("310900625", 600))
    ]
    districts = pl.DataFrame({"district_code": ["310900615", "310900625"]})
    found = urban_cluster_district.urban_cluster_district(sectors(rows)[0], themed, cells(), NO_MESH, districts)
    assert found.select("district_code", "low", "value").rows() == [
        ("310900615", 2366, 2366),
        ("310900625", 494, 494),
    ]
