"""The lines polygons are drawn with: how far a point is from them, and which of them two polygons share.

Degrees and metres as in `geometry`: on a plane tangent at the point asked about; lengths are geodesic.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import shapely
from numpy.typing import NDArray

from transforms.geometry import GRS80, metres_per_degree

SHORTEST_DEGREE_M = 91_000  # a degree of longitude at 34.5° S: no degree in Brazil is shorter
ENDS = ("x1", "y1", "x2", "y2")
PIECE = 16  # segments of a border that share one box in the index
SEARCH_M = tuple(2000 * 2**turn for turn in range(6))  # how far to look for a border, in turns


def segments(polygons: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[Any], NDArray[Any]]:
    """Every segment of every ring, as it runs: its start and its end (x, y), the number of its ring, its polygon."""
    parts, whole = shapely.get_parts(polygons, return_index=True)  # get_rings passes over polygons of several parts
    rings, part = shapely.get_rings(parts, return_index=True)
    coordinates, ring = shapely.get_coordinates(rings, return_index=True)
    inside = ring[1:] == ring[:-1]
    ring = ring[1:][inside]
    return coordinates[:-1][inside], coordinates[1:][inside], ring, whole[part[ring]]


def lines(polygons: NDArray[Any]) -> pl.DataFrame:
    """The segments of every ring by their ENDS, the western (or southern) first, so that both sides of a border read
    the same; and the polygon. None without length.
    """
    start, end, _, polygon = segments(polygons)
    back = (start[:, 0] > end[:, 0]) | ((start[:, 0] == end[:, 0]) & (start[:, 1] > end[:, 1]))
    start[back], end[back] = end[back], start[back]
    ends = pl.DataFrame(np.hstack([start, end]), schema=ENDS)
    return ends.with_columns(polygon=polygon).filter((pl.col("x1") != pl.col("x2")) | (pl.col("y1") != pl.col("y2")))


@dataclass(frozen=True, slots=True)
class Borders:
    """The borders of polygons as segments, in pieces of at most PIECE that follow each other in one ring."""

    start: NDArray[np.float64]  # (n, 2) degrees
    end: NDArray[np.float64]
    first: NDArray[np.intp]  # of each piece: its first segment
    count: NDArray[np.intp]  # of each piece: how many segments
    owner: NDArray[np.intp]  # of each piece: the polygon
    low: NDArray[np.float64]  # of each piece: the corners of its box
    high: NDArray[np.float64]
    index: shapely.STRtree


def drawn(polygons: NDArray[Any]) -> Borders:
    """The segments of every ring of the polygons, indexed by the boxes of their pieces."""
    start, end, ring, polygon = segments(polygons)
    position = np.arange(len(ring)) - np.searchsorted(ring, ring)
    first = np.flatnonzero(position % PIECE == 0)
    low = np.minimum.reduceat(np.minimum(start, end), first, axis=0)
    high = np.maximum.reduceat(np.maximum(start, end), first, axis=0)
    return Borders(
        start=start,
        end=end,
        first=first,
        count=np.diff(np.append(first, len(ring))),
        owner=polygon[first],
        low=low,
        high=high,
        index=shapely.STRtree(_boxes(low, high)),
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
    points = np.column_stack([longitude, latitude])
    point, piece = _around(edges, points, own, within)
    measured = pl.DataFrame(
        {"point": point, "polygon": edges.owner[piece], "metres": _metres(edges, points, point, piece)}
    )
    return (
        measured.group_by("point", "polygon")
        .agg(pl.col("metres").min().round(1))
        .filter(pl.col("metres") <= within)
        .sort("point", "metres", "polygon")
    )


def nearest(
    edges: Borders, longitude: NDArray[np.float64], latitude: NDArray[np.float64], own: NDArray[np.intp]
) -> pl.DataFrame:
    """Metres (1 decimal) from each point to the nearest polygon but its own, up to 64 km: columns point, metres.

    Looks twice as far each time, for the points that have found none yet; of a piece whose box is further than where
    another piece begins, no segment is measured.
    """
    points, metres = np.column_stack([longitude, latitude]), np.full(len(own), np.inf)
    for within in SEARCH_M:
        left = np.flatnonzero(np.isinf(metres))
        point, piece = _around(edges, points[left], own[left], within)
        point = left[point]
        centre, scale = points[point], metres_per_degree(points[:, 1])[point]
        begins = np.hypot(*((edges.start[edges.first[piece]] - centre) * scale).T)
        box = np.hypot(*(np.maximum(0, np.maximum(edges.low[piece] - centre, centre - edges.high[piece])) * scale).T)
        bound = np.full(len(own), np.inf)
        np.minimum.at(bound, point, begins)
        close = box <= bound[point] + 1  # a metre for rounding
        point, piece = point[close], piece[close]
        np.minimum.at(metres, point, _metres(edges, points, point, piece))
        metres[metres.round(1) > within] = np.inf  # another may be nearer, beyond the boxes looked at
    found = pl.DataFrame({"point": np.arange(len(own)), "metres": metres})
    return found.filter(pl.col("metres").is_finite()).with_columns(pl.col("metres").round(1))


def shared(polygons: NDArray[Any]) -> pl.DataFrame:
    """Pairs of valid polygons that touch or overlap, and the metres of border they share, 0 where only points: columns
    one, other (the greater), metres, sorted.

    Neighbours in a mesh draw their border through the same points: a segment that two have is theirs. What else they
    have is coast, or a border that each draws through points of its own: there GEOS looks for common lines, as it
    does where three have a segment, so that each shares it with both. Not looked for: the border of two that a third,
    lying upon one of them, draws through other points.
    """
    whose = lines(polygons).group_by(ENDS, maintain_order=True).agg("polygon")
    sides = pl.col("polygon").list
    twice = whose.filter(sides.len() == 2).select(*ENDS, one=sides.min(), other=sides.max())
    metres = GRS80.inv(*twice.select(ENDS).to_numpy().T)[2]
    pairs = twice.with_columns(metres=metres).group_by("one", "other", maintain_order=True).agg(pl.col("metres").sum())
    pairs = pl.concat([pairs, _touching(polygons, pairs)])
    alone = whose.filter(sides.len() != 2).explode("polygon").sort("polygon", maintain_order=True)
    rest = np.full(len(polygons), None)  # of each polygon: what it draws as no single other does, or nothing
    segments: Any = shapely.linestrings(alone.select(ENDS).to_numpy().reshape(-1, 2, 2))
    shapely.multilinestrings(segments, indices=alone["polygon"].to_numpy(), out=rest)
    more = _common_m(rest[pairs["one"]], rest[pairs["other"]])
    return pairs.with_columns(pl.col("metres") + more).sort("one", "other")


def _touching(polygons: NDArray[Any], known: pl.DataFrame) -> pl.DataFrame:
    """The pairs that touch beside those known to: they may share a line or a point, or lie upon each other."""
    one, other = shapely.STRtree(polygons).query(polygons)
    beside = pl.DataFrame({"one": one, "other": other}).filter(pl.col("one") < pl.col("other"))
    beside = beside.join(known, on=["one", "other"], how="anti", maintain_order="left")
    touch = shapely.intersects(polygons[beside["one"]], polygons[beside["other"]])
    return beside.filter(pl.Series(touch, dtype=pl.Boolean)).with_columns(metres=0.0)


def _common_m(ones: NDArray[Any], others: NDArray[Any]) -> NDArray[np.float64]:
    """Metres that each of these lines have in common with the one beside it in `others`; points have no length."""
    parts, pair = shapely.get_parts(shapely.intersection(ones, others), return_index=True)
    coordinates, line = shapely.get_coordinates(parts, return_index=True)
    joined = line[1:] == line[:-1]
    metres = GRS80.inv(*coordinates[:-1][joined].T, *coordinates[1:][joined].T)[2]
    return np.bincount(pair[line[1:][joined]], weights=metres, minlength=len(ones)).astype(np.float64)


def _boxes(low: NDArray[np.float64], high: NDArray[np.float64]) -> Any:
    """Lines from corner to corner: to an index they are boxes, made in half the time."""
    return shapely.linestrings(np.stack([low, high], axis=1))


def _around(
    edges: Borders, points: NDArray[np.float64], own: NDArray[np.intp], within: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs (point, piece) of every piece that may come within so many metres and is not of the point's own polygon."""
    reach = within / SHORTEST_DEGREE_M
    point, piece = edges.index.query(_boxes(points - reach, points + reach))
    other = edges.owner[piece] != own[point]
    return point[other], piece[other]


def _metres(
    edges: Borders, points: NDArray[np.float64], point: NDArray[np.intp], piece: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Metres from points to the pieces paired with them, on the point's tangent plane."""
    count = edges.count[piece]
    point = np.repeat(point, count)
    before = np.repeat(np.cumsum(count) - count, count)
    segment = np.repeat(edges.first[piece], count) + np.arange(len(point)) - before
    centre, scale = points[point], metres_per_degree(points[:, 1])[point]
    start, end = (edges.start[segment] - centre) * scale, (edges.end[segment] - centre) * scale
    along = end - start
    length = np.einsum("ij,ij->i", along, along)
    share = -np.einsum("ij,ij->i", start, along) / np.where(length > 0, length, 1)
    foot = start + along * np.clip(share, 0, 1)[:, None]
    return np.minimum.reduceat(np.hypot(*foot.T), np.cumsum(count) - count)
