"""The store of snapshots: immutable, whole or absent; its ledgers; and which poll a run is built from."""

import io
import json
import logging
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from transforms.errors import SourceUnavailable
from transforms.sources import Source
from warehouse.freshness import freshness
from warehouse.snapshots import Answer, Attempt, Poll, Store

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # of b"abc", FIPS 180-2


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "raw")


def answer(store: Store, body: bytes = b"abc", part: str = "p") -> Answer:
    return Answer(part, "https://example.org/p", store.put(body), len(body), "json", NOON, None, '"e"')


def poll(
    store: Store,
    day: str,
    as_of: str | None = None,
    *,
    outcome: str = "ok",
    uf: str = "ES",
    body: bytes = b"abc",
    hour: int = 12,
) -> Poll:
    """A poll made on `day`, asked for that day or another, and recorded."""
    made = datetime.fromisoformat(day).replace(hour=hour, tzinfo=UTC)
    found = Poll("s", uf, date.fromisoformat(as_of or day), made, outcome, (answer(store, body),))
    store.poll(found)
    return found


def attempt(outcome: str = "new", part: str = "p") -> Attempt:
    return Attempt(NOON, "s", "ES", part, "https://example.org/p", 200, 3, ABC, 0.25, outcome, "São João")


def test_bytes_are_named_by_their_hash_and_kept_once(store: Store) -> None:
    assert store.put(io.BytesIO(b"abc")) == store.put(b"abc") == ABC
    assert [path.relative_to(store.root).as_posix() for path in store.root.rglob("*") if path.is_file()] == [
        f"blobs/ba/{ABC}"
    ]
    assert store.path(ABC).stat().st_mode & 0o777 == 0o444
    with store.open(ABC) as file:
        assert file.read() == b"abc"


def test_a_file_that_is_not_kept_leaves_nothing(store: Store) -> None:
    with store.incoming() as part:
        part.write(b"half")
    assert not any(path.is_file() for path in store.root.rglob("*"))


def test_sweep_removes_what_a_killed_run_left(store: Store) -> None:
    store.put(b"abc")
    left = store.root / "incoming" / "x.part"
    left.write_bytes(b"half")
    assert store.sweep() == 1
    assert not left.exists()
    assert store.has(ABC)


