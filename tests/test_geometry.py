"""Points, areas and groups, against pyproj's geodesics, brute force and IBGE's own figures."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from transforms import geometry

# A 2 × 1 block: left, right, and an island of `hole` inside left.
LEFT = shapely.Polygon(
    [(-41, -20), (-40.9, -20), (-40.9, -19.9), (-41, -19.9)],
    [[(-40.96, -19.96), (-40.94, -19.96), (-40.94, -19.94), (-40.96, -19.94)]],
)
RIGHT = shapely.box(-40.9, -20, -40.8, -19.9)
HOLE = shapely.box(-40.96, -19.96, -40.94, -19.94)
BLOCK: Any = np.array([LEFT, RIGHT, HOLE])


def geodesic(one: tuple[float, float], other: tuple[float, float]) -> float:
    return float(geometry.GRS80.inv(*one, *other)[2])


def test_a_point_on_a_shared_border_is_in_both_polygons() -> None:
    x, y = np.array([-40.95, -40.9, -40.97, -50.0]), np.array([-19.95, -19.95, -19.95, -19.95])
    point, polygon = geometry.covering(BLOCK, x, y)
    assert sorted(zip(point.tolist(), polygon.tolist(), strict=True)) == [(0, 2), (1, 0), (1, 1), (2, 0)]


@given(st.data())
def test_linked_is_single_linkage(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 25))
    grid = data.draw(st.sampled_from([1e-3, 5e-3, 1e-4]))  # coarse grids: equal points, lines, squares
    x, y = (data.draw(arrays(np.int64, count, elements=st.integers(0, 60))) * grid - 40 for _ in "xy")
    y += 40 - data.draw(st.sampled_from([33.7, 20, 0]))
    labels = geometry.linked(x, y, 1000)
    near = [(i, j) for i in range(count) for j in range(count) if geodesic((x[i], y[i]), (x[j], y[j])) <= 1000]
    expected = geometry.connected(count, *np.array(near, dtype=np.int64).reshape(-1, 2).T)
    pairs = set(zip(labels.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == len(set(labels.tolist())) == len(set(expected.tolist()))


def test_areas_do_not_depend_on_the_direction_of_rings() -> None:
    turned = shapely.reverse(BLOCK)
    assert geometry.area_km2(turned).tolist() == geometry.area_km2(BLOCK).tolist()
    for shape, area in zip(BLOCK, geometry.area_km2(BLOCK), strict=True):
        rings = [abs(geometry.GRS80.geometry_area_perimeter(ring)[0]) / 1e6 for ring in shapely.get_rings(shape)]
        assert area == pytest.approx(rings[0] - sum(rings[1:]), rel=1e-6)


def test_what_is_valid_stays_as_it_was_drawn() -> None:
    kept = geometry.repaired(np.array([*BLOCK, shapely.multipolygons([RIGHT])]))
    assert shapely.to_wkb(kept[:3]).tolist() == shapely.to_wkb(BLOCK).tolist()
    mesh = pl.DataFrame({"district_code": ["320000105"], "geometry": geometry.wkb(kept[3:])})
    whole = geometry.shapes(geometry.dissolved(mesh, pl.col("district_code"))["geometry"])
    assert shapely.to_wkb(whole).tolist() == shapely.to_wkb(BLOCK[1:2]).tolist()


def test_dissolving_mends_and_joins() -> None:
    bow_tie = shapely.Polygon([(-41, -20), (-40.9, -19.9), (-40.9, -20), (-41, -19.9)])
    halves: Any = np.array([RIGHT, bow_tie, LEFT])
    mesh = pl.DataFrame({"district_code": ["320000110", "320000105", "320000110"], "geometry": geometry.wkb(halves)})
    whole = geometry.dissolved(mesh, pl.col("district_code"))
    shapes = geometry.shapes(whole["geometry"])
    assert whole["district_code"].to_list() == ["320000105", "320000110"]
    assert shapely.is_valid(shapes).all()
    assert shapely.area(shapes).tolist() == [pytest.approx(0.005), pytest.approx(0.02 - 0.0004)]


def camacari(shared: Path) -> Any:
    found = json.loads((shared / "data/ibge/camacari_ba_distritos_2020.geojson").read_text())["features"]
    return {f["properties"]["cd_dist"]: shapely.from_geojson(json.dumps(f["geometry"])) for f in found}


def test_camacari_areas_agree_with_ibge(shared: Path) -> None:
    districts = camacari(shared)
    given = (
        pl.read_csv(
            shared / "data/ibge/Agregados_por_distritos_basico_BR_20260520.csv",
            separator=";",
            encoding="cp1252",
            infer_schema=False,
        )
        .filter(pl.col("CD_MUN") == "2905701")
        .sort("CD_DIST")["AREA_KM2"]
        .str.replace(",", ".")
        .cast(pl.Float64)
        .to_list()
    )
    shapes = geometry.repaired(np.array([districts[code] for code in sorted(districts)]))
    assert geometry.area_km2(shapes).tolist() == [pytest.approx(area, rel=0.005) for area in given]


def test_simplified_districts_still_share_their_borders(shared: Path) -> None:
    districts = camacari(shared)
    shapes = geometry.repaired(np.array([districts[code] for code in sorted(districts)]))
    simple = geometry.simplified(shapes, 0.001)
    assert shapely.get_num_coordinates(simple).sum() < shapely.get_num_coordinates(shapes).sum() / 4
    assert shapely.area(shapely.union_all(simple)) == pytest.approx(shapely.area(simple).sum(), rel=1e-9)
