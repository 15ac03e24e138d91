"""Raw snapshots: every answer of an upstream as it came, named by its SHA-256, and the ledgers of how it came.

    raw/blobs/<aa>/<sha256>   immutable; written aside, fsynced, renamed: it is whole or it is not there
    raw/attempts.jsonl        one line per HTTP attempt or file read, whatever came of it
    raw/polls.jsonl           one line per finished conversation with a source, good or failed
    raw/incoming/*.part       downloads under way; `sweep` removes what a killed run left

Ledgers are only appended to. A line torn by a crash is skipped and the next one starts afresh. A blob whose bytes no
longer match its name is set aside and counts as absent: no figure ever comes from it.
"""

import hashlib
import io
import logging
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO, Self
from zoneinfo import ZoneInfo

import polars as pl

from transforms.errors import SourceUnavailable
from warehouse.ledger import Ledger, sync

CHUNK = 1 << 20
BRASILIA = ZoneInfo("America/Sao_Paulo")  # the zone in which an as-of day begins and ends

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an upstream gave for one part. `published_at` is its Last-Modified; `fetched_at` when the bytes came."""

    part: str
    url: str
    sha256: str
    size: int
    media: str
    fetched_at: datetime
    published_at: datetime | None = None
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at one question. `outcome` is a word of flows/http.py; `sha256` what came, also where it was refused."""

    at: datetime
    source: str
    uf: str  # "" for a question that is the same for every state
    part: str
    url: str
    status: int | None
    bytes: int
    sha256: str | None
    seconds: float
    outcome: str
    message: str = ""


NOT_SUPPLIED = "not supplied"


@dataclass(frozen=True, slots=True)
class Poll:
    """One finished conversation with a source. A failed one keeps the answers it got, and names its `cause`."""

    source: str
    uf: str  # "" when every answer is shared by the states
    as_of: date
    polled_at: datetime
    outcome: str  # ok, failed
    answers: tuple[Answer, ...]
    message: str = ""
    cause: str = ""  # the outcome word that ended a failed one

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"

    @property
    def word(self) -> str:
        """How it went: ok, why it failed, or that a file of the user's own is not there (no upstream has nothing)."""
        return self.cause or (self.outcome if self.answers or not self.ok else NOT_SUPPLIED)


class Incoming:
    """A file on its way into the store: hashed as it is written, and started over when a download must be."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("w+b")
        self.reset()

    def reset(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._hash, self.size = hashlib.sha256(), 0

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def flush(self) -> Self:
        self._file.flush()
        return self

    def finish(self) -> str:
        """Bytes on the disk, file closed; its SHA-256."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return self._hash.hexdigest()

    def discard(self) -> None:
        with suppress(OSError):  # on a full disk, what is still to be written cannot be
            self._file.close()
        self.path.unlink(missing_ok=True)


