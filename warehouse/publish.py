"""Publishing: a release built aside, switched in one step, and never half a release to read.

    data/lock                held for the length of a run (see data_folder)
    data/building/<id>       what is being written; whatever a killed run left there goes at the next start
    data/releases/<id>       whole releases, by the moment of their build; files are read only
    data/current             a relative link to one of them, replaced atomically
    data/history.jsonl       every publication and rollback, one JSON object a line; outlives the releases
    data/pins                ids of releases that are never pruned, one a line, `#` begins a comment

Order is the protocol: flush, rename, switch, record, prune. A crash between any two leaves `current` on a whole
release, the old one or the new one. Tests kill the process at every step.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from transforms.errors import ChecksRefused, EmancipaError, UsageError
from warehouse import DATABASE
from warehouse.build import sealed
from warehouse.data_folder import held, writing
from warehouse.ledger import Ledger, sync

CURRENT, RELEASES, BUILDING, HISTORY, PINS = "current", "releases", "building", "history.jsonl", "pins"
MANIFEST = "release.json"
STAMP = "%Y%m%dT%H%M%SZ"
STEPS = ("flush", "rename", "switch", "record", "prune")


@dataclass(frozen=True, slots=True)
class Event:
    """A switch of `current`: what was done, to which release, from which, and why if someone said."""

    at: datetime
    event: str  # published, rolled_back
    release: str
    previous: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Keep:
    """What pruning leaves: the newest `count` releases, and every one younger than `days`."""

    count: int
    days: int


def release_id(now: datetime, contents_hash: str) -> str:
    """`20261130T050000Z-ab12cd34`: sorts by time; equal endings have equal figures."""
    return f"{now.astimezone(UTC):{STAMP}}-{contents_hash[:8]}"


@contextmanager
def building(data: Path, *, now: datetime) -> Iterator[Path]:
    """An empty folder to write a release into; the lock must be held. Leftovers of killed runs go first.

    If writing fails the folder goes too, except when checks refused: their report stays until the next start.
    """
    clean(data)
    folder = data / BUILDING / f"{now.astimezone(UTC):{STAMP}}"
    folder.mkdir(parents=True)
    try:
        with writing(data):
            yield folder
    except ChecksRefused:
        raise
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def clean(data: Path) -> None:
    """Remove what killed runs left, and record a switch that was made but not written down."""
    shutil.rmtree(data / BUILDING, ignore_errors=True)
    for leftover in data.glob(f".{CURRENT}-*"):
        leftover.unlink()
    release = current(data)
    if release and all(event.release != release for event in history(data)):
        _record(data, Event(built_at(release), "published", release, reason="recorded after an interruption"))


def publish(
    data: Path,
    folder: Path,
    release: str,
    *,
    now: datetime,
    keep: Keep,
    reason: str = "",
    step: Callable[[str], object] = str,
) -> Path:
    """Make a finished folder the current release; the lock must be held. `step` is told each step before it.

    `reason` says why, where somebody had to (drift that was accepted); it goes into the history.
    """
    previous = current(data)
    target = place(data, folder, release, step=step)
    step("record")
    _record(data, Event(now, "published", release, previous, reason))
    step("prune")
    prune(data, now=now, keep=keep)
    return target


def place(data: Path, folder: Path, release: str, *, step: Callable[[str], object] = str) -> Path:
    """Bring a finished folder to where readers find it; the lock must be held."""
    if leftovers := [str(path) for path in folder.rglob("*.wal")]:
        raise EmancipaError("the release is not sealed", where=", ".join(leftovers), action="run again")
    sealed(folder / DATABASE)
    step("flush")
    _flush(folder)
    step("rename")
    target = data / RELEASES / release
    target.parent.mkdir(exist_ok=True)
    if target.exists():  # the same second and the same figures: a killed run got this far
        shutil.rmtree(folder)
    else:
        folder.rename(target)
        sync(target.parent)
    step("switch")
    _switch(data, release)
    return target


def rollback(data: Path, release: str | None = None, *, now: datetime, reason: str = "") -> str:
    """Point `current` at another release, and record it: by default the newest before it that nobody rolled back from.
    Returns its id.
    """
    with held(data, now=now):
        clean(data)
        at_hand, previous = releases(data), current(data)
        bad = rejected(data)
        older = [found for found in at_hand if previous and found < previous and found not in bad]
        target = release or (older[-1] if older else None)
        if target is None or target not in at_hand:
            raise UsageError(
                f"no release {release}" if release else "no older release to go back to",
                where=str(data / RELEASES),
                action=f"releases at hand: {', '.join(at_hand) or 'none'}",
            )
        sealed(data / RELEASES / target / DATABASE)
        _switch(data, target)
        _record(data, Event(now, "rolled_back", target, previous, reason))
        return target


def prune(data: Path, *, now: datetime, keep: Keep) -> list[str]:
    """Remove releases that are neither kept (see Keep), pinned nor current. Readers with a file open keep it."""
    at_hand = releases(data)
    spared = {current(data), *pinned(data), *at_hand[-max(keep.count, 2) :]}
    gone = [
        release for release in at_hand if release not in spared and built_at(release) < now - timedelta(days=keep.days)
    ]
    for release in gone:
        # Out of sight first, so that no reader ever meets half a release.
        leaving = data / BUILDING / f"pruned-{release}"
        leaving.parent.mkdir(exist_ok=True)
        (data / RELEASES / release).rename(leaving)
        shutil.rmtree(leaving)
    return gone


def current(data: Path) -> str | None:
    """Id of the release that readers see; None before the first."""
    link = data / CURRENT
    return link.readlink().name if link.is_symlink() and link.exists() else None


def releases(data: Path) -> list[str]:
    """Ids of the releases at hand, oldest first."""
    return sorted(path.parent.name for path in (data / RELEASES).glob(f"*/{MANIFEST}"))


def manifest(data: Path, release: str) -> dict[str, Any]:
    """The release.json of a release."""
    return read_manifest(data / RELEASES / release)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The release.json in a folder."""
    path = folder / MANIFEST
    try:
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        action = "take this release's folder away, then run again"
        raise EmancipaError(f"release.json cannot be read: {error}", where=str(path), action=action) from error
    return read


