"""The search for groups finds what trying every set by hand finds, no more and no less."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import combinations, pairwise
from typing import Any

import polars as pl
import pytest

from tests.states import Invented, rules, screened
from transforms.core.figures import DistrictFigures
from transforms.core.neighbour import TABLE as NEIGHBOUR
from transforms.core.remainder import before
from transforms.judgement import reference_of
from transforms.marts.origin_result import had_before
from transforms.marts.viable_group import viable_group
from transforms.rules.reading import RuleSet
from transforms.screen import Frames, entities_and_measures

# Two municípios side by side. A to D leave the first, E to G the second; the map is a line with one loop.
A, B, C, D = (f"3106200{suffix}" for suffix in (10, 15, 20, 25))
E, F, G = (f"3106903{suffix}" for suffix in (10, 15, 20))
PEOPLE = {A: 4_000, B: 3_000, C: 3_500, D: 12_000, E: 2_000, F: 6_500, G: 900}
HOUSES = {A: 150, B: 201, C: 90, D: 250, E: 300, F: 120, G: 10}
BORDERS = [(A, B), (B, C), (C, A), (C, E), (E, F), (F, G), (D, F)]


def invented(*, money: str = "certified", seat: int = 30_000, placeless: str = "", uncounted: str = "") -> Invented:
    state = Invented(state_estimate=8_000_000)
    for code in ("310620005", "310690305"):
        state.district(code, seat, voters=seat // 3, houses=900)
        state.collection(code, "500000.00")
    for code, people in PEOPLE.items():
        voters = None if code == placeless else people // 2
        state.district(code, None if code == uncounted else people, voters=voters, houses=HOUSES[code])
        if money == "certified":
            state.collection(code, f"{people * 5}.00")
    if money != "unknown":
        state.collection("3106200", "700000.00")
        state.collection("3106903", "700000.00")
    state.district("310630105", 8_000_000 - 2 * seat - sum(PEOPLE.values()))
    return state


def mesh(borders: list[tuple[str, str]], length: float = 900.0) -> pl.DataFrame:
    both = [pair for a, b in borders for pair in ((a, b), (b, a))]
    rows = [
        {"district_code": a, "neighbour_code": b, "same_municipality": a[:7] == b[:7], "border_m": length}
        for a, b in both
    ]
    return NEIGHBOUR.frame(rows)


def groups(
    state: Invented, law: RuleSet, borders: pl.DataFrame | None = None, largest: int = 5, most: int = 1_000
) -> pl.DataFrame:
    core, known = entities_and_measures(state.staged(), state.scope, frozenset())
    borders = mesh(BORDERS) if borders is None else borders
    return viable_group(
        law, {**core, "core.neighbour": borders}, *judged_by(law, core, known), largest=largest, most=most
    )


def judged_by(law: RuleSet, core: Frames, known: DistrictFigures) -> tuple[Any, ...]:
    """What districts and their municípios have, and what they are compared with."""
    origin = before(core["core.municipality"], known)
    reference = reference_of(core, origin, [law])
    return known, origin, had_before(law, origin, reference), reference


def is_connected(chosen: tuple[str, ...], borders: list[tuple[str, str]]) -> bool:
    reached, edge = {chosen[0]}, [chosen[0]]
    while edge:
        here = edge.pop()
        near = {b for a, b in borders if a == here} | {a for a, b in borders if b == here}
        edge += sorted((near & set(chosen)) - reached)
        reached |= near & set(chosen)
    return reached == set(chosen)


SURE: Mapping[tuple[str, str | None], int] = {
    ("eligible", None): 3,
    ("undetermined", "likely_eligible"): 2,
    ("undetermined", "unknown"): 1,
}


def by_hand(state: Invented, law: RuleSet, largest: int) -> Iterator[tuple[str, int]]:
    """Every contiguous set handed in as a candidate, screened, and the smallest of each sureness kept."""
    sets = [
        chosen
        for size in range(1, largest + 1)
        for chosen in combinations(sorted(PEOPLE), size)
        if is_connected(chosen, BORDERS)
    ]
    for chosen in (each for each in sets if len(each) > 1):
        state.candidate("+".join(chosen), "group", chosen)
    rows = screened(state, law)["mart.eligibility"].select("area_id", "status", "likely").iter_rows()
    sure = {frozenset(area.split("+")): SURE.get((status, likely), 0) for area, status, likely in rows}
    for area, found in ((frozenset(each), sure[frozenset(each)]) for each in sets if len(each) > 1):
        smaller = [frozenset(part) for size in range(1, len(area)) for part in combinations(sorted(area), size)]
        if found and all(sure.get(part, 0) < found for part in smaller if is_connected(tuple(part), BORDERS)):
            yield "|".join(sorted(area)), found


@pytest.mark.parametrize("name", ["lc_1_1967", "mg_lc_37_1995", "rs_lc_9070_1990", "plp_137_2015", "sp_lc_651_1990"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"money": "apportioned"},
        {"money": "unknown"},
        {"seat": 8_000},
        {"placeless": B},
        {"seat": 8_000, "uncounted": G},
    ],
    ids=["certified", "apportioned", "unknown", "small seats", "placeless", "uncounted"],
)
@pytest.mark.parametrize("largest", [4])
def test_the_search_finds_what_trying_every_set_finds(name: str, changes: Mapping[str, str], largest: int) -> None:
    law = rules(name)
    found = groups(invented(**changes), law, largest=largest)  # type: ignore[arg-type]
    sure = dict(
        zip(found["district_codes"], map(SURE.get, zip(found["status"], found["likely"], strict=True)), strict=True)
    )
    assert sure == dict(by_hand(invented(**changes), law, largest))  # type: ignore[arg-type]
    assert found["is_complete"].all()


def test_a_group_says_what_it_is() -> None:
    first, second = groups(invented(), rules()).rows(named=True)
    assert first["district_codes"] == f"{C}|{E}|{F}"
    assert first["municipality_codes"] == "3106200|3106903"
    assert first["municipality_names"] == "Município 3106200|Município 3106903"
    assert (first["rank"], first["status"], first["districts"], first["population"]) == (1, "eligible", 3, 12_000)
    assert second["district_codes"] == f"{A}|{B}|{C}"  # 10,500 people; its largest centre has 201 houses
    assert (second["rank"], second["smallest_margin"], second["contiguity"]) == (2, Decimal("0.0050"), "common border")


def test_districts_that_meet_in_a_point_are_not_contiguous() -> None:
    assert groups(invented(), rules(), mesh(BORDERS, 0.0)).height == 0


def test_without_a_mesh_the_municipality_is_the_neighbourhood() -> None:
    found = groups(invented(), rules(), NEIGHBOUR.frame())
    assert set(found["contiguity"]) == {"same município"}
    assert f"{A}|{B}|{C}" in found["district_codes"].to_list()
    assert not found["municipality_codes"].str.contains("|", literal=True).any()


def test_a_group_that_only_what_is_not_known_leaves_open_is_found() -> None:
    """At one end of a line a district without a count of its people, at the other one whose houses stand nobody knows
    how: each alone decides nothing, and all five are open on every requirement.
    """
    line = [D, A, B, C, E]
    state = Invented(state_estimate=8_000_000)
    state.district("310620005", 30_000, voters=10_000, houses=900)
    state.district("310690305", 30_000, voters=10_000)
    for code in line[:-1]:
        state.district(code, None if code == D else 3_000, voters=20, houses=45)
    state.district(E, 3_000, voters=20, dwellings=45)
    state.district("310630105", 7_900_000, voters=1_000_000)
    core, known = entities_and_measures(state.staged(), state.scope, frozenset())
    apart = known.districts.with_columns(clustered=pl.col("district_code") != E)
    core["core.neighbour"] = mesh(list(pairwise(line)))
    known = replace(known, districts=apart)
    found = viable_group(rules(), core, *judged_by(rules(), core, known), largest=5)
    assert found.select("district_codes", "status", "likely").rows() == [
        ("|".join(sorted(line)), "undetermined", "unknown")
    ]


def test_a_search_cut_short_says_so() -> None:
    found = groups(invented(), rules(), most=3)
    assert not found["is_complete"].any()
    assert found["district_codes"].to_list() == groups(invented(), rules(), most=3)["district_codes"].to_list()