class Store:
    """The snapshots of a data folder. Threads may share it; only one process at a time may write (the run's lock)."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._attempts = Ledger(root / "attempts.jsonl")
        self._ledger = Ledger(root / "polls.jsonl")
        self._lock = threading.RLock()
        self._sound: set[str] = set()  # blobs whose hash this process has verified
        self._polls: list[Poll] = []
        self._known: dict[tuple[str, str, str], Answer] = {}

    # blobs

    @contextmanager
    def incoming(self) -> Iterator[Incoming]:
        """A file to write an answer into; gone at the end unless `keep` took it."""
        folder = self.root / "incoming"
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(".part", dir=folder)
        os.close(descriptor)
        part = Incoming(Path(name))
        try:
            yield part
        finally:
            part.discard()

    def keep(self, part: Incoming) -> str:
        """Take a whole file into the store; its SHA-256. The same bytes are kept once."""
        sha256 = part.finish()
        blob = self.path(sha256)
        with self._lock:
            if not self.has(sha256):
                blob.parent.mkdir(parents=True, exist_ok=True)
                part.path.chmod(0o444)
                part.path.rename(blob)
                sync(blob.parent)
                self._sound.add(sha256)
        return sha256

    def put(self, stream: BinaryIO | bytes) -> str:
        """Copy bytes into the store; their SHA-256."""
        source = io.BytesIO(stream) if isinstance(stream, bytes) else stream
        with self.incoming() as part:
            while data := source.read(CHUNK):
                part.write(data)
            return self.keep(part)

    def path(self, sha256: str) -> Path:
        return self.root / "blobs" / sha256[:2] / sha256

    def has(self, sha256: str) -> bool:
        """Whether a blob is there and whole: hashed once per process. A damaged one is set aside and said so."""
        blob = self.path(sha256)
        with self._lock:
            if not blob.exists():
                self._sound.discard(sha256)
            elif sha256 not in self._sound:
                with blob.open("rb") as file:
                    found = hashlib.file_digest(file, "sha256").hexdigest()
                if found == sha256:
                    self._sound.add(sha256)
                else:
                    blob.rename(blob.with_suffix(".damaged"))
                    log.warning("snapshot %s is damaged: set aside, and fetched again when next asked for", blob)
            return sha256 in self._sound

    def open(self, sha256: str) -> BinaryIO:
        """A snapshot's bytes. Raises SourceUnavailable where it is missing or damaged."""
        if not self.has(sha256):
            raise SourceUnavailable(
                "a snapshot is missing or damaged",
                where=str(self.path(sha256)),
                action="run online, so that it is fetched again",
            )
        return self.path(sha256).open("rb")

    def sweep(self) -> int:
        """Remove the downloads a killed run left; how many. Call it only while holding the run's lock."""
        left = list((self.root / "incoming").glob("*.part"))
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)

    # ledgers

    def attempt(self, attempt: Attempt) -> None:
        with self._lock:
            self._attempts.append(attempt)

    def poll(self, poll: Poll) -> None:
        with self._lock:
            self._ledger.append(poll)

    def _catch_up(self) -> None:
        """Read what has been added to the ledger of polls, by this process or another."""
        for row in self._ledger.unread():
            poll = _poll(row)
            self._polls.append(poll)
            self._known |= {(poll.source, answer.part, answer.url): answer for answer in poll.answers}

    def history(self, source: str | None = None, uf: str | None = None) -> list[Poll]:
        """Polls in the order they were made: of one source, and of one state with those shared by all, if asked."""
        with self._lock:
            self._catch_up()
            polls = self._polls if source is None else [poll for poll in self._polls if poll.source == source]
        return [poll for poll in polls if uf is None or poll.uf in {uf, ""}]

    def known(self, source: str, part: str, url: str) -> Answer | None:
        """The last answer to that very question, also of a conversation that failed later."""
        with self._lock:
            self._catch_up()
            return self._known.get((source, part, url))

    def last_good(self, source: str, uf: str, as_of: date | None = None) -> Poll | None:
        """The good poll to build from, its snapshots whole; None where there is none.

        Without `as_of`, the newest. With it, a poll that asked for that very day comes first, so that a past date is
        rebuilt from what it was built from; then one made by that day; then one made later. Of several alike, the one
        that asked for the latest day, of those the newest, and of those the last recorded.
        """

        def rank(poll: Poll) -> tuple[bool, bool, date, datetime]:
            if as_of is None:
                return True, True, date.min, poll.polled_at
            by_then = poll.as_of <= as_of and poll.polled_at.astimezone(BRASILIA).date() <= as_of
            return poll.as_of == as_of, by_then, poll.as_of, poll.polled_at

        good = [poll for poll in self.history(source, uf) if poll.ok]
        ranked = sorted(good, key=rank)
        return next((p for p in reversed(ranked) if all(self.has(answer.sha256) for answer in p.answers)), None)

    def attempts(self) -> pl.DataFrame:
        """Every attempt, in the order made."""
        ledger = Ledger(self._attempts.path)
        rows = [_moments(row, "at") for row in ledger.unread()]
        return pl.DataFrame(rows, schema=ATTEMPTS, orient="row")

    def polls(self) -> pl.DataFrame:
        """Every poll, in the order made, without its answers (`history` has them)."""
        rows = [{name: getattr(poll, name) for name in POLLS} for poll in self.history()]
        return pl.DataFrame(rows, schema=POLLS, orient="row")


_MOMENT, _TEXT = pl.Datetime("us", "UTC"), pl.String()
_TYPES: dict[str, pl.DataType] = {
    "at": _MOMENT,
    "polled_at": _MOMENT,
    "as_of": pl.Date(),
    "status": pl.Int64(),
    "bytes": pl.Int64(),
    "seconds": pl.Float64(),
}
ATTEMPTS = {field.name: _TYPES.get(field.name, _TEXT) for field in fields(Attempt)}
POLLS = {field.name: _TYPES.get(field.name, _TEXT) for field in fields(Poll) if field.name != "answers"}


def _moments(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return row | {name: row[name] and datetime.fromisoformat(row[name]) for name in names}


def _poll(row: dict[str, Any]) -> Poll:
    answers = (Answer(**_moments(answer, "fetched_at", "published_at")) for answer in row["answers"])
    whole = _moments(row, "polled_at") | {"as_of": date.fromisoformat(row["as_of"]), "answers": tuple(answers)}
    return Poll(**whole)
