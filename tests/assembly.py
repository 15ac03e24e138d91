"""What the assembly opens, made once for all tests of it: a release of the sample, and its tables as published."""

import json
import os
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from flows.cli import call
from transforms.catalog import tables
from warehouse.build import Tables


@dataclass(frozen=True)
class Released:
    """A release's folder, its release.json, and its tables from the Parquet copies."""

    data: Path
    folder: Path
    manifest: dict[str, Any]
    tables: Tables

    def rows(self, name: str) -> pl.DataFrame:
        found = self.tables[name][1]
        assert isinstance(found, pl.DataFrame)
        return found


@cache
def sample() -> Released:
    """The bundled sample, run once per test process, below the tests' own folder."""
    data = Path(tempfile.mkdtemp(prefix="assembly-", dir=os.getcwd()))
    assert call(["run", "--sample", "--data", str(data)]) == 0
    return read(data / "sample")


def read(data: Path) -> Released:
    folder = (data / "current").resolve()
    declared = tables()
    found: Tables = {
        path.stem: (declared[path.stem], pl.read_parquet(path)) for path in sorted(folder.glob("parquet/*.parquet"))
    }
    return Released(data, folder, json.loads((folder / "release.json").read_text(encoding="utf-8")), found)
