"""The facts the sample stands on: Espírito Santo's codes, names, census counts and estimates, as published.

Everything in `facts/` is real and cites its source (README.md). Nothing here is simulated.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from transforms.codes import BY_UF, State
from warehouse.sample.story import ESPIRITO_SANTO, NOTHING, Story

FOLDER = Path(__file__).parent / "facts"
COUNTS = tuple(f"v000{n}" for n in range(1, 10))


@dataclass(frozen=True, slots=True)
class District:
    """A census district. `counts` are v0001..v0009 as text with a decimal point; "" where IBGE prints "."."""

    code: str
    name: str
    municipality: str
    area_km2: str
    counts: tuple[str, ...]

    @property
    def population(self) -> int:
        return int(self.counts[0] or 0)

    @property
    def is_seat(self) -> bool:
        return self.code.endswith("05")


@dataclass(frozen=True, slots=True)
class Municipality:
    """A município with its codes, the regions it belongs to and, where known, its mean point (degrees)."""

    code: str
    name: str
    tse_code: str
    microregion: str
    immediate_region: str
    longitude: float | None = None
    latitude: float | None = None


@dataclass(frozen=True)
class Facts:
    """One state: its districts and municípios by code, region names and parents by kind and code, estimates by year."""

    state: State
    districts: Mapping[str, District]
    municipalities: Mapping[str, Municipality]
    regions: Mapping[tuple[str, str], tuple[str, str]]
    estimates: Mapping[int, Mapping[str, int]]
    story: Story = NOTHING

    @cached_property
    def by_municipality(self) -> Mapping[str, list[District]]:
        """The districts of each município, in order of code."""
        parts: dict[str, list[District]] = {code: [] for code in self.municipalities}
        for district in self.districts.values():
            parts[district.municipality].append(district)
        return parts


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


@cache
def espirito_santo() -> Facts:
    """The state of the sample."""
    estimates: dict[int, dict[str, int]] = {2024: {}, 2025: {}}
    municipalities = {}
    for row in _rows("municipalities"):
        code = row["municipality_code"]
        for year, values in estimates.items():
            values[code] = int(row[f"estimate_{year}"])
        municipalities[code] = Municipality(
            code,
            row["name"],
            row["tse_code"],
            row["microregion"],
            row["immediate_region"],
            float(row["longitude"]),
            float(row["latitude"]),
        )
    districts = {
        row["district_code"]: District(
            row["district_code"],
            row["name"],
            row["municipality_code"],
            row["area_km2"],
            tuple(row[count] for count in COUNTS),
        )
        for row in _rows("districts")
    }
    regions = {(row["kind"], row["code"]): (row["name"], row["parent"]) for row in _rows("regions")}
    return Facts(BY_UF["ES"], districts, municipalities, regions, estimates, ESPIRITO_SANTO)


@cache
def estimate_periods() -> tuple[tuple[str, str], ...]:
    """The years SIDRA table 6579 has, with the day each was last changed (dd/mm/yyyy), as its API lists them."""
    return tuple((row["year"], row["modified"]) for row in _rows("estimate_periods"))
