"""What machines without a file system in common hand each other of a data folder, through any URL that fsspec knows.

    EMANCIPA_SHARE=s3://bucket/emancipa     or gs://, abfs://, sftp://, file:///mnt/share; each with its own library
    <share>/raw/ staging/                   snapshots and parsed answers, named by their contents
    <share>/runs/<id>/raw/                  the ledgers of polls as that run saw them
    <share>/runs/<id>/states/<UF>/          a state's home as it was handed over last: ledgers, releases, `current`

An object store has no locks, links or renames, so no data folder can live there: each machine has its own, on its
disk, and a state's home is handed to a worker and back, apart from those of all other runs. `current`, here a JSON
text, is written last and tells the SHA-256 of every file: what differs, is missing or leads elsewhere is refused.
Nothing lives here alone, and between runs it may be emptied.
"""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from transforms.errors import EmancipaError, UsageError
from warehouse import data_folder, publish, release, run_ledger

LEDGERS = (publish.HISTORY, run_ledger.RUNS, run_ledger.CHECKS)
RAW = ("polls.jsonl", "attempts.jsonl")

Sums = Mapping[str, str]  # SHA-256 by name of file, relative to its folder


@dataclass(frozen=True, slots=True)
class Share:
    """A folder of a file system; names are relative to it, and to the data folder they are copied from or to."""

    fs: Any
    root: str

    def within(self, folder: str) -> "Share":
        """A share within it."""
        return replace(self, root=f"{self.root}/{folder}")

    def give(self, data: Path, names: Iterable[str], *, below: str) -> None:
        """Files below a folder of what never changes, where they are not there whole."""
        sizes = {path: facts["size"] for path, facts in self._find(below).items()}
        for name in names:
            local, remote = data / name, f"{self.root}/{name}"
            if local.exists() and sizes.get(remote) != local.stat().st_size:
                self._write(remote, partial(self.fs.put_file, str(local)))

    def take(self, data: Path, sums: Sums) -> None:
        """The same, where they are not at hand. One that is not whole is refused, and removed: it goes out again."""
        for name, sha256 in sums.items():
            if not _inside(data, name).exists():
                try:
                    self._take_whole(self.root, data, {name: sha256})
                except EmancipaError:
                    with suppress(OSError):
                        self.fs.rm_file(f"{self.root}/{name}")
                    raise

    def give_ledgers(self, folder: Path, names: Iterable[str], *, below: str) -> Sums:
        """Ledgers as they are now, also one that is not there yet; what was given before stays beside them."""
        sums = {}
        for name in names:
            lines = (folder / name).read_bytes() if (folder / name).exists() else b""
            sums[name] = hashlib.sha256(lines).hexdigest()
            self.write(f"{below}/{sums[name]}/{name}", lines)
        return sums

    def take_ledgers(self, folder: Path, sums: Sums, *, below: str) -> None:
        """Ledgers as they were given. Raises EmancipaError, naming one that is not whole."""
        for name, sha256 in sums.items():
            self._take_whole(f"{self.root}/{below}/{sha256}", folder, {name: sha256})

    def write(self, name: str, contents: bytes) -> None:
        """One small file, as it is now."""
        self._write(f"{self.root}/{name}", lambda remote: self.fs.pipe_file(remote, contents))

    def _write(self, remote: str, put: Callable[[str], None]) -> None:
        """Folders are made where there are such; a bucket is not ours to make."""
        try:
            put(remote)
        except FileNotFoundError:
            if not self.fs.exists(remote[: remote.index("/", 1)]):
                raise
            self.fs.makedirs(remote.rpartition("/")[0], exist_ok=True)
            put(remote)

    def _find(self, below: str) -> dict[str, Any]:
        with suppress(FileNotFoundError):
            return dict(self.fs.find(f"{self.root}/{below}", detail=True))
        return {}

    def give_home(self, data: Path, home: str) -> None:
        """A state's home, with its current release and those withdrawn from readers: all that a run looks at."""
        folder, at_hand = data / home, publish.releases(data / home)
        now = publish.current(folder)
        wanted = [now, *publish.withdrawn(folder)] if now else []
        releases = {}
        for found in (name for name in wanted if name in at_hand):
            whole = folder / publish.RELEASES / found
            files = [str(path.relative_to(whole)) for path in sorted(whole.rglob("*")) if path.is_file()]
            below = f"{home}/{publish.RELEASES}/{found}"
            self.give(data, (f"{below}/{name}" for name in files), below=below)
            releases[found] = {name: sha256_of(whole / name) for name in files}
        ledgers = self.give_ledgers(folder, LEDGERS, below=home)
        self.write(f"{home}/{publish.CURRENT}", json.dumps({"releases": releases, "ledgers": ledgers}).encode())

    def take_home(self, data: Path, home: str, *, now: datetime, keep: publish.Keep) -> None:
        """A state's home as it was given, all of it or nothing. Raises EmancipaError, naming what is not whole."""
        folder = data / home
        with data_folder.held(folder, now=now):
            releases, ledgers = self._told(home)
            with publish.building(folder, now=now) as aside:
                self.take_ledgers(aside, ledgers, below=home)
                wanted = [] if list(releases) == [publish.current(folder)] else list(releases)
                for found in wanted:
                    self._take_release(home, aside, found, releases[found])
                for found in reversed(wanted):  # the current one last, for placing switches to it
                    publish.place(folder, aside / found, found)
                for ledger in ledgers:
                    (aside / ledger).replace(folder / ledger)
                aside.rmdir()
            publish.prune(folder, now=now, keep=keep)

    def drop(self, home: str) -> None:
        """A home that was taken for good; where nothing may be removed, it stays."""
        with suppress(OSError):
            self.fs.rm(f"{self.root}/{home}", recursive=True)

    def _told(self, home: str) -> tuple[dict[str, Sums], Sums]:
        """What `current` says of a home: files by release, the current one first, and ledgers."""
        name = f"{home}/{publish.CURRENT}"
        try:
            told = json.loads(self.fs.cat_file(f"{self.root}/{name}"))
            return dict(told["releases"]), {ledger: told["ledgers"][ledger] for ledger in LEDGERS}
        except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
            raise _refused("a file did not come whole", f"{self.root}/{name}") from error

    def _take_release(self, home: str, aside: Path, found: str, sums: Sums) -> None:
        if not _is_release(found):
            raise _refused("not the name of a release", f"{self.root}/{home}/{publish.CURRENT}: {found}")
        whole = f"{self.root}/{home}/{publish.RELEASES}/{found}"
        self._take_whole(whole, aside / found, sums)
        if release.contents_hash(aside / found) != publish.read_manifest(aside / found)["contents_hash"]:
            raise _refused("a release is not what it says", whole)

    def _take_whole(self, remote: str, folder: Path, sums: Sums) -> None:
        for name, sha256 in sums.items():
            with _aside(_inside(folder, name)) as aside:
                with suppress(FileNotFoundError):
                    self.fs.get_file(f"{remote}/{name}", str(aside))
                if not aside.is_file() or sha256_of(aside) != sha256:
                    raise _refused("a file did not come whole", f"{remote}/{name}")


