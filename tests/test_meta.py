"""What the warehouse says of itself, and that its history survives the releases."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import polars as pl

from transforms.columns import MUNICIPALITY
from transforms.schema import Table, Unit
from transforms.sources import Source
from warehouse import meta, publish, run_ledger, views
from warehouse.build import SCHEMAS, build
from warehouse.freshness import freshness
from warehouse.run_ledger import Run
from warehouse.snapshots import Answer, Attempt, Poll, Store

NOW = datetime(2026, 11, 30, 5, 0, tzinfo=UTC)
TSE = Source(
    name="tse_test", title="Places", publisher="TSE", home_page="", licence="", cadence="monthly", stale_after=45,
    base="tse", encoding="cp1252", conversation=lambda scope: iter(()), tables=(),  # type: ignore[arg-type, return-value]
)  # fmt: skip


def run(started_at: datetime, outcome: str, release: str | None = None) -> Run:
    return Run(started_at, started_at + timedelta(minutes=1), "ES", date(2026, 11, 30), outcome, 0, release, "", "1")


def attempt(at: datetime, outcome: str) -> Attempt:
    return Attempt(at, "tse_test", "", "all", "http://x/all.zip", 503, 0, None, 0.5, outcome, "down")


def test_runs_survive_in_their_ledger_and_end_with_the_one_that_writes(tmp_path: Path) -> None:
    run_ledger.record_run(tmp_path, run(NOW, "published", "r1"))
    run_ledger.record_run(tmp_path, run(NOW + timedelta(days=1), "failed"))
    writing = Run(NOW + timedelta(days=2), None, "ES", date(2026, 12, 2), "published", 0, "r2", "", "1")
    rows = run_ledger.runs(tmp_path, writing)
    assert rows.select("run_id", "outcome", "release").rows() == [
        ("20261130T050000.000000Z-ES", "published", "r1"),
        ("20261201T050000.000000Z-ES", "failed", None),
        ("20261202T050000.000000Z-ES", "published", "r2"),
    ]
    assert rows["finished_at"].to_list() == [NOW + timedelta(minutes=1), NOW + timedelta(days=1, minutes=1), None]
    assert run_ledger.runs(tmp_path).height == 2


def test_the_release_being_written_is_the_last_of_its_history(tmp_path: Path) -> None:
    assert meta.releases(tmp_path).is_empty()
    rows = meta.releases(tmp_path, "20261130T050000Z-ab12cd34", at=NOW)
    assert rows.select("event_number", "event", "release", "previous").rows() == [
        (1, "published", "20261130T050000Z-ab12cd34", None)
    ]


def test_snapshots_name_file_moment_and_hash() -> None:
    answer = Answer("all", "http://x/all.zip", "ab", 10, "zip", NOW, NOW - timedelta(days=9))
    poll = Poll("tse_test", "", NOW.date(), NOW + timedelta(days=1), "ok", (answer,))
    assert meta.snapshots([(TSE, poll)]).rows() == [
        ("tse_test", "", "all", "http://x/all.zip", "ab", 10, NOW, NOW - timedelta(days=9), NOW + timedelta(days=1))
    ]


def test_the_dictionary_has_every_column_with_its_type_and_unit() -> None:
    table = Table("core.x", "X", "One.", ("municipality_code",), (MUNICIPALITY,))
    rows = meta.columns([table, meta.SNAPSHOT])
    first = rows.row(0, named=True)
    assert (first["table_name"], first["column_name"], first["type"], first["is_key"]) == (
        "core.x", "municipality_code", "VARCHAR", True,
    )  # fmt: skip
    assert rows.filter(pl.col("column_name") == "bytes")["unit"].to_list() == [Unit.BYTES.value]
    assert rows.height == 1 + len(meta.SNAPSHOT.columns)


def test_every_number_of_meta_has_a_unit_and_every_column_words() -> None:
    for table in meta.TABLES:
        for column in table.columns:
            assert column.description.endswith("."), (table.name, column.name)
            assert column.label, (table.name, column.name)
            assert column.unit or not column.kind.polars.is_numeric(), (table.name, column.name)


def test_how_long_a_source_has_been_failing_is_one_query(tmp_path: Path) -> None:
    """Two outages: one of two nights that is over, one that lasts."""
    store, data = Store(tmp_path / "raw"), tmp_path
    answer = Answer("all", "http://x/all.zip", store.put(b"zip"), 3, "zip", NOW)
    for night, outcome in enumerate("ok failed failed ok failed ok failed failed failed".split()):
        at = NOW + timedelta(days=night)
        cause = "unreachable" if outcome == "failed" else ""
        store.attempt(attempt(at, cause or "new"))
        store.poll(Poll("tse_test", "", at.date(), at, outcome, (answer,) * (not cause), cause and "down", cause))
    good = store.history()[5]
    fresh = meta.SOURCE_FRESHNESS.frame(freshness(store, [TSE], NOW + timedelta(days=8)))
    rows = {
        run_ledger.RUN: run_ledger.runs(data),
        meta.SNAPSHOT: meta.snapshots([(TSE, good)]),
        meta.ATTEMPT: meta.attempts(store.attempts()),
        meta.POLL: meta.polls(store.polls(), "ES"),
        meta.SOURCE_FRESHNESS: fresh,
        meta.COLUMN: meta.columns(meta.TABLES),
        meta.RELEASE: meta.releases(data, "r", at=NOW),
        meta.STATE_RELEASE: meta.STATE_RELEASE.frame(),
        run_ledger.CHECK_HISTORY: run_ledger.check_history(data),
    }
    assert tuple(rows) == meta.TABLES
    path = data / "a.duckdb"
    own = [view for view in views.published() if all(name.startswith("meta.") for name in view.reads)]
    build(path, {table.name: (table, frame) for table, frame in rows.items()}, of=own)
    with duckdb.connect(str(path), read_only=True) as database:
        assert database.execute(
            "SELECT schema_name FROM duckdb_schemas() WHERE NOT internal ORDER BY 1"
        ).fetchall() == [(schema,) for schema in sorted(SCHEMAS)]
        failing = database.execute("SELECT failing_since, failed_polls FROM mart.source_freshness").fetchall()
        outages = database.execute(
            "SELECT failing_since, ended_at, days, failed_polls, cause FROM mart.source_outages"
        ).fetchall()

    def day(number: int) -> datetime:
        return (NOW + timedelta(days=number)).replace(tzinfo=None)

    assert failing == [(day(6), 3)]
    assert outages == [
        (day(6), None, 2, 3, "unreachable"),
        (day(4), day(5), 1, 1, "unreachable"),
        (day(1), day(3), 2, 2, "unreachable"),
    ]


def test_a_source_that_never_answered_fails_since_it_was_first_asked(tmp_path: Path) -> None:
    store = Store(tmp_path / "raw")
    store.poll(Poll("tse_test", "ES", NOW.date(), NOW, "failed", (), "down", "unreachable"))
    (row,) = freshness(store, [TSE], NOW + timedelta(days=3), "ES")
    assert (row["failing_since"], row["failed_polls"], row["is_stale"]) == (NOW, 1, True)


def test_a_clock_that_was_once_ahead_makes_no_source_fresh_for_ever(tmp_path: Path) -> None:
    store = Store(tmp_path / "raw")
    for at in (NOW.replace(year=2036), NOW):
        store.poll(Poll("tse_test", "", at.date(), at, "ok", ()))
    (row,) = freshness(store, [TSE], NOW + timedelta(days=50))
    assert (row["last_good_at"], row["age_days"], row["is_stale"]) == (NOW, 50, True)


def test_runs_of_one_second_are_told_apart(tmp_path: Path) -> None:
    for microsecond in (1, 2):
        run_ledger.record_run(tmp_path, run(NOW.replace(microsecond=microsecond), "refused"))
    assert run_ledger.runs(tmp_path)["run_id"].n_unique() == 2


def test_checks_that_did_not_pass_are_remembered_run_by_run(tmp_path: Path) -> None:
    names = "check_name table_name column_name severity status observed failing_rows".split()
    rows = [
        ("key", "core.district", "", "critical", "failed", "2 rows", 2),
        ("key", "core.area", "", "critical", "passed", None, 0),
    ]
    results = pl.DataFrame(rows, schema=names, orient="row")
    for day in ("20261130", "20261201"):
        run_ledger.record_checks(tmp_path, day, results)
    assert run_ledger.check_history(tmp_path).select("run_id", "check_name", "observed").rows() == [
        ("20261130", "key", "2 rows"),
        ("20261201", "key", "2 rows"),
    ]


def test_releases_of_meta_tell_the_rollbacks_too(tmp_path: Path) -> None:
    publish._record(tmp_path, publish.Event(NOW, "published", "r1"))
    publish._record(tmp_path, publish.Event(NOW, "rolled_back", "r0", "r1", "wrong figures"))
    assert meta.releases(tmp_path).select("event", "release", "previous", "reason").rows() == [
        ("published", "r1", None, ""),
        ("rolled_back", "r0", "r1", "wrong figures"),
    ]
