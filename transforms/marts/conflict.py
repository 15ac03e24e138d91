"""Areas of one origin that may each leave it, but not together (art. 2º, § 1º, read jointly).

For every município with several viable, non-overlapping areas, the sets that together would surely lose it a
requirement: every minimal set for up to 12 areas, pairs beyond that.
"""

from itertools import combinations

import polars as pl

from transforms.core.figures import FIGURES, DistrictFigures
from transforms.core.remainder import KEYS, after
from transforms.marts.origin_result import LOST, origin_result
from transforms.rules.evaluator import Reference
from transforms.rules.reading import RuleSet

EXACT_UP_TO = 12


def minimal_conflicts(
    rule_set: RuleSet,
    viable: pl.DataFrame,
    taken: pl.DataFrame,
    area_district: pl.DataFrame,
    origin: pl.DataFrame,
    municipality: pl.DataFrame,
    known: DistrictFigures,
    reference: Reference,
) -> pl.DataFrame:
    """Minimal conflicting sets: municipality_code, set_id, area_id. `viable`: area_id of areas not ineligible alone.

    `taken`: what each area takes from each origin (core.remainder.parts); `origin`: FIGURES before.
    """
    candidates = taken.join(viable.select("area_id"), on="area_id", how="semi").select(KEYS)
    districts = {
        key[0]: frozenset(rows["district_code"]) for key, rows in area_district.group_by("area_id", maintain_order=True)
    }
    pool = {
        str(key[0]): sorted(rows["area_id"])
        for key, rows in candidates.group_by("municipality_code")
        if rows.height > 1
    }
    found: list[tuple[str, frozenset[str]]] = []
    largest = max(
        (min(len(areas), EXACT_UP_TO) if len(areas) <= EXACT_UP_TO else 2 for areas in pool.values()), default=1
    )
    for size in range(2, largest + 1):
        sets = [
            (code, frozenset(chosen))
            for code, areas in pool.items()
            if size == 2 or len(areas) <= EXACT_UP_TO
            for chosen in combinations(areas, size)
            if not any(code == c and smaller <= set(chosen) for c, smaller in found)
            and _disjoint([districts[area] for area in chosen])
        ]
        found += _losing(sets, rule_set, taken, area_district, origin, municipality, known, reference)
    rows = [
        (code, "+".join(sorted(areas)), area)
        for code, areas in sorted(found, key=lambda each: (each[0], sorted(each[1])))
        for area in sorted(areas)
    ]
    return pl.DataFrame(rows, schema=["municipality_code", "set_id", "area_id"], orient="row").cast(pl.String)


def _disjoint(members: list[frozenset[str]]) -> bool:
    return len(frozenset().union(*members)) == sum(map(len, members))


def _losing(
    sets: list[tuple[str, frozenset[str]]],
    rule_set: RuleSet,
    taken: pl.DataFrame,
    area_district: pl.DataFrame,
    origin: pl.DataFrame,
    municipality: pl.DataFrame,
    known: DistrictFigures,
    reference: Reference,
) -> list[tuple[str, frozenset[str]]]:
    """The sets whose joint departure surely loses the município a requirement. All sets are judged at once."""
    if not sets:
        return []
    named = {f"{code}+{'+'.join(sorted(areas))}": (code, areas) for code, areas in sets}
    member = pl.DataFrame(
        [(name, code, area) for name, (code, areas) in named.items() for area in areas],
        schema=["set_id", "municipality_code", "area_id"],
        orient="row",
    )
    leaving = (
        member.join(taken, on=KEYS, validate="m:1")
        .group_by("set_id", "municipality_code")
        .agg(pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).sum()).alias(name) for name in FIGURES)
        .rename({"set_id": "area_id"})
    )
    districts = member.join(area_district, on=KEYS).select(pl.col("set_id").alias("area_id"), "district_code")
    remainder = after(leaving, districts, origin, known)
    judged = origin_result(rule_set, origin, remainder, municipality, reference)
    return [named[name] for name in judged.filter(pl.col("verdict") == LOST)["area_id"].unique().sort()]


def same_origin_conflict(conflicts: pl.DataFrame) -> pl.DataFrame:
    """One row per area in any minimal conflict: area_id, same_origin_conflict (the other areas, joined by |)."""
    others = conflicts.join(conflicts.rename({"area_id": "other"}), on=["municipality_code", "set_id"])
    return (
        others.filter(pl.col("area_id") != pl.col("other"))
        .group_by("area_id")
        .agg(pl.col("other").unique().sort().str.join("|").alias("same_origin_conflict"))
    )
