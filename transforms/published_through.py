"""The third clock of a source: through which day its data speak, told by the data themselves.

When it was asked and when it was built into a release are other clocks; a source that answers every night may say
the same for a year.
"""

from collections.abc import Iterable, Mapping
from datetime import date, datetime

import polars as pl

from transforms.sources import Source


def published_through(sources: Iterable[Source], staged: Mapping[str, pl.LazyFrame]) -> dict[str, date]:
    """By source, the newest day in the column that it is dated by; a year of estimates is its 1 July."""
    found = {}
    for source in sources:
        if source.dated is None:
            continue
        table, column = source.dated
        newest = staged[table.name].select(pl.col(column).max()).collect().item()
        if newest is not None:
            found[source.name] = _day(newest)
    return found


def _day(newest: date | datetime | int) -> date:
    if isinstance(newest, datetime):
        return newest.date()
    return date(newest, 7, 1) if isinstance(newest, int) else newest
