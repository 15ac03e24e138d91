"""core.proposal and core.proposal_event: the petitions of the state, once their events are known to make sense.

Refused, with file, line and reason: unknown areas, a proposal of two areas, events in an order that the law does not
know, dates before the law. Events later than the date of the run are kept, marked, and left out of every judgement.
Assumption: the register is complete, so an event without the one that must come before it is an error.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import polars as pl

from transforms.bodies import competent
from transforms.columns import AREA, AREA_KIND, AREA_NAME, UF
from transforms.plebiscite import COUNTS, counted
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Scope
from transforms.sources.inputs import LINE, Fault, refusal
from transforms.sources.inputs_proposals import EVENTS, FORM, PROPOSED, figures_of

OUTCOMES = ("open", "withdrawn", "rejected", "installed")
FIRST_DAY = date(1967, 11, 9)  # of LC 1/1967: no petition under any rule set is older
PROPOSAL = Column("proposal_id", Kind.TEXT, "Id of the proposal.", "Proposta")


def _voters(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.INTEGER, description, label, Unit.VOTERS, nullable=True, minimum=0)


TABLE = Table(
    name="core.proposal",
    title="Propostas",
    grain="One row per petition of the state that had begun by the date of the run",
    key=("proposal_id",),
    columns=(
        PROPOSAL,
        AREA,
        AREA_NAME,
        UF,
        AREA_KIND,
        Column("received_on", Kind.DATE, "Day the assembly received the representation.", "Recebida em"),
        Column("outcome", Kind.TEXT, "Open, withdrawn, rejected, or installed.", "Desfecho", values=OUTCOMES),
        Column("last_event", Kind.TEXT, "What happened last.", "Último evento", values=tuple(EVENTS)),
        Column("last_event_on", Kind.DATE, "When.", "Data do último evento"),
    ),
    may_be_empty=True,
)
EVENT = Table(
    name="core.proposal_event",
    title="Eventos das propostas",
    grain="One row per event of a proposal of the state, with its figures",
    key=("proposal_id", "line"),
    order=("proposal_id", "date", "line"),
    columns=(
        PROPOSAL,
        LINE,
        AREA,
        PROPOSED["event"],
        PROPOSED["date"],
        Column("is_counted", Kind.BOOLEAN, "Whether it had happened by the date of the run.", "Considerado"),
        PROPOSED["document"],
        PROPOSED["body"],
        Column("competent_body", Kind.TEXT, "Which competent body that is (art. 2º, § 2º).", "Órgão competente",
               nullable=True),
        _voters("claimed", "Signatures of the representation.", "Assinaturas"),
        _voters("recognised", "Signatures recognised by a notary.", "Firmas reconhecidas"),
        _voters("residents", "Signatures of voters who live in the area.", "Assinaturas de residentes"),
        Column("area_voted", Kind.TEXT, "The area voted: the proposal's, or a part of it by its code of IBGE.",
               "Área consultada", nullable=True),
        _voters("electorate", "Voters who could vote.", "Aptos"),
        _voters("turnout", "Voters who did.", "Comparecimento"),
        _voters("yes", "Votes for Sim.", "Sim"),
        _voters("no", "Votes for Não.", "Não"),
        _voters("blank", "Blank votes.", "Brancos"),
        _voters("spoilt", "Spoilt votes.", "Nulos"),
        Column("counted_from", Kind.TEXT, "Where the count comes from: typed in, or the electoral court's file.",
               "Origem da apuração", values=("typed", "sections"), nullable=True),
        Column("has_limits", Kind.BOOLEAN, "Whether the law defines the limits (art. 8º).", "Limites definidos",
               nullable=True),
        PROPOSED["note"],
    ),
    may_be_empty=True,
)  # fmt: skip
NOT_TWICE = ("representation_received", "law", "election", "installation", "withdrawn", "rejected")
# What each event follows; those of LATER_DAY cannot be on that very day.
FOLLOWS: Mapping[str, str] = {
    "information_requested": "representation_received",
    "certificate_received": "information_requested",
    "plebiscite_ordered": "representation_received",
    "plebiscite_held": "plebiscite_ordered",
    "bill": "plebiscite_held",
    "law": "bill",
    "election": "law",
    "installation": "election",
    "withdrawn": "representation_received",
    "rejected": "representation_received",
}
LATER_DAY = ("plebiscite_held", "election", "installation")
ENDS = ("withdrawn", "rejected", "installation")

TYPED = {"null": "spoilt"}  # figures that proposals.csv names otherwise

Event = Mapping[str, Any]


def proposal_event(
    staged: pl.DataFrame,
    sections: pl.DataFrame,
    area: pl.DataFrame,
    area_district: pl.DataFrame,
    municipality: pl.DataFrame,
    district: pl.DataFrame,
    scope: Scope,
) -> pl.DataFrame:
    """The events of proposals.csv. Raises UsageError with every fault of the register, an area of another state too."""
    crosswalk = dict(
        municipality.drop_nulls("tse_municipality_code")
        .select("tse_municipality_code", "municipality_code")
        .iter_rows()
    )
    counts = counted(sections.filter(pl.col("uf") == scope.uf), crosswalk)
    votable = _votable(area_district, scope)
    known = set(area["area_id"])
    refused = dict(district.drop_nulls("refusal").select("district_code", "refusal").iter_rows())
    faults, events = list[Fault](), list[dict[str, Any]]()
    for row in staged.sort("line").iter_rows(named=True):
        if row["area_id"] not in known:
            why = refused.get(row["area_id"], "a district's 9-digit code, or an area_id of candidates.csv")
            faults.append(Fault(row["line"], "area_id", f"unknown area {row['area_id']!r}: {why}"))
            continue
        event, found = _figures(row, counts, votable[row["area_id"]])
        faults += found
        events.append(event | {"is_counted": row["date"] <= scope.as_of})
    by_proposal: dict[str, list[Event]] = {}
    for event in events:
        by_proposal.setdefault(event["proposal_id"], []).append(event)
    for of_one in by_proposal.values():
        faults += disorder(of_one)
    if faults:
        raise refusal(faults, FORM.file)
    return EVENT.frame(events)


def _votable(area_district: pl.DataFrame, scope: Scope) -> dict[str, set[str]]:
    """What may be voted on apart, of each area: itself, its districts, the municípios they are in."""
    members = area_district.group_by("area_id").agg("district_code", "municipality_code")
    return {area: {area, *districts, *municipalities} for area, districts, municipalities in members.iter_rows()}


def _figures(
    row: Event, counts: Mapping[tuple[str, str, str], Event], votable: set[str]
) -> tuple[dict[str, Any], list[Fault]]:
    """The event with its figures apart, a count of the electoral court in its place; and what is wrong with them."""
    told = dict(figures_of(row["value"]))
    names = ("proposal_id", "area_id", "event", "date", "document", "body", "note", "line")
    event: dict[str, Any] = {name: row[name] for name in names}
    event |= {name: int(told[name]) for name in ("claimed", "recognised", "residents") if name in told}
    event["competent_body"] = competent(row["body"])
    event["has_limits"] = {"yes": True, "no": False}.get(told.get("limits", ""))
    if row["event"] != "plebiscite_held":
        return event, []
    place = told.get("area") or str(row["area_id"])
    typed = {TYPED.get(name, name): int(text) for name, text in told.items() if TYPED.get(name, name) in COUNTS}
    event |= {"area_voted": place, "counted_from": "typed" if typed else None, **typed}
    faults = [] if place in votable else [f"{place!r} is no part of the area: a code of its districts or municípios"]
    if "election" in told:
        key = (told["election"], told["question"], "" if place == row["area_id"] else place)
        faults += _from_sections(event, counts.get(key), typed, key)
    return event, [Fault(row["line"], "value", fault) for fault in faults]


def _from_sections(
    event: dict[str, Any], found: Event | None, typed: Event, key: tuple[str, str, str]
) -> Iterator[str]:
    """Put the electoral court's count into the event; yields why it cannot be that event's."""
    if found is None:
        where = f" in município {key[2]}" if key[2] else ""
        yield f"no section of election {key[0]}, question {key[1]}{where} in plebiscite_sections.csv"
        return
    if found["held_on"] != event["date"]:
        yield f"election {key[0]} was held on {found['held_on']}"
    for name, count in typed.items():
        if count != found[name]:
            yield f"{name} {count} was typed, the sections add up to {found[name]}: write one of them"
    event |= {name: found[name] for name in COUNTS} | {"counted_from": "sections"}


def disorder(events: Sequence[Event]) -> Iterator[Fault]:
    """What cannot be in the events of one proposal: two areas, something twice, out of order, or after the end."""
    ordered = sorted(events, key=lambda event: (event["date"], list(EVENTS).index(event["event"]), event["line"]))
    earlier: list[Event] = []
    for event in ordered:
        why = _out_of_place(event, earlier)
        if event["area_id"] != events[0]["area_id"]:
            why = f"the area was {events[0]['area_id']} in line {events[0]['line']}: a proposal has one"
        if why:
            yield Fault(event["line"], "event" if event["date"] >= FIRST_DAY else "date", f"{event['event']}: {why}")
        earlier.append(event)


def _out_of_place(event: Event, earlier: Sequence[Event]) -> str | None:
    """Why an event cannot come after those; None where it can."""
    name, on = event["event"], event["date"]
    of = {each: [one for one in earlier if one["event"] == each] for each in EVENTS}
    if on < FIRST_DAY:
        return f"{on} is before the law of {FIRST_DAY}"
    if name in NOT_TWICE and of[name]:
        return f"it is in line {of[name][0]['line']} already"
    if over := next((one for end in ENDS for one in of[end] if one["date"] < on or name in ENDS), None):
        return f"the proposal ended with {over['event']} on {over['date']} (line {over['line']})"
    if name in ("withdrawn", "rejected") and of["law"]:
        return f"the law of {of['law'][0]['date']} is made (line {of['law'][0]['line']})"
    if before := FOLLOWS.get(name):
        made = [one for one in of[before] if one["date"] < on or name not in LATER_DAY]
        if name == "certificate_received":
            made = [one for one in made if one["competent_body"] == event["competent_body"]]
        if not made:
            of_body = f" of {event['body']}" if name == "certificate_received" else ""
            return f"no {before}{of_body} before {on}: put the dates right, or add that row"
    return _again(event, of)


def _again(event: Event, of: Mapping[str, Sequence[Event]]) -> str | None:
    """Why an event that may be repeated is there once too often."""
    name, on = event["event"], event["date"]
    if name == "information_requested":
        twice = [one for one in of[name] if (one["date"], one["competent_body"]) == (on, event["competent_body"])]
        return f"{event['body']} was asked on that day already (line {twice[0]['line']})" if twice else None
    if name == "plebiscite_held":
        since = of["plebiscite_ordered"][-1]["date"]
        voted = {one["area_voted"]: one for one in of[name] if one["date"] > since}
        if event["area_voted"] in voted:
            line = voted[event["area_voted"]]["line"]
            return f"{event['area_voted']} voted under the same order already (line {line})"
        if voted and event["area_id"] in {event["area_voted"], *voted}:
            return "the whole area voted as one, and parts of it too: give every row its area="
    return None


def proposal(events: pl.DataFrame, area: pl.DataFrame) -> pl.DataFrame:
    """One row per proposal with an event by the date of the run."""
    place = pl.col("event").replace_strict({name: n for n, name in enumerate(EVENTS)}, return_dtype=pl.Int64)
    ordered = events.filter("is_counted").sort("proposal_id", "date", place, "line")
    ends = {"withdrawn": "withdrawn", "rejected": "rejected", "installation": "installed"}
    ended = pl.col("event").replace_strict(ends, default=None, return_dtype=pl.String).drop_nulls().last()
    rows = ordered.group_by("proposal_id", maintain_order=True).agg(
        pl.col("area_id").first(),
        pl.col("date").first().alias("received_on"),
        ended.fill_null("open").alias("outcome"),
        pl.col("event").last().alias("last_event"),
        pl.col("date").last().alias("last_event_on"),
    )
    return TABLE.conform(rows.join(area.select("area_id", "area_name", "uf", "kind"), on="area_id", validate="m:1"))
