"""The map of a dossier: the area among its neighbours as SVG, with the described points, a scale and the north."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import polars as pl
import shapely
from numpy.typing import NDArray

from transforms import geometry
from warehouse.export.dossier.limits import Limits, scale_at

WIDTH, HEIGHT, MARGIN = 1600, 1150, 0.35  # units; how much of its surroundings is shown around the area
WIDE = 0.5  # how wide a letter is, of its height
BARS_KM = (0.5, 1, 2, 5, 10, 20, 50, 100)


def drawn(mesh: pl.DataFrame, districts: Sequence[str], names: dict[str, str], found: Limits) -> str:
    """`names`: district → its name. The area is filled; its neighbours are named where there is room."""
    rows = mesh.sort("district_code").with_columns(own=pl.col("district_code").is_in(list(districts)))
    shapes = geometry.shapes(rows["geometry"])
    area = shapely.union_all(shapes[rows["own"].to_numpy()])
    place = _frame(area)
    window = shapely.box(0, 0, WIDTH, HEIGHT)
    near = shapely.intersects(shapely.envelope(shapely.transform(shapes, place)), window)
    cut = shapely.intersection(
        shapely.make_valid(shapely.simplify(shapely.transform(shapes[near], place), 0.8)), window
    )
    kept = rows.filter(pl.Series(near))
    parts = ['<rect width="100%" height="100%" fill="#f4f1ea"/>']
    for shape, own in zip(cut, kept["own"], strict=True):
        fill = "#bfd9d2" if own else "#fffdf8"
        parts.append(f'<path d="{_path(shape)}" fill="{fill}" stroke="#8b8578" stroke-width="1.5"/>')
    parts.append(
        f'<path d="{_path(shapely.intersection(shapely.transform(area, place), window))}" '
        'fill="none" stroke="#17495a" stroke-width="4"/>'
    )
    free = Free([(0, HEIGHT - 90, WIDTH / 3, HEIGHT), (WIDTH - 90, 0, WIDTH, 120)])  # but for the scale and the north
    labelled = sorted(zip(cut, kept["district_code"], kept["own"], strict=True), key=lambda each: not each[2])
    for shape, code, own in labelled:
        if own:
            parts += _label(shape, names[code], free, own=True)
    for ring in found.rings:
        points = place(np.array([[step.longitude, step.latitude] for step in ring]))
        every = 1 if len(ring) <= 30 else 5
        for number, ((x, y), step) in enumerate(zip(points, ring, strict=True)):
            parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="#17495a"/>')
            if number % every == 0 and free.take(x + 9, y - 9, step.name, 25):
                parts.append(_text(x + 9, y - 9, step.name, 25, "#17495a"))
    for shape, code, own in labelled:
        if not own:
            parts += _label(shape, names[code], free, own=False)
    parts += _scale(area)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(parts)}</svg>'


@dataclass(frozen=True, slots=True)
class Free:
    """What of the map no words stand on yet: boxes taken, as left, top, right, bottom."""

    taken: list[tuple[float, float, float, float]]

    def take(self, x: float, y: float, text: str, size: int, *, middle: bool = False) -> bool:
        """Take the place of a text, if it is inside the map and runs into no other."""
        wide = len(text) * size * WIDE
        left = x - wide / 2 if middle else x
        box = (left, y - size, left + wide, y + size / 4)
        inside = box[0] > 0 and box[1] > 0 and box[2] < WIDTH and box[3] < HEIGHT
        clear = all(
            box[0] > east or box[2] < west or box[1] > south or box[3] < north
            for west, north, east, south in self.taken
        )
        if inside and clear:
            self.taken.append(box)
        return inside and clear


def _frame(area: Any) -> Any:
    """Degrees → units, so that the area fills the map but for its margin."""
    west, south, east, north = area.bounds
    scale = _units(area)
    middle = np.array([(west + east) / 2, (south + north) / 2])
    return lambda at: (at - middle) * [scale[0], -scale[1]] + [WIDTH / 2, HEIGHT / 2]


def _units(area: Any) -> NDArray[np.float64]:
    west, south, east, north = area.bounds
    metres = scale_at((south + north) / 2)
    wide, high = (np.array([east - west, north - south]) * metres * (1 + 2 * MARGIN)).tolist()
    units: NDArray[np.float64] = metres * min(WIDTH / wide, HEIGHT / high)
    return units


def _path(shape: Any) -> str:
    lines = shapely.get_rings(shapely.get_parts(shape)[shapely.get_type_id(shapely.get_parts(shape)) == 3])
    return "".join(
        "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in shapely.get_coordinates(line)[:-1]) + "Z" for line in lines
    )


def _label(shape: Any, name: str, free: Free, *, own: bool) -> list[str]:
    if shape.is_empty or shape.area < WIDTH * HEIGHT / 150:
        return []
    point = shapely.maximum_inscribed_circle(shape, tolerance=5).coords[0] if shape.area else (0, 0)
    if not free.take(point[0], point[1], name, 30 if own else 23, middle=True):
        return []
    return [_text(point[0], point[1], name, 30 if own else 23, "#0b3a4a" if own else "#566068", middle=True, bold=own)]


def _text(x: float, y: float, text: str, size: int, fill: str, *, middle: bool = False, bold: bool = False) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    weight = ' font-weight="bold"' if bold else ""
    style = f'font-family="Libertinus Serif" font-size="{size}" fill="{fill}"{anchor}{weight}'
    return f'<text x="{x:.0f}" y="{y:.0f}" {style}>{escape(text)}</text>'


def _scale(area: Any) -> list[str]:
    """A bar of a round length, a sixth of the width or more, and an arrow to the north."""
    per_km = float(_units(area)[0] / scale_at((area.bounds[1] + area.bounds[3]) / 2)[0] * 1000)
    length = next((km for km in BARS_KM if km * per_km >= WIDTH / 8), BARS_KM[-1])
    told = f"{length:g} km".replace(".", ",")
    end = 40 + length * per_km
    return [
        f'<path d="M40 {HEIGHT - 50}V{HEIGHT - 36}H{end:.0f}V{HEIGHT - 50}" fill="none" stroke="#1f262b"/>',
        _text(40, HEIGHT - 60, told, 24, "#1f262b"),
        f'<path d="M{WIDTH - 60} 110L{WIDTH - 45} 50L{WIDTH - 30} 110L{WIDTH - 45} 96Z" fill="#1f262b"/>',
        _text(WIDTH - 45, 40, "N", 28, "#1f262b", middle=True),
    ]
