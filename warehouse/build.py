"""The DuckDB file of a release: made fresh each time, from frames in their total order, then closed for good.

Written in the storage version of DuckDB 1.4, so that older clients can read it. The file is built aside and
never opened for writing again once it is sealed: readers and the build cannot lock each other out.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Final

import duckdb
import polars as pl

from transforms.errors import EmancipaError
from transforms.schema import Table
from warehouse import views
from warehouse.ddl import create_table, quoted, stored
from warehouse.views import View

STORAGE_VERSION = "v1.4.0"
HEADER = re.compile(r"^-- ([a-z_ ]+): (.+)$", re.MULTILINE)
SCHEMAS = ("staging", "core", "mart", "meta")
# Nothing may need an extension, and asking for one offline costs a second before it fails.
SETTINGS: Final = MappingProxyType(
    {
        "storage_compatibility_version": STORAGE_VERSION,
        "default_block_size": "16384",  # dozens of small tables: a third of the file that 256 kB blocks make
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": "2GB",
        "threads": "1",  # of two, the second costs a small file more than it brings, and a large one brings no less
    }
)

Frame = pl.DataFrame | pl.LazyFrame
Tables = Mapping[str, tuple[Table, Frame]]


def build(path: Path, tables: Tables) -> None:
    """A fresh file with the four schemas and these tables. A file that exists is refused: nothing is appended."""
    if path.exists():
        raise FileExistsError(path)
    with duckdb.connect(str(path), config=dict(SETTINGS)) as database:
        database.execute("BEGIN")  # one transaction: each of its own would be written out alone
        for schema in SCHEMAS:
            database.execute(f"CREATE SCHEMA {quoted(schema)}")
        _insert(database, tables)
        database.execute("COMMIT")


def finish(path: Path, tables: Tables, declared: Iterable[Table], of: Iterable[View] | None = None) -> None:
    """Add the last tables (what the run says of itself), then the views; checkpoint, close, verify the seal.

    `declared` are the declarations of every table in the file: the views' columns take their words from them.
    """
    with duckdb.connect(str(path), config=dict(SETTINGS)) as database:
        _insert(database, tables)
        views.create(database, views.published() if of is None else of, declared)
        database.execute("CHECKPOINT")
    sealed(path)


def _insert(database: duckdb.DuckDBPyConnection, tables: Tables) -> None:
    for name, (table, frame) in tables.items():
        if name != table.name:
            raise ValueError(f"{name} is declared as {table.name}")
        rows = stored(table, frame)
        database.execute(create_table(table))
        database.register("rows", rows)
        try:
            database.execute(f"INSERT INTO {quoted(table.schema_name, table.short_name)} SELECT * FROM rows")
        except duckdb.ConstraintException as error:
            raise EmancipaError(f"rows that the declaration does not allow: {error}", where=name) from error
        database.unregister("rows")


def sealed(path: Path) -> None:
    """Refuse a file with unwritten changes beside it, or one that does not open: it must not be published."""
    wal = path.with_name(f"{path.name}.wal")
    if wal.exists():
        raise EmancipaError(
            "the DuckDB file still has changes in its write-ahead log",
            where=str(wal),
            action="delete both files and run again: the file is rebuilt from the snapshots",
        )
    try:
        with duckdb.connect(str(path), read_only=True) as database:
            database.execute("SELECT count(*) FROM duckdb_tables()")
    except duckdb.Error as error:
        raise EmancipaError(f"the DuckDB file does not open: {error}", where=str(path), action="run again") from error


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check of sql/checks returned: the failing rows and what its header says of them, or its error."""

    name: str
    header: Mapping[str, str]
    rows: pl.DataFrame
    error: str = ""


def findings(path: Path, texts: Mapping[str, str] | None = None) -> list[Finding]:
    """Run every check of sql/checks over a built file. One that errs says so: its silence is no pass."""
    with duckdb.connect(str(path), config=dict(SETTINGS), read_only=True) as database:
        return [_finding(database, name, text) for name, text in (texts or checks()).items()]


def _finding(database: duckdb.DuckDBPyConnection, name: str, text: str) -> Finding:
    header = dict(HEADER.findall(text))
    try:
        return Finding(name, header, database.sql(text).pl())
    except duckdb.Error as error:
        return Finding(name, header, pl.DataFrame(), str(error))


def unbuilt(error: EmancipaError) -> list[Finding]:
    """What stands for all checks where the file they would ask could not be built."""
    words = {
        "severity": "critical",
        "reason": "no query can be tried on a file that holds no rows",
        "next step": "see the not_null and key checks of the table named",
    }
    return [Finding("the_file_can_be_built", words, pl.DataFrame(), str(error))]


def checks() -> dict[str, str]:
    """The SQL of every check, by name."""
    found = sorted((files("sql") / "checks").iterdir(), key=lambda path: path.name)
    return {
        path.name.removesuffix(".sql"): path.read_text(encoding="utf-8") for path in found if path.name.endswith(".sql")
    }
