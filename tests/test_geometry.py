"""Points, borders, areas and groups, against pyproj's geodesics, brute force and IBGE's own figures."""

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
from transforms.core.neighbour import neighbour

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


@pytest.mark.parametrize("latitude", [-33.7, -19.95, 0.01, 5.2])
def test_distances_are_the_geodesic_ones_to_the_centimetre_near_500_m(latitude: float) -> None:
    pair: Any = np.array(
        [
            shapely.box(-50, latitude - 0.1, -49.9, latitude + 0.1),
            shapely.box(-49.9, latitude - 0.1, -49.8, latitude + 0.1),
        ]
    )
    x, _, _ = geometry.GRS80.fwd(-49.9, latitude, 270, 499.98)
    edges = geometry.borders(pair)
    at, own = np.array([x]), np.array([0])
    found = geometry.distances(edges, at, np.array([latitude]), own, 500)
    assert found.rows() == [(0, 1, 500.0)]
    exact = geometry.GRS80.inv(x, latitude, -49.9, latitude)[2]
    assert found["metres"].item() == pytest.approx(exact, abs=0.05)
    x, _, _ = geometry.GRS80.fwd(-49.9, latitude, 270, 500.1)
    assert geometry.distances(edges, np.array([x]), np.array([latitude]), own, 500).is_empty()


def test_the_border_of_a_district_inside_another_counts() -> None:
    edges = geometry.borders(BLOCK)
    found = geometry.distances(edges, np.array([-40.963]), np.array([-19.95]), np.array([0]), 500)
    assert found.rows() == [(0, 2, pytest.approx(geodesic((-40.963, -19.95), (-40.96, -19.95)), abs=0.1))]


def test_every_part_of_a_district_has_its_border() -> None:
    island, main, other = (shapely.box(west, -20, west + 0.1, -19.9) for west in (-40.7, -41, -40.9))
    edges = geometry.borders(np.array([shapely.multipolygons([main, island]), other], dtype=object))
    at, here, own = np.array([-40.899]), np.array([-19.95]), np.array([1])
    near = pytest.approx(geodesic((-40.899, -19.95), (-40.9, -19.95)), abs=0.1)
    assert geometry.distances(edges, at, here, own, 500).rows() == [(0, 0, near)]
    assert geometry.nearest(edges, at, here, own).rows() == [(0, near)]


def test_the_outer_edge_is_no_border_and_far_ones_are_measured_too() -> None:
    edges = geometry.borders(BLOCK)
    x, y, own = np.array([-40.8001, -40.99]), np.array([-19.95, -19.99]), np.array([1, 0])
    assert geometry.distances(edges, x, y, own, 500).is_empty()
    nearest = geometry.nearest(edges, x, y, own)
    assert nearest["metres"].to_list() == [
        pytest.approx(geodesic((-40.8001, -19.95), (-40.9, -19.95)), rel=1e-4),
        pytest.approx(geodesic((-40.99, -19.99), (-40.96, -19.96)), rel=1e-3),
    ]


def test_nothing_within_64_km_has_no_distance() -> None:
    pair: Any = np.array([shapely.box(-50, -20, -49.9, -19.9), shapely.box(-48, -20, -47.9, -19.9)])
    found = geometry.nearest(geometry.borders(pair), np.array([-49.95]), np.array([-19.95]), np.array([0]))
    assert found.is_empty()


@given(st.integers(0, 2**32 - 1))
def test_distances_agree_with_shapely_on_random_coverages(seed: int) -> None:
    chance = np.random.default_rng(seed)
    seeds = np.column_stack([chance.uniform(-41, -40.9, 8), chance.uniform(-20, -19.9, 8)])
    box = shapely.box(-41, -20, -40.9, -19.9)
    cells: Any = np.array(shapely.get_parts(shapely.voronoi_polygons(shapely.multipoints(seeds), extend_to=box)))
    cells = shapely.intersection(shapely.segmentize(cells, 0.002), box)
    cells = np.append(shapely.union(cells[:-2:2], cells[1:-2:2]), cells[-2:])  # districts of one part and of two
    x, y = chance.uniform(-41, -40.9, 40), chance.uniform(-20, -19.9, 40)
    point, polygon = geometry.covering(cells, x, y)
    own = np.empty(40, dtype=np.intp)
    own[point] = polygon
    found = geometry.distances(geometry.borders(cells), x, y, own, 500)
    scale = np.array([geodesic((-41, -19.95), (-40, -19.95)), geodesic((-40, -20.45), (-40, -19.45))])
    plane: Any = shapely.transform(cells, lambda at: at * scale)
    points: Any = shapely.points(np.column_stack([x, y]) * scale)
    expected = {
        (int(p), int(c)): metres
        for p in range(40)
        for c in range(len(cells))
        if c != own[p] and (metres := shapely.distance(points[p], plane[c])) <= 501
    }
    rows = {(p, c): metres for p, c, metres in found.iter_rows()}
    assert rows.keys() <= expected.keys()
    assert {pair for pair, metres in expected.items() if metres < 499} <= rows.keys()
    assert all(abs(metres - expected[pair]) < 0.5 for pair, metres in rows.items())


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
    assert geometry.area_km2(BLOCK[[1]]).tolist() == [pytest.approx(115.7, abs=0.2)]


def test_dissolving_mends_and_joins() -> None:
    bow_tie = shapely.Polygon([(-41, -20), (-40.9, -19.9), (-40.9, -20), (-41, -19.9)])
    halves: Any = np.array([RIGHT, bow_tie, LEFT])
    mesh = pl.DataFrame({"district_code": ["320000110", "320000105", "320000110"], "geometry": geometry.wkb(halves)})
    whole = geometry.dissolved(mesh, pl.col("district_code"))
    shapes = geometry.shapes(whole["geometry"])
    assert whole["district_code"].to_list() == ["320000105", "320000110"]
    assert shapely.is_valid(shapes).all()
    assert shapely.area(shapes).tolist() == [pytest.approx(0.005), pytest.approx(0.02 - 0.0004)]


def test_neighbours_stand_both_ways_round() -> None:
    codes = ["320000105", "320000305", "320000110", "320000505"]
    corner = shapely.box(-40.8, -19.9, -40.7, -19.8)  # meets RIGHT in one point
    shapes: Any = np.array([*BLOCK, corner])
    table = neighbour(pl.DataFrame({"district_code": codes, "geometry": geometry.wkb(shapes)}))
    assert table.select("district_code", "neighbour_code", "same_municipality").rows() == [
        ("320000105", "320000110", True),
        ("320000105", "320000305", False),
        ("320000110", "320000105", True),
        ("320000305", "320000105", False),
        ("320000305", "320000505", False),
        ("320000505", "320000305", False),
    ]
    assert table["border_m"].to_list() == [
        pytest.approx(8615, abs=2),
        pytest.approx(11070, abs=2),
        pytest.approx(8615, abs=2),
        pytest.approx(11070, abs=2),
        0,
        0,
    ]


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
