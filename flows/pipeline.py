"""One run, step by step, as plain functions: fetch → stage → screen → build → check → publish.

The command line and the Prefect flow call these very steps. Nothing readers see changes before the last of them.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path

import polars as pl

from flows.fetch import Asked, Client, poll
from flows.rule_files import RuleFile
from flows.settings import Settings
from transforms.catalog import sources, tables
from transforms.errors import EmancipaError, SourceChanged, SourceUnavailable
from transforms.screen import screen
from transforms.sources import Scope, Source
from warehouse import meta, publish, release
from warehouse.snapshots import Poll, Store
from warehouse.staging import stage, sweep

Polled = list[tuple[Source, Poll]]
Say = Callable[[str], None]
STAGING = "staging"
UNUSED_DAYS = 120  # parsed answers that no run has used for so long are parsed again if ever needed


def quiet(_line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run is about. `simulated` names the sources whose answers are (the bundled sample's)."""

    scope: Scope
    rules: Sequence[RuleFile]
    settings: Settings
    client: Client | None  # None: offline, build from the snapshots at hand
    now: datetime
    simulated: frozenset[str] = frozenset()
    accept_drift: str = ""
    say: Say = quiet
    store: Store = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "store", Store(self.settings.raw))

    @property
    def data(self) -> Path:
        return self.settings.data


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: the release readers now see, and whether this run made it."""

    release: str
    folder: Path
    is_new: bool
    stale: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def run(this: Run) -> Outcome:
    """The whole of it, holding the data folder's lock; how it ended is recorded, whatever it was."""
    with publish.lock(this.data, now=this.now):
        try:
            outcome = steps(this)
        except EmancipaError as error:
            record(this, type(error).__name__, error.exit_code, message=str(error))
            raise
        except Exception as error:
            record(this, "bug", 1, message=f"{type(error).__name__}: {error}")
            raise
        record(this, "published" if outcome.is_new else "nothing_new", 0, release=outcome.release)
        return outcome


def record(this: Run, outcome: str, exit_code: int, *, release: str | None = None, message: str = "") -> None:
    """One line of the data folder's ledger of runs (meta.run)."""
    ended = meta.Run(
        started_at=this.now,
        finished_at=datetime.now(UTC),
        uf=this.scope.uf,
        as_of=this.scope.as_of,
        outcome=outcome,
        exit_code=exit_code,
        release=release,
        message=" ".join(message.split()),
        version=version("emancipa"),
    )
    meta.record_run(this.data, ended)


def steps(this: Run) -> Outcome:
    """Fetch, then build if anything is new. The lock is held."""
    this.store.sweep()
    sweep(this.data / STAGING, this.now.timestamp() - UNUSED_DAYS * 86_400)
    fetched = fetch(this)
    polled = usable(this, fetched)
    fingerprint = fingerprint_of(this, polled)
    if (same := publish.already(this.data, fingerprint)) is not None:
        this.say("nothing new: every source and rule is as in the current release")
        return Outcome(same, this.data / publish.RELEASES / same, is_new=False, stale=stale(this, polled))
    return make_release(this, polled, fingerprint)


def fetch(this: Run, wanted: Mapping[str, Source] | None = None) -> dict[str, Poll]:
    """Poll every source (or those wanted), each on its own thread, for most have a host of their own; {} offline."""
    if this.client is None:
        return {}
    asked, client = Asked(), this.client
    chosen = sources() if wanted is None else wanted

    def ask(source: Source) -> Poll:
        deadline = this.settings.deadline_seconds
        result = poll(source, this.scope, this.store, client, now=this.now, deadline=deadline, asked=asked)
        this.say(f"{source.name}: {result.outcome}{f', {result.message}' if result.message else ''}")
        return result

    with ThreadPoolExecutor(max_workers=8, thread_name_prefix="fetch") as pool:
        return dict(zip(chosen, pool.map(ask, chosen.values()), strict=True))


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
        elif source.required:
            raise SourceUnavailable(
                new.message if new is not None else f"{source.title}: no snapshot at hand",
                where=name,
                action=f"run again later, or place the file by hand: emancipa fetch --file {name}=PATH"
                if new is not None
                else "run once without --offline",
            )
        elif new is not None:
            this.say(f"{name}: done without, bounds are wider")
    return found


def stale(this: Run, polled: Polled) -> tuple[str, ...]:
    """Sources whose last good answer is older than their cadence allows."""
    return tuple(source.name for source, poll in polled if (this.now - poll.polled_at).days > source.stale_after)


def fingerprint_of(this: Run, polled: Polled) -> str:
    """Everything the release would be made of. The date counts only where it decides what data are used."""
    answers = [(source.name, answer) for source, poll in polled for answer in poll.answers]
    newest = max((answer.fetched_at.date() for _, answer in answers), default=date.min)
    has_deadlines = any(name == "inputs_proposals" for name, _ in answers)
    decides = has_deadlines or this.scope.as_of < newest
    return release.fingerprint(
        uf=this.scope.uf,
        period=this.scope.as_of.isoformat() if decides else str(this.scope.fiscal_year),
        snapshots=[(name, answer.part, answer.sha256) for name, answer in answers],
        rules={file.rule_set.id: file.sha256 for file in this.rules},
        code=release.code_hash(),
    )


def staged(this: Run, polled: Polled) -> tuple[dict[str, pl.LazyFrame], list[str]]:
    """Every staging table, and what had to be done without: an optional source that cannot be read is left out."""
    frames: dict[str, pl.LazyFrame] = {
        name: table.frame().lazy() for name, table in tables().items() if table.schema_name == "staging"
    }
    left_out = []
    for source, good in polled:
        try:
            frames |= stage(this.store, [(source, good)], this.data / STAGING)
        except (SourceChanged, SourceUnavailable) as error:
            if source.required:
                raise
            left_out.append(f"{source.name}: done without, bounds are wider: {error.what}")
            this.say(left_out[-1])
    return frames, left_out


def make_release(this: Run, polled: Polled, fingerprint: str) -> Outcome:
    """Screen, build aside, check, and only then switch."""
    from flows import releasing  # noqa: PLC0415  a night where nothing changed needs none of it

    thread = releasing.prepare()
    frames, left_out = staged(this, polled)
    made = screen(frames, this.scope, [file.rule_set for file in this.rules], this.simulated)
    thread.join()
    return releasing.publish_release(this, polled, fingerprint, frames, made, left_out)
