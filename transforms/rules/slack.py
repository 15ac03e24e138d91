"""How far a figure may move before a requirement's verdict does: exactly, in whole units (cents for money).

Every test is monotone in its own figure, so distances are read off the threshold; nothing is searched.
"""

from collections.abc import Sequence

import polars as pl

from transforms.exact import BIG, big
from transforms.rules.evaluator import ArmTest, Basis, figure_columns, judged_on
from transforms.rules.reading import Requirement
from transforms.rules.reference import Reference

HARMS, HELPS = "harms", "helps"


def slack(requirement: Requirement, units: pl.DataFrame, reference: Reference, keys: Sequence[str]) -> pl.DataFrame:
    """One row per unit and move of a figure: keys, requirement, measure, direction, effect, base, leaves, settles.

    `effect`: whether the move harms or helps. `leaves`: the smallest step after which the requirement is no longer
    surely met (harms), or no longer surely failed (helps); `settles`: after which it is surely the other. Null where
    none does. `base`: the figure now. Where a limit is a share of the unit's population, that is a figure too.
    """
    _, bases = judged_on(requirement, reference)
    tests = [test for basis in bases for test in basis.tests]
    moves = [
        (measure, direction, effect)
        for measure in dict.fromkeys(test.measure for test in tests)
        for direction, effect in (("decrease", HARMS), ("increase", HELPS))
    ]
    if any(test.per_person for test in tests):
        moves += [("population", "increase", HARMS), ("population", "decrease", HELPS)]
    if not moves:
        return pl.DataFrame()
    return pl.concat(
        units.select(
            *keys,
            pl.lit(requirement.name).alias("requirement"),
            pl.lit(measure).alias("measure"),
            pl.lit(direction).alias("direction"),
            pl.lit(effect).alias("effect"),
            figure_columns(measure)[0 if direction == "decrease" else 2].cast(pl.Int64).alias("base"),
            _over_bases(bases, measure, effect, settles=False).cast(pl.Int64).alias("leaves"),
            _over_bases(bases, measure, effect, settles=True).cast(pl.Int64).alias("settles"),
        )
        for measure, direction, effect in moves
    )


def _over_bases(bases: Sequence[Basis], measure: str, effect: str, *, settles: bool) -> pl.Expr:
    """To leave a verdict, one basis is enough to change; to settle the other, all that the unit has must."""
    steps = [(basis.present, _over_arms(basis, measure, effect, settles=settles)) for basis in bases]
    present = [pl.when(has).then(step) for has, step in steps]
    if not settles:
        return pl.min_horizontal(present)
    never = pl.any_horizontal([has & step.is_null() for has, step in steps])
    return pl.when(~never).then(pl.max_horizontal(present))


def _over_arms(basis: Basis, measure: str, effect: str, *, settles: bool) -> pl.Expr:
    """One arm met is enough; all must fail, also those that the move does not touch."""
    is_moved = [measure == test.measure or bool(measure == "population" and test.per_person) for test in basis.tests]
    moved = [test for test, own in zip(basis.tests, is_moved, strict=True) if own]
    others = [test for test, own in zip(basis.tests, is_moved, strict=True) if not own]
    if not moved:
        return pl.lit(None, dtype=BIG)
    steps = [_distance(test, measure, effect, settles=settles).clip(lower_bound=0) for test in moved]
    if effect == HELPS:
        return pl.min_horizontal(steps)
    hold = [test.possible if settles else test.met for test in others] + [pl.lit(settles and basis.untestable)]
    known = pl.all_horizontal([step.is_not_null() for step in steps])
    return pl.when(known & ~pl.any_horizontal(hold)).then(pl.max_horizontal(steps))


def _distance(test: ArmTest, measure: str, effect: str, *, settles: bool) -> pl.Expr:
    """The smallest whole step after which the test passes (helps) or fails (harms), from the end that decides."""
    from_high = settles == (effect == HARMS)
    figure, limit = (test.high, test.limit_low) if from_high else (test.low, test.limit_high)
    scaled = figure.cast(BIG) * big(test.factor)
    unit = big(test.factor if measure == test.measure else test.per_person)
    if effect == HARMS:  # fails below the limit, or at it where the test is strict
        above = scaled - limit
        return _divide_up(above, unit) if test.strict else above // unit + big(1)
    below = limit - scaled
    return below // unit + big(1) if test.strict else _divide_up(below, unit)


def _divide_up(over: pl.Expr, under: pl.Expr) -> pl.Expr:
    return (over + under - big(1)) // under