def test_damage_is_found_said_and_counts_as_absent(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    old = poll(store, "2026-11-01", body=b"old")
    new = poll(store, "2026-11-02", body=b"new")
    blob = store.path(new.answers[0].sha256)
    blob.chmod(0o644)
    blob.write_bytes(b"rot")
    later = Store(store.root)
    with caplog.at_level(logging.WARNING):
        assert later.last_good("s", "ES") == old
    assert "is damaged" in caplog.text
    assert blob.with_suffix(".damaged").read_bytes() == b"rot"
    with pytest.raises(SourceUnavailable, match="missing or damaged"):
        later.open(new.answers[0].sha256)
    later.put(b"new")  # fetched again
    assert later.last_good("s", "ES") == new


def test_a_lost_blob_is_not_good_either(store: Store) -> None:
    old = poll(store, "2026-11-01", body=b"old")
    store.path(poll(store, "2026-11-02", body=b"new").answers[0].sha256).unlink()
    assert store.last_good("s", "ES") == old


def test_the_ledgers_come_back_as_they_went_in(store: Store) -> None:
    first = poll(store, "2026-11-30")
    store.attempt(attempt())
    store.attempt(attempt("blocked"))
    again = Store(store.root)
    assert again.history() == [first]
    assert again.attempts().rows(named=True)[1] == {
        "at": NOON,
        "source": "s",
        "uf": "ES",
        "part": "p",
        "url": "https://example.org/p",
        "status": 200,
        "bytes": 3,
        "sha256": ABC,
        "seconds": 0.25,
        "outcome": "blocked",
        "message": "São João",
    }
    assert again.polls().rows() == [("s", "ES", date(2026, 11, 30), first.polled_at, "ok", "", "")]


def test_empty_ledgers_have_their_columns(store: Store) -> None:
    assert store.attempts().columns[:3] == ["at", "source", "uf"]
    assert (store.attempts().height, store.polls().height, store.last_good("s", "ES")) == (0, 0, None)


@pytest.mark.parametrize("torn", [b'{"source": "s", "uf"', b"\x00\x00\x00", '{"source": "São'.encode()[:-1]])
def test_a_line_torn_by_a_crash_costs_only_itself(torn: bytes, store: Store) -> None:
    first = poll(store, "2026-11-01")
    with (store.root / "polls.jsonl").open("ab") as ledger:
        ledger.write(torn)
    crashed = Store(store.root)
    assert crashed.history() == [first]
    second = poll(crashed, "2026-11-02")
    assert crashed.history() == [first, second]
    assert Store(store.root).history() == [first, second]


def test_a_store_sees_what_another_process_adds(store: Store) -> None:
    other = Store(store.root)
    first = poll(store, "2026-11-01")
    assert other.history() == [first]
    second = poll(store, "2026-11-02")
    assert other.history() == [first, second]


def test_the_last_good_is_the_newest_good_of_the_state_or_of_all(store: Store) -> None:
    national = poll(store, "2026-11-01", uf="")
    poll(store, "2026-11-03", uf="MG")
    poll(store, "2026-11-04", outcome="failed")
    assert store.last_good("s", "ES") == national
    assert store.last_good("other", "ES") is None
    mine = poll(store, "2026-11-02")
    assert store.last_good("s", "ES") == mine


def test_a_past_day_is_built_from_what_it_was_built_from(store: Store) -> None:
    june = poll(store, "2026-06-30", body=b"june")
    poll(store, "2026-07-31", body=b"july")
    poll(store, "2026-11-30", "2026-06-30", body=b"revised")  # asked again for that day, months later
    assert store.last_good("s", "ES", date(2026, 6, 30)) == june


def test_a_day_without_a_poll_takes_the_newest_made_by_then(store: Store) -> None:
    poll(store, "2026-05-31")
    june = poll(store, "2026-06-30")
    poll(store, "2026-06-30", "2020-01-31", hour=15)  # a look back, made later that day
    poll(store, "2026-07-31")
    assert store.last_good("s", "ES", date(2026, 7, 15)) == june


def test_with_nothing_by_then_what_was_asked_for_that_day_comes_first(store: Store) -> None:
    back = poll(store, "2026-11-30", "2025-12-31")
    poll(store, "2026-11-30")
    assert store.last_good("s", "ES", date(2025, 12, 31)) == back
    assert store.last_good("s", "ES", date(2026, 1, 15)) is not None


def test_an_evening_poll_belongs_to_the_day_in_brasilia(store: Store) -> None:
    evening = poll(store, "2026-12-01", "2026-11-30", hour=1)  # 22 h on 30 November
    poll(store, "2026-12-01", "2026-11-30", hour=4, body=b"late")
    assert store.last_good("s", "ES", date(2026, 11, 30)) == evening


def test_what_is_known_of_a_question_is_its_last_answer_good_or_not(store: Store) -> None:
    poll(store, "2026-11-01", body=b"old")
    failed = poll(store, "2026-11-02", body=b"new", outcome="failed")
    assert store.known("s", "p", "https://example.org/p") == failed.answers[0]
    assert store.known("s", "q", "https://example.org/p") is None


def test_freshness_is_judged_against_the_cadence(store: Store) -> None:
    source = Source("s", "Source", "P", "h", "l", "monthly", 40, "tse", "utf-8", lambda _: iter(()), ())  # type: ignore[arg-type, return-value]
    (never,) = freshness(store, [source], NOON)
    assert (never["last_polled_at"], never["age_days"], never["is_stale"]) == (None, None, True)
    good = poll(store, "2026-10-21")
    store.poll(Poll("s", "ES", NOON.date(), NOON, "failed", (), "Source: blocked", "blocked"))
    (row,) = freshness(store, [source], NOON, "ES")
    assert row == {
        "source": "s",
        "title": "Source",
        "required": True,
        "last_polled_at": NOON,
        "last_good_at": good.polled_at,
        "published_at": None,
        "published_through": None,
        "age_days": 40,
        "stale_after": 40,
        "is_stale": False,
        "last_outcome": "blocked",
        "last_message": "Source: blocked",
        "failing_since": NOON,
        "failed_polls": 1,
    }
    (later,) = freshness(store, [source], NOON.replace(month=12, day=1), "ES")
    assert (later["age_days"], later["is_stale"]) == (41, True)


def test_a_ledger_is_lines_of_json_that_anyone_can_read(store: Store) -> None:
    store.attempt(attempt())
    (line,) = (store.root / "attempts.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["at"] == "2026-11-30T12:00:00+00:00"
    assert "São João" in line
