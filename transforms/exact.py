"""Exact arithmetic: whole numbers inside (money in cents), decimals for readers. No float takes part."""

import polars as pl

from transforms.schema import Kind

BIG = pl.Int128  # products of figures and thresholds cannot overflow it
EXACT = Kind.EXACT.polars


def big(number: int) -> pl.Expr:
    """A whole number to multiply figures with."""
    return pl.lit(number, dtype=BIG)


def cents(money: pl.Expr) -> pl.Expr:
    """R$ as whole cents."""
    return (money * 100).cast(pl.Int64)


def decimal(whole: pl.Expr, places: int) -> pl.Expr:
    """A whole number of 10^-places as a decimal."""
    scale: int = 10**places
    return whole.cast(pl.Decimal(38, places)) / scale


def exact(whole: pl.Expr, scale: int | pl.Expr) -> pl.Expr:
    """A whole figure in the unit that readers see, which holds `scale` of its own: 100 cents in R$, else 1."""
    return (whole.cast(pl.Decimal(38, 5)) / scale).cast(EXACT)


def divide_half_even(over: pl.Expr, under: pl.Expr) -> pl.Expr:
    """Exact integer quotient rounded half to even; `under` is positive or null."""
    down, rest = over // under, over % under
    twice = rest * big(2)
    up = (twice > under) | ((twice == under) & (down % big(2) == 1))
    return down + up.cast(BIG)
