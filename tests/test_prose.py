"""A rule set in plain words."""

from datetime import date
from importlib.resources import files

from tests.states import rules
from transforms.rules.prose import listing, prose, told
from transforms.rules.reading import parse

DAY = date(2026, 11, 30)


def test_the_law_in_words_with_its_articles() -> None:
    lines = prose(rules(), DAY).splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert (
        "1. population (art. 2º, I): population more than 10,000 persons or population at least 0.5 % of the state's "
        "population." in text
    )
    assert "“eleitorado não inferior a 10% (dez por cento) da população”" in text
    assert "No município of origin may lose any of" in text
    assert "2027-01-01 to 2027-12-31, before the election of 2028: closed until then." in text
    assert f"All {len(rules().examples)} worked examples hold." in text
    assert "nenhum município pode ser criado" in text


def test_what_was_superseded_on_a_day_not_known_is_not_told_as_in_force() -> None:
    told_of = {row["id"]: row["in_force"] for row in listing([rules(name) for name in ("lc_1_1967", "pa_lc_74_2010")])}
    assert told_of["lc_1_1967"] == "in force from 1967-11-09 until 1988-10-04"
    assert told_of["pa_lc_74_2010"] == "in force from 2010-01-01 until superseded (end unknown)"


def test_what_has_no_data_is_said() -> None:
    text = " ".join(prose(rules("pls_98_2002"), DAY).split())
    assert "vetoed, BR, never in force" in text
    assert "No data for buildings" in text
    assert "What remains of each município of origin must meet population, buildings, own_revenue" in text
    assert "population at least (by region) N 6,008; NE 8,411; SE 12,016; S 12,016; CO 6,008 persons" in text


def test_shares_are_told_exactly() -> None:
    arm = rules("sc_lc_37_1991").requirement("electorate").arms[0]
    assert told(arm) == "electorate at least 30 % of its own population"


def test_examples_that_do_not_hold_are_told() -> None:
    text = prose(parse(_law().replace("met = [10001]", "met = [10000]"), "own.toml"), DAY)
    assert "Worked examples that do not hold:\n  item I, where 10,000 is the easier arm: population of 10000" in text


def test_listing() -> None:
    assert [entry["id"] for entry in listing([rules(), rules("mg_lc_37_1995")])] == ["lc_1_1967", "mg_lc_37_1995"]
    assert listing([rules("mg_lc_37_1995")])[0]["requirements"] == "electorate, urban_houses"


def _law() -> str:
    return (files("transforms.rules") / "lc_1_1967.toml").read_text(encoding="utf-8")
