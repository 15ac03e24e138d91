"""What must be true of the data before it is published.

Here are the expectations derived from the declarations, the truths about the domain written by hand, the drift
against the last release, and the report. `gx.py` alone may import great_expectations; nothing here knows storage.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import polars as pl

from expectations import beside, counting, derive, gx
from expectations.check import Check, Outcome, Violation
from expectations.report import CHECK_RESULT
from transforms.schema import Table

__all__ = ["CHECK_RESULT", "LARGE", "Violation", "judge"]

LARGE = 10_000  # rows from which a table in which a check fails is not looked at row by row


def judge(
    tables: Mapping[str, tuple[Table, pl.DataFrame | pl.LazyFrame]],
    violations: Sequence[Violation],
    *,
    pages: dict[str, str] | None = None,
) -> pl.DataFrame:
    """Rows of `meta.check_result`: every derived check of every table, and every truth handed in.

    Failing rows are counted in Polars and the counts judged: a fraction of the time of judging rows. Tables in which
    a check fails are then judged row by row, unless they are large: Great Expectations' own words and page say what
    is wrong, and of two verdicts the stricter counts. `pages`, if given, receives the raw Data Docs pages.
    """
    asked: dict[str, Check | Violation] = {}
    outcomes: dict[str, Outcome] = {}
    counts: dict[str, int] = {}
    for table, given in tables.values():
        checks = _checks(table)
        counted, errors = counting.failing_rows(given, checks)
        counts |= counted
        outcomes |= errors
        asked |= checks
    for violation in violations:
        if (key := _key(violation)) in asked:
            raise ValueError(f"a truth was handed in twice: {key}")
        asked[key] = violation
        if violation.error:
            outcomes[key] = Outcome("error", violation.error)
        else:
            counts[key] = violation.rows.height
    judged = beside.judge([gx.of_counts(counts)])
    outcomes |= gx.of_each(counts, judged)
    closer = beside.judge(list(_closer(tables, outcomes)))
    outcomes |= {key: outcome for key, outcome in closer.outcomes.items() if outcome.status != "passed"}
    if pages is not None:
        pages |= judged.pages | closer.pages
    results = [_result(what, outcomes[key], _rows(what, outcomes[key], tables)) for key, what in asked.items()]
    results += [_nothing(what) for what, given in (("tables", tables), ("truths", violations)) if not given]
    return CHECK_RESULT.frame(results)


@cache
def _checks(table: Table) -> Mapping[str, Check]:
    return {_key(check): check for check in derive.checks(table)}


def _closer(
    tables: Mapping[str, tuple[Table, pl.DataFrame | pl.LazyFrame]], outcomes: Mapping[str, Outcome]
) -> Iterator[gx.Suite]:
    """The rows of small tables in which a check did not pass, with every check that Great Expectations knows."""
    for table, given in tables.values():
        checks = _checks(table)
        if all(outcomes[key].status == "passed" for key in checks):
            continue
        if isinstance(given, pl.DataFrame) and given.height < LARGE:
            yield gx.of_checks(table.name, given, {key: check for key, check in checks.items() if check.expectation})


def _rows(
    what: Check | Violation, outcome: Outcome, tables: Mapping[str, tuple[Table, pl.DataFrame | pl.LazyFrame]]
) -> pl.DataFrame:
    """The first failing rows of what did not pass."""
    if outcome.status == "passed":
        return pl.DataFrame()
    if isinstance(what, Violation):
        return what.rows
    table, frame = tables[what.table]
    return counting.first_failing(frame.lazy(), what, table.key)


def _result(what: Check | Violation, outcome: Outcome, rows: pl.DataFrame) -> dict[str, Any]:
    told = what.observed if isinstance(what, Violation) and outcome.status == "failed" else ""
    return {
        "check_name": what.name,
        "table_name": what.table,
        "column_name": what.column,
        "severity": "critical" if outcome.status == "error" else what.severity,
        "status": outcome.status,
        "observed": told or outcome.observed or None,
        "expected": what.expected,
        "failing_rows": outcome.failing_rows,
        "first_keys": counting.written(rows) or None,
        "reason": what.reason,
        "next_step": what.next_step,
    }


def _key(what: Check | Violation) -> str:
    return " ".join(part for part in (what.name, what.table, what.column) if part)


def _nothing(what: str) -> dict[str, Any]:
    """The result that refuses a gate with nothing to judge: an empty suite passes in every tool."""
    empty = Violation(
        f"gate_has_{what}", "critical", "a gate without checks passes everything", "hand in what is to be published"
    )
    return _result(empty, Outcome("error", f"no {what} to judge: 0 checks executed"), pl.DataFrame())
