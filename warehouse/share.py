"""What machines without a file system in common hand each other of a data folder, through any URL that fsspec knows.

    EMANCIPA_SHARE=s3://bucket/emancipa     or gs://, abfs://, sftp://, file:///mnt/share; each with its own library
    <share>/raw/ staging/                   snapshots and parsed answers, named by their contents
    <share>/states/<UF>/                    a state's home as it was handed over last: ledgers, releases, `current`

An object store has no locks, links or renames, so no data folder can live there: each machine has its own, on its
disk, and a state's home is handed to a worker and back. `current`, here a text, is written last: what it names is
whole. Nothing lives here alone, and between runs it may be emptied.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from transforms.errors import EmancipaError, UsageError
from warehouse import meta, publish, release

LEDGERS = (publish.HISTORY, meta.RUNS, meta.CHECKS)
RAW = ("raw/polls.jsonl", "raw/attempts.jsonl")


@dataclass(frozen=True, slots=True)
class Share:
    """A folder of a file system; names are relative to it, and to the data folder they are copied from or to."""

    fs: Any
    root: str

    def give(self, data: Path, names: Iterable[str], *, below: str = "") -> None:
        """Files as they are now; those below a folder of what never changes only where they are not there whole."""
        sizes = {path: facts["size"] for path, facts in self._find(below).items()} if below else {}
        for name in names:
            local, remote = data / name, f"{self.root}/{name}"
            if local.exists() and sizes.get(remote) != local.stat().st_size:
                self._write(remote, partial(self.fs.put_file, str(local)))

    def take(self, data: Path, names: Iterable[str], *, anew: bool = False) -> None:
        """Files that are not at hand; with `anew`, as they are there now. Written aside and renamed."""
        for name in names:
            local, remote = data / name, f"{self.root}/{name}"
            if local.exists() and not anew:
                continue
            local.parent.mkdir(parents=True, exist_ok=True)
            aside = local.with_name(f".{local.name}-{os.getpid()}-{threading.get_ident()}")
            self.fs.get_file(remote, str(aside))
            aside.replace(local)

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
        folder = data / home
        wanted = [publish.current(folder), *publish.withdrawn(folder)]
        releases = [found for found in wanted if found in publish.releases(folder)]
        for found in releases:
            below = f"{home}/{publish.RELEASES}/{found}"
            files = (path for path in (data / below).rglob("*") if path.is_file())
            self.give(data, (str(path.relative_to(data)) for path in files), below=below)
        for ledger in LEDGERS:  # also one that is not there yet, whatever the share remembers of it
            self.write(f"{home}/{ledger}", (folder / ledger).read_bytes() if (folder / ledger).exists() else b"")
        self.write(f"{home}/{publish.CURRENT}", "\n".join(releases).encode())

    def take_home(self, data: Path, home: str, *, now: datetime, keep: publish.Keep) -> None:
        """A state's home as it was given; what its releases hold must be what they say. Raises EmancipaError."""
        folder = data / home
        with publish.lock(folder, now=now):
            publish.clean(folder)
            releases = self.fs.cat_file(f"{self.root}/{home}/{publish.CURRENT}").decode().split()
            for found in reversed(releases):  # the current one last, for placing switches to it
                if found == publish.current(folder):
                    continue
                with publish.building(folder, now=now) as aside:
                    self._take_release(f"{home}/{publish.RELEASES}/{found}", aside)
                    publish.place(folder, aside, found)
            self.take(data, (f"{home}/{ledger}" for ledger in LEDGERS), anew=True)
            publish.prune(folder, now=now, keep=keep)

    def _take_release(self, name: str, folder: Path) -> None:
        for remote in self._find(name):
            local = folder / remote.removeprefix(f"{self.root}/{name}/")
            local.parent.mkdir(parents=True, exist_ok=True)
            self.fs.get_file(remote, str(local))
        if release.contents_hash(folder) != publish.read_manifest(folder)["contents_hash"]:
            raise EmancipaError("a release did not come whole", where=f"EMANCIPA_SHARE, {name}", action="run again")


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
            action="see warehouse/share.py for its form",
        ) from error
