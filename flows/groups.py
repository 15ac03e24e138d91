"""`emancipa groups`: with whom would a district make it? The smallest contiguous groups that fail nothing, ranked."""

from pathlib import Path
from typing import Any

import warehouse
from flows import terminal
from flows.asking import Rows, named, require_state, rows
from transforms.marts.viable_group import LARGEST

TOP = 25
Row = dict[str, Any]
GROUPS = """
    SELECT * FROM mart.viable_group
    WHERE ($1 IS NULL OR uf = $1) AND ($2 IS NULL OR list_contains(string_split(district_codes, '|'), $2))
    ORDER BY rule_set, rank, district_codes"""
# Each rule set, whether its search was cut short, and what a district is alone (NULL where it may be no area).
ALONE = """
    SELECT rule_set, max(status) FILTER (area_id = $1) AS status, max(likely) FILTER (area_id = $1) AS likely,
        rule_set IN (SELECT rule_set FROM mart.viable_group WHERE NOT is_complete) AS is_cut
    FROM mart.eligibility GROUP BY rule_set ORDER BY rule_set"""
DISTRICT = "SELECT district_name, refusal FROM core.district WHERE district_code = $1"


def groups(data: Path, district: str | None, uf: str | None, *, as_json: bool) -> None:
    """The groups of the current release, by rule set, or those of a district (code or name) alone.

    The search's limits are said where they cut anything.
    """
    with warehouse.connect(data) as database:
        require_state(database, uf)
        code = district and named(database, "district", district)
        found = rows(database, GROUPS, uf, code)
        alone = rows(database, ALONE, code)
        (place,) = rows(database, DISTRICT, code) if code else (None,)
    if as_json:
        terminal.as_json(found)
        return
    for row in alone:
        if own := [group for group in found if group["rule_set"] == row["rule_set"]]:
            _rule_set(row["rule_set"], own)
        else:
            terminal.paragraph(f"{row['rule_set']}: {_none(place, row)}")


def _none(place: Row | None, alone: Row) -> str:
    """Why a rule set lists no group: of a district (`place`), or at all."""
    cut = "; the search met its limit: there may be one" if alone["is_cut"] else ""
    if place is None:
        return (
            f"no group of up to {LARGEST} districts fails no requirement, unless its districts are as sure alone{cut}"
        )
    name = place["district_name"]
    if place["refusal"]:
        return f"{name} cannot leave its município: {place['refusal']}"
    if alone["status"] == "eligible":
        return f"{name} is eligible alone; no group is needed"
    if alone["likely"] in {"likely_eligible", "unknown"}:
        verdict = alone["likely"].replace("_", " ")
        return f"{name} alone is {alone['status']} ({verdict}), and no group of up to {LARGEST} with it is surer{cut}"
    return (
        f"no group of up to {LARGEST} districts with {name} would do: each fails a requirement, or needs no {name}{cut}"
    )


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
