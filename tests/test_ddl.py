"""The derivation from a declaration to DuckDB: types, constraints, comments, and rows as they are stored."""

from datetime import UTC, datetime, timedelta, timezone

import duckdb
import polars as pl
import pytest

from transforms.schema import Column, Kind, Table, Unit
from warehouse.ddl import TYPES, column_comment, comments, create_table, stored

PLACE = Table(
    name="core.place",
    title="Lugar",
    grain="One row per place",
    key=("place_code",),
    columns=(
        Column("place_code", Kind.CODE, "Code of the place's register.", "Código", source="CD_LUGAR"),
        Column("people", Kind.INTEGER, "Residents", "População", Unit.PERSONS, nullable=True),
        Column("seen_at", Kind.TIMESTAMP, "When it was seen.", "Visto em", nullable=True),
        Column("state", Kind.TEXT, "State of things.", "Situação", values=("new", "old", "")),
    ),
    warnings=("figures are the owner's",),
)
EVERY_KIND = Table(
    "core.every",
    "Tudo",
    "One row.",
    ("integer",),
    tuple(Column(kind.value, kind, kind.name, kind.name, nullable=True) for kind in Kind),
)


@pytest.fixture
def database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"autoinstall_known_extensions": "false"}).execute("CREATE SCHEMA core").cursor()


def test_types_constraints_and_comments_are_the_declaration(database: duckdb.DuckDBPyConnection) -> None:
    database.execute(create_table(PLACE))
    database.execute(comments(PLACE))
    columns = database.sql(
        "SELECT column_name, data_type, is_nullable, comment FROM duckdb_columns() WHERE table_name = 'place'"
    ).fetchall()
    assert columns == [
        ("place_code", "VARCHAR", False, "Code of the place's register. Source column: CD_LUGAR."),
        ("people", "BIGINT", True, "Residents. Unit: persons."),
        ("seen_at", "TIMESTAMP", True, "When it was seen. Time zone: UTC."),
        ("state", "VARCHAR", False, "State of things. One of: new, old, (empty)."),
    ]
    tables = database.sql("SELECT comment FROM duckdb_tables() WHERE table_name = 'place'").fetchall()
    assert tables == [("One row per place. Warning: figures are the owner's. Key: place_code.",)]


def test_the_key_is_not_null_and_has_no_index(database: duckdb.DuckDBPyConnection) -> None:
    database.execute(create_table(PLACE))
    assert database.sql("FROM duckdb_indexes()").fetchall() == []
    with pytest.raises(duckdb.ConstraintException, match="NOT NULL"):
        database.execute("INSERT INTO core.place VALUES (NULL, 1, NULL, 'new')")


def test_every_kind_has_a_type_and_no_hugeint(database: duckdb.DuckDBPyConnection) -> None:
    assert set(TYPES) == set(Kind)
    database.execute(create_table(EVERY_KIND))
    types = database.sql("SELECT data_type FROM duckdb_columns() WHERE table_name = 'every'").fetchall()
    assert [kind for (kind,) in types] == [
        "VARCHAR", "VARCHAR", "BIGINT", "DECIMAL(18,2)", "DECIMAL(24,5)", "DECIMAL(18,4)",
        "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP", "BLOB",
    ]  # fmt: skip


def test_units_that_vary_point_to_their_column() -> None:
    column = Column("value", Kind.EXACT, "The figure.", "Valor", Unit.VARIES)
    assert column_comment(column) == "The figure. Unit in: column unit."


def test_stored_rows_are_in_total_order_and_moments_are_utc() -> None:
    moment = datetime(2026, 11, 30, 2, 0, tzinfo=timezone(timedelta(hours=-3)))
    frame = pl.LazyFrame(
        {"place_code": ["02", "01"], "people": [1, None], "seen_at": [moment, None], "state": ["new", "old"]},
        schema_overrides={"seen_at": pl.Datetime("us", "UTC")},
    )
    rows = stored(PLACE, frame)
    assert rows["place_code"].to_list() == ["01", "02"]
    assert rows["seen_at"].to_list() == [None, moment.astimezone(UTC).replace(tzinfo=None)]
