"""One unit against one requirement: exact at every boundary, sound for every value within the bounds."""

import csv
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.states import rules, unit
from transforms.rules.evaluator import evaluate
from transforms.rules.reading import RuleSet, parse
from transforms.rules.reference import Reference

LAW = rules()
MET, NOT_MET, UNDETERMINED = "met", "not_met", "undetermined"


def both(total: int) -> dict[str, int]:
    return {"census": total, "estimate": total}


def state(population: int = 8_000_000, tax: int | None = 1_000_000_000, region: str = "SE") -> Reference:
    """Of so many people and cents of tax, alike on every basis."""
    variants = {} if tax is None else dict.fromkeys(("gross", "without_irrf", "net"), tax)
    return Reference(region, both(population), variants)


def judged(name: str, units: pl.DataFrame, reference: Reference | None = None, law: RuleSet = LAW) -> dict[str, object]:
    return evaluate(law.requirement(name), units, reference or state(), []).row(0, named=True)


def verdict(name: str, reference: Reference | None = None, law: RuleSet = LAW, /, **figures: int | None) -> object:
    return judged(name, unit(**figures), reference, law)["status"]


def law(requirement: str) -> RuleSet:
    """A rule set of one requirement, as a user may write it."""
    unmeasured = 'unmeasured = { buildings = "no source" }\n' * ("buildings" in requirement)
    words = 'name = "r"\narticle = "art. 1"\nquote = "q"\nbody = "b"\nask = "a"'
    return parse(
        'id = "own"\ntitle = "t"\ncitation = "c"\nstatus = "bill"\nenacted = 2026-01-01\njurisdiction = "BR"\n'
        f'notice = "n"\n{unmeasured}[[requirement]]\n{words}\n{requirement}',
        "own.toml",
    )


def cents(text: str) -> int:
    return int(Decimal(text.replace(",", ".")) * 100)


