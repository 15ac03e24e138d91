"""The marts in a DuckLake. Its extension fits DuckDB 1.5.5 today: with another, that is said, and a file stands in."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl
import pytest

from flows.cli import call
from transforms.errors import UsageError
from transforms.schema import Column, Kind, Table
from warehouse import lake
from warehouse.ddl import literal

NOW = datetime(2026, 11, 30, 5, tzinfo=UTC)
AREA = Column("area_id", Kind.CODE, "Code of the area.", "Área")
RANK = Column("rank", Kind.INTEGER, "Position in the ranking.", "Posição")
MART = Table(name="mart.eligibility", title="t", grain="one row per area", key=("area_id",), columns=(AREA,))


def ducklake_loads() -> bool:
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
            lake._load(connection, "ducklake")
    except UsageError:
        return False
    return True


LOADS = ducklake_loads()


def release(folder: Path, name: str, **columns: list[str] | list[int]) -> Path:
    (folder / name / "parquet").mkdir(parents=True)
    pl.DataFrame(columns).write_parquet(folder / name / "parquet" / "mart.eligibility.parquet")
    return folder / name


@pytest.mark.skipif(LOADS, reason="this DuckDB loads ducklake")
def test_without_the_extension_it_is_said_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EMANCIPA_LAKE", str(tmp_path / "catalogue.ducklake"))
    assert call(["run", "--sample", "--data", str(tmp_path / "data")]) == 2
    said = capsys.readouterr().err
    assert "needs DuckDB's extension ducklake" in said
    assert duckdb.__version__ in said
    assert not (tmp_path / "data" / "sample" / "raw" / "polls.jsonl").exists()


@contextmanager
def of_a_file(catalogue: str, _data: Path | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """In place of a lake: a DuckDB file, which takes the same statements."""
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {literal(catalogue)} AS lake; USE lake")
        yield connection


def test_a_state_s_rows_are_replaced_and_those_of_others_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not LOADS:
        monkeypatch.setattr(lake, "opened", of_a_file)
    catalogue, data = str(tmp_path / "catalogue.ducklake"), tmp_path / "lake"
    first = release(tmp_path, "r1", area_id=["320500205", "320500210"])
    second = release(tmp_path, "r2", area_id=["320500205"], rank=[1])
    wider = Table(name=MART.name, title="t", grain=MART.grain, key=MART.key, columns=(AREA, RANK))
    assert lake.keep(catalogue, data, first, "ES", [MART])
    assert not lake.keep(catalogue, data, first, "ES", [MART])
    assert lake.keep(catalogue, data, first, "SE", [MART])
    assert lake.keep(catalogue, data, second, "ES", [wider])
    with lake.opened(catalogue, data) as connection:
        rows = connection.execute("FROM mart.eligibility ORDER BY ALL").fetchall()
    assert rows == [("ES", "r2", "320500205", 1), ("SE", "r1", "320500205", None), ("SE", "r1", "320500210", None)]
