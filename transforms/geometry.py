"""Where a point is, how far it is from a border, how large a polygon is: vectorised, over shapely and numpy.

Coordinates are degrees in SIRGAS 2000 (EPSG:4674), x = longitude. Metres are measured on a plane tangent to the
GRS80 ellipsoid at the point asked about, not in a projection of the country: EPSG:5880 stretches by up to 5 % at
the edges of Brazil, the tangent plane by d·tan φ/R, 3 cm in 500 m at its southern end.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import shapely
from numpy.typing import NDArray
from pyproj import Geod

GRS80 = Geod(ellps="GRS80")
SHORTEST_DEGREE_M = 91_000  # a degree of longitude at 34.5° S: no degree in Brazil is shorter
LONGEST_DEGREE_M = 111_400  # one at the equator
PIECE = 32  # segments of a border that share one box in the index
SEARCH_M = tuple(500 * 2**turn for turn in range(8))  # how far to look for a border, in turns
CHUNK = 1_000_000  # point × segment pairs measured at a time: bounds memory


def shapes(wkb: pl.Series) -> NDArray[Any]:
    """Geometries of a column of WKB."""
    return shapely.from_wkb(wkb.to_numpy())


def wkb(geometries: NDArray[Any]) -> pl.Series:
    """A column of WKB of geometries."""
    return pl.Series("geometry", shapely.to_wkb(geometries).tolist(), dtype=pl.Binary)


def repaired(geometries: NDArray[Any]) -> NDArray[Any]:
    """Valid polygons of the same outline: crossed rings are rebuilt, what collapses to a line is dropped."""
    return shapely.make_valid(geometries, method="structure", keep_collapsed=False)


def dissolved(mesh: pl.DataFrame, by: pl.Expr) -> pl.DataFrame:
    """One valid geometry (WKB) per value of `by`, sorted by it: repeated features of a district are one, the
    borders between them vanish.
    """
    parts = mesh.select(by, "geometry").sort(pl.all().exclude("geometry"), maintain_order=True)
    key = parts.columns[0]
    starts = parts.with_row_index().unique(key, keep="first").sort("index")
    pieces = np.split(repaired(shapes(parts["geometry"])), starts["index"].to_numpy()[1:])
    return starts.select(key, wkb(np.array([shapely.union_all(piece) for piece in pieces], dtype=object)))


def area_km2(geometries: NDArray[Any]) -> NDArray[np.float64]:
    """Geodesic areas on GRS80, whichever way the rings run."""
    turned = shapely.orient_polygons(geometries)
    return np.array([GRS80.geometry_area_perimeter(geometry)[0] for geometry in turned]) / 1e6


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


@dataclass(frozen=True, slots=True)
class Borders:
    """The borders of polygons as segments, in pieces of at most PIECE that follow each other in one ring."""

    start: NDArray[np.float64]  # (n, 2) degrees
    end: NDArray[np.float64]
    first: NDArray[np.intp]  # of each piece: its first segment
    count: NDArray[np.intp]  # of each piece: how many segments
    owner: NDArray[np.intp]  # of each piece: the polygon
    index: shapely.STRtree


def borders(polygons: NDArray[Any]) -> Borders:
    """The segments of every ring of the polygons, indexed by the boxes of their pieces."""
    parts, whole = shapely.get_parts(polygons, return_index=True)  # get_rings passes over polygons of several parts
    rings, part = shapely.get_rings(parts, return_index=True)
    coordinates, ring = shapely.get_coordinates(rings, return_index=True)
    inside = ring[1:] == ring[:-1]
    start, end, ring = coordinates[:-1][inside], coordinates[1:][inside], ring[:-1][inside]
    position = np.arange(len(ring)) - np.searchsorted(ring, ring)
    first = np.flatnonzero(position % PIECE == 0)
    low = np.minimum.reduceat(np.minimum(start, end), first, axis=0)
    high = np.maximum.reduceat(np.maximum(start, end), first, axis=0)
    return Borders(
        start=start,
        end=end,
        first=first,
        count=np.diff(np.append(first, len(ring))),
        owner=whole[part[ring[first]]],
        index=shapely.STRtree(shapely.box(low[:, 0], low[:, 1], high[:, 0], high[:, 1])),
    )


def distances(
    edges: Borders,
    longitude: NDArray[np.float64],
    latitude: NDArray[np.float64],
    own: NDArray[np.intp],
    within: float,
) -> pl.DataFrame:
    """Metres (1 decimal) from each point to every polygon but its own that comes within so many metres.

    Columns point, polygon, metres; one row per pair, sorted by point and distance. A border is a polygon's: where
    two overlap or leave a gap, each one's own line counts.
    """
    reach = within / SHORTEST_DEGREE_M
    boxes = shapely.box(longitude - reach, latitude - reach, longitude + reach, latitude + reach)
    point, piece = edges.index.query(boxes)
    other = edges.owner[piece] != own[point]
    point, piece = point[other], piece[other]
    slices = np.searchsorted(
        np.cumsum(edges.count[piece]), np.arange(CHUNK, edges.count[piece].sum(), CHUNK), side="right"
    )
    measured = [
        _measured(edges, longitude, latitude, points, pieces)
        for points, pieces in zip(np.split(point, slices), np.split(piece, slices), strict=True)
    ]
    return (
        pl.concat(measured)
        .group_by("point", "polygon")
        .agg(pl.col("metres").min().round(1))
        .filter(pl.col("metres") <= within)
        .sort("point", "metres", "polygon")
    )


def nearest(
    edges: Borders, longitude: NDArray[np.float64], latitude: NDArray[np.float64], own: NDArray[np.intp]
) -> pl.DataFrame:
    """Metres from each point to the nearest polygon but its own, up to 64 km: columns point, metres.

    Looks twice as far each time, for the points that have found none yet, so that few borders are measured.
    """
    found = [pl.DataFrame(schema={"point": pl.Int64, "metres": pl.Float64})]
    left = np.arange(len(own))
    for within in SEARCH_M:
        near = distances(edges, longitude[left], latitude[left], own[left], within)
        near = near.group_by("point").agg(pl.col("metres").min())
        reached = near["point"].to_numpy()
        found.append(pl.DataFrame({"point": left[reached], "metres": near["metres"]}))
        left = np.delete(left, reached)
    return pl.concat(found).sort("point")


def neighbours(polygons: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of polygons that touch or overlap, each pair both ways round, none with itself."""
    one, other = shapely.STRtree(polygons).query(polygons, predicate="intersects")
    return one[one != other], other[one != other]