def test_case_01_every_limit_of_the_law(shared: Path) -> None:
    with (shared / "cases/01-law-boundaries/limites.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    names = {"I": "population", "II": "electorate", "III": "urban_houses", "IV": "collection"}
    found = []
    for row in rows:
        tax = cents(row["impostos_uf"]) if row["impostos_uf"] else 1
        reference = state(int(row["pop_uf"] or 1), tax)
        figures = {
            "population": int(row["populacao"]) if row["populacao"] else None,
            "electorate": int(row["eleitores"]) if row["eleitores"] else None,
            "urban_houses": int(row["casas"]) if row["casas"] else None,
            "collection": cents(row["receita"]) if row["receita"] else None,
        }
        found.append(verdict(names[row["criterio"]], reference, **figures))
    assert found == [MET if row["esperado"] == "sim" else NOT_MET for row in rows]
    assert len(found) == 13


@pytest.mark.parametrize(
    ("collected", "taxes", "expected"),
    [("30000,10", "6000020,00", MET), ("30000,09", "6000020,00", NOT_MET), ("130000,40", "26000080,00", MET)],
)
def test_case_48_money_is_compared_in_whole_cents(collected: str, taxes: str, expected: str) -> None:
    assert verdict("collection", state(tax=cents(taxes)), collection=cents(collected)) == expected


def test_case_13_a_population_is_compared_with_its_own_basis_only() -> None:
    reference = Reference("N", {"census": 1_790_000, "estimate": 1_850_000})
    row = judged("population", unit(population_census=9_000), reference)
    assert (row["status"], row["reason"]) == (MET, "rests on the census alone")
    assert (row["threshold"], row["comparison"]) == (Decimal("8950"), ">=")


def test_population_must_hold_on_both_bases() -> None:
    disagreeing = judged("population", unit(population_census=10_001, population_estimate=10_000))
    assert (disagreeing["status"], disagreeing["reason"]) == (UNDETERMINED, "census and estimate disagree")
    assert disagreeing["by_value"] is False
    assert (disagreeing["low"], disagreeing["value"], disagreeing["high"]) == (10_000, 10_000, 10_001)
    assert verdict("population", population_census=10_001, population_estimate=10_001) == MET
    assert verdict("population", population_census=10_000, population_estimate=9_999) == NOT_MET


@pytest.mark.parametrize("basis", ["census", "estimate"])
def test_population_on_one_basis_says_so(basis: str) -> None:
    row = judged("population", unit(**{f"population_{basis}": 10_001}))
    assert (row["status"], row["reason"]) == (MET, f"rests on the {basis} alone")


def test_a_state_without_its_estimate_is_judged_by_the_census() -> None:
    reference = Reference("SE", {"census": 8_000_000})
    row = judged("population", unit(population_census=9_999, population_estimate=10_400), reference)
    assert (row["status"], row["reason"]) == (NOT_MET, "rests on the census alone")


def test_a_requirement_that_another_measure_meets_says_which() -> None:
    own = law(
        'measure = "population"\nany_of = [{ comparison = "at_least", threshold = "5000" }, '
        '{ measure = "electorate", comparison = "at_least", threshold = "1800" }]'
    )
    for people, voters, expected in (
        (4_000, 1_800, (MET, "met by its electorate")),
        (5_000, 1_800, (MET, "")),
        (4_000, 1_799, (NOT_MET, "")),
    ):
        row = judged("r", unit(population_census=people, population_estimate=people, electorate=voters), law=own)
        assert (row["status"], row["reason"]) == expected


def test_the_measure_said_to_meet_it_is_one_that_does_on_the_basis_shown() -> None:
    own = law(
        'measure = "population"\nany_of = [{ comparison = "at_least", threshold = "5000" }, '
        '{ measure = "electorate", comparison = "at_least", threshold = "1800" }, '
        '{ measure = "urban_houses", comparison = "at_least", threshold = "200" }]'
    )
    for census, voters, houses, reason in (
        (5_100, 2_000, 10, "met by its electorate"),
        (4_000, 100, 200, "met by its urban_houses"),
        (4_000, 1_800, 200, "met by its electorate, urban_houses"),
    ):
        units = unit(population_census=census, population_estimate=4_900, electorate=voters, urban_houses=houses)
        row = judged("r", units, law=own)
        assert (row["value"], row["status"], row["reason"]) == (4_900, MET, reason)


def test_population_with_neither_basis_is_undetermined() -> None:
    row = judged("population", unit())
    assert (row["status"], row["reason"], row["by_value"]) == (UNDETERMINED, "no figure for population", None)


@pytest.mark.parametrize(
    ("population", "threshold", "comparison"),
    [(8_000_000, "10000", ">"), (2_000_000, "10000", ">="), (1_999_999, "9999.995", ">="), (1_500_000, "7500", ">=")],
)
def test_the_easier_arm_is_shown(population: int, threshold: str, comparison: str) -> None:
    row = judged("population", unit(population=1), state(population))
    assert (row["threshold"], row["comparison"]) == (Decimal(threshold), comparison)


def test_electorate_is_a_share_of_the_units_own_population_on_the_harder_basis() -> None:
    figures = {"population_census": 10_000, "population_estimate": 10_010}
    assert verdict("electorate", electorate=1_001, **figures) == MET
    assert verdict("electorate", electorate=1_000, **figures) == UNDETERMINED
    assert verdict("electorate", electorate=999, **figures) == NOT_MET
    assert judged("electorate", unit(electorate=1_000, **figures))["threshold"] == Decimal("1001")


def test_electorate_without_population_is_undetermined() -> None:
    assert verdict("electorate", electorate=1_000) == UNDETERMINED


def test_electorate_above_population_is_met() -> None:  # case 26: a real town, 2,799 people and 6,259 voters
    assert verdict("electorate", population=2_799, electorate=6_259) == MET


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(201, 900, MET), (0, 200, NOT_MET), (200, 201, UNDETERMINED), (201, None, MET), (None, 200, NOT_MET)],
)
def test_a_verdict_holds_for_every_value_within_the_bounds(low: int | None, high: int | None, expected: str) -> None:
    assert verdict("urban_houses", urban_houses_low=low, urban_houses_high=high) == expected


def test_nothing_known_is_neither_met_nor_not_met() -> None:
    row = judged("urban_houses", unit())
    assert (row["status"], row["by_value"], row["reason"]) == (UNDETERMINED, None, "no figure for urban_houses")


