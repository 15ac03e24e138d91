"""The procedural parts of a rule set: what their tables may say, and the few questions the program asks them.

They are kept as read (`RuleSet.procedure`), for the register of petitions, the dossier and the prose.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from transforms.errors import UsageError

if TYPE_CHECKING:
    from transforms.rules.reading import RuleSet

ABSOLUTE, OF_VOTING, OF_VALID = "absolute_of_voters", "of_those_voting", "of_valid_votes"
YEAR_BEFORE, MONTHS_BEFORE = "year_before_municipal_election", "months_before_election"
MANDATE, STATE_LAW = "inauguration_to_year_before", "as_state_law_says"


def _text(found: Any) -> str | None:
    return None if isinstance(found, str) and found.strip() else "a text"


def _flag(found: Any) -> str | None:
    return None if isinstance(found, bool) else "true or false"


def _count(found: Any) -> str | None:
    return None if isinstance(found, int) and not isinstance(found, bool) and found > 0 else "a whole number above zero"


def _share(found: Any) -> str | None:
    try:
        return None if isinstance(found, str) and 0 < Fraction(found) <= 1 else 'a share such as "0.20"'
    except ValueError:
        return 'a share such as "0.20"'


def _one_of(*allowed: str) -> Callable[[Any], str | None]:
    return lambda found: None if found in allowed else ", ".join(allowed)


Check = Callable[[Any], str | None]
WORDS: Mapping[str, Check] = {"article": _text, "quote": _text, "note": _text}
# Each table: its keys, what each may be, and which it cannot do without.
TABLES: Mapping[str, tuple[Mapping[str, Check], frozenset[str]]] = {
    "representation": (
        {"signatures": _count, "share_of_voters": _share, "notarised": _flag},
        frozenset(),
    ),
    "plebiscite": (
        {
            "majority": _one_of(ABSOLUTE, OF_VOTING, OF_VALID),
            "turnout": _share,
            "more_than_turnout": _flag,
            "consulted": _one_of("area", "area_and_remainder"),
            "residence_years": _count,
            "held_under": _text,  # the article on holding it, where another says what it must come to:
            "decided_under": _text,
        },
        frozenset({"majority"}),
    ),
    "information": ({"days": _count}, frozenset({"days"})),  # which the bodies have to answer, from receipt
    "installation": ({}, frozenset({"article"})),
    "limits": ({}, frozenset({"article"})),
    "calendar": (
        {
            "window": _one_of(YEAR_BEFORE, MONTHS_BEFORE, MANDATE, STATE_LAW),
            "from_months": _count,
            "to_months": _count,
        },
        frozenset({"window"}),
    ),
    "fusion": ({"exempt_from_requirements": _flag, "share_of_voters": _share}, frozenset({"exempt_from_requirements"})),
    "exemptions": ({"federal_territories": _flag}, frozenset({"federal_territories"})),
    "name": ({"unique": _one_of("country", "state"), "body": _text}, frozenset({"unique"})),
}


def check(data: Mapping[str, Any], where: str) -> dict[str, Mapping[str, Any]]:
    """The procedural tables of a rule file as read. Raises UsageError naming the table, the key and what it may be."""
    for name in TABLES.keys() & data.keys():
        own, needed = TABLES[name]
        place, table, checks = f"{where}, {name}", data[name], {**WORDS, **own}
        if not isinstance(table, dict):
            raise UsageError(f"key {name!r}: not a table", where=where, action=f"allowed: [{name}] and its keys")
        for key in sorted(needed - table.keys()):
            raise UsageError(f"key {key!r}: missing", where=place, action=f"allowed: {checks[key](None)}")
        for key, found in table.items():
            if key not in checks:
                raise UsageError(f"key {key!r}: unknown", where=place, action=f"allowed: {', '.join(sorted(checks))}")
            if allowed := checks[key](found):
                raise UsageError(f"key {key!r}: {found!r}", where=place, action=f"allowed: {allowed}")
        if name == "calendar" and (table["window"] == MONTHS_BEFORE) != ({"from_months", "to_months"} <= table.keys()):
            raise UsageError(
                "keys 'from_months', 'to_months'",
                where=place,
                action=f'allowed: both with window = "{MONTHS_BEFORE}", the longer first; else neither',
            )
    return {name: data[name] for name in TABLES if name in data}


@dataclass(frozen=True, slots=True)
class Votes:
    """A plebiscite's count. Registered voters and those who turned out include blank and void votes."""

    registered: int
    voted: int
    yes: int
    no: int


