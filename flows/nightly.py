"""The flows: the steps of pipeline.py and national.py as Prefect tasks, so that each night is recorded and shown.

Nothing is decided here: the same functions run without Prefect. Tasks are given an order (plain values) and hand back
names, for frames and connections neither travel nor hash. Only fetching is retried, and only by a schedule: a failed
source costs the night nothing while its last good snapshot is young enough. Nothing is cached by Prefect, which would
give last night's download again; what is unchanged is told by the upstream and by the snapshots.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

from prefect import flow, get_run_logger, runtime, task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas import filters
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.flows import Flow
from prefect.futures import wait
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
from prefect.states import Cancelled, Completed, Crashed
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from flows import artifacts, lending, notify, pipeline, polling
from flows.national import Spread, assemble, cluster, distributed, largest_first, of_state, read_shared
from flows.order import Order, run_of, runs_of
from flows.run import Outcome, Run
from transforms.catalog import sources
from transforms.errors import Locked
from warehouse.snapshots import BRASILIA

# What may be gone in an hour. A changed layout, a refusal or a page that is not data will not be.
PASSING = frozenset({"timeout", "unreachable", "server_error", "rate_limited", "truncated", "corrupt", "blocked"})
RETRY_AFTER = (300.0, 1800.0)  # seconds; the client's own tries, seconds apart, came before


class NotFetched(Exception):
    """A source did not answer usably: the task is red, and the run builds from the last good snapshot."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(cause, message)
        self.cause = cause


def may_pass(_task: object, _run: object, state: State[Any]) -> bool:
    """Whether asking again later may help."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, NotFetched) and error.cause in PASSING


# tasks


@task(task_run_name="fetch {source}", retry_condition_fn=may_pass, cache_policy=NO_CACHE)
def fetch(order: Order, source: str) -> str:
    """Ask one source, for every state of the order; the polls go into the ledger, one word comes back."""
    polls = polling.ask(runs_of(order), sources()[source])
    if failed := [poll for poll in polls if not poll.ok]:
        raise NotFetched(failed[0].cause, failed[0].message)
    return "ok"


@task(task_run_name="build", cache_policy=NO_CACHE)
def build(order: Order) -> Outcome:
    """Screen, check and publish from the snapshots; or find that nothing is new."""
    return pipeline.build(run_of(order))


@task(task_run_name="build {uf}", cache_policy=NO_CACHE)
def build_state(order: Order, uf: str, loan: lending.Loan | None) -> Outcome:
    """The same for one state of a national run, in its own home."""
    return of_state(order, uf, loan)


def fetch_all(order: Order) -> None:
    """Every source, each in a task of its own; all are waited for, whatever comes of them."""
    scheduled = runtime.deployment.id is not None  # by hand, one tries again oneself
    if scheduled:
        recorded(bury, run_of(order))
    asking = fetch.with_options(retries=len(RETRY_AFTER) if scheduled else 0, retry_delay_seconds=list(RETRY_AFTER))
    wait([asking.submit(order, source) for source in run_of(order).wanted])


# flows


def crashed(flow: object, flow_run: FlowRun, state: State[Any]) -> None:
    """A process that was killed tells nothing: whoever watched it does."""
    given = flow_run.parameters
    words = {field.name: given[field.name] for field in fields(Order) if field.name in given}
    paths = {name: Path(words[name]) for name in ("data", "inputs") if words.get(name)}
    this = run_of(Order(**{**words, **paths, "rules": (), "ufs": tuple(words.get("ufs", ()))}))
    uf = this.scope.uf
    lost = notify.Cause(f"failure/{uf}", "crashed", f"{uf}: the run crashed: {state.message}")
    notify.notify(this.settings, [lost], now=datetime.now(UTC))


@flow(
    name="emancipa",
    description="Fetch, build, check and publish one state.",
    task_runner=ThreadPoolTaskRunner(max_workers=8),  # type: ignore[arg-type]
    on_crashed=[crashed],
)
def nightly(
    uf: str | None = None,
    as_of: date | None = None,
    rules: list[str] | None = None,
    offline: bool = False,
    sample: bool = False,
    data: Path | None = None,
    inputs: Path | None = None,
    accept_drift: str = "",
) -> Outcome | State[Any]:
    """One state, from fetching to publication. Whatever is critical raises, and the run is Failed."""
    if newer := superseded():
        return newer
    order = Order(uf, (), as_of or night(), tuple(rules or ()), offline, sample, data, inputs, accept_drift)
    return shown(run_of(order), lambda this: pipeline.run(this, lambda _: fetch_all(order), lambda _: build(order)))


@flow(
    name="emancipa-national",
    description="Fetch, build, check and publish several states, and all of them together.",
    task_runner=ThreadPoolTaskRunner(max_workers=8),  # type: ignore[arg-type]
    on_crashed=[crashed],
)
def national(
    ufs: list[str],
    as_of: date | None = None,
    rules: list[str] | None = None,
    offline: bool = False,
    sample: bool = False,
    data: Path | None = None,
    inputs: Path | None = None,
    accept_drift: str = "",
    runner: Literal["threads", "dask"] = "threads",
    dask_address: str = "",
    workers: int = 0,
) -> Outcome | State[Any]:
    """Many states: each a task, spread over threads or a Dask cluster; then one release of all."""
    if newer := superseded():
        return newer
    order = Order(None, tuple(ufs), as_of or night(), tuple(rules or ()), offline, sample, data, inputs, accept_drift)

    def built(this: Run) -> Outcome:
        read_shared(order)
        loans = lending.lend(order, away=bool(dask_address))
        with spread_over(Spread(runner, dask_address, workers)) as pool:
            queue = largest_first(order)
            futures = {uf: pool.submit(build_state, {"order": order, "uf": uf, "loan": loans[uf]}) for uf in queue}
            ends = {uf: futures[uf].result(raise_on_failure=False) for uf in ufs}
        return assemble(this, lending.bring_home(order, loans, ends))

    return shown(run_of(order), lambda this: pipeline.run(this, lambda _: fetch_all(order), built), order.ufs)


def spread_over(spread: Spread) -> TaskRunner[Any]:
    """Where the tasks of the states run: see national.executor."""
    if spread.runner == "threads":
        return ThreadPoolTaskRunner(max_workers=spread.at_once)
    distributed()
    from prefect_dask.task_runners import DaskTaskRunner  # noqa: PLC0415  an extra

    if spread.address:
        return DaskTaskRunner(address=spread.address)
    return DaskTaskRunner(cluster_kwargs=cluster(spread))


def shown(this: Run, work: Callable[[Run], Outcome], states: Sequence[str] = ()) -> Outcome | State[Any]:
    """Do the work, tell who must look, and show in Prefect what came of it. A held lock cancels the run."""
    try:
        outcome = notify.attended(this, work, states=states)
    except Locked as busy:
        return Cancelled(name="Locked", message=str(busy))
    except Exception:
        recorded(artifacts.of_refusal, this)
        raise
    recorded(artifacts.of_release, this, outcome)
    return outcome


def recorded(make: Callable[..., None], *what: object) -> None:
    """Show something in Prefect. Its server may be away by now: what was published stays published."""
    try:
        make(*what)
    except Exception as error:  # noqa: BLE001 a record that cannot be kept changes no result
        get_run_logger().warning("not recorded: %s: %s", make.__name__, error)


def night() -> date | None:
    """The date a scheduled run is for: its own, where Brazil's capital is, however late it starts. None by hand."""
    at = runtime.flow_run.scheduled_start_time if runtime.deployment.id else None
    return at.astimezone(BRASILIA).date() if at else None


