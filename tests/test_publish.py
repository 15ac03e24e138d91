"""Releases: a reader finds a whole one whatever happens to the writer, and history says what was switched when."""

import errno
import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

import warehouse
from transforms.errors import ChecksRefused, EmancipaError, Locked, UsageError
from warehouse import data_folder, publish
from warehouse.publish import Keep

NOW = datetime(2026, 11, 30, 5, 0, tzinfo=UTC)
KEEP = Keep(count=30, days=90)
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}


def write(folder: Path, figure: int) -> None:
    """The least a release can be: the DuckDB file, a CSV and release.json, all with the same figure."""
    with duckdb.connect(str(folder / warehouse.DATABASE)) as database:
        database.execute(f"CREATE TABLE figure AS SELECT {figure} AS value FROM range(1000)")
        database.execute("CHECKPOINT")
    (folder / "figures.csv").write_text(f"{figure}\n" * 1000, encoding="utf-8")
    contents = {"uf": "ES", "fingerprint": f"inputs {figure}", "figure": figure}
    (folder / publish.MANIFEST).write_text(json.dumps(contents), encoding="utf-8")


def release(data: Path, figure: int, now: datetime = NOW, keep: Keep = KEEP) -> str:
    name = publish.release_id(now, f"{figure:08x}")
    with data_folder.held(data, now=now), publish.building(data, now=now) as folder:
        write(folder, figure)
        publish.publish(data, folder, name, now=now, keep=keep)
    return name


def fail_while_writing(data: Path, error: Exception) -> None:
    with data_folder.held(data, now=NOW), publish.building(data, now=NOW) as folder:
        (folder / "figures.csv").write_text("half")
        raise error


def figure_read(data: Path) -> list[tuple[int, int]]:
    with warehouse.connect(data) as database:
        return database.execute("SELECT value, count(*) FROM figure GROUP BY ALL").fetchall()


def child(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)


def test_a_release_is_named_by_time_and_contents(tmp_path: Path) -> None:
    assert release(tmp_path, 0xAB12CD34) == "20261130T050000Z-ab12cd34"
    assert (tmp_path / "current").readlink() == Path("releases/20261130T050000Z-ab12cd34")
    assert figure_read(tmp_path) == [(0xAB12CD34, 1000)]
    assert sorted(os.listdir(tmp_path)) == ["building", "current", "history.jsonl", "lock", "releases"]
    assert os.listdir(tmp_path / "building") == []


def test_nothing_published_yet_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing has been published") as told:
        warehouse.connect(tmp_path)
    assert "--sample" not in told.value.action
    release(tmp_path / "sample", 1)
    with pytest.raises(UsageError, match="nothing has been published") as told:
        warehouse.connect(tmp_path)
    assert told.value.action.endswith("for the sample that is here, add --sample")


def test_case_59_an_open_reader_neither_blocks_nor_changes(tmp_path: Path) -> None:
    release(tmp_path, 1)
    with warehouse.connect(tmp_path) as reader:
        release(tmp_path, 2, NOW + timedelta(days=1))
        assert reader.execute("SELECT DISTINCT value FROM figure").fetchall() == [(1,)]
        assert figure_read(tmp_path) == [(2, 1000)]
    assert figure_read(tmp_path) == [(2, 1000)]


READER = """
import json, sys, time
from pathlib import Path
import duckdb
data, seen = Path(sys.argv[1]), []
print("ready", flush=True)
while not (data / "stop").exists() or not seen:
    with duckdb.connect(str(data / "current/emancipa.duckdb"), read_only=True) as database:
        (row,) = database.execute("SELECT value, count(*) FROM figure GROUP BY ALL").fetchall()
    assert row[1] == 1000, row
    lines = (data / "current/figures.csv").read_text().splitlines()
    assert len(lines) == 1000 and len(set(lines)) == 1, lines[:3]
    json.loads((data / "current/release.json").read_text())
    assert row[0] >= (seen or [0])[-1], (row, seen[-1])
    seen.append(row[0])
print(len(seen), len(set(seen)))
"""