def quorum(rule_set: "RuleSet", votes: Votes) -> tuple[int, int]:
    """The least turnout and the least "yes" that allow the law: exact, whole voters."""
    rule = rule_set.procedure["plebiscite"]
    base = {ABSOLUTE: votes.registered, OF_VOTING: votes.voted, OF_VALID: votes.yes + votes.no}[rule["majority"]]
    asked = Fraction(rule.get("turnout", "0")) * votes.registered
    return (floor(asked) + 1 if rule.get("more_than_turnout", False) else ceil(asked)), base // 2 + 1


def plebiscite_passes(rule_set: "RuleSet", votes: Votes) -> bool:
    """Whether the vote allows the law that creates the município: majority, and turnout where one is asked."""
    turnout, yes = quorum(rule_set, votes)
    return votes.voted >= turnout and votes.yes >= yes


def fusion_exempt(rule_set: "RuleSet") -> bool:
    """Whether whole municípios that merge need meet no requirement (LC 1/1967 art. 4º)."""
    return bool(rule_set.procedure.get("fusion", {}).get("exempt_from_requirements", False))


# The last federal territories: until LC 41/1981, and until the first governors took office (ADCT art. 14 § 1º).
TERRITORIES = {"RO": date(1981, 12, 22), "RR": date(1991, 1, 1), "AP": date(1991, 1, 1)}


def in_federal_territory(rule_set: "RuleSet", uf: str, on: date) -> bool:
    """Whether the law exempts territories (art. 7º) and the state still was one."""
    exempt = bool(rule_set.procedure.get("exemptions", {}).get("federal_territories", False))
    return exempt and on < TERRITORIES.get(uf, date.min)


@dataclass(frozen=True, slots=True)
class Window:
    """When creation is allowed as of a date: `is_open` null where another law says. Days are inclusive."""

    is_open: bool | None
    opens: date | None
    closes: date | None
    election: int
    reason: str


def election_year(on: date) -> int:
    """The next municipal election, in the year of the date or after: every four years, 2024, 2028 …"""
    return on.year + -on.year % 4


def window(rule_set: "RuleSet", on: date) -> Window:
    """The window of the rule set's calendar that is open on the date, or else the next one."""
    calendar = rule_set.procedure.get("calendar", {})
    kind, year = calendar.get("window"), election_year(on)
    if kind in (None, STATE_LAW):
        return Window(None, None, None, year, str(calendar.get("note", "the rule set fixes no calendar")))
    opens, closes = _window(kind, year, calendar)
    if on > closes:
        year += 4
        opens, closes = _window(kind, year, calendar)
    state = "open" if opens <= on else "closed until then"
    return Window(opens <= on, opens, closes, year, f"{opens} to {closes}, before the election of {year}: {state}")


def _window(kind: str, election: int, calendar: Mapping[str, Any]) -> tuple[date, date]:
    if kind == MONTHS_BEFORE:
        day = first_sunday_of_october(election)
        return months_before(day, calendar["from_months"]), months_before(day, calendar["to_months"])
    first = date(election - 1, 1, 1) if kind == YEAR_BEFORE else date(election - 3, 1, 1)
    return first, date(election - 1, 12, 31)


def first_sunday_of_october(year: int) -> date:
    """Election day (CF art. 29, II)."""
    return date(year, 10, 7 - date(year, 10, 7).isoweekday() % 7)


def months_before(day: date, months: int) -> date:
    """The same day of an earlier month. October has no later day than the 7th here, which every month has."""
    whole = day.year * 12 + day.month - 1 - months
    return date(whole // 12, whole % 12 + 1, day.day)
