"""core.district_collection: state taxes collected in each district: stated by the treasury, or apportioned.

No public source has it. What the treasury states for the district is the figure; else the município's collection
is shared out (an estimate: it fills `value` only, between 0 and the whole); without a município's row, nothing.
"""

from decimal import Decimal

import polars as pl

from transforms.apportion import largest_remainder
from transforms.columns import DISTRICT, EVIDENCE, METHOD
from transforms.exact import cents, decimal
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Scope
from transforms.sources.inputs import Fault, refusal
from transforms.sources.inputs_collections import FORM


def _brl(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.MONEY, description, label, Unit.BRL, nullable=True)


TABLE = Table(
    name="core.district_collection",
    title="Arrecadação estadual por distrito",
    grain="One row per district of the state, in the last closed fiscal year",
    key=("district_code",),
    columns=(
        DISTRICT,
        _brl("low", "The least it can be.", "Mínimo"),
        _brl("value", "Stated, or apportioned.", "Valor"),
        _brl("high", "The most it can be.", "Máximo"),
        METHOD,
        EVIDENCE,
    ),
)

STATED = "stated by the state treasury"
# Weights in order of preference: where the taxes arise, then where people live.
WEIGHTS = {
    "establishments": "establishments",
    "occupied_dwellings": "occupied dwellings",
    "population_census": "population",
}
EVIDENCE_OF = {"certificado": "certified", "declarado": "official"}


def district_collection(
    district: pl.DataFrame,
    said: pl.DataFrame,
    municipality_collection: pl.DataFrame,
    weights: pl.DataFrame,
    scope: Scope,
) -> pl.DataFrame:
    """`said`: what the file states; `weights`: district_code and the columns of WEIGHTS. Estimated rows of the file
    fill `value` only.
    """
    own = said.filter(pl.col("level") == "distrito").drop("level", "municipality_code")
    unknown = own.filter(~pl.col("district_code").is_in(district["district_code"].to_list()))
    if unknown.height:
        told = unknown.select("line", "district_code").iter_rows()
        faults = [Fault(line, "cod_distrito", f"{scope.uf} has no district {code}: correct it") for line, code in told]
        raise refusal(faults, FORM.file)
    firm = pl.col("quality").is_in(list(EVIDENCE_OF))
    joined = (
        district.select("district_code", "municipality_code")
        .join(own.rename({"value": "_own"}), on="district_code", how="left", validate="1:1")
        .join(
            municipality_collection.select("municipality_code", pl.col("value").alias("_whole")),
            on="municipality_code",
            how="left",
            validate="m:1",
        )
        .join(weights, on="district_code", how="left", validate="1:1")
    )
    _refuse_more_than_the_whole(joined.filter(firm))
    joined = _apportioned(joined)
    figures = joined.with_columns(
        pl.when(firm).then("_own").when(pl.col("_whole").is_not_null()).then(pl.lit(Decimal(0))).alias("low"),
        pl.coalesce("_own", "_share").alias("value"),
        pl.when(firm).then("_own").otherwise("_whole").alias("high"),
        pl.when(pl.col("_own").is_not_null()).then(pl.lit(STATED)).otherwise("_method").alias("method"),
    )
    evidence = (
        pl.when(firm)
        .then(pl.col("quality").replace_strict(EVIDENCE_OF, default=None))
        .when(pl.col("value").is_not_null())
        .then(pl.lit("derived"))
        .otherwise(pl.lit("missing"))
    )
    return TABLE.conform(figures.with_columns(evidence.alias("evidence")))


def _apportioned(joined: pl.DataFrame) -> pl.DataFrame:
    """The município's collection shared out to the cent, by the first weight that any of its districts has."""
    whole = joined.with_columns(cents(pl.col("_whole")).alias("_cents"))
    shares, methods = [], []
    for column, word in WEIGHTS.items():
        share = largest_remainder(whole, total="_cents", weight=column, group="municipality_code", tie="district_code")
        shares.append(decimal(pl.lit(share), 2))
        methods.append(pl.when(pl.lit(share).is_not_null()).then(pl.lit(f"the município's collection by {word}")))
    return joined.with_columns(
        pl.coalesce(shares).alias("_share"), pl.coalesce([*methods, pl.lit("no figure")]).alias("_method")
    )


def _refuse_more_than_the_whole(stated_rows: pl.DataFrame) -> None:
    """Districts stated by the treasury may not sum to more than their município (0.5 % tolerance)."""
    sums = stated_rows.group_by("municipality_code").agg(
        pl.col("_own").sum(), pl.col("_whole").first(), pl.col("line").min()
    )
    over = sums.filter(pl.col("_own") * 1000 > pl.col("_whole") * 1005).sort("municipality_code")
    told = "the districts of {} sum to R$ {}, more than the R$ {} of the município: correct either"
    faults = over.select("line", pl.format(told, "municipality_code", "_own", "_whole")).iter_rows()
    if over.height:
        raise refusal([Fault(line, "valor", why) for line, why in faults], FORM.file)
