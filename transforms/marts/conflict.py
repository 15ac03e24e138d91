"""Areas of one origin that may each leave it, but not together (art. 2º, § 1º, read jointly).

For every município with several viable areas, every set of them that does not overlap is judged as if it left at
once: all sets for up to 12 areas, pairs beyond that. Losing is not monotone (a share of voters can recover), so no
set is inferred from another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from transforms.core.figures import FIGURES, DistrictFigures, figures, total
from transforms.core.remainder import KEYS, after
from transforms.marts.origin_result import origin_verdicts, standing
from transforms.rules.evaluator import MET, NOT_MET, UNDETERMINED
from transforms.rules.reading import Reading, RuleSet
from transforms.rules.reference import Reference

EXACT_UP_TO = 12


@dataclass(frozen=True, slots=True)
class Joint:
    """A set of areas leaving one município together. `verdict`: met if it surely loses nothing, not_met if it surely
    loses, else undetermined. `exact`: whether all sets of the município were judged, not only pairs.
    """

    municipality_code: str
    areas: frozenset[str]
    verdict: str
    exact: bool


def joint_departures(
    rule_set: RuleSet,
    viable: pl.DataFrame,
    taken: pl.DataFrame,
    area_district: pl.DataFrame,
    origin: pl.DataFrame,
    had: pl.DataFrame,
    known: DistrictFigures,
    reference: Reference,
) -> list[Joint]:
    """Every set of two or more, by município, size and areas. `viable`: municipality_code and area_id of areas not
    ineligible alone.

    `taken`: what each area takes from each origin (core.remainder.parts); `origin`: FIGURES before; `had`: what
    they came to.
    """
    by_origin = viable.select("municipality_code", "area_id").rows_by_key("municipality_code")
    pool = {code: sorted(area for (area,) in rows) for code, rows in by_origin.items()}
    of_areas = area_district.select("area_id", "district_code").rows_by_key("area_id")
    districts = {area: frozenset(code for (code,) in rows) for area, rows in of_areas.items()}
    sets = [(code, chosen) for code in sorted(pool) for chosen in _disjoint_sets(pool[code], districts)]
    if not sets or rule_set.origin is None:
        return []
    member = pl.DataFrame(
        [(str(place), code, area) for place, (code, chosen) in enumerate(sets) for area in chosen],
        schema=["set_id", "municipality_code", "area_id"],
        orient="row",
    )
    members = member.join(area_district, on=KEYS).select(
        pl.col("set_id").alias("area_id"), "municipality_code", "district_code"
    )
    leaving = _together(member.join(taken, on=KEYS, validate="m:1"), members, known)
    judged = origin_verdicts(rule_set, had, after(leaving, members, origin, known), reference)
    verdicts = _verdicts(judged, rule_set.origin.reading)
    return [
        Joint(code, frozenset(chosen), verdicts[str(place)], len(pool[code]) <= EXACT_UP_TO)
        for place, (code, chosen) in enumerate(sets)
    ]


def _disjoint_sets(areas: Sequence[str], districts: Mapping[str, frozenset[str]]) -> list[tuple[str, ...]]:
    largest = len(areas) if len(areas) <= EXACT_UP_TO else 2
    return [
        chosen
        for size in range(2, largest + 1)
        for chosen in combinations(areas, size)
        if len(frozenset().union(*(districts[area] for area in chosen))) == sum(len(districts[a]) for a in chosen)
    ]


def _together(parts: pl.DataFrame, members: pl.DataFrame, known: DistrictFigures) -> pl.DataFrame:
    """What each set takes: its areas' figures summed, and no more voters or money than its districts can have."""
    summed = parts.group_by("set_id", "municipality_code").agg(map(total, FIGURES)).rename({"set_id": "area_id"})
    union = figures(members, KEYS, known).select(*KEYS, pl.col("electorate_high", "collection_high").name.suffix("_"))
    capped = [
        pl.max_horizontal(f"{measure}_low", pl.min_horizontal(f"{measure}_high", f"{measure}_high_")).alias(
            f"{measure}_high"
        )
        for measure in ("electorate", "collection")
    ]
    return summed.join(union, on=KEYS, validate="1:1").with_columns(capped).select(*KEYS, *FIGURES)


def _verdicts(judged: pl.DataFrame, reading: Reading) -> dict[str, str]:
    stands = standing(reading)
    lost, open_ = (stands == NOT_MET).any(), (stands == UNDETERMINED).any()
    rows = judged.group_by("area_id").agg(
        pl.when(lost).then(pl.lit(NOT_MET)).when(open_).then(pl.lit(UNDETERMINED)).otherwise(pl.lit(MET))
    )
    return dict(rows.iter_rows())


def same_origin_conflict(joint: Sequence[Joint]) -> pl.DataFrame:
    """One row per area in any minimal losing set: area_id, same_origin_conflict (the other areas, joined by |)."""
    minimal: dict[str, list[frozenset[str]]] = {}
    others: dict[str, set[str]] = {}
    for each in sorted((each for each in joint if each.verdict == NOT_MET), key=lambda each: len(each.areas)):
        smaller = minimal.setdefault(each.municipality_code, [])
        if not any(found < each.areas for found in smaller):
            smaller.append(each.areas)
            for area in each.areas:
                others.setdefault(area, set()).update(each.areas - {area})
    rows = [(area, "|".join(sorted(found))) for area, found in sorted(others.items())]
    return pl.DataFrame(rows, schema={"area_id": pl.String, "same_origin_conflict": pl.String}, orient="row")
