"""core.district_houses: the houses of each district's largest urban centre, with bounds.

The law wants one centre of more than 200 houses, so the largest counts, not the sum. A centre that crosses the
district's border counts with its part here. No urban sector is a true zero; no sector file is not: then the
district's private dwellings are all that is known.
"""

import polars as pl

from transforms.columns import DISTRICT, EVIDENCE, METHOD, SOURCE
from transforms.core.figures import greatest
from transforms.core.urban_cluster_district import HIGH, LOW, REACH_M, VALUE
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources.ibge_addresses import NAME as ADDRESSES
from transforms.sources.ibge_census_districts import NAME as DISTRICTS
from transforms.sources.ibge_census_sectors import NAME as SECTORS
from transforms.sources.ibge_district_mesh import NAME as MESH

NO_TOWN, NO_SECTORS = "no urban sector", "no sectors"
# How centres were found: what to say of it, and the sources.
METHODS = {
    "addresses": (
        f"houses of the address list in the largest urban centre (each within {REACH_M} m of the next)",
        f"{ADDRESSES}|{SECTORS}",
    ),
    "touching sectors": ("occupied houses of the largest group of touching urban sectors", f"{SECTORS}|{MESH}"),
    "sectors": ("occupied houses of all urban sectors of the district, as one centre", SECTORS),
    NO_TOWN: ("no urban sector in the district", SECTORS),
    NO_SECTORS: ("private dwellings of the district", DISTRICTS),
}

TABLE = Table(
    name="core.district_houses",
    title="Casas no centro urbano por distrito",
    grain="One row per district of the state",
    key=("district_code",),
    columns=(
        DISTRICT,
        LOW,
        VALUE,
        HIGH,
        METHOD,
        Column("clusters", Kind.INTEGER, "Urban centres in the district.", "Centros urbanos", Unit.COUNT, minimum=0),
        Column(
            "clustered",
            Kind.BOOLEAN,
            "Whether its centres are told apart; if not, all urban sectors count as one.",
            "Centros distinguidos",
        ),
        EVIDENCE,
        SOURCE,
        Column(
            "establishments",
            Kind.INTEGER,
            "Establishments of the address list (species 4, 5, 6, 8), for sharing out collections; null where the list "
            "lacks the município.",
            "Estabelecimentos",
            Unit.COUNT,
            nullable=True,
            minimum=0,
        ),
    ),
)


def district_houses(
    parts: pl.DataFrame,
    sectors: pl.DataFrame,
    addresses: pl.LazyFrame,
    population: pl.DataFrame,
    districts: pl.DataFrame,
) -> pl.DataFrame:
    """The largest of core.urban_cluster_district by district. `population`: district_code, private_dwellings."""
    largest = parts.group_by("district_code").agg(
        pl.col("low", "value").max(),
        greatest("high"),  # one centre of which nobody knows the most may be the largest
        pl.len().alias("clusters"),
        pl.col("method").first().alias("how"),
    )
    with_sectors = sectors.select("district_code").unique().with_columns(has_sectors=pl.lit(value=True))
    joined = (
        districts.select("district_code", "municipality_code")
        .join(largest, on="district_code", how="left", validate="1:1")
        .join(with_sectors, on="district_code", how="left", validate="1:1")
        .join(population.select("district_code", "private_dwellings"), on="district_code", how="left", validate="1:1")
        .join(_establishments(addresses), on="district_code", how="left", validate="1:1")
    )
    listed = pl.col("establishments").is_not_null().any().over("municipality_code")
    town = pl.col("how").is_not_null()
    how = pl.when(town).then("how").when("has_sectors").then(pl.lit(NO_TOWN)).otherwise(pl.lit(NO_SECTORS))
    zero = pl.when("has_sectors").then(0)
    every = pl.col("private_dwellings")
    most = pl.when(every.is_not_null()).then(pl.max_horizontal(every, pl.when(town).then("value")))
    return TABLE.conform(
        joined.with_columns(
            pl.when(town).then("low").otherwise(0).alias("low"),
            pl.when(town).then("value").otherwise(zero).alias("value"),
            pl.coalesce(pl.when(town).then("high").otherwise(zero), most).alias("high"),
            pl.col("clusters").fill_null(0),
            how.replace_strict({key: words for key, (words, _) in METHODS.items()}).alias("method"),
            how.replace_strict({key: source for key, (_, source) in METHODS.items()}).alias("source"),
            (~how.is_in(["sectors", NO_SECTORS])).alias("clustered"),
            pl.when(listed).then(pl.col("establishments").fill_null(0)).alias("establishments"),
        ).with_columns(
            pl.when(pl.col("value").is_null()).then(pl.lit("missing")).otherwise(pl.lit("derived")).alias("evidence")
        )
    )


def _establishments(addresses: pl.LazyFrame) -> pl.DataFrame:
    return (
        addresses.group_by(pl.col("sector_code").str.head(9).alias("district_code"))
        .agg(pl.col("establishments").sum())
        .collect()
    )
