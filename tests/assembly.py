"""What the assembly opens, made once for all tests of it: a release of the sample, and its tables as published."""

import json
import math
import os
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import shapely
from numpy.typing import NDArray

from expectations import CHECK_RESULT
from flows import rule_files
from flows.cli import call
from tests.states import Invented
from transforms.catalog import tables
from transforms.rules.reading import RuleSet
from transforms.screen import screen
from warehouse.build import Tables
from warehouse.export.page import page
from warehouse.export.page.atlas import drawn
from warehouse.meta import SNAPSHOT, SOURCE_FRESHNESS

MANIFEST: dict[str, Any] = {  # of a release that nobody published
    "uf": "MG",
    "as_of": "2026-11-30",
    "simulated": False,
    "legal_notice": "Aviso.",
    "contents_hash": "cd" * 32,
    "fingerprint": "ef" * 32,
}


@dataclass(frozen=True)
class Released:
    """A release's folder, its release.json, its tables (the Parquet copies, and what it says of itself) and its law."""

    data: Path
    folder: Path
    manifest: dict[str, Any]
    tables: Tables
    rule_sets: tuple[RuleSet, ...]

    def rows(self, name: str) -> pl.DataFrame:
        found = self.tables[name][1]
        assert isinstance(found, pl.DataFrame)
        return found


@cache
def sample(*rules: str) -> Released:
    """The bundled sample, run once per test process and choice of rule sets, below the tests' own folder."""
    data = Path(tempfile.mkdtemp(prefix="assembly-", dir=os.getcwd()))
    asked = [word for name in rules for word in ("--rules", name)]
    with redirect_stdout(StringIO()):  # whichever test comes first reads only what it asked for
        assert call(["run", "--sample", "--data", str(data), *asked]) == 0
    return read(data / "sample", rules)


def read(data: Path, rules: Sequence[str] = ()) -> Released:
    folder = (data / "current").resolve()
    declared = tables()
    found = {
        path.stem: (declared[path.stem], pl.read_parquet(path)) for path in sorted(folder.glob("parquet/*.parquet"))
    }
    with duckdb.connect(str(folder / "emancipa.duckdb"), read_only=True) as warehouse:
        for table in (SNAPSHOT, SOURCE_FRESHNESS, CHECK_RESULT):
            found[table.name] = table, warehouse.sql(f"SELECT * FROM {table.name}").pl()
    rule_sets = tuple(file.rule_set for file in rule_files.read(rules))
    return Released(data, folder, json.loads((folder / "release.json").read_text(encoding="utf-8")), found, rule_sets)


@cache
def minas(*others: str) -> tuple[Tables, pl.DataFrame, tuple[RuleSet, ...]]:
    """An invented state as large as Minas Gerais, 1,817 districts in 853 municípios: its tables and its mesh.

    `others`: rule sets beside the default one.
    """
    state, codes = Invented(), list[str]()
    for number in range(853):
        municipality = f"31{number:05d}"
        names = [f"{municipality}{5 * (place + 1):02d}" for place in range(2 + (number < 111))]
        codes += names
        for place, code in enumerate(names):
            people = (number * 7919 + place * 104_729) % 24_000 + 400
            state.district(
                code, people, voters=people * 7 // 10 if people % 11 else None, name=f"Vila {code[2:]} & <Cia>"
            )
    state.state_tax = Decimal("80000000000.00")
    rule_sets = tuple(file.rule_set for file in rule_files.read([rule_files.DEFAULT, *others]))
    made = screen(state.staged(), state.scope, rule_sets)
    declared = tables()
    return {name: (declared[name], frame) for name, frame in made.items()}, mesh(codes), rule_sets


@cache
def large_page(*others: str) -> str:
    """The page of that state."""
    tables, mesh, rule_sets = minas(*others)
    return page(tables, MANIFEST, rule_sets, drawn(mesh))


def mesh(codes: Sequence[str]) -> pl.DataFrame:
    """Districts in a grid with crooked borders, shared by neighbours to the last digit: 240 vertices each."""
    wide = math.ceil(len(codes) ** 0.5)
    steps = np.linspace(0, 1, 60, endpoint=False)

    def crooked(x: int, y: int, *, across: bool) -> NDArray[np.float64]:
        noise = np.random.default_rng(x * 100_003 + y * 2 + across).normal(0, 0.015, len(steps)).cumsum()
        bend = noise - noise[-1] * steps
        bend[0] = 0
        line = np.column_stack([x + steps, y + bend]) if across else np.column_stack([x + bend, y + steps])
        return np.asarray(line, dtype=np.float64)

    polygons = []
    for place in range(len(codes)):
        x, y = place % wide, place // wide
        low, right = crooked(x, y, across=True), crooked(x + 1, y, across=False)
        high, left = crooked(x, y + 1, across=True), crooked(x, y, across=False)
        corners = [[x + 1, y + 1], [x, y]]
        ring = np.vstack([low, right, corners[0:1], high[:0:-1], [[x, y + 1]], left[:0:-1]])
        polygons.append(shapely.Polygon(ring * 0.2 + [-51, -23]))
    valid = shapely.make_valid(np.array(polygons, dtype=object))
    return pl.DataFrame(
        {"district_code": codes, "geometry": pl.Series(shapely.to_wkb(valid).tolist(), dtype=pl.Binary)}
    )