def common_border_m(polygons: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
    """Metres of border that each polygon shares with the one beside it in `others`; points have no length."""
    shared = shapely.intersection(shapely.boundary(polygons), shapely.boundary(others))
    lines, pair = shapely.get_parts(shared, return_index=True)
    coordinates, line = shapely.get_coordinates(lines, return_index=True)
    joined = line[1:] == line[:-1]
    start, end = coordinates[:-1][joined], coordinates[1:][joined]
    metres = GRS80.inv(*start.T, *end.T)[2]
    return np.bincount(pair[line[1:][joined]], weights=metres, minlength=len(shared)).astype(np.float64)


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


def _measured(
    edges: Borders,
    longitude: NDArray[np.float64],
    latitude: NDArray[np.float64],
    point: NDArray[np.intp],
    piece: NDArray[np.intp],
) -> pl.DataFrame:
    """Metres from points to each segment of the pieces paired with them, on the point's tangent plane."""
    count = edges.count[piece]
    point = np.repeat(point, count)
    before = np.repeat(np.cumsum(count) - count, count)
    segment = np.repeat(edges.first[piece], count) + np.arange(len(point)) - before
    centre = np.column_stack([longitude, latitude])[point]
    scale = metres_per_degree(latitude)[point]
    start, end = (edges.start[segment] - centre) * scale, (edges.end[segment] - centre) * scale
    along = end - start
    length = (along**2).sum(axis=1)
    share = -(start * along).sum(axis=1) / np.where(length > 0, length, 1)
    foot = start + along * np.clip(share, 0, 1)[:, None]
    return pl.DataFrame({"point": point, "polygon": np.repeat(edges.owner[piece], count), "metres": np.hypot(*foot.T)})


def metres_per_degree(latitude: NDArray[np.float64]) -> NDArray[np.float64]:
    """Metres in a degree of longitude and of latitude, there, on GRS80."""
    phi = np.radians(latitude)
    curvature = 1 - GRS80.es * np.sin(phi) ** 2
    east = GRS80.a * np.cos(phi) / np.sqrt(curvature)
    north = GRS80.a * (1 - GRS80.es) / curvature**1.5
    return np.radians(np.column_stack([east, north]))
