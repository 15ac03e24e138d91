"""core.area and core.area_district: what is judged. Every district but seats, and the areas of candidates.csv.

An area is any set of districts of one or several municípios. A fusion is whole municípios (art. 4º).
"""

from collections.abc import Iterator

import polars as pl

from transforms.codes import FERNANDO_DE_NORONHA
from transforms.columns import AREA, AREA_KIND, AREA_NAME, DISTRICT, MUNICIPALITY, UF
from transforms.schema import Column, Kind, Table
from transforms.sources.inputs import Fault, refusal
from transforms.sources.inputs_candidates import FORM

TABLE = Table(
    name="core.area",
    title="Áreas",
    grain="One row per candidate area: each district but seats, and each area of candidates.csv",
    key=("area_id",),
    columns=(
        AREA,
        AREA_NAME,
        UF,
        AREA_KIND,
        Column("note", Kind.TEXT, "The note given in candidates.csv.", "Observação", nullable=True),
    ),
    may_be_empty=True,
)
AREA_DISTRICT = Table(
    name="core.area_district",
    title="Distritos das áreas",
    grain="One row per district of each area",
    key=("area_id", "district_code"),
    columns=(AREA, DISTRICT, MUNICIPALITY),
    may_be_empty=True,
)
PARTIAL = "a fusion takes whole municípios (art. 4º), and this district is left out"


def area_district(district: pl.DataFrame, candidates: pl.LazyFrame) -> pl.DataFrame:
    """Members of every area. Refuses unknown codes, seats and other districts that cannot leave, partial fusions."""
    alone = district.filter(pl.col("refusal").is_null()).select(
        pl.col("district_code").alias("area_id"), "district_code"
    )
    given = candidates.select(
        "line", "area_id", "kind", pl.col("district_codes").str.split("|").alias("district_code")
    ).collect()
    given = given.explode("district_code")
    known = district.select("district_code", "municipality_code", "refusal")
    members = given.join(known, on="district_code", how="left", validate="m:1")
    unknown = members.filter(pl.col("municipality_code").is_null())
    fused = pl.col("kind") == "fusion"
    no_municipality = pl.col("municipality_code") == FERNANDO_DE_NORONHA
    cannot_leave = members.filter(pl.col("refusal").is_not_null() & (~fused | no_municipality))
    faults = [
        *_faults(unknown, pl.lit("unknown district"), "see `emancipa tables core.district`"),
        *_faults(cannot_leave, pl.col("refusal"), "leave the district out of the area"),
        *_faults(_left_out(members.filter(fused), known), pl.lit(PARTIAL), "add it"),
    ]
    if faults:
        raise refusal(faults, FORM.file)
    both = pl.concat([alone, members.select("area_id", "district_code")])
    joined = both.join(known.drop("refusal"), on="district_code", how="left", validate="m:1")
    return AREA_DISTRICT.conform(joined)


def _faults(rows: pl.DataFrame, reason: pl.Expr, action: str) -> Iterator[Fault]:
    told = rows.sort("line", "district_code").select("line", "area_id", "district_code", reason.alias("reason"))
    for line, area_id, code, why in told.iter_rows():
        yield Fault(line, "district_codes", f"area {area_id}, district {code}: {why}: {action}")


def _left_out(members: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Districts of the municípios that a fusion takes which it does not take."""
    taken = members.select("line", "area_id", "municipality_code").drop_nulls().unique()
    return taken.join(known.select("municipality_code", "district_code"), on="municipality_code").join(
        members, on=["area_id", "district_code"], how="anti"
    )


def area(district: pl.DataFrame, candidates: pl.LazyFrame) -> pl.DataFrame:
    """Single districts under their own code and name; areas of candidates.csv as given. Ids may not collide."""
    uf = district["uf"].first()
    alone = district.filter(pl.col("refusal").is_null()).select(
        pl.col("district_code").alias("area_id"),
        pl.col("district_name").alias("area_name"),
        pl.lit("district").alias("kind"),
        pl.lit(None, dtype=pl.String).alias("note"),
    )
    given = candidates.select("line", "area_id", "area_name", "kind", "note").collect()
    taken = given.filter(pl.col("area_id").is_in(district["district_code"].to_list()))
    if taken.height:
        told = "is a district's code: give the area another id"
        raise refusal(
            [Fault(row["line"], "area_id", f"{row['area_id']} {told}") for row in taken.to_dicts()], FORM.file
        )
    return TABLE.conform(pl.concat([alone, given.drop("line")]).with_columns(pl.lit(uf).alias("uf")))