def test_value_alone_gives_only_an_indication() -> None:
    row = judged("urban_houses", unit(urban_houses_low=0, urban_houses_value=201, urban_houses_high=500))
    assert (row["status"], row["by_value"]) == (UNDETERMINED, True)


def test_collection_that_depends_on_the_definition_of_revenue() -> None:
    reference = Reference("SE", tax_revenue={"gross": 2_000_000, "without_irrf": 1_900_000, "net": 1_000_000})
    row = judged("collection", unit(collection=7_000), reference)
    assert (row["status"], row["reason"]) == (UNDETERMINED, "depends on the definition of revenue")
    assert (row["threshold"], row["by_value"], row["margin"]) == (Decimal("100"), False, Decimal("-0.3000"))
    assert verdict("collection", reference, collection=10_000) == MET
    assert verdict("collection", reference, collection=4_999) == NOT_MET


def test_a_variant_that_is_not_at_hand_is_not_judged() -> None:
    reference = Reference("SE", tax_revenue={"gross": 2_000_000, "without_irrf": 1_900_000})
    assert verdict("collection", reference, collection=10_000) == MET


def test_collection_without_state_revenue_is_undetermined() -> None:
    row = judged("collection", unit(collection=10_000), state(tax=None))
    assert (row["status"], row["reason"], row["threshold"]) == (UNDETERMINED, "no state total to compare with", None)
    assert row["comparison"] == ">="  # the law's sign is known all the same


@pytest.mark.parametrize(
    ("houses", "margin"),
    [(200, "0.0000"), (100, "-0.5000"), (0, "-1.0000"), (201, "0.0050"), (60_601, "302.0050")],
)
def test_margin_is_value_over_threshold_less_one(houses: int, margin: str) -> None:
    assert judged("urban_houses", unit(urban_houses=houses))["margin"] == Decimal(margin)


@pytest.mark.parametrize(
    ("value", "margin"),  # over 20,000: 1 is 0.00005, which is half of the last place
    [(20_001, "0.0000"), (20_003, "0.0002"), (20_005, "0.0002"), (19_999, "0.0000"), (19_997, "-0.0002")],
)
def test_margin_is_rounded_half_to_even(value: int, margin: str) -> None:
    own = law('measure = "urban_houses"\ncomparison = "at_least"\nthreshold = "20000"')
    assert judged("r", unit(urban_houses=value), law=own)["margin"] == Decimal(margin)


def test_margin_is_against_the_easiest_arm() -> None:
    assert judged("population", unit(population=10_000), state(1_500_000))["margin"] == Decimal("0.3333")


def test_a_share_of_nobody_has_no_margin() -> None:
    row = judged("electorate", unit(population=0, electorate=0))
    assert (row["status"], row["margin"]) == (MET, None)


def test_money_shows_in_reais() -> None:
    row = judged("collection", unit(collection=3_000_010), state(tax=600_002_000))
    assert (row["value"], row["threshold"], row["margin"]) == (Decimal("30000.10"), Decimal("30000.10"), Decimal(0))


EITHER = law(
    'measure = "population"\nany_of = [{ comparison = "at_least", threshold = "5000" }, '
    '{ measure = "electorate", comparison = "at_least", threshold = "1800" }]'
)


@pytest.mark.parametrize(
    ("population", "electorate", "expected"),
    [
        (5_000, 0, MET),
        (4_999, 1_799, NOT_MET),
        (4_999, 1_800, MET),
        (None, 1_800, MET),
        (None, 1_799, UNDETERMINED),
        (4_999, None, UNDETERMINED),
        (5_000, None, MET),
        (None, None, UNDETERMINED),
    ],
)
def test_any_of_across_measures(population: int | None, electorate: int | None, expected: str) -> None:
    assert verdict("r", None, EITHER, population=population, electorate=electorate) == expected


