"""Clients that need no network: the bundled sample, which answers as the upstreams would, and the folder of inputs."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flows.fetch import Client, NoAnswer, Progress, Question, silent
from flows.settings import Settings
from transforms.sources import Base, Request
from warehouse import sample
from warehouse.snapshots import Answer

Found = tuple[str, bytes]  # what to call it in the ledger, and its bytes


@dataclass(frozen=True, slots=True)
class AtHand:
    """Answers from `find`, which has nothing (None) or the bytes. They are recorded as those of a network are."""

    find: Callable[[Base, Request], Found | None]

    def get(self, question: Question) -> Answer:
        """The answer; NoAnswer (absent) where there is none."""
        since, request = time.monotonic(), question.request
        found = self.find(question.source.base, request)
        if found is None:
            question.record(request.path, "absent", since=since)
            raise NoAnswer("absent", f"there is no {request.path}")
        url, body = found
        answer, news = question.answered(url, question.store.put(body), len(body))
        question.record(url, news, since=since, received=len(body), sha256=answer.sha256)
        return answer


@dataclass(frozen=True, slots=True)
class Upstreams:
    """Hand-supplied files from one client, everything else from another."""

    network: Client
    inputs: Client

    def get(self, question: Question) -> Answer:
        """The answer of whichever client the source belongs to."""
        return (self.inputs if question.source.base == "inputs" else self.network).get(question)


def client(settings: Settings, *, bundled: bool = False, progress: Progress = silent) -> Client:
    """What a run asks: the upstreams and the inputs folder, or with `bundled` the sample and its own inputs."""
    if bundled:
        return Upstreams(AtHand(_bundled), by_hand(settings, bundled=True))
    from flows.http import Web  # noqa: PLC0415  a sample run need not wait for requests to be imported

    return Upstreams(Web(settings, progress), by_hand(settings))


def by_hand(settings: Settings, *, bundled: bool = False) -> Client:
    """The inputs folder alone: its files are at hand, also offline."""
    folder = settings.inputs or sample.inputs() if bundled else settings.inputs_folder
    return AtHand(_files(folder))


def _bundled(base: Base, request: Request) -> Found | None:
    found = sample.answers(base, request.path, request.params)
    query = "&".join(f"{name}={value}" for name, value in request.params.items())
    return (f"sample:{base}{request.path}{'?' * bool(query)}{query}", found.body) if found else None


def _files(folder: Path) -> Callable[[Base, Request], Found | None]:
    def find(_base: Base, request: Request) -> Found | None:
        path = folder / request.path.lstrip("/")
        return (path.name, path.read_bytes()) if path.is_file() else None

    return find