def test_readers_in_other_processes_never_fail_during_50_switches(tmp_path: Path) -> None:
    release(tmp_path, 0, NOW)
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, str(tmp_path)], stdout=-1, stderr=-1, text=True)
        for _ in range(2)
    ]
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
    for figure in range(1, 51):
        release(tmp_path, figure, NOW + timedelta(minutes=figure), Keep(count=5, days=0))
    (tmp_path / "stop").touch()
    for reader in readers:
        out, err = reader.communicate(timeout=30)
        assert reader.returncode == 0, err
        reads, releases_seen = map(int, out.split())
        assert reads >= releases_seen > 1
    assert len(publish.releases(tmp_path)) == 5


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from tests.test_publish import write
from warehouse import data_folder, publish

data, at, now = Path(sys.argv[1]), sys.argv[2], datetime(2026, 12, 1, 5, tzinfo=UTC)

def step(name):
    if name == at:
        os.kill(os.getpid(), signal.SIGKILL)

with data_folder.held(data, now=now), publish.building(data, now=now) as folder:
    step("begin")
    write(folder, 2)
    step("written")
    publish.publish(data, folder, publish.release_id(now, "00000002"), now=now, keep=publish.Keep(30, 90), step=step)
"""


@pytest.mark.parametrize("step", ["begin", "written", *publish.STEPS])
def test_a_kill_at_any_step_leaves_a_whole_release_and_the_next_run_clean(tmp_path: Path, step: str) -> None:
    release(tmp_path, 1)
    killed = child(KILLED, tmp_path, step)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    switched = step in {"record", "prune"}
    assert figure_read(tmp_path) == [(2 if switched else 1, 1000)]

    again = child(KILLED, tmp_path, "never")
    assert again.returncode == 0, again.stderr
    assert figure_read(tmp_path) == [(2, 1000)]
    assert publish.releases(tmp_path) == ["20261130T050000Z-00000001", "20261201T050000Z-00000002"]
    assert os.listdir(tmp_path / "building") == []
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert publish.history(tmp_path)[-1].release == "20261201T050000Z-00000002"


def test_case_90_a_write_that_fails_half_way_leaves_the_old_release_and_no_leftovers(tmp_path: Path) -> None:
    release(tmp_path, 1)
    with pytest.raises(EmancipaError, match="disk is full"):
        fail_while_writing(tmp_path, OSError(errno.ENOSPC, "No space left on device"))
    assert os.listdir(tmp_path / "building") == []
    assert figure_read(tmp_path) == [(1, 1000)]


def test_case_57_a_target_held_by_another_program_is_a_clear_message_and_the_old_release_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(tmp_path, 1)

    def held(_: Path, target: Path) -> None:
        raise PermissionError(errno.EACCES, "in use", str(target))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", held)
        with pytest.raises(EmancipaError, match=r"cannot be switched: in use; readers keep the release"):
            release(tmp_path, 2, NOW + timedelta(days=1))
    assert figure_read(tmp_path) == [(1, 1000)]
    assert sorted(os.listdir(tmp_path)) == ["building", "current", "history.jsonl", "lock", "releases"]
    release(tmp_path, 2, NOW + timedelta(days=1))
    assert figure_read(tmp_path) == [(2, 1000)]


def test_a_refused_release_keeps_its_report_until_the_next_start(tmp_path: Path) -> None:
    with pytest.raises(ChecksRefused):
        fail_while_writing(tmp_path, ChecksRefused("one check failed"))
    assert [path.read_text() for path in tmp_path.glob("building/*/figures.csv")] == ["half"]
    release(tmp_path, 1)
    assert os.listdir(tmp_path / "building") == []


HOLDER = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from warehouse import data_folder
with data_folder.held(Path(sys.argv[1]), now=datetime(2026, 11, 30, 5, tzinfo=UTC)):
    print("held", flush=True)
    time.sleep(60)
"""


def test_case_77_a_second_run_is_refused_and_a_dead_holder_is_not_waited_for(tmp_path: Path) -> None:
    release(tmp_path, 1)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=-1, text=True, env=ENVIRONMENT)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Locked, match=rf"pid {holder.pid} on .*since 2026-11-30T05:00:00Z") as refused:
            release(tmp_path, 2)
        assert refused.value.exit_code == 6
        assert sorted(str(path) for path in tmp_path.rglob("*")) == before
        holder.kill()
    release(tmp_path, 2, NOW + timedelta(days=1))
    assert figure_read(tmp_path) == [(2, 1000)]


