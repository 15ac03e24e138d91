"""What certificates say that may be an error of whoever wrote the row: told, and used as it stands.

Of several certificates for one area and requirement, only the one that counts is looked at. What cannot be at all
stops the run before (transforms/core/certificate.py).
"""

import polars as pl

from expectations.check import Frames
from transforms.core.certificate import newest

CERTIFICATES = "staging.inputs_certificates__certificate"
# Tenths of the census population between which a figure of its area passes without a word.
USUAL = {"population": (5, 20), "electorate": (2, 12)}


def far_from_census(frames: Frames) -> pl.LazyFrame:
    """Certified people or voters out of proportion to the Census 2022 of the area's districts, where all are known."""
    within = pl.any_horizontal(
        (pl.col("requirement") == name)
        & (pl.col("value") * 10).is_between(low * pl.col("census"), high * pl.col("census"))
        for name, (low, high) in USUAL.items()
    )
    return (
        _counting(frames)
        .filter(pl.col("requirement").is_in(list(USUAL)))
        .join(_of_areas(frames, "population_census", "census"), on="area_id", validate="m:1")
        .filter(~within)
        .select("line", "area_id", "requirement", pl.col("value").cast(pl.Int64).alias("figure"), "census")
        .sort("line", "area_id")
    )


def more_houses_than_dwellings(frames: Frames) -> pl.LazyFrame:
    """Certified houses above the private dwellings (v0003) of the area's districts, where all are known."""
    return (
        _counting(frames)
        .filter(pl.col("requirement") == "urban_houses")
        .join(_of_areas(frames, "private_dwellings", "dwellings"), on="area_id", validate="m:1")
        .filter(pl.col("value") > pl.col("dwellings"))
        .select("line", "area_id", pl.col("value").cast(pl.Int64).alias("houses"), "dwellings")
        .sort("line", "area_id")
    )


def _counting(frames: Frames) -> pl.LazyFrame:
    days = frames["core.state"].select(pl.col("as_of").max())
    return newest(frames[CERTIFICATES].join(days, how="cross"), pl.col("as_of"))


def _of_areas(frames: Frames, count: str, name: str) -> pl.LazyFrame:
    """A count of the census by area, of the areas whose districts all have one."""
    return (
        frames["core.area_district"]
        .join(frames["core.district_population"], on="district_code", how="left", validate="m:1")
        .group_by("area_id")
        .agg(pl.col(count).sum().alias(name), pl.col(count).null_count().alias("gaps"))
        .filter(pl.col("gaps") == 0)
        .drop("gaps")
    )
