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
    grain="One row per area and município or district of the country whose name is the area's, or nearly",
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
# Spellings that sound alike: what is on the left is heard as what is on the right.
_SOUNDS = {"ph": "f", "th": "t", "ch": "x", "y": "i", "w": "v", "k": "c", "z": "s", "h": "", " ": ""}


def name_check(area: pl.DataFrame, area_district: pl.DataFrame, census: pl.LazyFrame) -> pl.DataFrame:
    """`census`: staging.ibge_census_districts__district, which has the whole country."""
    taken = _names(census).with_columns(_sound())
    asked = area.select("area_id", "area_name", key=comparable(pl.col("area_name"))).with_columns(_sound())
    same = asked.join(taken, on="key").with_columns(likeness=pl.lit(SAME))
    near = (
        asked.join(taken, on="sound").filter(pl.col("key") != pl.col("key_right")).with_columns(likeness=pl.lit(NEAR))
    )
    found = pl.concat([same.select(TABLE.names), near.select(TABLE.names)])
    return TABLE.conform(
        found.join(area_district, left_on=["area_id", "code"], right_on=["area_id", "district_code"], how="anti")
    )


def _names(census: pl.LazyFrame) -> pl.DataFrame:
    """What has a name in the country: code, name, kind, municipality_name, uf, and the name's `key`."""
    districts = census.select("district_code", "district_name", "municipality_code", "municipality_name").collect()
    municipalities = districts.select(
        pl.col("municipality_code").alias("code"),
        pl.col("municipality_name").alias("name"),
        pl.lit("município").alias("kind"),
        "municipality_name",
    ).unique()
    municipalities = municipalities.with_columns(key=comparable(pl.col("name")))
    others = districts.filter(pl.col("district_name") != pl.col("municipality_name")).select(
        pl.col("district_code").alias("code"),
        pl.col("district_name").alias("name"),
        pl.lit("district").alias("kind"),
        "municipality_name",
        key=comparable(pl.col("district_name")),
    )
    # One that bears the name of its município is no other.
    others = others.join(municipalities, on=["municipality_name", "key"], how="anti")
    uf = pl.col("code").str.head(2).replace_strict(UF_OF_CODE, return_dtype=pl.String)
    return pl.concat([municipalities, others]).with_columns(uf.alias("uf")).sort("code")


def _sound() -> pl.Expr:
    """How the `key` of a name is heard."""
    heard = pl.col("key").str.replace_all(_PARTICLES, "").str.replace_many(_SOUNDS, leftmost=True)
    return heard.str.replace_many({letter * 2: letter for letter in "bcdfglmnprst"}).alias("sound")
