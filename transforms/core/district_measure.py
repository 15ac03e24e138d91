"""core.district_measure: every measure of every district, with bounds, evidence, method and source.

The long table is what readers follow a figure with; `district_figures` is the same, wide, for computing with.
"""

from collections.abc import Mapping
from datetime import date

import polars as pl

from transforms.columns import (
    DISTRICT,
    ENDS,
    EVIDENCE,
    HIGH,
    LOW,
    MEASURE,
    MEASURES,
    METHOD,
    REFERENCE_PERIOD,
    SOURCE,
    UNIT,
    VALUE,
)
from transforms.core.figures import FIGURES, DistrictFigures, shown, total
from transforms.exact import cents
from transforms.schema import Column, Kind, Table

GAP = Column("gap", Kind.TEXT, "What is not known about the figure; empty if nothing.", "Lacuna", nullable=True)
SHAPE = (MEASURE, LOW, VALUE, HIGH, UNIT, EVIDENCE, METHOD, SOURCE, REFERENCE_PERIOD, GAP)
TABLE = Table(
    name="core.district_measure",
    title="Medidas dos distritos",
    grain="One row per district and measure",
    key=("district_code", "measure"),
    columns=(DISTRICT, *SHAPE),
)
CENSUS_DAY = "2022-08-01"


def district_figures(
    district: pl.DataFrame,
    population: pl.DataFrame,
    electorate: pl.DataFrame,
    houses: pl.DataFrame,
    collection: pl.DataFrame,
) -> pl.DataFrame:
    """Wide, one row per district: FIGURES in whole numbers, and `places`, `clustered`, `collection_stated`."""
    wide = district.select("district_code", "municipality_code")
    voters = electorate.select("district_code", "places", *(pl.col(end).alias(f"electorate_{end}") for end in ENDS))
    clusters = houses.select(
        "district_code", "clustered", *(pl.col(end).cast(pl.Int64).alias(f"urban_houses_{end}") for end in ENDS)
    )
    money = collection.select(
        "district_code",
        pl.col("evidence").is_in(["certified", "official"]).alias("collection_stated"),
        *(cents(pl.col(end)).alias(f"collection_{end}") for end in ENDS),
    )
    for other in (
        population.select("district_code", "population_census", "population_estimate"),
        voters,
        clusters,
        money,
    ):
        wide = wide.join(other, on="district_code", how="left", validate="1:1")
    return wide.select("district_code", "municipality_code", "places", "clustered", "collection_stated", *FIGURES)


def known_figures(
    districts: pl.DataFrame, municipality: pl.DataFrame, polling_place: pl.DataFrame, centres: pl.DataFrame
) -> DistrictFigures:
    """Everything `figures` needs, from the core tables; `centres` is core.urban_cluster_district."""
    totals = municipality.select(
        "municipality_code",
        "electorate",
        "unassigned",
        cents(pl.col("collection_brl")).alias("collection"),
    )
    flagged = polling_place.filter(pl.col("district_code").is_not_null() & (pl.col("points_to") != ""))
    pointers = flagged.select(
        pl.concat_str("municipality_code", "zone", "place", separator="|").alias("place_id"),
        "municipality_code",
        "district_code",
        "voters",
        pl.col("points_to").str.split("|"),
    ).explode("points_to")
    whole = [total(end).over("cluster_id") for end in ("low", "value")]
    crossing = centres.filter(pl.len().over("cluster_id") > 1).select("cluster_id", "district_code", *whole, "high")
    most = districts.select("district_code", "urban_houses_high")  # where nobody knows the most of a part
    crossings = crossing.join(most, on="district_code", validate="m:1").select(
        pl.exclude("high", "urban_houses_high"), pl.coalesce("high", "urban_houses_high").alias("high")
    )
    return DistrictFigures(districts, totals, pointers, crossings)


def district_measure(
    districts: pl.DataFrame,
    houses: pl.DataFrame,
    collection: pl.DataFrame,
    *,
    estimate_year: int | None,
    electorate_on: date | None,
    fiscal_year: int,
    simulated: frozenset[str],
) -> pl.DataFrame:
    """Long, from the wide figures. A figure any of whose sources is in `simulated` has evidence `simulated`."""
    said: dict[str, dict[str, str | None]] = {
        "population_census": {
            "unit": "persons",
            "method": "Census 2022 count",
            "source": "ibge_census_districts",
            "reference_period": CENSUS_DAY,
            "evidence": "official",
        },
        "population_estimate": {
            "unit": "persons",
            "method": "the município's official estimate by census population, largest remainder",
            "source": "ibge_estimates|ibge_census_districts",
            "reference_period": f"{estimate_year}-07-01" if estimate_year else None,
            "evidence": "derived",
        },
        "electorate": {
            "unit": "voters",
            "method": "voters of the polling places assigned to the district",
            "source": "tse_polling_places",
            "reference_period": electorate_on.isoformat() if electorate_on else None,
            "evidence": "derived",
        },
        "urban_houses": {"unit": "houses", "reference_period": CENSUS_DAY},
        "collection_brl": {"unit": "BRL", "source": "inputs_collections", "reference_period": str(fiscal_year)},
    }
    by_district = {
        "urban_houses": houses.select("district_code", "method", "evidence", "source"),
        "collection_brl": collection.select("district_code", "method", "evidence"),
    }
    rows = pl.concat([_long(districts, measure, said[measure], by_district.get(measure)) for measure in MEASURES])
    is_simulated = pl.col("source").str.split("|").list.eval(pl.element().is_in(list(simulated))).list.any()
    known = pl.any_horizontal(pl.col(ENDS).is_not_null())
    evidence = (
        pl.when(~known).then(pl.lit("missing")).when(is_simulated).then(pl.lit("simulated")).otherwise("evidence")
    )
    return TABLE.conform(rows.with_columns(evidence.alias("evidence")))


_OPEN = pl.col("low").is_null() | (pl.col("low") != pl.col("high"))
# What is not known of a figure; of populations everything is.
UNSURE: Mapping[str, pl.Expr] = {
    "electorate": pl.when(pl.col("places").fill_null(0) == 0)
    .then(pl.lit("no polling place in the district, the TRE must say"))
    .when(_OPEN)
    .then(
        pl.lit("voters near a border, or at places that no district could be found for, may or may not be the area's")
    ),
    "urban_houses": pl.when(_OPEN & pl.col("value").is_null())
    .then(pl.lit("no count of houses in the urban centre, only the dwellings of the district"))
    .when(_OPEN)
    .then(pl.lit("suppressed, vacant or untyped dwellings of the urban centre may or may not be houses")),
    "collection_brl": pl.when(pl.col("high").is_null())
    .then(pl.lit("no file or certificate of the state treasury"))
    .when(_OPEN)
    .then(pl.lit("only the município's collection is known, not the area's")),
}


def _long(
    districts: pl.DataFrame, measure: str, said: Mapping[str, str | None], by_district: pl.DataFrame | None
) -> pl.DataFrame:
    """One measure of every district: its figures, what is said of all of them, and what of each."""
    words = [pl.lit(word, dtype=pl.String).alias(name) for name, word in said.items()]
    rows = districts.select("district_code", "places", pl.lit(measure).alias("measure"), *shown(measure), *words)
    if by_district is not None:
        rows = rows.join(by_district, on="district_code", how="left", validate="1:1")
    gap = UNSURE.get(measure, pl.lit(None, dtype=pl.String))
    return rows.with_columns(gap.alias("gap")).select(TABLE.names)
