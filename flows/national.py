"""All states, or some of them: shared sources once, each state a release of its own, then one release of the country.

    fetch      every source in parallel, its states in turn; what all states share is downloaded and parsed once
    states     each builds, checks and publishes in data/states/<UF>, from the snapshots and parsed answers they share
    assemble   the states' current releases, together: see warehouse/states.py

A state that fails sinks no other: its last good release stands in, and `meta.state_release`, release.json and a
message say so. Between steps go only orders and paths.
"""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from importlib import import_module
from typing import Any, Literal

from flows import lending, notify, pipeline, polling
from flows.order import Order, run_of, runs_of, state_of
from flows.run import Outcome, Run
from flows.terminal import say
from transforms.catalog import sources, tables
from transforms.codes import BY_UF, state
from transforms.errors import EmancipaError, UsageError
from warehouse import meta, publish, release, sample, staging
from warehouse import states as assembly

WORKER_MEMORY = "4GB"  # of each process of a Dask cluster of our own; the largest state needs less than two
Built = Outcome | BaseException


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the states are built, and how many at once (0: one per core)."""

    runner: Literal["threads", "dask"] = "threads"
    address: str = ""
    workers: int = 0

    @property
    def at_once(self) -> int:
        return self.workers or len(os.sched_getaffinity(0))


def states(asked: str | None, *, is_sample: bool = False) -> tuple[str, ...]:
    """The states of `ES,SE`, or all 26. The DF is left out with its reason; asked for alone, it is refused."""
    words = sample.UF if is_sample else asked or ",".join(sorted(BY_UF))
    found = []
    for word in dict.fromkeys(words.upper().replace(" ", "").split(",")):
        try:
            found.append(state(word).uf)
        except UsageError as error:
            if word != "DF" or word == words:
                raise
            say(f"DF: left out, {error.what}")
    return tuple(found)


def run(order: Order, spread: Spread) -> Outcome:
    """The whole of it in this process, without Prefect."""

    def fetch(_this: Run) -> None:
        with ThreadPoolExecutor(max_workers=8, thread_name_prefix="fetch") as pool:
            list(pool.map(partial(polling.ask, runs_of(order)), run_of(order).wanted.values()))

    def build(this: Run) -> Outcome:
        read_shared(order)
        loans = lending.lend(order, away=bool(spread.address))
        with executor(spread) as pool:
            futures = {uf: pool.submit(of_state, order, uf, loans[uf]) for uf in largest_first(order)}
            built = {uf: futures[uf].exception() or futures[uf].result() for uf in order.ufs}
        return assemble(this, lending.bring_home(order, loans, built))

    return notify.attended(run_of(order), lambda this: pipeline.run(this, fetch, build), states=order.ufs, said=True)


@contextmanager
def executor(spread: Spread) -> Iterator[Executor]:
    """Where the states are built: threads, the processes of a Dask cluster of our own, or those of another's."""
    if spread.runner == "threads":
        with ThreadPoolExecutor(spread.at_once, thread_name_prefix="state") as pool:
            yield pool
    else:
        with distributed().Client(spread.address or None, **({} if spread.address else cluster(spread))) as client:
            yield client.get_executor()


def cluster(spread: Spread) -> dict[str, Any]:
    """A Dask cluster of our own: as many processes as states at once, on this machine."""
    return {
        "n_workers": spread.at_once,
        "threads_per_worker": 1,
        "memory_limit": WORKER_MEMORY,
        "dashboard_address": None,
    }


def distributed() -> Any:
    """Dask's, which is an extra."""
    try:
        return import_module("distributed")
    except ImportError:
        raise UsageError(
            "Dask is not installed", where="--runner dask", action="pip install 'emancipa[dask]'"
        ) from None


def read_shared(order: Order) -> None:
    """Make the rows of what all states share, once, before any of them needs it."""
    this = runs_of(order)[0]
    for source in sources().values():
        poll = this.store.last_good(source.name, this.scope.uf, this.scope.as_of)
        if poll is None or poll.uf:
            continue
        for answer in poll.answers:
            with suppress(EmancipaError):  # told, and decided on, by each state that reads it
                staging.read(this.store, source, answer, this.cache)


