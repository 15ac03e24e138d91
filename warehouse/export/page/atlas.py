"""The map of a page: the districts of a state as SVG paths in whole units, borders shared by neighbours drawn once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import shapely
from numpy.typing import NDArray

from transforms import borders, geometry

SIZE = 2400  # units along the longer side
DETAIL = 1000  # what is smaller than this part of the longer side is not drawn
VERTICES = 50_000  # some 400 kB; a state with more is simplified further


@dataclass(frozen=True, slots=True)
class Map:
    """`districts`: code → path; `borders`: one path of the lines between municípios and of the coast."""

    width: int
    height: int
    districts: dict[str, str]
    borders: str


def drawn(mesh: pl.DataFrame) -> Map | None:
    """From district_code and geometry (WKB, degrees); None of an empty mesh."""
    if mesh.is_empty():
        return None
    ordered = mesh.sort("district_code")
    shapes = geometry.shapes(ordered["geometry"])
    west, south, east, north = shapely.total_bounds(shapes)
    narrow = np.cos(np.radians((south + north) / 2))  # a degree of longitude, in degrees of latitude
    extent = max((east - west) * narrow, north - south)
    scale, tolerance = SIZE / extent, extent / DETAIL
    simple = geometry.simplified(shapes, tolerance)
    while shapely.get_num_coordinates(simple).sum() > VERTICES:
        tolerance *= 1.6
        simple = geometry.simplified(simple, tolerance)
    units = shapely.transform(simple, lambda at: np.rint((at - [west, north]) * [scale * narrow, -scale]))
    return Map(
        width=int(np.ceil((east - west) * narrow * scale)),
        height=int(np.ceil((north - south) * scale)),
        districts=dict(zip(ordered["district_code"], map(_polygons, units), strict=True)),
        borders=_borders(units, ordered["district_code"].str.head(7)),
    )


def _polygons(shape: Any) -> str:
    """All rings of a geometry; islands and holes that no eye would see are left out, never the largest part."""
    if shape.area < 1:  # a dot, or the smallest districts would vanish
        x, y = shapely.get_coordinates(shape)[0].astype(int)
        return f"M{x} {y}l1 0 0 1-1 0z"
    parts = sorted(shapely.get_parts(shape), key=lambda part: -part.area)
    seen = [part for place, part in enumerate(parts) if place == 0 or part.area > 8]
    rings = [
        ring for part in seen for ring in shapely.get_rings(part) if shapely.Polygon(ring).area > 2 or len(seen) == 1
    ]
    return "".join(_line(shapely.get_coordinates(ring)[:-1]) + "z" for ring in rings)


def _line(points: NDArray[np.float64]) -> str:
    """A path through points: where it starts, then steps, without those that go nowhere."""
    start, steps = points[0].astype(int), np.diff(points.astype(int), axis=0)
    steps = steps[steps.any(axis=1)]
    told = " ".join(f"{x} {y}" if y >= 0 else f"{x}{y}" for x, y in steps.tolist()).replace(" -", "-")
    return f"M{start[0]} {start[1]}l{told}"


def _borders(shapes: NDArray[Any], municipality: pl.Series) -> str:
    """Segments that do not run between two districts of one município, joined into lines."""
    segments = borders.lines(shapes)
    between = (
        segments.with_columns(municipality=municipality.gather(segments["polygon"]))
        .group_by(borders.ENDS, maintain_order=True)
        .agg(pl.len().alias("sides"), pl.col("municipality").n_unique().alias("owners"))
        .filter((pl.col("sides") == 1) | (pl.col("owners") > 1))
    )
    pairs = between.select(borders.ENDS).to_numpy().reshape(-1, 2, 2)
    lines: Any = shapely.linestrings(pairs)
    merged = shapely.line_merge(shapely.multilinestrings(lines))
    return "".join(_line(shapely.get_coordinates(part)) for part in shapely.get_parts(merged))
