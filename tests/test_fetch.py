"""Conversations with sources: what is recorded, what a failure leaves untouched, and files placed by hand."""

import json
import threading
import time
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pytest

from flows.fetch import Asked, NoAnswer, Question, place, poll
from flows.http import Web
from flows.sample import client
from flows.settings import settings
from tests.upstream import Upstream
from transforms.errors import SourceChanged, SourceUnavailable, SourceUnsound, UsageError
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Base, Conversation, Request, Scope, Source, Staged, ibge_localities
from warehouse import sample
from warehouse.snapshots import Answer, Poll, Store

SCOPE = Scope("ES", date(2026, 11, 30))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
INDEX = Request("index", "/index", shared=True)
STATE = Request("state", "/state/ES")
EXTRA = Request("extra", "/extra", optional=True)


def table(name: str) -> Table:
    number = Column("n", Kind.INTEGER, "A number.", "Número", Unit.COUNT)
    return Table(f"staging.s__{name}", name, "One number.", ("n",), (number,))


def numbers(key: str) -> Callable[[BinaryIO], pl.DataFrame]:
    def parse(file: BinaryIO) -> pl.DataFrame:
        try:
            rows = json.load(file)[key]
        except (KeyError, ValueError, TypeError):
            raise SourceChanged(f"no {key}") from None
        return pl.DataFrame({"n": rows}, schema={"n": pl.Int64})

    return parse


def source(
    *requests: Request, conversation: Callable[[Scope], Conversation] | None = None, base: Base = "ibge_api"
) -> Source:
    def straight(_: Scope) -> Conversation:
        for request in requests:  # noqa: UP028  a tuple can be iterated, but not answered
            yield request

    return Source(
        name="s",
        title="The source",
        publisher="P",
        home_page="https://example.org",
        licence="open",
        cadence="yearly",
        stale_after=400,
        base=base,
        encoding="utf-8",
        conversation=conversation or straight,
        tables=(
            Staged(table("a"), "a/", numbers("a")),
            Staged(table("a"), "sheet", numbers("sheet")),
            Staged(table("b"), "b", numbers("b")),
        ),
    )


class Says:
    """Answers from a mapping of paths to bytes, and counts the questions. A missing path is absent; a word fails so."""

    def __init__(self, answers: Mapping[str, bytes | str], pause: float = 0) -> None:
        self.answers, self.pause, self.asked = dict(answers), pause, list[str]()

    def get(self, question: Question) -> Answer:
        self.asked.append(question.request.path)
        time.sleep(self.pause)
        body = self.answers.get(question.request.path, "absent")
        if isinstance(body, str):
            raise NoAnswer(body, f"it is {body}")
        return question.answered(question.request.path, question.store.put(body), len(body))[0]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "raw")


def ask(found: Source, store: Store, answers: Mapping[str, bytes | str]) -> Poll:
    return poll(found, SCOPE, store, Says(answers), now=NOON)


def test_a_good_poll_holds_every_answer_and_is_in_the_ledger(store: Store) -> None:
    made = ask(source(INDEX, STATE), store, {"/index": b"1", "/state/ES": b"2"})
    assert (made.outcome, made.uf, made.as_of, made.polled_at) == ("ok", "ES", SCOPE.as_of, NOON)
    assert [(answer.part, answer.size) for answer in made.answers] == [("index", 1), ("state", 1)]
    assert Store(store.root).history() == [made]


def test_a_source_that_asks_the_same_for_all_belongs_to_no_state(store: Store) -> None:
    assert ask(source(INDEX), store, {"/index": b"1"}).uf == ""


def test_an_optional_part_may_be_absent_and_the_source_is_told(store: Store) -> None:
    told = []

    def conversation(_: Scope) -> Conversation:
        told.append((yield EXTRA))
        told.append((yield STATE))

    made = ask(source(conversation=conversation), store, {"/state/ES": b"2"})
    assert [answer.part for answer in made.answers] == ["state"]
    assert (made.ok, told[0], told[1] is not None) == (True, None, True)


