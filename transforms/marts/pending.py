"""mart.pending: what is missing, and whom to ask for it (art. 2º, §§ 2º and 3º: 60 days to answer)."""

import polars as pl

from transforms.columns import AREA, AREA_NAME, RULE_SET
from transforms.rules.evaluator import DISAGREE, UNDETERMINED
from transforms.rules.reading import RuleSet
from transforms.schema import Column, Kind, Table

TABLE = Table(
    name="mart.pending",
    title="Pendências",
    grain="One row per undetermined requirement I to IV of every area that is not ineligible",
    key=("rule_set", "area_id", "requirement"),
    columns=(
        RULE_SET,
        AREA,
        AREA_NAME,
        Column("requirement", Kind.TEXT, "Requirement that the data cannot decide.", "Requisito"),
        Column("reason", Kind.TEXT, "Why.", "Motivo"),
        Column("ask", Kind.TEXT, "The body to ask, and for what.", "A quem pedir"),
    ),
    may_be_empty=True,
)

WHICH_REVENUE = "state treasury: the state's tax revenue by the definition that counts (gross, without IRRF, or net)"
NO_REVENUE = "state treasury: the state's annual accounts (DCA), or those of the sixth two months (RREO)"


def pending(rule_set: RuleSet, requirements: pl.DataFrame, eligibility: pl.DataFrame) -> pl.DataFrame:
    """From both marts of one rule set."""
    asks = {r.name: f"{r.body}: {r.ask}" for r in rule_set.requirements}
    usual = pl.col("requirement").replace_strict(asks, return_dtype=pl.String)
    no_total = pl.col("threshold").is_null() & pl.col("value").is_not_null()
    open_areas = eligibility.filter(pl.col("status") != "ineligible").select("area_id", "area_name")
    rows = requirements.filter((pl.col("status") == UNDETERMINED) & pl.col("requirement").is_in(list(asks)))
    return TABLE.conform(
        rows.join(open_areas, on="area_id", validate="m:1").with_columns(
            # A certificate of the area's own figure would not help where it is the state's that is open.
            pl.when(pl.col("reason") == DISAGREE["tax_revenue"])
            .then(pl.lit(WHICH_REVENUE))
            .when((pl.col("requirement") == "collection") & no_total)
            .then(pl.lit(NO_REVENUE))
            .otherwise(usual)
            .alias("ask")
        )
    )
