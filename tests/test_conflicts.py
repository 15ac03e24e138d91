"""Areas of one origin that may each leave, but not together."""

import polars as pl

from tests.states import Invented, screened

CODES = [f"3106200{suffix:02d}" for suffix in (10, 15, 20, 25)]


def shared_origin(seat: int, *areas: int, seat_houses: int = 1_000) -> Invented:
    """A município of so many people in its seat and its areas, all with voters, houses and money enough."""
    state = Invented(state_estimate=8_000_000)
    state.district("310620005", seat, voters=seat // 2, houses=seat_houses)
    state.collection("310620005", "900000.00")
    for code, population in zip(CODES, areas, strict=False):
        state.district(code, population, voters=population // 2, houses=300)
        state.collection(code, "60000.00")
    state.collection("3106200", f"{900_000 + 60_000 * len(areas)}.00")
    state.district("310630105", 8_000_000 - seat - sum(areas))
    return state


def conflicts(frames: dict[str, pl.DataFrame]) -> dict[str, str | None]:
    return dict(frames["mart.eligibility"].sort("area_id").select("area_id", "same_origin_conflict").iter_rows())


def departures(frames: dict[str, pl.DataFrame]) -> list[tuple[str, str]]:
    return frames["mart.joint_departure"].select("area_ids", "verdict").rows()


def test_case_02b_two_areas_that_may_leave_but_not_together() -> None:
    frames = screened(shared_origin(8_000, 11_000, 12_000))
    assert conflicts(frames) == {CODES[0]: CODES[1], CODES[1]: CODES[0]}
    assert frames["mart.eligibility"]["status"].to_list() == ["eligible", "eligible"]
    assert departures(frames) == [(CODES[0], "kept"), (CODES[1], "kept")]


def test_areas_that_may_leave_together() -> None:
    frames = screened(shared_origin(10_001, 11_000, 12_000))
    assert conflicts(frames) == {CODES[0]: None, CODES[1]: None}
    assert departures(frames) == [("|".join(CODES[:2]), "kept")]
    row = frames["mart.joint_departure"].row(0, named=True)
    assert (row["areas"], row["viable_areas"], row["is_exact"]) == (2, 2, True)


def test_three_areas_of_which_any_two_may_leave() -> None:
    """The remainder keeps a third area's people: only all three together leave too few."""
    frames = screened(shared_origin(5_000, 11_000, 12_000, 13_000))
    a, b, c = CODES[:3]
    assert conflicts(frames) == {a: f"{b}|{c}", b: f"{a}|{c}", c: f"{a}|{b}"}
    assert [sets for sets, _ in departures(frames)] == [f"{a}|{b}", f"{a}|{c}", f"{b}|{c}"]


def test_a_larger_set_is_not_named_where_a_pair_conflicts() -> None:
    """10 and 15 conflict by their sum; 20 is too small to matter, and fails on its own."""
    frames = screened(shared_origin(8_000, 11_000, 12_000, 1_000))
    assert conflicts(frames) == {CODES[0]: CODES[1], CODES[1]: CODES[0], CODES[2]: None}


def test_areas_that_overlap_are_no_conflict() -> None:
    state = shared_origin(8_000, 11_000, 12_000)
    state.candidate("again", "district", [CODES[0]])
    found = conflicts(screened(state))
    assert found[CODES[0]] == CODES[1]
    assert found["again"] == CODES[1]
    assert found[CODES[1]] == f"{CODES[0]}|again"


def test_an_area_ineligible_alone_is_in_no_conflict() -> None:
    frames = screened(shared_origin(8_000, 11_000, 9_000, 12_000))
    assert conflicts(frames) == {CODES[0]: None, CODES[1]: None, CODES[2]: None}  # 8,000 + 9,000 remain


def test_the_seat_keeps_its_houses_when_all_leave() -> None:
    frames = screened(shared_origin(30_000, 11_000, 12_000, seat_houses=200))
    # While one stays, the remainder has its 300 houses; the seat's own 200 are not more than 200.
    assert conflicts(frames) == {CODES[0]: CODES[1], CODES[1]: CODES[0]}


def test_beyond_twelve_areas_only_pairs_are_judged() -> None:
    state = Invented(state_estimate=8_000_000)
    state.district("310620005", 8_000, voters=4_000, houses=1_000)
    codes = [f"3106200{suffix}" for suffix in range(10, 23)]
    for code in codes:
        state.district(code, 10_001, voters=5_000, houses=300)
        state.collection(code, "60000.00")
    state.collection("310620005", "900000.00")
    state.collection("3106200", "1680000.00")
    state.district("310630105", 7_000_000)
    frames = screened(state)
    rows = frames["mart.joint_departure"]
    assert (rows.height, set(rows["areas"]), set(rows["viable_areas"])) == (13 * 12 // 2, {2}, {13})
    assert not rows["is_exact"].any()
    assert set(conflicts(frames).values()) == {None}