def largest_first(order: Order) -> list[str]:
    """The states by the bytes their sources answered, so that no large one is begun when the others are done."""

    def size(uf: str) -> int:
        this = state_of(order, uf)
        polls = [this.store.last_good(source, uf, this.scope.as_of) for source in sources()]
        return sum(answer.size for poll in polls if poll is not None for answer in poll.answers)

    return sorted(order.ufs, key=lambda uf: (-size(uf), uf))


def of_state(order: Order, uf: str, loan: lending.Loan | None = None) -> Outcome:
    """Build, check and publish one state from what was fetched, in its own home; that may be lent to this machine."""
    if loan is not None:
        with lending.borrowed(order, uf, loan) as this:
            return build_in(this)
    return build_in(state_of(order, uf))


def build_in(this: Run) -> Outcome:
    """The same, in the run's home."""
    (this.data / publish.RELEASES).mkdir(parents=True, exist_ok=True)
    return pipeline.run(this, fetching=lambda _: None)


def assemble(this: Run, built: Mapping[str, Built]) -> Outcome:
    """One release of all the states' current ones. Raises what the first state did where none has any."""
    failed = {uf: outcome for uf, outcome in built.items() if isinstance(outcome, BaseException)}
    standing = {uf: this.settings.data / assembly.STATES / uf for uf in built}
    current = {uf: found for uf, home in standing.items() if (found := publish.current(home))}
    for uf, error in failed.items():
        stand_in = f"its last good release, {current[uf]}, stands in" if uf in current else "it is left out"
        this.say(f"{uf}: {error}\n  {stand_in}")
    if not current or len(failed) == len(built):
        raise next(iter(failed.values()))
    manifests = {uf: publish.manifest(standing[uf], found) for uf, found in current.items()}
    fingerprint = release.fingerprint(
        uf=this.scope.uf,
        period="",
        snapshots=[(uf, str(uf not in failed), manifests.get(uf, {}).get("fingerprint", "")) for uf in built],
        rules={file.rule_set.id: file.sha256 for file in this.rules},
        code=release.code_hash(),
    )
    same = pipeline.nothing_new(this, fingerprint, "every state is as in the current release")
    stale_in = {uf: one.stale for uf, one in built.items() if isinstance(one, Outcome)}
    outcome = same or publish_together(this, fingerprint, manifests, {uf: failed.get(uf) for uf in built})
    return replace(
        outcome,
        stale=tuple(sorted({name for names in stale_in.values() for name in names})),
        stale_in=stale_in,
        warnings=tuple(f"{uf}: {error}" for uf, error in failed.items()),
        failed=failed,
    )


def publish_together(
    this: Run, fingerprint: str, manifests: Mapping[str, Mapping[str, Any]], errors: Mapping[str, BaseException | None]
) -> Outcome:
    """The release of the country: of the states' current ones (by their manifests), with what kept each from a new."""
    from flows import releasing  # noqa: PLC0415  a night where nothing changed needs none of it

    homes = this.settings.data / assembly.STATES
    folders = {uf: homes / uf / publish.RELEASES / manifest["id"] for uf, manifest in manifests.items()}
    states = meta.STATE_RELEASE.frame(
        {
            "uf": uf,
            "release": manifests[uf]["id"] if uf in manifests else None,
            "as_of": date.fromisoformat(manifests[uf]["as_of"]) if uf in manifests else None,
            "is_current": error is None,
            "reason": str(error or ""),
        }
        for uf, error in errors.items()
    )
    content, left_out = assembly.together(folders, tables())
    snapshots, through = assembly.sources(folders)
    making = releasing.Making(
        this,
        list(sources().values()),
        snapshots,
        fingerprint,
        content,
        left_out,
        states=states,
        through=through,
    )
    return releasing.seal(making)
