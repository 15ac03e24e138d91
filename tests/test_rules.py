"""The rule sets that ship prove themselves by their worked examples; a user's own with a mistake is told which."""

from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

from flows import rule_files
from flows.cli import call
from tests.states import rules
from transforms.errors import UsageError
from transforms.rules.examples import wrong_examples
from transforms.rules.procedure import Votes, plebiscite_passes, window
from transforms.rules.reading import parse

SHIPPED = sorted(
    path.name.removesuffix(".toml") for path in files("transforms.rules").iterdir() if path.name.endswith(".toml")
)
OWN = (files("transforms.rules") / "lc_1_1967.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SHIPPED)
def test_every_worked_example_holds(name: str) -> None:
    assert wrong_examples(rules(name)) == []


@pytest.mark.parametrize("name", SHIPPED)
def test_every_requirement_has_examples(name: str) -> None:
    rule_set = rules(name)
    assert rule_set.id == name
    shown = {example.requirement for example in rule_set.examples} - {""}
    assert shown == {requirement.name for requirement in rule_set.requirements if requirement.measure != "own_revenue"}


def test_twenty_real_cases_and_more() -> None:
    cases = [example.case for name in SHIPPED for example in rules(name).examples if example.source]
    assert len(cases) >= 20
    assert {"Serrolândia (Ipubi)", "Bonança (Moreno)", "Iubatinga (Caiabu), SP", "Riacho Seco (Curaçá), BA"} <= set(
        cases
    )


def test_an_example_that_does_not_hold_is_told() -> None:
    wrong = parse(OWN.replace("met = [10001]", "met = [10000]"), "own.toml")
    assert wrong_examples(wrong) == ["item I, where 10,000 is the easier arm: population of 10000 is not_met, not met"]
    wrong = parse(OWN.replace("open = [2027-01-01", "open = [2026-01-01"), "own.toml")
    assert wrong_examples(wrong) == ["the year before 2028: 2026-01-01 is not open"]


@pytest.mark.parametrize(
    ("found", "instead", "where", "key", "allowed"),
    [
        ('status = "superseded"', 'status = "dead"', "own.toml", "status", "in_force, superseded, bill, vetoed"),
        ("enacted = 1967-11-09", 'enacted = "1967"', "own.toml", "enacted", "a date such as 1967-11-09"),
        ('jurisdiction = "BR"', "jurisdiction = 1", "own.toml", "jurisdiction", "a text"),
        ('title = "', 'titel = "', "own.toml", "titel", "calendar, citation"),
        ('threshold = "200"', "threshold = 200.0", "requirement 'urban_houses'", "threshold", "a decimal text"),
        ('threshold = "200"', 'threshold = "-2"', "requirement 'urban_houses'", "threshold", "above zero"),
        ('threshold = "200"', 'threshold = "0.0000000000001"', "'urban_houses'", "threshold", "12 decimals"),
        ('threshold = "0.10"', 'threshold = "10"', "requirement 'electorate'", "threshold", "at most 1"),
        ('measure = "electorate"', 'measure = "voters"', "'electorate'", "measure", "population, electorate"),
        ('measure = "electorate"', 'measure = "schools"', "'electorate'", "measure", "that [unmeasured] gives"),
        ("[[requirement]]", 'unmeasured = { schools = "no source" }\n[[requirement]]', "own.toml", "unmeasured",
         'measure = "NAME"'),
        ('comparison = "share_of_own"', 'comparison = "share"', "'electorate'", "comparison", "share_of_own"),
        ('of = "tax_revenue"', 'of = "revenue"', "requirement 'collection'", "of", "population, tax_revenue"),
        ('of = "population"\n', "\n", "requirement 'electorate'", "of", "population, electorate"),
        ('comparison = "more_than"\nthreshold = "200"', 'comparison = "more_than"\nby_region = { N = "1" }',
         "requirement 'urban_houses'", "by_region", "N, NE, SE, S, CO"),
        ('reading = "loss"', 'reading = "lost"', "origin", "reading", "loss, strict"),
        ('"collection"]', '"money"]', "origin", "requirements", "population, electorate"),
        ('majority = "absolute_of_voters"', 'majority = "simple"', "plebiscite", "majority", "of_those_voting"),
        ('majority = "absolute_of_voters"', "", "plebiscite", "majority", "absolute_of_voters"),
        ("residence_years = 1", "residence_years = true", "plebiscite", "residence_years", "a whole number above zero"),
        ("signatures = 100", 'signatures = "100"', "representation", "signatures", "a whole number above zero"),
        ('window = "year_before_municipal_election"', 'window = "months_before_election"', "calendar", "from_months",
         "the longer first"),
        ("exempt_from_requirements = true", "exempt = true", "fusion", "exempt_from_requirements", "true or false"),
        ("federal_territories = true", "federal_territories = 1", "exemptions", "federal_territories", "true or false"),
        ("met = [10001]", "mett = [10001]", "example 1", "mett", "met"),
        ("met = [10001]", 'met = ["many"]', "example 1", "met", "whole numbers and decimal texts"),
        ("open = [2027-01-01", 'open = ["2027"', "example", "open", "a list of days"),
        ('id = "lc_1_1967"', 'id = "../Minha lei"', "own.toml", "id", "small letters, digits and _"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_file_key_and_allowed_values(
    found: str, instead: str, where: str, key: str, allowed: str
) -> None:
    assert found in OWN
    with pytest.raises(UsageError) as refused:
        parse(OWN.replace(found, instead, 1), "own.toml")
    error = refused.value
    assert error.exit_code == 2
    assert error.where.startswith("own.toml")
    assert where in error.where
    assert f"'{key}'" in error.what
    assert allowed in error.action


def test_a_file_of_ones_own_needs_an_id_of_its_own(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN, encoding="utf-8")
    assert rule_files.read([str(own)]) == rule_files.read(["lc_1_1967"])  # the very same is the law itself
    own.write_text(OWN.replace('threshold = "200"', 'threshold = "100"'), encoding="utf-8")
    with pytest.raises(UsageError, match=r"the id 'lc_1_1967' is that of .*\[.*own\.toml\]"):
        rule_files.read([str(own)])


def test_worked_examples_that_do_not_hold_are_listed_and_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.toml"
    wrong = OWN.replace('id = "lc_1_1967"', 'id = "own"').replace("met = [10001]", "met = [10000]")
    own.write_text(wrong, encoding="utf-8")
    assert call(["rules", str(own)]) == 2
    told = capsys.readouterr()
    assert "Worked examples that do not hold:\n  item I" in told.out
    assert "population of 10000 is not_met, not met" in told.err
    assert call(["run", "--sample", "--data", str(tmp_path), "--rules", str(own)]) == 2
    assert "population of 10000 is not_met, not met" in capsys.readouterr().err


def test_a_file_that_is_no_toml_says_so() -> None:
    with pytest.raises(UsageError, match="not valid TOML"):
        parse("id = ", "own.toml")


@pytest.mark.parametrize(
    ("day", "opens", "closes", "is_open", "election"),
    [
        (date(2026, 11, 30), date(2027, 1, 1), date(2027, 12, 31), False, 2028),
        (date(2027, 6, 1), date(2027, 1, 1), date(2027, 12, 31), True, 2028),
        (date(2028, 1, 1), date(2031, 1, 1), date(2031, 12, 31), False, 2032),
        (date(2025, 1, 1), date(2027, 1, 1), date(2027, 12, 31), False, 2028),
    ],
)
def test_the_window_of_article_6(day: date, opens: date, closes: date, is_open: bool, election: int) -> None:
    found = window(rules(), day)
    assert (found.opens, found.closes, found.is_open, found.election) == (opens, closes, is_open, election)


def test_a_calendar_that_another_law_fixes_is_neither_open_nor_closed() -> None:
    found = window(rules("lc_1_1967_amended"), date(2026, 11, 30))
    assert (found.is_open, found.opens) == (None, None)
    assert "organic law" in found.reason


def test_months_before_the_election() -> None:
    own = OWN.replace(
        'window = "year_before_municipal_election"',
        'window = "months_before_election"\nfrom_months = 18\nto_months = 6',
    ).replace("open = [2027-01-01, 2027-12-31]\nclosed = [2026-12-31, 2028-01-01, 2024-10-06]", "open = [2027-04-01]")
    found = window(parse(own, "own.toml"), date(2027, 5, 1))
    assert (found.opens, found.closes, found.is_open) == (date(2027, 4, 1), date(2028, 4, 1), True)


def test_a_vote_without_a_quorum_rule_needs_only_its_majority() -> None:
    assert plebiscite_passes(rules(), Votes(registered=10, voted=6, yes=6, no=0))
