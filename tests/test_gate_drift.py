"""Drift against the last release: what shrank, moved or flipped, and what is let through with a reason."""

from datetime import date
from decimal import Decimal

import polars as pl
import pytest

from expectations import drift
from expectations.check import Violation
from tests.gate_release import Frames, frame, release, verdict


def failing(before: Frames, after: Frames, accept: str = "") -> list[Violation]:
    return [one for one in drift.violations(before, after, accept) if one.rows.height]


def with_districts(count: int) -> Frames:
    frames = release()
    codes = [f"1400001{number:02d}" for number in range(5, 5 + count)]
    rows = (
        frames["core.district"].head(1).drop("district_code").join(pl.DataFrame({"district_code": codes}), how="cross")
    )
    return frames | {"core.district": rows.select(frames["core.district"].columns)}


def test_case_93_shrinking_output() -> None:
    (found,) = failing(with_districts(10), with_districts(4))
    assert (found.name, found.table, found.severity) == ("drift_coverage", "core.district", "critical")
    assert found.observed == "districts fell from 10 to 4 (limit 5 %)"
    assert found.rows["district_code"].to_list() == [f"1400001{number:02d}" for number in range(9, 15)]


def test_case_93_the_override_is_explicit_and_recorded() -> None:
    (found,) = failing(with_districts(10), with_districts(4), accept="law 12.345 merged them")
    assert found.severity == "warning"
    assert found.observed == "districts fell from 10 to 4 (limit 5 %); accepted: law 12.345 merged them"


@pytest.mark.parametrize(("left", "refused"), [(19, False), (18, True)])
def test_the_limit_is_five_percent(left: int, refused: bool) -> None:
    assert bool(failing(with_districts(20), with_districts(left))) is refused


def test_an_absent_table_shrank_to_nothing() -> None:
    after = release()
    del after["core.polling_place"]
    (found,) = failing(release(), after)
    assert found.observed == "polling places fell from 18 to 0 (limit 5 %)"


def test_case_93_a_verdict_that_vanished() -> None:
    after = release()
    gone = (pl.col("area_id") == "140002710") & (pl.col("requirement") == "electorate")
    after["mart.requirement_result"] = after["mart.requirement_result"].filter(~gone)
    (found,) = failing(release(), after)
    assert found.observed == "requirement results fell from 10 to 9 (limit 5 %)"
    assert found.rows.rows() == [("lc_1_1967", "140002710", "electorate")]


def test_what_is_hand_supplied_may_be_taken_away() -> None:
    after = release()
    by_hand = pl.col("area_id").is_in(["F", "G"])
    for name in ("core.area", "mart.requirement_result"):
        after[name] = after[name].filter(~by_hand)
    assert failing(release(), after) == []


def test_a_rule_set_that_was_not_asked_for_is_not_missed() -> None:
    before = release()
    other = before["mart.requirement_result"].with_columns(rule_set=pl.lit("plp_137_2015"))
    before["mart.requirement_result"] = pl.concat([before["mart.requirement_result"], other])
    assert failing(before, release()) == []


def test_the_first_release_has_nothing_to_drift_from() -> None:
    found = drift.violations({}, release())
    assert len(found) == len(drift.COVERED) + len(drift.TOLERANCES) + 3
    assert [one for one in found if one.rows.height or one.error] == []


def test_another_state_is_not_compared() -> None:
    other = with_districts(99)
    other["core.state"] = other["core.state"].with_columns(state_code=pl.lit("12"), uf=pl.lit("AC"))
    (told,) = failing(other, release())
    assert (told.name, told.severity, told.observed) == ("drift_states", "warning", "the last release had AC too")


def with_acre(frames: Frames) -> Frames:
    """The country of Roraima and of another state just like it."""
    found = {}
    for name, rows in frames.items():
        known = {"state_code", "municipality_code", "district_code", "area_id", "uf"} & set(rows.columns)
        renamed = {column: pl.col(column).str.replace("^14", "12").str.replace("^RR$", "AC") for column in known}
        found[name] = pl.concat([rows, rows.with_columns(**renamed)]) if known else rows
    return found


def test_states_that_only_one_of_two_releases_has_are_not_compared() -> None:
    assert failing(release(), with_acre(release())) == []
    (told,) = failing(with_acre(release()), release())
    assert (told.severity, told.observed) == ("warning", "the last release had AC too")
    _, found = failing(with_acre(with_districts(10)), with_districts(4))
    assert found.observed == "districts fell from 10 to 4 (limit 5 %)"


def test_a_release_without_its_states_is_compared_all_the_same() -> None:
    before = with_districts(10)
    del before["core.state"]
    (found,) = failing(before, with_districts(4))
    assert found.observed == "districts fell from 10 to 4 (limit 5 %)"


@pytest.mark.parametrize(
    ("factor", "refused"), [(Decimal("1.01"), False), (Decimal("1.02"), True), (Decimal(1000), True)]
)
def test_totals_have_tolerances(factor: Decimal, refused: bool) -> None:
    after = release()
    people = (pl.col("population_census") * 100 * int(factor * 100) // 10_000).alias("population_census")
    after["core.municipality"] = after["core.municipality"].with_columns(people)
    assert [(one.name, one.column) for one in failing(release(), after)] == [
        ("drift_total", "population_census")
    ] * refused


def test_a_total_that_is_not_known_any_more() -> None:
    after = release()
    after["core.municipality"] = after["core.municipality"].with_columns(electorate=pl.lit(None, dtype=pl.Int64))
    (found,) = failing(release(), after)
    assert (found.column, found.observed) == ("electorate", "electorate went from 8550 to unknown (limit 15 %)")


def test_urban_houses_are_totalled_over_districts() -> None:
    after, before = release(), release()
    houses = pl.lit("urban_houses").alias("measure")
    before["core.district_measure"] = before["core.district_measure"].with_columns(houses)
    doubled = before["core.district_measure"].with_columns(value=(pl.col("value") * 2).cast(pl.Decimal(24, 5)))
    (found,) = failing(before, after | {"core.district_measure": doubled})
    assert (found.column, found.rows.row(0)) == ("urban_houses", ("8500.00000", "17000.00000"))


def ranking(statuses: list[str]) -> Frames:
    rows = [verdict(1, str(number), status, 0, 0, 0) for number, status in enumerate(statuses)]
    return release() | {"mart.eligibility": frame("mart.eligibility", rows)}


@pytest.mark.parametrize(("flips", "of", "refused"), [(4, 20, False), (5, 50, False), (6, 50, True)])
def test_many_verdicts_do_not_flip_at_once(flips: int, of: int, refused: bool) -> None:
    before = ranking(["undetermined"] * of)
    after = ranking(["eligible"] * flips + ["undetermined"] * (of - flips))
    found = failing(before, after)
    assert [(one.name, one.rows.height) for one in found] == [("drift_status", flips)] * refused


@pytest.mark.parametrize(("as_of", "refused"), [(date(2026, 12, 1), True), (date(2026, 1, 15), False)])
def test_tax_revenue_does_not_vanish_but_an_earlier_day_knows_less(as_of: date, refused: bool) -> None:
    after = release()
    after["core.state_revenue"] = after["core.state_revenue"].clear()
    after["core.state"] = after["core.state"].with_columns(as_of=pl.lit(as_of))
    found = failing(release(), after)
    assert [one.observed for one in found] == ["the tax revenue of 2025 was known and is not any more"] * refused
