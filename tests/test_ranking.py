"""One verdict per area, in an order that never depends on the order of what came in."""

from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.states import Invented, screened
from transforms.marts.eligibility import ranked

SEAT, NEXT = "310620005", "310630105"


def three(*populations: int | None) -> Invented:
    """A município of a large seat and areas of so many people, all else alike and enough."""
    state = Invented(state_estimate=8_000_000)
    state.district(SEAT, 500_000, voters=200_000, houses=5_000)
    for suffix, population in zip((10, 15, 20, 25), populations, strict=False):
        code = f"3106200{suffix}"
        state.district(code, population, voters=4_000, houses=300)
        state.certificate(code, "collection", "50000.00")
    state.collection("3106200", "5000000.00")
    state.district(NEXT, 7_000_000)
    return state


def test_case_66_no_area_vanishes() -> None:
    state = three(12_000, None, 9_000)
    rows = screened(state)["mart.eligibility"]
    by_area = dict(rows.select("area_id", "status").iter_rows())
    assert by_area == {"310620010": "eligible", "310620015": "undetermined", "310620020": "ineligible"}


def row(area: str, **changes: object) -> dict[str, object]:
    base = {
        "area_id": area,
        "status": "eligible",
        "likely": None,
        "requirements_met": 5,
        "smallest_margin": Decimal("0.5"),
        "population": 100,
    }
    return base | changes


def order(*rows: dict[str, object]) -> list[tuple[str, int]]:
    schema: dict[str, pl.DataType | type[pl.DataType]] = {"smallest_margin": pl.Decimal(18, 4)}
    schema |= {"area_id": pl.String, "status": pl.String, "likely": pl.String, "requirements_met": pl.Int64}
    schema |= {"population": pl.Int64}
    return ranked(pl.DataFrame(list(rows), schema=schema)).select("area_id", "rank").rows()


def test_case_67_unknown_margins_come_after_known_ones() -> None:
    found = order(
        row("4", smallest_margin=None),
        row("1", smallest_margin=Decimal("0.9")),
        row("2", smallest_margin=None),
        row("3"),
    )
    assert found == [("1", 1), ("3", 2), ("2", 3), ("4", 3)]


def test_case_68_equal_areas_share_a_rank() -> None:
    found = order(row("20"), row("10"), row("25", population=40), row("15"))
    assert found == [("10", 1), ("15", 1), ("20", 1), ("25", 4)]


def test_every_key_in_its_turn() -> None:
    expected = [
        row("z", requirements_met=0, smallest_margin=None),
        row("y", status="undetermined", likely="likely_eligible", requirements_met=1),
        row("x", status="undetermined", likely="unknown", requirements_met=4),
        row("w", status="undetermined", likely="unknown", requirements_met=3, smallest_margin=Decimal("9")),
        row("v", status="undetermined", likely="likely_ineligible"),
        row("u", status="ineligible", requirements_met=4, smallest_margin=Decimal("-0.1")),
        row("t", status="ineligible", requirements_met=4, smallest_margin=Decimal("-0.2"), population=900),
        row("s", status="ineligible", requirements_met=4, smallest_margin=Decimal("-0.2"), population=None),
    ]
    assert order(*reversed(expected)) == [(each["area_id"], place) for place, each in enumerate(expected, 1)]


def verdict(state: Invented, area: str = "310620010") -> tuple[object, ...]:
    rows = screened(state)["mart.eligibility"].filter(pl.col("area_id") == area)
    return rows.select("status", "likely", "requirements_met", "requirements_undetermined").row(0)


def test_an_eligible_area_has_no_likely() -> None:
    assert verdict(three(12_000)) == ("eligible", None, 5, 0)


def test_an_ineligible_area_has_no_likely_whatever_is_open() -> None:
    state = three(9_000)
    state.rows["staging.inputs_certificates__certificate"].clear()
    assert verdict(state)[:2] == ("ineligible", None)


def certified_only(state: Invented, collection: str) -> Invented:
    """The area's collection apportioned from the município's: half of it, between nothing and all."""
    state.rows["staging.inputs_certificates__certificate"].clear()
    state.rows["staging.inputs_collections__collection"].clear()
    state.collection("3106200", collection)
    return state


@pytest.mark.parametrize(
    ("collection", "likely"),
    [("100000.00", "likely_eligible"), ("99000.00", "likely_ineligible")],
)
def test_likely_follows_the_indications(collection: str, likely: str) -> None:
    assert verdict(certified_only(three(12_000), collection))[:2] == ("undetermined", likely)


def test_likely_is_unknown_where_a_figure_is() -> None:
    state = three(12_000)
    state.rows["staging.inputs_certificates__certificate"].clear()
    state.rows["staging.inputs_collections__collection"].clear()
    assert verdict(state)[:2] == ("undetermined", "unknown")


def test_binding_requirement_and_weakest_evidence() -> None:
    found = screened(three(12_000))["mart.eligibility"].row(0, named=True)
    assert (found["binding_requirement"], found["smallest_margin"]) == ("collection", Decimal("0.0000"))
    assert found["weakest_evidence"] == "derived"


def test_pending_says_whom_to_ask_for_what() -> None:
    state = three(12_000, 9_000)
    state.rows["staging.inputs_certificates__certificate"].clear()
    state.rows["staging.inputs_collections__collection"].clear()
    pending = screened(state)["mart.pending"]
    assert pending.select("area_id", "requirement").rows() == [("310620010", "collection")]
    assert pending["ask"].item().startswith("state treasury: the state taxes collected in the area")
    assert pending["reason"].item() == "no file or certificate of the state treasury"


def shuffled(state: Invented, seed: int) -> Invented:
    frames = Invented(state.uf, state_estimate=state.state_estimate, state_tax=state.state_tax)
    for place, (name, rows) in enumerate(sorted(state.rows.items())):
        mixed = pl.DataFrame({"n": range(len(rows))}).sample(fraction=1, shuffle=True, seed=seed + place)["n"]
        frames.rows[name] = [rows[n] for n in mixed]
    frames._estimates = dict(state._estimates)
    return frames


def rich() -> Invented:
    """Two municípios, every kind of doubt, a group across both, and a conflict."""
    state = three(11_000, 12_000, 13_000, 11_000)
    state.rows["staging.ibge_census_districts__district"][0]["population"] = 400_000
    state.district("310690305", 20_000, voters=9_000, houses=800)
    state.district("310690310", 3_000, voters=1_000, houses=300)
    state.polling_place("3106200", "9001", 700, None)
    state.candidate("both", "group", ["310620010", "310690310"])
    state.candidate("merged", "fusion", ["310690305", "310690310", NEXT])
    return state


@settings(max_examples=5)
@given(st.integers(0, 10_000))
def test_the_order_of_input_rows_changes_no_output(seed: int) -> None:
    first, again = screened(rich()), screened(shuffled(rich(), seed))
    assert first.keys() == again.keys()
    assert [name for name in first if not first[name].equals(again[name])] == []
