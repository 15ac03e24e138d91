"""A rule set as data: what its TOML may say, and errors that name the file, the key and the allowed values.

Thresholds are decimal strings read as exact fractions. Nothing outside a TOML file knows a threshold.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, Literal, get_args

from transforms.errors import UsageError

Status = Literal["in_force", "superseded", "bill", "vetoed"]
Comparison = Literal["more_than", "at_least", "share_of_state", "share_of_own", "mean_of_least_populous"]
Reading = Literal["loss", "strict"]
REGIONS = ("N", "NE", "SE", "S", "CO")
STATE_TOTALS = ("population", "tax_revenue")


@dataclass(frozen=True, slots=True)
class Arm:
    """One comparison of one measure. A requirement is met when any of its arms is.

    `threshold` is absolute (more_than, at_least; `by_region` gives one a region), a share (share_of_state and
    share_of_own, of the total or measure named by `of`), or the share of a state's least populous municípios
    whose mean of the measure must be passed (mean_of_least_populous).
    """

    measure: str
    comparison: Comparison
    threshold: Fraction | None
    by_region: Mapping[str, Fraction] | None = None
    of: str = ""

    @property
    def strict(self) -> bool:
        return self.comparison in ("more_than", "mean_of_least_populous")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One numbered requirement of a law, with its own words and the body competent to certify it."""

    name: str
    article: str
    quote: str
    measure: str
    body: str
    ask: str
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """What the município of origin may not lose. Reading `loss`: only a loss blocks; `strict`: it must meet all."""

    article: str
    quote: str
    requirements: tuple[str, ...]
    reading: Reading


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A law, a bill or a user's own rules. The procedural parts are kept as read, for the register and dossier."""

    id: str
    title: str
    citation: str
    status: Status
    enacted: date
    in_force_from: date | None
    in_force_until: date | None
    jurisdiction: str
    notice: str
    requirements: tuple[Requirement, ...]
    origin: Origin | None
    procedure: Mapping[str, Mapping[str, Any]]

    def requirement(self, name: str) -> Requirement:
        return next(r for r in self.requirements if r.name == name)


PROCEDURE = ("representation", "plebiscite", "calendar", "fusion", "exemptions", "name", "example")


