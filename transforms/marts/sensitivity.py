"""mart.sensitivity: the smallest change of one figure that changes an area's status, exactly.

For an eligible area, what would undo it; for one that fails a single requirement, what would mend it. Where the
origin decides, the figure is the remainder's. An undetermined area waits for data, not for a change.
"""

import polars as pl

from transforms.columns import AREA, RULE_SET
from transforms.core.remainder import KEYS
from transforms.exact import BIG, big, decimal, divide_half_even, exact
from transforms.marts.eligibility import AREA_STATUSES
from transforms.marts.origin_result import standing
from transforms.rules.evaluator import MET, NOT_MET, UNDETERMINED, UNITS
from transforms.rules.reading import ORIGIN, RuleSet
from transforms.rules.reference import SCALE, Reference
from transforms.rules.slack import HARMS, HELPS, slack
from transforms.schema import Column, Kind, Table, Unit

TABLE = Table(
    name="mart.sensitivity",
    title="Sensibilidade",
    grain="One row per area and rule set: the smallest change of one figure that changes its status",
    key=("rule_set", "area_id"),
    columns=(
        RULE_SET,
        AREA,
        Column("status", Kind.TEXT, "Status as it is.", "Situação", values=AREA_STATUSES),
        Column("requirement", Kind.TEXT, "Requirement that would change.", "Requisito", nullable=True),
        Column(
            "municipality_code",
            Kind.CODE,
            "The município whose remainder's figure it is, where the requirement is the origin's.",
            "Município de origem",
            nullable=True,
        ),
        Column("measure", Kind.TEXT, "The figure that changes.", "Medida", nullable=True),
        Column("direction", Kind.TEXT, "Which way.", "Sentido", values=("increase", "decrease"), nullable=True),
        Column("amount", Kind.EXACT, "By how much, at least.", "Variação", Unit.VARIES, nullable=True),
        Column("unit", Kind.TEXT, "Unit of the change.", "Unidade", values=tuple(UNITS.values()), nullable=True),
        Column("share", Kind.RATIO, "As a share of the figure.", "Variação relativa", Unit.SHARE, nullable=True),
        Column("becomes", Kind.TEXT, "Status after that change.", "Passa a", values=AREA_STATUSES, nullable=True),
        Column(
            "sure_amount",
            Kind.EXACT,
            "The change after which the requirement is decided the other way for every value within the bounds.",
            "Variação segura",
            Unit.VARIES,
            nullable=True,
        ),
        Column("note", Kind.TEXT, "Why there is no such change.", "Observação", nullable=True),
    ),
    may_be_empty=True,
)
WAITS = "missing data decide, not a change: see what is pending"
SEVERAL = "{} requirements fail: no change of a single figure mends them"
EXEMPT = "exempt from requirements: no figure changes it"
NO_STEP = "no change of a single figure changes it"
_SHARE = 10**12  # shares are compared as whole parts of this


