"""Many states at once, on two small made-up ones: what is shared, what stands in, what is published of all of them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import warehouse
from flows import national, pipeline
from flows.cli import call
from flows.national import Spread
from flows.order import Order
from tests.hook import hooked
from tests.upstream import Upstream
from transforms.codes import check_digit
from transforms.errors import UsageError
from transforms.sources import Scope
from transforms.states import CANDIDATES, own_inputs
from warehouse import data_folder, publish
from warehouse.sample.ibge import DISTRICT_COLUMNS

AS_OF = date(2026, 11, 30)
MUNICIPALITIES = {"RR": ("14", "Roraima", 15), "AP": ("16", "Amapá", 16)}
STATE = "SELECT release, is_current, reason FROM meta.state_release WHERE uf ="
MIXED = "staging.inputs_certificates__certificate"


def census(path: Path) -> Path:
    """A district file in IBGE's layout: as many municípios as the two states have, each with a seat and a district."""
    lines = [";".join(f'"{name}"' for name in DISTRICT_COLUMNS)]
    for code, state, count in MUNICIPALITIES.values():
        for number in range(1, count + 1):
            six = f"{code}{number:04}"
            municipality, name = six + check_digit(six), f"Município {number}"
            for suffix, people in (("05", 20_000 + number), ("10", 9_000 + 300 * number)):
                homes = people // 3
                district = name if suffix == "05" else f"Distrito {number}"
                row = [
                    f"{municipality}{suffix}", district, "1", "Norte", code, state,
                    municipality, name, ".", "", ".", "", f"{code}01", "Capital", f"{code}0001", "Capital", ".", "",
                    "500,0", people, homes + 3, homes, 3, "3,0", "0,0", homes - 30, 10, 20,
                ]  # fmt: skip
                lines.append(";".join(f'"{value}"' for value in row))
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("cp1252"))
    return path


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    file = census(tmp_path_factory.mktemp("census") / "distritos.csv")
    with Upstream(census=file) as server, pytest.MonkeyPatch.context() as patch:
        quick = {"EMANCIPA_SICONFI_PACE": "0", "EMANCIPA_BACKOFF_SECONDS": "0", "EMANCIPA_TRIES": "1"}
        for name, value in (server.environment() | quick).items():
            patch.setenv(name, value)
        yield server


