"""core.district_population: the census count of each district and its share of the município's official estimate.

IBGE publishes no estimate by district. The share is the census share, by largest remainder, so that districts
sum to the official estimate exactly.
"""

import polars as pl

from transforms.apportion import largest_remainder
from transforms.columns import DISTRICT
from transforms.schema import Column, Kind, Table, Unit

TABLE = Table(
    name="core.district_population",
    title="População dos distritos",
    grain="One row per district of the state",
    key=("district_code",),
    columns=(
        DISTRICT,
        Column(
            "population_census",
            Kind.INTEGER,
            "Residents counted by the Census 2022; empty where the census has no figures for the district.",
            "População (Censo 2022)",
            Unit.PERSONS,
            nullable=True,
            minimum=0,
            source="v0001",
        ),
        Column(
            "population_estimate",
            Kind.INTEGER,
            "The município's official estimate shared out by census population (largest remainder).",
            "População estimada",
            Unit.PERSONS,
            nullable=True,
            minimum=0,
            source="aggregate 6579, variable 9324",
        ),
        Column(
            "private_dwellings",
            Kind.INTEGER,
            "Private dwellings of the Census 2022, occupied or not.",
            "Domicílios particulares",
            Unit.DWELLINGS,
            nullable=True,
            minimum=0,
            source="v0003",
        ),
        Column(
            "occupied_dwellings",
            Kind.INTEGER,
            "Occupied private dwellings of the Census 2022.",
            "Domicílios ocupados",
            Unit.DWELLINGS,
            nullable=True,
            minimum=0,
            source="v0007",
        ),
    ),
)


def district_population(district: pl.DataFrame, census: pl.LazyFrame, estimates: pl.DataFrame) -> pl.DataFrame:
    """`estimates`: municipality_code, population. A município of one district, not in the census, has the estimate."""
    counts = census.select(
        "district_code",
        pl.col("population").alias("population_census"),
        "private_dwellings",
        "occupied_dwellings",
    ).collect()
    joined = (
        district.select("district_code", "municipality_code")
        .join(counts, on="district_code", how="left", validate="1:1")
        .join(
            estimates.select("municipality_code", pl.col("population").alias("_official")),
            on="municipality_code",
            how="left",
            validate="m:1",
        )
    )
    alone = (pl.len().over("municipality_code") == 1) & pl.col("population_census").is_null()
    weighted = joined.with_columns(pl.when(alone).then(1).otherwise("population_census").alias("_weight"))
    share = largest_remainder(
        weighted, total="_official", weight="_weight", group="municipality_code", tie="district_code"
    )
    return TABLE.conform(joined.with_columns(share.alias("population_estimate")))
