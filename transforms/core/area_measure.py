"""core.area_measure: every measure of every area; certificates override everything else (art. 2º, § 2º).

A certified figure stands for both bases of population. A set's words (method, source …) are those of its districts.
"""

import polars as pl

from transforms.columns import AREA, MEASURES, MEASURES_OF, weakest
from transforms.core.district_measure import SHAPE
from transforms.core.figures import COLUMNS, DistrictFigures, figures, shown
from transforms.exact import cents
from transforms.schema import Table

TABLE = Table(
    name="core.area_measure",
    title="Medidas das áreas",
    grain="One row per area and measure",
    key=("area_id", "measure"),
    columns=(AREA, *SHAPE),
    may_be_empty=True,
)


def area_figures(area_district: pl.DataFrame, known: DistrictFigures, certificates: pl.DataFrame) -> pl.DataFrame:
    """Wide, one row per area, certificates applied; what the evaluator judges."""
    return certify(figures(area_district, ["area_id"], known), certificates)


def certify(wide: pl.DataFrame, certificates: pl.DataFrame) -> pl.DataFrame:
    """Certified values in place of the figures they certify. `certificates`: area_id, requirement, value."""
    if certificates.is_empty():
        return wide
    value = pl.col("value")
    whole = pl.when(pl.col("requirement") == "collection").then(cents(value)).otherwise(value.cast(pl.Int64))
    rows = certificates.select("area_id", "requirement", whole)
    own = rows.pivot("requirement", on_columns=list(MEASURES_OF), index="area_id", values="value").rename(
        {requirement: f"_{requirement}" for requirement in MEASURES_OF}
    )
    certified = {
        column: pl.coalesce(f"_{requirement}", column).alias(column)
        for requirement, measures in MEASURES_OF.items()
        for measure in measures
        for column in COLUMNS[measure]
    }
    joined = wide.join(own, on="area_id", how="left", validate="m:1", maintain_order="left")
    return joined.with_columns(certified.values()).select(wide.columns)


def area_measure(
    wide: pl.DataFrame,
    area_district: pl.DataFrame,
    district_measure: pl.DataFrame,
    certificates: pl.DataFrame,
    simulated: frozenset[str],
) -> pl.DataFrame:
    """Long. Evidence is the weakest of the districts', or `certified`; `simulated` where the certificate is."""
    long = pl.concat([wide.select("area_id", pl.lit(each).alias("measure"), *shown(each)) for each in MEASURES])
    joined = area_district.join(district_measure, on="district_code", validate="m:m")
    texts = ("method", "source", "reference_period", "gap")
    words = joined.group_by("area_id", "measure").agg(
        pl.col("unit").first(),
        weakest(pl.col("evidence")),
        *(_each_once(text) for text in texts),
    )
    rows = long.join(words, on=["area_id", "measure"], how="left", validate="1:1")
    rows = rows.join(_certified_words(certificates, simulated), on=["area_id", "measure"], how="left", validate="1:1")
    is_certified = pl.col("_evidence").is_not_null()
    replaced = [
        pl.when(is_certified).then(f"_{word}").otherwise(word).alias(word)
        for word in ("method", "source", "reference_period", "evidence")
    ]
    gap = pl.when(~is_certified).then("gap").alias("gap")
    return TABLE.conform(rows.with_columns(*replaced, gap))


def _each_once(text: str) -> pl.Expr:
    """Lists parted by | as one, in their own order, what several of them name once."""
    lists = pl.col(text).drop_nulls().unique().sort()
    return lists.str.split("|").list.explode().unique(maintain_order=True).str.join("|").replace("", None).alias(text)


def _certified_words(certificates: pl.DataFrame, simulated: frozenset[str]) -> pl.DataFrame:
    evidence = "simulated" if "inputs_certificates" in simulated else "certified"
    measures = pl.col("requirement").replace_strict(MEASURES_OF, return_dtype=pl.List(pl.String))
    return certificates.select(
        "area_id",
        measures.alias("measure"),
        pl.format("certificate of {}: {}", "body", "document").alias("_method"),
        pl.lit("inputs_certificates").alias("_source"),
        pl.col("date").dt.to_string("iso").alias("_reference_period"),
        pl.lit(evidence).alias("_evidence"),
    ).explode("measure")
