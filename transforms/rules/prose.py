"""A rule set told in plain words with its articles, for `emancipa rules`; and the list of them."""

from collections.abc import Iterator, Sequence
from datetime import date
from fractions import Fraction
from textwrap import fill

from transforms.rules.evaluator import UNITS
from transforms.rules.examples import wrong_examples
from transforms.rules.procedure import window
from transforms.rules.reading import Arm, Requirement, RuleSet

STATUS = {"in_force": "in force", "superseded": "superseded", "bill": "a bill", "vetoed": "vetoed"}
LISTED = ("id", "title", "status", "jurisdiction", "in_force", "requirements")
_WIDTH = 80


def listing(rule_sets: Sequence[RuleSet]) -> list[dict[str, str]]:
    """One entry a rule set, with the keys of LISTED."""
    return [
        {
            "id": each.id,
            "title": each.title,
            "status": STATUS[each.status],
            "jurisdiction": each.jurisdiction,
            "in_force": _span(each),
            "requirements": ", ".join(requirement.name for requirement in each.requirements),
        }
        for each in rule_sets
    ]


def prose(rule_set: RuleSet, on: date) -> str:
    """Everything the rule set says, its calendar as of a date, and whether its own examples hold."""
    return "\n\n".join(_paragraphs(rule_set, on)) + "\n"


def _paragraphs(rule_set: RuleSet, on: date) -> Iterator[str]:
    standing = f"{STATUS[rule_set.status]}, {rule_set.jurisdiction}, {_span(rule_set)}"
    yield f"{rule_set.title}\n{rule_set.citation}\n{standing}"
    yield "An area can become a município if it meets every one of these:"
    for number, requirement in enumerate(rule_set.requirements, 1):
        yield _requirement(number, requirement, rule_set)
    if rule_set.origin is not None:
        names = ", ".join(rule_set.origin.requirements)
        says = {
            "loss": f"No município of origin may lose any of {names} that it met before.",
            "strict": f"What remains of each município of origin must meet {names}.",
        }
        yield _quoted(f"{says[rule_set.origin.reading]} ({rule_set.origin.article})", rule_set.origin.quote)
    for name, table in rule_set.procedure.items():
        told_apart = {"article", "quote"}
        facts = ", ".join(f"{_plain(key)} {_plain(table[key])}" for key in table if key not in told_apart)
        article = f" ({table['article']})" if "article" in table else ""
        yield _quoted(f"{name.capitalize()}{article}: {facts}", str(table.get("quote", "")))
    yield fill(f"Window as of {on}: {window(rule_set, on).reason}.", _WIDTH)
    wrong = wrong_examples(rule_set)
    held = f"All {len(rule_set.examples)} worked examples hold." if rule_set.examples else "It has no worked examples."
    yield "Worked examples that do not hold:\n" + "\n".join(f"  {each}" for each in wrong) if wrong else held
    yield fill(rule_set.notice, _WIDTH)


def _span(rule_set: RuleSet) -> str:
    if rule_set.in_force_from is None:
        return "never in force"
    unknown = " until superseded (end unknown)" if rule_set.status == "superseded" else ""
    until = f" until {rule_set.in_force_until}" if rule_set.in_force_until else unknown
    return f"in force from {rule_set.in_force_from}{until}"


def _requirement(number: int, requirement: Requirement, rule_set: RuleSet) -> str:
    tests = " or ".join(told(arm) for arm in requirement.arms)
    lines = f"{number}. {requirement.name} ({requirement.article}): {tests}. Certified by: {requirement.body}."
    unmeasured = dict.fromkeys(arm.measure for arm in requirement.arms if arm.measure in rule_set.unmeasured)
    for measure in unmeasured:
        lines += f" No data for {measure} ({rule_set.unmeasured[measure]}): what hangs on it stays undetermined."
    return _quoted(lines, requirement.quote)


def told(arm: Arm) -> str:
    """One comparison in words."""
    unit = UNITS.get(arm.measure, "")
    named = f"{arm.measure.replace('_', ' ')} "
    if arm.by_region is not None:
        limits = "; ".join(f"{region} {number(limit)}" for region, limit in arm.by_region.items())
        return f"{named}{_sign(arm)} (by region) {limits} {unit}".rstrip()
    share = number((arm.threshold or Fraction(0)) * 100)
    if arm.comparison == "mean_of_least_populous":
        return f"{named}more than the mean of the {share} % least populous municípios of the state"
    if arm.comparison in ("share_of_state", "share_of_own"):
        whose = "the state's" if arm.comparison == "share_of_state" else "its own"
        return f"{named}at least {share} % of {whose} {arm.of.replace('_', ' ')}"
    return f"{named}{_sign(arm)} {number(arm.threshold or Fraction(0))} {unit}".rstrip()


def _sign(arm: Arm) -> str:
    return "more than" if arm.strict else "at least"


def number(value: Fraction) -> str:
    """As people write it: thousands apart, no needless zeros."""
    whole, part = divmod(value, 1)
    digits = f"{round(part * 10**12):012d}".rstrip("0")
    return f"{int(whole):,}" + (f".{digits}" if digits else "")


def _plain(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value).replace("_", " ")


def _quoted(text: str, quote: str) -> str:
    lines = fill(text, _WIDTH, subsequent_indent="   ")
    return lines + (f"\n{fill(f'“{quote}”', _WIDTH, initial_indent='   ', subsequent_indent='   ')}" if quote else "")