@pytest.mark.parametrize(
    ("answers", "cause"), [({}, "absent"), ({"/extra": "blocked"}, "blocked"), ({"/extra": "timeout"}, "timeout")]
)
def test_only_absence_is_an_option(answers: Mapping[str, str], cause: str, store: Store) -> None:
    made = ask(source(EXTRA, STATE), store, answers)
    assert (made.outcome, made.cause, made.message) == ("failed", cause, f"The source: it is {cause}")


def test_answers_stay_open_to_the_end_of_the_conversation(store: Store) -> None:
    read = []

    def conversation(_: Scope) -> Conversation:
        first = yield INDEX
        second = yield STATE
        assert first is not None
        assert second is not None
        read.extend([second.read(), first.read()])

    ask(source(conversation=conversation), store, {"/index": b"1", "/state/ES": b"2"})
    assert read == [b"2", b"1"]


def test_a_failure_leaves_the_last_good_untouched_and_keeps_what_it_got(store: Store) -> None:
    good = ask(source(INDEX, STATE), store, {"/index": b"1", "/state/ES": b"2"})
    bad = ask(source(INDEX, STATE), store, {"/index": b"1b", "/state/ES": "server_error"})
    assert [answer.part for answer in bad.answers] == ["index"]
    assert store.last_good("s", "ES", SCOPE.as_of) == good
    assert {row["outcome"] for row in store.polls().rows(named=True)} == {"ok", "failed"}


def test_an_answer_nobody_can_read_is_a_change_of_layout(store: Store) -> None:
    def conversation(_: Scope) -> Conversation:
        yield INDEX
        raise SourceChanged("column X is new", where="s, header")

    made = ask(source(conversation=conversation), store, {"/index": b"1"})
    assert (made.outcome, made.cause) == ("failed", "layout")
    assert made.message == "The source: column X is new [s, header]"
    (row,) = store.attempts().rows(named=True)
    assert (row["outcome"], row["part"], row["sha256"]) == ("layout", "index", made.answers[0].sha256)


def test_an_answer_without_sound_rows_is_no_good_poll_and_blamed_itself(store: Store) -> None:
    """Not the last answer, but the one that could not be read; the poll before it stays the last good."""
    good = ask(source(INDEX, STATE), store, {"/index": b"1", "/state/ES": b"2"})

    def read(answer: Answer) -> None:
        if answer.part == "index":
            raise SourceUnsound("no row for staging.s__a", where="s, index")

    says = Says({"/index": b"1b", "/state/ES": b"2"})
    made = poll(source(INDEX, STATE), SCOPE, store, says, now=NOON, read=read)
    assert (made.outcome, made.cause, made.message) == (
        "failed",
        "corrupt",
        "The source: no row for staging.s__a [s, index]",
    )
    row = store.attempts().rows(named=True)[-1]
    assert (row["part"], row["outcome"], row["sha256"]) == ("index", "corrupt", made.answers[0].sha256)
    assert store.last_good("s", "ES", SCOPE.as_of) == good


def test_case_06_an_empty_list_is_not_published_yet(shared: Path, store: Store) -> None:
    """Not a crash, nor a fresh load: said so, and the older period stays at hand."""
    body = (shared / "cases/06-ibge-empty-list-not-published/resposta.json").read_bytes()

    def conversation(scope: Scope) -> Conversation:
        file = yield STATE
        assert file is not None
        if not json.load(file):
            raise SourceUnavailable(f"period {scope.as_of.year} is not published yet")

    before = ask(source(conversation=conversation), store, {"/state/ES": b"[1]"})
    made = ask(source(conversation=conversation), store, {"/state/ES": body})
    assert (made.outcome, made.cause) == ("failed", "absent")
    assert made.message == "The source: period 2026 is not published yet"
    assert store.last_good("s", "ES", SCOPE.as_of) == before


