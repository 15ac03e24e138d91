"""The DuckDB file: what is in it, in which order, for whom it opens, and when it may not be published."""

import os
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pytest

from transforms.errors import EmancipaError
from transforms.schema import Column, Kind, Table, Unit
from warehouse import views
from warehouse.build import build, fill, findings, sealed

PLACE = Table(
    "core.place",
    "Lugar",
    "One row per place.",
    ("place_code",),
    (
        Column("place_code", Kind.CODE, "Code of the place.", "Código"),
        Column("people", Kind.INTEGER, "Residents.", "População", Unit.PERSONS, nullable=True),
    ),
)
RUN = Table("meta.run", "Execução", "One row per run.", ("run",), (Column("run", Kind.TEXT, "The run.", "Execução"),))
LARGE_VIEW = """
-- title: Lugares grandes
-- grain: One row per place with more than ten residents.
-- key: place_code
-- column tens: Dezenas | Residents in tens. | persons
SELECT place_code, people, CAST(people / 10 AS DECIMAL(24,5)) AS tens
FROM core.place
WHERE people > 10
"""
ROWS = PLACE.conform(pl.DataFrame({"place_code": ["09", "01", "05"], "people": [9, None, 50]}))


def built(path: Path, view: str = LARGE_VIEW) -> Path:
    build(path, {PLACE.name: (PLACE, ROWS)}, [RUN], [views.read("mart.large", view)])
    fill(path, {RUN.name: (RUN, RUN.frame([{"run": "1"}]))})
    return path


def test_tables_stand_in_their_total_order_and_views_read_them(tmp_path: Path) -> None:
    with duckdb.connect(str(built(tmp_path / "a.duckdb")), read_only=True) as database:
        assert database.sql("FROM core.place").fetchall() == [("01", None), ("05", 50), ("09", 9)]
        assert database.sql("FROM mart.large").fetchall() == [("05", 50, Decimal("5.00000"))]
        assert database.sql("FROM meta.run").fetchall() == [("1",)]
    assert os.listdir(tmp_path) == ["a.duckdb"]


def test_every_table_view_and_column_has_a_comment(tmp_path: Path) -> None:
    with duckdb.connect(str(built(tmp_path / "a.duckdb")), read_only=True) as database:
        assert database.sql("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall() == [
            ("large", "One row per place with more than ten residents. Key: place_code.")
        ]
        columns = "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'large'"
        assert database.sql(columns).fetchall() == [
            ("place_code", "Code of the place."),
            ("people", "Residents. Unit: persons."),
            ("tens", "Residents in tens. Unit: persons."),
        ]


def test_the_storage_version_is_that_of_duckdb_1_4(tmp_path: Path) -> None:
    with duckdb.connect(str(built(tmp_path / "a.duckdb")), read_only=True) as database:
        ((tags,),) = database.sql("SELECT tags FROM duckdb_databases() WHERE database_name = 'a'").fetchall()
    assert tags["storage_version"].startswith("v1.4.0")


def test_a_view_column_that_nobody_declares_stops_the_build(tmp_path: Path) -> None:
    undeclared = LARGE_VIEW.replace("-- column tens", "-- column ones")
    with pytest.raises(ValueError, match=r"tens \(DECIMAL\(24,5\)\) is declared 0 times"):
        built(tmp_path / "a.duckdb", undeclared)


def test_a_view_column_of_hugeint_stops_the_build(tmp_path: Path) -> None:
    huge = LARGE_VIEW.replace("CAST(people / 10 AS DECIMAL(24,5))", "sum(people) OVER ()")
    with pytest.raises(ValueError, match=r"mart\.large\.tens is HUGEINT: cast it"):
        built(tmp_path / "a.duckdb", huge)


def test_a_view_without_a_title_is_refused() -> None:
    with pytest.raises(ValueError, match="says nothing of its title"):
        views.read("mart.large", LARGE_VIEW.replace("-- title: Lugares grandes\n", ""))


def test_case_91_building_twice_never_appends(tmp_path: Path) -> None:
    path = built(tmp_path / "a.duckdb")
    with pytest.raises(FileExistsError):
        build(path, {PLACE.name: (PLACE, ROWS)})
    with duckdb.connect(str(path), read_only=True) as database:
        assert database.sql("SELECT count(*) FROM core.place").fetchall() == [(3,)]


def test_duplicate_keys_stop_the_build(tmp_path: Path) -> None:
    with pytest.raises(EmancipaError, match=r"duplicate key \(place_code\): 01") as told:
        build(tmp_path / "a.duckdb", {PLACE.name: (PLACE, pl.concat([ROWS, ROWS]))})
    assert told.value.where == PLACE.name


def test_case_61_a_killed_writer_leaves_a_file_that_is_not_published(tmp_path: Path) -> None:
    path = tmp_path / "work.duckdb"
    writer = (
        "import duckdb, os, signal, sys\n"
        "c = duckdb.connect(sys.argv[1]); c.execute('create table t(a int)'); c.execute('checkpoint')\n"
        "c.execute('insert into t select * from range(1000)'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", writer, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(EmancipaError, match="write-ahead log"):
        sealed(path)


def test_a_file_that_does_not_open_is_not_published(tmp_path: Path) -> None:
    path = tmp_path / "work.duckdb"
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(EmancipaError, match="does not open"):
        sealed(path)


def test_checks_return_their_failing_rows_and_header(tmp_path: Path) -> None:
    path = built(tmp_path / "a.duckdb")
    check = """-- severity: critical
-- reason: everyone is counted: a null is a failure
SELECT place_code FROM core.place WHERE people IS NULL"""
    (finding,) = findings(path, {"counted": check})
    assert finding.name == "counted"
    assert finding.header == {"severity": "critical", "reason": "everyone is counted: a null is a failure"}
    assert finding.rows.to_dicts() == [{"place_code": "01"}]


def test_a_check_that_errs_is_not_an_empty_answer(tmp_path: Path) -> None:
    path = built(tmp_path / "a.duckdb")
    (finding,) = findings(path, {"wrong": "SELECT 1 FROM core.no_such_table"})
    assert "no_such_table" in finding.error