@pytest.fixture(scope="module")
def night(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A data folder after one good national run, and what was asked for in it."""
    folder, before = tmp_path_factory.mktemp("national"), len(upstream.requests)
    assert run(folder) == 0
    return folder, [one.path for one in upstream.requests[before:] if one.status == 200]


@pytest.fixture(scope="module")
def data(night: tuple[Path, list[str]]) -> Path:
    return night[0]


def run(data: Path, *words: str) -> int:
    return call(["national", "--uf", "RR,AP", "--as-of", str(AS_OF), "--data", str(data), *words])


def rows(data: Path, sql: str) -> list[tuple[Any, ...]]:
    with warehouse.connect(data) as database:
        return database.execute(sql).fetchall()


def test_every_state_has_its_own_release_and_the_country_one(data: Path) -> None:
    homes = [data, data / "states" / "AP", data / "states" / "RR"]
    assert [publish.manifest(home, publish.current(home) or "")["uf"] for home in homes] == ["BR", "AP", "RR"]
    assert [state["uf"] for state in publish.manifest(data, publish.current(data) or "")["states"]] == ["AP", "RR"]
    assert rows(data, "SELECT uf, is_current, reason FROM meta.state_release ORDER BY uf") == [
        ("AP", True, ""),
        ("RR", True, ""),
    ]
    assert rows(data, "SELECT uf, count(*) FROM mart.eligibility GROUP BY uf ORDER BY uf") == [("AP", 16), ("RR", 15)]


def test_what_states_share_is_asked_and_parsed_once(night: tuple[Path, list[str]]) -> None:
    data, asked = night
    national_files = [path for path in asked if path.endswith((".zip", "/periodos"))]
    assert len(national_files) == len(set(national_files)) > 4
    assert len(list((data / "staging" / "staging.tse_polling_places__section").iterdir())) == 1


def test_one_ranking_over_all_and_one_in_each_state(data: Path) -> None:
    overall = rows(data, "SELECT rank, area_id FROM mart.eligibility ORDER BY rank, area_id")
    assert [rank for rank, _ in overall] == sorted(rank for rank, _ in overall)
    assert overall[0][0] == 1
    for uf in ("AP", "RR"):
        own = pl.read_csv(data / "states" / uf / "current" / "export" / "eligibility.csv", infer_schema=False)
        sql = f"SELECT state_rank::VARCHAR, area_id FROM mart.state_ranking WHERE uf = '{uf}' ORDER BY state_rank, 2"
        assert rows(data, sql) == own.select("rank", "area_id").rows()


def test_an_area_s_lineage_names_its_own_state_s_files(data: Path) -> None:
    sql = """SELECT DISTINCT a.uf, regexp_extract(l.url, '/UF/(..)/', 1) FROM mart.lineage l
        JOIN core.area a USING (area_id) WHERE l.source = 'ibge_district_mesh'"""
    assert sorted(rows(data, sql)) == [("AP", "AP"), ("RR", "RR")]


@pytest.fixture
def copy(data: Path, tmp_path: Path) -> Path:
    """That folder, to break."""
    return Path(shutil.copytree(data, tmp_path / "copy", symlinks=True))


def test_a_state_that_fails_is_stood_in_for_by_its_last_good_release_and_told_once(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = publish.current(copy / "states" / "AP")
    (one,), (other,), *_ = rows(copy, "SELECT area_id FROM core.area WHERE uf = 'RR' ORDER BY area_id")
    head = "area_id;area_name;kind;district_codes;note"
    (tmp_path / "candidates.csv").write_text(f"{head}\nnew;Nova;group;{one}|{other};\n", encoding="utf-8")
    with hooked() as hook:
        monkeypatch.setenv("EMANCIPA_NOTIFY_URL", hook.url)
        with data_folder.held(copy / "states" / "AP", now=Order().now):
            assert run(copy, "--inputs", str(tmp_path)) == 0
            assert run(copy, "--inputs", str(tmp_path)) == 0
    assert f"its last good release, {before}, stands in" in capsys.readouterr().err
    (posted,) = hook.posted
    assert "AP: another run holds" in " ".join(posted["causes"])
    ((release, is_current, reason),) = rows(copy, f"{STATE} 'AP'")
    assert (release, is_current) == (before, False)
    assert "another run holds" in reason
    assert rows(copy, "SELECT uf, count(*) FROM mart.eligibility GROUP BY uf ORDER BY uf") == [("AP", 16), ("RR", 16)]
    assert call(["status", "--data", str(copy)]) == 0
    assert f"AP failed, {before} stands in: another run holds" in " ".join(capsys.readouterr().out.split())
    leia_me = (copy / "current" / "export" / "LEIA-ME.txt").read_text(encoding="utf-8-sig")
    assert f"  AP  PUBLICAÇÃO ANTERIOR, dados até 30/11/2026, publicação {before}; a nova falhou" in leia_me
    assert "index.html" not in leia_me
    assert "index.html" in (copy / "states" / "RR" / "current" / "export" / "LEIA-ME.txt").read_text("utf-8-sig")


def test_a_state_that_fails_and_has_nothing_is_missed_in_the_title_the_summary_and_leia_me(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (copy / "states" / "AP" / "current").unlink()
    with data_folder.held(copy / "states" / "AP", now=Order().now):
        assert run(copy, "--offline") == 0
        told = " ".join(capsys.readouterr().out.split())
        assert run(copy, "--offline", "--json") == 0
    assert "RR (1 of 2 states) as of 2026-11-30 · Lei" in told
    assert "15 undetermined, 0 ineligible AP failed, it is left out: another run holds" in told
    assert [state["uf"] for state in json.loads(capsys.readouterr().out)["states"] if not state["release"]] == ["AP"]
    leia_me = (copy / "current" / "export" / "LEIA-ME.txt").read_text(encoding="utf-8-sig").splitlines()
    assert leia_me[0] == "Triagem de áreas para criação de municípios: RR (1 de 2 Estados pedidos)"
    assert any(line.startswith("  AP  FALTA: nenhum dado deste Estado está aqui") for line in leia_me)


def test_the_country_s_data_reach_as_far_as_every_state_s(data: Path) -> None:
    through = "SELECT source, published_through FROM meta.source_freshness WHERE source LIKE 'tse_%' ORDER BY source"
    found = rows(data, through)
    assert [source for source, day in found if day] == ["tse_municipalities", "tse_polling_places"]
    assert found == rows(data / "states" / "AP", through)


def test_a_second_night_is_nothing_new(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(data) == 0
    before = publish.current(data)
    assert run(data) == 0
    assert "nothing new: every state is as in the current release" in capsys.readouterr().err
    assert publish.current(data) == before


def test_a_source_gone_stale_is_told_once_for_all_states(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "stale", lambda *_: ("siconfi_revenue",))
    with hooked() as hook:
        monkeypatch.setenv("EMANCIPA_NOTIFY_URL", hook.url)
        assert run(copy, "--offline") == 0
    (posted,) = hook.posted
    assert posted["causes"] == ["BR: siconfi_revenue has not answered for longer than 62 days"]


def test_where_every_state_fails_nothing_is_published_and_status_says_why(
    upstream: Upstream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    upstream.fault("/odsele/", "503")
    try:
        assert run(tmp_path) == 4
    finally:
        upstream.heal()
    assert publish.current(tmp_path) is None
    capsys.readouterr()
    assert call(["status", "--data", str(tmp_path)]) == 0
    assert "UTC, failed: BR: " in " ".join(capsys.readouterr().out.split())


@pytest.mark.filterwarnings("ignore")
def test_a_dask_worker_killed_in_the_middle_costs_nothing(copy: Path) -> None:
    pytest.importorskip("distributed")
    unpublish(copy)
    with killing_a_worker(copy / "states"):
        assert run(copy, "--offline", "--runner", "dask", "--workers", "2") == 0
    assert rows(copy, "SELECT uf, is_current FROM meta.state_release ORDER BY uf") == [("AP", True), ("RR", True)]


@dataclass
class Machines:
    """A Dask scheduler and two workers, started as one would, each with a data folder of its own."""

    address: str
    homes: list[Path]


@pytest.fixture(scope="module")
def machines(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("machines")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    at, homes = folder / "scheduler.json", [folder / "one", folder / "two"]

    def start(name: str, *words: str, **more: str) -> subprocess.Popen[bytes]:
        log = (folder / f"{name}.log").open("wb")
        command = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(at), "--no-dashboard"]
        return subprocess.Popen(command, cwd=folder, env=environment | more, stdout=log, stderr=log)

    started = [start("scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0")]
    for home in homes:
        words = ("worker", "--nthreads", "1", "--local-directory", str(folder / f"{home.name}-dask"))
        started.append(start(home.name, *words, EMANCIPA_DATA=str(home)))
    try:
        yield Machines(json.loads(read_once_there(at))["address"], homes)
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(30)


def read_once_there(path: Path) -> str:
    for _ in range(600):
        if path.exists() and (text := path.read_text(encoding="utf-8")):
            return text
        time.sleep(0.05)
    raise AssertionError(f"no {path}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("with_share", [False, True], ids=["one data folder", "no file system in common"])
def test_workers_of_another_s_cluster_one_of_which_is_killed(
    machines: Machines, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_share: bool
) -> None:
    unpublish(copy)
    if with_share:
        monkeypatch.setenv("EMANCIPA_SHARE", f"file://{tmp_path}/share")
    states = [home / "away" / "states" for home in machines.homes] if with_share else [copy / "states"]
    words = ("--offline", "--runner", "dask", "--dask-address", machines.address)
    with killing_a_worker(*states):
        assert run(copy, *words) == 0
    assert rows(copy, "SELECT uf, is_current FROM meta.state_release ORDER BY uf") == [("AP", True), ("RR", True)]
    assert not with_share or any((home / "away").exists() for home in machines.homes)
    before = publish.current(copy)
    assert run(copy, *words) == 0
    assert publish.current(copy) == before
    for uf in ("AP", "RR"):
        *_, (outcome, code) = rows(copy / "states" / uf, "SELECT outcome, exit_code FROM meta.run ORDER BY started_at")
        assert (outcome, code) == ("published", 0)
        assert len(publish.history(copy / "states" / uf)) == 2


def unpublish(data: Path) -> None:
    """As if the states had never been published, so that they are built again."""
    for uf in ("AP", "RR"):
        (data / "states" / uf / "current").unlink()


@contextmanager
def killing_a_worker(*states: Path) -> Iterator[None]:
    """Kill the process that holds the first lock of a state, as soon as one is held and the work has begun."""
    ended, killed = threading.Event(), []

    def kill() -> None:
        while not ended.wait(0.02):
            for lock in (path for folder in states for path in folder.glob("*/lock")):
                with suppress(IndexError, ValueError):
                    holder = int(lock.read_text(encoding="utf-8").split()[1])
                    if holder != os.getpid() and list(lock.parent.glob("building/*")):
                        os.kill(holder, signal.SIGKILL)
                        killed.append(holder)
                        return

    watching = threading.Thread(target=kill)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()
    assert killed


def test_the_df_is_left_out_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(national.states(None)) == 26
    assert national.states("es, df,ES") == ("ES",)
    assert "DF: left out, the Distrito Federal cannot be divided" in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"art\. 32"):
        national.states("DF")
    with pytest.raises(UsageError, match="unknown state 'XX'"):
        national.states("ES,XX")


def test_each_state_is_given_what_speaks_of_it() -> None:
    staged = {
        CANDIDATES: pl.LazyFrame(
            {"area_id": ["a", "b", "c"], "district_codes": ["140001005|140001010", "160001005", "140001005|160001005"]}
        ),
        MIXED: pl.LazyFrame({"area_id": ["a", "b", "140001010", "160001010"]}),
    }
    found = own_inputs(staged, Scope("RR", AS_OF))
    assert found[CANDIDATES].collect()["area_id"].to_list() == ["a", "c"]  # c is nobody's: the screen refuses it
    assert sorted(found[MIXED].collect()["area_id"]) == ["140001010", "a"]


def test_as_many_at_once_as_cores() -> None:
    assert Spread().at_once == len(os.sched_getaffinity(0))
    assert Spread(workers=3).at_once == 3
