"""What must be true of the data before it is published.

Here are the expectations derived from the declarations, the truths about the domain written by hand, the drift
against the last release, and the report. `gx.py` alone may import great_expectations; nothing here knows storage.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from expectations import counting, derive, gx
from expectations.check import Check, Outcome, Violation
from expectations.report import CHECK_RESULT
from transforms.schema import Table

__all__ = ["CHECK_RESULT", "LARGE", "Violation", "judge"]

LARGE = 100  # rows from which a table's failing rows are counted in Polars, and only the counts judged


def judge(
    tables: Mapping[str, tuple[Table, pl.DataFrame | pl.LazyFrame]],
    violations: Sequence[Violation],
    *,
    parameters: Mapping[str, Any] | None = None,
    pages: dict[str, str] | None = None,
    only_counts: bool = False,
) -> pl.DataFrame:
    """Rows of `meta.check_result`: every derived check of every table, and every truth handed in.

    Large and lazy tables are never turned into pandas: their failing rows are counted, and the counts judged; with
    `only_counts` no table is, which takes a fraction of the time. `pages`, if given, receives the raw Data Docs pages.
    """
    asked: dict[str, Check | Violation] = {}
    outcomes: dict[str, Outcome] = {}
    counts: dict[str, int] = {}
    for table, given in tables.values():
        checks = {_key(check): check for check in derive.checks(table)}
        if isinstance(given, pl.DataFrame) and given.height < LARGE and not only_counts:
            direct = {key: check for key, check in checks.items() if check.expectation}
            outcomes |= gx.judge(gx.of_checks(table.name, given, direct), parameters or {}, pages)
        counted, errors = counting.failing_rows(
            given.lazy(), {key: checks[key] for key in checks.keys() - outcomes.keys()}
        )
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
    outcomes |= gx.judge_counts(counts, pages)
    results = [_result(what, outcomes[key], _rows(what, outcomes[key], tables)) for key, what in asked.items()]
    results += [_nothing(what) for what, given in (("tables", tables), ("truths", violations)) if not given]
    return CHECK_RESULT.frame(results)


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
