"""Distances to borders and the borders that districts share, against pyproj's geodesics, GEOS and brute force."""

from typing import Any

import numpy as np
import polars as pl
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tests.test_geometry import BLOCK, geodesic
from transforms import borders, geometry
from transforms.core.neighbour import neighbour


@pytest.mark.parametrize("latitude", [-33.7, -19.95, 0.01, 5.2])
def test_distances_are_the_geodesic_ones_to_the_centimetre_near_500_m(latitude: float) -> None:
    pair: Any = np.array(
        [
            shapely.box(-50, latitude - 0.1, -49.9, latitude + 0.1),
            shapely.box(-49.9, latitude - 0.1, -49.8, latitude + 0.1),
        ]
    )
    x, _, _ = geometry.GRS80.fwd(-49.9, latitude, 270, 499.98)
    edges = borders.drawn(pair)
    at, own = np.array([x]), np.array([0])
    found = borders.distances(edges, at, np.array([latitude]), own, 500)
    assert found.rows() == [(0, 1, 500.0)]
    exact = geometry.GRS80.inv(x, latitude, -49.9, latitude)[2]
    assert found["metres"].item() == pytest.approx(exact, abs=0.05)
    x, _, _ = geometry.GRS80.fwd(-49.9, latitude, 270, 500.1)
    assert borders.distances(edges, np.array([x]), np.array([latitude]), own, 500).is_empty()


def test_the_border_of_a_district_inside_another_counts() -> None:
    edges = borders.drawn(BLOCK)
    found = borders.distances(edges, np.array([-40.963]), np.array([-19.95]), np.array([0]), 500)
    assert found.rows() == [(0, 2, pytest.approx(geodesic((-40.963, -19.95), (-40.96, -19.95)), abs=0.1))]


def test_every_part_of_a_district_has_its_border() -> None:
    island, main, other = (shapely.box(west, -20, west + 0.1, -19.9) for west in (-40.7, -41, -40.9))
    edges = borders.drawn(np.array([shapely.multipolygons([main, island]), other], dtype=object))
    at, here, own = np.array([-40.899]), np.array([-19.95]), np.array([1])
    near = pytest.approx(geodesic((-40.899, -19.95), (-40.9, -19.95)), abs=0.1)
    assert borders.distances(edges, at, here, own, 500).rows() == [(0, 0, near)]
    assert borders.nearest(edges, at, here, own).rows() == [(0, near)]


def test_the_outer_edge_is_no_border_and_far_ones_are_measured_too() -> None:
    edges = borders.drawn(BLOCK)
    x, y, own = np.array([-40.8001, -40.99]), np.array([-19.95, -19.99]), np.array([1, 0])
    assert borders.distances(edges, x, y, own, 500).is_empty()
    nearest = borders.nearest(edges, x, y, own)
    assert nearest["metres"].to_list() == [
        pytest.approx(geodesic((-40.8001, -19.95), (-40.9, -19.95)), rel=1e-4),
        pytest.approx(geodesic((-40.99, -19.99), (-40.96, -19.96)), rel=1e-3),
    ]


def test_nothing_within_64_km_has_no_distance() -> None:
    pair: Any = np.array([shapely.box(-50, -20, -49.9, -19.9), shapely.box(-48, -20, -47.9, -19.9)])
    found = borders.nearest(borders.drawn(pair), np.array([-49.95]), np.array([-19.95]), np.array([0]))
    assert found.is_empty()


def coverage(chance: np.random.Generator) -> Any:
    """Districts of a degree: some of several parts, with holes, or meeting in a point; lines upright, level and aslant
    on a grid of powers of two, so that a point put in a line lies on it, and neighbours differ in the points they have.
    """
    owner = chance.integers(0, 9, (6, 6))
    cells = np.array([[shapely.box(x, y, x + 1, y + 1) for x in range(6)] for y in range(6)], dtype=object)
    found = [shapely.union_all(cells[owner == number]) for number in np.unique(owner)]
    dense = chance.choice([0.25, 0.5, 16], len(found))  # of 16: corners only
    points: Any = shapely.segmentize(shapely.simplify(found, 0), dense)
    return shapely.transform(points, lambda at: [-41, -20] + (at + at[:, ::-1] * [0, 0.5]) / 8)


@given(st.integers(0, 2**32 - 1))
def test_common_borders_are_the_intersection_whatever_points_neighbours_have(seed: int) -> None:
    shapes = coverage(np.random.default_rng(seed))
    one, other = np.triu_indices(len(shapes), 1)
    touch = shapely.intersects(shapes[one], shapes[other])
    one, other = one[touch], other[touch]
    lines = shapely.line_merge(shapely.intersection(shapely.boundary(shapes[one]), shapely.boundary(shapes[other])))
    found = borders.shared(shapes)
    assert found.select("one", "other").rows() == list(zip(one.tolist(), other.tolist(), strict=True))
    assert found["metres"].to_list() == pytest.approx([geometry.GRS80.geometry_length(line) for line in lines])


def test_of_three_that_share_a_line_each_shares_it_with_both() -> None:
    twice = np.append(BLOCK, BLOCK[1])  # RIGHT lies upon itself
    found = borders.shared(twice)
    assert found.select("one", "other").rows() == [(0, 1), (0, 2), (0, 3), (1, 3)]
    left, _, again, whole = found["metres"]
    assert left == again == pytest.approx(geodesic((-40.9, -20), (-40.9, -19.9)))
    assert whole == pytest.approx(geometry.GRS80.geometry_length(shapely.boundary(BLOCK[1])))


def test_neighbours_with_a_sliver_between_are_none_and_those_that_overlap_have_no_common_line() -> None:
    left = BLOCK[0]
    apart, upon = (shapely.box(-40.9 + by, -19.99, -40.8, -19.91) for by in (1e-7, -1e-7))  # a centimetre
    assert borders.shared(np.array([left, apart])).is_empty()
    assert borders.shared(np.array([left, upon])).rows() == [(0, 1, 0.0)]


@given(st.integers(0, 2**32 - 1))
def test_the_nearest_is_the_least_of_all_distances(seed: int) -> None:
    chance = np.random.default_rng(seed)
    shapes = coverage(chance)
    x, y = chance.uniform(-41, -40.2, 40), chance.uniform(-20, -19, 40)
    point, polygon = geometry.covering(shapes, x, y)
    own = np.full(40, -1)
    own[point] = polygon
    edges = borders.drawn(shapes)
    least = borders.distances(edges, x, y, own, borders.SEARCH_M[-1]).group_by("point").agg(pl.col("metres").min())
    assert borders.nearest(edges, x, y, own).rows() == least.sort("point").rows()


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
    found = borders.distances(borders.drawn(cells), x, y, own, 500)
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
