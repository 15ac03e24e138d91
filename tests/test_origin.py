"""Art. 2º, § 1º: what the município of origin has before an area leaves, and after."""

from dataclasses import replace
from decimal import Decimal

import polars as pl
import pytest

from tests.states import Invented, rules, screened
from transforms.rules.reading import Origin, RuleSet

SEAT, AREA, OTHER = "310620005", "310620010", "310620015"


def strict() -> RuleSet:
    """LC 1/1967 read strictly: what remains must meet every requirement."""
    law = rules()
    assert law.origin is not None
    return replace(
        law, id="strict", origin=Origin(law.origin.article, law.origin.quote, law.origin.requirements, "strict")
    )


def split(
    *, seat: int = 30_000, seat_voters: int = 10_000, seat_houses: int | None = 1_000, money: str | None = "60000.00"
) -> Invented:
    """A município whose one area meets I to IV by itself; the state's 5‰ of taxes are R$ 50,000."""
    state = Invented(state_estimate=8_000_000)
    state.district(SEAT, seat, voters=seat_voters, houses=seat_houses)
    state.district(AREA, 12_000, voters=5_000, houses=900 if seat_houses is not None else None)
    state.district("310630105", 8_000_000 - seat - 12_000)
    state.collection(AREA, "60000.00")
    if money is not None:
        state.collection(SEAT, money)
        state.collection("3106200", str(Decimal(money) + 60_000))
    return state


def verdicts(frames: dict[str, pl.DataFrame], area: str = AREA) -> dict[str, str]:
    rows = frames["mart.origin_result"].filter(pl.col("area_id") == area)
    return dict(rows.select("requirement", "verdict").iter_rows())


def origin_row(frames: dict[str, pl.DataFrame], area: str = AREA) -> dict[str, object]:
    rows = frames["mart.requirement_result"].filter((pl.col("area_id") == area) & (pl.col("requirement") == "origin"))
    return rows.row(0, named=True)


def eligible(frames: dict[str, pl.DataFrame], area: str = AREA) -> dict[str, object]:
    return frames["mart.eligibility"].filter(pl.col("area_id") == area).row(0, named=True)


ALL_KEPT = dict.fromkeys(("population", "electorate", "urban_houses", "collection"), "kept")


def test_an_origin_that_keeps_everything() -> None:
    frames = screened(split())
    assert verdicts(frames) == ALL_KEPT
    assert (origin_row(frames)["status"], eligible(frames)["status"]) == ("met", "eligible")
    rows = frames["mart.origin_result"].filter(pl.col("requirement") == "electorate")
    assert rows.select("before_low", "after_low", "after_value", "after_high", "threshold").row(0) == (
        15_000,
        10_000,
        10_000,
        10_000,
        3_000,
    )


def test_case_02a_an_origin_that_loses_three_requirements() -> None:
    state = split(seat=9_000, seat_voters=4_000, seat_houses=100, money="40000.00")
    frames = screened(state)
    assert verdicts(frames) == ALL_KEPT | dict.fromkeys(("population", "urban_houses", "collection"), "lost")
    assert origin_row(frames)["status"] == "not_met"
    reason = str(origin_row(frames)["reason"])
    assert reason == "; ".join(
        f"Município 3106200 ({name}: lost)" for name in ("collection", "population", "urban_houses")
    )
    area = eligible(frames)
    assert (area["status"], area["requirements_met"], area["requirements_not_met"]) == ("ineligible", 4, 1)
    assert area["origin_status"] == "not_met"


def poor_origin() -> Invented:
    """R$ 49,000 in all, of which R$ 48,000 in the area: neither before nor after is there enough."""
    state = split(money=None)
    state.rows["staging.inputs_collections__collection"].clear()
    for code, value in ((AREA, "48000.00"), (SEAT, "1000.00"), ("3106200", "49000.00")):
        state.collection(code, value)
    return state


def test_what_the_origin_never_had_it_does_not_lose() -> None:
    frames = screened(poor_origin())
    assert verdicts(frames)["collection"] == "never_had"
    assert origin_row(frames)["status"] == "met"


def test_strict_reading_blocks_what_the_origin_never_had() -> None:
    row = origin_row(screened(poor_origin(), strict()))
    assert (row["status"], row["reason"]) == ("not_met", "Município 3106200 (collection: not_met)")


def test_the_origins_voters_are_a_share_of_its_own_people() -> None:
    frames = screened(split(seat_voters=2_999))  # of 30,000 that remain
    assert verdicts(frames)["electorate"] == "lost"
    assert verdicts(screened(split(seat_voters=3_000)))["electorate"] == "kept"


def test_strict_reading_is_met_where_the_remainder_meets_all() -> None:
    assert origin_row(screened(split(), strict()))["status"] == "met"


def test_missing_origin_data_is_undetermined_never_allowed() -> None:
    frames = screened(split(money=None))
    assert verdicts(frames)["collection"] == "undetermined"
    assert (origin_row(frames)["status"], eligible(frames)["status"]) == ("undetermined", "undetermined")
    assert (eligible(frames)["likely"], origin_row(frames)["indication"]) == ("unknown", None)


@pytest.mark.parametrize(("total", "indication"), [("100000.00", "likely_met"), ("99999.98", "likely_not_met")])
def test_origin_indication_follows_the_value_of_the_remainder(total: str, indication: str) -> None:
    state = split(money=None)
    state.rows["staging.inputs_collections__collection"].clear()
    state.collection("3106200", total)  # shared out by dwellings, half and half; the threshold is R$ 50,000
    row = origin_row(screened(state))
    assert (row["status"], row["indication"]) == ("undetermined", indication)


def test_a_certified_area_is_what_the_remainder_lacks() -> None:
    state = split(seat=9_000)
    state.certificate(AREA, "population", "10999")
    frames = screened(state)
    rows = frames["mart.origin_result"].filter((pl.col("area_id") == AREA) & (pl.col("requirement") == "population"))
    assert rows.select("after_low", "after_value", "after_high", "verdict").row(0) == (10_001, 10_001, 10_001, "kept")


def test_an_area_of_two_municipalities_has_two_origins() -> None:
    state = split()
    state.district("310690305", 20_000, voters=9_000, houses=800)
    state.district("310690310", 3_000, voters=1_000, houses=300)
    state.candidate("both", "group", [AREA, "310690310"])
    frames = screened(state)
    rows = frames["mart.origin_result"].filter(pl.col("area_id") == "both")
    assert rows["municipality_code"].unique().sort().to_list() == ["3106200", "3106903"]
    assert rows.height == 8
    area = eligible(frames, "both")
    assert area["municipality_codes"] == "3106200|3106903"
    assert area["population"] == 15_000


@pytest.mark.parametrize("reading", ["loss", "strict"])
def test_bounds_of_the_remainder_are_the_total_less_the_areas(reading: str) -> None:
    state = split()
    state.polling_place("3106200", "9001", 700, None)  # no district known: may be the area's
    frames = screened(state, rules() if reading == "loss" else strict())
    rows = frames["mart.origin_result"].filter((pl.col("area_id") == AREA) & (pl.col("requirement") == "electorate"))
    assert rows.select("before_low", "after_low", "after_value", "after_high").row(0) == (
        15_700,
        10_000,
        10_700,
        10_700,
    )
