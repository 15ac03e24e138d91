"""Asking a source: drives its conversation, keeps every answer as a snapshot, and never trips over an upstream.

Whatever goes wrong outside becomes a failed poll with one line for a tired operator; the run then decides what the
last good one is still worth. A file downloaded by hand takes the same way in as one from the network.
"""

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import polars as pl

from flows.verify import Unusable, media_of, verify
from transforms.errors import EmancipaError, SourceChanged, SourceUnavailable, SourceUnsound, UsageError
from transforms.sources import Request, Scope, Source, Staged
from warehouse.snapshots import Answer, Attempt, Poll, Store
from warehouse.staging import of_state

BY_HAND = "placed by hand"
_WORDS = {SourceChanged: "layout", SourceUnsound: "corrupt", SourceUnavailable: "absent"}


class NoAnswer(Exception):
    """A question that got no usable answer, after all its tries."""

    def __init__(self, outcome: str, message: str) -> None:
        super().__init__(message)
        self.outcome, self.message = outcome, message


class Progress(Protocol):
    """Told how far a download is; `total` is None where the host does not say."""

    def __call__(self, label: str, done: int, total: int | None) -> None: ...


def silent(label: str, done: int, total: int | None) -> None:
    """No progress shown."""


@dataclass(frozen=True, slots=True)
class Question:
    """One request of a source's conversation, where to keep its answer, and until when (time.monotonic) to try."""

    source: Source
    uf: str  # "" where the request is the same for every state
    request: Request
    store: Store
    until: float

    @property
    def left(self) -> float:
        """Seconds until it is too late."""
        return self.until - time.monotonic()

    @property
    def by_hand(self) -> str:
        """What an operator can do where only a browser gets through."""
        uf = self.uf or "UF"
        return f"download it with a browser, then: emancipa fetch --uf {uf} --file {self.source.name}=PATH"

    def known(self, url: str) -> Answer | None:
        """The last answer to this question."""
        return self.store.known(self.source.name, self.request.part, url)

    def answered(
        self, url: str, sha256: str, size: int, published_at: datetime | None = None, etag: str | None = None
    ) -> tuple[Answer, str]:
        """A snapshot just kept, as the answer, and the word for it: new, unchanged or revised."""
        part, media, before = self.request.part, self.request.media, self.known(url)
        news = "new" if before is None else "unchanged" if before.sha256 == sha256 else "revised"
        return Answer(part, url, sha256, size, media, datetime.now(UTC), published_at, etag), news

    def record(
        self,
        url: str,
        outcome: str,
        *,
        since: float,
        status: int | None = None,
        received: int = 0,
        sha256: str | None = None,
        message: str = "",
    ) -> None:
        """One row of the ledger: a try that began at `since` (time.monotonic) and has just ended."""
        seconds = round(time.monotonic() - since, 3)
        at = datetime.now(UTC) - timedelta(seconds=seconds)
        source, part = self.source.name, self.request.part
        self.store.attempt(Attempt(at, source, self.uf, part, url, status, received, sha256, seconds, outcome, message))


class Client(Protocol):
    """Whatever can be asked: the network, the bundled sample, a folder. It records its own attempts."""

    def get(self, question: Question) -> Answer:
        """The answer, kept in the question's store. Raises NoAnswer."""


