"""Where a point is, how large a polygon is, what lies together: vectorised, over shapely and numpy.

Coordinates are degrees in SIRGAS 2000 (EPSG:4674), x = longitude. Metres are measured on a plane tangent to the
GRS80 ellipsoid at the point asked about, not in a projection of the country: EPSG:5880 stretches by up to 5 % at
the edges of Brazil, the tangent plane by d·tan φ/R, 3 cm in 500 m at its southern end.
"""

from typing import Any

import numpy as np
import polars as pl
import shapely
from numpy.typing import NDArray
from pyproj import Geod

GRS80 = Geod(ellps="GRS80")
LONGEST_DEGREE_M = 111_400  # one at the equator


def shapes(wkb: pl.Series) -> NDArray[Any]:
    """Geometries of a column of WKB."""
    return shapely.from_wkb(wkb.to_numpy())


def wkb(geometries: NDArray[Any]) -> pl.Series:
    """A column of WKB of geometries."""
    return pl.Series("geometry", shapely.to_wkb(geometries).tolist(), dtype=pl.Binary)


def repaired(geometries: NDArray[Any]) -> NDArray[Any]:
    """Valid polygons of the same outline: crossed rings are rebuilt, what collapses to a line is dropped; what is
    valid stays as it was drawn.
    """
    crossed = ~shapely.is_valid(geometries)
    mended = geometries.copy()
    mended[crossed] = shapely.make_valid(geometries[crossed], method="structure", keep_collapsed=False)
    return mended


def dissolved(mesh: pl.DataFrame, by: pl.Expr) -> pl.DataFrame:
    """One valid geometry (WKB) per value of `by`, sorted by it: repeated features of a district are one, the
    borders between them vanish; what is of one part is a polygon.
    """
    parts = mesh.select(by, "geometry").sort(pl.all().exclude("geometry"), maintain_order=True)
    key = parts.columns[0]
    starts = parts.with_row_index().unique(key, keep="first").sort("index")
    features = np.split(repaired(shapes(parts["geometry"])), starts["index"].to_numpy()[1:])
    whole = np.array([each[0] if len(each) == 1 else shapely.union_all(each) for each in features], dtype=object)
    single = shapely.get_num_geometries(whole) == 1
    return starts.select(key, wkb(np.where(single, shapely.get_geometry(whole, 0), whole)))


def area_km2(geometries: NDArray[Any]) -> NDArray[np.float64]:
    """Areas on GRS80, whichever way the rings run.

    Measured in a plane that keeps areas (Lambert's cylinder), where an edge is straight and not a geodesic: between
    vertices 1 km apart that is a millionth of a district, for a square of 10 km one in five million.
    """
    flat = shapely.transform(geometries, _on_the_cylinder)
    return shapely.area(flat) / 1e6


