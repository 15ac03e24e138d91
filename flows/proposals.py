"""`emancipa proposals` and `emancipa proposal ID`: where each petition stands, what is due, and what to warn of."""

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl

import warehouse
from flows import terminal
from flows.asking import Rows, require_state, rows
from flows.notify import Cause
from transforms.errors import UsageError
from transforms.sources import Scope
from transforms.sources.inputs import Fault, refusal
from transforms.sources.inputs_proposals import FORM
from warehouse.release import PARQUET
from warehouse.snapshots import BRASILIA

STANDING = """
    SELECT r.rule_set, p.*, s.stage, s.article, s.status, s.due_on, s.working_day, s.days_left, s.reason, s.next_step
    FROM core.proposal p CROSS JOIN (SELECT DISTINCT rule_set FROM mart.proposal_stage) r
    LEFT JOIN mart.proposal_stage s
        ON s.rule_set = r.rule_set AND s.proposal_id = p.proposal_id AND s.is_current
    WHERE $1 IS NULL OR p.uf = $1 ORDER BY r.rule_set, p.proposal_id"""
# What has a day: answers awaited, other stages with a term, and the window of the law, which many share.
DATED = """
    SELECT rule_set, due_on AS day, working_day, body || ' must answer' AS what, proposal_id, uf,
        status = 'overdue' AS overdue
    FROM mart.proposal_request WHERE status IN ('due', 'overdue')
    UNION ALL
    SELECT rule_set, due_on, working_day, next_step, proposal_id, uf, status = 'overdue'
    FROM mart.proposal_stage
    WHERE status IN ('due', 'overdue') AND due_on IS NOT NULL AND stage NOT IN ('information', 'calendar')
    UNION ALL
    SELECT rule_set, opens_on, NULL, 'the law may be made from here on', proposal_id, uf, false
    FROM mart.proposal_stage WHERE stage = 'calendar' AND status IN ('blocked', 'due') AND days_left > due_on - opens_on
    UNION ALL
    SELECT rule_set, due_on, NULL, 'the law may be made until here', proposal_id, uf, false
    FROM mart.proposal_stage WHERE stage = 'calendar' AND status IN ('blocked', 'due') AND due_on IS NOT NULL"""
CALENDAR = f"""
    SELECT rule_set, day, any_value(working_day) AS working_day, what, overdue,
        string_agg(proposal_id, ', ' ORDER BY proposal_id) AS proposals
    FROM ({DATED}) WHERE $1 IS NULL OR uf = $1
    GROUP BY rule_set, day, what, overdue ORDER BY rule_set, day, what"""
ONE = {
    "proposal": "SELECT * FROM core.proposal WHERE proposal_id = $1",
    "stages": "SELECT * FROM mart.proposal_stage WHERE proposal_id = $1 ORDER BY rule_set, stage_number",
    "requests": "SELECT * FROM mart.proposal_request WHERE proposal_id = $1 ORDER BY rule_set, requested_on, body",
    "plebiscites": "SELECT * FROM mart.plebiscite_result WHERE proposal_id = $1 ORDER BY rule_set, held_on, area_voted",
    "events": "SELECT * FROM core.proposal_event WHERE proposal_id = $1 ORDER BY date, line",
}


def proposals(data: Path, uf: str | None, *, overdue: bool, as_json: bool) -> None:
    """Every petition with the stage it stands at, and the calendar of what has a day."""
    with warehouse.connect(data) as database:
        require_state(database, uf)
        standing = rows(database, STANDING, uf)
        calendar = rows(database, CALENDAR, uf)
    if overdue:
        standing = [row for row in standing if row["status"] == "overdue"]
        calendar = [row for row in calendar if row["overdue"]]
    if as_json:
        terminal.as_json({"proposals": standing, "calendar": calendar})
    elif standing:
        _list(standing, calendar)
    else:
        terminal.line(
            "nothing is overdue" if overdue else "no petition: put proposals.csv in the inputs folder, and run"
        )


def _list(standing: Rows, calendar: Rows) -> None:
    for rule_set in dict.fromkeys(row["rule_set"] for row in standing):
        terminal.heading(rule_set)
        headings = {"proposal_id": "proposal", "area_name": "area", "stage": "stands at", "status": "status",
                    "due_on": "due", "next_step": "next"}  # fmt: skip
        own = [row | {"stage": row["stage"] or row["outcome"]} for row in standing if row["rule_set"] == rule_set]
        terminal.table(own, headings, narrow=["proposal_id", "stage", "status", "due_on"])
        terminal.heading("Calendar")
        for row in calendar:
            if row["rule_set"] == rule_set:
                terminal.paragraph(_entry(row), indent=2)
    terminal.line()
    terminal.paragraph("Terms are calendar days; where one ends on a day off, the next working day stands beside it.")


