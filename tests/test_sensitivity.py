"""The smallest change that changes a status: one step less changes nothing, and it does."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import polars as pl
import pytest

from tests.states import Invented, rules, screened

AREA = "310620010"
ENOUGH = {"population": "20000", "electorate": "9000", "urban_houses": "900", "collection": "90000.00"}


def certified(figures: Mapping[str, str], *, seat: int = 500_000, seat_voters: int = 200_000) -> Invented:
    """One area with certified figures, beside a large seat; thresholds are 10,000, a tenth, 200 and R$ 50,000."""
    state = Invented(state_estimate=8_000_000)
    state.district("310620005", seat, voters=seat_voters, houses=5_000)
    state.district(AREA, 9_000, voters=4_000, houses=300)
    state.district("310630105", 8_000_000 - seat - 9_000)
    state.collection("310620005", "2000000.00")
    state.collection("3106200", "2100000.00")
    for requirement, value in figures.items():
        state.certificate(AREA, requirement, value)
    return state


def row(state: Invented) -> dict[str, object]:
    return screened(state)["mart.sensitivity"].row(0, named=True)


def status(state: Invented) -> object:
    return screened(state)["mart.eligibility"]["status"].item()


@pytest.mark.parametrize(
    ("changed", "measure", "direction", "amount", "unit", "share", "becomes"),
    [
        ({"urban_houses": "212"}, "urban_houses", "decrease", "12", "houses", "0.0566", "ineligible"),
        ({"population": "10005"}, "population", "decrease", "5", "persons", "0.0005", "ineligible"),
        ({"electorate": "2003"}, "population", "increase", "31", "persons", "0.0016", "ineligible"),
        ({"electorate": "2000"}, "population", "increase", "1", "persons", "0.0000", "ineligible"),
        ({"collection": "50000.00"}, "collection", "decrease", "0.01", "BRL", "0.0000", "ineligible"),
        ({"urban_houses": "188"}, "urban_houses", "increase", "13", "houses", "0.0691", "eligible"),
        ({"population": "9998"}, "population", "increase", "3", "persons", "0.0003", "eligible"),
        ({"electorate": "1999"}, "population", "decrease", "10", "persons", "0.0005", "eligible"),
        (
            {"electorate": "1999", "population": "20003"},
            "population",
            "decrease",
            "13",
            "persons",
            "0.0006",
            "eligible",
        ),
        ({"electorate": "1100", "population": "11001"}, "population", "decrease", "1", "persons", "0.0001", "eligible"),
        ({"collection": "49999.99"}, "collection", "increase", "0.01", "BRL", "0.0000", "eligible"),
    ],
)
def test_the_smallest_change(
    changed: Mapping[str, str], measure: str, direction: str, amount: str, unit: str, share: str, becomes: str
) -> None:
    figures = {**ENOUGH, **changed}
    found = row(certified(figures))
    assert (found["measure"], found["direction"], found["unit"]) == (measure, direction, unit)
    assert (found["amount"], found["share"]) == (Decimal(amount), Decimal(share))
    assert (found["becomes"], found["sure_amount"], found["note"]) == (becomes, Decimal(amount), None)
    step = Decimal("0.01") if measure == "collection" else Decimal(1)
    sign = 1 if direction == "increase" else -1
    for less, expected in ((step, found["status"]), (Decimal(0), becomes)):
        moved = Decimal(figures[measure]) + sign * (Decimal(amount) - less)
        assert status(certified({**figures, measure: str(moved)})) == expected


def test_fewer_people_do_not_mend_the_electorate_where_they_would_fail_too() -> None:
    """1,000 voters of 10,001: one person fewer would do for item II, and fail item I."""
    found = row(certified({**ENOUGH, "population": "10001", "electorate": "1000"}))
    assert (found["measure"], found["direction"], found["amount"]) == ("electorate", "increase", Decimal(1))


def test_several_failures_are_mended_by_no_single_figure() -> None:
    found = row(certified({**ENOUGH, "population": "9000", "urban_houses": "100"}))
    assert (found["amount"], found["note"]) == (None, "2 requirements fail: no change of a single figure mends them")


def test_an_undetermined_area_waits_for_data() -> None:
    found = row(certified({name: value for name, value in ENOUGH.items() if name != "collection"}))
    assert (found["status"], found["amount"]) == ("undetermined", None)
    assert found["note"] == "missing data decide, not a change: see what is pending"


def test_where_the_origin_decides_the_figure_is_the_remainders() -> None:
    found = row(certified({**ENOUGH, "population": "11000", "electorate": "5000"}, seat=12_000, seat_voters=9_000))
    assert (found["requirement"], found["municipality_code"]) == ("origin", "3106200")  # 21,000 less 11,000 remain
    assert (found["measure"], found["direction"], found["amount"]) == ("population", "increase", Decimal(1))
    assert (found["status"], found["becomes"]) == ("ineligible", "eligible")


def test_strictly_read_what_remains_must_keep_everything() -> None:
    law = rules()
    assert law.origin is not None
    strict = replace(law, id="strict", origin=replace(law.origin, reading="strict"))
    state = certified({**ENOUGH, "population": "10990", "electorate": "5000"}, seat=12_000, seat_voters=9_000)
    found = screened(state, strict)["mart.sensitivity"].row(0, named=True)
    assert (found["requirement"], found["measure"], found["direction"]) == ("origin", "population", "decrease")
    assert (found["amount"], found["becomes"]) == (Decimal(10), "ineligible")


def test_on_two_bases_the_first_change_leaves_it_open() -> None:
    state = certified({name: value for name, value in ENOUGH.items() if name != "population"})
    state.rows["staging.ibge_census_districts__district"][1]["population"] = 9_500
    state.rows["staging.ibge_census_districts__district"][0]["population"] = 499_500
    found = row(state)  # 9,500 counted; the estimate's share is 9,500 of 509,000
    assert (found["status"], found["becomes"]) == ("ineligible", "eligible")
    assert found["amount"] == found["sure_amount"] == Decimal(501)


def test_a_fusion_is_exempt() -> None:
    state = certified(ENOUGH)
    state.candidate("merged", "fusion", ["310620005", AREA, "310630105"])
    rows = screened(state)["mart.sensitivity"].filter(pl.col("area_id") == "merged")
    assert rows["note"].item() == "exempt from requirements: no figure changes it"