@pytest.mark.parametrize(
    ("region", "limit"), [("N", 6_008), ("CO", 6_008), ("NE", 8_411), ("S", 12_016), ("SE", 12_016)]
)
def test_thresholds_by_region(region: str, limit: int) -> None:
    own = law(
        'measure = "population"\ncomparison = "at_least"\n'
        'by_region = { N = "6008", CO = "6008", NE = "8411", S = "12016", SE = "12016" }'
    )
    at = [verdict("r", state(region=region), own, population=limit + step) for step in (-1, 0, 1)]
    assert at == [NOT_MET, MET, MET]


MEAN = law('measure = "urban_houses"\ncomparison = "mean_of_least_populous"\nthreshold = "0.10"')


@pytest.mark.parametrize(("houses", "expected"), [(333, NOT_MET), (334, MET)])
def test_more_than_the_mean_of_the_least_populous(houses: int, expected: str) -> None:
    mean = Fraction(1_000, 3)
    reference = Reference("SE", means={("urban_houses", Fraction(1, 10)): (mean, mean, mean)})
    assert verdict("r", reference, MEAN, urban_houses=houses) == expected


def test_a_mean_with_bounds_decides_only_outside_them() -> None:
    limits = (Fraction(100), Fraction(150), Fraction(200))
    reference = Reference("SE", means={("urban_houses", Fraction(1, 10)): limits})
    found = [verdict("r", reference, MEAN, urban_houses=houses) for houses in (100, 101, 200, 201)]
    assert found == [NOT_MET, UNDETERMINED, UNDETERMINED, MET]


def test_what_no_source_measures_is_undetermined_and_says_so() -> None:
    row = judged(
        "r", unit(urban_houses=9_999), law=law('measure = "buildings"\ncomparison = "more_than"\nthreshold = "1"')
    )
    assert (row["status"], row["reason"], row["value"]) == (UNDETERMINED, "no data for buildings", None)


def test_an_arm_without_data_may_still_be_met_but_not_rule_another_out() -> None:
    own = law(
        'measure = "urban_houses"\nany_of = [{ comparison = "more_than", threshold = "150" }, '
        '{ measure = "buildings", comparison = "more_than", threshold = "250" }]'
    )
    row = judged("r", unit(urban_houses=100), law=own)
    assert (row["status"], row["reason"], row["by_value"]) == (UNDETERMINED, "no data for buildings", None)
    assert verdict("r", None, own, urban_houses=151) == MET


figure = st.integers(0, 20_000)
NAMES = ("population", "electorate", "urban_houses", "collection")


@given(st.sampled_from(NAMES), figure, figure, st.integers(1, 3_000_000), st.integers(0, 20_000))
def test_more_of_a_measure_never_turns_its_requirement_from_met_to_not_met(
    name: str, value: int, more: int, population: int, own: int
) -> None:
    reference = state(population, 2_000_000)
    rest = {} if name == "population" else {"population": own}
    less, greater = (verdict(name, reference, **rest, **{name: each}) for each in (value, value + more))
    assert (less, greater) in {(MET, MET), (NOT_MET, NOT_MET), (NOT_MET, MET)}


@given(st.sampled_from(NAMES[1:]), figure, figure, figure, figure, st.integers(0, 20_000))
def test_widening_bounds_never_decides(name: str, low: int, width: int, down: int, up: int, own: int) -> None:
    wide = {f"{name}_low": max(low - down, 0), f"{name}_high": low + width + up}
    narrow = {f"{name}_low": low, f"{name}_high": low + width}
    reference = state(tax=2_000_000)
    before, after = (verdict(name, reference, population=own, **bounds) for bounds in (narrow, wide))
    assert after in {before, UNDETERMINED}


@given(st.sampled_from(NAMES), figure, st.integers(1, 10**9), st.integers(0, 20_000))
def test_verdicts_are_those_of_exact_fractions(name: str, value: int, total: int, own: int) -> None:
    rest = {} if name == "population" else {"population": own}
    passes = {
        "population": value > 10_000 or Fraction(value) >= Fraction(5, 1000) * total,
        "electorate": Fraction(value) >= Fraction(1, 10) * own,
        "urban_houses": value > 200,
        "collection": Fraction(value) >= Fraction(5, 1000) * total,
    }
    assert verdict(name, state(total, total), **rest, **{name: value}) == (MET if passes[name] else NOT_MET)
