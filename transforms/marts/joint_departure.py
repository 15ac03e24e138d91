"""mart.joint_departure: which areas can leave a município together, as the largest such sets (art. 2º, § 1º)."""

from collections.abc import Iterable, Sequence

import polars as pl

from transforms.columns import MUNICIPALITY, MUNICIPALITY_NAME, RULE_SET
from transforms.marts.conflict import EXACT_UP_TO, Joint
from transforms.rules.evaluator import MET, NOT_MET, UNDETERMINED
from transforms.rules.reading import RuleSet
from transforms.schema import Column, Kind, Table, Unit

TABLE = Table(
    name="mart.joint_departure",
    title="Saídas conjuntas",
    grain="One row per rule set, município with several viable areas, and maximal set of them that can leave together",
    key=("rule_set", "municipality_code", "area_ids"),
    columns=(
        RULE_SET,
        MUNICIPALITY,
        MUNICIPALITY_NAME,
        Column("area_ids", Kind.TEXT, "The areas of the set, joined by |.", "Áreas"),
        Column("area_names", Kind.TEXT, "Their names, in the same order, joined by |.", "Nomes das áreas"),
        Column("areas", Kind.INTEGER, "How many.", "Quantidade", Unit.COUNT, minimum=1),
        Column("viable_areas", Kind.INTEGER, "Of how many viable ones.", "Áreas viáveis", Unit.COUNT, minimum=2),
        Column(
            "verdict",
            Kind.TEXT,
            "Kept: the município surely loses nothing. Undetermined: no loss is sure, nor excluded.",
            "Resultado",
            values=("kept", "undetermined"),
        ),
        Column(
            "is_exact",
            Kind.BOOLEAN,
            f"Whether every set was judged (up to {EXACT_UP_TO} viable areas) or only pairs.",
            "Exato",
        ),
    ),
    may_be_empty=True,
)


def joint_departure(
    rule_set: RuleSet, joint: Sequence[Joint], viable: pl.DataFrame, area: pl.DataFrame, municipality: pl.DataFrame
) -> pl.DataFrame:
    """`viable`: area_id and municipality_code of areas not ineligible, and whether their departure is undetermined."""
    names = dict(area.select("area_id", "area_name").iter_rows())
    of_municipality = dict(municipality.select("municipality_code", "municipality_name").iter_rows())
    leaving: dict[str, dict[frozenset[str], str]] = {}
    for each in joint:
        if each.verdict != NOT_MET:
            leaving.setdefault(each.municipality_code, {})[each.areas] = each.verdict
    rows = []
    for key, group in viable.group_by("municipality_code", maintain_order=True):
        code, count = str(key[0]), group.height
        sets = _alone(group) | leaving.get(code, {})
        rows += [
            {
                "rule_set": rule_set.id,
                "municipality_code": code,
                "municipality_name": of_municipality[code],
                "area_ids": "|".join(sorted(areas)),
                "area_names": "|".join(names[area] for area in sorted(areas)),
                "areas": len(areas),
                "viable_areas": count,
                "verdict": UNDETERMINED if sets[areas] == UNDETERMINED else "kept",
                "is_exact": count <= EXACT_UP_TO,
            }
            for areas in (_maximal(sets) if count > 1 else ())
        ]
    return TABLE.frame(rows)


def _alone(group: pl.DataFrame) -> dict[frozenset[str], str]:
    """The verdict on each area leaving by itself."""
    rows = group.select("area_id", "undetermined").iter_rows()
    return {frozenset([area]): UNDETERMINED if is_open else MET for area, is_open in rows}


def _maximal(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """The sets that no other contains."""
    found: list[frozenset[str]] = []
    for areas in sorted(sets, key=len, reverse=True):
        if not any(areas < other for other in found):
            found.append(areas)
    return found
