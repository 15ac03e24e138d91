"""How old what is at hand is: source by source, from the ledger of polls."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from transforms.sources import Source
from warehouse.snapshots import Store


def freshness(store: Store, sources: Iterable[Source], now: datetime, uf: str | None = None) -> list[dict[str, Any]]:
    """Rows of meta.source_freshness: how each source answered last, and how old (days) its last good answer is.

    A source is stale when that age exceeds what its cadence allows, or when it never answered. With `uf`, as that
    state sees it. `published_at` is the newest date the upstream gave to what is at hand.
    """
    rows = []
    for source in sources:
        polls = store.history(source.name, uf)
        good = max((poll for poll in polls if poll.ok), key=lambda poll: poll.polled_at, default=None)
        last = max(polls, key=lambda poll: poll.polled_at, default=None)
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
                "age_days": age,
                "stale_after": source.stale_after,
                "is_stale": age is None or age > source.stale_after,
                "last_outcome": last and (last.cause or last.outcome),
                "last_message": last and last.message,
            }
        )
    return rows
