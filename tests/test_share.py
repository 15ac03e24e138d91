"""Handing a state's home from machine to machine through a URL: what arrives is whole, or nothing does."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from flows import lending
from flows.order import Order
from flows.run import Outcome
from flows.settings import settings
from transforms.errors import EmancipaError, UsageError
from warehouse import data_folder, publish, release
from warehouse.ledger import Ledger
from warehouse.share import LEDGERS, RAW, opened

NOW = datetime(2026, 11, 30, 5, tzinfo=UTC)
KEEP = publish.Keep(count=2, days=0)
HOME = "states/ES"


@pytest.fixture(params=["memory", "file"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    yield f"memory://{tmp_path.name}" if request.param == "memory" else f"file://{tmp_path}/share"
    MemoryFileSystem.store.clear()


def published(data: Path, figure: int) -> str:
    """A release of the state with one figure, through the steps of any release."""
    home, now = data / HOME, NOW + timedelta(days=figure)
    with data_folder.held(home, now=now), publish.building(home, now=now) as folder:
        (folder / "export").mkdir()
        (folder / "export" / "figures.csv").write_text(f"{figure}\n", encoding="utf-8")
        duckdb.connect(str(folder / "emancipa.duckdb")).close()
        hash_ = release.contents_hash(folder)
        text = json.dumps({"uf": "ES", "fingerprint": f"inputs {figure}", "contents_hash": hash_})
        (folder / publish.MANIFEST).write_text(text, encoding="utf-8")
        publish.publish(home, folder, name := publish.release_id(now, hash_), now=now, keep=KEEP)
    return name


def root(url: str) -> str:
    with opened(url) as share:
        return share.root


def give(url: str, data: Path) -> None:
    with opened(url) as share:
        share.give_home(data, HOME)


def take(url: str, data: Path) -> None:
    with opened(url) as share:
        share.take_home(data, HOME, now=NOW, keep=KEEP)


def test_a_home_goes_out_and_comes_back_with_what_was_made_there(url: str, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    first = published(ours, 1)
    give(url, ours)
    take(url, theirs)
    assert publish.current(theirs / HOME) == first
    second = published(theirs, 2)
    give(url, theirs)
    take(url, ours)
    assert publish.current(ours / HOME) == second
    assert (ours / HOME / "current/export/figures.csv").read_text(encoding="utf-8") == "2\n"
    events = publish.history(ours / HOME)
    assert [(event.release, event.previous) for event in events] == [(first, None), (second, first)]
    assert os.listdir(ours / HOME / "building") == []


def test_a_home_that_has_nothing_yet_goes_out_too(url: str, tmp_path: Path) -> None:
    published(tmp_path / "before", 1)
    give(url, tmp_path / "before")
    give(url, tmp_path / "ours")  # the data folder was begun anew, the share was not
    take(url, tmp_path / "theirs")
    assert publish.current(tmp_path / "theirs" / HOME) is None
    assert publish.history(tmp_path / "theirs" / HOME) == []


def test_what_was_withdrawn_from_readers_is_known_to_be(url: str, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    first, second = published(ours, 1), published(ours, 2)
    publish.rollback(ours / HOME, now=NOW + timedelta(days=3))
    give(url, ours)
    take(url, theirs)
    assert publish.current(theirs / HOME) == first
    assert publish.already(theirs / HOME, "inputs 2") == second


def test_a_worker_killed_while_giving_leaves_the_last_that_was_whole(url: str, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    first = published(ours, 1)
    give(url, ours)
    take(url, theirs)
    second = published(theirs, 2)
    with opened(url) as share:  # half of the second release and its ledgers, and not its name
        share.give(theirs, [f"{HOME}/releases/{second}/release.json"], below=HOME)
        share.give_ledgers(theirs / HOME, LEDGERS, below=HOME)
    take(url, ours)
    assert publish.current(ours / HOME) == first
    assert publish.releases(ours / HOME) == [first]
    assert [event.release for event in publish.history(ours / HOME)] == [first]


@pytest.mark.parametrize("change", ["", "3\n", "changed\n"], ids=["empty", "of the same size", "longer"])
def test_a_release_that_changed_on_the_way_is_refused_and_goes_out_again(url: str, tmp_path: Path, change: str) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    first = published(ours, 1)
    give(url, ours)
    with opened(url) as share:
        share.fs.pipe_file(f"{share.root}/{HOME}/releases/{first}/export/figures.csv", change.encode())
    with pytest.raises(EmancipaError) as told:
        take(url, theirs)
    assert told.value.what == "a file did not come whole"
    assert told.value.where == f"EMANCIPA_SHARE, {root(url)}/{HOME}/releases/{first}/export/figures.csv"
    assert publish.current(theirs / HOME) is None
    if len(change) != len("1\n"):
        give(url, ours)
        take(url, theirs)
        assert publish.current(theirs / HOME) == first


@pytest.mark.parametrize("lost", [False, True], ids=["damaged", "lost"])
@pytest.mark.parametrize("name", ["emancipa.duckdb", "release.json", "history.jsonl", "runs.jsonl", "current"])
def test_every_file_that_does_not_come_whole_is_named(url: str, tmp_path: Path, name: str, lost: bool) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    first = published(ours, 1)
    give(url, ours)
    take(url, theirs)
    second = published(ours, 2)
    give(url, ours)
    with opened(url) as share:
        told = json.loads(share.fs.cat_file(f"{share.root}/{HOME}/current"))
        elsewhere = {ledger: f"{sha256}/{ledger}" for ledger, sha256 in told["ledgers"].items()} | {"current": name}
        at = f"{HOME}/{elsewhere.get(name, f'releases/{second}/{name}')}"
        remote = f"{share.root}/{at}"
        _ = share.fs.rm_file(remote) if lost else share.fs.pipe_file(remote, b"{" + share.fs.cat_file(remote)[1:-1])
    with pytest.raises(EmancipaError) as refused:
        take(url, theirs)
    assert (refused.value.what, refused.value.where) == (
        "a file did not come whole",
        f"EMANCIPA_SHARE, {root(url)}/{at}",
    )
    assert publish.current(theirs / HOME) == first
    assert [event.release for event in publish.history(theirs / HOME)] == [first]
    assert os.listdir(theirs / HOME / "building") == []


@pytest.mark.parametrize(
    "name", ["/x", "..", ".", "../../x", "20261201T050000Z-../../x", "20261201T050000Z", "2026121T050000Z-ab12cd34"]
)
def test_a_name_that_is_not_of_a_release_is_refused(url: str, tmp_path: Path, name: str) -> None:
    give(url, tmp_path / "ours")
    with opened(url) as share:
        ledgers = json.loads(share.fs.cat_file(f"{share.root}/{HOME}/current"))["ledgers"]
        share.write(f"{HOME}/current", json.dumps({"releases": {name: {}}, "ledgers": ledgers}).encode())
    with pytest.raises(EmancipaError) as refused:
        take(url, tmp_path / "theirs")
    assert refused.value.what == "not the name of a release"
    assert refused.value.where == f"EMANCIPA_SHARE, {root(url)}/{HOME}/current: {name}"


@pytest.mark.parametrize("name", ["../../../../x", "/x", ".", "export/../../x"])
def test_a_file_whose_name_leads_out_of_its_release_is_refused(url: str, tmp_path: Path, name: str) -> None:
    first = published(tmp_path / "ours", 1)
    give(url, tmp_path / "ours")
    with opened(url) as share:
        told = json.loads(share.fs.cat_file(f"{share.root}/{HOME}/current"))
        told["releases"][first][name] = hashlib.sha256(b"x").hexdigest()
        share.write(f"{HOME}/current", json.dumps(told).encode())
        with pytest.raises(EmancipaError) as refused:
            share.take(tmp_path / "theirs", {f"../{name}": hashlib.sha256(b"x").hexdigest()})
    assert refused.value.what == "a name leads out of its folder"
    with pytest.raises(EmancipaError) as refused:
        take(url, tmp_path / "theirs")
    assert (refused.value.what, refused.value.where) == ("a name leads out of its folder", f"EMANCIPA_SHARE, {name}")
    assert publish.current(tmp_path / "theirs" / HOME) is None


@pytest.fixture
def order(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Order:
    """A national run of one state, whose worker's data folder is another."""
    monkeypatch.setenv("EMANCIPA_SHARE", url)
    monkeypatch.setenv("EMANCIPA_DATA", str(tmp_path / "worker"))
    for machine in ("ours", "others"):
        published(tmp_path / machine, 1)
    return Order(ufs=("ES",), data=tmp_path / "ours", offline=True, now=NOW)


