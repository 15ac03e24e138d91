"""The data folder while a run works in it: held by one at a time; what keeps a run from its files, in plain words."""

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from transforms.errors import EmancipaError, Locked

LOCK = "lock"
# What the system may hold against a run, by its error numbers: what to say, and what to do.
OBSTACLES = (
    ({errno.ENOSPC, errno.EDQUOT}, "the disk is full", "free some space and run again"),
    ({errno.EROFS, errno.EACCES, errno.EPERM}, "this may not be read or written", "see whose it is, or name another"),
    ({errno.ENOTDIR, errno.EEXIST}, "this is a file, and a folder is needed", "move it away, or name another folder"),
    ({errno.ENAMETOOLONG}, "a name is too long for the disk", "name a data folder with a shorter path"),
    ({errno.ENOLCK, errno.EOPNOTSUPP}, "no lock can be held here", "name a data folder on a disk of this machine"),
)


@contextmanager
def held(data: Path, *, now: datetime) -> Iterator[None]:
    """Hold the data folder, and say who does. The kernel frees the lock of a process that dies, however it dies."""
    with writing(data):
        data.mkdir(parents=True, exist_ok=True)
        opened = (data / LOCK).open("a+", encoding="utf-8")
    with opened as file:
        try:
            with writing(data):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise Locked(
                f"another run holds this data folder: {file.read().strip() or 'just started'}",
                where=str(data / LOCK),
                action="wait until it ends; nothing was touched",
            ) from None
        with writing(data):
            file.truncate(0)
            file.write(f"pid {os.getpid()} on {socket.gethostname()}, since {iso(now)}")
            file.flush()
        try:
            yield
        finally:
            file.truncate(0)


@contextmanager
def writing(data: Path) -> Iterator[None]:
    """Say plainly what keeps a run from its files: a full disk, a folder that is read only."""
    try:
        yield
    except EmancipaError:
        raise
    except Exception as error:
        for numbers, what, action in OBSTACLES:
            # DuckDB and Polars pass on the system's words, without its number.
            if getattr(error, "errno", None) in numbers or any(os.strerror(number) in str(error) for number in numbers):
                where = str(getattr(error, "filename", None) or data)
                raise EmancipaError(f"{what}; readers keep the last release", where=where, action=action) from error
        raise


def iso(at: datetime) -> str:
    """A moment as the lock and release.json tell it: UTC, to the second."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
