"""The flows, on the local upstream and one Prefect server: what a night ends in, and what it leaves to readers."""

import asyncio
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from prefect import runtime
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.objects import FlowRun, State
from prefect.client.schemas.schedules import CronSchedule
from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
from prefect.states import Crashed, Failed, Running, Scheduled
from prefect.testing.utilities import prefect_test_harness

from flows import nightly as flows
from flows import serve
from flows.cli import call
from flows.nightly import build, build_state, bury, fetch, may_pass, national, night, nightly, superseded
from flows.order import Order, run_of
from tests.upstream import Upstream
from transforms.errors import SourceUnavailable, UsageError
from warehouse import data_folder, publish, sample

AS_OF = date(2026, 11, 30)
BRASILIA = ZoneInfo("America/Sao_Paulo")


@pytest.fixture(scope="session")
def prefect() -> Iterator[str]:
    """A server for the session, and no heartbeat, which costs each flow run a second. Its address."""
    with (
        prefect_test_harness(server_startup_timeout=180),
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}),
    ):
        yield PREFECT_API_URL.value()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as server, pytest.MonkeyPatch.context() as patch:
        quick = {"SICONFI_PACE": "0", "BACKOFF_SECONDS": "0", "TRIES": "1"}
        for name, value in server.environment().items() | {(f"EMANCIPA_{name}", quick[name]) for name in quick}:
            patch.setenv(name, value)
        yield server


