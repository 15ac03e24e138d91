"""core.district_electorate: the voters of each district, with bounds, and of its município what is unassigned.

`low` holds the places that are surely inside; `value` all that were assigned; `high` adds the places whose flags
point here and the município's unassigned voters. A district without a polling place is unknown, not zero: its
people vote somewhere else in the município. Per município, the districts' values and `unassigned` sum to its
voters exactly.
"""

import polars as pl

from transforms.columns import DISTRICT, MUNICIPALITY
from transforms.schema import Column, Kind, Table, Unit

TABLE = Table(
    name="core.district_electorate",
    title="Eleitorado por distrito",
    grain="One row per district of the state",
    key=("district_code",),
    columns=(
        DISTRICT,
        MUNICIPALITY,
        Column(
            "places",
            Kind.INTEGER,
            "Polling places with voters assigned to the district.",
            "Locais de votação",
            Unit.COUNT,
            minimum=0,
        ),
        Column(
            "low",
            Kind.INTEGER,
            "Voters of places that are surely in the district.",
            "Eleitores (mínimo)",
            Unit.VOTERS,
            nullable=True,
            minimum=0,
        ),
        Column(
            "value",
            Kind.INTEGER,
            "Voters of all places assigned to it; null without a place.",
            "Eleitores",
            Unit.VOTERS,
            nullable=True,
            minimum=0,
        ),
        Column(
            "high",
            Kind.INTEGER,
            "`value`, and the voters of flagged places that point here and of the município's unassigned places; "
            "without a place, the município's voters. Null where the register lacks the município.",
            "Eleitores (máximo)",
            Unit.VOTERS,
            nullable=True,
            minimum=0,
        ),
        Column(
            "unassigned",
            Kind.INTEGER,
            "Voters of the município's places that no district was found for; the same for all its districts.",
            "Eleitores sem distrito no município",
            Unit.VOTERS,
            nullable=True,
            minimum=0,
        ),
        Column(
            "share_unassigned",
            Kind.RATIO,
            "Of the município's voters, the share that is unassigned.",
            "Proporção sem distrito",
            Unit.SHARE,
            nullable=True,
            minimum=0,
            maximum=1,
        ),
    ),
)


def district_electorate(places: pl.DataFrame, districts: pl.DataFrame) -> pl.DataFrame:
    """Voters by district from core.polling_place, for every row of core.district."""
    voters = pl.col("voters")
    peopled = places.filter(voters > 0)
    assigned = peopled.group_by("district_code").agg(
        pl.len().alias("places"),
        voters.filter("is_sure").sum().alias("low"),
        voters.sum().alias("value"),
    )
    pointed = (
        peopled.select(pl.col("points_to").str.split("|").alias("district_code"), voters.alias("pointed"))
        .explode("district_code")
        .group_by("district_code")
        .agg(pl.col("pointed").sum())
    )
    of_municipality = places.group_by("municipality_code").agg(
        voters.sum().alias("total"),
        voters.filter(pl.col("district_code").is_null()).sum().alias("unassigned"),
    )
    total, unassigned = pl.col("total"), pl.col("unassigned")
    return TABLE.conform(
        districts.select("district_code", "municipality_code")
        .join(assigned, on="district_code", how="left", validate="1:1")
        .join(pointed, on="district_code", how="left", validate="1:1")
        .join(of_municipality, on="municipality_code", how="left", validate="m:1")
        .with_columns(
            pl.col("places").fill_null(0),
            pl.when(total.is_not_null()).then(pl.col("low").fill_null(0)),
            pl.when(pl.col("value").is_null())
            .then(total)
            .otherwise(pl.col("value") + pl.col("pointed").fill_null(0) + unassigned)
            .alias("high"),
            pl.when(total > 0).then(unassigned / total).round(4).alias("share_unassigned"),
        )
    )
