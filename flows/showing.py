"""`emancipa show AREA`: one area, requirement by requirement; with --explain, every input its figures came from."""

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import warehouse
from flows import terminal
from flows.asking import Rows, named, rows
from transforms.rules.reading import ORIGIN

if TYPE_CHECKING:
    from warehouse import DuckDBPyConnection

# What is told of an area, in order. Every query takes the area's id.
SUMMARY = {
    "verdicts": "SELECT * FROM mart.eligibility WHERE area_id = $1 ORDER BY rule_set",
    "requirements": "SELECT * FROM mart.requirement_result WHERE area_id = $1 ORDER BY rule_set, article, requirement",
    "origins": "SELECT * FROM mart.origin_result WHERE area_id = $1 ORDER BY ALL",
    "pending": "SELECT * FROM mart.pending WHERE area_id = $1 ORDER BY ALL",
}
INPUTS = {
    "measures": "SELECT * FROM core.area_measure WHERE area_id = $1 ORDER BY ALL",
    "district measures": """SELECT m.* FROM core.district_measure m JOIN core.area_district a USING (district_code)
        WHERE a.area_id = $1 ORDER BY ALL""",
    "state": """SELECT s.*, r.variant, r.value AS tax_revenue, r.statement, r.method FROM core.state s
        LEFT JOIN core.state_revenue r USING (state_code) ORDER BY r.variant""",
    "polling places": """SELECT p.* FROM core.polling_place p JOIN core.area_district a ON a.area_id = $1 AND (
        p.district_code = a.district_code OR list_contains(string_split(p.points_to, '|'), a.district_code))
        ORDER BY ALL""",
    "unassigned polling places": """SELECT p.* FROM core.polling_place p WHERE p.district_code IS NULL AND
        p.municipality_code IN (SELECT municipality_code FROM core.area_district WHERE area_id = $1) ORDER BY ALL""",
    "urban clusters": """SELECT DISTINCT c.* FROM core.urban_cluster c JOIN core.area_district a ON a.area_id = $1
        AND list_contains(string_split(c.district_codes, '|'), a.district_code) ORDER BY ALL""",
    "snapshots": """SELECT source, part, url, sha256, fetched_at, published_at FROM meta.snapshot
        WHERE uf IN ('', (SELECT uf FROM core.area WHERE area_id = $1)) ORDER BY source, part""",
}
STEPS = (
    "population: the municipal estimate shared by census population (largest remainder); judged on census and estimate",
    "electorate: voters of the places assigned to the area; low counts sure places only, high adds flagged and "
    "unassigned ones; a share of the area's own population is compared by cross-multiplication",
    "urban houses: the largest urban cluster of the area",
    "collection: what the treasury states, else the município's collection apportioned (value only)",
    "origin: the municipality's totals minus the area's bounds, judged again",
    "certificates replace every other figure of their area and requirement",
)
ORIGIN_COLUMNS = {"before": "before_value", "after": "after_value", "asked": "threshold"}


def show(data: Path, area: str, *, explain: bool, as_json: bool) -> None:
    """`area` is its id, or its name where no other has it."""
    with warehouse.connect(data) as database:
        area_id = named(database, "area", area)
        found = _read(database, SUMMARY, area_id)
        inputs = _read(database, INPUTS, area_id) if explain else {}
    if as_json:
        terminal.as_json(found | inputs | ({"steps": STEPS} if explain else {}))
        return
    _summary(found)
    if explain:
        _inputs(inputs)


def _read(database: "DuckDBPyConnection", queries: dict[str, str], area: str) -> dict[str, Rows]:
    return {name: rows(database, sql, *([area] if "$1" in sql else [])) for name, sql in queries.items()}


def _summary(found: dict[str, Rows]) -> None:
    """The area, then all that each rule set says of it below its own heading."""
    area = found["verdicts"][0]
    terminal.heading(f"{area['area_name']} ({area['area_id']}), {area['municipality_names'].replace('|', ' + ')}")
    if area["is_simulated"]:
        terminal.line("SIMULATED figures: see the evidence of each")
    for verdict in found["verdicts"]:
        own = {
            name: [row for row in found[name] if row["rule_set"] == verdict["rule_set"]]
            for name in ("requirements", "origins", "pending")
        }
        _verdict(verdict, own)


def _verdict(verdict: dict[str, Any], own: dict[str, Rows]) -> None:
    likely = f", {_words(verdict['likely'])}" if verdict["likely"] else ""
    terminal.heading(f"{verdict['rule_set']}: {verdict['status']}{likely}; rank {verdict['rank']}")
    if verdict["same_origin_conflict"]:
        terminal.paragraph(f"cannot leave together with: {verdict['same_origin_conflict'].replace('|', ', ')}")
    if verdict["kind"] == "fusion" and not own["requirements"]:
        is_exempt = verdict["status"] == "eligible"
        terminal.line("a fusion, exempt from the requirements" if is_exempt else "the rule set says nothing of fusions")
    for row in own["requirements"]:
        if row["requirement"] != ORIGIN:
            _requirement(row)
    if own["origins"]:
        _origins(own["origins"], {row["requirement"]: row["unit"] for row in own["requirements"]})
    for row in own["pending"]:
        terminal.line()
        terminal.paragraph(f"pending · {_words(row['requirement'])}: {row['reason']}")
        terminal.paragraph(f"ask {row['ask']}", indent=2)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _requirement(row: dict[str, Any]) -> None:
    names = ("low", "value", "high", "threshold")
    low, value, high, threshold = (terminal.figure(row[name], row["unit"]) for name in names)
    likely = f" ({_words(row['indication'])})" if row["indication"] else ""
    margin = f"; margin {terminal.percent(row['margin'])}" if row["margin"] is not None else ""
    terminal.heading(f"{_words(row['requirement'])} · {row['article']}: {_words(row['status'])}{likely}")
    terminal.paragraph(
        f"{value} {row['unit'] or ''}{'' if low == high else f', between {low} and {high}'}; "
        f"asked {row['comparison'] or ''} {threshold}{margin}",
        indent=2,
    )
    terminal.paragraph(f"{row['evidence']}: {row['method']} ({row['source']}, {row['reference_period']})", indent=2)
    if row["reason"]:
        terminal.paragraph(row["reason"], indent=2)


def _origins(found: Rows, units: dict[str, str | None]) -> None:
    """`units` of the requirements, in the law's order."""
    order = list(units)
    found = sorted(found, key=lambda row: (row["municipality_code"], order.index(row["requirement"])))
    for name, rows_ in groupby(found, key=lambda row: row["municipality_name"]):
        terminal.heading(f"{name}, município of origin, before → after")
        told = [
            {
                "requirement": _words(row["requirement"]),
                **{
                    end: terminal.figure(row[column], units[row["requirement"]])
                    for end, column in ORIGIN_COLUMNS.items()
                },
                "verdict": row["verdict"],
            }
            for row in rows_
        ]
        terminal.table(
            told, {column: column for column in told[0]}, narrow=["requirement", "verdict"], right=[*ORIGIN_COLUMNS]
        )


def _inputs(inputs: dict[str, Rows]) -> None:
    """Field by field, so that a clerk can check each line by hand and nothing is cut to fit."""
    terminal.heading("How it was computed")
    for step in STEPS:
        terminal.paragraph(f"· {step}", indent=2)
    for name, found in inputs.items():
        terminal.heading(f"{name} ({len(found)})")
        for row in found:
            told = [f"{key}={terminal.shown(value)}" for key, value in row.items() if value not in {None, ""}]
            terminal.paragraph(" · ".join(told), indent=2)
