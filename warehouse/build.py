"""The DuckDB file of a release: made fresh each time, from frames in their total order, then closed for good.

Written in the storage version of DuckDB 1.4, so that older clients can read it. The file is built aside and
never opened for writing again once it is sealed: readers and the build cannot lock each other out.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final

import duckdb
import polars as pl

from transforms.errors import EmancipaError
from transforms.schema import Table
from warehouse import DATABASE, views
from warehouse.ddl import comments, create_table, plain, quoted
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
        "checkpoint_threshold": "0B",  # rows go straight into the file, not first into a log beside it
        "memory_limit": "2GB",
        "threads": "1",  # of two, the second costs a small file more than it brings, and a large one brings no less
    }
)

Frame = pl.DataFrame | pl.LazyFrame
Tables = Mapping[str, tuple[Table, Frame]]


def build(path: Path, tables: Tables, later: Iterable[Table] = (), of: Iterable[View] = ()) -> None:
    """A fresh file with these tables, those that are filled `later`, and views over both. A file that exists is
    refused: nothing is appended.
    """
    declared = (*(table for table, _ in tables.values()), *later)
    with path.open("xb") as file:
        file.write(_empty(declared, tuple(of)))
    fill(path, tables)


def fill(path: Path, tables: Tables) -> None:
    """Put their conformed rows into tables that stand empty: in one transaction, else each is written out alone."""
    with duckdb.connect(str(path), config=dict(SETTINGS)) as database:
        database.execute("BEGIN")
        for name, (table, frame) in tables.items():
            if name != table.name:
                raise ValueError(f"{name} is declared as {table.name}")
            rows = plain(table, frame.lazy().collect())
            try:
                _require_unique(table, rows)
                database.execute(f"INSERT INTO {quoted(table.schema_name, table.short_name)} SELECT * FROM rows")
            except (ValueError, duckdb.ConstraintException) as error:
                raise EmancipaError(f"rows that the declaration does not allow: {error}", where=name) from error
        database.execute("COMMIT")


def _require_unique(table: Table, rows: pl.DataFrame) -> None:
    """What a primary key would say, at a tenth of what its index costs."""
    if table.key and rows.select(table.key).n_unique() < rows.height:
        twice = rows.filter(pl.struct(table.key).is_duplicated()).select(table.key).row(0)
        raise ValueError(f"duplicate key ({', '.join(table.key)}): {', '.join(map(str, twice))}")


@cache
def _empty(tables: tuple[Table, ...], of: tuple[View, ...]) -> bytes:
    """The file before its rows: schemas, tables, views and what they say of themselves. Every state's is the same."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / DATABASE
        with duckdb.connect(str(path), config=dict(SETTINGS)) as database:
            database.execute("BEGIN")
            for schema in SCHEMAS:
                database.execute(f"CREATE SCHEMA {quoted(schema)}")
            for table in tables:
                database.execute(create_table(table))
                database.execute(comments(table))
            for view in views.create(database, of, tables):
                database.execute(comments(view, "VIEW"))
            database.execute("COMMIT")
        return path.read_bytes()


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
