"""mart.joint_departure: which areas can leave a município together, as the largest such sets (art. 2º, § 1º)."""

from collections.abc import Sequence

import polars as pl

from transforms.columns import MUNICIPALITY, MUNICIPALITY_NAME, RULE_SET
from transforms.marts.conflict import EXACT_UP_TO, Joint
from transforms.rules.evaluator import NOT_MET, UNDETERMINED
from transforms.rules.reading import RuleSet
from transforms.schema import Column, Kind, Table, Unit

TABLE = Table(
    name="mart.joint_departure",
    title="Saídas conjuntas",
    grain="one row per rule set, município with several viable areas, and maximal set of them that can leave together",
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
    by_municipality: dict[str, list[Joint]] = {}
    for each in joint:
        by_municipality.setdefault(each.municipality_code, []).append(each)
    rows = []
    for key, group in viable.group_by("municipality_code", maintain_order=True):
        code, count = str(key[0]), group.height
        if count < 2:
            continue
        sets = {frozenset([name]): UNDETERMINED if open_ else "kept" for name, open_ in _singles(group)}
        judged = by_municipality.get(code, [])
        sets |= {each.areas: each.verdict for each in judged if each.verdict != NOT_MET}
        maximal: list[frozenset[str]] = []
        for areas, verdict in sorted(sets.items(), key=lambda each: -len(each[0])):
            if not any(areas < other for other in maximal):
                maximal.append(areas)
                ordered = sorted(areas)
                rows.append(
                    {
                        "rule_set": rule_set.id,
                        "municipality_code": code,
                        "municipality_name": of_municipality[code],
                        "area_ids": "|".join(ordered),
                        "area_names": "|".join(names[name] for name in ordered),
                        "areas": len(ordered),
                        "viable_areas": count,
                        "verdict": UNDETERMINED if verdict == UNDETERMINED else "kept",
                        "is_exact": count <= EXACT_UP_TO,
                    }
                )
    return TABLE.frame(rows)


def _singles(group: pl.DataFrame) -> list[tuple[str, bool]]:
    return [(str(name), bool(open_)) for name, open_ in group.select("area_id", "undetermined").iter_rows()]
