"""From the declaration of a table, the checks it must pass: nothing about a column is written a second time.

Nulls pass every other check in Great Expectations (and in most validators), so each column that is not declared
nullable, and each key column, carries a not-null check of its own.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest

import polars as pl

from expectations.check import Check
from transforms.schema import Column, Kind, Table

NEXT_STEP = {
    "staging": "compare the rows with the snapshot they came from; if the upstream changed, its reader must follow",
    "core": "follow the keys back to staging: either a source changed or the transform of this table is wrong",
    "mart": "emancipa show AREA --explain gives every input of these rows; the evaluator or its inputs are wrong",
}


def checks(table: Table) -> list[Check]:
    """Every check a declaration implies, the table's own first, then column by column."""
    return [*_of_table(table), *(check for column in table.columns for check in _of_column(table, column))]


def _of_table(table: Table) -> Iterator[Check]:
    check = partial(Check, table=table.name, column="", severity="critical", next_step=_next_step(table))
    yield check(
        name="columns",
        reason="readers rely on exactly these columns in this order",
        expected=", ".join(table.names),
        expectation="expect_table_columns_to_match_ordered_list",
        arguments={"column_list": list(table.names)},
        breaks=partial(_misplaced, table),
    )
    yield check(
        name="types",
        reason="a code read as a number, or money as a float, is wrong without looking wrong",
        expected="the declared types",
        expectation="",
        breaks=partial(_mistyped, table),
    )
    if not table.may_be_empty:
        yield check(
            name="not_empty",
            reason="an empty table would pass every other check",
            expected="at least 1 row",
            expectation="expect_table_row_count_to_be_between",
            arguments={"min_value": 1},
            fails=pl.len() == 0,
        )
    several = len(table.key) > 1
    yield check(
        name="key",
        reason=f"one row is: {table.grain}",
        expected=f"({', '.join(table.key)}) unique",
        expectation="expect_compound_columns_to_be_unique" if several else "expect_column_values_to_be_unique",
        arguments={"column_list": list(table.key)} if several else {"column": table.key[0]},
        fails=pl.struct(table.key).is_duplicated(),
    )


def _of_column(table: Table, column: Column) -> Iterator[Check]:
    check = partial(
        Check,
        table=table.name,
        column=column.name,
        severity="critical",
        reason=column.description,
        next_step=_next_step(table),
    )
    own, cell = {"column": column.name}, pl.col(column.name)
    if not column.nullable or column.name in table.key:
        yield check(
            name="not_null",
            expected="never null",
            expectation="expect_column_values_to_not_be_null",
            arguments=own,
            fails=cell.is_null(),
        )
    if column.values is not None:
        yield check(
            name="vocabulary",
            expected=f"one of {', '.join(column.values)}",
            expectation="expect_column_values_to_be_in_set",
            arguments={**own, "value_set": list(column.values)},
            fails=~cell.is_in(column.values),
        )
    if column.pattern is not None:
        # "$" also matches before a last line break in Python; "\z" means the very end to both judges.
        pattern = f"{column.pattern[:-1]}\\z" if column.pattern.endswith("$") else column.pattern
        yield check(
            name="pattern",
            expected=f"matches {column.pattern}",
            expectation="expect_column_values_to_match_regex",
            arguments={**own, "regex": pattern},
            fails=~cell.str.contains(pattern),
        )
    if column.minimum is not None or column.maximum is not None:
        yield check(
            name="range",
            expected=_bounds(column),
            expectation="expect_column_values_to_be_between",
            arguments={**own, "min_value": column.minimum, "max_value": column.maximum},
            fails=_outside(column),
        )


def _outside(column: Column) -> pl.Expr:
    cell = pl.col(column.name)
    outside = cell.is_nan() if column.kind is Kind.FLOAT else pl.lit(value=False)
    if column.minimum is not None:
        outside |= cell < column.minimum
    if column.maximum is not None:
        outside |= cell > column.maximum
    return outside


def _misplaced(table: Table, frame: pl.LazyFrame) -> pl.DataFrame:
    """The positions at which another column stands than the declared one."""
    pairs = zip_longest(table.names, frame.collect_schema().names())
    wrong = [(at, *pair) for at, pair in enumerate(pairs, 1) if pair[0] != pair[1]]
    return _rows(wrong, position=pl.Int64, declared=pl.String, found=pl.String)


def _mistyped(table: Table, frame: pl.LazyFrame) -> pl.DataFrame:
    """The declared columns whose type is another. An absent column is no matter of type."""
    found = frame.collect_schema()
    wrong = [
        (name, str(declared), str(found[name]))
        for name, declared in table.schema.items()
        if name in found and found[name] != declared
    ]
    return _rows(wrong, column=pl.String, declared=pl.String, found=pl.String)


def _rows(rows: Sequence[tuple[object, ...]], **schema: type[pl.DataType]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row")


def _bounds(column: Column) -> str:
    if column.minimum is None or column.maximum is None:
        return f"at most {column.maximum}" if column.minimum is None else f"at least {column.minimum}"
    return f"from {column.minimum} to {column.maximum}"


def _next_step(table: Table) -> str:
    return NEXT_STEP.get(table.schema_name, "see where the table is written")
