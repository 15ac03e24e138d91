"""core.district: every district of the state that the localities list or the census knows.

The census has districts the list lacks and the other way round: both are kept, marked, and warned about.
"""

import polars as pl

from transforms.codes import FERNANDO_DE_NORONHA, SAO_PAULO_CAPITAL, is_seat
from transforms.columns import DISTRICT, DISTRICT_NAME, MUNICIPALITY, MUNICIPALITY_NAME, UF
from transforms.errors import SourceChanged
from transforms.schema import Column, Kind, Table
from transforms.sources import Scope

TABLE = Table(
    name="core.district",
    title="Distritos",
    grain="One row per district of the state, known to the localities list or to the census",
    key=("district_code",),
    columns=(
        DISTRICT,
        DISTRICT_NAME,
        MUNICIPALITY,
        MUNICIPALITY_NAME,
        UF,
        Column("is_seat", Kind.BOOLEAN, "Whether it is the seat of its município (code ends in 05).", "É sede"),
        Column("in_localities", Kind.BOOLEAN, "Whether IBGE's list of localities has it.", "Na lista do IBGE"),
        Column("in_census", Kind.BOOLEAN, "Whether the Census 2022 district file has it.", "No Censo 2022"),
        Column(
            "refusal",
            Kind.TEXT,
            "Why it cannot be raised to município by itself; empty for a candidate.",
            "Impedimento",
            nullable=True,
        ),
    ),
)

SEAT = "seat of its município"
REFUSALS = {
    SAO_PAULO_CAPITAL: "every district of São Paulo's capital is urban seat",
    FERNANDO_DE_NORONHA: "Fernando de Noronha is a state district, not a município",
}


def district(localities: pl.LazyFrame, census: pl.LazyFrame, scope: Scope) -> pl.DataFrame:
    """Outer join on the 9-digit code; the localities list names, the census where it alone knows the district."""
    names = ["district_code", "district_name", "municipality_code", "municipality_name"]
    of_state = pl.col("district_code").str.starts_with(scope.state_code)
    listed = localities.filter(of_state).select(names).collect()
    counted = census.filter(of_state).select(names).collect()
    if listed.is_empty() or counted.is_empty():
        which = "ibge_localities" if listed.is_empty() else "ibge_census_districts"
        raise SourceChanged(f"no district of {scope.uf} in the source", where=which, action="see its snapshot")
    joined = listed.join(counted, on="district_code", how="full", suffix="_census", validate="1:1")
    municipality = pl.col("municipality_code")
    joined = joined.select(
        pl.coalesce("district_code", "district_code_census").alias("district_code"),
        *(pl.coalesce(name, f"{name}_census").alias(name) for name in names[1:]),
        pl.lit(scope.uf).alias("uf"),
        pl.col("district_code").is_not_null().alias("in_localities"),
        pl.col("district_code_census").is_not_null().alias("in_census"),
    ).with_columns(is_seat(pl.col("district_code")).alias("is_seat"))
    strange = joined.filter(pl.col("district_code").str.head(7) != municipality)["district_code"].to_list()
    if strange:
        raise SourceChanged(f"districts outside their município: {strange}", where="ibge_localities")
    whole = municipality.replace_strict(REFUSALS, default=None, return_dtype=pl.String)
    seat = pl.when("is_seat").then(pl.lit(SEAT))
    return TABLE.conform(joined.with_columns(pl.coalesce(whole, seat).alias("refusal")))
