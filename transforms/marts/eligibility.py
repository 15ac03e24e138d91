"""mart.eligibility: one verdict per area and rule set, ranked. It never says "approved"."""

from collections.abc import Mapping

import polars as pl

from transforms.columns import AREA, AREA_KIND, AREA_NAME, EVIDENCE, MEASURES_OF, RULE_SET, UF, weakest
from transforms.exact import decimal
from transforms.marts.requirement_result import STATUSES
from transforms.rules.evaluator import MET, NOT_MET, UNDETERMINED
from transforms.rules.reading import ORIGIN, RuleSet
from transforms.schema import Column, Kind, Table, Unit

AREA_STATUSES = ("eligible", "undetermined", "ineligible")
LIKELY = ("likely_eligible", "unknown", "likely_ineligible")


def _count(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.INTEGER, description, label, Unit.COUNT, minimum=0)


def _list(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.TEXT, f"{description}, joined by |.", label)


def _figure(name: str, unit: Unit, label: str) -> Column:
    kind = Kind.MONEY if unit is Unit.BRL else Kind.INTEGER
    return Column(name, kind, f"Value of the area's {name.replace('_', ' ')}.", label, unit, nullable=True)


TABLE = Table(
    name="mart.eligibility",
    title="Elegibilidade",
    grain="One row per area and rule set, in rank order",
    key=("rule_set", "area_id"),
    order=("rule_set", "rank", "area_id"),
    columns=(
        RULE_SET,
        Column(
            "rank", Kind.INTEGER, "Position in the ranking; equal areas share it.", "Posição", Unit.COUNT, minimum=1
        ),
        AREA,
        AREA_NAME,
        AREA_KIND,
        UF,
        _list("municipality_codes", "Codes of the municípios of origin", "Códigos dos municípios"),
        _list("municipality_names", "Names of the municípios of origin", "Municípios"),
        _list("district_codes", "Codes of its districts", "Códigos dos distritos"),
        Column(
            "status",
            Kind.TEXT,
            "Eligible: every requirement met. Ineligible: one or more not met. Undetermined: the data cannot tell.",
            "Situação",
            values=AREA_STATUSES,
        ),
        Column(
            "likely",
            Kind.TEXT,
            "Where undetermined, what the best estimates point to.",
            "Indício",
            values=LIKELY,
            nullable=True,
        ),
        _count("requirements_met", "Requirements met, the origin's among them.", "Requisitos atendidos"),
        _count("requirements_not_met", "Requirements not met.", "Requisitos não atendidos"),
        _count("requirements_undetermined", "Requirements undetermined.", "Requisitos indeterminados"),
        Column(
            "binding_requirement", Kind.TEXT, "The one with the smallest margin.", "Requisito crítico", nullable=True
        ),
        Column("smallest_margin", Kind.RATIO, "Its margin.", "Menor folga", Unit.SHARE, nullable=True),
        Column("origin_status", Kind.TEXT, "Art. 2º, § 1º.", "Município de origem", values=STATUSES, nullable=True),
        Column(
            "same_origin_conflict",
            Kind.TEXT,
            "Areas that cannot leave the same município together with this one, joined by |.",
            "Conflito de origem",
            nullable=True,
        ),
        _figure("population", Unit.PERSONS, "População"),
        _figure("electorate", Unit.VOTERS, "Eleitorado"),
        _figure("urban_houses", Unit.HOUSES, "Casas no centro urbano"),
        _figure("collection_brl", Unit.BRL, "Arrecadação"),
        EVIDENCE.but(name="weakest_evidence", label="Evidência mais fraca", nullable=True),
        Column("is_simulated", Kind.BOOLEAN, "Whether any figure is simulated (bundled sample).", "Simulado"),
    ),
    may_be_empty=True,
)


