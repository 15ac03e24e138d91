"""core.urban_cluster_district: each urban centre, district by district: its houses, with bounds.

An urban centre is a group of houses in town or village sectors (CD_SIT 1 and 2) in which one comes to the next
within 1 km. The law (LC 1/1967, art. 2º, III) wants "centro urbano já constituído" and defines it no further; the
one state law that does (Ceará, LC 1/1991) wants contiguous buildings within 1 km, and IBGE counts what lies within
1 km of a town as its extension. A shorter reach would break a town at a river or a park; a longer one would
join villages.

By municípios: houses of the address list where it has the município (`addresses`), else sectors that touch each
other, where their polygons are at hand (`touching sectors`), else all urban sectors of a district as one centre
(`sectors`, the one assumption here that can count two centres as one). A centre that crosses a district border has
a row in each district. `low` counts occupied houses of sectors that lie wholly in the centre, suppressed cells as
0; `high` every private dwelling of every sector it touches, and of urban sectors whose houses the list lacks.
"""

import polars as pl

from transforms import geometry
from transforms.columns import DISTRICT
from transforms.core.figures import total
from transforms.schema import Column, Kind, Table, Unit

REACH_M = 1000
URBAN = ("1", "2")
METHODS = ("addresses", "touching sectors", "sectors")

CLUSTER = Column(
    "cluster_id",
    Kind.TEXT,
    "The centre: its smallest sector, or the district's code where its sectors are not told apart.",
    "Centro urbano",
)
CLUSTER_METHOD = Column(
    "method",
    Kind.TEXT,
    "Houses of the address list within 1 km of each other, urban sectors that touch, or all urban sectors.",
    "Método",
    values=METHODS,
)
SECTORS = Column("sectors", Kind.INTEGER, "Sectors it touches.", "Setores", Unit.COUNT, minimum=1)
LATITUDE = Column(
    "latitude", Kind.FLOAT, "Mean latitude of its houses of the list.", "Latitude", Unit.DEGREES, nullable=True
)
LONGITUDE = LATITUDE.but(name="longitude", description="Mean longitude of its houses of the list.", label="Longitude")


def _houses(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.INTEGER, description, label, Unit.HOUSES, nullable=True, minimum=0)


LOW = _houses("low", "Occupied houses known in sectors wholly inside; suppressed cells are 0.", "Casas (mínimo)")
VALUE = _houses(
    "value", "Houses of the address list; without it, occupied houses known. Null where neither is.", "Casas"
)
HIGH = _houses("high", "Private dwellings of every sector it touches.", "Casas (máximo)")

TABLE = Table(
    name="core.urban_cluster_district",
    title="Centros urbanos por distrito",
    grain="One row per urban centre and district it lies in",
    key=("cluster_id", "district_code"),
    columns=(
        CLUSTER,
        DISTRICT,
        LOW,
        VALUE,
        HIGH,
        CLUSTER_METHOD,
        SECTORS,
        LATITUDE,
        LONGITUDE,
    ),
    may_be_empty=True,
)


def urban_cluster_district(
    sectors: pl.DataFrame,
    houses: pl.DataFrame,
    addresses: pl.LazyFrame,
    sector_mesh: pl.LazyFrame,
    districts: pl.DataFrame,
) -> pl.DataFrame:
    """From the staged sectors, houses by sector, address cells and polygons of urban sectors; each may be empty.

    Districts given only. Without sectors there are no rows: what is urban is not known.
    """
    counted = sectors.join(districts, on="district_code", how="semi")
    urban = _urban(counted, houses)
    of_sector = (
        addresses.group_by("sector_code")
        .agg(pl.col("houses").sum().alias("listed"))
        .with_columns(pl.col("sector_code").str.head(9).alias("district_code"))
        .join(districts.lazy(), on="district_code", how="semi")
        .collect()
    )
    placed = (
        addresses.filter(pl.col("houses") > 0)
        .drop_nulls("longitude")
        .join(urban.lazy(), on="sector_code", how="semi")
        .sort("sector_code", "cell_y", "cell_x")
        .collect()
    )
    listed = urban.join(of_sector.join(placed, on="sector_code", how="semi"), on="district_code", how="semi")
    adrift = _adrift(of_sector, placed, listed, counted)
    parts = [_by_address(of_sector, placed, listed, adrift)]
    rest = urban.join(listed, on="sector_code", how="anti")
    mesh = sector_mesh.join(rest.lazy(), on="sector_code", how="semi").sort("sector_code").collect()
    unmapped = rest.join(rest.join(mesh, on="sector_code", how="anti"), on="district_code", how="semi")
    mapped = rest.join(unmapped, on="district_code", how="anti")
    parts.append(_by_touch(mapped, mesh.join(mapped, on="sector_code", how="semi")))
    parts.append(_in_centres(unmapped.with_columns(cluster_id="district_code"), "sectors"))
    return TABLE.conform(pl.concat(parts, how="diagonal_relaxed"))


