"""mart.name_check: who already has the name an area would take (LC 46/1984, arts. 9º to 14; the IBGE certifies it).

The same name: equal but for case, accents and punctuation. Near: equal also but for particles and spellings that
sound alike (z and s, y and i, ph and f, doubled letters). Nothing is guessed beyond that. An area's own districts
are no homonyms of it, nor is a seat counted beside the município it gives its name to.
"""

import polars as pl

from transforms.codes import UF_OF_CODE
from transforms.columns import AREA, AREA_NAME, MUNICIPALITY_NAME, UF
from transforms.names import comparable
from transforms.schema import Column, Kind, Table

SAME, NEAR = "same", "near"
TABLE = Table(
    name="mart.name_check",
    title="Homônimos",
    grain="one row per area and município or district of the country whose name is the area's, or nearly",
    key=("area_id", "code"),
    order=("area_id", "likeness", "code"),
    columns=(
        AREA,
        AREA_NAME,
        Column("likeness", Kind.TEXT, "The same name, or one that sounds alike.", "Semelhança", values=(SAME, NEAR)),
        Column("kind", Kind.TEXT, "What has the name.", "Tipo", values=("município", "district")),
        Column("code", Kind.CODE, "Its IBGE code.", "Código", pattern=r"^[1-5]\d{6}(\d\d)?$"),
        Column("name", Kind.TEXT, "Its name, as IBGE writes it.", "Nome"),
        UF.but(description="Its state.", label="UF do homônimo"),
        MUNICIPALITY_NAME.but(description="The município it is, or lies in."),
    ),
    may_be_empty=True,
)
_PARTICLES = r"\b(d|de|do|da|dos|das|e|del|la)\b"
# Spellings that sound alike, in this order: what is on the left is heard as what is on the right.
_SOUNDS = (("ph", "f"), ("th", "t"), ("ch", "x"), ("y", "i"), ("w", "v"), ("k", "c"), ("z", "s"), ("h", ""), (" ", ""))


def name_check(area: pl.DataFrame, area_district: pl.DataFrame, census: pl.LazyFrame) -> pl.DataFrame:
    """`census`: staging.ibge_census_districts__district, which has the whole country."""
    taken = _names(census).with_columns(_key("name"), _sound("name"))
    asked = area.select("area_id", "area_name").with_columns(_key("area_name"), _sound("area_name"))
    same = asked.join(taken, on="key").with_columns(pl.lit(SAME).alias("likeness"))
    near = (
        asked.join(taken, on="sound").filter(pl.col("key") != pl.col("key_right")).with_columns(likeness=pl.lit(NEAR))
    )
    found = pl.concat([same.select(TABLE.names), near.select(TABLE.names)])
    return TABLE.conform(
        found.join(area_district, left_on=["area_id", "code"], right_on=["area_id", "district_code"], how="anti")
    )


def _names(census: pl.LazyFrame) -> pl.DataFrame:
    districts = census.select("district_code", "district_name", "municipality_code", "municipality_name").collect()
    municipalities = districts.select(
        pl.col("municipality_code").alias("code"),
        pl.col("municipality_name").alias("name"),
        pl.lit("município").alias("kind"),
        "municipality_name",
    ).unique()
    named_apart = comparable(pl.col("district_name")) != comparable(pl.col("municipality_name"))
    others = districts.filter(named_apart).select(
        pl.col("district_code").alias("code"),
        pl.col("district_name").alias("name"),
        pl.lit("district").alias("kind"),
        "municipality_name",
    )
    uf = pl.col("code").str.head(2).replace_strict(UF_OF_CODE, return_dtype=pl.String)
    return pl.concat([municipalities, others]).with_columns(uf.alias("uf")).sort("code")


def _key(name: str) -> pl.Expr:
    return comparable(pl.col(name)).alias("key")


def _sound(name: str) -> pl.Expr:
    heard = comparable(pl.col(name)).str.replace_all(_PARTICLES, "")
    for spelling, sound in _SOUNDS:
        heard = heard.str.replace_all(spelling, sound, literal=True)
    for letter in "bcdfglmnprst":
        heard = heard.str.replace_all(letter * 2, letter, literal=True)
    return heard.alias("sound")
