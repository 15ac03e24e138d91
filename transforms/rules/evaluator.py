"""Does a unit meet a requirement? Asked of every unit at once, for every value within its bounds, exactly.

A unit is anything with figures: a candidate area, a município before, a remainder after, a set under search.
Figures come as `<measure>_low|value|high` columns of whole numbers (money in cents; population as `_census` and
`_estimate`). Thresholds are compared by cross-multiplication in 128-bit integers: no float takes part.

A requirement is judged on each *basis* it can be read on (population: census against census, estimate against
estimate; state tax revenue: its variants) and the verdicts are then combined: all alike, or undetermined.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm

import polars as pl

from transforms.columns import ENDS
from transforms.exact import BIG, EXACT, big, decimal, divide_half_even, exact
from transforms.rules.reading import Arm, Requirement
from transforms.rules.reference import POPULATION_BASES, REVENUE_BASES, SCALE, Reference
from transforms.schema import Kind

MET, NOT_MET, UNDETERMINED = "met", "not_met", "undetermined"
UNITS = {"population": "persons", "electorate": "voters", "urban_houses": "houses", "collection": "BRL"}
DISAGREE = {"population": "census and estimate disagree", "tax_revenue": "depends on the definition of revenue"}
RATIO = Kind.RATIO.polars
SHOWN = ("requirement", *ENDS, "threshold", "comparison", "unit", "margin", "status", "by_value", "reason")


@dataclass(frozen=True, slots=True)
class ArmTest:
    """An arm on one basis, as expressions: `figure × factor` against a limit that may itself have bounds.

    `per_person`: what one person more adds to the limit, where the limit is a share of the unit's own population.
    """

    measure: str
    low: pl.Expr
    value: pl.Expr
    high: pl.Expr
    factor: int
    limit_low: pl.Expr
    limit_value: pl.Expr
    limit_high: pl.Expr
    strict: bool
    per_person: int = 0

    def holds(self, figure: pl.Expr, limit: pl.Expr) -> pl.Expr:
        scaled = figure.cast(BIG) * big(self.factor)
        return scaled > limit if self.strict else scaled >= limit

    @property
    def met(self) -> pl.Expr:
        return self.holds(self.low, self.limit_high).fill_null(False)

    @property
    def possible(self) -> pl.Expr:
        return self.holds(self.high, self.limit_low).fill_null(True)

    @property
    def by_value(self) -> pl.Expr:
        return self.holds(self.value, self.limit_value)

    @property
    def margin(self) -> pl.Expr:
        """Value ÷ threshold − 1 in ten-thousandths, rounded once, half to even."""
        limit = pl.when(self.limit_value > 0).then(self.limit_value)
        return divide_half_even(self.value.cast(BIG) * big(self.factor * 10_000), limit) - big(10_000)


def figure_columns(measure: str, basis: str = "") -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Low, value and high of a measure, on a basis of population where one is named."""
    if measure == "population":
        if basis in POPULATION_BASES:
            counted = pl.col(f"population_{basis}")
            return counted, counted, counted
        both = [pl.col(f"population_{each}") for each in POPULATION_BASES]
        return pl.min_horizontal(both), pl.coalesce(both), pl.max_horizontal(both)
    return pl.col(f"{measure}_low"), pl.col(f"{measure}_value"), pl.col(f"{measure}_high")


def bases_of(requirement: Requirement) -> tuple[str, tuple[str, ...]]:
    """What a requirement can be read on in several ways, and the ways; ("", ("",)) where there is only one."""
    if any(arm.comparison == "share_of_state" and arm.of == "tax_revenue" for arm in requirement.arms):
        return "tax_revenue", REVENUE_BASES
    if any(arm.measure == "population" for arm in requirement.arms):
        return "population", POPULATION_BASES
    return "", ("",)


def _test(arm: Arm, reference: Reference, basis: str) -> ArmTest | None:
    """The arm as expressions; None where nothing is known to compare with, or of the measure."""
    if arm.measure not in SCALE:
        return None
    low, value, high = figure_columns(arm.measure, basis)
    if arm.comparison == "share_of_own":
        if arm.of not in SCALE or arm.threshold is None:
            return None
        share = arm.threshold * Fraction(SCALE[arm.measure], SCALE[arm.of])
        own = [each.cast(BIG) * big(share.numerator) for each in figure_columns(arm.of)]
        per_person = share.numerator if arm.of == "population" else 0
        return ArmTest(arm.measure, low, value, high, share.denominator, own[0], own[1], own[2], arm.strict, per_person)
    limits = reference.limits(arm, basis)
    if limits == (None, None, None):
        return None
    scaled = [None if limit is None else limit * SCALE[arm.measure] for limit in limits]
    factor = lcm(*(limit.denominator for limit in scaled if limit is not None))
    least, best, most = (pl.lit(None, dtype=BIG) if limit is None else big(int(limit * factor)) for limit in scaled)
    return ArmTest(arm.measure, low, value, high, factor, least, best, most, arm.strict)


