"""Rows for tests: what matters is given, the rest is filled with the least a declaration allows."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from transforms.schema import Kind, Table

PLAIN: Mapping[Kind, Any] = {
    Kind.TEXT: "x",
    Kind.CODE: "0",
    Kind.INTEGER: 1,
    Kind.MONEY: Decimal(1),
    Kind.EXACT: Decimal(1),
    Kind.RATIO: Decimal(1),
    Kind.FLOAT: 1.0,
    Kind.BOOLEAN: False,
    Kind.DATE: date(2026, 11, 30),
    Kind.TIMESTAMP: datetime(2026, 11, 30, 5, tzinfo=UTC),
    Kind.BINARY: b"",
}


def row(table: Table, **given: Any) -> dict[str, Any]:
    """One row of a table; every column not given is null where it may be, else a plain value of its kind."""
    if unknown := given.keys() - set(table.names):
        raise ValueError(f"{table.name} has no {sorted(unknown)}")
    plain = {
        column.name: None if column.nullable else column.values[0] if column.values else PLAIN[column.kind]
        for column in table.columns
    }
    return plain | given
