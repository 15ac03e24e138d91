"""The real command and the data folder: refused, killed, out of space, day after day; readers keep a whole release."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import warehouse
from flows import pipeline, rule_files
from flows.cli import call
from flows.order import Order, run_of
from flows.run import Outcome
from transforms.screen import screen
from warehouse import build, publish, sample

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which the sample has been published once."""
    data = tmp_path_factory.mktemp("ran")
    assert call(["run", "--sample", "--data", str(data)]) == 0
    return data


@pytest.fixture
def data(ran: Path, tmp_path: Path) -> Path:
    """A copy of it, to break."""
    shutil.copytree(ran, tmp_path / "data", symlinks=True)
    return tmp_path / "data"


def again(data: Path, *words: str) -> int:
    """Another release of the same snapshots, under one more rule set: there is something new to build."""
    rules = ("--rules", "lc_1_1967", "--rules", "plp_137_2015")
    return call(["run", "--sample", "--offline", "--data", str(data), *rules, *words])


def asked(data: Path, query: str) -> list[tuple[Any, ...]]:
    with warehouse.connect(data / "sample") as database:
        return database.sql(query).fetchall()


# refused

Frames = dict[str, pl.DataFrame]


def cell(table: str, where: pl.Expr, **values: Any) -> Callable[[Frames], None]:
    """Other values in the rows of a table that meet a condition."""

    def plant(made: Frames) -> None:
        rows = made[table]
        made[table] = rows.with_columns(
            pl.when(where).then(pl.lit(value)).otherwise(pl.col(name)).cast(rows.schema[name]).alias(name)
            for name, value in values.items()
        )

    return plant


def less(table: str, where: pl.Expr) -> Callable[[Frames], None]:
    def plant(made: Frames) -> None:
        made[table] = made[table].filter(~where)

    return plant


