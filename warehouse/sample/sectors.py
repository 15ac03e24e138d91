"""Simulated census sectors: each district cut up, its published counts shared out so that they add up again.

Every district has one town (CD_SIT 1 and 2), whose share of the people depends on its size, and a countryside; some
have a hamlet (CD_SIT 5). What the story asks for, such as sectors too small to be published, comes from its story.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.sample import layout
from warehouse.sample.facts import District, Facts
from warehouse.sample.layout import Box, Piece
from warehouse.sample.story import Story

_PEOPLE = 1500  # in a sector, about; IBGE's own are smaller
_TOWN_DENSITY = 3000.0  # people per km²
_TYPES = (47, 48, 49, 50)  # house, house in a condominium, flat, rooms


@dataclass(frozen=True, slots=True)
class Sector:
    """A simulated sector: its code (15 digits), box, v0001..v0009 as text, and dwellings by type (V000nn → count)."""

    code: str
    situation_code: str
    box: Box
    counts: tuple[str, ...]
    dwellings: dict[int, int]

    @property
    def situation(self) -> str:
        return "Urbana" if self.situation_code in "123" else "Rural"

    @property
    def is_suppressed(self) -> bool:
        """Fewer than five private dwellings: IBGE publishes no themed figure."""
        return int(self.counts[2]) < 5


def share(total: int, weights: Sequence[float]) -> list[int]:
    """`total` in whole parts in proportion to weights, adding up exactly (the running sum is rounded)."""
    whole, running, given, parts = sum(weights), 0.0, 0, []
    for weight in weights:
        running += weight
        upto = round(total * running / whole) if whole else 0
        parts.append(upto - given)
        given = upto
    return parts


def _situations(district: District, story: Story) -> list[tuple[str, float]]:
    """The sectors of a district: situation code and weight in people, town first."""
    people = max(district.population, 1)
    town = story.urban_share.get(district.code) or (0.97 if people > 60_000 else 0.8 if people > 10_000 else 0.55)
    urban = max(1, round(people * town / _PEOPLE))
    rural = max(1, round(people * (1 - town) / _PEOPLE))
    parts = [("1" if i < (urban + 1) // 2 else "2", people * town / urban) for i in range(urban)]
    return parts + [("5" if i == 1 else "8", people * (1 - town) / rural) for i in range(rural)]


def _parts(district: District, story: Story) -> tuple[list[str], list[list[int]]]:
    """Situation codes, and for v0001, v0004, v0007, v0008, v0009 the district's count shared over its sectors."""
    situations = _situations(district, story)
    totals = [int(district.counts[i] or 0) for i in (0, 3, 6, 7, 8)]
    tiny = story.tiny_town_sectors.get(district.code, 0)
    weights = [weight for _, weight in situations]
    shared = [share(total, weights) for total in totals]
    codes = [code for code, _ in situations]
    if not tiny:
        return codes, shared
    # four dwellings to a sector, all occupied, taken from the first sector of the town
    for amounts, each in zip(shared, (11, 0, 4, 0, 0), strict=True):
        amounts[0] -= each * tiny
        amounts[1:1] = [each] * tiny
    return [codes[0], *["2"] * tiny, *codes[1:]], shared


def _sector(code: str, situation: str, box: Box, counts: Sequence[int], district: District) -> Sector:
    people, collective, occupied, occasional, vacant = counts
    private = occupied + occasional + vacant
    improvised = occupied // 400
    flats = 0.35 if district.population > 60_000 and situation == "1" else 0.04
    permanent = occupied - improvised
    types = share(permanent, [1 - flats - 0.03, 0.02, flats, 0.01])
    mean = f"{people / occupied:.1f}" if occupied else "0.0"
    values = (people, private + collective, private, collective)
    return Sector(
        code,
        situation,
        box,
        (*map(str, values), mean, district.counts[5] or "0.0000", *map(str, (occupied, occasional, vacant))),
        {1: permanent, 2: improvised} | dict(zip(_TYPES, types, strict=True)),
    )


def _of_district(district: District, box: Box, story: Story) -> list[Sector]:
    situations, shared = _parts(district, story)
    people = [max(amount, 1) for amount in shared[0]]
    in_town = [situation in "12" for situation in situations]
    crowd = sum(amount for amount, urban in zip(people, in_town, strict=True) if urban)
    town_km2 = min(crowd / _TOWN_DENSITY, box.area_km2 * (0.9 if not all(in_town) else 1))
    spare = box.area_km2 - town_km2
    outside = sum(people) - crowd
    areas = [
        town_km2 * amount / crowd if urban else spare * amount / outside
        for amount, urban in zip(people, in_town, strict=True)
    ]
    codes = [f"{district.code}00{number:04}" for number in range(1, len(situations) + 1)]
    pieces = [
        Piece(code, area, float(number), float(number))
        for number, (code, area) in enumerate(zip(codes, areas, strict=True))
    ]
    boxes = layout.cut(box, pieces)
    return [
        _sector(code, situation, boxes[code], counts, district)
        for code, situation, counts in zip(codes, situations, zip(*shared, strict=True), strict=True)
    ]


def sectors(facts: Facts, boxes: dict[str, Box]) -> dict[str, list[Sector]]:
    """The sectors of every district with people, by district code."""
    return {
        code: _of_district(district, boxes[code], facts.story)
        for code, district in facts.districts.items()
        if district.population
    }