def test_a_part_asked_again_takes_the_place_of_the_answer_before(store: Store) -> None:
    """And what the conversation says at its end is told of a good poll."""

    def conversation(scope: Scope) -> Conversation:
        yield Request("figures", "/2026")
        yield Request("figures", "/2025")
        return "2026 is not published yet"

    made = ask(source(conversation=conversation), store, {"/2026": b"[]", "/2025": b"[1]"})
    assert (made.ok, made.message) == (True, "The source: 2026 is not published yet")
    assert [(answer.part, answer.url) for answer in made.answers] == [("figures", "/2025")]
    assert ask(source(conversation=conversation), store, {"/2026": b"[]", "/2025": b"[1]"}).ok


def test_what_was_there_before_is_better_than_what_takes_its_place(store: Store) -> None:
    """A year that had figures and has none tonight: the last good poll stays, the data do not grow older."""

    def conversation(scope: Scope) -> Conversation:
        file = yield Request("figures", "/2026")
        if file is None or file.read() == b"[]":
            yield Request("figures", "/2025")

    good = ask(source(conversation=conversation), store, {"/2026": b"[1]"})
    made = ask(source(conversation=conversation), store, {"/2026": b"[]", "/2025": b"[0]"})
    assert (made.ok, made.cause, made.message) == (
        False,
        "absent",
        "The source: what it answered before is not there any more",
    )
    assert store.last_good("s", "ES", SCOPE.as_of) == good


