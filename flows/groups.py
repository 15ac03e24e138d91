"""`emancipa groups`: with whom would a district make it? The smallest contiguous groups that fail nothing, ranked."""

from pathlib import Path
from typing import Any

import warehouse
from flows import terminal
from transforms.errors import UsageError

TOP = 25


def groups(data: Path, uf: str | None, *, as_json: bool) -> None:
    """The groups of the current release, by rule set. The search's limits are said where they cut anything."""
    with warehouse.connect(data) as database:
        rows = database.sql("SELECT * FROM mart.viable_group ORDER BY rule_set, rank, district_codes").pl().to_dicts()
        states = [state for (state,) in database.sql("SELECT uf FROM core.state").fetchall()]
    if uf is not None and uf not in states:
        raise UsageError(f"the current release is {'|'.join(states)}, not {uf}", action=f"emancipa run --uf {uf}")
    rows = [row for row in rows if uf is None or row["uf"] == uf]
    if as_json:
        terminal.as_json(rows)
        return
    for rule_set in dict.fromkeys(row["rule_set"] for row in rows):
        _rule_set(rule_set, [row for row in rows if row["rule_set"] == rule_set])
    if not rows:
        terminal.line("no group of districts fails nothing where its districts alone do")


def _rule_set(rule_set: str, rows: list[dict[str, Any]]) -> None:
    told = [
        row
        | {
            "who": row["district_names"].replace("|", " + "),
            "from": row["municipality_names"].replace("|", " + "),
            "verdict": row["likely"] or row["status"],
            "open": (row["undetermined"] or "").replace("|", ", "),
        }
        for row in rows[:TOP]
    ]
    columns = {"rank": "#", "who": "districts", "from": "município", "verdict": "verdict", "population": "population"}
    terminal.table(told, {**columns, "open": "to certify"}, title=rule_set, narrow=["verdict"])
    if len(rows) > TOP:
        terminal.line(f"… and {len(rows) - TOP} more in mart.viable_group")
    terminal.line(
        f"Sets of up to {rows[0]['largest']} districts, neighbours by {rows[0]['contiguity']}"
        + ("." if rows[0]["is_complete"] else "; the search met its limit: there may be more.")
    )
