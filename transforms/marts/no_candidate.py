"""mart.no_candidate: the municípios no area can leave, and why: no município is missing without a word."""

import polars as pl

from transforms.columns import MUNICIPALITY, MUNICIPALITY_NAME, UF
from transforms.schema import Column, Kind, Table

TABLE = Table(
    name="mart.no_candidate",
    title="Municípios sem candidatos",
    grain="One row per município none of whose districts can be raised to município by itself",
    key=("municipality_code",),
    columns=(UF, MUNICIPALITY, MUNICIPALITY_NAME, Column("reason", Kind.TEXT, "Why there is none.", "Motivo")),
    may_be_empty=True,
)


def no_candidate(district: pl.DataFrame) -> pl.DataFrame:
    """From core.district."""
    reason = (
        pl.when(pl.len() == 1)
        .then(pl.lit("it has a single district, its seat"))
        .otherwise(pl.col("refusal").sort_by("district_code").last())
    )
    return TABLE.conform(
        district.group_by("municipality_code")
        .agg(
            pl.col("uf").first(),
            pl.col("municipality_name").first(),
            reason.alias("reason"),
            pl.col("refusal").is_not_null().all().alias("_none"),
        )
        .filter("_none")
    )
