"""From a table's declaration to DuckDB: types, NOT NULL, and the words as comments, the key among them.

No primary key: its index would be two thirds of a file that nobody writes to, and queries scan all the same. Keys are
unique because `build.fill` and the checks say so.

Types are the plain ones that every client since 1.4 and every driver knows: no HUGEINT, no ENUM, no extension
type. Moments are TIMESTAMP holding UTC, not TIMESTAMPTZ: that one shifts with the reader's time zone, and
needs ICU in the client (and pytz in Python) only to be shown.
"""

from collections.abc import Mapping

import polars as pl

from transforms.schema import Column, Kind, Table, Unit

TYPES: Mapping[Kind, str] = {
    Kind.TEXT: "VARCHAR",
    Kind.CODE: "VARCHAR",
    Kind.INTEGER: "BIGINT",
    Kind.MONEY: "DECIMAL(18,2)",
    Kind.EXACT: "DECIMAL(24,5)",
    Kind.RATIO: "DECIMAL(18,4)",
    Kind.FLOAT: "DOUBLE",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.BINARY: "BLOB",
}


def quoted(*parts: str) -> str:
    """A dotted identifier, each part in double quotes."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def literal(text: str) -> str:
    """A text in single quotes."""
    return "'" + text.replace("'", "''") + "'"


def table_comment(table: Table) -> str:
    """The grain, then every warning: what a reader must know before using the table."""
    return " ".join([sentence(table.grain), *(f"Warning: {sentence(warning)}" for warning in table.warnings)])


def column_comment(column: Column) -> str:
    """Description, unit, allowed values and upstream column, as one text."""
    facts = {
        "Unit": column.unit.value if column.unit and column.unit is not Unit.VARIES else None,
        "Unit in": "column unit" if column.unit is Unit.VARIES else None,
        "Time zone": "UTC" if column.kind is Kind.TIMESTAMP else None,
        "One of": ", ".join(value or "(empty)" for value in column.values) if column.values else None,
        "Source column": column.source,
    }
    return " ".join([sentence(column.description), *(f"{name}: {fact}." for name, fact in facts.items() if fact)])


def sentence(text: str) -> str:
    """The text with a full stop at its end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def create_table(table: Table) -> str:
    """The statement that makes an empty table."""
    required = {*table.key, *(column.name for column in table.columns if not column.nullable)}
    lines = [
        f"{quoted(column.name)} {TYPES[column.kind]}{' NOT NULL' if column.name in required else ''}"
        for column in table.columns
    ]
    body = ",\n  ".join(lines)
    return f"CREATE TABLE {quoted(table.schema_name, table.short_name)} (\n  {body}\n);"


def comments(table: Table, what: str = "TABLE") -> str:
    """The statements that say what a table (or view, as `what` says) is, and each of its columns."""
    name = quoted(table.schema_name, table.short_name)
    said = " ".join([table_comment(table), *([f"Key: {', '.join(table.key)}."] if table.key else [])])
    of_columns = (
        f"COMMENT ON COLUMN {name}.{quoted(column.name)} IS {literal(column_comment(column))};"
        for column in table.columns
    )
    return "\n".join([f"COMMENT ON {what} {name} IS {literal(said)};", *of_columns])


def stored(table: Table, frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """The rows as they are stored, in the DuckDB file and in Parquet alike: conformed, moments in plain UTC."""
    return plain(table, table.conform(frame.lazy().collect()))


def plain(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """Conformed rows with their moments in plain UTC."""
    return rows.with_columns(
        pl.col(column.name).dt.replace_time_zone(None) for column in table.columns if column.kind is Kind.TIMESTAMP
    )
