"""core.area_measure: every measure of every area; certificates override everything else (art. 2º, § 2º).

A certified figure stands for both bases of population. A set's words (method, source …) are those of its districts.
"""

import polars as pl

from transforms.columns import AREA, EVIDENCE_LEVELS
from transforms.core.district_measure import SHAPE
from transforms.core.figures import DistrictFigures, figures
from transforms.errors import UsageError
from transforms.schema import Table

TABLE = Table(
    name="core.area_measure",
    title="Medidas das áreas",
    grain="one row per area and measure",
    key=("area_id", "measure"),
    columns=(AREA, *SHAPE),
    may_be_empty=True,
)
WHERE = "certificates.csv"
# Which measures a certificate for a requirement replaces.
CERTIFIES = {
    "population": ("population_census", "population_estimate"),
    "electorate": ("electorate",),
    "urban_houses": ("urban_houses",),
    "collection": ("collection_brl",),
}
_COLUMNS = {
    "population_census": ("population_census",) * 3,
    "population_estimate": ("population_estimate",) * 3,
    "electorate": ("electorate_low", "electorate_value", "electorate_high"),
    "urban_houses": ("urban_houses_low", "urban_houses_value", "urban_houses_high"),
    "collection_brl": ("collection_low", "collection_value", "collection_high"),
}


def area_figures(area_district: pl.DataFrame, known: DistrictFigures, certificates: pl.DataFrame) -> pl.DataFrame:
    """Wide, one row per area, certificates applied; what the evaluator judges."""
    return certify(figures(area_district, ["area_id"], known), certificates)


def certify(wide: pl.DataFrame, certificates: pl.DataFrame) -> pl.DataFrame:
    """Certified values in place of the figures they certify. `certificates`: area_id, requirement, value."""
    for requirement, measures in CERTIFIES.items():
        scale = 100 if requirement == "collection" else 1
        own = certificates.filter(pl.col("requirement") == requirement).select(
            "area_id", (pl.col("value") * scale).cast(pl.Int64).alias("_certified")
        )
        columns = [column for measure in measures for column in dict.fromkeys(_COLUMNS[measure])]
        wide = (
            wide.join(own, on="area_id", how="left", validate="m:1")
            .with_columns(pl.coalesce("_certified", column).alias(column) for column in columns)
            .drop("_certified")
        )
    return wide


def check_certificates(certificates: pl.DataFrame, area: pl.DataFrame) -> pl.DataFrame:
    """The certificates, once each is known to speak of an area."""
    unknown = certificates.join(area, on="area_id", how="anti")["area_id"].sort().to_list()
    if unknown:
        raise UsageError(
            f"certificates for unknown areas: {unknown}",
            where=WHERE,
            action="use a district's 9-digit code or an area_id of candidates.csv; seats are not areas",
        )
    return certificates


def area_measure(
    wide: pl.DataFrame,
    area_district: pl.DataFrame,
    district_measure: pl.DataFrame,
    certificates: pl.DataFrame,
    simulated: frozenset[str],
) -> pl.DataFrame:
    """Long. Evidence is the weakest of the districts', or `certified`; `simulated` where the certificate is."""
    long = pl.concat([_figures_of(wide, measure, columns) for measure, columns in _COLUMNS.items()])
    rank = {level: place for place, level in enumerate(EVIDENCE_LEVELS)}
    joined = area_district.join(district_measure, on="district_code", validate="m:m")
    texts = ("method", "source", "reference_period", "gap")
    words = joined.group_by("area_id", "measure").agg(
        pl.col("unit").first(),
        pl.col("evidence").replace_strict(rank, return_dtype=pl.Int64).max().alias("_rank"),
        *(pl.col(text).drop_nulls().unique().sort().str.join("|").replace("", None).alias(text) for text in texts),
    )
    levels = {place: level for level, place in rank.items()}
    words = words.with_columns(pl.col("_rank").replace_strict(levels, return_dtype=pl.String).alias("evidence"))
    rows = long.join(words, on=["area_id", "measure"], how="left", validate="1:1")
    rows = rows.join(_certified_words(certificates, simulated), on=["area_id", "measure"], how="left", validate="1:1")
    is_certified = pl.col("_evidence").is_not_null()
    replaced = [
        pl.when(is_certified).then(f"_{word}").otherwise(word).alias(word)
        for word in ("method", "source", "reference_period", "evidence")
    ]
    gap = pl.when(~is_certified).then("gap").alias("gap")
    return TABLE.conform(rows.with_columns(*replaced, gap))


def _figures_of(wide: pl.DataFrame, measure: str, columns: tuple[str, ...]) -> pl.DataFrame:
    scale = 100 if measure == "collection_brl" else 1
    ends = zip(columns, ("low", "value", "high"), strict=True)
    return wide.select(
        "area_id",
        pl.lit(measure).alias("measure"),
        *((pl.col(column).cast(pl.Decimal(38, 5)) / scale).cast(pl.Decimal(24, 5)).alias(end) for column, end in ends),
    )


def _certified_words(certificates: pl.DataFrame, simulated: frozenset[str]) -> pl.DataFrame:
    evidence = "simulated" if "inputs_certificates" in simulated else "certified"
    measures = pl.col("requirement").replace_strict(CERTIFIES, return_dtype=pl.List(pl.String))
    return certificates.select(
        "area_id",
        measures.alias("measure"),
        pl.format("certificate of {}: {}", "body", "document").alias("_method"),
        pl.lit("inputs_certificates").alias("_source"),
        pl.col("date").dt.to_string("iso").alias("_reference_period"),
        pl.lit(evidence).alias("_evidence"),
    ).explode("measure", empty_as_null=True, keep_nulls=True)
