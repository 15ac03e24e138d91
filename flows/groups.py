"""`emancipa groups`: with whom would a district make it? The smallest contiguous groups that fail nothing, ranked."""

from pathlib import Path

import warehouse
from flows import terminal
from flows.asking import Rows, named, require_state, rows

TOP = 25
GROUPS = """
    SELECT * FROM mart.viable_group
    WHERE ($1 IS NULL OR uf = $1) AND ($2 IS NULL OR list_contains(string_split(district_codes, '|'), $2))
    ORDER BY rule_set, rank, district_codes"""


def groups(data: Path, district: str | None, uf: str | None, *, as_json: bool) -> None:
    """The groups of the current release, by rule set, or those of a district (code or name) alone.

    The search's limits are said where they cut anything.
    """
    with warehouse.connect(data) as database:
        require_state(database, uf)
        code = district and named(database, "district", district)
        found = rows(database, GROUPS, uf, code)
    if as_json:
        terminal.as_json(found)
        return
    for rule_set in dict.fromkeys(row["rule_set"] for row in found):
        _rule_set(rule_set, [row for row in found if row["rule_set"] == rule_set])
    if not found:
        whose = f" with {district}" if district else ""
        terminal.line(f"no group of districts{whose} fails nothing where its districts alone do")


def _rule_set(rule_set: str, found: Rows) -> None:
    told = [
        row
        | {
            "who": row["district_names"].replace("|", " + "),
            "from": row["municipality_names"].replace("|", " + "),
            "verdict": row["likely"] or row["status"],
            "open": (row["undetermined"] or "").replace("|", ", "),
        }
        for row in found[:TOP]
    ]
    columns = {"rank": "#", "who": "districts", "from": "município", "verdict": "verdict", "population": "population"}
    terminal.table(told, {**columns, "open": "to certify"}, title=rule_set, narrow=["verdict"])
    if len(found) > TOP:
        terminal.line(f"… and {len(found) - TOP} more in mart.viable_group")
    terminal.paragraph(
        f"Sets of up to {found[0]['largest']} districts, neighbours by {found[0]['contiguity']}"
        + ("." if found[0]["is_complete"] else "; the search met its limit: there may be more.")
    )
