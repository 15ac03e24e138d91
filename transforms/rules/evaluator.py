"""Does a unit meet a requirement? Asked of every unit at once, for every value within its bounds, exactly.

A unit is anything with figures: a candidate area, a município before, a remainder after, a set under search.
Figures come as `<measure>_low|value|high` columns of whole numbers (money in cents; population as `_census` and
`_estimate`). Thresholds are compared by cross-multiplication in 128-bit integers: no float takes part.

A requirement is judged on each *basis* it can be read on (population: census against census, estimate against
estimate; state tax revenue: its variants) and the verdicts are then combined: all alike, or undetermined.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import polars as pl

from transforms.rules.reading import Arm, Requirement

MET, NOT_MET, UNDETERMINED = "met", "not_met", "undetermined"
POPULATION_BASES = ("estimate", "census")  # the first at hand is the one shown
REVENUE_BASES = ("gross", "without_irrf", "net")
SCALE = {"population": 1, "electorate": 1, "urban_houses": 1, "collection": 100}  # a unit in a unit's figures
UNITS = {"population": "persons", "electorate": "voters", "urban_houses": "houses", "collection": "BRL"}
DISAGREE = {"population": "census and estimate disagree", "tax_revenue": "depends on the definition of revenue"}
EXACT = pl.Decimal(24, 5)
_BIG = pl.Int128


@dataclass(frozen=True, slots=True)
class Reference:
    """What units are compared with: the state's totals by basis (money in cents), its region, and the mean of each
    measure over its least populous municípios, by share (see Arm). A basis that is not at hand is absent.
    """

    region: str
    population: Mapping[str, int] = field(default_factory=dict)
    tax_revenue: Mapping[str, int] = field(default_factory=dict)
    means: Mapping[tuple[str, Fraction], Fraction] = field(default_factory=dict)

    def total(self, of: str, basis: str) -> int | None:
        return (self.population if of == "population" else self.tax_revenue).get(basis)


@dataclass(frozen=True, slots=True)
class _Test:
    """An arm on one basis, as expressions: `figure × factor` against a limit that may itself have bounds."""

    low: pl.Expr
    value: pl.Expr
    high: pl.Expr
    factor: int
    limit_low: pl.Expr
    limit_value: pl.Expr
    limit_high: pl.Expr
    strict: bool

    def holds(self, figure: pl.Expr, limit: pl.Expr) -> pl.Expr:
        scaled = figure.cast(_BIG) * pl.lit(self.factor, dtype=_BIG)
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


def figure_columns(measure: str, basis: str = "") -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Low, value and high of a measure, on a basis of population where one is named."""
    if measure == "population":
        if basis in POPULATION_BASES:
            exact = pl.col(f"population_{basis}")
            return exact, exact, exact
        both = [pl.col(f"population_{each}") for each in POPULATION_BASES]
        return pl.min_horizontal(both), pl.coalesce(both), pl.max_horizontal(both)
    return pl.col(f"{measure}_low"), pl.col(f"{measure}_value"), pl.col(f"{measure}_high")


def absolute_threshold(arm: Arm, reference: Reference, basis: str) -> Fraction | None:
    """An arm's threshold in the measure's own unit (R$ for money), where it does not depend on the unit judged.

    None where the state's total, or mean, is not at hand.
    """
    if arm.by_region is not None:
        return arm.by_region[reference.region]
    if arm.threshold is None:
        return None
    if arm.comparison == "share_of_state":
        total = reference.total(arm.of, basis)
        scale = 100 if arm.of == "tax_revenue" else 1
        return None if total is None else arm.threshold * total / scale
    if arm.comparison == "mean_of_least_populous":
        return reference.means.get((arm.measure, arm.threshold))
    return arm.threshold


def bases_of(requirement: Requirement) -> tuple[str, tuple[str, ...]]:
    """What a requirement can be read on in several ways, and the ways; ("", ("",)) where there is only one."""
    if any(arm.comparison == "share_of_state" and arm.of == "tax_revenue" for arm in requirement.arms):
        return "tax_revenue", REVENUE_BASES
    if any(arm.measure == "population" for arm in requirement.arms):
        return "population", POPULATION_BASES
    return "", ("",)


