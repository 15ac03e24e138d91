"""The bounds are sound: random states whose truth is known, degraded as real registers are, never escape them.

What the bounds assume is broken on purpose too: then the truth may escape, and the tables say what they leaned on.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tests.test_houses import NO_MESH, cells, sectors
from tests.test_polling_place import HAND, SCHEMA
from transforms import geometry
from transforms.core import district_electorate, district_houses, polling_place, urban_cluster_district
from transforms.sources import Scope

SCOPE = Scope("ES", date(2026, 11, 30))
NAMES = ("Alegria", "Barra do Sul", "São José", "Morro Alto", "Rio Novo")
DEGREE_M = 111_000
NOISE_M = 450
WIDE, HIGH = 0.05, 0.04  # degrees a district
SEEDS = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class State:
    """Municípios side by side, each a column of districts; its voters' true districts, and what registers say."""

    districts: pl.DataFrame
    mesh: pl.DataFrame
    truth: dict[str, int]
    home: dict[str, str]  # true district by place
    sections: pl.DataFrame
    previous: pl.DataFrame
    hand: pl.DataFrame


def state(seed: int, *, wrong_names: bool = False) -> State:
    """Coordinates are right, off by up to 450 m, missing, or in the sea; texts name the district, none, or a wrong one.

    A wrong name stands only beside a usable coordinate, unless `wrong_names`.
    """
    chance = np.random.default_rng(seed)
    columns = chance.integers(1, 6, chance.integers(1, 4))
    codes = [f"32{m:04}0{5 + 5 * n:02}" for m, count in enumerate(columns) for n in range(count)]
    corner = {code: np.array([-41 + WIDE * int(code[2:6]), -20 + HIGH * number_of(code)]) for code in codes}
    truth, home = dict.fromkeys(codes, 0), {}
    register, before = [], []
    hand: list[tuple[str, str, str, str, int]] = []
    for number in range(int(chance.integers(1, 40))):
        code, place, voters = str(chance.choice(codes)), str(1000 + number), int(chance.integers(0, 900))
        truth[code] += voters
        home[place] = code
        share = chance.uniform(0.0001, 1, 2)
        if chance.random() < 0.5:  # near the district to the south or to the north
            share[1] = chance.choice([0.01, 0.06, 0.94, 0.99])
        at = corner[code] + share * [WIDE, HIGH]
        told = {
            "right": at,
            "near": noisy(at, chance),
            "missing": np.array([np.nan, np.nan]),
            "sea": np.array([-30.0, -20.0]),
        }[str(chance.choice(["right", "near", "missing", "sea"]))]
        inside = in_column(told, code, codes)
        own = NAMES[number_of(code)]
        others = [NAMES[number_of(c)] for c in codes if c[:7] == code[:7] and c != code]
        text = str(chance.choice(["named", "none", "wrong"]))
        if text == "wrong" and others and (inside or wrong_names):
            own = str(chance.choice(others))
        place_row: dict[str, Any] = dict.fromkeys(SCHEMA, "") | {
            "uf": "ES",
            "tse_municipality_code": code[2:7],
            "zone": "1",
            "place": place,
            "original_place": place,
            "neighbourhood": "OUTRO" if text == "none" else f"{own}-DISTRITO",
        }
        register += [
            place_row | {"section": f"{2 * number + half}", "voters": share} | coordinate(told)
            for half, share in enumerate((voters // 2, voters - voters // 2))
        ]
        if chance.random() < 0.5:
            before.append(place_row | {"section": place, "voters": 1} | coordinate(noisy(at, chance)))
        if chance.random() < 0.1:
            hand.append((code[:7], "1", place, code, len(hand) + 2))
    low = np.array([corner[code] for code in codes])
    boxes = shapely.box(*low.T, *np.add(low, [WIDE, HIGH]).T)
    return State(
        pl.DataFrame(
            [(code, NAMES[number_of(code)], code[:7], code.endswith("05"), "ES") for code in codes],
            schema=["district_code", "district_name", "municipality_code", "is_seat", "uf"],
            orient="row",
        ),
        pl.DataFrame({"district_code": codes, "geometry": geometry.wkb(boxes)}),
        truth,
        home,
        pl.DataFrame(register, schema=SCHEMA),
        pl.DataFrame(before, schema=SCHEMA),
        pl.DataFrame(hand, schema=HAND.schema, orient="row"),
    )


def number_of(code: str) -> int:
    return int(code[7:]) // 5 - 1


def noisy(at: Any, chance: np.random.Generator) -> Any:
    return at + chance.uniform(-1, 1, 2) * NOISE_M / 2**0.5 / DEGREE_M


def in_column(at: Any, code: str, codes: list[str]) -> bool:
    """Whether a coordinate lies in the município of a district."""
    x, y = (at - [-41 + WIDE * int(code[2:6]), -20]) / [WIDE, HIGH]
    return bool(0 < x < 1 and 0 < y < sum(other[:7] == code[:7] for other in codes))


def coordinate(at: Any) -> dict[str, float | None]:
    return {"latitude": None, "longitude": None} if np.isnan(at[0]) else {"latitude": at[1], "longitude": at[0]}


def measured(made: State, mesh: pl.DataFrame | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    crosswalk = made.districts.select(
        "municipality_code", tse_municipality_code=pl.col("municipality_code").str.slice(2)
    ).unique()
    sections, previous = made.sections.lazy(), made.previous.lazy()
    places = polling_place.polling_place(sections, previous, crosswalk, made.districts, made.hand, mesh, SCOPE)
    return places, district_electorate.district_electorate(places, made.districts)


def escaping(table: pl.DataFrame, truth: dict[str, int]) -> list[str]:
    """Districts whose truth is outside the bounds; a município without places has none."""
    rows = table.drop_nulls("high").select("district_code", "low", "high").iter_rows()
    return [code for code, low, high in rows if not low <= truth[code] <= high]


@given(SEEDS, st.booleans())
def test_the_true_electorate_is_within_the_bounds(seed: int, with_mesh: bool) -> None:
    made = state(seed)
    if not with_mesh:  # then no coordinate speaks: a wrong name beside one would break the assumption
        made = State(**{**vars(made), "sections": unnamed_where_wrong(made)})
    places, table = measured(made, made.mesh if with_mesh else None)
    assert escaping(table, made.truth) == []
    ordered = table.drop_nulls("value").filter(~pl.col("value").is_between("low", "high"))
    assert ordered.is_empty()
    sums = (
        table.drop_nulls("high").group_by("municipality_code").agg(pl.col("value").sum() + pl.col("unassigned").first())
    )
    assert dict(sums.rows()) == dict(places.group_by("municipality_code").agg(pl.col("voters").sum()).rows())


def unnamed_where_wrong(made: State) -> pl.DataFrame:
    right = pl.col("place").replace_strict({place: NAMES[number_of(code)] for place, code in made.home.items()})
    true = pl.col("neighbourhood") == right + "-DISTRITO"
    return made.sections.with_columns(neighbourhood=pl.when(true).then("neighbourhood").otherwise(pl.lit("OUTRO")))


@given(SEEDS)
def test_where_a_lying_name_breaks_the_bounds_the_place_says_it_went_by_name(seed: int) -> None:
    made = state(seed, wrong_names=True)
    places, table = measured(made, made.mesh)
    home = pl.col("place").replace_strict(made.home)
    wrong = places.filter(home != pl.col("district_code"))
    unflagged = wrong.filter(~pl.col("points_to").str.split("|").list.contains(home))
    assert set(unflagged["method"]) <= {"name"}
    assert not unflagged["is_sure"].any()
    for code in escaping(table, made.truth):
        leaned = unflagged.filter((home == code) | (pl.col("district_code") == code))
        assert leaned.height


@dataclass(frozen=True)
class Towns:
    """Districts of a few towns each, 5 km apart; houses by town, and what the sector file and the address list say."""

    districts: pl.DataFrame
    truth: dict[str, int]  # houses of the largest town
    sectors: list[tuple[Any, ...]]
    addresses: list[tuple[str, float, float, int]]


def towns(seed: int) -> Towns:
    """Occupied houses ≤ houses ≤ private dwellings in every sector; cells of the sector file are suppressed at random,
    addresses lost, left without a coordinate, or filed under a sector that no longer exists.
    """
    chance = np.random.default_rng(seed)
    truth, rows, addresses = {}, [], []
    codes = [f"32{m:04}0{5 + 5 * n:02}" for m in range(2) for n in range(chance.integers(1, 4))]
    for index, code in enumerate(codes):
        listed = chance.random() < 0.8
        largest = 0
        for town in range(int(chance.integers(0, 4))):
            centre = np.array([-20 - 0.045 * town, -41 + 0.1 * index])
            total = 0
            for part in range(int(chance.integers(1, 5))):
                sector = f"{code}{town:03}{part:03}"
                occupied, empty, flats = (int(n) for n in chance.integers(0, [200, 40, 60]))
                houses, village = (
                    None if chance.random() < 0.2 else n for n in (occupied // 2, occupied - occupied // 2)
                )
                rows.append((sector, code, "1", occupied + empty + flats, houses, village))
                total += occupied + empty
                fate = str(chance.choice(["whole", "lost", "stray", "unplaced"], p=[0.7, 0.1, 0.1, 0.1]))
                left = occupied + empty
                while left > 0 and listed and fate != "lost":
                    some = min(left, int(chance.integers(1, 60)))
                    y, x = centre + chance.uniform(-0.002, 0.002, 2)
                    gone = fate == "unplaced" and chance.random() < 0.5
                    name = f"{sector[:-3]}9{sector[-2:]}" if fate == "stray" else sector
                    addresses.append((name, 0.0 if gone else y, 0.0 if gone else x, some))
                    left -= some
            largest = max(largest, total)
        truth[code] = largest
    districts = pl.DataFrame({"district_code": codes, "municipality_code": [code[:7] for code in codes]})
    merged: dict[tuple[str, int, int], tuple[str, float, float, int]] = {}
    for name, y, x, some in addresses:
        key = (name, int(y // 0.001), int(x // 0.001))
        merged[key] = (name, y, x, some + (merged[key][3] if key in merged else 0))
    return Towns(districts, truth, rows, list(merged.values()))


@given(SEEDS)
def test_the_true_houses_are_within_the_bounds_unless_centres_are_not_told_apart(seed: int) -> None:
    made = towns(seed)
    basic, themed = sectors(made.sectors)
    addresses = cells(*made.addresses)
    parts = urban_cluster_district.urban_cluster_district(basic, themed, addresses, NO_MESH, made.districts)
    dwellings = made.districts.select("district_code", private_dwellings=pl.lit(10**6))
    table = district_houses.district_houses(parts, basic, addresses, dwellings, made.districts)
    escaped = escaping(table, made.truth)
    assert table.filter(pl.col("district_code").is_in(escaped) & pl.col("clustered")).is_empty()
    for code in escaped:  # what is one centre by assumption is several towns in truth
        assert len({row[0][:12] for row in made.sectors if row[1] == code}) > 1
    assert table.filter(pl.col("value").is_not_null() & ~pl.col("value").is_between("low", "high")).is_empty()
