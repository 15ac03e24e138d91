"""A table of a rule set's TOML, read key by key: every complaint says the file, the key and the allowed values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, NoReturn

from transforms.errors import UsageError

FINEST = 10**12  # thresholds have at most twelve decimals, so that products with figures stay exact in 128 bits


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A TOML table with its place in the file, so that every complaint can say where."""

    data: Mapping[str, Any]
    where: str

    def inside(self, data: Mapping[str, Any], key: str) -> "TomlTable":
        """A table inside this one, told by its key and, if it has one, its name."""
        name = data.get("name")
        return TomlTable(data, f"{self.where}, {key} {name!r}" if name else f"{self.where}, {key}")

    def fail(self, key: str, what: str, allowed: str) -> NoReturn:
        raise UsageError(f"key {key!r}: {what}", where=self.where, action=f"allowed: {allowed}")

    def only(self, allowed: set[str]) -> None:
        for key in sorted(set(self.data) - allowed):
            self.fail(key, "unknown", ", ".join(sorted(allowed)))

    def text(self, key: str) -> str:
        found = self.data.get(key)
        if not isinstance(found, str) or not found.strip():
            self.fail(key, "missing" if found is None else f"{found!r}", "a text")
        return found

    def id(self, key: str) -> str:
        """What file names, columns and joins can carry."""
        found = self.text(key)
        if not re.fullmatch("[a-z0-9_]+", found):
            self.fail(key, f"{found!r}", "small letters, digits and _, such as my_rules_2026")
        return found

    def choice(self, key: str, allowed: tuple[Any, ...], also: str = "") -> Any:
        found = self.data.get(key)
        if not isinstance(found, str) or found not in allowed:
            self.fail(key, "missing" if found is None else f"{found!r}", ", ".join(allowed) + also)
        return found

    def day(self, key: str, *, required: bool = False) -> date | None:
        found = self.data.get(key)
        if (found is None and required) or not (found is None or isinstance(found, date)):
            self.fail(key, "missing" if found is None else f"{found!r}", "a date such as 1967-11-09")
        return found

    def number(self, key: str, found: Any) -> Fraction:
        """Above zero, of a decimal text (not a number: TOML's are floats, and 0.005 is none of them exactly)."""
        try:
            number = Fraction(found if isinstance(found, str) else "")
        except (ValueError, ZeroDivisionError):
            number = Fraction(0)
        if number <= 0 or (number * FINEST).denominator != 1:
            what = "missing" if found is None else f"{found!r}"
            self.fail(key, what, 'a decimal text above zero, of at most 12 decimals, such as "0.005"')
        return number

    def values(self, key: str) -> tuple[Any, ...]:
        """A list of days (open, closed), or of whole numbers and decimal texts."""
        found, days = self.data[key], key in ("open", "closed")
        if not isinstance(found, list) or not all(isinstance(e, date) if days else _is_number(e) for e in found):
            self.fail(key, f"{found!r}", "a list of days" if days else "a list of whole numbers and decimal texts")
        return tuple(found)

    def figures(self, key: str) -> dict[str, Fraction]:
        """A table of whole numbers and decimal texts."""
        found = self.data.get(key, {})
        if not isinstance(found, dict) or not all(map(_is_number, found.values())):
            self.fail(key, f"{found!r}", "a table of whole numbers and decimal texts: { population = 8000000 }")
        return {name: Fraction(each) for name, each in found.items()}

    def tables(self, key: str) -> list[Mapping[str, Any]]:
        found = self.data.get(key)
        if not isinstance(found, list) or not found or not all(isinstance(entry, dict) for entry in found):
            self.fail(key, "missing or not a list of tables", f"[[{key}]] entries")
        return found


def _is_number(found: Any) -> bool:
    try:
        return isinstance(found, int | str) and Fraction(found) is not None
    except (ValueError, ZeroDivisionError):
        return False
