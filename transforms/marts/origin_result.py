"""mart.origin_result: what each município of origin has before an area leaves and after (art. 2º, § 1º)."""

import polars as pl

from transforms.columns import AREA, ENDS, MUNICIPALITY, MUNICIPALITY_NAME, RULE_SET
from transforms.core.remainder import KEYS
from transforms.rules.evaluator import MET, NOT_MET, UNDETERMINED, evaluate
from transforms.rules.reading import Reading, RuleSet
from transforms.rules.reference import Reference
from transforms.schema import Column, Kind, Table, Unit

KEPT, LOST, NEVER_HAD = "kept", "lost", "never_had"


def _figure(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.EXACT, description, label, Unit.VARIES, nullable=True)


TABLE = Table(
    name="mart.origin_result",
    title="Municípios de origem",
    grain="one row per area, rule set, município of origin and requirement of the area itself",
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
_MORE: dict[str, pl.DataType] = {
    "before_status": pl.String(),
    "after_status": pl.String(),
    "after_by_value": pl.Boolean(),
}


def origin_result(
    rule_set: RuleSet,
    before: pl.DataFrame,
    after: pl.DataFrame,
    municipality: pl.DataFrame,
    reference: Reference,
) -> pl.DataFrame:
    """The declared columns, and `before_status`, `after_status` and `after_by_value`, which other marts need.

    `before`: FIGURES by municipality_code; `after`: FIGURES by area_id and municipality_code (core.remainder).
    """
    if rule_set.origin is None:
        return pl.DataFrame(schema=TABLE.schema | _MORE)
    names = municipality.lazy().select("municipality_code", "municipality_name")
    named = origin_verdicts(rule_set, before, after, reference).join(
        names, on="municipality_code", how="left", validate="m:1"
    )
    shown = named.select(pl.lit(rule_set.id).alias("rule_set"), *TABLE.names[1:], *_MORE)
    return shown.sort(TABLE.key).collect(engine="in-memory")


def origin_verdicts(rule_set: RuleSet, before: pl.DataFrame, after: pl.DataFrame, reference: Reference) -> pl.LazyFrame:
    """The same without the names of rule set and município, in no order. The rule set has an origin rule."""
    found = []
    for requirement in map(rule_set.requirement, rule_set.origin.requirements if rule_set.origin else ()):
        had = evaluate(requirement, before, reference, ["municipality_code"]).select(
            "municipality_code",
            pl.col("status").alias("before_status"),
            *(pl.col(end).alias(f"before_{end}") for end in ENDS),
        )
        keeps = evaluate(requirement, after, reference, KEYS).rename(
            {end: f"after_{end}" for end in ENDS} | {"by_value": "after_by_value", "status": "after_status"}
        )
        found.append(
            keeps.join(had, on="municipality_code", how="left", validate="m:1").with_columns(
                _verdict(pl.col("before_status"), pl.col("after_status")).alias("verdict")
            )
        )
    return pl.concat(found)


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