class Asked:
    """A run's shared questions: each is asked once, by the first state that needs it; the others wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[Hashable, Future[Answer]] = {}

    def once(self, question: Question, ask: Callable[[Question], Answer]) -> Answer:
        """The answer to a shared question, or the NoAnswer that its first asker got."""
        request = question.request
        if not request.shared:
            return ask(question)
        key = (question.source.name, request.part, request.path, tuple(sorted(request.params.items())))
        with self._lock:
            mine = key not in self._answers
            future = self._answers.setdefault(key, Future())
        if mine:
            try:
                future.set_result(ask(question))
            except BaseException as error:
                future.set_exception(error)
                raise
        return future.result()


def poll(
    source: Source,
    scope: Scope,
    store: Store,
    client: Client,
    *,
    now: datetime,
    deadline: float = 1800,
    asked: Asked | None = None,
    read: Callable[[Answer], object] | None = None,
) -> Poll:
    """Ask one source everything it wants to know for a state, within `deadline` seconds, and record the poll.

    Upstream trouble is a failed Poll, never an exception. `asked`, given to every poll of a run, spares the states
    each other's shared questions. `read` makes rows of an answer: what it cannot read is not a good poll, so that
    the one before stays the last good.
    """
    talk = _Conversation(source, scope, store, client, asked or Asked(), time.monotonic() + deadline)
    outcome, cause, message = "ok", "", ""
    try:
        message = talk.hold()
        if (good := store.last_good(source.name, scope.uf, scope.as_of)) and talk.gave_up_on(good):
            raise NoAnswer("absent", "what it answered before is not there any more")
        if read:
            talk.read(read)
        if not talk.answers and source.base != "inputs":  # a folder may be without a file; an upstream has something
            raise NoAnswer("absent", f"it has nothing for {scope.uf}")
    except NoAnswer as error:
        outcome, cause, message = "failed", error.outcome, error.message
    except (SourceChanged, SourceUnavailable) as error:
        outcome, cause = "failed", _WORDS[type(error)]
        message = " ".join(str(error).split())
        talk.blame(cause, message)
    uf = scope.uf if talk.is_of_the_state else ""
    said = f"{source.title}: {message}" if message else ""
    answers = tuple(answer for _, answer in talk.answers)
    result = Poll(source.name, uf, scope.as_of, now, outcome, answers, said, cause)
    store.poll(result)
    return result


class _Conversation:
    """One source's questions for one state, and the answers so far."""

    def __init__(self, source: Source, scope: Scope, store: Store, client: Client, asked: Asked, until: float) -> None:
        self._source, self._scope, self._store = source, scope, store
        self._client, self._asked, self._until = client, asked, until
        self.answers: list[tuple[Request, Answer]] = []
        self._given_up: set[tuple[str, str]] = set()  # part and URL of answers that others took the place of
        self.is_of_the_state = False  # until a question is that is not shared by all states
        self._at: tuple[Request, Answer] | None = None

    def hold(self) -> str:
        """To its end; what it has to tell. Raises NoAnswer, and whatever the source makes of what it cannot read."""
        questions = self._source.conversation(self._scope)
        with ExitStack() as open_files:  # an answer stays readable until the end
            try:
                request = next(questions)
                while True:
                    answer = self._ask(request)
                    file = open_files.enter_context(self._store.open(answer.sha256)) if answer else None
                    request = questions.send(file)
            except StopIteration as end:
                return str(end.value or "")

    def _ask(self, request: Request) -> Answer | None:
        self.is_of_the_state |= not request.shared
        try:
            answer = self._asked.once(self._question(request), self._client.get)
        except NoAnswer as error:
            if request.optional and error.outcome == "absent":
                return None
            raise
        self._at = request, answer
        # What is asked again under the same name takes the place of what was of no use.
        self._given_up |= {(old.part, old.url) for _, old in self.answers if old.part == request.part}
        self.answers = [*(asked for asked in self.answers if asked[0].part != request.part), self._at]
        return answer

    def gave_up_on(self, good: Poll) -> bool:
        """Whether a question was of no use this time that a good poll has the answer to: that poll is the better."""
        return not self._given_up.isdisjoint((answer.part, answer.url) for answer in good.answers)

    def read(self, read: Callable[[Answer], object]) -> None:
        """Every answer, in turn. Raises whatever a reader does."""
        for asked in self.answers:
            self._at = asked
            read(asked[1])

    def _question(self, request: Request) -> Question:
        uf = "" if request.shared else self._scope.uf
        return Question(self._source, uf, request, self._store, self._until)

    def blame(self, outcome: str, message: str) -> None:
        """Record that the answer just asked for, or read, is the one that cannot be used."""
        if self._at:
            (request, answer), since = self._at, time.monotonic()
            self._question(request).record(answer.url, outcome, since=since, sha256=answer.sha256, message=message)


def place(source: Source, scope: Scope, path: Path, store: Store, *, now: datetime, part: str | None = None) -> Poll:
    """Keep a file downloaded by hand as the source's answer for `part`; without it, the part that can read the file.

    It is verified as a download would be, and makes a good poll: with it, the last good one's answers for the other
    tables. Raises UsageError where it is not what the source gives.
    """
    if source.base == "inputs":
        raise UsageError(f"{source.name} is not downloaded", where=str(path), action="put it in the inputs folder")
    if not path.is_file():
        raise UsageError("no such file", where=str(path), action=f"name it: --file {source.name}=PATH")
    media, since = media_of(path), time.monotonic()
    try:
        verify(path, media, smallest=source.smallest, largest=source.largest)
    except Unusable as fault:
        raise UsageError(f"not a usable file: {fault.message}", where=str(path), action="download it again") from None
    reader = _reader(source, scope, path, part)
    part = part or (f"{reader.part}{path.name}" if reader.part.endswith("/") else reader.part)
    # A source that begins with a question shared by the states publishes one file for all of them.
    uf = "" if next(source.conversation(scope)).shared else scope.uf
    question = Question(source, uf, Request(part, path.name, media=media), store, since)
    with path.open("rb") as file:
        answer, news = question.answered(path.name, store.put(file), path.stat().st_size)
    question.record(path.name, news, since=since, received=answer.size, sha256=answer.sha256, message=BY_HAND)
    replaced = tuple(staged.part for staged in source.tables if staged.table.name == reader.table.name)
    before = store.last_good(source.name, scope.uf, scope.as_of)
    others = [other for other in before.answers if not other.part.startswith(replaced)] if before else []
    result = Poll(source.name, uf, scope.as_of, now, "ok", (*others, answer), f"{path.name}: {BY_HAND}")
    store.poll(result)
    return result


def _reader(source: Source, scope: Scope, path: Path, part: str | None) -> Staged:
    """The first of the source's readers (of those for `part`, if named) that makes rows of the state of the file."""
    readers = [staged for staged in source.tables if part is None or part.startswith(staged.part)]
    reasons = []
    for staged in readers:
        try:
            with path.open("rb") as file:
                rows = staged.parse(file).lazy()
            if of_state(rows, staged.table, scope).select(pl.len()).collect().item():
                return staged
            reasons.append(f"as {staged.part}: no rows of {scope.uf}")
        except EmancipaError as error:
            reasons.append(f"as {staged.part}: {error.what}")
    parts = ", ".join(dict.fromkeys(staged.part for staged in source.tables))
    why = "; ".join(reasons) or f"it has no part {part!r}, only {parts}"
    raise UsageError(f"{source.name} cannot read the file: {why}", where=str(path), action="download it anew")
