"""Asking the sources of a run, and which of their answers it is built from."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock

from flows.fetch import Asked, poll
from flows.run import Run
from transforms.catalog import sources
from transforms.errors import SourceChanged, SourceUnavailable
from transforms.sources import Source
from warehouse import staging
from warehouse.snapshots import Answer, Poll

Polled = list[tuple[Source, Poll]]
_READING = Lock()


def fetch(this: Run, wanted: Mapping[str, Source] | None = None) -> dict[str, Poll]:
    """Poll what the run asks (or those wanted), each on its own thread, for most have a host of their own."""
    chosen = this.wanted if wanted is None else wanted
    with ThreadPoolExecutor(max_workers=8, thread_name_prefix="fetch") as pool:
        polls = pool.map(lambda source: ask([this], source)[0], chosen.values())
        return dict(zip(chosen, polls, strict=True))


def ask(runs: Sequence[Run], source: Source) -> list[Poll]:
    """Poll one source for each state, its shared questions once; where all of them are, one poll speaks for all."""
    asked, polls = Asked(), []
    for this in runs:
        if this.client is None:
            continue
        deadline = this.settings.deadline_seconds
        # A bad file of the user's own is told when it is staged, and stops the run.
        read = None if source.base == "inputs" else partial(_read, this, source)
        result = poll(
            source, this.scope, this.store, this.client, now=this.now, deadline=deadline, asked=asked, read=read
        )
        where = f"{result.uf} " if len(runs) > 1 and result.uf else ""
        how = result.word if result.ok else result.outcome
        this.say(f"{where}{source.name}: {how}{f', {result.message}' if result.message else ''}")
        polls.append(result)
        if not result.uf:
            break
    return polls


def _read(this: Run, source: Source, answer: Answer) -> None:
    """Make rows of an answer while others still download; one at a time, for national files are large."""
    with _READING:
        staging.read(this.store, source, answer, this.cache)


def polled(this: Run) -> dict[str, Poll]:
    """What this run's fetching came to, by source: its last poll of each."""
    return {poll.source: poll for poll in this.store.history(uf=this.scope.uf) if poll.polled_at == this.now}


def usable(this: Run, fetched: Mapping[str, Poll]) -> Polled:
    """The polls to build from: what was just fetched, else the last good one of each source.

    A layout that changed stops the run even where an older snapshot is at hand: somebody must look. A required source
    with nothing at hand stops it too; an optional one is done without.
    """
    found: Polled = []
    for name, source in sources().items():
        new = fetched.get(name)
        if new is not None and new.cause == "layout" and source.required:
            raise SourceChanged(new.message, where=name, action="compare the answer with the source's module")
        good = new if new is not None and new.ok else this.store.last_good(name, this.scope.uf, this.scope.as_of)
        if good is not None:
            found.append((source, good))
            if good is not new and new is not None:
                this.say(f"{name}: what it answered on {good.polled_at:%Y-%m-%d} stays in use")
        elif source.required:
            raise SourceUnavailable(
                new.message if new is not None else f"{source.title}: no snapshot at hand",
                where=name,
                action=f"run again later, or place the file by hand: "
                f"emancipa fetch --uf {this.scope.uf} --file {name}=PATH"
                if new is not None
                else "run once without --offline",
            )
        elif new is not None:
            this.say(f"{name}: done without, bounds are wider")
    return found


def stale(this: Run, polled: Polled) -> tuple[str, ...]:
    """Sources whose last good answer is older than their cadence allows."""
    return tuple(source.name for source, poll in polled if (this.now - poll.polled_at).days > source.stale_after)
