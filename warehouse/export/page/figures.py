"""Figures as Brazil writes them, from exact texts: 1.234.567,89. Nothing is rounded here."""

from decimal import Decimal

DASH, MINUS = "–", "−"  # unknown or a range; less than nothing


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
