"""core.area and core.area_district: what is judged. Every district but seats, and the areas of candidates.csv.

An area is any set of districts of one or several municípios. A fusion is whole municípios (art. 4º).
"""

import polars as pl

from transforms.codes import FERNANDO_DE_NORONHA
from transforms.columns import AREA, AREA_NAME, DISTRICT, MUNICIPALITY, UF
from transforms.errors import UsageError
from transforms.schema import Column, Kind, Table

KINDS = ("district", "group", "fusion")
TABLE = Table(
    name="core.area",
    title="Áreas",
    grain="one row per candidate area: each district but seats, and each area of candidates.csv",
    key=("area_id",),
    columns=(
        AREA,
        AREA_NAME,
        UF,
        Column("kind", Kind.TEXT, "District, group of districts, or fusion of whole municípios.", "Tipo", values=KINDS),
        Column("note", Kind.TEXT, "The note given in candidates.csv.", "Observação", nullable=True),
    ),
    may_be_empty=True,
)
AREA_DISTRICT = Table(
    name="core.area_district",
    title="Distritos das áreas",
    grain="one row per district of each area",
    key=("area_id", "district_code"),
    columns=(AREA, DISTRICT, MUNICIPALITY),
    may_be_empty=True,
)
WHERE = "candidates.csv"


def area_district(district: pl.DataFrame, candidates: pl.LazyFrame) -> pl.DataFrame:
    """Members of every area. Refuses unknown codes, seats and other districts that cannot leave, partial fusions."""
    alone = district.filter(pl.col("refusal").is_null()).select(
        pl.col("district_code").alias("area_id"), "district_code"
    )
    given = candidates.select(
        "area_id", "kind", pl.col("district_codes").str.split("|").alias("district_code")
    ).collect()
    given = given.explode("district_code")
    known = district.select("district_code", "municipality_code", "refusal")
    members = given.join(known, on="district_code", how="left", validate="m:1")
    unknown = members.filter(pl.col("municipality_code").is_null())
    _refuse(unknown, pl.lit("unknown district"), "see `emancipa tables core.district`")
    fused = pl.col("kind") == "fusion"
    no_municipality = pl.col("municipality_code") == FERNANDO_DE_NORONHA
    cannot_leave = members.filter(pl.col("refusal").is_not_null() & (~fused | no_municipality))
    _refuse(cannot_leave, pl.col("refusal"), "leave the district out of the area")
    _refuse_partial_fusions(members.filter(fused), known)
    both = pl.concat([alone, members.select("area_id", "district_code")])
    joined = both.join(known.drop("refusal"), on="district_code", how="left", validate="m:1")
    return AREA_DISTRICT.conform(joined)


def _refuse(rows: pl.DataFrame, reason: pl.Expr, action: str) -> None:
    if rows.height:
        first = rows.sort("area_id", "district_code").with_columns(reason.alias("_reason")).row(0, named=True)
        where = f"{WHERE}, area {first['area_id']}, district {first['district_code']}"
        raise UsageError(first["_reason"], where=where, action=action)


def _refuse_partial_fusions(members: pl.DataFrame, known: pl.DataFrame) -> None:
    taken = members.select("area_id", "municipality_code").unique()
    missing = (
        taken.join(known.select("municipality_code", "district_code"), on="municipality_code")
        .join(members.select("area_id", "district_code"), on=["area_id", "district_code"], how="anti")
        .select("area_id", "district_code")
    )
    reason = pl.lit("a fusion takes whole municípios (art. 4º), and this district is left out")
    _refuse(missing, reason, "add it")


def area(district: pl.DataFrame, candidates: pl.LazyFrame) -> pl.DataFrame:
    """Single districts under their own code and name; areas of candidates.csv as given. Ids may not collide."""
    uf = district["uf"].first()
    alone = district.filter(pl.col("refusal").is_null()).select(
        pl.col("district_code").alias("area_id"),
        pl.col("district_name").alias("area_name"),
        pl.lit("district").alias("kind"),
        pl.lit(None, dtype=pl.String).alias("note"),
    )
    given = candidates.select("area_id", "area_name", "kind", "note").collect()
    taken = sorted(set(given["area_id"]) & set(district["district_code"]))
    if taken:
        raise UsageError(f"area ids that are district codes: {taken}", where=WHERE, action="give the area another id")
    return TABLE.conform(pl.concat([alone, given]).with_columns(pl.lit(uf).alias("uf")))
