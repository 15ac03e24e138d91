"""What a check is, before and after it is judged.

A `Check` says what must hold of one table, twice over: as the expectation Great Expectations judges, and as the
Polars predicate of a failing row, which counts large tables and names the first failing keys. A `Violation` holds
the rows that break a truth over several tables. The two words of severity are the only ones: critical stops
publication, a warning is published with the data.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

Severity = Literal["critical", "warning"]
Status = Literal["passed", "failed", "error"]
Frames = Mapping[str, pl.LazyFrame]


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """One expectation of one table. `column` is empty where the check is about the whole table.

    `expectation` and `arguments` are Great Expectations' own words, empty where it has none; an argument
    `{"$PARAMETER": name}` is filled in when judged. Of `fails` (a row fails) and `breaks` (what is wrong with the
    frame as a whole, as rows) one is given. `mostly` is refused: it leaves nulls out of the share; `domain.share`
    counts them.
    """

    name: str
    table: str
    column: str
    severity: Severity
    reason: str
    next_step: str
    expected: str
    expectation: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fails: pl.Expr | None = None
    breaks: Callable[[pl.LazyFrame], pl.DataFrame] | None = None

    def __post_init__(self) -> None:
        if "mostly" in self.arguments:
            raise ValueError(f"{self.name} of {self.table}: mostly ignores nulls; measure the share of all rows")


@dataclass(frozen=True, slots=True, eq=False)
class Violation:
    """The rows that break one truth: none when it holds. `error` says why it could not be tried at all.

    `observed` puts the failure in one sentence where the rows alone do not say it.
    """

    name: str
    severity: Severity
    reason: str
    next_step: str
    rows: pl.DataFrame = field(default_factory=pl.DataFrame)
    table: str = ""
    column: str = ""
    expected: str = "no failing rows"
    observed: str = ""
    error: str = ""


def of_query(name: str, header: Mapping[str, str], rows: pl.DataFrame, error: str = "") -> Violation:
    """What a check of sql/checks returned. Its header must say severity, reason and next step, else it is an error."""
    known = header.get("severity") in {"critical", "warning"} and header.keys() >= {"reason", "next step"}
    if not known:
        error = f"sql/checks/{name}.sql lacks its header: severity (critical or warning), reason, next step"
    return Violation(
        name=name,
        severity="warning" if header.get("severity") == "warning" else "critical",
        reason=header.get("reason", ""),
        next_step=header.get("next step", ""),
        rows=rows,
        error=error,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the judge found: an erroring check is never a passed one, nor an ordinary failure.

    `rows` are the names of the failing rows, where the frame names its rows.
    """

    status: Status
    observed: str = ""
    failing_rows: int = 0
    rows: tuple[str, ...] = ()


def state_code() -> pl.Expr:
    """The state of a município, off its code."""
    return pl.col("municipality_code").str.head(2).alias("state_code")
