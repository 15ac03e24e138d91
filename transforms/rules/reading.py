"""A rule set as data, and what its TOML may say.

Thresholds are decimal strings read as exact fractions. Nothing outside a TOML file knows a threshold.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any, Literal, get_args

from transforms.columns import MEASURES_OF
from transforms.errors import UsageError
from transforms.rules.procedure import TABLES, check
from transforms.rules.toml_table import TomlTable

Status = Literal["in_force", "superseded", "bill", "vetoed"]
Comparison = Literal["more_than", "at_least", "share_of_state", "share_of_own", "mean_of_least_populous"]
Reading = Literal["loss", "strict"]
REGIONS = ("N", "NE", "SE", "S", "CO")
STATE_TOTALS = ("population", "tax_revenue")
ORIGIN = "origin"  # the name of the last of every area's requirements


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
    by_region: Mapping[str, Fraction] | None = field(default=None, hash=False)
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
class Example:
    """A worked example: values of a requirement's measure with their verdicts, a vote, or days of the calendar."""

    case: str
    source: str
    requirement: str
    region: str
    figures: Mapping[str, Fraction]
    state: Mapping[str, Fraction]
    verdicts: Mapping[str, tuple[Any, ...]]  # met, not_met, undetermined; open, closed: what has that verdict
    votes: Mapping[str, int]
    passes: bool | None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """A law, a bill or a user's own rules. The procedural parts are kept as read, for the register and dossier.

    `unmeasured`: what the law asks for that no public source tells by district, and why; such tests stay open.
    """

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
    unmeasured: Mapping[str, str]
    procedure: Mapping[str, Mapping[str, Any]]
    examples: tuple[Example, ...]

    def requirement(self, name: str) -> Requirement:
        return next(r for r in self.requirements if r.name == name)


def parse(text: str, where: str) -> RuleSet:
    """One rule set from TOML. Raises UsageError naming `where` (the file), the key and what it may be."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"not valid TOML: {error}", where=where, action="correct the file") from None
    reader = TomlTable(data, where)
    reader.only({*_fields(RuleSet), "requirement", "example", *TABLES} - {"requirements", "examples", "procedure"})
    unmeasured = {
        name: reader.inside(data["unmeasured"], "unmeasured").text(name) for name in data.get("unmeasured", {})
    }
    measures = (*MEASURES_OF, *unmeasured)
    requirements = tuple(
        _requirement(reader.inside(entry, "requirement"), measures) for entry in reader.tables("requirement")
    )
    names = [requirement.name for requirement in requirements]
    if len(set(names)) != len(names):
        reader.fail("requirement", f"the same name twice: {names}", "give every requirement its own name")
    used = {name for each in requirements for arm in each.arms for name in (each.measure, arm.measure, arm.of)}
    if unused := sorted(unmeasured.keys() - used):
        reader.fail("unmeasured", f"no requirement asks for {', '.join(unused)}", 'what one names: measure = "NAME"')
    if ORIGIN in names:
        reader.fail("requirement", f"{ORIGIN!r} is the name of what the municípios of origin keep", "another name")
    examples = reader.tables("example") if "example" in data else []
    return RuleSet(
        id=reader.id("id"),
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
        unmeasured=unmeasured,
        procedure=check(data, where),
        examples=tuple(_example(reader.inside(entry, f"example {n}"), names) for n, entry in enumerate(examples, 1)),
    )


_OWN = ", or a name of your own that [unmeasured] gives the reason of"
_ARM = {"measure", "comparison", "threshold", "by_region", "of"}


def _requirement(reader: TomlTable, measures: tuple[str, ...]) -> Requirement:
    several = "any_of" in reader.data
    own = {"any_of"} if several else _ARM
    reader.only({"name", "article", "quote", "measure", "body", "ask", *own})
    measure = reader.choice("measure", measures, _OWN)
    arms = [reader.inside(entry, "any_of") for entry in reader.tables("any_of")] if several else [reader]
    for arm in arms if several else []:
        arm.only(_ARM)
    return Requirement(
        name=reader.text("name"),
        article=reader.text("article"),
        quote=reader.text("quote"),
        measure=measure,
        body=reader.text("body"),
        ask=reader.text("ask"),
        arms=tuple(_arm(arm, measure, measures) for arm in arms),
    )


def _arm(reader: TomlTable, measure: str, measures: tuple[str, ...]) -> Arm:
    comparison: Comparison = reader.choice("comparison", get_args(Comparison))
    own = reader.choice("measure", measures, _OWN) if "measure" in reader.data else measure
    by_region = _by_region(reader, comparison) if "by_region" in reader.data else None
    if by_region and "threshold" in reader.data:
        reader.fail("threshold", "beside by_region", "one of the two")
    threshold = None if by_region else reader.number("threshold", reader.data.get("threshold"))
    if threshold and comparison in ("share_of_state", "share_of_own", "mean_of_least_populous") and threshold > 1:
        reader.fail("threshold", str(threshold), 'a share of at most 1, such as "0.005"')
    of = str(reader.data.get("of", ""))
    allowed = {"share_of_state": STATE_TOTALS, "share_of_own": measures}.get(comparison)
    if allowed is None and of:
        reader.fail("of", f"{of!r}", "none: only shares are of something")
    if allowed is not None and of not in allowed:
        reader.fail("of", f"{of!r}" if of else "missing", ", ".join(allowed))
    return Arm(own, comparison, threshold, by_region, of)


def _by_region(reader: TomlTable, comparison: str) -> dict[str, Fraction]:
    regions = reader.data["by_region"]
    if comparison not in ("more_than", "at_least"):
        reader.fail("by_region", f"with comparison {comparison!r}", "with more_than or at_least only")
    if not isinstance(regions, dict) or set(regions) != set(REGIONS):
        reader.fail("by_region", "must give every region", f"one threshold for each of {', '.join(REGIONS)}")
    return {region: reader.number(f"by_region.{region}", regions[region]) for region in REGIONS}


def _origin(reader: TomlTable, names: list[str]) -> Origin:
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


_VERDICTS = ("met", "not_met", "undetermined", "open", "closed")
_VOTES = ("registered", "voted", "yes", "no")


def _example(reader: TomlTable, names: list[str]) -> Example:
    reader.only({*_fields(Example), *_VERDICTS} - {"verdicts"})
    data, verdicts = reader.data, {name: reader.values(name) for name in _VERDICTS if name in reader.data}
    votes = dict(data.get("votes", {}))
    if not verdicts and not votes:
        reader.fail("met", "missing", f"values of the requirement under {', '.join(_VERDICTS)}; or votes and passes")
    if votes and (set(votes) != set(_VOTES) or not isinstance(data.get("passes"), bool)):
        reader.fail("votes", f"{votes}", f"{', '.join(_VOTES)}, and passes = true or false")
    return Example(
        case=str(data.get("case", "")),
        source=str(data.get("source", "")),
        requirement=reader.choice("requirement", tuple(names)) if {*_VERDICTS[:3]} & verdicts.keys() else "",
        region=reader.choice("region", REGIONS) if "region" in data else REGIONS[0],
        figures=reader.figures("figures"),
        state=reader.figures("state"),
        verdicts=verdicts,
        votes=votes,
        passes=data.get("passes"),
    )


def _fields(declaration: type) -> set[str]:
    return set(declaration.__dataclass_fields__)  # type: ignore[attr-defined]
