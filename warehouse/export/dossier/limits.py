"""The limits of an area as art. 8º wants them: geodesic lines between points that are told apart by their coordinates.

IBGE's outlines have thousands of vertices. What is described is the outline with the fewest points that strays from
it by no more than a stated distance; every vertex goes into a CSV. Azimuths, distances and lengths are geodesic, on
GRS80 (SIRGAS 2000).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import shapely
from numpy.typing import NDArray

from transforms import geometry
from transforms.geometry import GRS80
from transforms.schema import Column, Kind, Table, Unit

TOLERANCES_M = (0, 10, 25, 50, 100, 250, 500, 1000, 2000)
POINTS = 60  # what a reader can follow: the smallest tolerance that needs no more is taken
NEAR_M = 50.0  # how much farther than the tolerance a neighbour's own line may lie

VERTICES = Table(
    name="export.limits",
    title="Vértices dos limites",
    grain="One row per vertex of the outline, ring by ring, clockwise",
    key=("ring", "vertex"),
    columns=(
        Column("ring", Kind.INTEGER, "Which closed line, the longest first.", "Linha", Unit.COUNT),
        Column("vertex", Kind.INTEGER, "Which vertex of it, from the northernmost.", "Vértice", Unit.COUNT),
        Column("latitude", Kind.FLOAT, "Latitude, SIRGAS 2000.", "Latitude", Unit.DEGREES),
        Column("longitude", Kind.FLOAT, "Longitude, SIRGAS 2000.", "Longitude", Unit.DEGREES),
        Column("azimuth", Kind.FLOAT, "Geodesic azimuth to the next vertex.", "Azimute", Unit.DEGREES),
        Column("metres", Kind.FLOAT, "Geodesic distance to it.", "Distância", Unit.METRES),
    ),
)


@dataclass(frozen=True, slots=True)
class Step:
    """From one point to the next: where it starts, where to, how far, and what lies on the other side."""

    name: str
    latitude: float
    longitude: float
    azimuth: float
    metres: float
    beside: str


@dataclass(frozen=True, slots=True)
class Limits:
    """`rings` of the described outline; `perimeter_m` is theirs. `whole_m` and `vertices` are the full outline's."""

    rings: tuple[tuple[Step, ...], ...]
    tolerance_m: int
    perimeter_m: float
    whole_m: float
    vertices: pl.DataFrame
    area_km2: float


def limits(mesh: pl.DataFrame, districts: Sequence[str], names: dict[str, str]) -> Limits | None:
    """Of the area made of these districts; None where the mesh lacks one. `names`: district → what to call it."""
    own = mesh.filter(pl.col("district_code").is_in(list(districts)))
    if own.height < len(set(districts)):
        return None
    outline = shapely.normalize(shapely.union_all(geometry.shapes(own["geometry"])))
    others = mesh.filter(~pl.col("district_code").is_in(list(districts))).sort("district_code")
    tolerance, simple = _described(outline)
    beside = _Beside(geometry.shapes(others["geometry"]), [names[code] for code in others["district_code"]], tolerance)
    rings = tuple(_steps(ring, number, beside) for number, ring in enumerate(_rings(simple), 1))
    return Limits(
        rings=rings,
        tolerance_m=tolerance,
        perimeter_m=sum(step.metres for ring in rings for step in ring),
        whole_m=float(sum(GRS80.geometry_length(ring) for ring in _lines(outline))),
        vertices=_vertices(outline),
        area_km2=abs(GRS80.geometry_area_perimeter(outline)[0]) / 1e6,  # normalized: holes run the other way
    )


def _described(outline: Any) -> tuple[int, Any]:
    """The outline within the smallest tolerance that leaves few enough points, measured in metres."""
    west, south, _, north = outline.bounds
    scale = scale_at((south + north) / 2)
    flat = shapely.transform(outline, lambda at: (at - [west, south]) * scale)
    simple, tolerance = flat, 0
    for tolerance in TOLERANCES_M:
        simple = shapely.simplify(flat, tolerance, preserve_topology=True)
        if shapely.get_num_coordinates(simple) <= POINTS:
            break
    return tolerance, shapely.transform(simple, lambda at: at / scale + [west, south])


def scale_at(latitude: float) -> NDArray[np.float64]:
    """Metres in a degree of longitude and of latitude, there."""
    scale: NDArray[np.float64] = geometry.metres_per_degree(np.array([latitude]))[0]
    return scale


def _lines(outline: Any) -> list[Any]:
    """Every closed line of the outline, the longest first."""
    return sorted(shapely.get_rings(shapely.get_parts(outline)), key=lambda ring: (-ring.length, ring.wkt))


def _rings(outline: Any) -> list[NDArray[np.float64]]:
    """The points of each closed line, clockwise from its northernmost, the last not repeated."""
    found = []
    for line in _lines(outline):
        turned = line if not shapely.is_ccw(line) else shapely.reverse(line)
        points = shapely.get_coordinates(turned)[:-1]
        found.append(np.roll(points, -int(np.lexsort((points[:, 0], -points[:, 1]))[0]), axis=0))
    return found


def _inverse(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Azimuth (0 to 360) and metres from each point to the next, the last to the first."""
    ahead = np.roll(points, -1, axis=0)
    azimuth, _, metres = GRS80.inv(points[:, 0], points[:, 1], ahead[:, 0], ahead[:, 1])
    return np.asarray(azimuth) % 360, np.asarray(metres)


@dataclass(frozen=True, slots=True)
class _Beside:
    """Who is on the other side of a line."""

    shapes: NDArray[Any]
    names: list[str]
    tolerance: int

    def of(self, middle: Any) -> str:
        near = shapely.STRtree(self.shapes).query_nearest(
            middle, max_distance=(self.tolerance + NEAR_M) / float(scale_at(middle.y)[0]), all_matches=False
        )
        return self.names[int(near[0])] if len(near) else ""


def _steps(points: NDArray[np.float64], number: int, beside: _Beside) -> tuple[Step, ...]:
    azimuth, metres = _inverse(points)
    middles = (points + np.roll(points, -1, axis=0)) / 2
    letter = "" if number == 1 else f"{number}."
    return tuple(
        Step(f"P{letter}{place}", at[1], at[0], az, m, beside.of(shapely.Point(middle)))
        for place, (at, az, m, middle) in enumerate(zip(points, azimuth, metres, middles, strict=True), 1)
    )


def _vertices(outline: Any) -> pl.DataFrame:
    """VERTICES of the full outline."""
    found = []
    for number, points in enumerate(_rings(outline), 1):
        azimuth, metres = _inverse(points)
        found.append(
            pl.DataFrame({"latitude": points[:, 1], "longitude": points[:, 0], "azimuth": azimuth, "metres": metres})
            .with_row_index("vertex", offset=1)
            .with_columns(pl.lit(number).alias("ring"))
        )
    return VERTICES.conform(pl.concat(found))


def degrees(value: float, positive: str, negative: str) -> str:
    """Degrees, minutes and seconds of three decimals (3 cm), as memorials write them: 19°48'12,345" S."""
    thousandths = round(abs(value) * 3_600_000)
    seconds, minutes = thousandths % 60_000, thousandths // 60_000
    told = f"{minutes // 60}°{minutes % 60:02d}'{seconds // 1000:02d},{seconds % 1000:03d}\""
    return f"{told} {positive if value >= 0 else negative}"


def azimuth(value: float) -> str:
    """Degrees, minutes and seconds of a direction."""
    seconds = round(value * 3600) % 1_296_000
    return f"{seconds // 3600}°{seconds // 60 % 60:02d}'{seconds % 60:02d}\""