def _test(arm: Arm, reference: Reference, basis: str) -> _Test | None:
    """The arm as expressions; None where nothing is known to compare with, or of the measure."""
    if arm.measure not in SCALE:
        return None
    low, value, high = figure_columns(arm.measure, basis)
    if arm.comparison == "share_of_own" and arm.threshold is not None:
        own = figure_columns(arm.of)
        limits = [each.cast(_BIG) * pl.lit(arm.threshold.numerator, dtype=_BIG) for each in own]
        return _Test(low, value, high, arm.threshold.denominator, limits[0], limits[1], limits[2], arm.strict)
    threshold = absolute_threshold(arm, reference, basis)
    if threshold is None:
        return None
    scaled = threshold * SCALE[arm.measure]
    limit = pl.lit(scaled.numerator, dtype=_BIG)
    return _Test(low, value, high, scaled.denominator, limit, limit, limit, arm.strict)


def _status(met: pl.Expr, possible: pl.Expr) -> pl.Expr:
    return pl.when(met).then(pl.lit(MET)).when(~possible).then(pl.lit(NOT_MET)).otherwise(pl.lit(UNDETERMINED))


@dataclass(frozen=True, slots=True)
class _Basis:
    """A requirement on one basis: its testable arms, whether a unit has the basis, and what is shown of it."""

    name: str
    tests: tuple[_Test, ...]
    untestable: bool  # an arm nothing is known for: it might be met, so nothing rules the requirement out
    present: pl.Expr
    threshold: pl.Expr
    comparison: str

    @property
    def status(self) -> pl.Expr:
        met = pl.any_horizontal([test.met for test in self.tests])
        possible = pl.any_horizontal([test.possible for test in self.tests] + [pl.lit(self.untestable)])
        return pl.when(self.present).then(_status(met, possible))

    @property
    def by_value(self) -> pl.Expr:
        return pl.any_horizontal([test.by_value for test in self.tests])

    @property
    def margin(self) -> pl.Expr:
        """Value ÷ threshold − 1 against the easiest arm, rounded once, half to even, at 4 decimals."""
        return _decimal(pl.max_horizontal([_ten_thousandths(test) for test in self.tests]), 4).cast(pl.Decimal(18, 4))


def _ten_thousandths(test: _Test) -> pl.Expr:
    over = test.value.cast(_BIG) * pl.lit(test.factor * 10_000, dtype=_BIG)
    limit = pl.when(test.limit_value > 0).then(test.limit_value)
    return _divide_half_even(over, limit) - pl.lit(10_000, dtype=_BIG)


def _divide_half_even(over: pl.Expr, under: pl.Expr) -> pl.Expr:
    """Exact integer quotient rounded half to even; `under` is positive or null."""
    down, rest = over // under, over % under
    twice = rest * pl.lit(2, dtype=_BIG)
    up = (twice > under) | ((twice == under) & (down % pl.lit(2, dtype=_BIG) == 1))
    return down + up.cast(_BIG)


def _decimal(whole: pl.Expr, places: int) -> pl.Expr:
    """A whole number of 10^-places as a decimal."""
    scale: int = 10**places
    return whole.cast(pl.Decimal(38, places)) / scale


def _threshold(requirement: Requirement, reference: Reference, basis: str) -> tuple[pl.Expr, str]:
    """The easiest arm's threshold for the requirement's own measure, and its sign. At a tie, >= is the easier."""
    arms = [arm for arm in requirement.arms if arm.measure == requirement.measure]
    fixed = [
        (absolute_threshold(arm, reference, basis), arm.strict) for arm in arms if arm.comparison != "share_of_own"
    ]
    known = sorted((threshold, strict) for threshold, strict in fixed if threshold is not None)
    if known:
        threshold, strict = known[0]
        return _decimal(pl.lit(round(threshold * 100_000)), 5).cast(EXACT), ">" if strict else ">="
    own = next((arm for arm in arms if arm.comparison == "share_of_own"), None)
    if own is None or own.threshold is None or own.of not in SCALE:
        return pl.lit(None, dtype=EXACT), ">" if arms and arms[0].strict else ">="
    value = figure_columns(own.of)[1].cast(_BIG) * pl.lit(own.threshold.numerator * 100_000, dtype=_BIG)
    scaled = _divide_half_even(value, pl.lit(own.threshold.denominator * SCALE[own.of], dtype=_BIG))
    return _decimal(scaled, 5).cast(EXACT), ">="


