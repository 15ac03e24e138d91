"""Staging: each answer of an upstream parsed once, kept as Parquet, and checked against its declaration.

The cache key is the snapshot's hash, the parser's version and the declaration: any of them changes, and the answer
is parsed again. Files are written aside and renamed, so that a killed run leaves none that is half written.
"""

import hashlib
import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from transforms.codes import in_state
from transforms.errors import EmancipaError, SourceChanged, SourceUnsound, UsageError
from transforms.schema import Kind, Table
from transforms.sources import Scope, Source, Staged
from warehouse.build import Tables
from warehouse.snapshots import Answer, Poll, Store

# A place's code begins with its state's: any one of these columns tells whose a row is.
PLACES = ("state_code", "district_code", "municipality_code", "sector_code", "location_code")
LARGEST = 1_000_000  # rows of a staging table that is still published


def stage(store: Store, polls: Iterable[tuple[Source, Poll]], cache: Path) -> dict[str, pl.LazyFrame]:
    """Every staging table of the sources, over all the answers at hand; the empty table where there is none.

    Raises SourceChanged (UsageError for hand-supplied files) on rows that do not fit the declaration, or keys
    that stand in more than one answer.
    """
    declared: dict[str, tuple[Table, Source]] = {}
    parsed: dict[str, dict[Path, str]] = {}
    for source, poll in polls:
        for staged in source.tables:
            declared[staged.table.name] = staged.table, source
            found = parsed.setdefault(staged.table.name, {})
            for answer in poll.answers:
                if answer.part.startswith(staged.part):
                    found[_parsed(store, source, staged, answer, cache)] = answer.part
    return {name: _together(*declared[name], files) for name, files in sorted(parsed.items())}


def read(store: Store, source: Source, answer: Answer, cache: Path) -> None:
    """Make the rows of one answer, for every table that it feeds: `stage` finds them made. Raises as it does."""
    for staged in source.tables:
        if answer.part.startswith(staged.part):
            _parsed(store, source, staged, answer, cache)


def paths(source: Source, answer: Answer, cache: Path) -> list[Path]:
    """Where the rows of an answer are kept, or will be: a file for every table that it feeds."""
    return [_path(staged, answer, cache) for staged in source.tables if answer.part.startswith(staged.part)]


def _path(staged: Staged, answer: Answer, cache: Path) -> Path:
    key = hashlib.sha256(f"{answer.sha256} {staged.version} {staged.table!r}".encode()).hexdigest()
    return cache / staged.table.name / f"{key[:32]}.parquet"


def _parsed(store: Store, source: Source, staged: Staged, answer: Answer, cache: Path) -> Path:
    """The Parquet file of one answer's rows, made if it is not there."""
    path = _path(staged, answer, cache)
    if path.exists():
        path.touch()
        return path
    where = f"{source.name}, {answer.part}, snapshot {answer.sha256[:12]}"
    try:
        with store.open(answer.sha256) as file:
            rows = staged.table.conform(staged.parse(file))
    except EmancipaError as error:
        error.where = error.where or where
        raise
    except pl.exceptions.PolarsError as error:
        raise _changed(source, f"rows do not fit {staged.table.name}: {error}", where) from error
    _verify(rows, staged.table, source, where)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.stem}-{os.getpid()}-{threading.get_ident()}")
    rows.write_parquet(aside, compression="zstd", compression_level=1)
    aside.replace(path)
    return path


def _verify(rows: pl.DataFrame, table: Table, source: Source, where: str) -> None:
    """Some rows where the declaration needs some, no nulls where it has none, no key twice."""
    if rows.is_empty() and not table.may_be_empty and source.base != "inputs":
        raise SourceUnsound(f"no row for {table.name}", where=where, action="it is empty at its source: try later")
    for column in table.columns:
        if not column.nullable and rows[column.name].has_nulls():
            first = rows.filter(pl.col(column.name).is_null()).select(table.key).head(3).rows()
            raise _changed(source, f"{table.name}.{column.name} is empty in the rows of {first}", where)
    _verify_unique(rows.lazy(), table, source, where)


def _verify_unique(rows: pl.LazyFrame, table: Table, source: Source, where: str) -> None:
    keys = rows.select(table.key).filter(pl.struct(table.key).is_duplicated()).head(3).collect()
    if keys.height:
        found = ", ".join(map(str, keys.unique(maintain_order=True).rows()))
        raise _changed(source, f"{table.name} has the same key ({', '.join(table.key)}) twice: {found}", where)


def _together(table: Table, source: Source, files: Mapping[Path, str]) -> pl.LazyFrame:
    if not files:
        return table.frame().lazy()
    rows = pl.scan_parquet(list(files))
    if len(files) > 1:
        _verify_unique(rows, table, source, f"{source.name}: {', '.join(sorted(set(files.values())))}")
    return rows


def _changed(source: Source, what: str, where: str) -> EmancipaError:
    if source.base == "inputs":
        return UsageError(what, where=where, action="correct the file and run again")
    return SourceChanged(what, where=where, action="compare the answer with the source's module")


def is_by_place(table: Table) -> bool:
    """Whether a column tells which state a row speaks of."""
    return not {"uf", *PLACES}.isdisjoint(table.names)


def of_state(rows: pl.LazyFrame, table: Table, scope: Scope) -> pl.LazyFrame:
    """The rows of a staging table that speak of the scope's state; all of them where no column says whose they are."""
    if "uf" in table.names:
        return rows.filter(pl.col("uf") == scope.uf)
    place = next((name for name in PLACES if name in table.names), None)
    return rows.filter(in_state(place, scope.state_code)) if place else rows


def published(
    staged: Mapping[str, pl.LazyFrame], declared: Mapping[str, Table], scope: Scope
) -> tuple[Tables, list[str]]:
    """What of staging goes into a release, and what does not: the state's rows only, without geometry, at most a
    million a table. The rest stays in the cache, and in the snapshots.
    """
    tables: dict[str, tuple[Table, pl.LazyFrame]] = {}
    left_out = []
    for name, rows in sorted(staged.items()):
        table = declared[name]
        ours = of_state(rows, table, scope)
        heavy = any(column.kind is Kind.BINARY for column in table.columns)
        if heavy or ours.select(pl.len()).collect().item() > LARGEST:
            left_out.append(name)
        else:
            tables[name] = table, ours
    return tables, left_out


def sweep(cache: Path, older_than: float) -> int:
    """Remove what no run has used since a moment (seconds since the epoch), and halves of killed runs; how many."""
    idle = [path for path in cache.glob("*/*") if path.stat().st_mtime < older_than or path.suffix != ".parquet"]
    for path in idle:
        path.unlink(missing_ok=True)
    return len(idle)
