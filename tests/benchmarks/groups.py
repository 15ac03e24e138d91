"""The search for groups on an invented state the size of Minas Gerais: 1,817 districts in 853 municípios.

Prints seconds and how many sets were found, by contiguity and by how much is known. `python -m tests.benchmarks.groups`
"""

import random
import sys
import time
from math import isqrt

import polars as pl

from tests.states import Invented, rules
from transforms.codes import check_digit
from transforms.core.neighbour import TABLE as NEIGHBOUR
from transforms.core.remainder import before
from transforms.judgement import reference_of
from transforms.marts.origin_result import had_before
from transforms.marts.viable_group import viable_group
from transforms.screen import entities_and_measures

MUNICIPALITIES, DISTRICTS = 853, 1817


def invented(*, money: bool) -> tuple[Invented, list[str]]:
    """Seats of 3,000 to 80,000 people; other districts of 300 to 15,000, most of them small."""
    chance = random.Random(1817)
    state, codes = Invented(state_estimate=20_000_000), []
    extra = [1 + (place < DISTRICTS - 2 * MUNICIPALITIES + 300) for place in range(MUNICIPALITIES)]
    while sum(extra) + MUNICIPALITIES > DISTRICTS:
        extra[chance.randrange(MUNICIPALITIES)] = 0
    for place in range(MUNICIPALITIES):
        six = f"31{place + 1:04d}"
        code = six + check_digit(six)
        for number in range(extra[place] + 1):
            people = int(3_000 * chance.paretovariate(0.8)) if number == 0 else int(500 * chance.paretovariate(0.7))
            people = min(people, 400_000 if number == 0 else 15_000)
            district = f"{code}{5 * (number + 1):02d}"
            state.district(district, people, voters=int(people * 0.7), houses=people // 5)
            codes.append(district)
        if money:
            state.collection(code, f"{chance.randrange(20_000, 900_000)}.00")
    if money:
        state.state_tax = None
    return state, codes


def grid(codes: list[str]) -> pl.DataFrame:
    """Districts laid out row by row, each beside the four around it: more neighbours than most have."""
    side = isqrt(len(codes)) + 1
    rows = [
        {
            "district_code": codes[a],
            "neighbour_code": codes[b],
            "same_municipality": codes[a][:7] == codes[b][:7],
            "border_m": 1.0,
        }
        for a in range(len(codes))
        for b in (a - 1, a + 1, a - side, a + side)
        if 0 <= b < len(codes)
    ]
    return NEIGHBOUR.frame(rows)


def main() -> None:
    for name, money in (("lc_1_1967", False), ("lc_1_1967", True), ("mg_lc_37_1995", False), ("sp_lc_651_1990", False)):
        law = rules(name)
        state, codes = invented(money=money)
        core, known = entities_and_measures(state.staged(), state.scope, frozenset())
        origin = before(core["core.municipality"], known)
        reference = reference_of(core, origin, [law])
        had = had_before(law, origin, reference)
        for mesh, by in ((grid(codes), "mesh"), (core["core.neighbour"], "município")):
            started = time.perf_counter()
            found = viable_group(law, {**core, "core.neighbour": mesh}, known, origin, had, reference)
            seconds = time.perf_counter() - started
            what = f"{name}, by {by}, collections {'known' if money else 'unknown'}"
            whole = "" if found["is_complete"].all() else ", not complete"
            sys.stdout.write(f"{what}: {found.height} groups in {seconds:.1f} s{whole}\n")


if __name__ == "__main__":
    main()