def test_an_unsealed_file_is_not_published(tmp_path: Path) -> None:
    with publish.building(tmp_path, now=NOW) as folder:
        write(folder, 1)
        (folder / f"{warehouse.DATABASE}.wal").touch()
        with pytest.raises(EmancipaError, match="not sealed"):
            publish.publish(tmp_path, folder, "20261130T050000Z-00000001", now=NOW, keep=KEEP)
    assert publish.current(tmp_path) is None


def test_published_files_are_read_only(tmp_path: Path) -> None:
    path = tmp_path / "releases" / release(tmp_path, 1) / warehouse.DATABASE
    assert path.stat().st_mode & 0o222 == 0


def test_pruning_keeps_the_newest_the_young_the_pinned_and_the_current(tmp_path: Path) -> None:
    names = [release(tmp_path, figure, NOW + timedelta(days=figure)) for figure in range(6)]
    publish.rollback(tmp_path, names[1], now=NOW + timedelta(days=6))
    (tmp_path / "pins").write_text(f"{names[0]}  # cited in a session\n")
    gone = publish.prune(tmp_path, now=NOW + timedelta(days=6), keep=Keep(count=2, days=3))
    assert gone == [names[2]]
    assert publish.releases(tmp_path) == [names[0], names[1], names[3], names[4], names[5]]


def test_rollback_goes_one_back_or_where_it_is_told_and_is_recorded(tmp_path: Path) -> None:
    first, second, third = (release(tmp_path, figure, NOW + timedelta(days=figure)) for figure in (1, 2, 3))
    assert publish.rollback(tmp_path, now=NOW + timedelta(days=4), reason="wrong figures") == second
    assert figure_read(tmp_path) == [(2, 1000)]
    assert publish.rollback(tmp_path, third, now=NOW + timedelta(days=4)) == third
    assert publish.rollback(tmp_path, first, now=NOW + timedelta(days=5)) == first
    assert [(event.event, event.release, event.previous) for event in publish.history(tmp_path)] == [
        ("published", first, None),
        ("published", second, first),
        ("published", third, second),
        ("rolled_back", second, third),
        ("rolled_back", third, second),
        ("rolled_back", first, third),
    ]
    assert publish.history(tmp_path)[3].reason == "wrong figures"


def test_rollback_passes_over_what_was_rolled_back_from(tmp_path: Path) -> None:
    first, second = (release(tmp_path, figure, NOW + timedelta(days=figure)) for figure in (1, 2))
    assert publish.rollback(tmp_path, now=NOW + timedelta(days=3), reason="wrong figures") == first
    third = release(tmp_path, 3, NOW + timedelta(days=4))
    assert publish.rejected(tmp_path) == {second}
    assert publish.rollback(tmp_path, now=NOW + timedelta(days=5)) == first
    assert publish.rollback(tmp_path, second, now=NOW + timedelta(days=6)) == second  # asked for, it is good again
    assert publish.rollback(tmp_path, third, now=NOW + timedelta(days=7)) == third
    assert publish.rollback(tmp_path, now=NOW + timedelta(days=8)) == second


def test_an_older_release_opens_by_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = (release(tmp_path, figure, NOW + timedelta(days=figure)) for figure in (1, 2))
    monkeypatch.setenv("EMANCIPA_DATA", str(tmp_path))
    with warehouse.connect(release=first) as database:
        assert database.execute("SELECT DISTINCT value FROM figure").fetchall() == [(1,)]
    with warehouse.connect() as database:
        assert database.execute("SELECT DISTINCT value FROM figure").fetchall() == [(2,)]
    with pytest.raises(UsageError, match="no release 2020"):
        warehouse.connect(release="2020")


def test_rollback_without_a_target_says_what_is_at_hand(tmp_path: Path) -> None:
    only = release(tmp_path, 1)
    with pytest.raises(UsageError, match=only):
        publish.rollback(tmp_path, now=NOW)
    with pytest.raises(UsageError, match=r"no release 2020"):
        publish.rollback(tmp_path, "2020", now=NOW)