def predecessor(data: Path, uf: str) -> str | None:
    """The release that a new one of this state is compared with: the current one, else the state's newest."""
    now = current(data)
    candidates = [*releases(data), *([now] if now else [])]
    return next((found for found in reversed(candidates) if manifest(data, found)["uf"] == uf), None)


def already(data: Path, fingerprint: str) -> str | None:
    """The release made of the very same inputs: the current one, or one that was withdrawn.

    Without the latter, the next night would publish again what somebody has just rolled back from.
    """
    now, at_hand = current(data), set(releases(data))
    made = [release for release in ((now, *withdrawn(data)) if now else ()) if release in at_hand]
    return next((release for release in made if manifest(data, release)["fingerprint"] == fingerprint), None)


def withdrawn(data: Path) -> dict[str, Event]:
    """The releases that were rolled back from since the last publication, and not returned to: each with its event."""
    found: dict[str, Event] = {}
    for event in history(data):
        if event.event == "published":
            found = {}
        elif event.previous:
            found[event.previous] = event
        found.pop(event.release, None)
    return found


def rejected(data: Path) -> set[str]:
    """The releases that were ever rolled back from, and not returned to."""
    found: set[str] = set()
    for event in history(data):
        if event.event == "rolled_back" and event.previous and event.release < event.previous:
            found.add(event.previous)
        found.discard(event.release)
    return found


def withdrawal(data: Path, release: str) -> str:
    """What became of a release that the same inputs made; empty where readers see it."""
    if (event := withdrawn(data).get(release)) is None:
        return ""
    why = f" ({event.reason})" if event.reason else ""
    return f"the same as {release}, which was rolled back on {event.at:%Y-%m-%d}{why}"


def pinned(data: Path) -> set[str]:
    """Ids in the pins file."""
    try:
        lines = (data / PINS).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return set()
    return {name for line in lines if (name := line.partition("#")[0].strip())}


def history(data: Path) -> list[Event]:
    """Every publication and rollback, in order."""
    rows = Ledger(data / HISTORY).unread()
    return [Event(**{**row, "at": datetime.fromisoformat(row["at"])}) for row in rows]


def _record(data: Path, event: Event) -> None:
    Ledger(data / HISTORY).append(event)


def built_at(release: str) -> datetime:
    """The moment in a release's id."""
    return datetime.strptime(release.partition("-")[0], STAMP).replace(tzinfo=UTC)


def _switch(data: Path, release: str) -> None:
    link = data / f".{CURRENT}-{os.getpid()}"
    link.unlink(missing_ok=True)
    link.symlink_to(Path(RELEASES) / release, target_is_directory=True)
    try:
        link.replace(data / CURRENT)
    except OSError as error:
        link.unlink()
        raise EmancipaError(
            f"`{CURRENT}` cannot be switched: {error.strerror}; readers keep the release they have",
            where=str(data / CURRENT),
            action="see who holds it, then run again",
        ) from error
    sync(data)


def _flush(folder: Path) -> None:
    """Everything below a folder to the disk, its files read only from now on."""
    for path in [folder, *folder.rglob("*")]:
        if path.is_file():
            path.chmod(0o444)
        sync(path)