def _urban(sectors: pl.DataFrame, houses: pl.DataFrame) -> pl.DataFrame:
    """Sectors of towns and villages: known (occupied houses; null where nothing is told) and dwellings."""
    kinds = ("houses", "village_houses")
    told = pl.any_horizontal(pl.col(kinds).is_not_null())
    return (
        sectors.filter(pl.col("situation_code").is_in(URBAN))
        .join(houses, on="sector_code", how="left", validate="1:1")
        .select(
            "sector_code",
            "district_code",
            pl.when(told).then(pl.sum_horizontal(kinds)).alias("known"),
            pl.col("private_dwellings").alias("dwellings"),
        )
        .sort("sector_code")
    )


def _adrift(of_sector: pl.DataFrame, placed: pl.DataFrame, urban: pl.DataFrame, sectors: pl.DataFrame) -> pl.DataFrame:
    """Houses that may be in any centre of their district, at most: district_code, adrift.

    Dwellings of urban sectors of which no house is placed (but not where the list has the sector, without a house,
    and the census none either), and houses that the list has (`of_sector`) in sectors that the census does not.
    """
    houseless = (pl.col("listed") == 0) & (pl.col("known") == 0)
    missing = (
        urban.join(placed, on="sector_code", how="anti")
        .join(of_sector, on="sector_code", how="left", validate="1:1")
        .filter(~houseless.fill_null(value=False))
    )
    stray = of_sector.join(sectors, on="sector_code", how="anti")
    both = [missing.select("district_code", adrift="dwellings"), stray.select("district_code", adrift="listed")]
    return pl.concat(both).group_by("district_code").agg(pl.col("adrift").sum())


def _by_address(
    of_sector: pl.DataFrame, placed: pl.DataFrame, urban: pl.DataFrame, adrift: pl.DataFrame
) -> pl.DataFrame:
    """Centres of houses near each other: `placed` are the cells with a point in `urban` sectors, `of_sector` all
    houses of the list by sector.
    """
    group = geometry.linked(placed["longitude"].to_numpy(), placed["latitude"].to_numpy(), REACH_M)
    placed = placed.with_columns(group=pl.Series(group, dtype=pl.Int64))
    first = placed.unique("group", keep="first", maintain_order=True)
    turn = pl.col("sector_code").cum_count().over("sector_code")
    name = pl.when(turn == 1).then("sector_code").otherwise(pl.format("{}-{}", "sector_code", turn))
    sectors = (
        placed.join(first.select("group", cluster_id=name), on="group", validate="m:1")
        .group_by("cluster_id", "sector_code")
        .agg(
            pl.col("houses").sum().alias("inside"),
            *((pl.col(axis) * pl.col("houses")).sum().alias(axis) for axis in ("latitude", "longitude")),
        )
        .join(of_sector.select("sector_code", "listed"), on="sector_code", validate="m:1")
        .join(urban, on="sector_code", validate="m:1")
        .sort("cluster_id", "sector_code")
    )
    whole = pl.col("inside") == pl.col("listed")
    value = pl.col("inside").sum()
    centres = sectors.group_by("cluster_id", "district_code").agg(
        pl.min_horizontal(pl.col("known").filter(whole).sum(), value).alias("low"),
        value.alias("value"),
        total("dwellings").alias("high"),
        pl.len().alias("sectors"),
        *((pl.col(axis).sum() / value).round(6).alias(axis) for axis in ("latitude", "longitude")),
    )
    high = pl.col("high") + pl.col("adrift").fill_null(0)
    return centres.join(adrift, on="district_code", how="left", validate="m:1").with_columns(
        pl.when(high.is_not_null()).then(pl.max_horizontal(high, "value")).alias("high"),
        pl.lit("addresses").alias("method"),
    )


def _by_touch(urban: pl.DataFrame, mesh: pl.DataFrame) -> pl.DataFrame:
    """Centres of sectors whose polygons touch, across district borders too. `mesh` has each of them, sorted."""
    shapes = geometry.shapes(mesh["geometry"])
    group = geometry.connected(len(shapes), *geometry.neighbours(shapes))
    named = mesh.select("sector_code", group=pl.Series(group, dtype=pl.Int64)).with_columns(
        pl.col("sector_code").min().over("group").alias("cluster_id")
    )
    return _in_centres(urban.join(named, on="sector_code", validate="1:1"), "touching sectors")


def _in_centres(sectors: pl.DataFrame, method: str) -> pl.DataFrame:
    """Sums over sectors that have a cluster_id; what is suppressed counts in neither `low` nor `value`."""
    told = pl.col("known").is_not_null().any()
    return sectors.group_by("cluster_id", "district_code").agg(
        pl.col("known").sum().alias("low"),
        pl.when(told).then(pl.col("known").sum()).alias("value"),
        total("dwellings").alias("high"),
        pl.lit(method).alias("method"),
        pl.len().alias("sectors"),
    )
