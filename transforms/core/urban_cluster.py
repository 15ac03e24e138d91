"""core.urban_cluster: the urban centres whole, with all their districts; core.urban_cluster_district has the parts."""

import polars as pl

from transforms.columns import ENDS
from transforms.core.figures import total
from transforms.core.urban_cluster_district import (
    CLUSTER,
    CLUSTER_METHOD,
    HIGH,
    LATITUDE,
    LONGITUDE,
    LOW,
    SECTORS,
    VALUE,
)
from transforms.schema import Column, Kind, Table

TABLE = Table(
    name="core.urban_cluster",
    title="Centros urbanos",
    grain="One row per urban centre",
    key=("cluster_id",),
    columns=(
        CLUSTER,
        Column("district_codes", Kind.TEXT, "The districts it lies in, joined by |.", "Distritos"),
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


def urban_cluster(parts: pl.DataFrame) -> pl.DataFrame:
    """The rows of core.urban_cluster_district, summed by centre; a bound is unknown where a part's is."""
    mean = [
        ((pl.col(axis) * pl.col("value")).sum() / pl.col("value").filter(pl.col(axis).is_not_null()).sum())
        .round(6)
        .fill_nan(None)
        .alias(axis)
        for axis in ("latitude", "longitude")
    ]
    return TABLE.conform(
        parts.sort("cluster_id", "district_code")
        .group_by("cluster_id", "method")
        .agg(
            pl.col("district_code").str.join("|").alias("district_codes"),
            *map(total, ENDS),
            pl.col("sectors").sum(),
            *mean,
        )
    )