@dataclass(frozen=True, slots=True)
class Basis:
    """A requirement on one basis: its testable arms, whether a unit has the basis, and what is shown of it."""

    name: str
    tests: tuple[ArmTest, ...]
    untestable: bool  # an arm nothing is known for: it might be met, so nothing rules the requirement out
    present: pl.Expr
    threshold: pl.Expr
    comparison: str

    @property
    def status(self) -> pl.Expr:
        met = pl.any_horizontal([test.met for test in self.tests])
        possible = pl.any_horizontal([test.possible for test in self.tests] + [pl.lit(self.untestable)])
        status = pl.when(met).then(pl.lit(MET)).when(~possible).then(pl.lit(NOT_MET)).otherwise(pl.lit(UNDETERMINED))
        return pl.when(self.present).then(status)

    @property
    def by_value(self) -> pl.Expr:
        unknown = [pl.lit(None, dtype=pl.Boolean)] if self.untestable else []
        return pl.any_horizontal([test.by_value for test in self.tests] + unknown)

    @property
    def margin(self) -> pl.Expr:
        """Against the easiest arm."""
        return decimal(pl.max_horizontal([test.margin for test in self.tests]), 4).cast(RATIO)


def _threshold(requirement: Requirement, reference: Reference, basis: str) -> tuple[pl.Expr, str]:
    """The easiest arm's threshold for the requirement's own measure, and its sign. At a tie, >= is the easier."""
    arms = [arm for arm in requirement.arms if arm.measure == requirement.measure]
    known = sorted((value, arm.strict) for arm in arms if (value := reference.limits(arm, basis)[1]) is not None)
    if known:
        threshold, strict = known[0]
        return decimal(pl.lit(round(threshold * 100_000)), 5).cast(EXACT), ">" if strict else ">="
    sign = ">" if arms and arms[0].strict else ">="
    own = next((arm for arm in arms if arm.comparison == "share_of_own" and arm.of in SCALE), None)
    if own is None or own.threshold is None:
        return pl.lit(None, dtype=EXACT), sign
    share = figure_columns(own.of)[1].cast(BIG) * big(own.threshold.numerator * 100_000)
    scaled = divide_half_even(share, big(own.threshold.denominator * SCALE[own.of]))
    return decimal(scaled, 5).cast(EXACT), ">" if own.strict else ">="


def judged_on(requirement: Requirement, reference: Reference) -> tuple[str, list[Basis]]:
    """What the requirement can be read on, and the bases it is judged on, the one to show first.

    A basis on which an arm cannot be tested is not used where another can be tested whole. A unit that has no
    population on any basis is judged on all of them, as unknown.
    """
    what, names = bases_of(requirement)
    tested = {}
    for name in names:
        tests = tuple(test for arm in requirement.arms if (test := _test(arm, reference, name)) is not None)
        lacks_total = what == "tax_revenue" and name not in reference.tax_revenue
        if tests and not lacks_total:
            tested[name] = tests
    most = max(map(len, tested.values()), default=0)
    used = {name: tests for name, tests in tested.items() if len(tests) == most}
    bases = []
    for name, tests in used.items():
        has = [pl.col(f"population_{each}").is_not_null() for each in used] if what == "population" else []
        present = has[list(used).index(name)] | ~pl.any_horizontal(has) if has else pl.lit(True)
        threshold, comparison = _threshold(requirement, reference, name)
        bases.append(Basis(name, tests, most < len(requirement.arms), present, threshold, comparison))
    return what, bases


def _first_present(bases: Sequence[Basis], shown: Callable[[Basis], pl.Expr], dtype: pl.DataType) -> pl.Expr:
    """What is shown of the first basis that a unit has."""
    typed = pl.lit(None, dtype=dtype)
    return pl.coalesce([*(pl.when(basis.present).then(shown(basis)) for basis in bases), typed])


def _reason(
    requirement: Requirement, what: str, bases: Sequence[Basis], status: pl.Expr, reference: Reference
) -> pl.Expr:
    """Why a requirement is undetermined, as far as the figures alone tell; what a decided one rests on; else ""."""
    unmeasured = sorted({arm.measure for arm in requirement.arms if arm.measure not in SCALE})
    unmeasured += sorted({arm.of for arm in requirement.arms if arm.comparison == "share_of_own"} - set(SCALE))
    no_data = f"no data for {', '.join(unmeasured)}"
    if not bases:
        no_total = (reference.no_tax_revenue if what == "tax_revenue" else "") or "no state total to compare with"
        return pl.lit(no_data if unmeasured else no_total)
    nothing = pl.lit(requirement.measure in SCALE)
    if requirement.measure in SCALE:
        nothing = pl.all_horizontal(each.is_null() for each in figure_columns(requirement.measure))
    verdicts = [pl.col(f"_on_{basis.name}") for basis in bases]
    disagree = (pl.min_horizontal(verdicts) != pl.max_horizontal(verdicts)) & pl.lit(bool(what))
    by_another = _met_by_another(requirement, bases)
    bounds = no_data if unmeasured else "the bounds lie on both sides of the threshold"
    return (
        pl.when((status == MET) & by_another.is_not_null())
        .then(by_another)
        .when(status != UNDETERMINED)
        .then(_rests_on(requirement, what, bases))
        .when(nothing)
        .then(pl.lit(f"no figure for {requirement.measure}"))
        .when(disagree)
        .then(pl.lit(DISAGREE.get(what, "")))
        .otherwise(pl.lit(bounds))
    )


