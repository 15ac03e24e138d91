"""Many states from one inputs folder: each is given the rows of the hand-supplied files that speak of it.

A run of one state refuses an area of districts it does not know. In a national run the same area may be another
state's, and only one that is nobody's is refused.
"""

from collections.abc import Mapping

import polars as pl

from transforms.sources import Scope

CANDIDATES = "staging.inputs_candidates__area"
BY_AREA = ("staging.inputs_certificates__certificate", "staging.inputs_proposals__event")


def own_inputs(staged: Mapping[str, pl.LazyFrame], scope: Scope) -> dict[str, pl.LazyFrame]:
    """Without the areas all of whose districts lie in other states, and without what is said of such areas."""
    frames = dict(staged)
    if CANDIDATES not in frames:
        return frames
    codes = pl.col("district_codes").str.split("|").list
    elsewhere = codes.eval(~pl.element().str.starts_with(scope.state_code)).list.all()
    others = frames[CANDIDATES].filter(elsewhere).select("area_id")
    frames[CANDIDATES] = frames[CANDIDATES].filter(~elsewhere)
    own_district = ~pl.col("area_id").str.contains(r"^\d{9}$") | pl.col("area_id").str.starts_with(scope.state_code)
    for name in BY_AREA:
        if name in frames:
            frames[name] = frames[name].filter(own_district).join(others, on="area_id", how="anti")
    return frames