def lent_and_built(order: Order, figure: int) -> tuple[dict[str, lending.Loan | None], str]:
    loans = lending.lend(order, away=True)
    loan = loans["ES"]
    assert loan is not None
    with lending.borrowed(order, "ES", loan) as there:
        return loans, published(there.settings.data, figure)


def test_two_runs_on_one_share_each_bring_home_their_own(order: Order, url: str, tmp_path: Path) -> None:
    loans, ours = lent_and_built(order, 2)
    other = replace(order, data=tmp_path / "others")
    other_loans, others = lent_and_built(other, 5)
    for who, lent, made in ((order, loans, ours), (other, other_loans, others)):
        built = {"ES": Outcome(made, Path(), is_new=True)}
        assert lending.bring_home(who, lent, built) == built
        assert who.data is not None
        assert publish.current(who.data / HOME) == made
        assert publish.history(who.data / HOME)[-1].release == made
    with opened(url) as share:
        assert [path for path in share.fs.find(share.root) if "/states/" in path] == []


def test_polls_that_changed_on_the_way_are_refused(order: Order, url: str) -> None:
    loan = lending.lend(order, away=True)["ES"]
    assert loan is not None
    at = f"{loan.run}/raw/{loan.polls['polls.jsonl']}/polls.jsonl"
    with opened(url) as share:
        share.write(at, b"{}")
    with pytest.raises(EmancipaError) as refused, lending.borrowed(order, "ES", loan):
        pass
    assert (refused.value.what, refused.value.where) == (
        "a file did not come whole",
        f"EMANCIPA_SHARE, {root(url)}/{at}",
    )


