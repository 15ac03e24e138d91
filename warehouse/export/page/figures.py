"""Figures as Brazil writes them, from exact texts: 1.234.567,89. Nothing is rounded here."""

import math
from decimal import Decimal
from typing import Any

DASH, MINUS = "–", "−"  # unknown or a range; less than nothing
REACH = 3  # doublings either side of the threshold that a bar shows


def number(text: str | None) -> str:
    """An exact figure, as its CSV has it, with dots for thousands and a comma for decimals."""
    if not text:
        return DASH
    whole, _, decimals = text.lstrip("-").partition(".")
    grouped = f"{int(whole):,}".replace(",", ".")
    return (MINUS if text.startswith("-") else "") + grouped + ("," + decimals if decimals else "")


def span(low: str | None, high: str | None) -> str:
    """What a figure may be: one number if its bounds are equal."""
    return number(low) if low == high else f"{number(low)} {DASH} {number(high)}"


def known(low: str | None, value: str | None, high: str | None) -> str:
    """A figure and, where it is not sure, what it may be."""
    return number(value) if low == value == high else f"{number(value)} ({span(low, high)})"


def percent(text: str | None) -> str:
    """A share of four decimals as a signed percentage of two."""
    if not text:
        return DASH
    share = Decimal(text) * 100
    return ("+" if share > 0 else "") + number(f"{share:.2f}") + "\u00a0%"


def sign(comparison: str | None) -> str:
    """A comparison before its threshold."""
    return {">": "> ", ">=": "≥ "}.get(comparison or "", "")


def place(figure: str | None, threshold: str) -> float | None:
    """Where a figure stands on a bar of 0 to 100 with the threshold at 50, by doublings; the ends are open."""
    if not figure:
        return None
    ratio = float(figure) / float(threshold)
    return 50 + 50 * max(-1.0, min(1.0, math.log2(ratio) / REACH)) if ratio > 0 else 0.0


def bar(row: dict[str, Any]) -> str:
    """The outline of a bar: from the least to the most a figure can be, with a stroke at its value; "" if unknown."""
    if not row["threshold"] or Decimal(row["threshold"]) <= 0:
        return ""
    low, value, high = (place(row[end], row["threshold"]) for end in ("low", "value", "high"))
    drawn = f"M{low:.0f} 5H{max(high, low + 1):.0f}" if low is not None and high is not None else ""
    return drawn + (f"M{value:.0f} 1V9" if value is not None else "")
