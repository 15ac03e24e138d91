"""The checks of sql/checks: each query returns the rows that fail it. Whoever holds the warehouse runs them.

The header of a file says what the query cannot: lines `-- severity:`, `-- reason:` and `-- next step:`. The file's
name is the check's; a file without its header, or a query that raises, is an error of the gate.
"""

import re
from collections.abc import Callable
from importlib.resources import files

import polars as pl

from expectations.check import Violation

_HEADER = re.compile(r"^-- (severity|reason|next step): (.+)$", re.MULTILINE)


def queries() -> dict[str, str]:
    """The text of every check, by name, in alphabetical order."""
    found = {entry.name: entry for entry in (files("sql") / "checks").iterdir() if entry.name.endswith(".sql")}
    return {name.removesuffix(".sql"): found[name].read_text(encoding="utf-8") for name in sorted(found)}


def violations(run: Callable[[str], pl.DataFrame], texts: dict[str, str] | None = None) -> list[Violation]:
    """Every query's failing rows, as `run` returns them."""
    return [_tried(name, text, run) for name, text in (queries() if texts is None else texts).items()]


def _tried(name: str, text: str, run: Callable[[str], pl.DataFrame]) -> Violation:
    header = dict(_HEADER.findall(text))
    rows, error = pl.DataFrame(), ""
    severity = header.get("severity", "")
    if severity not in {"critical", "warning"} or not header.keys() >= {"reason", "next step"}:
        error = f"sql/checks/{name}.sql lacks its header: severity (critical or warning), reason, next step"
    else:
        try:
            rows = run(text)
        except Exception as raised:  # noqa: BLE001 a query that cannot be run has not passed
            error = f"{type(raised).__name__}: {raised}"
    return Violation(
        name=name,
        severity="warning" if severity == "warning" else "critical",
        reason=header.get("reason", ""),
        next_step=header.get("next step", ""),
        rows=rows,
        error=error,
    )
