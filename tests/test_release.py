"""What names a release: equal inputs give equal bytes and equal hashes; a date alone is nothing new."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

from transforms.schema import Column, Kind, Table, Unit
from warehouse import release
from warehouse.build import Tables

PLACE = Table(
    "core.place",
    "Lugar",
    "One row per place.",
    ("place_code",),
    (
        Column("place_code", Kind.CODE, "Code of the place.", "Código"),
        Column("people", Kind.INTEGER, "Residents.", "População", Unit.PERSONS, nullable=True),
        Column("seen_at", Kind.TIMESTAMP, "When.", "Visto em", nullable=True),
    ),
)
SEEN = datetime(2026, 11, 30, 5, tzinfo=UTC)
ROWS = PLACE.frame({"place_code": f"{n:05}", "people": n if n % 7 else None, "seen_at": SEEN} for n in range(50_000))
INPUTS: dict[str, Any] = {
    "uf": "ES",
    "period": "2025",
    "snapshots": [("ibge_estimates", "2025", "aa"), ("tse_municipalities", "all", "bb")],
    "rules": {"lc_1_1967": "cc"},
    "code": "dd",
}


def written(folder: Path, rows: pl.DataFrame) -> Path:
    folder.mkdir()
    tables: Tables = {"core.place": (PLACE, rows)}
    release.write_parquet(folder, tables, {"uf": "ES"})
    return folder


def test_two_builds_are_equal_to_the_byte_and_one_figure_makes_a_difference(tmp_path: Path) -> None:
    one = written(tmp_path / "one", ROWS)
    two = written(tmp_path / "two", ROWS.sample(fraction=1, shuffle=True, seed=1))
    other = written(tmp_path / "other", ROWS.with_columns(pl.col("people").fill_null(0)))
    file = "parquet/core.place.parquet"
    assert (one / file).read_bytes() == (two / file).read_bytes()
    assert release.contents_hash(one) == release.contents_hash(two) != release.contents_hash(other)


def test_contents_are_parquet_and_csv_and_their_names(tmp_path: Path) -> None:
    folder = written(tmp_path / "one", ROWS)
    hashes = [release.contents_hash(folder)]
    for name, counts in {"LEIA-ME.txt": False, "pending.csv": True, "other.csv": True}.items():
        (folder / "export").mkdir(exist_ok=True)
        (folder / "export" / name).write_text("x")
        hashes.append(release.contents_hash(folder))
        assert (hashes[-1] != hashes[-2]) == counts


def test_parquet_carries_its_declaration_and_provenance(tmp_path: Path) -> None:
    path = written(tmp_path / "one", ROWS) / "parquet/core.place.parquet"
    words = {key.decode(): value.decode() for key, value in pq.read_metadata(path).metadata.items()}
    assert words["emancipa.uf"] == "ES"
    assert words["emancipa.comment"] == "One row per place."
    assert json.loads(words["emancipa.columns"])["people"] == "Residents. Unit: persons."
    with duckdb.connect() as database:
        described = database.execute(f"DESCRIBE FROM '{path}'").fetchall()
        assert [type_ for _, type_, *_ in described] == ["VARCHAR", "BIGINT", "TIMESTAMP"]
        first = database.execute(f"SELECT * FROM '{path}' LIMIT 1").fetchall()
    assert first == [("00000", None, SEEN.replace(tzinfo=None))]


@pytest.mark.parametrize(
    "change",
    [
        {"uf": "CE"},
        {"period": "2026"},
        {"snapshots": INPUTS["snapshots"][:1]},
        {"rules": {"lc_1_1967": "other"}},
        {"code": "other"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_fingerprint_is_of_every_input(change: dict[str, Any]) -> None:
    assert release.fingerprint(**{**INPUTS, **change}) != release.fingerprint(**INPUTS)


def test_the_order_of_snapshots_is_no_input() -> None:
    again = {**INPUTS, "snapshots": INPUTS["snapshots"][::-1]}
    assert release.fingerprint(**again) == release.fingerprint(**INPUTS)


def manifest(**changes: Any) -> dict[str, Any]:
    fixed: dict[str, Any] = {
        "release": "20261130T050000Z-ab12cd34",
        "built_at": SEEN,
        "uf": "ES",
        "as_of": date(2026, 11, 30),
        "fingerprint": "f",
        "contents_hash": "ab12cd34",
        "rule_sets": [{"id": "lc_1_1967", "title": "LC", "sha256": "cc"}],
        "snapshots": [{"source": "s", "uf": "", "part": "p", "url": "u", "sha256": "aa", "fetched_at": SEEN}],
        "counts": {"core.place": 1},
        "checks": {"passed": 3, "warning": 0},
        "legal_notice": "Triagem técnica.",
        "simulated": False,
    }
    return release.manifest(**{**fixed, **changes})


def test_the_manifest_reads_back(tmp_path: Path) -> None:
    release.write_manifest(tmp_path, manifest())
    read = json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))
    assert read["id"] == "20261130T050000Z-ab12cd34"
    assert read["built_at"] == "2026-11-30T05:00:00Z"
    assert read["snapshots"][0]["fetched_at"] == "2026-11-30T05:00:00Z"
    assert read["legal_notice"] == "Triagem técnica."
    assert set(read["versions"]) == set(release.LIBRARIES)


def test_the_code_hash_is_the_same_twice() -> None:
    assert release.code_hash() == release.code_hash.__wrapped__()
    assert len(release.code_hash()) == 64