def eligibility(
    rule_set: RuleSet,
    core: Mapping[str, pl.DataFrame],
    area_figures: pl.DataFrame,
    requirements: pl.DataFrame,
    conflicts: pl.DataFrame,
    exempt: pl.DataFrame,
    *,
    any_simulated: bool,
) -> pl.DataFrame:
    """`requirements`: mart.requirement_result of the rule set; `conflicts`: area_id, same_origin_conflict; `exempt`:
    area_id of areas that need meet nothing. Where any source is simulated, so is the ground of every verdict.
    """
    origins = (
        core["core.area_district"]
        .join(core["core.municipality"], on="municipality_code", validate="m:1")
        .group_by("area_id")
        .agg(
            pl.col("municipality_code").unique().sort().str.join("|").alias("municipality_codes"),
            _names_by_code().alias("municipality_names"),
            pl.col("district_code").sort().str.join("|").alias("district_codes"),
        )
    )
    values = area_figures.select(
        "area_id",
        pl.coalesce(MEASURES_OF["population"]).alias("population"),
        pl.col("electorate_value").alias("electorate"),
        pl.col("urban_houses_value").alias("urban_houses"),
        decimal(pl.col("collection_value"), 2).alias("collection_brl"),
    )
    rows = core["core.area"]
    for other in (origins, values, _verdicts(rule_set, requirements), conflicts):
        rows = rows.join(other, on="area_id", how="left", validate="1:1")
    # An area without requirement rows is exempt, or a fusion that the rule set says nothing about.
    is_exempt, is_judged = pl.col("area_id").is_in(exempt["area_id"].to_list()), pl.col("status").is_not_null()
    judged = rows.with_columns(
        pl.lit(rule_set.id).alias("rule_set"),
        pl.when(is_exempt).then(pl.lit("eligible")).otherwise(pl.col("status").fill_null(UNDETERMINED)).alias("status"),
        pl.when(is_exempt | is_judged).then("likely").otherwise(pl.lit("unknown")).alias("likely"),
        pl.col("^requirements_.*$").fill_null(0),
        pl.lit(any_simulated).alias("is_simulated"),
    )
    return TABLE.conform(ranked(judged))


def _names_by_code() -> pl.Expr:
    ordered = pl.col("municipality_name").sort_by("municipality_code")
    return ordered.unique(maintain_order=True).str.join("|")


def _verdicts(rule_set: RuleSet, requirements: pl.DataFrame) -> pl.DataFrame:
    """Status, likely, counts, binding requirement and evidence per area, from its requirement rows."""
    status, indication = pl.col("status"), pl.col("indication")
    order = {requirement.name: place for place, requirement in enumerate(rule_set.requirements)}
    by_order = pl.col("requirement").replace_strict(order, default=len(order), return_dtype=pl.Int64)
    has_margin = pl.col("margin").is_not_null()
    closest = pl.col("requirement").sort_by("margin", by_order, nulls_last=True).first()
    likely_or_met = (status == MET) | (indication == "likely_met").fill_null(False)
    return (
        requirements.group_by("area_id")
        .agg(
            (status == MET).sum().alias("requirements_met"),
            (status == NOT_MET).sum().alias("requirements_not_met"),
            (status == UNDETERMINED).sum().alias("requirements_undetermined"),
            (indication == "likely_not_met").any().alias("_unlikely"),
            likely_or_met.all().alias("_likely"),
            pl.when(has_margin.any()).then(closest).alias("binding_requirement"),
            pl.col("margin").min().alias("smallest_margin"),
            status.filter(pl.col("requirement") == ORIGIN).first().alias("origin_status"),
            weakest(pl.col("evidence")).alias("weakest_evidence"),
        )
        .with_columns(
            pl.when(pl.col("requirements_not_met") > 0)
            .then(pl.lit("ineligible"))
            .when(pl.col("requirements_undetermined") > 0)
            .then(pl.lit("undetermined"))
            .otherwise(pl.lit("eligible"))
            .alias("status")
        )
        .with_columns(
            pl.when(pl.col("status") == "undetermined")
            .then(
                pl.when("_unlikely")
                .then(pl.lit("likely_ineligible"))
                .when("_likely")
                .then(pl.lit("likely_eligible"))
                .otherwise(pl.lit("unknown"))
            )
            .alias("likely")
        )
        .drop("_unlikely", "_likely")
    )


def ranked(rows: pl.DataFrame) -> pl.DataFrame:
    """With `rank`: status, likely, requirements met, smallest margin, population; equal on all of them share it."""
    keys = {
        "_status": pl.col("status").cast(pl.Enum(AREA_STATUSES)),
        "_likely": pl.col("likely").cast(pl.Enum(LIKELY)),
        "_met": -pl.col("requirements_met").cast(pl.Int64),
        "_margin": -pl.col("smallest_margin"),
        "_population": -pl.col("population"),
    }
    ordered = rows.with_columns(expression.alias(name) for name, expression in keys.items()).sort(
        *keys, "area_id", nulls_last=True
    )
    # The first row of each run of equals gives the rank of all of them.
    changed = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift(1)) for name in keys)
    place = pl.int_range(1, pl.len() + 1)
    first = pl.when(changed | (place == 1)).then(place)
    return ordered.with_columns(first.forward_fill().alias("rank")).drop(*keys)
