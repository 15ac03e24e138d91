"""A rule set proves itself: its worked examples, evaluated as areas are, must come out as it says."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

import polars as pl

from transforms.core.figures import FIGURES
from transforms.rules.evaluator import evaluate
from transforms.rules.procedure import Votes, plebiscite_passes, window
from transforms.rules.reading import Example, RuleSet
from transforms.rules.reference import POPULATION_BASES, REVENUE_BASES, SCALE, Reference, figure_name


def wrong_examples(rule_set: RuleSet) -> list[str]:
    """What comes out otherwise than the examples say; empty where all hold."""
    return [wrong for example in rule_set.examples for wrong in _wrong(rule_set, example)]


def _wrong(rule_set: RuleSet, example: Example) -> Iterator[str]:
    name = example.case or example.requirement or "example"
    if example.votes and plebiscite_passes(rule_set, Votes(**example.votes)) is not example.passes:
        yield f"{name}: passes is not {example.passes}"
    for verdict in ("open", "closed"):
        for day in example.verdicts.get(verdict, ()):
            if window(rule_set, day).is_open is not (verdict == "open"):
                yield f"{name}: {day} is not {verdict}"
    for verdict in ("met", "not_met", "undetermined"):
        for value in example.verdicts.get(verdict, ()):
            found = _verdict(rule_set, example, Fraction(value))
            if found != verdict:
                yield f"{name}: {example.requirement} of {value} is {found}, not {verdict}"


def _verdict(rule_set: RuleSet, example: Example, value: Fraction) -> str:
    requirement = rule_set.requirement(example.requirement)
    unit = _unit({**example.figures, requirement.measure: value})
    return str(evaluate(requirement, unit, _reference(rule_set, example), [], only=("status",)).item())


def _unit(figures: Mapping[str, Fraction]) -> pl.DataFrame:
    """One unit whose figures are known exactly, or not at all."""
    known = {column: figures.get(column.rsplit("_", 1)[0]) for column in FIGURES}
    scaled = {
        column: None if value is None else int(value * SCALE[column.rsplit("_", 1)[0]])
        for column, value in known.items()
    }
    return pl.DataFrame([scaled], schema=dict.fromkeys(FIGURES, pl.Int64))


def _reference(rule_set: RuleSet, example: Example) -> Reference:
    """The example's state: both bases of population and all variants of revenue alike."""
    totals = {name: int(total * (100 if name == "tax_revenue" else 1)) for name, total in example.state.items()}
    means = {
        (figure_name(arm.measure, basis), arm.threshold): (example.state[f"mean_{arm.measure}"],) * 3
        for requirement in rule_set.requirements
        for arm in requirement.arms
        if arm.comparison == "mean_of_least_populous" and arm.threshold and f"mean_{arm.measure}" in example.state
        for basis in POPULATION_BASES
    }
    return Reference(
        region=example.region,
        population=dict.fromkeys(POPULATION_BASES, totals["population"]) if "population" in totals else {},
        tax_revenue=dict.fromkeys(REVENUE_BASES, totals["tax_revenue"]) if "tax_revenue" in totals else {},
        means=means,
    )