def _bases(requirement: Requirement, what: str, names: Sequence[str], reference: Reference) -> list[_Basis]:
    """The bases on which anything can be tested, in order of preference for showing."""
    found = []
    for name in names:
        if what == "tax_revenue" and reference.total("tax_revenue", name) is None:
            continue
        tests = tuple(test for arm in requirement.arms if (test := _test(arm, reference, name)) is not None)
        if tests:
            present = pl.col(f"population_{name}").is_not_null() if what == "population" else pl.lit(True)
            threshold, comparison = _threshold(requirement, reference, name)
            untestable = len(tests) < len(requirement.arms)
            found.append(_Basis(name, tests, untestable, present, threshold, comparison))
    return found


def _first_present(bases: Sequence[_Basis], shown: Callable[[_Basis], pl.Expr], dtype: pl.DataType) -> pl.Expr:
    """What is shown of the first basis that a unit has."""
    typed = pl.lit(None, dtype=dtype)
    return pl.coalesce([*(pl.when(basis.present).then(shown(basis)) for basis in bases), typed])


def _reason(requirement: Requirement, what: str, bases: Sequence[_Basis], status: pl.Expr) -> pl.Expr:
    """Why a requirement is undetermined, as far as the figures alone tell; what a decided one rests on; else ""."""
    if requirement.measure not in SCALE:
        return pl.lit(f"no data for {requirement.measure}")
    if not bases:
        return pl.lit("no state total to compare with")
    nothing = pl.all_horizontal(each.is_null() for each in figure_columns(requirement.measure))
    verdicts = [pl.col(f"_on_{basis.name}") for basis in bases]
    disagree = (pl.min_horizontal(verdicts) != pl.max_horizontal(verdicts)) & pl.lit(bool(what))
    alone = pl.lit("")
    if what == "population":
        lone = pl.sum_horizontal(pl.col(f"population_{name}").is_not_null() for name in POPULATION_BASES) == 1
        which = pl.when(pl.col("population_census").is_null()).then(pl.lit("estimate")).otherwise(pl.lit("census"))
        alone = pl.when(lone).then(pl.format("rests on the {} alone", which)).otherwise(pl.lit(""))
    return (
        pl.when(status != UNDETERMINED)
        .then(alone)
        .when(nothing)
        .then(pl.lit(f"no figure for {requirement.measure}"))
        .when(disagree)
        .then(pl.lit(DISAGREE.get(what, "")))
        .otherwise(pl.lit("the bounds lie on both sides of the threshold"))
    )


def evaluate(requirement: Requirement, units: pl.DataFrame, reference: Reference, keys: Sequence[str]) -> pl.DataFrame:
    """One row per unit: keys, requirement, low, value, high, threshold, comparison, unit, margin, status, by_value,
    reason. `by_value` tells whether the value alone passes (null where there is none).
    """
    what, names = bases_of(requirement)
    bases = _bases(requirement, what, names, reference)
    known = requirement.measure in SCALE
    figures = figure_columns(requirement.measure) if known else (pl.lit(None, dtype=pl.Int64),) * 3
    scale = SCALE.get(requirement.measure, 1)
    verdicts = [pl.col(f"_on_{basis.name}") for basis in bases] or [pl.lit(None, dtype=pl.String)]
    least, most = pl.min_horizontal(verdicts), pl.max_horizontal(verdicts)
    status = pl.when(least == most).then(least).otherwise(pl.lit(UNDETERMINED))
    judged = units.with_columns(basis.status.alias(f"_on_{basis.name}") for basis in bases)
    return judged.with_columns(status.alias("_status")).select(
        *keys,
        pl.lit(requirement.name).alias("requirement"),
        *(
            (figure.cast(pl.Decimal(38, 5)) / scale).cast(EXACT).alias(name)
            for figure, name in zip(figures, ("low", "value", "high"), strict=True)
        ),
        _first_present(bases, lambda basis: basis.threshold, EXACT).alias("threshold"),
        _first_present(bases, lambda basis: pl.lit(basis.comparison), pl.String()).alias("comparison"),
        pl.lit(UNITS.get(requirement.measure), dtype=pl.String).alias("unit"),
        _first_present(bases, lambda basis: basis.margin, pl.Decimal(18, 4)).alias("margin"),
        pl.col("_status").alias("status"),
        _first_present(bases, lambda basis: basis.by_value, pl.Boolean()).alias("by_value"),
        _reason(requirement, what, bases, pl.col("_status")).alias("reason"),
    )
