"""mart.requirement_result: each area against each requirement of each rule set, I to IV and then the origin."""

import polars as pl

from transforms.columns import (
    AREA,
    EVIDENCE,
    HIGH,
    LOW,
    MEASURES_OF,
    METHOD,
    REFERENCE_PERIOD,
    RULE_SET,
    SOURCE,
    UNIT,
    VALUE,
)
from transforms.marts.origin_result import standing
from transforms.rules.evaluator import MET, NOT_MET, UNDETERMINED, evaluate
from transforms.rules.reading import ORIGIN, Origin, RuleSet
from transforms.rules.reference import Reference
from transforms.schema import Column, Kind, Table, Unit

STATUSES = (MET, NOT_MET, UNDETERMINED)
INDICATIONS = ("likely_met", "likely_not_met")
REQUIREMENT = Column("requirement", Kind.TEXT, "Name of the requirement in its rule set.", "Requisito")
TABLE = Table(
    name="mart.requirement_result",
    title="Requisitos",
    grain="One row per area, rule set and requirement; the origin (art. 2º, § 1º) is the last of them",
    key=("rule_set", "area_id", "requirement"),
    order=("rule_set", "area_id", "article", "requirement"),
    columns=(
        RULE_SET,
        AREA,
        REQUIREMENT,
        Column("article", Kind.TEXT, "Article of the law.", "Artigo"),
        LOW,
        VALUE,
        HIGH,
        Column(
            "threshold",
            Kind.EXACT,
            "What the figure is compared with: the easier arm where there are several, exact.",
            "Limite",
            Unit.VARIES,
            nullable=True,
        ),
        Column("comparison", Kind.TEXT, "How: > or >=.", "Comparação", values=(">", ">="), nullable=True),
        UNIT.but(nullable=True),
        Column(
            "margin", Kind.RATIO, "value ÷ threshold − 1, against the easiest arm.", "Folga", Unit.SHARE, nullable=True
        ),
        Column("status", Kind.TEXT, "Met, not met, or undetermined by the data.", "Situação", values=STATUSES),
        Column(
            "indication",
            Kind.TEXT,
            "Where undetermined, what the best estimate points to.",
            "Indício",
            values=INDICATIONS,
            nullable=True,
        ),
        EVIDENCE.but(nullable=True),
        METHOD.but(nullable=True),
        SOURCE.but(nullable=True),
        REFERENCE_PERIOD,
        Column("competent_body", Kind.TEXT, "Who certifies it (art. 2º, § 2º).", "Órgão competente"),
        Column("reason", Kind.TEXT, "Why it is undetermined, or what a verdict rests on.", "Motivo", nullable=True),
    ),
    may_be_empty=True,
)


def requirement_result(
    rule_set: RuleSet,
    areas: pl.DataFrame,
    area_measure: pl.DataFrame,
    origins: pl.DataFrame,
    reference: Reference,
) -> pl.DataFrame:
    """`areas`: area_id and FIGURES of every area that must meet requirements; `origins`: see marts.origin_result."""
    asked = [
        evaluate(each, areas, reference, ["area_id"]).with_columns(
            pl.lit(each.measure).alias("about"),
            pl.lit(each.article).alias("article"),
            pl.lit(each.body).alias("competent_body"),
            _indication(pl.col("status"), pl.col("by_value")).alias("indication"),
        )
        for each in rule_set.requirements
    ]
    told = pl.concat(asked).join(_words(area_measure), on=["area_id", "about"], how="left", validate="m:1")
    judged = [told.with_columns(_reason().alias("reason"), pl.col("evidence").fill_null("missing"))]
    if rule_set.origin is not None:
        judged.append(_origin_rows(rule_set, rule_set.origin, areas, origins))
    result = pl.concat(judged, how="diagonal_relaxed").with_columns(pl.lit(rule_set.id).alias("rule_set"))
    return TABLE.conform(result)


def _words(area_measure: pl.DataFrame) -> pl.DataFrame:
    """Evidence, method, source, period and gap of what each area may be asked about: of the first of its measures that
    has a figure, else of the first.
    """
    about = {measure: name for name, measures in MEASURES_OF.items() for measure in measures}
    preference = {measure: place for place, measure in enumerate(about)}
    names = ["evidence", "method", "source", "reference_period", "gap"]
    measure = pl.col("measure")
    told = area_measure.select(
        "area_id",
        measure.replace_strict(about).alias("about"),
        measure.replace_strict(preference).alias("place"),
        *names,
    )
    ordered = told.sort("area_id", "about", pl.col("evidence") == "missing", "place")
    return ordered.unique(["area_id", "about"], keep="first", maintain_order=True).drop("place")


def _indication(status: pl.Expr, by_value: pl.Expr) -> pl.Expr:
    likely = pl.when(by_value).then(pl.lit(INDICATIONS[0])).when(~by_value).then(pl.lit(INDICATIONS[1]))
    return pl.when(status == UNDETERMINED).then(likely)


def _reason() -> pl.Expr:
    """What the figures alone say; where that is only their bounds, what is missing about the figure itself."""
    own = pl.col("reason")
    bounds = own.str.starts_with("the bounds") | own.str.starts_with("no figure")
    return pl.when(bounds & pl.col("gap").is_not_null()).then("gap").otherwise(own.replace("", None))


def _origin_rows(rule_set: RuleSet, origin: Origin, areas: pl.DataFrame, origins: pl.DataFrame) -> pl.DataFrame:
    """Met if nothing is lost (reading loss) or every remainder meets all (strict); not met if any loses; else open."""
    lost, open_ = standing(origin.reading) == NOT_MET, standing(origin.reading) == UNDETERMINED
    told = "verdict" if origin.reading == "loss" else "after_status"
    names = pl.format("{} ({}: {})", "municipality_name", "requirement", told)
    summary = origins.group_by("area_id").agg(
        lost.any().alias("_lost"),
        open_.any().alias("_open"),
        (open_ & ~pl.col("after_by_value")).any().alias("_fails"),
        (open_ & pl.col("after_by_value").is_null()).any().alias("_unknown"),
        names.filter(lost | open_).sort().str.join("; ").alias("_names"),
    )
    status = (
        pl.when(pl.col("_lost").fill_null(False))
        .then(pl.lit(NOT_MET))
        .when(pl.col("_open").fill_null(True))
        .then(pl.lit(UNDETERMINED))
        .otherwise(pl.lit(MET))
    )
    by_value = pl.when(pl.col("_fails")).then(pl.lit(False)).when(~pl.col("_unknown")).then(pl.lit(True))
    rows = (
        areas.select("area_id")
        .join(summary, on="area_id", how="left", validate="1:1")
        .with_columns(status.alias("status"))
    )
    return rows.select(
        "area_id",
        pl.lit(ORIGIN).alias("requirement"),
        pl.lit(origin.article).alias("article"),
        "status",
        _indication(pl.col("status"), by_value).alias("indication"),
        pl.lit("|".join(dict.fromkeys(r.body for r in rule_set.requirements))).alias("competent_body"),
        pl.when(pl.col("status") != MET).then("_names").alias("reason"),
    )
