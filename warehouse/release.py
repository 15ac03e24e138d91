"""What a release holds besides the DuckDB file: Parquet copies, `release.json`, and the hashes that name it.

Parquet and CSV depend on the inputs only, never on when or where they were made: two builds of the same
snapshots are equal to the byte. What speaks of the run (moments, attempts, history) is in the DuckDB file and
in release.json.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import polars as pl

from transforms.errors import EmancipaError
from transforms.schema import Table
from warehouse.build import Frame, Tables
from warehouse.data_folder import iso
from warehouse.ddl import column_comment, plain, table_comment
from warehouse.publish import MANIFEST

PARQUET, EXPORT = "parquet", "export"
CODE = ("flows", "transforms", "sql", "expectations", "warehouse")
LIBRARIES = ("emancipa", "polars", "pyarrow", "duckdb", "great-expectations", "prefect", "shapely")

Snapshot = tuple[str, str, str]  # source, part, sha256


def write_parquet(folder: Path, tables: Tables, provenance: Mapping[str, str]) -> Tables:
    """One Parquet file a table, zstd, with its declaration and provenance as key-value metadata. Returns the tables
    conformed: what was lazy stays so, and is read from its copy.
    """
    target = folder / PARQUET
    target.mkdir()
    written: dict[str, tuple[Table, Frame]] = {}
    for name, (table, frame) in tables.items():
        words = {
            "table": name,
            "title": table.title,
            "comment": table_comment(table),
            "key": ", ".join(table.key),
            "columns": json.dumps(
                {column.name: column_comment(column) for column in table.columns}, ensure_ascii=False
            ),
        }
        rows, path = table.conform(frame.lazy().collect()), target / f"{name}.parquet"
        plain(table, rows).write_parquet(
            path,
            compression="zstd",
            statistics=True,
            metadata={f"emancipa.{key}": value for key, value in {**words, **provenance}.items()},
        )
        copy = pl.scan_parquet(path).cast(pl.Schema(table.schema))
        written[name] = table, rows if isinstance(frame, pl.DataFrame) else copy
    return written


def frames(folder: Path) -> dict[str, pl.LazyFrame]:
    """The tables of a release, from its Parquet copies. Raises EmancipaError, naming the file, on a damaged one."""
    found = {}
    for path in sorted((folder / PARQUET).glob("*.parquet")):
        found[path.stem] = pl.scan_parquet(path)
        try:
            found[path.stem].collect_schema()
        except pl.exceptions.PolarsError as error:
            action = "take this release's folder away, then run again"
            raise EmancipaError(f"a copy cannot be read: {error}", where=str(path), action=action) from error
    return found


def contents_hash(folder: Path) -> str:
    """SHA-256 of the names and bytes of every Parquet and CSV file: equal hashes, equal figures."""
    digest = hashlib.sha256()
    for path in sorted([*(folder / PARQUET).glob("*.parquet"), *(folder / EXPORT).glob("*.csv")]):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def fingerprint(*, uf: str, period: str, snapshots: Iterable[Snapshot], rules: Mapping[str, str], code: str) -> str:
    """SHA-256 of everything a release is made of. `rules` maps each rule set to the hash of its file; `period` is what
    the date of the run decides.
    """
    inputs = {
        "uf": uf,
        "period": period,
        "snapshots": sorted(map(list, snapshots)),
        "rules": dict(sorted(rules.items())),
        "code": code,
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


@cache
def code_hash() -> str:
    """SHA-256 of the program itself: a changed line makes a new release. Rules have their own hashes."""
    digest = hashlib.sha256()
    for package in CODE:
        for name, path in sorted(_sources(files(package), package)):
            digest.update(f"{name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable, name: str) -> Iterable[tuple[str, Traversable]]:
    for path in folder.iterdir():
        if path.is_dir() and path.name not in {"__pycache__", "data"}:
            yield from _sources(path, f"{name}/{path.name}")
        elif path.name.endswith((".py", ".sql", ".html", ".css", ".js")):
            yield f"{name}/{path.name}", path


def versions() -> dict[str, str]:
    """Of the program and of the libraries that shape its output."""
    return {name: version(name) for name in LIBRARIES}


def manifest(
    *,
    release: str,
    built_at: datetime,
    uf: str,
    as_of: date,
    fingerprint: str,
    contents_hash: str,
    rule_sets: Sequence[Mapping[str, Any]],
    snapshots: Sequence[Mapping[str, Any]],
    counts: Mapping[str, int],
    checks: Mapping[str, int],
    legal_notice: str,
    simulated: bool,
    predecessor: str | None = None,
    not_published: Sequence[str] = (),
    states: Sequence[Mapping[str, Any]] | None = None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """What release.json says. `rule_sets` have id, title and sha256 of their file; `snapshots` have source, uf, part,
    url, sha256 and fetched_at; `not_published` names staging tables too large for the file; `states`, in a national
    release, the releases of the states that it is made of; `warnings` what the run told.
    """
    return {
        "id": release,
        "built_at": iso(built_at),
        "as_of": as_of.isoformat(),
        "uf": uf,
        "simulated": simulated,
        "legal_notice": legal_notice,
        "rule_sets": list(rule_sets),
        "fingerprint": fingerprint,
        "contents_hash": contents_hash,
        "code": code_hash(),
        "predecessor": predecessor,
        "checks": dict(checks),
        "counts": dict(counts),
        "not_published": list(not_published),
        "warnings": list(warnings),
        **({"states": list(states)} if states is not None else {}),
        "snapshots": sorted(snapshots, key=lambda snapshot: (snapshot["source"], snapshot["uf"], snapshot["part"])),
        "versions": versions(),
    }


def short_id(contents: Mapping[str, Any]) -> str:
    """`ES-ab12cd34`: how what is equal to the byte names its release, whose own id tells when it was made."""
    return f"{contents['uf']}-{contents['contents_hash'][:8]}"


def write_manifest(folder: Path, contents: Mapping[str, Any]) -> None:
    """`release.json`: what the release is, in one file that needs no tool to read."""
    text = json.dumps(contents, ensure_ascii=False, indent=2, default=iso)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