@pytest.fixture(scope="module")
def data(prefect: str, upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder after one good night."""
    folder = tmp_path_factory.mktemp("data")
    assert end(folder).is_completed()
    return folder


@pytest.fixture(autouse=True)
def healthy(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "upstream" in request.fixturenames:
        request.getfixturevalue("upstream").heal()


def end(data: Path, **words: Any) -> State[Any]:
    """How a night ends."""
    given: dict[str, Any] = {"uf": "ES", "as_of": AS_OF, "data": data, "inputs": sample.inputs()} | words
    state: State[Any] = nightly(**given, return_state=True)
    return state


def task_runs() -> dict[str, str]:
    """The last flow run's tasks, and their states."""
    with get_client(sync_client=True) as client:
        last = max(client.read_flow_runs(), key=lambda run: run.created or datetime.min.replace(tzinfo=UTC))
        runs: dict[str, str] = {}
        for _ in range(50):  # the server takes them in a moment later
            runs = {run.name: run.state_name or "" for run in client.read_task_runs() if run.flow_run_id == last.id}
            if runs and not {"Running", "Pending"} & set(runs.values()):
                return runs
            time.sleep(0.1)
    return runs


def artifacts() -> dict[str, Any]:
    with get_client(sync_client=True) as client:
        return {str(found.key): found.data for found in client.read_artifacts()}


# a night


def test_a_good_night_publishes_and_shows_it(data: Path) -> None:
    assert publish.current(data)
    shown = artifacts()
    assert {"ranking-es", "pending-es", "changes-es", "checks-es"} <= shown.keys()
    assert json.loads(shown["ranking-es"])[0]["rank"] == "1"


def test_case_72_the_second_night_asks_again_and_nothing_is_new(data: Path, upstream: Upstream) -> None:
    before, asked = publish.current(data), len(upstream.requests)
    state = end(data)
    assert state.is_completed()
    assert not state.result().is_new
    assert publish.current(data) == before
    zips = [one for one in upstream.requests[asked:] if one.path.endswith(".zip")]
    assert zips
    assert {one.status for one in zips} == {304}


def test_one_source_down_costs_a_red_task_and_nothing_else(data: Path, upstream: Upstream) -> None:
    before = publish.current(data)
    upstream.fault("/siconfi/", "503")
    assert end(data).is_completed()
    tasks = task_runs()
    assert tasks["fetch siconfi_revenue"] == "Failed"
    assert {state for name, state in tasks.items() if name != "fetch siconfi_revenue"} == {"Completed"}
    assert publish.current(data) == before


def test_case_70_a_night_without_what_it_needs_is_failed(prefect: str, upstream: Upstream, tmp_path: Path) -> None:
    upstream.fault("/odsele/", "503")
    state = end(tmp_path)
    assert state.is_failed()
    with pytest.raises(SourceUnavailable):
        state.result()
    assert publish.current(tmp_path) is None
    assert "failure/ES" in (tmp_path / "notified.jsonl").read_text(encoding="utf-8")


def test_case_79_refused_checks_fail_the_night(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from expectations import coverage  # noqa: PLC0415

    before = publish.current(data)
    monkeypatch.setitem(coverage.MUNICIPALITIES, "32", 79)
    state = end(data, inputs=_other_inputs(data))
    assert state.is_failed()
    assert "every_municipality_is_there" in str(state.message)
    assert "every_municipality_is_there" in artifacts()["checks-es"]
    assert publish.current(data) == before


def _other_inputs(data: Path) -> Path:
    """Inputs that make the night a new one."""
    folder = data / "none"
    folder.mkdir(exist_ok=True)
    return folder


def test_a_national_night(data: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(data, tmp_path / "copy", symlinks=True)
    state: State[Any] = national(ufs=["ES"], as_of=AS_OF, data=folder, inputs=sample.inputs(), return_state=True)
    assert state.is_completed()
    assert publish.manifest(folder, publish.current(folder) or "")["states"][0]["uf"] == "ES"
    tasks = task_runs()
    assert tasks["build ES"] == "Completed"
    assert "ranking-br" in artifacts()


def test_case_73_a_source_that_hangs_ends_within_its_limit(
    data: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMANCIPA_READ_SECONDS", "0.5")
    monkeypatch.setenv("EMANCIPA_DEADLINE_SECONDS", "1")
    upstream.fault("/siconfi/", "hang")
    began = time.monotonic()
    assert end(data).is_completed()
    assert time.monotonic() - began < 1 + 5


def test_case_77_a_second_run_touches_nothing(
    data: Path, prefect: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", prefect)
    before = sorted(path.name for path in data.iterdir())
    with data_folder.held(data, now=datetime.now(UTC)):
        state = end(data)
        code = call(["run", "--uf", "ES", "--as-of", str(AS_OF), "--data", str(data)])
    assert (state.name, state.is_cancelled()) == ("Locked", True)
    assert code == 6
    assert f"pid {os.getpid()}" in capsys.readouterr().err
    assert sorted(path.name for path in data.iterdir()) == before


def test_case_71_tasks_take_plain_values(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert end(data).is_completed()
    assert not [record.message for record in caplog.records if "hash" in record.message.lower()]
    assert [one.cache_policy for one in (fetch, build, build_state)] == [NO_CACHE] * 3
    plain = (str, type(None), bool, tuple, Path, date, datetime)
    assert all(isinstance(getattr(Order(data=data), field.name), plain) for field in fields(Order))


@pytest.mark.parametrize(
    ("cause", "again"), [("timeout", True), ("server_error", True), ("layout", False), ("absent", False)]
)
def test_only_what_may_pass_is_asked_again(cause: str, again: bool) -> None:
    assert may_pass(None, None, Failed(data=flows.NotFetched(cause, "no answer"))) is again


def test_the_command_is_recorded_where_a_server_is_configured(
    data: Path, prefect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with get_client(sync_client=True) as client:
        before = len(client.read_flow_runs())
        monkeypatch.setenv("PREFECT_API_URL", prefect)
        words = ["run", "--uf", "ES", "--as-of", str(AS_OF), "--data", str(data), "--inputs", str(sample.inputs())]
        assert call(words) == 0
        assert len(client.read_flow_runs()) == before + 1


def test_a_server_that_is_away_keeps_no_run_from_its_work(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "answers", lambda: False)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    words = ["run", "--uf", "ES", "--as-of", str(AS_OF), "--data", str(data), "--inputs", str(sample.inputs())]
    assert call(words) == 0
    assert "does not answer: this run is not recorded there" in capsys.readouterr().err


# the schedule


def dates(at: str, after: datetime, count: int = 1) -> list[datetime]:
    """The next moments of a schedule, as Prefect computes them."""
    made = serve.schedule(at)
    cron = CronSchedule(cron=str(made.cron), timezone=made.timezone)
    return asyncio.run(_dates(cron, after, count))


async def _dates(cron: CronSchedule, after: datetime, count: int) -> list[datetime]:
    from prefect.server.schemas.schedules import CronSchedule as Computed  # noqa: PLC0415

    found = await Computed(cron=cron.cron, timezone=cron.timezone).get_dates(n=count, start=after)
    return [datetime.fromisoformat(moment.isoformat()) for moment in found]


def test_case_74_the_schedule_is_in_brasilia() -> None:
    (moment,) = dates("02:00", datetime(2026, 9, 10, 12, tzinfo=BRASILIA))
    assert moment.astimezone(UTC) == datetime(2026, 9, 11, 5, tzinfo=UTC)


def test_case_75_no_summer_time_since_2019_and_the_old_one_as_it_was() -> None:
    (moment,) = dates("02:00", datetime(2026, 11, 30, 12, tzinfo=BRASILIA))
    assert moment.isoformat() == "2026-12-01T02:00:00-03:00"
    across = dates("02:00", datetime(2018, 11, 3, 0, tzinfo=BRASILIA), 3)
    assert [at.isoformat() for at in across] == [
        "2018-11-03T02:00:00-03:00", "2018-11-04T02:00:00-02:00", "2018-11-05T02:00:00-02:00",
    ]  # fmt: skip
    missing = datetime(2018, 11, 4, 0, 0, tzinfo=BRASILIA)
    assert missing.astimezone(UTC).astimezone(BRASILIA).isoformat() == "2018-11-04T01:00:00-02:00"


@pytest.mark.parametrize("at", ["2", "25:00", "02:60", "2am"])
def test_a_wrong_hour_is_refused(at: str) -> None:
    with pytest.raises(UsageError, match="--at"):
        serve.schedule(at)


def test_the_date_is_the_schedule_s_where_brasilia_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert night() is None
    monkeypatch.setattr(runtime.deployment, "id", "of a schedule", raising=False)
    due = datetime(2026, 12, 1, 2, 30, tzinfo=UTC)
    monkeypatch.setattr(runtime.flow_run, "scheduled_start_time", due, raising=False)
    assert night() == date(2026, 11, 30)


def test_case_77_of_a_backlog_only_the_newest_is_run(prefect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    missed = [now - timedelta(days=days) for days in (5, 4, 3, 2, 1)]
    with get_client(sync_client=True) as client:
        flow_id = client.create_flow_from_name(f"backlog {uuid.uuid4()}")
        deployment = client.create_deployment(flow_id=flow_id, name="nightly")
        for moment in [*missed, now + timedelta(hours=5)]:
            client.create_flow_run_from_deployment(deployment, state=Scheduled(scheduled_time=moment))
    monkeypatch.setattr(runtime.deployment, "id", str(deployment), raising=False)
    ends = []
    for moment in missed:
        monkeypatch.setattr(runtime.flow_run, "scheduled_start_time", moment, raising=False)
        state = superseded()
        ends.append(state.name if state else "runs")
    assert ends == ["Superseded"] * 4 + ["runs"]


def test_case_78_prefect_s_files_are_the_data_folder_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PREFECT_HOME", "DO_NOT_TRACK", "PREFECT_SERVER_ANALYTICS_ENABLED"):
        monkeypatch.delenv(name)
    serve.quiet(tmp_path)
    assert os.environ["PREFECT_HOME"] == str(tmp_path / "prefect")
    assert os.environ["DO_NOT_TRACK"] == "1"
    assert os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    for name in ("PREFECT_LOGGING_LEVEL", "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT"):
        os.environ.pop(name, None)


def test_of_a_killed_run_whoever_watched_it_tells(tmp_path: Path) -> None:
    run = FlowRun(flow_id=uuid.uuid4(), parameters={"uf": "ES", "data": str(tmp_path), "rules": []})
    state: State[Any] = Crashed(message="Process exited with status code: -9")
    for hook in nightly.on_crashed_hooks:
        hook(flow=nightly, flow_run=run, state=state)
    assert "ES: the run crashed: Process exited" in (tmp_path / "notified.jsonl").read_text(encoding="utf-8")


def test_work_outlives_whoever_read_its_log(upstream: Upstream, tmp_path: Path) -> None:
    """As that of a killed worker does: its standard error leads nowhere any more."""
    words = ["fetch", "--uf", "ES", "--source", "ibge_localities", "--data", str(tmp_path), "--json"]
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run([*COMMAND, *words], env=beside(), stdout=subprocess.PIPE, stderr=write, check=True)
    os.close(write)
    assert "ibge_localities" in process.stdout.decode()


def test_a_run_that_went_down_with_its_machine_is_marked_and_told_by_the_next(
    prefect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with get_client(sync_client=True) as client:
        flow_id = client.create_flow_from_name(f"machine {uuid.uuid4()}")
        words = {"uf": "ES", "data": str(tmp_path), "rules": []}
        deployment = client.create_deployment(flow_id=flow_id, name="nightly", parameters=words)
        states: tuple[State[Any], ...] = (Running(), Running(), Scheduled(scheduled_time=datetime.now(UTC)))
        dead, ours, late = (client.create_flow_run_from_deployment(deployment, state=state).id for state in states)
        monkeypatch.setattr(runtime.deployment, "id", str(deployment), raising=False)
        monkeypatch.setattr(runtime.flow_run, "id", str(ours), raising=False)
        for _ in range(2):
            bury(run_of(Order(uf="ES", data=tmp_path)))
        found = [client.read_flow_run(run).state_name for run in (dead, ours, late)]
    assert found == ["Crashed", "Running", "Scheduled"]
    (told,) = (tmp_path / "notified.jsonl").read_text(encoding="utf-8").splitlines()
    assert "ES: the run crashed: the run of" in told


def test_a_schedule_needs_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["serve", "--uf", "ES", "--data", str(tmp_path)]) == 2
    assert "PREFECT_API_URL" in capsys.readouterr().err


COMMAND = [sys.executable, "-c", "from flows.cli import main; main()"]


def beside(**more: str) -> dict[str, str]:
    """The environment of a process of ours that sees this very program."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}


@contextmanager
def served(prefect: str, data: Path, states: str) -> Iterator[None]:
    words = ["serve", "--uf", states, "--data", str(data)]
    environment = beside(PREFECT_API_URL=prefect, PREFECT_RUNNER_POLL_FREQUENCY="1")
    process = subprocess.Popen(
        [*COMMAND, *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def test_a_restart_keeps_the_schedule(prefect: str, tmp_path: Path) -> None:
    for _ in range(2):
        with served(prefect, tmp_path, "ES,SE"):
            _deployment("emancipa-national/nightly")
    found = _deployment("emancipa-national/nightly")
    (only,) = found.schedules
    assert (only.active, only.schedule.cron, only.schedule.timezone) == (True, "0 2 * * *", "America/Sao_Paulo")
    assert not found.paused
    assert found.global_concurrency_limit.limit == 1
    assert found.parameters["ufs"] == ["ES", "SE"]
    assert "as_of" not in found.parameters


def test_a_served_run_that_is_killed_is_marked_and_told_and_the_next_is_not_held_up(
    prefect: str, upstream: Upstream, tmp_path: Path
) -> None:
    with served(prefect, tmp_path, "ES"), get_client(sync_client=True) as client:
        deployment = _deployment("emancipa/nightly").id
        ends = []
        for is_killed in (True, False):
            given = {"as_of": str(AS_OF)}
            run = client.create_flow_run_from_deployment(deployment, parameters=given).id
            if is_killed:
                os.kill(soon(lambda: int((tmp_path / "lock").read_text(encoding="utf-8").split()[1])), signal.SIGKILL)
            ends.append(soon(partial(ended, client, run)))
    assert ends == ["Crashed", "Completed"]
    events = [json.loads(line) for line in (tmp_path / "notified.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["topic"], row["key"], row["event"]) for row in events] == [
        ("failure/ES", "crashed", "told"),
        ("failure/ES", "crashed", "passed"),
    ]
    assert publish.current(tmp_path)


def ended(client: SyncPrefectClient, run: uuid.UUID) -> str | None:
    state = client.read_flow_run(run).state
    return state.name if state and state.is_final() else None


def soon(find: Callable[[], Any]) -> Any:
    """What is found, as soon as there is something."""
    for _ in range(2400):
        with suppress(OSError, IndexError):
            if found := find():
                return found
        time.sleep(0.05)
    raise AssertionError("not in two minutes")


def _deployment(name: str) -> Any:
    with get_client(sync_client=True) as client:
        for _ in range(300):
            try:
                return client.read_deployment_by_name(name)
            except Exception:  # noqa: BLE001 not there yet
                time.sleep(0.1)
    raise AssertionError(f"no deployment {name}")


def test_equal_orders_share_a_run_and_its_client(tmp_path: Path) -> None:
    order = Order(uf="ES", as_of=AS_OF, data=tmp_path)
    same = Order(uf="ES", as_of=AS_OF, data=tmp_path, now=order.now)
    assert run_of(order) is run_of(same)
