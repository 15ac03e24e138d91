"""The nightly flow: the steps of pipeline.py as Prefect tasks, so that each night is recorded, retried and shown.

Nothing is decided here: the same functions run without Prefect. Tasks are given an order (plain values) and hand back
names, for frames and connections neither travel nor hash. Only fetching is retried, and only by a schedule: a failed
source costs the night nothing while its last good snapshot is young enough. Nothing is cached by Prefect, which would
give last night's download again; what is unchanged is told by the upstream and by the snapshots.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger, runtime, task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas import filters
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.flows import Flow
from prefect.futures import wait
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
from prefect.states import Cancelled, Completed
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.types import DateTime

from flows import artifacts, notify, pipeline
from flows.order import BRASILIA, Order, run_of
from flows.pipeline import Outcome
from transforms.catalog import sources
from transforms.errors import Locked

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


@task(task_run_name="fetch {source}", retry_condition_fn=may_pass, cache_policy=NO_CACHE)
def fetch(orders: Sequence[Order], source: str) -> str:
    """Ask one source for every state; the polls go into the ledger, one word comes back."""
    polls = pipeline.ask([run_of(order) for order in orders], sources()[source])
    if failed := [poll for poll in polls if not poll.ok]:
        raise NotFetched(failed[0].cause, failed[0].message)
    return "ok"


@task(task_run_name="build {order.uf}", cache_policy=NO_CACHE)
def build(order: Order) -> Outcome:
    """Screen, check and publish from the snapshots; or find that nothing is new."""
    return pipeline.build(run_of(order))


def fetched(orders: Sequence[Order]) -> None:
    """Every source, each in a task of its own; all are waited for, whatever comes of them."""
    if orders[0].offline:
        return
    scheduled = runtime.deployment.id is not None  # by hand, one tries again oneself
    asking = fetch.with_options(retries=len(RETRY_AFTER) if scheduled else 0, retry_delay_seconds=list(RETRY_AFTER))
    wait([asking.submit(orders, source) for source in sources()])


@flow(
    name="emancipa",
    description="Fetch, build, check and publish one state.",
    task_runner=ThreadPoolTaskRunner(max_workers=8),  # type: ignore[arg-type]
    on_crashed=[lambda _flow, run, state: crashed(run, state)],
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
    order = Order(uf, as_of or night(), tuple(rules or ()), offline, sample, data, inputs, accept_drift)
    this = run_of(order)
    try:
        outcome = notify.attended(
            this, lambda run: pipeline.run(run, lambda _: fetched([order]), lambda _: build(order))
        )
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
        get_run_logger().warning("artifacts were not kept: %s", error)


def night() -> date | None:
    """The date a scheduled run is for: its own, where Brazil's capital is, however late it starts. None by hand."""
    at = runtime.flow_run.scheduled_start_time if runtime.deployment.id else None
    return at.astimezone(BRASILIA).date() if at else None


def superseded() -> State[Any] | None:
    """After an outage every missed run is late at once: only the newest has a point, the others end here."""
    deployment, due = runtime.deployment.id, runtime.flow_run.scheduled_start_time
    if not deployment:
        return None
    with get_client(sync_client=True) as client:
        newer = client.read_flow_runs(
            flow_run_filter=filters.FlowRunFilter(
                deployment_id=filters.FlowRunFilterDeploymentId(any_=[deployment]),
                state=filters.FlowRunFilterState(type=filters.FlowRunFilterStateType(any_=[StateType.SCHEDULED])),
                next_scheduled_start_time=filters.FlowRunFilterNextScheduledStartTime(
                    after_=due, before_=DateTime.now(UTC)
                ),
            ),
            limit=50,
        )
    times = [run.next_scheduled_start_time for run in newer if run.next_scheduled_start_time]
    if not times:
        return None
    return Completed(name="Superseded", message=f"the run of {max(times).astimezone(BRASILIA):%Y-%m-%d %H:%M} does it")


def crashed(run: FlowRun, state: State[Any]) -> None:
    """A process that was killed tells nothing: whoever watched it does."""
    given = run.parameters
    order = Order(uf=given.get("uf"), data=given.get("data") and Path(given["data"]), sample=given.get("sample", False))
    this = run_of(order)
    lost = notify.Cause(f"failure/{this.scope.uf}", "crashed", f"{this.scope.uf}: the run crashed: {state.message}")
    notify.notify(this.settings, [lost], now=this.now)


def as_flow(run: Flow[..., Any], order: Order) -> Outcome:
    """An order carried out here and now, recorded in Prefect; it raises what the plain steps would.

    Prefect's heartbeat, for runs whose process may vanish unseen, costs each flow run a second: here somebody waits.
    """
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        state: State[Outcome] = run(  # type: ignore[assignment]
            uf=order.uf,
            as_of=order.as_of,
            rules=list(order.rules),
            offline=order.offline,
            sample=order.sample,
            data=order.data,
            inputs=order.inputs,
            accept_drift=order.accept_drift,
            return_state=True,
        )
    if state.is_cancelled():
        raise Locked(state.message or "another run holds this data folder")
    outcome: Outcome = state.result()
    return outcome
