"""mart.rule_arm: what each rule set asks, as rows: the law beside its verdicts, for queries and for the checks."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, get_args

import polars as pl

from transforms.columns import RULE_SET
from transforms.marts.requirement_result import REQUIREMENT
from transforms.rules.reading import REGIONS, Comparison, RuleSet
from transforms.schema import Column, Kind, Table, Unit

TABLE = Table(
    name="mart.rule_arm",
    title="Limites das regras",
    grain="One row per comparison of a requirement; a requirement is met when any of its comparisons is",
    key=("rule_set", "requirement", "arm", "region"),
    columns=(
        RULE_SET,
        REQUIREMENT,
        Column("arm", Kind.INTEGER, "Number of the comparison in it.", "Alternativa", Unit.COUNT, minimum=1),
        Column(
            "region",
            Kind.TEXT,
            "Region it is for; empty where it is for all.",
            "Região da regra",
            values=("", *REGIONS),
        ),
        Column("measured", Kind.TEXT, "What of the area is compared.", "O que se mede"),
        Column("test", Kind.TEXT, "How, in the words of rule files.", "Teste", values=get_args(Comparison)),
        Column("limit_as_written", Kind.TEXT, "Figure or share, as the rule set writes it.", "Limite", nullable=True),
        Column("share_of", Kind.TEXT, "What it is a share of.", "Parcela de", nullable=True),
    ),
)


def rule_arm(rule_set: RuleSet) -> pl.DataFrame:
    """Every comparison of one rule set."""
    return TABLE.frame({"rule_set": rule_set.id, **row} for row in _rows(rule_set))


def _rows(rule_set: RuleSet) -> Iterator[dict[str, Any]]:
    for requirement in rule_set.requirements:
        for number, arm in enumerate(requirement.arms, 1):
            limits: Mapping[str, Fraction | None] = arm.by_region or {"": arm.threshold}
            for region, limit in limits.items():
                yield {
                    "requirement": requirement.name,
                    "arm": number,
                    "region": region,
                    "measured": arm.measure,
                    "test": arm.comparison,
                    "limit_as_written": None if limit is None else _written(limit),
                    "share_of": arm.of or None,
                }


def _written(limit: Fraction) -> str:
    """Exactly: thresholds are decimals of at most twelve places."""
    return f"{Decimal(limit.numerator) / Decimal(limit.denominator):f}"
