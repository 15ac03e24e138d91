"""Sharing a whole number out exactly: the largest remainder method, vectorised."""

import polars as pl

_BIG = pl.Int128


def largest_remainder(frame: pl.DataFrame, *, total: str, weight: str, group: str, tie: str) -> pl.Series:
    """Each row's share of its group's `total` in proportion to `weight`, in whole units that sum to it exactly.

    Rows of a group repeat its total. Left-over units go to the largest remainders, ties to the smaller `tie`
    (unique). Null where the weight or the total is null; a group without weight shares nothing (null).
    """
    known = pl.col(weight).is_not_null() & pl.col(total).is_not_null()
    weights = pl.when(known).then(pl.col(weight)).sum().over(group).cast(_BIG)
    divisor = pl.when(weights > 0).then(weights)
    product = pl.when(known).then(pl.col(weight).cast(_BIG) * pl.col(total).cast(_BIG))
    shares = (
        frame.with_row_index("_row")
        .with_columns((product // divisor).alias("_floor"), (product % divisor).alias("_rest"))
        .sort(group, "_rest", tie, descending=[False, True, False], nulls_last=True)
        .with_columns(
            pl.int_range(pl.len()).over(group).alias("_turn"),
            (pl.col(total).cast(_BIG) - pl.col("_floor").sum().over(group)).alias("_left"),
        )
        .sort("_row")
    )
    return shares.select(
        (pl.col("_floor") + (pl.col("_turn") < pl.col("_left")).cast(_BIG)).cast(pl.Int64).alias("share")
    ).to_series()
