"""What certificates say that may be an error of whoever wrote the row: told, and used as it stands.

LC 1/1967, art. 2º, § 2º: IBGE certifies population and houses, the state's electoral court (TRE) the electorate, the
state's treasury the collection, whatever a state calls it.
"""

import polars as pl

from expectations.check import Frames
from transforms.names import comparable

CERTIFICATES = "staging.inputs_certificates__certificate"
_IBGE = r"\bibge\b|instituto brasileiro de geografia"
# Words of the competent body's name, and words of another's.
BODIES = {
    "population": (_IBGE, ""),
    "urban_houses": (_IBGE, ""),
    "electorate": (r"\btre\b|tribunal regional eleitoral", ""),
    "collection": (
        r"fazenda|\bsef(a|az|in)?\b|tesouro|receita estadual|secretaria .*economia",
        r"municipa|prefeitura|federal|nacional",
    ),
}


def other_bodies(frames: Frames) -> pl.LazyFrame:
    """Certificates whose body's name is not that of the competent one."""
    body = comparable(pl.col("body"))
    wrong = [
        (pl.col("requirement") == requirement)
        & ~(body.str.contains(own) & (~body.str.contains(other) if other else pl.lit(value=True)))
        for requirement, (own, other) in BODIES.items()
    ]
    return (
        frames[CERTIFICATES]
        .filter(pl.any_horizontal(wrong))
        .select("line", "area_id", "requirement", "body")
        .sort("line", "area_id")
    )


def more_houses_than_dwellings(frames: Frames) -> pl.LazyFrame:
    """Certified houses above the private dwellings (v0003) of the area's districts, where all are known."""
    dwellings = (
        frames["core.area_district"]
        .join(frames["core.district_population"], on="district_code", how="left", validate="m:1")
        .group_by("area_id")
        .agg(
            pl.col("private_dwellings").sum().alias("dwellings"), pl.col("private_dwellings").null_count().alias("gaps")
        )
    )
    return (
        frames[CERTIFICATES]
        .filter(pl.col("requirement") == "urban_houses")
        .join(dwellings.filter(pl.col("gaps") == 0), on="area_id", validate="m:1")
        .filter(pl.col("value") > pl.col("dwellings"))
        .select("line", "area_id", pl.col("value").cast(pl.Int64).alias("houses"), "dwellings")
        .sort("line", "area_id")
    )
