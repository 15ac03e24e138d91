"""core.municipality: the state's municípios with the totals that their districts must add up to."""

import polars as pl

from transforms.columns import MUNICIPALITY, MUNICIPALITY_NAME, UF
from transforms.schema import Column, Kind, Table, Unit

TABLE = Table(
    name="core.municipality",
    title="Municípios",
    grain="One row per município of the state",
    key=("municipality_code",),
    columns=(
        MUNICIPALITY,
        MUNICIPALITY_NAME,
        UF,
        Column("tse_municipality_code", Kind.CODE, "Code the TSE gives it.", "Código do TSE", nullable=True),
        Column("districts", Kind.INTEGER, "How many districts it has.", "Distritos", Unit.COUNT, minimum=1),
        Column(
            "population_census",
            Kind.INTEGER,
            "Residents counted by the Census 2022: the sum over its districts.",
            "População (Censo 2022)",
            Unit.PERSONS,
            nullable=True,
        ),
        Column(
            "population_estimate",
            Kind.INTEGER,
            "IBGE's official estimate.",
            "População estimada",
            Unit.PERSONS,
            nullable=True,
            source="aggregate 6579, variable 9324",
        ),
        Column("electorate", Kind.INTEGER, "Voters registered in it.", "Eleitorado", Unit.VOTERS, nullable=True),
        Column(
            "unassigned",
            Kind.INTEGER,
            "Voters whose polling place could not be assigned to a district.",
            "Eleitores sem distrito",
            Unit.VOTERS,
            nullable=True,
        ),
        Column(
            "collection_brl",
            Kind.MONEY,
            "State taxes collected in it in the last closed fiscal year, as the treasury's file says.",
            "Arrecadação estadual",
            Unit.BRL,
            nullable=True,
        ),
    ),
)


def municipality(
    district: pl.DataFrame,
    district_population: pl.DataFrame,
    estimates: pl.DataFrame,
    crosswalk: pl.DataFrame,
    polling_place: pl.DataFrame,
    municipality_collection: pl.DataFrame,
) -> pl.DataFrame:
    """Everything joined on the município's code, one to one; what a source does not have stays empty."""
    counts = district.join(district_population, on="district_code", validate="1:1")
    census = pl.col("population_census")
    base = counts.group_by("municipality_code").agg(
        pl.col("municipality_name").first(),
        pl.col("uf").first(),
        pl.len().alias("districts"),
        pl.when(census.is_not_null().any()).then(census.sum()).alias("population_census"),
    )
    voters = polling_place.group_by("municipality_code").agg(
        pl.col("voters").sum().alias("electorate"),
        pl.col("voters").filter(pl.col("district_code").is_null()).sum().alias("unassigned"),
    )
    official = estimates.select("municipality_code", pl.col("population").alias("population_estimate"))
    collection = municipality_collection.select("municipality_code", pl.col("value").alias("collection_brl"))
    codes = crosswalk.select("municipality_code", "tse_municipality_code")
    for other in (official, codes, voters, collection):
        base = base.join(other, on="municipality_code", how="left", validate="1:1")
    return TABLE.conform(base)
