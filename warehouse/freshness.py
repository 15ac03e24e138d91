"""How old what is at hand is: source by source, from the ledger of polls."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from transforms.sources import Source
from warehouse import DATABASE
from warehouse.snapshots import Poll, Store

DATED_NAME = re.compile(r"_(20\d{2})(\d{2})(\d{2})\.\w+$")  # IBGE's files: …_20260520.zip


def freshness(
    store: Store,
    sources: Iterable[Source],
    now: datetime,
    uf: str | None = None,
    through: Mapping[str, date] | None = None,
) -> list[dict[str, Any]]:
    """Rows of meta.source_freshness: how each source answered last, and how old (days) its last good answer is.

    A source is stale when that age exceeds what its cadence allows, or when it never answered. With `uf`, as that
    state sees it. `published_at` is the newest date the upstream gave to what is at hand; `through` says which day
    its data speak of, else the date in a file's name does. Polls count in the order they were recorded: a clock that
    was once ahead makes no source fresh for ever.
    """
    rows = []
    for source in sources:
        polls = store.history(source.name, uf)
        good = next((poll for poll in reversed(polls) if poll.ok), None)
        failed = polls[polls.index(good) + 1 :] if good else polls
        last = polls[-1] if polls else None
        age = (now - good.polled_at).days if good else None
        dates = [answer.published_at for answer in good.answers if answer.published_at] if good else []
        rows.append(
            {
                "source": source.name,
                "title": source.title,
                "required": source.required,
                "last_polled_at": last and last.polled_at,
                "last_good_at": good and good.polled_at,
                "published_at": max(dates, default=None),
                "published_through": (through or {}).get(source.name) or _named(good),
                "age_days": age,
                "stale_after": source.stale_after,
                "is_stale": age is None or age > source.stale_after,
                "last_outcome": last and last.word,
                "last_message": last and last.message,
                "failing_since": failed[0].polled_at if failed else None,
                "failed_polls": len(failed),
            }
        )
    return rows


def through(release: Path) -> dict[str, date]:
    """Through which day the data of a release (its folder) speak, by source; an older program's may not say."""
    import duckdb  # noqa: PLC0415  what only reads ledgers starts light

    with duckdb.connect(str((release / DATABASE).resolve()), read_only=True) as database:
        rows = database.sql("FROM meta.source_freshness")
        if "published_through" not in rows.columns:
            return {}
        return dict(rows.filter("published_through IS NOT NULL").select("source, published_through").fetchall())


def _named(poll: Poll | None) -> date | None:
    """The newest date in the names of a poll's files."""
    names = (DATED_NAME.search(answer.url) for answer in (poll.answers if poll else ()))
    return max((date(*map(int, found.groups())) for found in names if found), default=None)
