"""What the reading verbs print: the end of a run, status, sources, rules, tables, query."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import warehouse
from flows import rule_files, terminal
from flows.addresses import addresses
from flows.settings import Settings
from transforms.catalog import sources as catalogue
from transforms.errors import UsageError
from transforms.sources import Scope
from warehouse import publish, run_ledger, sample
from warehouse.freshness import freshness, through
from warehouse.snapshots import NOT_SUPPLIED, Store

if TYPE_CHECKING:
    from flows.run import Outcome

TOP = 15
NAMED = 6  # states named in a heading; more are counted


def of_run(outcome: "Outcome", *, as_json: bool) -> None:
    """The top of the ranking, what is pending, and the path of the release."""
    facts = publish.manifest(outcome.folder.parent.parent, outcome.release)
    with warehouse.connect(outcome.folder.parent.parent, outcome.release) as database:
        ranking = database.sql("SELECT * FROM mart.eligibility ORDER BY rule_set, rank, area_id").pl()
        pending = database.sql(
            """SELECT requirement, ask, count(DISTINCT area_id) AS areas FROM mart.pending
               GROUP BY ALL ORDER BY areas DESC, requirement, ask"""
        ).pl()
    counts = dict(ranking.group_by("status").len().iter_rows())
    summary = {
        "release": outcome.release,
        "is_new": outcome.is_new,
        "path": str(outcome.folder),
        "uf": facts["uf"],
        "states": facts.get("states", []),
        "as_of": facts["as_of"],
        "areas": ranking.height,
        **{status: counts.get(status, 0) for status in ("eligible", "undetermined", "ineligible")},
        "stale": list(outcome.stale),
        "warnings": list(outcome.warnings),
        "withdrawn": outcome.withdrawn,
    }
    terminal.as_json(summary) if as_json else _tell(outcome, facts, summary, ranking, pending)


def _tell(
    outcome: "Outcome", facts: dict[str, Any], summary: dict[str, Any], ranking: pl.DataFrame, pending: pl.DataFrame
) -> None:
    if facts["simulated"]:
        terminal.line("SIMULATED: the bundled sample; only codes, names and populations are real.")
    for rule_set in facts["rule_sets"]:
        own = ranking.filter(pl.col("rule_set") == rule_set["id"])
        terminal.heading(f"{_whose(facts)} as of {facts['as_of']} · {rule_set['title']}")
        _ranking(own)
        hidden = own.height - TOP
        if hidden > 0:
            terminal.line(f"… and {hidden} more in export/eligibility.csv")
    terminal.line()
    terminal.paragraph(
        f"{ranking.height} verdicts: {summary['eligible']} eligible, {summary['undetermined']} undetermined, "
        f"{summary['ineligible']} ineligible"
    )
    for line in _lacking(facts):
        terminal.paragraph(line)
    if pending.height:
        terminal.heading("Pending: whom to ask")
        terminal.table(pending.to_dicts(), {"areas": "areas", "requirement": "requirement", "ask": "ask"})
    for name in outcome.stale:
        terminal.line(f"stale: {name} (see emancipa status)")
    terminal.line(f"\n{'Published' if outcome.is_new else 'Nothing new; readers keep'} {outcome.folder}")
    if outcome.withdrawn:
        terminal.line(f"This run would make {outcome.withdrawn}.")
    terminal.paragraph("A technical screen, not an approval: no município can be created today (EC 15/1996).")


def _whose(facts: Mapping[str, Any]) -> str:
    """The state; of a national release those that are in it, and how many of those asked for they are."""
    if not (states := facts.get("states")):
        return str(facts["uf"])
    present = [state["uf"] for state in states if state["release"]]
    named = ", ".join(present) if len(present) <= NAMED else facts["uf"]
    return f"{named} ({len(present)} of {len(states)} state{'s' if len(states) > 1 else ''})"


def _lacking(facts: Mapping[str, Any]) -> list[str]:
    """Of a national release, the states that failed: what stands in, and why."""
    return [
        f"{state['uf']} failed, {state['release'] + ' stands in' if state['release'] else 'it is left out'}: "
        f"{state['reason']}"
        for state in facts.get("states", [])
        if not state["is_current"]
    ]


def _ranking(rows: pl.DataFrame) -> None:
    shown = rows.head(TOP).with_columns(
        pl.col("municipality_names").str.replace_all("|", " + ", literal=True),
        verdict=pl.coalesce(pl.when(pl.col("status") == "undetermined").then("likely"), "status"),
    )
    lines = [row | {"smallest_margin": terminal.percent(row["smallest_margin"])} for row in shown.to_dicts()]
    terminal.table(
        lines,
        {
            "rank": "#",
            "area_name": "area",
            "municipality_names": "município",
            "verdict": "verdict",
            "requirements_met": "met",
            "smallest_margin": "margin",
            "binding_requirement": "binding",
        },
        narrow=["verdict", "smallest_margin", "binding_requirement"],
    )


def status(settings: Settings, uf: str | None, *, as_json: bool) -> None:
    """The current release, what failed since, and each source's three clocks: last asked, data through which day,
    built.
    """
    data, now = settings.data, datetime.now(UTC)
    release = publish.current(data)
    spoken = through(data / publish.CURRENT) if release else None
    rows = freshness(Store(settings.raw), catalogue().values(), now, uf, spoken)
    last = run_ledger.runs(data).sort("started_at").tail(1).to_dicts()
    facts: dict[str, Any] = {"release": release, "sources": rows, "last_run": last[0] if last else None, "states": []}
    if release:
        manifest = publish.manifest(data, release)
        facts |= {key: manifest[key] for key in ("uf", "as_of", "built_at", "checks", "counts")}
        facts["states"] = manifest.get("states", [])
    back = _rolled_back(data)
    facts["rolled_back"] = asdict(back) if back else None
    if as_json:
        terminal.as_json(facts)
        return
    if release:
        terminal.paragraph(f"readers see {release}: {_whose(facts)} as of {facts['as_of']}, built {facts['built_at']}")
    else:
        nothing = warehouse.unpublished(data)
        terminal.line(f"{nothing.what}: {nothing.action}")
    if back:
        why = back.reason or "no reason was given"
        terminal.paragraph(f"rolled back on {back.at:%Y-%m-%d %H:%M} UTC, from {back.previous}: {why}")
    for run in (run for run in last if run["exit_code"]):
        terminal.paragraph(
            f"the last run, {run['started_at']:%Y-%m-%d %H:%M} UTC, failed: {run['uf']}: {run['message']}"
        )
    for line in _lacking(facts):
        terminal.paragraph(line)
    columns = {"source": "source", "state": "state", "good": "last good", "published_through": "data to"}
    terminal.table(
        [row | {"state": _state(row), "good": _day(row["last_good_at"])} for row in rows],
        columns | {"age_days": "age", "stale_after": "limit"},
        narrow=[*columns],
    )
    for row in rows:
        if row["last_message"] and row["last_outcome"] not in {"ok", NOT_SUPPLIED}:
            terminal.paragraph(f"{row['source']}: {row['last_outcome']}: {row['last_message']}")


def _rolled_back(data: Path) -> publish.Event | None:
    """The rollback that put readers where they are."""
    last = publish.history(data)[-1:]
    return next((event for event in last if event.event == "rolled_back"), None)


def _day(moment: datetime | None) -> str | None:
    return f"{moment:%Y-%m-%d}" if moment else None


def _state(row: dict[str, Any]) -> str:
    if row["last_polled_at"] is None:
        return "never asked"
    if row["last_outcome"] == NOT_SUPPLIED:
        return NOT_SUPPLIED
    if row["last_good_at"] is None:
        return "never"
    return "STALE" if row["is_stale"] else "fresh"


def sources(settings: Settings, *, probe: bool, as_json: bool) -> None:
    """Every upstream, and where its files are; with `probe`, the first question of each is asked, and nothing kept."""
    scope = Scope(settings.uf or sample.UF, datetime.now(UTC).date())
    rows: list[dict[str, Any]] = [
        {
            "source": source.name,
            "title": source.title,
            "publisher": source.publisher,
            "cadence": source.cadence,
            "stale_after": source.stale_after,
            "required": source.required,
            "licence": source.licence,
            "home_page": source.home_page,
            "base": source.base,
            "files": addresses(source, scope, settings),
        }
        for source in catalogue().values()
    ]
    if probe:
        from flows.probe import probed  # noqa: PLC0415

        answers = probed(settings, scope.as_of)
        rows = [row | answers[row["source"]] for row in rows]
    if as_json:
        terminal.as_json(rows)
    elif probe:
        columns = {"source": "source", "answer": "answer", "seconds": "seconds", "detail": "detail"}
        terminal.table(rows, columns, narrow=["source"])
    else:
        for row in rows:
            _upstream(row)
        terminal.line()
        terminal.paragraph(f"The address of each file, of {scope.uf}: emancipa sources --json")


def _upstream(row: Mapping[str, Any]) -> None:
    terminal.heading(f"{row['source']} ({'required' if row['required'] else 'optional'})")
    for words in (row["title"], row["cadence"], f"licence: {row['licence']}", row["home_page"]):
        if words:
            terminal.paragraph(words, indent=2)


def rules(name: str | None, on: date, *, as_json: bool) -> None:
    """The list of shipped rule sets, or one in prose, its calendar as of a day. Raises UsageError where its worked
    examples do not hold, after all is told.
    """
    from transforms.rules.prose import listing, prose  # noqa: PLC0415

    if name is not None:
        rule_set = rule_files.read([name])[0].rule_set
        text = prose(rule_set, on)
        terminal.as_json({"id": rule_set.id, "text": text}) if as_json else terminal.line(text)
        rule_files.prove(rule_set, name)
        return
    rows = listing([file.rule_set for file in rule_files.read(rule_files.shipped())])
    if as_json:
        terminal.as_json(rows)
    else:
        terminal.table(
            rows, {"id": "name", "status": "status", "in_force": "in force", "title": "title"}, narrow=["id"]
        )


def tables(data: Path, name: str | None, *, as_json: bool) -> None:
    """Every table and view of the current release with its grain, or one's columns."""
    with warehouse.connect(data) as database:
        if name is None:
            rows = database.sql(
                """SELECT schema_name || '.' || table_name AS name, estimated_size AS rows, comment AS what
                FROM duckdb_tables() WHERE NOT internal UNION ALL
                SELECT schema_name || '.' || view_name, NULL, comment FROM duckdb_views() WHERE NOT internal
                ORDER BY name"""
            ).pl()
        else:
            rows = database.sql(
                """SELECT column_name AS name, data_type AS type, comment AS what FROM duckdb_columns()
                WHERE schema_name || '.' || table_name = $1 ORDER BY column_index""",
                params=[name],
            ).pl()
            if rows.is_empty():
                raise UsageError(f"no table {name!r}", action="see `emancipa tables`")
    if as_json:
        terminal.as_json(rows.to_dicts())
    else:
        headings = {column: column for column in rows.columns}
        terminal.table(rows.to_dicts(), headings, narrow=["name"])


def query(data: Path, sql: str, *, as_json: bool) -> None:
    """The answer to a query over the current release."""
    frame = warehouse.ask(data, sql)
    if as_json:
        terminal.as_json(frame.to_dicts())
    else:
        terminal.table(frame.to_dicts(), {column: column for column in frame.columns}, whole=True)
