"""Whether all that should be there is there: codes against the official lists, floors, freshness."""

import polars as pl

from expectations.check import Frames, state_code
from transforms.core.district_houses import METHODS, NO_SECTORS

# Municípios at the Census 2022, IBGE. None has been extinguished since 1988: fewer means that some got lost.
MUNICIPALITIES = {
    "11": 52, "12": 22, "13": 62, "14": 15, "15": 144, "16": 16, "17": 139, "21": 217, "22": 224, "23": 184, "24": 167,
    "25": 223, "26": 185, "27": 102, "28": 75, "29": 417, "31": 853, "32": 78, "33": 92, "35": 645, "41": 399,
    "42": 295, "43": 497, "50": 79, "51": 141, "52": 246, "53": 1,
}  # fmt: skip
FLOOR_PERCENT = 95  # of a state's municípios that each source must know
LOCALITIES, FRESHNESS = "staging.ibge_localities__district", "meta.source_freshness"
ESTIMATES, CROSSWALK = "staging.ibge_estimates__population", "staging.tse_municipalities__municipality"


def below_floor(known: pl.Expr, what: str, frame: pl.LazyFrame, percent: int = FLOOR_PERCENT) -> pl.LazyFrame:
    """States where too few of all rows satisfy `known`; a null does not. Columns: state_code, what, known, of."""
    return (
        frame.group_by(state_code())
        .agg(known.fill_null(value=False).sum().cast(pl.Int64).alias("known"), pl.len().cast(pl.Int64).alias("of"))
        .filter(pl.col("known") * 100 < pl.col("of") * percent)
        .select("state_code", pl.lit(what).alias("what"), "known", "of")
        .sort("state_code")
    )


def _unmatched(ours: pl.LazyFrame, theirs: pl.LazyFrame, key: str, other: str) -> pl.LazyFrame:
    """Codes only one side has: key, only_in."""
    sides = ((ours, theirs, "IBGE's list"), (theirs, ours, other))
    return pl.concat(
        [
            a.select(key).join(b, on=key, how="anti").unique().with_columns(pl.lit(side).alias("only_in"))
            for a, b, side in sides
        ]
    ).sort(key)


def _of_our_states(frame: pl.LazyFrame, frames: Frames) -> pl.LazyFrame:
    return frame.with_columns(state_code()).join(frames["core.state"].select("state_code"), on="state_code", how="semi")


def crosswalk(frames: Frames) -> pl.LazyFrame:
    """Municípios that only IBGE, or only the TSE's table of codes, knows."""
    return _unmatched(
        frames["core.municipality"], _of_our_states(frames[CROSSWALK], frames), "municipality_code", "the TSE's table"
    )


def estimated(frames: Frames) -> pl.LazyFrame:
    """Municípios that only IBGE's list, or only its estimates of the year in use, know."""
    codes = (
        frames[ESTIMATES]
        .filter((pl.col("level") == "municipality") & pl.col("population").is_not_null())
        .join(frames["core.state"].select(pl.col("estimate_year").alias("year")).unique(), on="year", how="semi")
        .select(pl.col("location_code").alias("municipality_code"))
    )
    return _unmatched(frames["core.municipality"], _of_our_states(codes, frames), "municipality_code", "the estimates")


def listed_and_counted(frames: Frames) -> pl.LazyFrame:
    """Districts that only the list of localities, or only the census, knows."""
    only = pl.when("in_localities").then(pl.lit("IBGE's list")).otherwise(pl.lit("the census"))
    return (
        frames["core.district"]
        .filter(~(pl.col("in_localities") & pl.col("in_census")))
        .select("district_code", "district_name", only.alias("only_in"))
        .sort("district_code")
    )


def too_few_municipalities(frames: Frames) -> pl.LazyFrame:
    """States with fewer municípios than IBGE lists now, or than there were at the census."""
    least = pl.LazyFrame({"state_code": list(MUNICIPALITIES), "least": list(MUNICIPALITIES.values())})
    listed = frames[LOCALITIES].group_by(state_code()).agg(pl.col("municipality_code").n_unique().alias("listed"))
    screened = frames["core.municipality"].group_by(state_code()).agg(pl.len().alias("screened"))
    counts = frames["core.state"].select("state_code", "uf")
    for other in (least, listed, screened):
        counts = counts.join(other, on="state_code", how="left", validate="1:1")
    expected = pl.max_horizontal("least", "listed")
    return counts.filter(pl.col("screened").fill_null(0) < expected).select(
        "uf", pl.col("screened").fill_null(0), expected.alias("expected")
    )


def below_floors(frames: Frames) -> pl.LazyFrame:
    """States where a source that no release can do without knows too few of the municípios."""
    known = {
        "a census population": pl.col("population_census").is_not_null(),
        "an estimated population": pl.col("population_estimate").is_not_null(),
        "an electorate": pl.col("electorate") > 0,
        "a TSE code": pl.col("tse_municipality_code").is_not_null(),
    }
    return pl.concat([below_floor(condition, what, frames["core.municipality"]) for what, condition in known.items()])


def partly_covered(frames: Frames) -> pl.LazyFrame:
    """States where a source that bounds only get narrower by knows some of it, but too little."""
    houses = frames["core.district_houses"].join(
        frames["core.district"].select("district_code", "municipality_code"), on="district_code", validate="1:1"
    )
    known = {
        "districts have census sectors": (pl.col("method") != METHODS[NO_SECTORS][0], houses),
        "districts are in the address list": (pl.col("establishments").is_not_null(), houses),
        "polling places have their whole município in the mesh": (
            ~pl.col("flags").str.contains("mesh_incomplete", literal=True),
            frames["core.polling_place"],
        ),
    }
    return pl.concat([below_floor(holds, what, frame) for what, (holds, frame) in known.items()]).filter(
        pl.col("known") > 0
    )


def stale(frames: Frames) -> pl.LazyFrame:
    """Sources whose last good answer is older than their cadence allows, or that never gave one."""
    last = pl.coalesce(pl.format("last answered {} days ago", "age_days"), pl.lit("has never answered"))
    of = frames[FRESHNESS].filter("is_stale").with_columns(last.alias("answered"))
    return of.select("source", "answered", "stale_after", "last_outcome").sort("source")
