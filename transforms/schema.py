"""The declaration of a table: the one place where a column's name, type, unit, bounds and words are written.

DDL, COMMENT ON, Polars schemas, Great Expectations suites, the data dictionary, `datapackage.json` and the CSV
headers all derive from `Table`; nothing about a column is written a second time anywhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Any, Self

import polars as pl


class Kind(Enum):
    """What a column holds: its Polars type; DuckDB's follows in warehouse/ddl.py."""

    TEXT = "text"
    CODE = "code"  # digits that are a name, never a number
    INTEGER = "integer"
    MONEY = "money"  # R$ with cents
    EXACT = "exact"  # counts, money and thresholds in one column, kept exact
    RATIO = "ratio"  # margins and shares, four decimals
    FLOAT = "float"  # coordinates, areas, distances: never compared with a threshold
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"  # UTC
    BINARY = "binary"

    @property
    def polars(self) -> pl.DataType:
        return POLARS[self]


POLARS: Mapping[Kind, pl.DataType] = {
    Kind.TEXT: pl.String(),
    Kind.CODE: pl.String(),
    Kind.INTEGER: pl.Int64(),
    Kind.MONEY: pl.Decimal(18, 2),
    Kind.EXACT: pl.Decimal(24, 5),
    Kind.RATIO: pl.Decimal(18, 4),
    Kind.FLOAT: pl.Float64(),
    Kind.BOOLEAN: pl.Boolean(),
    Kind.DATE: pl.Date(),
    Kind.TIMESTAMP: pl.Datetime("us", "UTC"),
    Kind.BINARY: pl.Binary(),
}


class Unit(Enum):
    """The units figures come in. Every number has one."""

    PERSONS = "persons"
    VOTERS = "voters"
    HOUSES = "houses"
    DWELLINGS = "dwellings"
    BRL = "BRL"
    KM2 = "km²"
    METRES = "m"
    DEGREES = "degrees"
    SHARE = "share"
    COUNT = "count"
    BYTES = "bytes"
    SECONDS = "seconds"
    VARIES = "see column unit"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its type and everything that may be said, checked or printed about it."""

    name: str
    kind: Kind
    description: str
    label: str  # Portuguese heading
    unit: Unit | None = None
    nullable: bool = False
    minimum: int | Decimal | None = None
    maximum: int | Decimal | None = None
    pattern: str | None = None
    values: tuple[str, ...] | None = None  # closed vocabulary
    source: str | None = None  # the upstream's own column

    def but(self, **changes: Any) -> Self:
        """The same column with some properties changed, for shared columns that differ in one table."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `name` is `schema.table`; `grain` says in a sentence what one row is; `key` identifies it.

    `order` is the total order rows are kept in (the key unless said otherwise); it must end in the key.
    """

    name: str
    title: str  # Portuguese
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    order: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    may_be_empty: bool = False

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.name} declares a column twice: {names}")
        if unknown := {*self.key, *self.order} - set(names):
            raise ValueError(f"{self.name} keys or orders by undeclared {sorted(unknown)}")

    @property
    def schema_name(self) -> str:
        return self.name.split(".")[0]

    @property
    def short_name(self) -> str:
        return self.name.split(".")[1]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def schema(self) -> dict[str, pl.DataType]:
        return {column.name: column.kind.polars for column in self.columns}

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def frame(self, rows: Iterable[Mapping[str, Any]] | Sequence[Sequence[Any]] = ()) -> pl.DataFrame:
        """Rows as a frame of this table's shape; the empty frame when there are none."""
        return self.conform(pl.DataFrame(list(rows), schema=self.schema))

    def conform(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Exactly the declared columns, in order, strictly cast, sorted by the table's total order.

        Raises on a missing column or a value that does not fit its type: a table is never nearly right.
        """
        typed = frame.select(pl.col(name).cast(dtype) for name, dtype in self.schema.items())
        return typed.sort(self.order or self.key, nulls_last=True, maintain_order=True)