def test_states_share_one_question_even_at_the_same_time(store: Store) -> None:
    asked, says = Asked(), Says({"/index": b"1", "/state/ES": b"2"}, pause=0.05)
    found = source(INDEX, STATE)
    polls: list[Poll] = []

    def run(uf: str) -> None:
        polls.append(poll(found, Scope(uf, SCOPE.as_of), store, says, now=NOON, asked=asked))

    threads = [threading.Thread(target=run, args=(uf,)) for uf in ("ES", "MG", "SP")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(says.asked) == ["/index", "/state/ES", "/state/ES", "/state/ES"]
    assert len({made.answers[0] for made in polls}) == 1


def test_a_shared_question_that_failed_is_not_asked_again_in_the_run(store: Store) -> None:
    asked, says = Asked(), Says({"/index": "blocked"})
    made = [poll(source(INDEX), Scope(uf, SCOPE.as_of), store, says, now=NOON, asked=asked) for uf in ("ES", "MG")]
    assert says.asked == ["/index"]
    assert [found.cause for found in made] == ["blocked", "blocked"]


def test_down_slow_or_blocked_ends_within_the_deadline_in_one_line(store: Store) -> None:
    with Upstream() as upstream:
        web = Web(settings(ibge_api=f"{upstream.url}/api", read_seconds=0.2, backoff_seconds=0))
        for kind, cause in (
            ("drip", "timeout"),
            ("hang", "timeout"),
            ("cloudflare", "blocked"),
            ("503", "server_error"),
        ):
            upstream.fault("distritos", kind, seconds=5)
            began = time.monotonic()
            made = poll(ibge_localities.SOURCE, SCOPE, store, web, now=NOON, deadline=0.5)
            assert time.monotonic() - began < 1
            assert (made.outcome, made.cause) == ("failed", cause)
            assert made.message.startswith(f"{ibge_localities.SOURCE.title}: ")
            assert "\n" not in made.message
        upstream.heal()
        assert poll(ibge_localities.SOURCE, SCOPE, store, web, now=NOON).ok
        assert not list(store.root.rglob("*.part"))


# By hand


def save(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_a_file_placed_by_hand_joins_the_other_answers(store: Store, tmp_path: Path) -> None:
    found = source(Request("a/1", "/a"), Request("b", "/b"))
    ask(found, store, {"/a": b'{"a": [1]}', "/b": b'{"b": [2]}'})
    made = place(found, SCOPE, save(tmp_path / "new.json", {"a": [3]}), store, now=NOON)
    assert [answer.part for answer in made.answers] == ["b", "a/new.json"]
    assert (made.outcome, made.message, made.uf) == ("ok", "new.json: placed by hand", "ES")
    assert store.last_good("s", "ES", SCOPE.as_of) == made
    row = store.attempts().rows(named=True)[-1]
    assert (row["url"], row["outcome"], row["status"], row["message"]) == ("new.json", "new", None, "placed by hand")


def test_an_alternative_file_replaces_what_fed_the_same_table(store: Store, tmp_path: Path) -> None:
    found = source(Request("a/1", "/a"), Request("b", "/b"))
    ask(found, store, {"/a": b'{"a": [1]}', "/b": b'{"b": [2]}'})
    made = place(found, SCOPE, save(tmp_path / "x.json", {"sheet": [3]}), store, now=NOON)
    assert [answer.part for answer in made.answers] == ["b", "sheet"]


def test_placing_it_again_tells_whether_it_changed(store: Store, tmp_path: Path) -> None:
    path = save(tmp_path / "x.json", {"b": [1]})
    for value in ([1], [1], [2]):
        place(source(INDEX), SCOPE, save(path, {"b": value}), store, now=NOON)
    assert store.attempts()["outcome"].to_list() == ["new", "unchanged", "revised"]
    assert store.history()[0].uf == ""  # the source's questions are the same for all states


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../x", b"")
    return path


@pytest.mark.parametrize(
    ("write", "part", "words"),
    [
        (lambda path: path, None, "no such file"),
        (
            lambda path: save(path, {"c": [1]}),
            None,
            "cannot read the file: as a/: no a; as sheet: no sheet; as b: no b",
        ),
        (lambda path: save(path, {"b": []}), "b", "as b: no rows of ES"),
        (lambda path: save(path, {"b": [1]}), "z", "it has no part 'z', only a/, sheet, b"),
        (lambda path: save(path, {"error": "x"}), None, "an error instead of data: x"),
        (zipped, None, "points outside it"),
        (lambda path: path.write_text("<html>") and path, None, "a page instead of csv"),
    ],
)
def test_what_the_source_cannot_read_is_not_placed(
    write: Callable[[Path], Path], part: str | None, words: str, store: Store, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as error:
        place(source(STATE), SCOPE, write(tmp_path / "x"), store, now=NOON, part=part)
    assert words in str(error.value)
    assert (store.history(), store.attempts().height) == ([], 0)


def test_inputs_are_not_placed_but_put_in_their_folder(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="put it in the inputs folder"):
        place(inputs_source("x"), SCOPE, save(tmp_path / "x", {}), store, now=NOON)


# Without a network


def test_the_sample_answers_as_the_upstreams_do(store: Store) -> None:
    made = poll(ibge_localities.SOURCE, SCOPE, store, client(settings(), bundled=True), now=NOON)
    assert made.ok
    assert made.answers[0].url == "sample:ibge_api/v1/localidades/estados/ES/distritos"
    with store.open(made.answers[0].sha256) as file:
        assert json.load(file)[0]["municipio"]["microrregiao"]["mesorregiao"]["UF"]["sigla"] == "ES"


def inputs_source(name: str) -> Source:
    return source(Request(name, name, media="csv", optional=True), base="inputs")


@pytest.mark.parametrize("bundled", [True, False])
def test_inputs_are_read_from_their_folder_as_they_are(bundled: bool, store: Store, tmp_path: Path) -> None:
    (tmp_path / "candidates.csv").write_bytes("São;João\n".encode("cp1252"))
    asks = client(settings(inputs=tmp_path), bundled=bundled)
    made = poll(inputs_source("candidates.csv"), SCOPE, store, asks, now=NOON)
    assert (made.ok, made.answers[0].url) == (True, "candidates.csv")
    with store.open(made.answers[0].sha256) as file:
        assert file.read() == "São;João\n".encode("cp1252")
    absent = poll(inputs_source("certificates.csv"), SCOPE, store, asks, now=NOON)
    assert (absent.ok, absent.answers) == (True, ())
    assert store.attempts()["outcome"].to_list() == ["new", "absent"]


def test_the_sample_brings_its_own_inputs(store: Store) -> None:
    made = poll(inputs_source("candidates.csv"), SCOPE, store, client(settings(), bundled=True), now=NOON)
    assert made.answers[0].size == (sample.inputs() / "candidates.csv").stat().st_size
