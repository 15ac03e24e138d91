"""Ledgers: files of JSON lines that are only appended to, safe from a crash in the middle of a line."""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

log = logging.getLogger(__name__)


class Ledger:
    """A JSON Lines file that is only appended to, and read on from where it was last read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0

    def append(self, record: "DataclassInstance") -> None:
        line = json.dumps(asdict(record), default=lambda moment: moment.isoformat(), ensure_ascii=False)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            os.write(descriptor, b"\n" * torn + line.encode() + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def unread(self) -> Iterator[dict[str, Any]]:
        """Whole lines since the last call. A last line without its end is left for later; a broken one is skipped."""
        if not self.path.exists():
            return
        with self.path.open("rb") as lines:
            lines.seek(self._offset)
            for line in lines:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                try:
                    record = json.loads(line)
                except ValueError:
                    record = None
                if isinstance(record, dict):
                    yield record
                elif line.strip():
                    log.warning("%s: a torn line before byte %d is skipped", self.path, self._offset)


def sync(path: Path) -> None:
    """A file, or a folder's entries, onto the disk: a rename lasts only when its folder is there."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
