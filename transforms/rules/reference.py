"""What units are compared with: the totals of the state, its region, and the means of its least populous municípios."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

import polars as pl

from transforms.columns import ENDS, MEASURES_OF
from transforms.rules.reading import Arm, RuleSet

POPULATION_BASES = ("estimate", "census")  # the first at hand is the one shown
REVENUE_BASES = ("gross", "without_irrf", "net")
SCALE = {"population": 1, "electorate": 1, "urban_houses": 1, "collection": 100}  # whole figures in a unit
Limits = tuple[Fraction | None, Fraction | None, Fraction | None]


@dataclass(frozen=True, slots=True)
class Reference:
    """Totals by basis (money in cents). `means`: by figure (`population_census`, `electorate` …) and share of the
    municípios, the low, value and high of the mean over the least populous. What is not at hand is absent;
    `no_tax_revenue` says why tax revenue is.
    """

    region: str
    population: Mapping[str, int] = field(default_factory=dict, hash=False)
    tax_revenue: Mapping[str, int] = field(default_factory=dict, hash=False)
    means: Mapping[tuple[str, Fraction], Limits] = field(default_factory=dict, hash=False)
    no_tax_revenue: str = ""

    def limits(self, arm: Arm, basis: str) -> Limits:
        """An arm's threshold in the measure's own unit (R$ for money) where it does not depend on the unit judged.

        Low, value and high differ only for a mean of figures that have bounds. None where nothing is at hand.
        """
        if arm.by_region is not None:
            return (arm.by_region[self.region],) * 3
        if arm.threshold is None or arm.comparison == "share_of_own":
            return (None,) * 3
        if arm.comparison == "share_of_state":
            totals = self.population if arm.of == "population" else self.tax_revenue
            total, scale = totals.get(basis), 100 if arm.of == "tax_revenue" else 1
            return (None if total is None else arm.threshold * total / scale,) * 3
        if arm.comparison == "mean_of_least_populous":
            return self.means.get((figure_name(arm.measure, basis), arm.threshold), (None,) * 3)
        return (arm.threshold,) * 3


def figure_name(measure: str, basis: str) -> str:
    """`population_<basis>`, or the measure itself."""
    return f"{measure}_{basis}" if measure == "population" else measure


def reference(
    region: str,
    population: Mapping[str, int | None],
    state_revenue: pl.DataFrame,
    municipalities: pl.DataFrame,
    rule_sets: Iterable[RuleSet],
    no_tax_revenue: str = "",
) -> Reference:
    """Of a state: `population` by basis, core.state_revenue, and FIGURES by município, for the means asked for."""
    revenue = state_revenue.select("variant", "value").iter_rows()
    asked = {
        (figure_name(arm.measure, basis), arm.threshold)
        for rule_set in rule_sets
        for requirement in rule_set.requirements
        for arm in requirement.arms
        if arm.comparison == "mean_of_least_populous" and arm.threshold is not None and arm.measure in SCALE
        for basis in POPULATION_BASES
    }
    return Reference(
        region=region,
        population={basis: total for basis, total in population.items() if total is not None},
        tax_revenue={variant: int(value * 100) for variant, value in revenue},
        means={(figure, share): _mean(figure, share, municipalities) for figure, share in asked},
        no_tax_revenue=no_tax_revenue,
    )


def _mean(figure: str, share: Fraction, municipalities: pl.DataFrame) -> Limits:
    """Over the least populous share of the municípios, rounded up to whole ones; None where one has no figure."""
    least = municipalities.sort(pl.coalesce(MEASURES_OF["population"]), "municipality_code", nulls_last=True).head(
        ceil(share * municipalities.height)
    )
    names = [figure] * 3 if figure.startswith("population") else [f"{figure}_{end}" for end in ENDS]
    means = [
        None
        if least.is_empty() or least[name].null_count()
        else Fraction(int(least[name].sum()), least.height * SCALE.get(figure, 1))
        for name in names
    ]
    return means[0], means[1], means[2]
