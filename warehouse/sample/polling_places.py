"""Polling places, simulated: where they are, who votes there, and what a district's story does to them."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from warehouse.sample.facts import District, Facts
from warehouse.sample.layout import Box
from warehouse.sample.sectors import share
from warehouse.sample.story import Story

Point = tuple[float, float]  # longitude, latitude in degrees
_CITIES_WITH_ZONES = 100_000  # people; each such município has two electoral zones


@dataclass(frozen=True, slots=True)
class Place:
    """A polling place: where it is, what it is called, the voters of its sections. `point` is (longitude, latitude)."""

    uf: str
    tse_code: str
    municipality_name: str
    zone: int
    number: int
    name: str
    address: str
    bairro: str
    point: Point | None
    point_2024: Point | None
    sections: tuple[tuple[int, int], ...]  # (NR_SECAO, voters)
    kind: int = 1
    is_blocked: bool = False
    moved_to: "Place | None" = None  # where its first two sections vote this time
    joins_sections: bool = False  # its second section votes with its first
    has_second_round: bool = False  # in 2024


def _voters(facts: Facts, chance: random.Random) -> dict[str, int]:
    """Voters of each district: 75 to 78 % of its município's latest estimate, shared as the census counts."""
    latest = facts.estimates[max(facts.estimates)]
    found: dict[str, int] = {}
    for code, parts in facts.by_municipality.items():
        total = round(latest[code] * chance.uniform(0.75, 0.78))
        counted = share(total, [part.population for part in parts])
        found |= {part.code: amount for part, amount in zip(parts, counted, strict=True)}
    return found


def _near_border(box: Box, chance: random.Random) -> Point:
    """A point 100 to 300 m from the box's southern or western side."""
    x, y = box.point(chance.random(), chance.random(), 0.1)
    metres = chance.uniform(0.1, 0.3) / 111.0
    return (x, box.south + metres) if chance.random() < 0.5 else (box.west + metres, y)


def _where(
    district: District, box: Box, seat: Box, index: int, story: Story, chance: random.Random
) -> tuple[Point | None, Point | None]:
    """The point of a place now, and in 2024."""
    inside = box.point(chance.random(), chance.random())
    if district.code in story.named_elsewhere:
        inside = seat.point(chance.random(), chance.random())
    if district.code in story.near_borders:
        inside = _near_border(box, chance)
    if district.code in story.named_only | story.hand_supplied:
        return None, None
    if district.code in story.last_election_only and index % 2:
        return None, inside
    return inside, inside


def _bairro(district: District, index: int, story: Story) -> str:
    name = district.name.upper()
    if district.code in story.hand_supplied:
        return "ZONA RURAL"
    if district.code in story.parentheses:
        return f"CENTRO ({name})"
    if district.is_seat:
        return "CENTRO" if index == 0 else f"BAIRRO {index}"
    if district.code in story.named_elsewhere:
        return f"{name}-DISTRITO"
    if district.code in story.named_only or index == 0:
        return name
    return (f"{name}-DISTRITO", f"BAIRRO {index}", f"DISTRITO DE {name}", "ZONA RURAL")[index % 4]


