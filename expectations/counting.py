"""Counting failing rows in Polars: for tables too large for pandas, and to name the first failing keys of any.

One pass over the table for all its checks; the counts go to Great Expectations, which judges them.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import polars as pl

from expectations.check import Check, Outcome

SHOWN = 5  # failing rows named in a result


def failing_rows(
    given: pl.DataFrame | pl.LazyFrame, checks: Mapping[str, Check]
) -> tuple[dict[str, int], dict[str, Outcome]]:
    """How many rows fail each check, and why some could not be counted.

    What is not in memory yet is streamed, which keeps it bounded; a small table takes twice as long that way.
    """
    frame = given.lazy()
    engine: Literal["in-memory", "streaming"] = "in-memory" if isinstance(given, pl.DataFrame) else "streaming"
    present = set(frame.collect_schema().names())
    errors: dict[str, Outcome] = {}
    counts: dict[str, int] = {}
    sums: list[pl.Expr] = []
    for key, check in checks.items():
        if check.breaks is not None:
            counts[key] = check.breaks(frame).height
        elif absent := _absent(check, present):
            errors[key] = Outcome("error", f"column absent: {', '.join(absent)}")
        else:
            sums.append(_fails(check).sum().cast(pl.Int64).alias(key))
    if sums:
        counts |= frame.select(sums).collect(engine=engine).row(0, named=True)
    return counts, errors


def first_failing(frame: pl.LazyFrame, check: Check, key: Sequence[str]) -> pl.DataFrame:
    """The first rows that fail a check: their key and the column checked. Empty where it cannot be told."""
    if check.breaks is not None:
        return check.breaks(frame).head(SHOWN)
    present = frame.collect_schema().names()
    if _absent(check, set(present)):
        return pl.DataFrame()
    shown = [name for name in dict.fromkeys((*key, check.column)) if name in present]
    return frame.filter(_fails(check)).select(shown).head(SHOWN).collect(engine="streaming")


def written(rows: pl.DataFrame) -> str:
    """Rows as text, `column=value`, the first ones only."""
    return "; ".join(" ".join(f"{name}={value}" for name, value in row.items()) for row in rows.head(SHOWN).to_dicts())


def _fails(check: Check) -> pl.Expr:
    if check.fails is None:
        raise ValueError(f"{check.name} of {check.table} says neither which rows fail it nor what breaks it")
    return check.fails


def _absent(check: Check, present: set[str]) -> list[str]:
    return sorted(set(_fails(check).meta.root_names()) - present)
