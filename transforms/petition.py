"""A petition as it stood on a date: its events, its requests for information, its plebiscite. No clock enters here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from transforms.deadlines import deadline
from transforms.plebiscite import COUNTS, Ballot, Decision, decide
from transforms.rules.procedure import fusion_exempt, in_federal_territory
from transforms.rules.reading import RuleSet

DONE, DUE, OVERDUE = "done", "due", "overdue"
Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Screened:
    """What the screen says of the area under the rule set; the electorate's bounds."""

    status: str
    not_met: tuple[str, ...] = ()
    undetermined: tuple[str, ...] = ()
    electorate: tuple[int | None, int | None] = (None, None)


@dataclass(frozen=True, slots=True)
class Petition:
    """A proposal as it stood on a date, and its area. `municipalities`: names by code, of those the area is in."""

    rule_set: RuleSet
    as_of: date
    proposal_id: str
    area_id: str
    area_name: str
    uf: str
    kind: str
    municipalities: Mapping[str, str]
    events: Sequence[Event]  # by date
    screened: Screened

    @property
    def identity(self) -> dict[str, Any]:
        """The columns that every mart of petitions begins with."""
        names = ("proposal_id", "area_id", "area_name", "uf")
        return {"rule_set": self.rule_set.id} | {name: getattr(self, name) for name in names}

    def of(self, name: str) -> list[Event]:
        """Its events of one kind, by date."""
        return [event for event in self.events if event["event"] == name]

    def last(self, name: str) -> Event | None:
        """The latest of them, if any."""
        return next(reversed(self.of(name)), None)

    def rule(self, name: str) -> Mapping[str, Any]:
        """A procedural table of the rule set; empty where it has none."""
        return self.rule_set.procedure.get(name, {})

    @property
    def bodies(self) -> tuple[str, ...]:
        """The bodies that certify the requirements."""
        return tuple(dict.fromkeys(requirement.body for requirement in self.rule_set.requirements))

    @property
    def is_exempt(self) -> bool:
        """Whether no requirement has to be verified: territories (art. 7º), fusions (art. 4º)."""
        fusion = self.kind == "fusion" and fusion_exempt(self.rule_set)
        return fusion or in_federal_territory(self.rule_set, self.uf, self.as_of)

    @property
    def round(self) -> list[Event]:
        """What was held under the last order of a plebiscite."""
        ordered = self.last("plebiscite_ordered")
        found = [held for held in self.of("plebiscite_held") if ordered and held["date"] > ordered["date"]]
        return sorted(found, key=lambda held: (held["date"], held["area_voted"]))

    @property
    def unheard(self) -> list[str]:
        """Names of the municípios that a fusion needs the vote of, and has not."""
        heard = {held["area_voted"] for held in self.round}
        wanted = self.municipalities if self.kind == "fusion" and self.area_id not in heard else {}
        return [name for code, name in wanted.items() if code not in heard]


@dataclass(frozen=True, slots=True)
class Request:
    """A request for information and the answer to it, if one came."""

    body: str
    requested_on: date
    document: str | None
    due_on: date
    answered_on: date | None
    answer: str | None

    def status(self, as_of: date) -> str:
        """Done, due or overdue."""
        return DONE if self.answered_on else OVERDUE if as_of > self.due_on else DUE

    def words(self, as_of: date) -> str:
        """The request in a sentence."""
        late = ((self.answered_on or as_of) - self.due_on).days
        if self.answered_on:
            return f"{self.body}: answered on {self.answered_on}" + (f", {late} days late" if late > 0 else "")
        return f"{self.body}: due on {self.due_on}" + (f", {late} days overdue" if late > 0 else "")


def requests(petition: Petition) -> list[Request]:
    """Every request with its term, by date, then in the order of the requirements; none where no term is set."""
    days, found = petition.rule("information").get("days", 0), []
    for asked in petition.of("information_requested") if days else ():
        body, on = asked["competent_body"], asked["date"]
        answers = [one for one in petition.of("certificate_received") if one["competent_body"] == body]
        answer = next((one for one in answers if one["date"] >= on), None)
        replied = (answer["date"], answer["document"]) if answer else (None, None)
        found.append(Request(body, on, asked["document"], deadline(on, days), *replied))
    order = {body: place for place, body in enumerate(petition.bodies)}
    return sorted(found, key=lambda each: (each.requested_on, order.get(each.body, len(order)), each.body))


def decisions(petition: Petition, held: Sequence[Event]) -> list[tuple[Event, Decision]]:
    """What each area voted comes to; none where the rule set has no plebiscite."""
    if not petition.rule("plebiscite"):
        return []
    return [(each, decide(petition.rule_set, Ballot(**{name: each[name] for name in COUNTS}))) for each in held]
