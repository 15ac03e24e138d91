"""Where things are in the sample: a state cut into rectangles whose areas are the published ones.

The true mesh is a file of megabytes, so the sample draws its own. The state is one rectangle, cut in two again and
again until each município, district or sector has a piece of exactly its area; municípios keep their place relative to
one another. Cuts are made in (longitude, authalic height), where area is a plain product, so areas are exact on the
GRS 80 ellipsoid of SIRGAS 2000 (EPSG:4674), and neighbours share their border to the last bit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.sample.facts import Facts

_AXIS_KM = 6378.137
_FLATTENING = 1 / 298.257222101
_E2 = _FLATTENING * (2 - _FLATTENING)
_E = math.sqrt(_E2)
_POLAR_KM = _AXIS_KM * (1 - _FLATTENING)
KM_PER_DEGREE = 111.0  # near enough for choosing which way to cut, and for margins


def height(latitude: float) -> float:
    """Authalic height of a parallel: km² per degree of longitude, counted from the equator."""
    sine = math.sin(math.radians(latitude))
    zone = sine / (1 - _E2 * sine * sine) + math.atanh(_E * sine) / _E
    return math.radians(1) * _POLAR_KM**2 / 2 * zone


def latitude(of_height: float) -> float:
    """The parallel of an authalic height (degrees), by bisection to the last bit."""
    low, high = -60.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if height(middle) < of_height else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of meridians and parallels, in degrees."""

    west: float
    south: float
    east: float
    north: float

    @property
    def area_km2(self) -> float:
        return (self.east - self.west) * (height(self.north) - height(self.south))

    @property
    def centre(self) -> tuple[float, float]:
        return (self.west + self.east) / 2, (self.south + self.north) / 2

    def point(self, across: float, up: float, margin_km: float = 0.7) -> tuple[float, float]:
        """The point at fractions (0..1) of the box, kept `margin_km` from its sides where it is wide enough."""
        margin = margin_km / KM_PER_DEGREE
        x, y = min(margin, (self.east - self.west) * 0.45), min(margin, (self.north - self.south) * 0.45)
        return (
            self.west + x + across * (self.east - self.west - 2 * x),
            self.south + y + up * (self.north - self.south - 2 * y),
        )


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that needs an area. `longitude` and `latitude` (or a place in a list) say which side it falls on."""

    key: str
    area: float
    longitude: float = 0.0
    latitude: float = 0.0


def cut(box: Box, pieces: Sequence[Piece]) -> dict[str, Box]:
    """Share a box out among pieces in proportion to their areas."""
    if len(pieces) == 1:
        return {pieces[0].key: box}
    wide = (box.east - box.west) * math.cos(math.radians(box.centre[1])) >= box.north - box.south
    ordered = sorted(pieces, key=lambda piece: piece.longitude if wide else piece.latitude)
    total, before, best = sum(piece.area for piece in ordered), 0.0, (math.inf, 0, 0.0)
    for position, piece in enumerate(ordered[:-1], start=1):
        before += piece.area
        best = min(best, (abs(before - total / 2), position, before / total))
    _, position, share = best
    if wide:
        edge = box.west + share * (box.east - box.west)
        first, second = Box(box.west, box.south, edge, box.north), Box(edge, box.south, box.east, box.north)
    else:
        south, north = height(box.south), height(box.north)
        edge = latitude(south + share * (north - south))
        first, second = Box(box.west, box.south, box.east, edge), Box(box.west, edge, box.east, box.north)
    return cut(first, ordered[:position]) | cut(second, ordered[position:])


def districts(facts: Facts) -> dict[str, Box]:
    """The box of every district of a state: its AREA_KM2 exactly, inside its município's."""
    places = [m for m in facts.municipalities.values() if m.longitude is not None and m.latitude is not None]
    areas = {code: sum(float(district.area_km2) for district in parts) for code, parts in facts.by_municipality.items()}
    pieces = [
        Piece(m.code, areas[m.code], m.longitude or 0.0, m.latitude or 0.0) for m in facts.municipalities.values()
    ]
    if places:
        south, north = min(m.latitude or 0 for m in places) - 0.15, max(m.latitude or 0 for m in places) + 0.15
        middle = sum(m.longitude or 0 for m in places) / len(places)
    else:  # no positions at hand: a band somewhere in Brazil
        south, north, middle = -14.0, -10.0, -50.0
    width = sum(areas.values()) / (height(north) - height(south))
    boxes = cut(Box(middle - width / 2, south, middle + width / 2, north), pieces)
    found: dict[str, Box] = {}
    for code, parts in facts.by_municipality.items():
        largest_first = sorted(parts, key=lambda district: -float(district.area_km2))
        found |= cut(boxes[code], [Piece(part.code, float(part.area_km2)) for part in largest_first])
    return dict(sorted(found.items()))
