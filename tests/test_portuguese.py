"""No English reaches the assembly: every phrase that samples, invented states and rule sets show has words."""

from collections.abc import Iterator, Mapping
from functools import cache

import polars as pl
import pytest

from expectations import drift
from expectations.domain import TRUTHS
from flows import rule_files
from tests.assembly import sample
from tests.states import Invented
from transforms.catalog import sources, tables
from transforms.core import district_collection, district_houses, polling_place
from transforms.marts import sensitivity
from transforms.rules.reading import RuleSet
from transforms.screen import screen
from warehouse.build import checks
from warehouse.export.portuguese import VOCABULARY, sentence, untranslated
from warehouse.export.portuguese_checks import CHECKS
from warehouse.export.xlsx import SHEETS

Frames = Mapping[str, pl.DataFrame]


@cache
def rule_sets() -> tuple[RuleSet, ...]:
    return tuple(file.rule_set for file in rule_files.read(rule_files.shipped()))


def crowded() -> Invented:
    """Areas on either side of every threshold, certified, stated, without places and without a census row."""
    state = Invented()
    for number in range(3):
        code = f"3100{number}04"
        state.district(f"{code}05", 30_000, voters=9_000)
        state.district(f"{code}10", 12_000, voters=2_000, name="Vila; Nova")
        state.district(f"{code}15", 11_000)
        state.district(f"{code}20", 300, voters=20, dwellings=100)
        state.district(f"{code}25", None)
        state.collection(code, "1900000.00")
    state.collection("310010410", "80000.00")
    state.collection("310020410", "20000.00", quality="estimado")
    state.certificate("310000415", "population", "12500")
    state.certificate("310000415", "electorate", "1500")
    state.candidate("grupo", "group", ["310000410", "310010410"])
    state.candidate("fusao", "fusion", [f"3100{n}04{d}" for n in (1, 2) for d in ("05", "10", "15", "20", "25")])
    return state


def poor() -> Invented:
    """Neither revenue, collections nor estimates of one município."""
    state = Invented(state_tax=None)
    state.district("310000405", 30_000, voters=9_000, estimate=False)
    state.district("310000410", 12_000, voters=2_000, estimate=False)
    state.district("310010405", 20_000, voters=9_000)
    state.district("310010410", 15_000, voters=500)
    return state


def capital() -> Invented:
    state = Invented(uf="SP")
    state.district("355030801", 90_000, voters=9_000)
    state.district("355030802", 90_000, voters=9_000)
    return state


@pytest.mark.parametrize("invented", [crowded, poor, capital], ids=lambda make: str(make.__name__))
def test_every_phrase_of_an_invented_state_has_portuguese(invented: object) -> None:
    assert callable(invented)
    state = invented()
    made = screen(state.staged(), state.scope, rule_sets())
    assert sorted(set(gaps(made))) == []


def test_every_phrase_of_the_sample_has_portuguese() -> None:
    made = {name: frame for name, (_, frame) in sample().tables.items() if isinstance(frame, pl.DataFrame)}
    assert sorted(set(gaps(made))) == []


def gaps(made: Frames) -> Iterator[str]:
    for name in (*SHEETS, "mart.no_candidate"):
        yield from untranslated(tables()[name], made[name])


def test_every_phrase_of_the_rule_sets_has_portuguese() -> None:
    phrases = {
        phrase
        for rule_set in rule_sets()
        for requirement in rule_set.requirements
        for phrase in (requirement.name, requirement.measure, requirement.body, requirement.ask)
    } | {
        measure
        for rule_set in rule_sets()
        for requirement in rule_set.requirements
        for measure in (arm.measure for arm in requirement.arms)
    }
    assert {phrase for phrase in phrases if sentence(phrase) == phrase} <= {"IBGE", "TRE"}


def test_every_method_reason_and_note_that_the_code_names_has_portuguese() -> None:
    methods = [words for words, _ in district_houses.METHODS.values()]
    methods += [f"the município's collection by {word}" for word in district_collection.WEIGHTS.values()]
    methods += [district_collection.STATED, *polling_place.METHODS, *polling_place.FLAGS]
    notes = [sensitivity.WAITS, sensitivity.EXEMPT, sensitivity.NO_STEP, sensitivity.SEVERAL.format(3)]
    assert [phrase for phrase in [*methods, *notes] if sentence(phrase) == phrase] == []


def test_every_check_that_may_be_published_unpassed_has_portuguese() -> None:
    warnings = {truth.name for truth in TRUTHS if truth.severity == "warning"}
    warnings |= {name for name, text in checks().items() if "severity: warning" in text}
    warnings |= {violation.name for violation in drift.violations({}, {})}
    assert warnings == CHECKS.keys()


@pytest.mark.parametrize(
    ("english", "portuguese"),
    [
        ("rejected on 2026-07-06", "rejeitada em 06/07/2026"),
        (
            "hold the plebiscite (voters resident for more than 1 year, ballot Sim or Não)",
            "realizar o plebiscito (votam residentes há mais de 1 ano, com cédula Sim ou Não)",
        ),
        (
            "hold the plebiscite (voters resident for more than 2 years, ballot Sim or Não)",
            "realizar o plebiscito (votam residentes há mais de 2 anos, com cédula Sim ou Não)",
        ),
        ("TRE: answered on 2026-07-06, 1 days late", "TRE: respondido em 06/07/2026, com 1 dia de atraso"),
        ("TRE: answered on 2026-07-06, 11 days late", "TRE: respondido em 06/07/2026, com 11 dias de atraso"),
        ("certificate of TRE: Ofício 2026-07-06", "certidão (TRE): Ofício 2026-07-06"),
        ("new reference period: 2025 → 2026-07-01", "nova referência: 2025 → 01/07/2026"),
    ],
)
def test_days_are_written_as_in_brazil_and_one_is_one(english: str, portuguese: str) -> None:
    assert sentence(english) == portuguese


def test_unknown_text_of_a_users_own_rules_stands_as_it_is() -> None:
    assert sentence("Prefeitura: certidão da área; e mapa") == "Prefeitura: certidão da área; e mapa"


def test_every_source_is_told_by_publisher_and_title() -> None:
    assert all(source.title in sentence(name) for name, source in sources().items())
    assert VOCABULARY["handed in by the user"] in sentence("inputs_certificates")