def _of_district(
    facts: Facts,
    district: District,
    split: Sequence[int],
    boxes: Mapping[str, Box],
    zones: Sequence[int],
    section_voters: int,
    chance: random.Random,
) -> list[Place]:
    """A district's places, yet without numbers: those are given out per município and zone."""
    municipality = facts.municipalities[district.municipality]
    parts = facts.by_municipality[municipality.code]
    seat = next((part for part in parts if part.is_seat), parts[0])
    found = []
    for index, amount in enumerate(split):
        now, then = _where(district, boxes[district.code], boxes[seat.code], index, facts.story, chance)
        counts = share(amount, [1.0] * max(1, -(-amount // section_voters)))
        found.append(
            Place(
                *(facts.state.uf, municipality.tse_code, municipality.name.upper(), zones[index % len(zones)], 0),
                *(
                    "",
                    f"RUA SIMULADA {district.code[-4:]}, {index + 10}",
                    _bairro(district, index, facts.story),
                    now,
                    then,
                ),
                tuple((0, count) for count in counts),
            )
        )
    return found


def _with_story(story: Story, code: str, places: list[Place], last_of_seat: int) -> list[Place]:
    """The places of a município with what its story says happens there."""
    first, last = places[0], places[last_of_seat]
    if code in story.unassigned:
        places[last_of_seat] = replace(last, point=None, point_2024=None, bairro="ZONA RURAL")
    if code in story.outside:
        places[last_of_seat] = replace(last, point=(-38.5, -20.3), point_2024=None, bairro="CENTRO")
    if code in story.blocked:
        places[0] = replace(first, is_blocked=True)
    if code in story.aggregated:
        places[0] = replace(first, joins_sections=True)
    if code in story.prison:
        prison = ((0, 180),)
        places.append(replace(last, bairro="COMPLEXO PENITENCIARIO", kind=3, sections=prison))
    if code in story.transit:
        places.append(replace(last, bairro="CENTRO", kind=2, sections=((0, 0),)))
    return places


def _numbered(story: Story, code: str, places: Iterable[Place]) -> list[Place]:
    """Numbers and names: place and section numbers start again in every município and zone, as TSE's do."""
    next_free: dict[int, tuple[int, int]] = {}
    found = []
    for place in places:
        number, section = next_free.get(place.zone, (1015, 1))
        next_free[place.zone] = (number + 11, section + len(place.sections))
        sections = tuple((section + i, count) for i, (_, count) in enumerate(place.sections))
        name = f"ESCOLA SIMULADA {place.zone}-{number}"
        found.append(replace(place, number=number, name=name, sections=sections))
    if code in story.odd_names:
        found[0] = replace(found[0], name='ESCOLA SIMULADA "PROFESSORA ANITA"')
        found[1] = replace(found[1], name="ESCOLA SIMULADA PAU D\u2019ALHO")
    if code in story.second_round_2024:
        found = [replace(place, has_second_round=True) for place in found]
    if code in story.relocated:
        found[0] = replace(found[0], moved_to=found[2])
    return found


def places(facts: Facts, boxes: Mapping[str, Box], place_voters: int = 1600, section_voters: int = 380) -> list[Place]:
    """Every polling place of a state. Larger `place_voters` and `section_voters` make fewer rows."""
    chance = random.Random(f"{facts.state.uf} polling places")  # noqa: S311 (a simulation: the same every time)
    voters, story = _voters(facts, chance), facts.story
    found: list[Place] = []
    for order, (code, parts) in enumerate(facts.by_municipality.items(), start=1):
        for part in parts:
            if part.code in story.without_places:
                voters[parts[0].code] += voters.pop(part.code)
        crowded = sum(part.population for part in parts) > _CITIES_WITH_ZONES
        zones = (order, 100 + order) if crowded else (order,)
        local, last_of_seat = [], 0
        for part in parts:
            total = voters.get(part.code, 0)
            split = share(total, [1.0] * max(1, round(total / place_voters))) if total else []
            local += _of_district(facts, part, split, boxes, zones, section_voters, chance)
            last_of_seat = last_of_seat or len(local) - 1
        found += _numbered(story, code, _with_story(story, code, local, last_of_seat))
    return found


def elsewhere() -> list[Place]:
    """A few places that are not the state's: two abroad (ZZ) and one at the equator, as in the national file."""
    abroad = replace(
        Place("ZZ", "30228", "NOVA YORK", 1, 1082, "SIMULATED COLLEGE", "1 SIMULATED ST", "CENTRO", None, None, ()),
        sections=((290, 347), (291, 251)),
    )
    munich = replace(abroad, tse_code="30180", municipality_name="MUNIQUE", number=1031, sections=((112, 251),))
    macapa = Place(
        *("AP", "06050", "MACAPÁ", 14, 1074, "ESCOLA SIMULADA", "RUA SIMULADA 269", "CENTRO"),
        *((-51.049995, 0.0436565), (-51.049995, 0.0436565), ((34, 324), (42, 316))),
    )
    return [abroad, munich, macapa]