def test_a_release_that_was_not_made_is_not_taken_for_the_one_that_was(order: Order, url: str) -> None:
    loans, made = lent_and_built(order, 2)
    ends = lending.bring_home(order, loans, {"ES": Outcome("20261205T050000Z-ab12cd34", Path(), is_new=True)})
    error, loan = ends["ES"], loans["ES"]
    assert isinstance(error, EmancipaError)
    assert loan is not None
    assert error.what == f"{made} came home, and 20261205T050000Z-ab12cd34 was made"
    assert error.where == f"EMANCIPA_SHARE, {root(url)}/{loan.run}/{HOME}"


def test_files_are_given_and_taken_once(url: str, tmp_path: Path) -> None:
    ours, theirs, name = tmp_path / "ours", tmp_path / "theirs", "raw/blobs/aa/aa11"
    (ours / name).parent.mkdir(parents=True)
    (ours / name).write_bytes(b"bytes")
    Ledger(ours / "raw/polls.jsonl").append(publish.Event(NOW, "published", "r"))
    for _ in range(2):
        with opened(url) as share:
            share.give(ours, [name], below="raw")
            polls = share.give_ledgers(ours / "raw", RAW, below="raw")
            share.take(theirs, {name: hashlib.sha256(b"bytes").hexdigest()})
            share.take_ledgers(theirs / "raw", polls, below="raw")
        (ours / name).chmod(0o644)
        (ours / name).write_bytes(b"other")  # of the same size: what is named by its contents is not looked at again
    assert (theirs / name).read_bytes() == b"bytes"
    assert len(list(Ledger(theirs / "raw/polls.jsonl").unread())) == 1


@pytest.mark.parametrize("change", [b"bites", b"", None], ids=["of the same size", "empty", "lost"])
@pytest.mark.parametrize("name", ["raw/blobs/aa/aa11", "staging/staging.x__y/aa11.parquet"])
def test_a_lent_file_that_changed_on_the_way_is_refused_and_goes_out_again(
    url: str, tmp_path: Path, name: str, change: bytes | None
) -> None:
    ours, theirs, below = tmp_path / "ours", tmp_path / "theirs", name.partition("/")[0]
    (ours / name).parent.mkdir(parents=True)
    (ours / name).write_bytes(b"bytes")
    sums = {name: hashlib.sha256(b"bytes").hexdigest()}
    with opened(url) as share:
        share.give(ours, sums, below=below)
        remote = f"{share.root}/{name}"
        _ = share.fs.rm_file(remote) if change is None else share.fs.pipe_file(remote, change)
        with pytest.raises(EmancipaError) as refused:
            share.take(theirs, sums)
        assert (refused.value.what, refused.value.where) == (
            "a file did not come whole",
            f"EMANCIPA_SHARE, {remote}",
        )
        assert not (theirs / name).exists()
        share.give(ours, sums, below=below)
        share.take(theirs, sums)
    assert (theirs / name).read_bytes() == b"bytes"


@pytest.mark.parametrize(
    ("url", "says"),
    [("s3://bucket/emancipa", "s3fs"), ("nowhere://x", "not known"), ("file:///nowhere/emancipa", "No such file")],
)
def test_a_share_that_cannot_be_used_says_why(
    url: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)  # as where it is not installed
    published(tmp_path, 1)
    with pytest.raises(UsageError, match=says) as told, opened(url) as share:
        share.give_home(tmp_path, HOME)
    assert told.value.where == "EMANCIPA_SHARE"


def test_a_path_is_no_share(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="EMANCIPA_SHARE"):
        settings(data=tmp_path, share="/mnt/share")
