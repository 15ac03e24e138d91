"""mart.origin_result: what each município of origin has before an area leaves and after (art. 2º, § 1º)."""

from collections.abc import Sequence

import polars as pl

from transforms.columns import AREA, ENDS, MUNICIPALITY, MUNICIPALITY_NAME, RULE_SET
from transforms.core.remainder import KEYS
from transforms.rules.evaluator import MET, NOT_MET, UNDETERMINED, evaluate
from transforms.rules.reading import Reading, Requirement, RuleSet
from transforms.rules.reference import Reference
from transforms.schema import Column, Kind, Table, Unit

KEPT, LOST, NEVER_HAD = "kept", "lost", "never_had"


def _figure(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.EXACT, description, label, Unit.VARIES, nullable=True)


TABLE = Table(
    name="mart.origin_result",
    title="Municípios de origem",
    grain="One row per area, rule set, município of origin and requirement of the area itself",
    key=("rule_set", "area_id", "municipality_code", "requirement"),
    columns=(
        RULE_SET,
        AREA,
        MUNICIPALITY,
        MUNICIPALITY_NAME,
        Column("requirement", Kind.TEXT, "Requirement the município must not lose.", "Requisito"),
        _figure("before_low", "The least the whole município can have.", "Antes: mínimo"),
        _figure("before_value", "What the whole município has.", "Antes: valor"),
        _figure("before_high", "The most the whole município can have.", "Antes: máximo"),
        _figure("after_low", "The least the remainder can have.", "Depois: mínimo"),
        _figure("after_value", "What the remainder would have.", "Depois: valor"),
        _figure("after_high", "The most the remainder can have.", "Depois: máximo"),
        _figure("threshold", "What the remainder is compared with.", "Limite"),
        Column(
            "verdict",
            Kind.TEXT,
            "Kept, lost, never had (not met before), or undetermined.",
            "Resultado",
            values=(KEPT, LOST, NEVER_HAD, UNDETERMINED),
        ),
    ),
    may_be_empty=True,
)
_BEFORE: dict[str, pl.DataType] = {
    "before_status": pl.String(),
    **{f"before_{end}": Kind.EXACT.polars for end in ENDS},
}
_MORE: dict[str, pl.DataType] = {
    "before_status": pl.String(),
    "after_status": pl.String(),
    "after_by_value": pl.Boolean(),
}


def origin_result(
    rule_set: RuleSet, had: pl.DataFrame, after: pl.DataFrame, municipality: pl.DataFrame, reference: Reference
) -> pl.DataFrame:
    """The declared columns, and `before_status`, `after_status` and `after_by_value`, which other marts need.

    `had`: see below; `after`: FIGURES by area_id and municipality_code (core.remainder).
    """
    if rule_set.origin is None:
        return pl.DataFrame(schema=TABLE.schema | _MORE)
    names = municipality.select("municipality_code", "municipality_name")
    judged = origin_verdicts(rule_set, had, after, reference, (*ENDS, "threshold"))
    named = judged.join(names, on="municipality_code", how="left", validate="m:1")
    return named.select(pl.lit(rule_set.id).alias("rule_set"), *TABLE.names[1:], *_MORE).sort(TABLE.key)


def had_before(rule_set: RuleSet, before: pl.DataFrame, reference: Reference) -> pl.DataFrame:
    """What each município has before anything leaves it: municipality_code, requirement, before_status, before_low,
    before_value, before_high. `before`: FIGURES by municipality_code.
    """
    shown = ("requirement", "status", *ENDS)
    asked = asked_of_origins(rule_set)
    had = [evaluate(each, before, reference, ["municipality_code"], shown) for each in asked]
    schema = {"municipality_code": pl.String(), "requirement": pl.String(), **_BEFORE}
    renamed = dict(zip(shown[1:], _BEFORE, strict=True))
    return pl.concat([pl.DataFrame(schema=schema), *(frame.rename(renamed) for frame in had)])


def origin_verdicts(
    rule_set: RuleSet, had: pl.DataFrame, after: pl.DataFrame, reference: Reference, also: Sequence[str] = ()
) -> pl.DataFrame:
    """KEYS, requirement, after_status, after_by_value, the columns of `had`, and verdict; and `also` what `evaluate`
    shows of the remainder. In no order. The rule set has an origin rule.
    """
    shown = ("requirement", "status", "by_value", *also)
    keeps = pl.concat([evaluate(each, after, reference, KEYS, shown) for each in asked_of_origins(rule_set)])
    named = keeps.rename({name: f"after_{name}" for name in ("status", "by_value", *ENDS) if name in shown})
    return named.join(had, on=["municipality_code", "requirement"], how="left", validate="m:1").with_columns(
        _verdict(pl.col("before_status"), pl.col("after_status")).alias("verdict")
    )


def asked_of_origins(rule_set: RuleSet) -> list[Requirement]:
    """The requirements that a município of origin may not lose."""
    return [rule_set.requirement(name) for name in rule_set.origin.requirements] if rule_set.origin else []


def _verdict(before: pl.Expr, after: pl.Expr) -> pl.Expr:
    return (
        pl.when(before == NOT_MET)
        .then(pl.lit(NEVER_HAD))
        .when(after == MET)
        .then(pl.lit(KEPT))
        .when((before == MET) & (after == NOT_MET))
        .then(pl.lit(LOST))
        .otherwise(pl.lit(UNDETERMINED))
    )


def standing(reading: Reading) -> pl.Expr:
    """How a row bears on its area: met, not_met or undetermined; null where there never was anything to lose."""
    if reading == "strict":
        return pl.col("after_status")
    found = {KEPT: MET, LOST: NOT_MET, UNDETERMINED: UNDETERMINED}
    return pl.col("verdict").replace_strict(found, default=None, return_dtype=pl.String)