def sensitivity(
    rule_set: RuleSet,
    eligibility: pl.DataFrame,
    requirements: pl.DataFrame,
    origins: pl.DataFrame,
    areas: pl.DataFrame,
    remainder: pl.DataFrame,
    reference: Reference,
) -> pl.DataFrame:
    """`areas` and `remainder`: FIGURES by area, and by area and município of origin (core.remainder.after)."""
    every = _moves(rule_set, areas, remainder, reference)
    moves = pl.concat([_own(rule_set, every, requirements), _rest(rule_set, every, origins)])
    counts = ("requirements_met", "requirements_not_met", "requirements_undetermined")
    status = eligibility.select("area_id", "status", *counts)
    fails = moves.filter(pl.col("now") == NOT_MET).group_by("area_id").agg(pl.col("thing").n_unique().alias("fails"))
    open_ = moves.filter(pl.col("now") == UNDETERMINED).select("area_id").unique().with_columns(open=pl.lit(True))
    rows = status.join(fails, on="area_id", how="left", validate="1:1")
    rows = rows.join(open_, on="area_id", how="left", validate="1:1")
    known = moves.join(rows, on="area_id", validate="m:1").with_columns(_harm().alias("harm"))
    undoes = (pl.col("status") == "eligible") & (pl.col("now") == MET) & (pl.col("effect") == HARMS)
    mends = (pl.col("fails") == 1) & (pl.col("now") == NOT_MET) & (pl.col("effect") == HELPS)
    spared = pl.col("harm").is_null() | (pl.col("leaves") < pl.col("harm"))
    chosen = (
        known.filter((undoes | (mends & spared)) & (pl.col("leaves") > 0))
        .sort("area_id", pl.col("leaves").cast(BIG) * _SHARE // pl.col("base"), "place", "measure", nulls_last=True)
        .group_by("area_id", maintain_order=True)
        .first()
        .select(*_MOVE, "thing")
    )
    return TABLE.conform(_described(rows.join(chosen, on="area_id", how="left", validate="1:1"), rule_set))


def _moves(rule_set: RuleSet, areas: pl.DataFrame, remainder: pl.DataFrame, reference: Reference) -> pl.DataFrame:
    """Of the areas' own figures, where municipality_code is empty, and of what remains of each origin."""
    units = pl.concat([areas.with_columns(municipality_code=pl.lit("")), remainder], how="diagonal")
    found = [slack(each, units, reference, KEYS) for each in rule_set.requirements]
    return pl.concat([pl.DataFrame(schema=_MOVE), *(moves for moves in found if moves.width)], how="diagonal")


def _own(rule_set: RuleSet, moves: pl.DataFrame, requirements: pl.DataFrame) -> pl.DataFrame:
    """The moves of the areas' own figures; `now`: the requirement's status."""
    now = requirements.select("area_id", "requirement", pl.col("status").alias("now"))
    own = moves.filter(pl.col("municipality_code") == "")
    return _placed(own.join(now, on=["area_id", "requirement"], validate="m:1"), rule_set, "")


def _rest(rule_set: RuleSet, moves: pl.DataFrame, origins: pl.DataFrame) -> pl.DataFrame:
    """The moves of what remains of each origin; `now`: whether it keeps the requirement, or loses it."""
    rule = rule_set.origin
    if rule is None:
        return _placed(pl.DataFrame(schema=_MOVE | {"now": pl.String()}), rule_set, ORIGIN)
    now, had = standing(rule.reading), pl.col("before_status") == MET
    judged = origins.select(*KEYS, "requirement", now.alias("now"), had.alias("had"))
    joined = moves.join(judged, on=[*KEYS, "requirement"], validate="m:1")
    if rule.reading == "loss":  # what it may never have had is no sure loss
        sure = pl.when((pl.col("effect") == HELPS) | pl.col("had")).then("settles")
        joined = joined.with_columns(sure.alias("settles"))
    return _placed(joined.drop("had"), rule_set, ORIGIN)


_MOVE = dict.fromkeys(
    ("area_id", "municipality_code", "requirement", "measure", "direction", "effect"), pl.String()
) | dict.fromkeys(("base", "leaves", "settles"), pl.Int64())


def _placed(moves: pl.DataFrame, rule_set: RuleSet, kind: str) -> pl.DataFrame:
    """With what fails as one thing, its place in the law, and the requirement it counts as."""
    order = {requirement.name: place for place, requirement in enumerate(rule_set.requirements)}
    place = pl.col("requirement").replace_strict(order, return_dtype=pl.Int64) + (len(order) if kind else 0)
    thing = pl.format("{}|{}|{}", pl.lit(kind), "municipality_code", "requirement")
    counts_as = pl.lit(kind) if kind else pl.col("requirement")
    return moves.with_columns(thing.alias("thing"), place.alias("place"), counts_as.alias("requirement")).select(
        *_MOVE, "now", "thing", "place"
    )


def _harm() -> pl.Expr:
    """The step from which the same move makes something else fail that does not fail now."""
    harms = (pl.col("effect") == HARMS) & (pl.col("now") != NOT_MET)
    return pl.col("settles").filter(harms).min().over("area_id", "municipality_code", "measure", "direction")


def _described(rows: pl.DataFrame, rule_set: RuleSet) -> pl.DataFrame:
    found, fails = pl.col("leaves").is_not_null(), pl.col("fails").fill_null(0)
    decided = pl.col("leaves") >= pl.col("settles")
    rest_is_met = (pl.col("requirements_not_met") == 1) & (pl.col("requirements_undetermined") == 0)
    mended = decided & rest_is_met & pl.col("open").is_null()
    becomes = (
        pl.when(pl.col("status") == "eligible")
        .then(pl.when(decided).then(pl.lit("ineligible")).otherwise(pl.lit("undetermined")))
        .otherwise(pl.when(mended).then(pl.lit("eligible")).otherwise(pl.lit("undetermined")))
    )
    scale = pl.col("measure").replace_strict(SCALE, default=1, return_dtype=pl.Int64)
    base = pl.when(pl.col("base") > 0).then("base").cast(BIG)
    share = divide_half_even(pl.col("leaves").cast(BIG) * big(10_000), base)
    note = (
        pl.when(found)
        .then(pl.lit(None, dtype=pl.String))
        .when(pl.col("status") == UNDETERMINED)
        .then(pl.lit(WAITS))
        .when(fails > 1)
        .then(pl.format(SEVERAL, fails))
        .when((pl.col("status") == "eligible") & (pl.col("requirements_met") == 0))
        .then(pl.lit(EXEMPT))
        .otherwise(pl.lit(NO_STEP))
    )
    return rows.with_columns(
        pl.lit(rule_set.id).alias("rule_set"),
        pl.col("municipality_code").replace("", None),
        exact(pl.col("leaves"), scale).alias("amount"),
        exact(pl.col("settles"), scale).alias("sure_amount"),
        pl.col("measure").replace_strict(UNITS, default=None, return_dtype=pl.String).alias("unit"),
        decimal(share, 4).alias("share"),
        pl.when(found).then(becomes).alias("becomes"),
        note.alias("note"),
    )