def covering(
    polygons: NDArray[Any], longitude: NDArray[np.float64], latitude: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs (point, polygon) where the polygon covers the point, borders included, so that a point on a shared
    border is in both.

    The index is over the points, and each polygon is prepared once: 3 times the speed of the other way round.
    """
    points: Any = shapely.points(longitude, latitude)
    polygon, point = shapely.STRtree(points).query(polygons, predicate="intersects")  # of a point: covers, but faster
    return point, polygon


def holder(
    polygons: NDArray[Any],
    group: NDArray[np.int64],
    longitude: NDArray[np.float64],
    latitude: NDArray[np.float64],
    wanted: NDArray[np.int64],
) -> NDArray[np.intp]:
    """The polygon that covers each point and is of the group wanted there; the first of several, -1 for none."""
    point, polygon = covering(polygons, longitude, latitude)
    same = group[polygon] == wanted[point]
    found = np.full(len(longitude), -1)
    found[point[same][::-1]] = polygon[same][::-1]  # pairs come by polygon: turned round, the first is written last
    return found


def neighbours(polygons: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of polygons that touch or overlap, each pair both ways round, none with itself."""
    one, other = shapely.STRtree(polygons).query(polygons, predicate="intersects")
    return one[one != other], other[one != other]


def linked(longitude: NDArray[np.float64], latitude: NDArray[np.float64], within: float) -> NDArray[np.int64]:
    """A group number for each point: points at most so many metres apart, also through others, share one.

    Single linkage, exact. Points fall into blocks so small that those of a block and of the eight around it are always
    within reach: only points of blocks further off, and of groups still apart, are measured.
    """
    side = within / (2 * 2**0.5 * LONGEST_DEGREE_M)
    points = pl.DataFrame({"x": longitude, "y": latitude}).with_columns(
        *((pl.col(axis) / side).floor().cast(pl.Int64).alias(block) for axis, block in (("x", "column"), ("y", "row")))
    )
    blocks = points.select("row", "column").unique().sort("row", "column").with_columns(block=pl.int_range(pl.len()))
    points = points.join(blocks, on=["row", "column"], validate="m:1", maintain_order="left")
    beside = _block_pairs(blocks, [step for step in _STEPS if max(map(abs, step)) == 1])
    group = connected(blocks.height, beside["block"].to_numpy(), beside["other"].to_numpy())
    apart = _block_pairs(
        blocks.with_columns(group=pl.Series(group, dtype=pl.Int64)),
        [step for step in _STEPS if max(map(abs, step)) > 1],
    ).filter(pl.col("group") != pl.col("group_other"))
    place = points.select("block", "x", "y")
    ends = apart.join(place, on="block").join(place, left_on="other", right_on="block", suffix="_other")
    x, y, other_x, other_y = (ends[name].to_numpy() for name in ("x", "y", "x_other", "y_other"))
    east, north = metres_per_degree((y + other_y) / 2).T
    near = ends.filter(pl.Series(np.hypot((x - other_x) * east, (y - other_y) * north) <= within))
    links = pl.concat([beside.select("block", "other"), near.select("block", "other")])
    group = connected(blocks.height, links["block"].to_numpy(), links["other"].to_numpy())
    return group.take(points["block"].to_numpy())


# Half of the ways to a block that can hold a point within reach: each pair once.
_STEPS = [(row, column) for row in range(5) for column in range(-4, 5) if (row, column) > (0, 0)]


def _block_pairs(blocks: pl.DataFrame, steps: list[tuple[int, int]]) -> pl.DataFrame:
    """Blocks and those so many rows and columns further: block, other, and what else `blocks` has of both."""
    others = blocks.rename({"block": "other"})
    return pl.concat(
        blocks.join(
            others.with_columns(pl.col("row") - row, pl.col("column") - column), on=["row", "column"], suffix="_other"
        )
        for row, column in steps
    )


def connected(count: int, one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.int64]:
    """A group number for each of so many things, given the pairs that belong together."""
    from scipy.sparse import coo_array  # noqa: PLC0415  a tenth of a second that most nights need not spend
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    graph = coo_array((np.ones(len(one), dtype=bool), (one, other)), shape=(count, count))
    group: NDArray[np.int64] = connected_components(graph, directed=False)[1].astype(np.int64)
    return group


def simplified(geometries: NDArray[Any], tolerance: float) -> NDArray[Any]:
    """The same coverage with fewer vertices, for display: shared borders are simplified once, for both sides."""
    return shapely.coverage_simplify(geometries, tolerance)


def metres_per_degree(latitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Metres in a degree of longitude and of latitude, there, on GRS80."""
    phi = np.radians(latitude)
    curvature = 1 - GRS80.es * np.sin(phi) ** 2
    east = GRS80.a * np.cos(phi) / np.sqrt(curvature)
    north = GRS80.a * (1 - GRS80.es) / curvature**1.5
    return np.radians(np.column_stack([east, north]))


def _on_the_cylinder(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Longitude and latitude as metres in a plane where areas are those on GRS80."""
    longitude, sine = np.radians(degrees[:, 0]), np.sin(np.radians(degrees[:, 1]))
    eccentricity = GRS80.es**0.5
    zone = sine / (1 - GRS80.es * sine**2) + np.arctanh(eccentricity * sine) / eccentricity
    return GRS80.a * np.column_stack([longitude, (1 - GRS80.es) / 2 * zone])