def parse(text: str, where: str) -> RuleSet:
    """One rule set from TOML. Raises UsageError naming `where` (the file), the key and what it may be."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"not valid TOML: {error}", where=where, action="correct the file") from None
    reader = _Reader(data, where)
    requirements = tuple(_requirement(reader.inside(entry, "requirement")) for entry in reader.tables("requirement"))
    names = [requirement.name for requirement in requirements]
    if len(set(names)) != len(names):
        reader.fail("requirement", f"the same name twice: {names}", "give every requirement its own name")
    rule_set = RuleSet(
        id=reader.text("id"),
        title=reader.text("title"),
        citation=reader.text("citation"),
        status=reader.choice("status", get_args(Status)),
        enacted=reader.day("enacted", required=True) or date.min,
        in_force_from=reader.day("in_force_from"),
        in_force_until=reader.day("in_force_until"),
        jurisdiction=reader.text("jurisdiction"),
        notice=reader.text("notice"),
        requirements=requirements,
        origin=_origin(reader.inside(data["origin"], "origin"), names) if "origin" in data else None,
        procedure={key: data[key] for key in PROCEDURE if key in data},
    )
    reader.only({*_fields(RuleSet), "requirement", "origin", *PROCEDURE} - {"requirements", "procedure"})
    return rule_set


def _requirement(reader: "_Reader") -> Requirement:
    measure = reader.text("measure")
    several = "any_of" in reader.data
    arms = [reader.inside(entry, "any_of") for entry in reader.tables("any_of")] if several else [reader]
    reader.only({"name", "article", "quote", "measure", "body", "ask", "any_of", *_ARM})
    return Requirement(
        name=reader.text("name"),
        article=reader.text("article"),
        quote=reader.text("quote"),
        measure=measure,
        body=reader.text("body"),
        ask=reader.text("ask"),
        arms=tuple(_arm(arm, measure) for arm in arms),
    )


_ARM = {"measure", "comparison", "threshold", "by_region", "of"}


def _arm(reader: "_Reader", measure: str) -> Arm:
    comparison: Comparison = reader.choice("comparison", get_args(Comparison))
    regions = reader.data.get("by_region")
    by_region = None
    if regions is not None:
        if not isinstance(regions, dict) or set(regions) != set(REGIONS):
            reader.fail("by_region", "must give every region", f"one threshold for each of {', '.join(REGIONS)}")
        by_region = {region: reader.number(f"by_region.{region}", regions[region]) for region in REGIONS}
    threshold = None if by_region else reader.number("threshold", reader.data.get("threshold"))
    of = str(reader.data.get("of", ""))
    if comparison == "share_of_state" and of not in STATE_TOTALS:
        reader.fail("of", f"{of!r}", f"one of {', '.join(STATE_TOTALS)}")
    if comparison == "share_of_own" and not of:
        reader.fail("of", "missing", "the measure the share is taken of, for instance population")
    if threshold is not None and threshold <= 0:
        reader.fail("threshold", str(threshold), "a number above zero")
    return Arm(str(reader.data.get("measure", measure)), comparison, threshold, by_region, of)


def _origin(reader: "_Reader", names: list[str]) -> Origin:
    reader.only(_fields(Origin))
    requirements = reader.data.get("requirements", [])
    if not requirements or not set(requirements) <= set(names):
        reader.fail("requirements", f"{requirements}", f"any of {', '.join(names)}")
    return Origin(
        article=reader.text("article"),
        quote=reader.text("quote"),
        requirements=tuple(requirements),
        reading=reader.choice("reading", get_args(Reading)),
    )


def _fields(declaration: type) -> set[str]:
    return set(declaration.__dataclass_fields__)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class _Reader:
    """A TOML table with its place in the file, so that every complaint can say where."""

    data: Mapping[str, Any]
    where: str

    def inside(self, data: Mapping[str, Any], key: str) -> "_Reader":
        name = data.get("name")
        place = f"{key} {name!r}" if name else key
        return _Reader(data, f"{self.where}, {place}" if place else self.where)

    def fail(self, key: str, what: str, allowed: str) -> None:
        raise UsageError(f"key {key!r}: {what}", where=self.where, action=f"allowed: {allowed}")

    def only(self, allowed: set[str]) -> None:
        for key in sorted(set(self.data) - allowed):
            self.fail(key, "unknown", ", ".join(sorted(allowed)))

    def text(self, key: str) -> str:
        found = self.data.get(key)
        if not isinstance(found, str) or not found.strip():
            self.fail(key, "missing" if found is None else f"{found!r}", "a text")
        return str(found)

    def choice(self, key: str, allowed: tuple[Any, ...]) -> Any:
        found = self.data.get(key)
        if found not in allowed:
            self.fail(key, "missing" if found is None else f"{found!r}", ", ".join(allowed))
        return found

    def day(self, key: str, *, required: bool = False) -> date | None:
        found = self.data.get(key)
        if (found is None and required) or not (found is None or isinstance(found, date)):
            self.fail(key, "missing" if found is None else f"{found!r}", "a date such as 1967-11-09")
        return found

    def number(self, key: str, found: Any) -> Fraction:
        try:
            if not isinstance(found, str):
                raise ValueError
            return Fraction(found)
        except ValueError:
            self.fail(key, "missing" if found is None else f"{found!r}", 'a decimal text such as "0.005"')
            raise

    def tables(self, key: str) -> list[Mapping[str, Any]]:
        found = self.data.get(key)
        if not isinstance(found, list) or not found or not all(isinstance(entry, dict) for entry in found):
            self.fail(key, "missing or not a list of tables", f"[[{key}]] entries")
        return list(found or [])
