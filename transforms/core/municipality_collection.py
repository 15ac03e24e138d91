"""core.municipality_collection: state taxes collected in each município, as the treasury's file says.

Only rows of level `municipio` and sphere `estadual` count. A município's own taxes are something else, and a share
of ICMS handed over to it is not what was collected in it: neither is ever used here.
"""

from decimal import Decimal

import polars as pl

from transforms.columns import MUNICIPALITY, weakest
from transforms.errors import UsageError
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Scope

QUALITIES = ("certificado", "declarado", "estimado")  # from the strongest to the weakest
TABLE = Table(
    name="core.municipality_collection",
    title="Arrecadação estadual por município",
    grain="one row per município that the treasury's file covers, in the last closed fiscal year",
    key=("municipality_code",),
    columns=(
        MUNICIPALITY,
        Column("fiscal_year", Kind.INTEGER, "Fiscal year.", "Exercício", Unit.COUNT),
        Column("value", Kind.MONEY, "State taxes collected in the município.", "Arrecadação", Unit.BRL, source="valor"),
        Column("quality", Kind.TEXT, "As the file says.", "Qualidade", values=QUALITIES),
    ),
    may_be_empty=True,
)
WHERE = "collections.csv"
TOTAL = "TOTAL_IMPOSTOS"


def stated(collections: pl.LazyFrame, scope: Scope, level: str) -> pl.DataFrame:
    """What the file states for the state's fiscal year at a level: municipality_code, district_code, value, quality.

    A stated total stands for its parts; parts without a total are summed. A key with an empty value is not stated.
    """
    keys = ["municipality_code", "district_code"]
    rows = collections.filter(
        (pl.col("uf") == scope.uf)
        & (pl.col("fiscal_year") == scope.fiscal_year)
        & (pl.col("level") == level)
        & (pl.col("sphere") == "estadual")
    ).collect()
    total = pl.col("tax") == TOTAL
    chosen = rows.filter(total | ~total.any().over(keys)).filter(pl.col("value").is_not_null().all().over(keys))
    return chosen.group_by(keys).agg(pl.col("value").sum(), weakest(pl.col("quality"), QUALITIES)).sort(keys)


def municipality_collection(
    collections: pl.LazyFrame, municipalities: pl.Series, tax_revenue: Decimal | None, scope: Scope
) -> pl.DataFrame:
    """Checked against the state: codes must be its municípios'; a file of the whole state must make sense of it."""
    found = stated(collections, scope, "municipio").drop("district_code")
    if unknown := sorted(set(found["municipality_code"]) - set(municipalities)):
        raise UsageError(
            f"municípios that {scope.uf} does not have: {unknown}", where=WHERE, action="correct the codes"
        )
    whole = set(found["municipality_code"]) == set(municipalities)
    total = found["value"].sum()
    if whole and tax_revenue is not None and not tax_revenue / 2 <= total <= tax_revenue:
        raise UsageError(
            f"the file covers all of {scope.uf} but sums to R$ {total}, outside half to all of the state's tax "
            f"revenue of {scope.fiscal_year}, R$ {tax_revenue}",
            where=WHERE,
            action="check the unit (R$ 1, not R$ thousand) and that transfers were not subtracted",
        )
    return TABLE.conform(found.with_columns(pl.lit(scope.fiscal_year, dtype=pl.Int64).alias("fiscal_year")))