def test_the_same_inputs_are_nothing_new_also_after_a_rollback(tmp_path: Path) -> None:
    first, second = (release(tmp_path, figure, NOW + timedelta(days=figure)) for figure in (1, 2))
    assert publish.already(tmp_path, "inputs 2") == second
    assert publish.already(tmp_path, "inputs 1") is None
    publish.rollback(tmp_path, now=NOW + timedelta(days=3))
    assert publish.already(tmp_path, "inputs 1") == first
    assert publish.already(tmp_path, "inputs 2") == second
    assert publish.already(tmp_path, "inputs 3") is None


def test_every_release_rolled_back_from_since_the_last_publication_stays_withdrawn(tmp_path: Path) -> None:
    first, second, third = (release(tmp_path, figure, NOW + timedelta(days=figure)) for figure in (1, 2, 3))
    publish.rollback(tmp_path, now=NOW + timedelta(days=4), reason="wrong figures")
    publish.rollback(tmp_path, now=NOW + timedelta(days=5))
    assert [publish.already(tmp_path, f"inputs {figure}") for figure in (1, 2, 3)] == [first, second, third]
    assert publish.withdrawal(tmp_path, first) == ""
    assert publish.withdrawal(tmp_path, second) == f"the same as {second}, which was rolled back on 2026-12-05"
    assert publish.withdrawal(tmp_path, third) == (
        f"the same as {third}, which was rolled back on 2026-12-04 (wrong figures)"
    )
    publish.rollback(tmp_path, second, now=NOW + timedelta(days=6))
    assert set(publish.withdrawn(tmp_path)) == {first, third}
    release(tmp_path, 4, NOW + timedelta(days=7))
    assert publish.withdrawn(tmp_path) == {}


@pytest.mark.parametrize("torn", ['{"at": "2026-', "null\n", "[]\n"])
def test_a_line_torn_by_a_crash_harms_no_other(tmp_path: Path, torn: str) -> None:
    release(tmp_path, 1)
    with (tmp_path / "history.jsonl").open("a") as file:
        file.write(torn)
    release(tmp_path, 2, NOW + timedelta(days=1))
    assert [event.release[-1] for event in publish.history(tmp_path)] == ["1", "2"]


def test_a_release_is_compared_with_the_last_of_its_state(tmp_path: Path) -> None:
    assert publish.predecessor(tmp_path, "ES") is None
    first = release(tmp_path, 1)
    assert publish.predecessor(tmp_path, "ES") == first
    assert publish.predecessor(tmp_path, "CE") is None


def test_a_damaged_release_json_is_named(tmp_path: Path) -> None:
    manifest = tmp_path / "releases" / release(tmp_path, 1) / publish.MANIFEST
    manifest.chmod(0o644)
    manifest.write_text("{", encoding="utf-8")
    with pytest.raises(EmancipaError, match=r"release\.json cannot be read") as told:
        publish.predecessor(tmp_path, "ES")
    assert told.value.where == str(manifest)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (duckdb.IOException("IO Error: Could not write file: No space left on device"), "the disk is full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "the disk is full"),
        (OSError(errno.EROFS, "Read-only file system"), "may not be read or written"),
        (OSError(errno.ENAMETOOLONG, "File name too long"), "name is too long"),
        (OSError(errno.ENOLCK, "No locks available"), "no lock can be held here"),
    ],
    ids=["full", "full, as DuckDB says it", "quota", "read only", "long name", "no locks"],
)
def test_what_the_system_holds_against_a_run_is_said_plainly(tmp_path: Path, error: Exception, says: str) -> None:
    with pytest.raises(EmancipaError, match=says), data_folder.writing(tmp_path):
        raise error


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(KeyError), data_folder.writing(tmp_path):
        raise KeyError("a bug")


def test_a_file_where_the_data_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(EmancipaError, match="a folder is needed"):
        release(tmp_path / "data" / "sample", 1)


def test_current_that_is_a_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "current").mkdir()
    with pytest.raises(EmancipaError, match="cannot be switched: Is a directory"):
        release(tmp_path, 1)
    assert (tmp_path / "current").is_dir()
    assert publish.current(tmp_path) is None