def _refused(what: str, name: str) -> EmancipaError:
    return EmancipaError(what, where=f"EMANCIPA_SHARE, {name}", action="see who else writes there, then run again")


def _inside(folder: Path, name: str) -> Path:
    """A file below a folder. Raises EmancipaError where its name leads elsewhere."""
    local = Path(os.path.abspath(folder / name))
    if Path(os.path.abspath(folder)) not in local.parents:
        raise _refused("a name leads out of its folder", name)
    return local


@contextmanager
def _aside(local: Path) -> Iterator[Path]:
    """Where to write a file that is renamed once it is whole: others may be reading it, or writing it too."""
    local.parent.mkdir(parents=True, exist_ok=True)
    aside = local.with_name(f".{local.name}-{os.getpid()}-{threading.get_ident()}")
    try:
        yield aside
        aside.replace(local)
    finally:
        aside.unlink(missing_ok=True)


def _is_release(name: str) -> bool:
    """Of the form of publish.release_id: no other name becomes a path."""
    moment, _, ending = name.partition("-")
    try:
        return ending.isalnum() and publish.release_id(publish.built_at(moment), ending) == name
    except ValueError:
        return False


def sha256_of(path: Path) -> str:
    """Of a file's contents."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def opened(url: str) -> Iterator[Share]:
    """The share. Raises UsageError where it cannot be reached, or the library for its kind of URL is missing."""
    from fsspec.core import url_to_fs  # noqa: PLC0415  few have one

    try:
        fs, root = url_to_fs(url, use_listings_cache=False)
        yield Share(fs, root.rstrip("/"))
    except EmancipaError:
        raise
    except Exception as error:
        raise UsageError(
            f"the share cannot be used: {type(error).__name__}: {error}",
            where="EMANCIPA_SHARE",
            action="see that it answers and may be written to; warehouse/share.py tells its form",
        ) from error