def _met_by_another(requirement: Requirement, bases: Sequence[Basis]) -> pl.Expr:
    """Says so where the figure shown meets nothing, and another measure that the law takes in its place does."""

    def told(basis: Basis) -> pl.Expr:
        own = [test.met for test in basis.tests if test.measure == requirement.measure]
        others = sorted({test.measure for test in basis.tests} - {requirement.measure})
        meets = {name: pl.any_horizontal([each.met for each in basis.tests if each.measure == name]) for name in others}
        words = [pl.when(holds).then(pl.lit(name)) for name, holds in meets.items()]
        if not words:
            return pl.lit(None, dtype=pl.String)
        named = pl.concat_str(words, separator=", ", ignore_nulls=True)
        return pl.when(~pl.any_horizontal([*own, pl.lit(value=False)])).then("met by its " + named)

    return _first_present(bases, told, pl.String())


def _rests_on(requirement: Requirement, what: str, bases: Sequence[Basis]) -> pl.Expr:
    """Says so where only one basis of population stands behind a verdict."""
    names = [basis.name for basis in bases] if what == "population" else list(POPULATION_BASES)
    if what != "population" and not any(arm.of == "population" and not what for arm in requirement.arms):
        return pl.lit("")
    has = [pl.col(f"population_{name}").is_not_null() for name in names]
    which = pl.coalesce([pl.when(each).then(pl.lit(name)) for each, name in zip(has, names, strict=True)])
    return pl.when(pl.sum_horizontal(has) == 1).then(pl.format("rests on the {} alone", which)).otherwise(pl.lit(""))


def evaluate(
    requirement: Requirement,
    units: pl.DataFrame,
    reference: Reference,
    keys: Sequence[str],
    only: Sequence[str] = SHOWN,
) -> pl.DataFrame:
    """One row per unit: keys, requirement, low, value, high, threshold, comparison, unit, margin, status, by_value,
    reason; or `only` some of these. `by_value` tells whether the value alone passes (null where there is none).
    """
    verdicts, status, shown = _asked(requirement, reference)
    return units.with_columns(verdicts).with_columns(status).select(*keys, *(shown[name].alias(name) for name in only))


@lru_cache(maxsize=64)  # to write the question takes longer than to ask it of a state's areas
def _asked(requirement: Requirement, reference: Reference) -> tuple[Sequence[pl.Expr], pl.Expr, Mapping[str, pl.Expr]]:
    """The columns of a verdict, in three steps: `_on_<basis>`; `_status`, of these; and all that is shown, by name."""
    what, bases = judged_on(requirement, reference)
    measure, status = requirement.measure, pl.col("_status")
    figures = figure_columns(measure) if measure in SCALE else (pl.lit(None, dtype=pl.Int64),) * 3
    verdicts = [pl.col(f"_on_{basis.name}") for basis in bases] or [pl.lit(None, dtype=pl.String)]
    least, most = pl.min_horizontal(verdicts), pl.max_horizontal(verdicts)
    combined = pl.when(least == most).then(least).otherwise(pl.lit(UNDETERMINED))
    shown = {
        "requirement": pl.lit(requirement.name),
        **{end: exact(figure, SCALE.get(measure, 1)) for end, figure in zip(ENDS, figures, strict=True)},
        "threshold": _first_present(bases, lambda basis: basis.threshold, EXACT),
        "comparison": pl.coalesce(
            _first_present(bases, lambda basis: pl.lit(basis.comparison), pl.String()),
            pl.lit(_threshold(requirement, reference, "")[1]),  # the law's sign, where nothing is known to compare with
        ),
        "unit": pl.lit(UNITS.get(measure), dtype=pl.String),
        "margin": _first_present(bases, lambda basis: basis.margin, RATIO),
        "status": status,
        "by_value": _first_present(bases, lambda basis: basis.by_value, pl.Boolean()),
        "reason": _reason(requirement, what, bases, status, reference),
    }
    return [basis.status.alias(f"_on_{basis.name}") for basis in bases], combined.alias("_status"), shown
