"""Whether sources that speak of the same things agree: the TSE's codes and names with IBGE's, accounts with theirs.

Pairs of codes are the only bridge between voters and people, and the official table was wrong once (April 2026): what
is wrong in the state being screened stops publication, what is wrong elsewhere is told.
"""

import polars as pl

from expectations.check import Frames
from expectations.coverage import CROSSWALK, LOCALITIES
from transforms.names import current
from transforms.sources.tse_municipalities import ABSENT, UNLISTED, faults

REVENUE, SECTIONS = "core.state_revenue", "staging.tse_polling_places__section"


def _wrong_pairs(frames: Frames) -> pl.LazyFrame:
    """What cannot be in the whole table of codes. Codes that only one side has are for coverage.crosswalk to list."""
    official = frames[LOCALITIES].select("municipality_code", "municipality_name").unique("municipality_code").collect()
    found = faults(frames[CROSSWALK].collect(), official)
    return found.lazy().filter(~pl.col("fault").is_in([ABSENT, UNLISTED]))


def wrong_codes(frames: Frames) -> pl.LazyFrame:
    """Wrong pairs of the states being screened."""
    return _wrong_pairs(frames).join(frames["core.state"].select("uf"), on="uf", how="semi")


def wrong_codes_elsewhere(frames: Frames) -> pl.LazyFrame:
    """Wrong pairs of the other states."""
    return _wrong_pairs(frames).join(frames["core.state"].select("uf"), on="uf", how="anti")


def other_names(frames: Frames) -> pl.LazyFrame:
    """Municípios whose names differ by more than spelling that is known to vary."""
    listed = frames[LOCALITIES].select("municipality_code", "municipality_name").unique("municipality_code")
    uf = pl.col("uf")
    return (
        frames[CROSSWALK]
        .select("uf", "tse_municipality_code", "tse_name", "municipality_code")
        .join(listed, on="municipality_code")
        .filter(current(pl.col("tse_name"), uf) != current(pl.col("municipality_name"), uf))
        .sort("municipality_code", "tse_municipality_code")
    )


def accounts_that_do_not_add_up(frames: Frames) -> pl.LazyFrame:
    """What a state's statement says of itself: a parent that is not its children's sum, deductions of both signs."""
    return frames[REVENUE].filter(pl.col("warnings").is_not_null()).select("state_code", "variant", "warnings").head(1)


def untold_voters(frames: Frames) -> pl.LazyFrame:
    """Municípios of the states being screened with sections that do not tell their voters."""
    return (
        frames[SECTIONS]
        .join(frames["core.state"].select("uf"), on="uf", how="semi")
        .filter(pl.col("voters").is_null())
        .group_by("uf", "tse_municipality_code")
        .agg(pl.len().cast(pl.Int64).alias("sections"))
        .sort("uf", "tse_municipality_code")
    )
