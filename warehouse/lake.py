"""The marts in a DuckLake, for teams that outgrow one file: PostgreSQL keeps the catalogue, shared storage the Parquet.

    EMANCIPA_LAKE=postgres:dbname=emancipa host=db user=emancipa     the catalogue (a path makes it a local file)
    EMANCIPA_LAKE_DATA=/mnt/share/lake                               where the Parquet files go

Every table is a mart of a release with two columns before its own: `screened_uf` and `release`. A state's rows are
replaced in one transaction, so that machines that run different states share the lake, and readers see a whole release
of each. The releases in the data folder stay what they are; a lake that was away is brought up to date by the next run.
DuckDB's extensions `ducklake` and `postgres` are needed, by `INSTALL` or from PyPI (duckdb-extension-ducklake).
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import duckdb

from transforms.errors import UsageError
from transforms.schema import Table
from warehouse.ddl import TYPES, comments, literal, quoted

PARQUET = "parquet"
TRIES = 8  # two machines that commit at once: the later one begins again
PLACED = "meta.lake_release"


def keep(catalogue: str, data: Path | None, release: Path, uf: str, marts: list[Table]) -> bool:
    """Bring the lake's rows of a state to a release (its folder); whether they were not there yet.

    Raises UsageError where the lake cannot be reached.
    """
    with opened(catalogue, data) as lake:
        for attempt in range(TRIES):
            try:
                lake.execute("BEGIN")
                is_new = _prepare(lake, marts, release, uf)
                if is_new:
                    _replace(lake, release, uf, marts)
                lake.execute("COMMIT")
            except duckdb.TransactionException:
                if attempt == TRIES - 1:
                    raise
                with suppress(duckdb.Error):  # a failed COMMIT has rolled back already
                    lake.execute("ROLLBACK")
                time.sleep(0.1 * 2**attempt)
            else:
                return is_new
    return False


@contextmanager
def opened(catalogue: str, data: Path | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """The lake, attached as `lake`."""
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        extensions = ["ducklake", *(["postgres_scanner"] if catalogue.startswith("postgres:") else [])]
        for name in extensions:
            _load(connection, name)
        where = f" (DATA_PATH {literal(str(data))})" if data else ""
        try:
            connection.execute(f"ATTACH {literal(f'ducklake:{catalogue}')} AS lake{where}")
        except duckdb.Error as error:
            raise UsageError(
                f"the lake cannot be opened: {error}",
                where="EMANCIPA_LAKE",
                action="see warehouse/lake.py for its form",
            ) from None
        connection.execute("USE lake; SET enable_progress_bar = false")
        yield connection


def _load(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """One of DuckDB's extensions: what is installed, else PyPI's, else from DuckDB's repository."""
    said, ways = "", [f"LOAD {name}", f"INSTALL {name}; LOAD {name}"]
    if packaged := find_spec(f"duckdb_extension_{name}"):
        files = Path(packaged.origin or "").parent.glob(f"extensions/*/{name}.duckdb_extension")
        ways[1:1] = [f"LOAD {literal(str(path))}" for path in files]
    for way in ways:
        try:
            connection.execute(way)
        except duckdb.Error as error:
            said = str(error).splitlines()[0]
        else:
            return
    raise UsageError(
        f"EMANCIPA_LAKE needs DuckDB's extension {name}, which DuckDB {duckdb.__version__} cannot load: {said}",
        where="EMANCIPA_LAKE",
        action=f"run `INSTALL {name}` in DuckDB where there is internet, or unset EMANCIPA_LAKE; PyPI's "
        f"duckdb-extension-{name.replace('_', '-')} fits DuckDB 1.5.5 only",
    )


def _prepare(lake: duckdb.DuckDBPyConnection, marts: list[Table], release: Path, uf: str) -> bool:
    """Make tables that are not there yet, and columns that came since; whether the release is not there either."""
    known = {
        name for (name,) in lake.execute("SELECT schema_name || '.' || table_name FROM duckdb_tables()").fetchall()
    }
    if PLACED not in known:
        lake.execute("CREATE SCHEMA IF NOT EXISTS mart; CREATE SCHEMA IF NOT EXISTS meta")
        lake.execute(f"CREATE TABLE {PLACED} (screened_uf VARCHAR, release VARCHAR, placed_at TIMESTAMP)")
    elif lake.execute(f"SELECT 1 FROM {PLACED} WHERE (screened_uf, release) = ($1, $2)", [uf, release.name]).fetchone():
        return False
    for table in marts:
        columns = [f"{quoted(column.name)} {TYPES[column.kind]}" for column in table.columns]
        name = quoted(table.schema_name, table.short_name)
        if table.name not in known:
            lake.execute(f"CREATE TABLE {name} (screened_uf VARCHAR, release VARCHAR, {', '.join(columns)})")
            lake.execute(comments(table))
        for column in columns if table.name in known else ():
            lake.execute(f"ALTER TABLE {name} ADD COLUMN IF NOT EXISTS {column}")
    return True


def _replace(lake: duckdb.DuckDBPyConnection, release: Path, uf: str, marts: list[Table]) -> None:
    for table in marts:
        name, file = quoted(table.schema_name, table.short_name), release / PARQUET / f"{table.name}.parquet"
        lake.execute(f"DELETE FROM {name} WHERE screened_uf = $1", [uf])
        lake.execute(
            f"INSERT INTO {name} BY NAME SELECT $1 AS screened_uf, $2 AS release, * FROM read_parquet($3)",
            [uf, release.name, str(file)],
        )
    lake.execute(f"DELETE FROM {PLACED} WHERE screened_uf = $1", [uf])
    lake.execute(f"INSERT INTO {PLACED} VALUES ($1, $2, now()::TIMESTAMP)", [uf, release.name])
