"""mart.viable_group: with whom would we make it? The smallest contiguous sets of districts that would.

A set counts if no requirement fails for sure, nor by its best estimate, and no município of origin loses one. It is
listed if no smaller set inside it is as sure. The search goes through every contiguous set of up to LARGEST
districts, leaving out what cannot come to anything: sets whose origin has surely lost a requirement that taking
more cannot give back, and sets that would fail even with the most their neighbourhood can add. No set is missed,
unless a size has more than MOST sets: then the most populous go on. At most LISTED groups are listed. `is_complete`
is false where either limit was met. A certificate speaks of one whole area, so none is used here.
"""

from collections.abc import Mapping

import polars as pl

from transforms.columns import RULE_SET, UF
from transforms.core.figures import DistrictFigures
from transforms.grouping import CERTAIN, LIKELY, Ground, viable_sets
from transforms.marts.eligibility import ranked
from transforms.rules.reading import RuleSet
from transforms.rules.reference import Reference
from transforms.schema import Column, Kind, Table, Unit

LARGEST, MOST, LISTED = 6, 100_000, 1_000
CONTIGUITY = ("common border", "same município")


def _list(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.TEXT, f"{description}, joined by |.", label)


TABLE = Table(
    name="mart.viable_group",
    title="Grupos viáveis",
    grain="One row per rule set and smallest contiguous set of two districts or more that fails nothing, in rank order",
    key=("rule_set", "district_codes"),
    order=("rule_set", "rank", "district_codes"),
    columns=(
        RULE_SET,
        Column("rank", Kind.INTEGER, "Position; equal groups share it.", "Posição", Unit.COUNT, minimum=1),
        UF,
        _list("district_codes", "Codes of its districts", "Códigos dos distritos"),
        _list("district_names", "Their names, in that order", "Distritos"),
        _list("municipality_codes", "Codes of the municípios of origin", "Códigos dos municípios"),
        _list("municipality_names", "Their names, in that order", "Municípios"),
        Column("districts", Kind.INTEGER, "How many districts.", "Quantidade", Unit.COUNT, minimum=2),
        Column(
            "status",
            Kind.TEXT,
            "Eligible: everything is surely met. Undetermined: nothing fails, but the data cannot tell all.",
            "Situação",
            values=("eligible", "undetermined"),
        ),
        Column(
            "likely",
            Kind.TEXT,
            "Where undetermined, what the best estimates point to.",
            "Indício",
            values=("likely_eligible", "unknown"),
            nullable=True,
        ),
        Column(
            "undetermined", Kind.TEXT, "Requirements the data cannot decide, joined by |.", "A apurar", nullable=True
        ),
        Column(
            "smallest_margin",
            Kind.RATIO,
            "The smallest margin of its requirements.",
            "Folga",
            Unit.SHARE,
            nullable=True,
        ),
        Column("population", Kind.INTEGER, "Its population.", "População", Unit.PERSONS, nullable=True),
        Column("contiguity", Kind.TEXT, "What makes its districts neighbours.", "Contiguidade", values=CONTIGUITY),
        Column("largest", Kind.INTEGER, "Most districts a set was tried with.", "Máximo", Unit.COUNT, minimum=2),
        Column("is_complete", Kind.BOOLEAN, "Whether every such set was tried and is listed.", "Busca completa"),
        Column("is_simulated", Kind.BOOLEAN, "Whether any figure is simulated (bundled sample).", "Simulado"),
    ),
    may_be_empty=True,
)


def viable_group(
    rule_set: RuleSet,
    core: Mapping[str, pl.DataFrame],
    known: DistrictFigures,
    origin: pl.DataFrame,
    had: pl.DataFrame,
    reference: Reference,
    *,
    simulated: bool = False,
    largest: int = LARGEST,
    most: int = MOST,
) -> pl.DataFrame:
    """Among the districts that may leave, by core.neighbour where it has rows, else within each município. `origin`:
    core.remainder.before; `had`: what it came to (marts.origin_result).
    """
    district = core["core.district"]
    free = district.filter(pl.col("refusal").is_null()).select("district_code", "municipality_code")
    free = free.sort("district_code")
    beside, contiguity = neighbours(free, core["core.neighbour"])
    ground = Ground(rule_set, free, beside, origin, had, known, reference)
    found, complete = viable_sets(ground, largest, most)
    rows = ranked(_named(found.filter(pl.col("codes").list.len() > 1), district))
    return TABLE.conform(
        rows.head(LISTED).with_columns(
            pl.lit(rule_set.id).alias("rule_set"),
            pl.lit(contiguity).alias("contiguity"),
            pl.lit(largest).alias("largest"),
            pl.lit(complete and rows.height <= LISTED).alias("is_complete"),
            pl.lit(simulated).alias("is_simulated"),
        )
    )


def neighbours(free: pl.DataFrame, neighbour: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """district_code and neighbour_code both ways, and by what. Districts that meet in a point only are none."""
    if not neighbour.is_empty():
        codes = free["district_code"].to_list()
        touching = neighbour.filter((pl.col("border_m") > 0) & pl.col("neighbour_code").is_in(codes))
        own = touching.join(free, on="district_code", how="semi")
        return own.select("district_code", "neighbour_code").sort("district_code", "neighbour_code"), CONTIGUITY[0]
    other = free.rename({"district_code": "neighbour_code"})
    pairs = free.join(other, on="municipality_code").filter(pl.col("district_code") != pl.col("neighbour_code"))
    return pairs.select("district_code", "neighbour_code").sort("district_code", "neighbour_code"), CONTIGUITY[1]


def _named(found: pl.DataFrame, district: pl.DataFrame) -> pl.DataFrame:
    """With the names of districts and municípios, and what ranks them as areas are ranked."""
    sure = pl.col("sure")
    numbered = found.with_row_index("set").with_columns(
        pl.col("codes").list.join("|").alias("district_codes"),
        pl.col("codes").list.len().cast(pl.Int64).alias("districts"),
        pl.when(sure == CERTAIN).then(pl.lit("eligible")).otherwise(pl.lit("undetermined")).alias("status"),
        pl.when(sure == LIKELY)
        .then(pl.lit("likely_eligible"))
        .when(sure < LIKELY)
        .then(pl.lit("unknown"))
        .alias("likely"),
        pl.col("open").alias("undetermined"),
        pl.lit(0).alias("requirements_met"),
    )
    members = numbered.select("set", pl.col("codes").alias("district_code")).explode("district_code")
    origin = pl.col("municipality_code").sort().unique(maintain_order=True)
    names = (
        members.join(district, on="district_code", validate="m:1")
        .sort("set", "district_code")
        .group_by("set")
        .agg(
            pl.col("uf").first(),
            pl.col("district_name").str.join("|").alias("district_names"),
            origin.str.join("|").alias("municipality_codes"),
            pl.col("municipality_name").unique(maintain_order=True).str.join("|").alias("municipality_names"),
        )
    )
    named = numbered.join(names, on="set", validate="1:1")
    return named.with_columns(pl.col("district_codes").alias("area_id"))