CARAPINA = pl.col("district_code") == "320500215"
ELIGIBLE, ALL = pl.col("status") == "eligible", pl.lit(value=True)
# One of each kind of check, planted together as far as one does not hide another.
PLANTED: dict[str, dict[str, Callable[[Frames], None]]] = {
    "declarations": {
        "not_null core.district.district_name": cell("core.district", CARAPINA, district_name=None),
        "pattern core.municipality.municipality_code": cell("core.municipality", ALL, municipality_code="32050020"),
        "range core.district_population.population_census": cell(
            "core.district_population", CARAPINA, population_census=-1
        ),
        "vocabulary mart.eligibility.status": cell("mart.eligibility", ELIGIBLE, status="approved"),
        "not_empty mart.rule_arm": less("mart.rule_arm", ALL),
    },
    "truths": {
        "districts_make_municipality_census core.district_population": cell(
            "core.district_population", CARAPINA, population_census=1
        ),
        "every_voter_has_a_place core.polling_place": less("core.polling_place", CARAPINA),
        "bounds_are_ordered": cell("core.area_measure", ALL, low=10**9),
        "text_is_readable": cell("core.district", ALL, district_name="SÃ£o JoÃ£o"),
    },
    "queries": {
        "status_follows_requirements": cell("mart.eligibility", pl.col("status") == "undetermined", status="eligible"),
        "ranking_order": cell("mart.eligibility", pl.col("rank") == 1, rank=99),
        "pending_is_complete": less("mart.pending", ALL),
        "simulated_is_said": cell("mart.eligibility", ALL, is_simulated=False),
    },
    "drift": {
        "drift_coverage core.district": less("core.district", pl.col("district_code").str.ends_with("05")),
        "drift_total core.municipality.electorate": cell("core.municipality", ALL, electorate=1),
        "drift_status mart.eligibility.status": cell("mart.eligibility", ALL, status="undetermined"),
    },
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_defect_is_named_and_nothing_is_published(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    before = publish.current(data / "sample")

    def damaged(*given: Any) -> Frames:
        made = screen(*given)
        for plant in PLANTED[kind].values():
            plant(made)
        return made

    monkeypatch.setattr(pipeline, "screen", damaged)
    assert again(data) == 3
    assert publish.current(data / "sample") == before
    (report,) = (data / "sample/building").glob("*/checks/checks.txt")
    named = {line.strip() for line in report.read_text(encoding="utf-8").splitlines()}
    assert {f"CRITICAL failed: {check}" for check in PLANTED[kind]} <= named
    assert str(report) in capsys.readouterr().err


def test_what_was_refused_is_remembered_by_the_next_release(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = less("mart.pending", ALL)

    def damaged(*given: Any) -> Frames:
        made = screen(*given)
        empty(made)
        return made

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "screen", damaged)
        assert again(data) == 3
    assert again(data) == 0
    assert not list(data.glob("sample/building/*"))
    assert [row[0] for row in asked(data, "SELECT outcome FROM meta.run")] == ["published", "refused", "published"]
    refused = (
        "SELECT outcome, check_name FROM meta.check_history JOIN meta.run USING (run_id) WHERE severity = 'critical'"
    )
    assert asked(data, refused) == [("refused", "pending_is_complete")]


def test_a_query_that_errs_refuses_too(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "checks", lambda: {"broken": "-- severity: warning\nSELECT * FROM core.nothing"})
    assert again(data) == 3


def test_a_revised_source_that_flips_a_verdict_is_told_refused_accepted_and_remembered(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An area's certificate of its collection is corrected downwards; here even one flip is more than tolerated."""
    inputs = tmp_path / "inputs"
    shutil.copytree(sample.inputs(), inputs)
    area, before, after = flip(inputs / "certificates.csv")
    run = ["run", "--sample", "--data", str(data), "--inputs", str(inputs)]
    monkeypatch.setattr("expectations.drift.FLIPS", 1)
    monkeypatch.setattr("expectations.drift.FLIPS_PERCENT", 0)
    assert call(run) == 3
    assert "drift_status mart.eligibility.status" in capsys.readouterr().err

    reason = "the treasury corrected its certificate"
    assert call([*run, "--accept-drift", reason]) == 0
    told = (data / "sample/current/diff.md").read_text(encoding="utf-8")
    (line,) = [line for line in told.splitlines() if "lc_1_1967 status" in line and area in line]
    assert f"| {before} | {after} | collection: revised source: inputs_certificates" in line
    accepted = "SELECT severity, status, observed FROM meta.check_result WHERE check_name = 'drift_status'"
    assert asked(data, accepted) == [
        ("warning", "failed", f"1 of 204 areas changed their status (limit 0 %); accepted: {reason}")
    ]
    assert asked(data, "SELECT outcome, message FROM meta.run")[-1] == ("published", reason)
    assert [row[0] for row in asked(data, "SELECT reason FROM meta.release ORDER BY event_number")] == ["", reason]

    # Back again; the ledger of runs still knows why.
    assert call(["run", "--sample", "--data", str(data), "--accept-drift", "withdrawn"]) == 0
    assert reason in {row[0] for row in asked(data, "SELECT message FROM meta.run")}


def flip(certificates: Path) -> tuple[str, str, str]:
    """Lower the certified collection of an eligible area to a real; its id, its status before and after."""
    lines = certificates.read_text(encoding="utf-8-sig").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("320130810;collection;"))
    cells = lines[at].split(";")
    lines[at] = ";".join([*cells[:2], "1.00", *cells[3:]])
    certificates.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return cells[0], "eligible", "ineligible"


# killed

KILLED = """
import importlib, os, signal, sys
from flows.cli import main
from warehouse import publish
at, words = sys.argv[1], sys.argv[2:]

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

if at in publish.STEPS:
    whole = publish.publish
    publish.publish = lambda *given, **more: whole(*given, **more, step=lambda step: die() if step == at else None)
else:
    module, name = at.rsplit(".", 1)
    setattr(importlib.import_module(module), name, die)
main(words)
"""
# What a run does, in order: the last moment before each. The steps of publishing are all tried in test_publish.py.
MOMENTS = (
    "flows.polling.ask",
    "flows.pipeline.screen",
    "warehouse.build.build",
    "expectations.report.write",
    "flows.releasing.about_itself",
    "switch",
    "record",
)


def test_a_run_killed_at_any_moment_leaves_readers_whole_and_the_next_run_clean(data: Path) -> None:
    """Each run begins with what the one before left when it was killed."""
    home = data / "sample"
    first = publish.current(home)
    words = ["run", "--sample", "--data", str(data), "--rules", "lc_1_1967", "--rules", "plp_137_2015"]
    for moment in MOMENTS:
        command = [sys.executable, "-c", KILLED, moment, *words]
        killed = subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
        assert killed.returncode == -signal.SIGKILL, (moment, killed.stderr)
        assert (publish.current(home) != first) == (moment == "record"), moment
        assert asked(data, "SELECT count(*) > 200 FROM mart.ranking") == [(True,)], moment
    assert call(words) == 0
    assert not list(home.glob("building/*"))
    assert not list((home / "raw/incoming").glob("*"))
    assert [path.name for path in home.iterdir() if path.name.startswith(".")] == []
    assert publish.history(home)[-1].release == publish.current(home) != first


# out of space


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Small disks of our own, each in place of the one before."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def unmount() -> None:
        subprocess.run(["umount", str(folder)], check=False, capture_output=True)

    def mount(options: str) -> Path:
        unmount()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=False, capture_output=True, text=True
        )
        if done.returncode:
            pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
        return folder

    yield mount
    unmount()


def size_of(folder: Path) -> int:
    return sum(-(-path.stat().st_size // 4096) * 4096 for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("room", [40, 2_500], ids=lambda kb: f"{kb} kB left")
def test_on_a_full_disk_readers_keep_the_last_release_and_the_run_says_so(
    data: Path, mounted: Callable[[str], Path], capsys: pytest.CaptureFixture[str], room: int
) -> None:
    disk = mounted(f"size={size_of(data) // 1024 + room}k")
    shutil.copytree(data, disk, symlinks=True, dirs_exist_ok=True)
    before = publish.current(disk / "sample")
    assert again(disk) == 1
    assert "error: the disk is full; readers keep the last release" in capsys.readouterr().err
    assert publish.current(disk / "sample") == before
    assert asked(disk, "SELECT count(*) FROM mart.ranking") == [(204,)]
    assert not list((disk / "sample/building").glob("*")) + list((disk / "sample/raw").rglob("*.part"))
    subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
    assert again(disk) == 0


def test_a_disk_that_is_read_only_can_be_read(
    data: Path, mounted: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    disk = mounted("size=200m")
    shutil.copytree(data, disk, symlinks=True, dirs_exist_ok=True)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    assert again(disk) == 1
    assert "this may not be read or written" in capsys.readouterr().err
    for verb in (["status"], ["show", "320500215"], ["query", "FROM mart.ranking LIMIT 1"]):
        assert call([*verb, "--sample", "--data", str(disk)]) == 0


# day after day


def night(data: Path, now: datetime, as_of: date | None = None, **more: Any) -> Outcome:
    """The scheduled run of a night on the sample's answers; its own date unless one is asked for."""
    order = Order(sample=True, data=data, as_of=as_of or date(now.year, now.month, now.day), now=now, **more)
    return pipeline.run(run_of(order))


def test_nights_without_news_publish_once_until_a_year_closes(tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    shutil.copytree(sample.inputs(), inputs)
    (inputs / "proposals.csv").unlink()  # with petitions under way, the date itself decides: see below
    new = [
        night(tmp_path / "data", datetime(*day, 5, tzinfo=UTC), inputs=inputs).is_new
        for day in ((2026, 12, 1), (2026, 12, 2), (2026, 12, 31), (2027, 1, 1), (2027, 1, 2))
    ]
    assert new == [True, False, False, True, False]
    with warehouse.connect(tmp_path / "data/sample") as database:
        assert database.sql("SELECT as_of, fiscal_year FROM core.state").fetchall() == [(date(2027, 1, 1), 2026)]
        assert database.sql("SELECT outcome FROM meta.run").fetchall() == [
            ("published",), ("nothing_new",), ("nothing_new",), ("published",),
        ]  # fmt: skip


def test_after_a_rollback_a_run_names_the_release_that_readers_see_and_the_one_withdrawn(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = data / "sample"
    first = publish.current(home)
    assert again(data) == 0
    second = publish.current(home)
    assert call(["rollback", "--reason", "wrong figures", "--sample", "--data", str(data)]) == 0
    capsys.readouterr()
    assert again(data, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["release"], told["is_new"]) == (first, False)
    assert told["path"] == str(home / "releases" / str(first))
    assert told["withdrawn"].startswith(f"the same as {second}, which was rolled back on ")
    assert told["withdrawn"].endswith(" (wrong figures)")
    assert publish.current(home) == first


def test_late_in_the_evening_it_is_still_the_day_it_is_in_brasilia(tmp_path: Path) -> None:
    """01:00 in UTC is 22:00 of the day before in Brasília: tonight's answers are not from after tonight's date."""
    inputs = tmp_path / "inputs"
    shutil.copytree(sample.inputs(), inputs)
    (inputs / "proposals.csv").unlink()
    evening, morning = datetime(2026, 12, 2, 1, tzinfo=UTC), datetime(2026, 12, 2, 8, tzinfo=UTC)
    assert night(tmp_path / "data", evening, date(2026, 12, 1), inputs=inputs).is_new
    assert not night(tmp_path / "data", morning, date(2026, 12, 2), inputs=inputs).is_new


def test_with_petitions_under_way_each_day_is_published_for_deadlines_pass(tmp_path: Path) -> None:
    days = [datetime(2026, 12, day, hour, tzinfo=UTC) for day, hour in ((1, 5), (1, 9), (2, 5))]
    assert [night(tmp_path / "data", at).is_new for at in days] == [True, False, True]


# odd states, odd names


def test_every_rule_set_that_is_shipped_can_be_published_at_once(data: Path) -> None:
    """Fusions they say nothing of, requirements that another measure may meet: none is a false refusal."""
    words = [word for name in rule_files.shipped() for word in ("--rules", name)]
    assert call(["run", "--sample", "--offline", "--data", str(data), *words]) == 0
    assert asked(data, "SELECT count(DISTINCT rule_set) FROM mart.eligibility") == [(len(rule_files.shipped()),)]
    arms = "SELECT requirement, test, limit_as_written, share_of FROM mart.rule_arm WHERE rule_set = 'lc_1_1967'"
    assert asked(data, arms) == [
        ("collection", "share_of_state", "0.005", "tax_revenue"),
        ("electorate", "share_of_own", "0.1", "population"),
        ("population", "more_than", "10000", None),
        ("population", "share_of_state", "0.005", "population"),
        ("urban_houses", "more_than", "200", None),
    ]


HOSTILE = (
    "=cmd()",
    "+x",
    "-- drop",
    "a'b",
    'a"b',
    "') DROP TABLE core.area --",
    "@SUM(A1)",
    "<script>x",
    "$(id)",
    "..",
    "NULL",
    "ç" * 64,
)


def test_areas_with_hostile_names_come_through_every_table_and_export(data: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    shutil.copytree(sample.inputs(), inputs)
    with (inputs / "candidates.csv").open("a", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter=";", lineterminator="\n")
        rows.writerows([name, f"{name} {name}", "district", "320500215", name] for name in HOSTILE)
    assert call(["run", "--sample", "--data", str(data), "--inputs", str(inputs)]) == 0
    assert set(HOSTILE) <= {row[0] for row in asked(data, "SELECT area_id FROM mart.ranking")}
    export = data / "sample/current/export"
    machine = pl.read_csv(export / "eligibility.csv", infer_schema=False)
    assert set(HOSTILE) <= set(machine["area_id"])
    spreadsheet = pl.read_csv(export / "elegibilidade.csv", separator=";", infer_schema=False)
    cells = {cell for column in spreadsheet.columns for cell in spreadsheet[column].drop_nulls()}
    assert not [
        cell for cell in cells if cell.startswith(("=", "+", "@")) or (cell[0] == "-" and not cell[1].isdigit())
    ]
    assert "'=cmd()" in cells
    assert call(["show", "a'b", "--sample", "--data", str(data)]) == 0
