"""`proposals.csv`: what happened to each petition, one row an event, from representation to installation.

Figures stand in `value` as `name=number`, | between. A plebiscite over several areas is one row per area voted, each
with `area=` a code of IBGE; in place of figures, `election=` and `question=` take them from the electoral court's file
(plebiscite_sections.csv). The date of `information_requested` is the day the body received it: 60 days count from it.
The order of events, and whether the area exists, are judged in core.
"""

import re
from collections.abc import Iterator, Mapping

from transforms.columns import AREA
from transforms.schema import Column, Kind, Table
from transforms.sources.inputs import LINE, Form, Row, source

_NUMBER, _PLACE, _YES_NO = r"\d{1,9}", r"[^=]{1,64}", r"yes|no"  # what a figure may be
_VOTES = ("yes", "no", "blank", "null")

# Each event, in the order of the law, with the figures that may go with it.
EVENTS: Mapping[str, Mapping[str, str]] = {
    "representation_received": dict.fromkeys(("claimed", "recognised", "residents"), _NUMBER),
    "information_requested": {},
    "certificate_received": {},
    "plebiscite_ordered": {},
    "plebiscite_held": {"area": _PLACE}
    | dict.fromkeys(("electorate", "turnout", *_VOTES, "election", "question"), _NUMBER),
    "bill": {},
    "law": {"limits": _YES_NO},
    "election": {},
    "installation": {},
    "withdrawn": {},
    "rejected": {},
}
_NOT_MORE = (("recognised", "claimed"), ("turnout", "electorate"))

PROPOSED = Table(
    name="staging.inputs_proposals__event",
    title="Andamento das propostas",
    grain="One row per event of a proposal.",
    key=("line",),
    order=("proposal_id", "date", "line"),
    columns=(
        Column("proposal_id", Kind.TEXT, "Id of the proposal.", "Proposta"),
        AREA,
        Column("event", Kind.TEXT, "What happened.", "Evento", values=tuple(EVENTS)),
        Column("date", Kind.DATE, "Day it happened.", "Data"),
        Column("document", Kind.TEXT, "Document that shows it.", "Documento", nullable=True),
        Column("body", Kind.TEXT, "Body that did it, or was asked.", "Órgão", nullable=True),
        Column("value", Kind.TEXT, "Figures of the event: name=number, | between.", "Valores", nullable=True),
        Column("note", Kind.TEXT, "Note.", "Observação", nullable=True),
        LINE,
    ),
    may_be_empty=True,
)  # fmt: skip


def figures_of(value: str | None) -> list[tuple[str, str]]:
    """The figures of an event as they stand: name and text."""
    sides = (figure.partition("=") for figure in (value.split("|") if value else ()))
    return [(name.strip(), text.strip()) for name, _, text in sides]


def _faults(row: Row) -> Iterator[tuple[str, str]]:
    figures = EVENTS[row["event"]]
    told = dict[str, str]()
    for name, value in figures_of(row["value"]):
        if name not in figures or name in told or not re.fullmatch(figures[name], value, re.ASCII):
            known = ", ".join(figures) or "none"
            told_as = f"{name}={value}" if value else name
            yield "value", f"{told_as!r} is no figure of {row['event']}: name=number, each once; known are {known}"
            return
        told[name] = value
    for less, more in _NOT_MORE:
        if less in told and more in told and int(told[less]) > int(told[more]):
            yield "value", f"{less} is more than {more}"
    votes = sum(int(told.get(name, 0)) for name in _VOTES)
    if {"turnout", *_VOTES} <= told.keys() and votes != int(told["turnout"]):
        yield "value", f"the votes add up to {votes}, the turnout is {told['turnout']}"
    elif any(votes > int(told[most]) for most in ("turnout", "electorate") if most in told):
        yield "value", f"{votes} votes are more than the turnout, or than the voters"
    if ("election" in told) != ("question" in told):
        yield "value", "election and question go together: they are the electoral court's numbers"
    if row["event"] == "certificate_received" and (row["document"] is None or row["body"] is None):
        yield "document", "a certificate has a document and a body"
    if row["event"] == "information_requested" and row["body"] is None:
        yield "body", "who was asked: IBGE, TRE or the state treasury"


FORM = Form("proposals.csv", PROPOSED, rule=_faults)
SOURCE = source(
    FORM,
    name="inputs_proposals",
    title="Andamento das propostas (proposals.csv)",
    cadence="at each event",
    stale_after=3650,
)