def superseded() -> State[Any] | None:
    """After an outage every missed run is late at once: only the newest has a point, the others end here."""
    due, now = runtime.flow_run.scheduled_start_time, datetime.now(UTC)
    if not runtime.deployment.id:
        return None
    between = filters.FlowRunFilterNextScheduledStartTime(after_=due, before_=now)  # type: ignore[arg-type]
    missed = (run.next_scheduled_start_time for run in siblings(StateType.SCHEDULED, next_scheduled_start_time=between))
    later = max((time for time in missed if time and time > due), default=None)
    if later is None:
        return None
    return Completed(name="Superseded", message=f"the run of {later.astimezone(BRASILIA):%Y-%m-%d %H:%M} does it")


def bury(this: Run) -> None:
    """A run that went down with its machine says for ever that it runs: whoever holds the lock now knows better."""
    dead = [run for run in siblings(StateType.RUNNING, StateType.PENDING) if str(run.id) != runtime.flow_run.id]
    with get_client(sync_client=True) as client:
        for run in dead:
            begun = (run.start_time or this.now).astimezone(BRASILIA)
            gone: State[Any] = Crashed(
                message=f"the run of {begun:%Y-%m-%d %H:%M} ended without a word, its machine with it"
            )
            client.set_flow_run_state(run.id, gone)
            crashed(None, run, gone)


def siblings(*types: StateType, **more: Any) -> list[FlowRun]:
    """The runs of this run's deployment, it among them, that are in such a state."""
    deployment = filters.FlowRunFilterDeploymentId(any_=[runtime.deployment.id])
    state = filters.FlowRunFilterState(type=filters.FlowRunFilterStateType(any_=list(types)))
    with get_client(sync_client=True) as client:
        return client.read_flow_runs(
            flow_run_filter=filters.FlowRunFilter(deployment_id=deployment, state=state, **more)
        )


def as_flow(run: Flow[..., Any], order: Order, **more: Any) -> Outcome:
    """An order carried out here and now, recorded in Prefect; it raises what the plain steps would.

    Prefect's heartbeat, for runs whose process may vanish unseen, costs each flow run a second: here somebody waits.
    """
    words = {name: value for name, value in asdict(order).items() if name in run.parameters.properties}
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        state: State[Outcome] = run(**words, **more, return_state=True)  # type: ignore[assignment]
    if state.is_cancelled():
        raise Locked(state.message or "another run holds this data folder")
    outcome: Outcome = state.result()
    return outcome
