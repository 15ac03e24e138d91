"""core.municipality_collection: state taxes collected in each município, as the treasury's file says.

Only rows of level `municipio` and sphere `estadual` count. A município's own taxes are something else, and a share
of ICMS handed over to it is not what was collected in it: neither is ever used here.
"""

from collections.abc import Iterator
from decimal import Decimal

import polars as pl

from transforms.columns import MUNICIPALITY, weakest
from transforms.errors import UsageError
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Scope
from transforms.sources.inputs import Fault, refusal
from transforms.sources.inputs_collections import FORM, QUALITIES, TOTAL

TABLE = Table(
    name="core.municipality_collection",
    title="Arrecadação estadual por município",
    grain="One row per município that the treasury's file covers, in the last closed fiscal year",
    key=("municipality_code",),
    columns=(
        MUNICIPALITY,
        Column("fiscal_year", Kind.INTEGER, "Fiscal year.", "Exercício", Unit.COUNT),
        Column("value", Kind.MONEY, "State taxes collected in the município.", "Arrecadação", Unit.BRL, source="valor"),
        Column("quality", Kind.TEXT, "As the file says.", "Qualidade", values=QUALITIES),
    ),
    may_be_empty=True,
)
TOLERANCE = 2  # per cent by which the file's own total of the state may differ from SICONFI's
_UNIT = "is it R$ 1, not R$ thousand?"


def stated(collections: pl.LazyFrame, scope: Scope) -> pl.DataFrame:
    """What the file states for the state's fiscal year: level, municipality_code, district_code, value, quality, and
    the first line that says so.

    A stated total stands for its parts; parts without a total are summed. A key with an empty value is not stated.
    """
    keys = ["level", "municipality_code", "district_code"]
    rows = collections.filter(
        (pl.col("uf") == scope.uf) & (pl.col("fiscal_year") == scope.fiscal_year) & (pl.col("sphere") == "estadual")
    ).collect()
    total = pl.col("tax") == TOTAL
    chosen = rows.filter(total | ~total.any().over(keys)).filter(pl.col("value").is_not_null().all().over(keys))
    said = pl.col("value").sum(), weakest(pl.col("quality"), QUALITIES), pl.col("line").min()
    return chosen.group_by(keys).agg(said).sort(keys)


def municipality_collection(
    said: pl.DataFrame, municipalities: pl.Series, tax_revenue: Decimal | None, scope: Scope
) -> pl.DataFrame:
    """What is `stated`, checked against the state: codes must be its municípios', and nothing can be more than all it
    collects; a file of the whole state must make sense of it.
    """
    found = said.filter(pl.col("level") == "municipio")
    unknown = found.filter(~pl.col("municipality_code").is_in(municipalities.to_list()))
    faults = [
        Fault(line, "cod_municipio", f"{scope.uf} has no município {code}: correct the code")
        for code, line in unknown.select("municipality_code", "line").iter_rows()
    ]
    if tax_revenue is not None:
        faults += _above_the_state(said, tax_revenue, scope)
    if faults:
        raise refusal(faults, FORM.file)
    total = found["value"].sum()
    whole = set(found["municipality_code"]) == set(municipalities)
    if whole and tax_revenue is not None and total < tax_revenue / 2:
        raise UsageError(
            f"the file covers all of {scope.uf} but sums to R$ {total}, less than half of the state's tax "
            f"revenue of {scope.fiscal_year}, R$ {tax_revenue}",
            where=FORM.file,
            action="check the unit (R$ 1, not R$ thousand) and that transfers were not subtracted",
        )
    return TABLE.conform(found.with_columns(pl.lit(scope.fiscal_year, dtype=pl.Int64).alias("fiscal_year")))


def _above_the_state(said: pl.DataFrame, tax_revenue: Decimal, scope: Scope) -> Iterator[Fault]:
    """Places, or all places of a level together, that are stated to collect more than the state does; and the file's
    own total of the state, where it is another than SICONFI's.
    """
    most = f"the state's tax revenue of {scope.fiscal_year}, R$ {tax_revenue}"
    for level in ("municipio", "distrito"):
        rows = said.filter(pl.col("level") == level)
        above = rows.filter(pl.col("value") > tax_revenue)
        for place in above.with_columns(pl.coalesce("district_code", "municipality_code").alias("code")).to_dicts():
            yield Fault(place["line"], "valor", f"{place['code']}: R$ {place['value']} is more than {most}: {_UNIT}")
        if above.is_empty() and rows.height and (total := rows["value"].sum()) > tax_revenue:
            told = f"the {rows.height} rows of level {level} that begin here add up to R$ {total}, more than {most}"
            yield Fault(min(rows["line"]), "valor", f"{told}: {_UNIT}")
    for value, line in said.filter(pl.col("level") == "estado").select("value", "line").iter_rows():
        if abs(value - tax_revenue) * 100 > tax_revenue * TOLERANCE:
            told = f"R$ {value} is not within {TOLERANCE} % of {most}, as the state declares it to SICONFI"
            yield Fault(line, "valor", f"{told}: {_UNIT} Or is a tax missing?")