def _entry(row: dict[str, Any]) -> str:
    """A line of the calendar: day, weekday, what, whose."""
    shifted = row["working_day"] not in {None, row["day"]}
    day = _day(row["day"]) + (f" (next working day {_day(row['working_day'])})" if shifted else "")
    return f"{day}  {'OVERDUE: ' * row['overdue']}{row['what']}: {row['proposals']}"


def _day(day: date) -> str:
    return f"{day} {('Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun')[day.weekday()]}"


def proposal(data: Path, proposal_id: str, *, as_json: bool) -> None:
    """One petition: its stages with their reasons, its requests, its plebiscites, its events."""
    with warehouse.connect(data) as database:
        found = {name: rows(database, sql, proposal_id) for name, sql in ONE.items()}
        known = [name for (name,) in database.sql("SELECT proposal_id FROM core.proposal ORDER BY ALL").fetchall()]
    if not found["proposal"]:
        raise UsageError(
            f"no proposal {proposal_id!r}", where="proposal", action=f"one of: {', '.join(known) or 'none'}"
        )
    if as_json:
        terminal.as_json(found | {"proposal": found["proposal"][0]})
        return
    (one,) = found["proposal"]
    terminal.heading(f"{proposal_id}: {one['area_name']} ({one['area_id']}), {one['outcome']}")
    if any(row["is_simulated"] for row in found["stages"]):
        terminal.line("SIMULATED: the bundled sample")
    for rule_set in dict.fromkeys(row["rule_set"] for row in found["stages"]):
        terminal.heading(f"Under {rule_set}")
        _stages([row for row in found["stages"] if row["rule_set"] == rule_set])
    terminal.heading("Events")
    for event in found["events"]:
        told = (event["event"].replace("_", " "), event["body"], event["document"], event["note"])
        later = "" if event["is_counted"] else "  (after the date of the run: not counted)"
        terminal.paragraph(f"{_day(event['date'])}  {', '.join(filter(None, told))}{later}", indent=2)


def _stages(stages: Rows) -> None:
    for row in stages:
        mark = "→" if row["is_current"] else " "
        due = f", by {_day(row['due_on'])}" if row["due_on"] else ""
        late = f" ({-row['days_left']} days ago)" if row["days_left"] is not None and row["days_left"] < 0 else ""
        shifted = row["working_day"] not in {None, row["due_on"]}
        working = f" (next working day {_day(row['working_day'])})" if shifted else ""
        terminal.paragraph(f"{mark} {row['stage']} ({row['article'] or '–'}): {row['status']}{due}{late}{working}")
        terminal.paragraph(row["reason"], indent=4)
        if row["next_step"]:
            terminal.paragraph(f"next: {row['next_step']}", indent=4)


def overdue(release: Path) -> list[Cause]:
    """What is overdue, one cause a term: the same under every rule set, and as long as it stays overdue."""
    requests = pl.read_parquet(release / PARQUET / "mart.proposal_request.parquet").filter(status="overdue")
    stages = pl.read_parquet(release / PARQUET / "mart.proposal_stage.parquet").filter(
        (pl.col("status") == "overdue") & (pl.col("stage") != "information")
    )
    terms = pl.concat(
        [
            requests.select("proposal_id", "area_name", "due_on", what=pl.format("{} must answer", "body")),
            stages.select("proposal_id", "area_name", "due_on", what="next_step"),
        ]
    ).unique()
    state = pl.read_parquet(release / PARQUET / "core.proposal.parquet", columns=["proposal_id", "uf"])
    terms = terms.join(state, on="proposal_id", validate="m:1")
    return [
        Cause(
            f"deadline/{row['uf']}",
            f"{row['proposal_id']} {row['what']} {row['due_on']}",
            f"{row['proposal_id']} ({row['area_name']}): overdue since {row['due_on']}: {row['what']}",
        )
        for row in terms.sort("due_on", "proposal_id", "what").iter_rows(named=True)
    ]


def require_past(events: pl.LazyFrame, scope: Scope, now: datetime) -> None:
    """Refuse events that have not happened: later than both the date of the run and today, where Brasília is.

    Those between a past date of the run and today have: they are read, and left out of its judgements.
    """
    today = max(scope.as_of, now.astimezone(BRASILIA).date())
    future: Sequence[dict[str, Any]] = events.filter(pl.col("date") > today).sort("line").collect().to_dicts()
    if future:
        faults = [Fault(row["line"], "date", f"{row['date']} is after today, {today}") for row in future]
        raise refusal(faults, FORM.file)
