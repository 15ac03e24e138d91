"""The register of petitions: what proposals.csv may say, and what is refused, with its line."""

from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from flows.proposals import require_past
from tests.petitions import AMENDED, GROUP, LAW, SEAT, Register, here, whole
from tests.test_plebiscite import reports, section
from transforms.bodies import competent
from transforms.errors import UsageError
from transforms.sources import Scope, inputs_proposals
from warehouse.sample import inputs as sample_inputs

# What cannot be is refused, with its line.


@pytest.mark.parametrize(
    ("register_", "told"),
    [
        (Register().asked(), "information_requested: no representation_received before 2026-03-10"),
        (Register().received().ordered("2026-02-01"), "ordered: no representation_received before 2026-02-01"),
        (Register().received().answered(), "certificate_received: no information_requested of IBGE before"),
        (
            Register().received().asked(bodies=["IBGE"]).answered(bodies=["TRE-ES"]),
            "certificate_received: no information_requested of TRE-ES before 2026-04-20",
        ),
        (
            Register().received().asked(bodies=["IBGE"]).answered("2026-03-09", ["IBGE"]),
            "certificate_received: no information_requested of IBGE before 2026-03-09",
        ),
        (Register().received().held(), "plebiscite_held: no plebiscite_ordered before 2026-10-04"),
        (Register().received().ordered("2026-10-04").held(), "held: no plebiscite_ordered before 2026-10-04"),
        (Register().received().ordered().add("bill", "2026-11-01"), "bill: no plebiscite_held before 2026-11-01"),
        (whole().add("law", "2026-11-01"), "law: no bill before 2026-11-01"),
        (whole().add("bill", "2026-11-03").add("law", "2026-11-02"), "law: no bill before 2026-11-02"),
        (whole().add("bill", "2026-10-03"), "bill: no plebiscite_held before 2026-10-03"),
        (whole().add("election", "2026-11-02"), "election: no law before 2026-11-02"),
        (whole().add("installation", "2026-11-02"), "installation: no election before 2026-11-02"),
        (
            whole().add("bill", "2026-10-05").add("law", "2026-11-02").add("election", "2026-11-02"),
            "election: no law before 2026-11-02",
        ),
        (Register().received().received("2026-03-01"), "representation_received: it is in line 2 already"),
        (Register().received().asked().asked(bodies=["IBGE"]), "IBGE was asked on that day already (line 3)"),
        (
            Register().received().asked(bodies=["TRE"]).asked(bodies=["Tribunal Regional Eleitoral"]),
            "Tribunal Regional Eleitoral was asked on that day already (line 3)",
        ),
        (
            Register().received().add("withdrawn", "2026-03-01").ordered(),
            "plebiscite_ordered: the proposal ended with withdrawn on 2026-03-01 (line 3)",
        ),
        (
            Register().received().add("rejected", "2026-03-01").add("withdrawn", "2026-03-01"),
            "rejected: the proposal ended with withdrawn on 2026-03-01 (line 4)",
        ),
        (
            whole().add("bill", "2026-10-05").add("law", "2026-11-02").add("withdrawn", "2026-11-03"),
            "withdrawn: the law of 2026-11-02 is made",
        ),
        (Register().received("1967-11-08"), "is before the law of 1967-11-09 [proposals.csv, line 2, column date]"),
        (Register().received().add("bill", "2026-03-01", area=GROUP), "the area was 320060720 in line 2"),
        (whole().held(), "320060720 voted under the same order already (line 10)"),
        (
            Register(GROUP).received().ordered().held("area=3200607").held("electorate=9"),
            "the whole area voted as one, and parts of it too",
        ),
    ],
)  # fmt: skip
def test_events_in_an_order_that_cannot_be_are_refused(register_: Register, told: str) -> None:
    assert told in register_.refused()


@pytest.mark.parametrize(
    ("area", "told"),
    [
        ("329999999", "unknown area '329999999': a district's 9-digit code, or an area_id of candidates.csv"),
        ("310020305", "unknown area '310020305'"),  # of another state
        ("no such group", "unknown area 'no such group'"),
        (SEAT, f"unknown area '{SEAT}': seat of its município"),
    ],
)
def test_unknown_areas_are_refused(area: str, told: str) -> None:
    said = Register(area).received().refused()
    assert told in said
    assert "proposals.csv, line 2, column area_id" in said


def test_every_fault_is_told_at_once() -> None:
    said = Register().asked(bodies=["IBGE"]).add("law", "2026-03-01", area="x").held().refused()
    assert "line 3, column area_id: unknown area 'x'" in said
    assert "line 4, column event: plebiscite_held" in said


def test_a_date_that_does_not_exist_is_refused() -> None:
    assert "'2026-02-30' is no date" in Register().received("2026-02-30").refused()


@pytest.mark.parametrize("place", ["3205002", "320500215", "Aracruz"])
def test_only_parts_of_the_area_can_vote(place: str) -> None:
    said = Register(GROUP).received().ordered().held(f"area={place}|yes=1").refused()
    assert f"'{place}' is no part of the area" in said


def test_the_order_of_rows_in_the_file_does_not_matter() -> None:
    forward, backward = whole(), whole()
    backward.lines.reverse()
    columns = pl.exclude("line")
    assert backward.of("mart.proposal_stage").equals(forward.of("mart.proposal_stage"))
    key = ["date", "event", "body"]
    events = [each.of("core.proposal_event").select(columns).sort(key, nulls_last=True) for each in (forward, backward)]
    assert events[0].equals(events[1])


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("IBGE", "IBGE"),
        ("ibge/ES", "IBGE"),
        ("TRE-ES", "TRE"),
        ("Tribunal Regional Eleitoral do Espírito Santo", "TRE"),
        ("SEFAZ-ES", "state treasury"),
        ("SEF/MG", "state treasury"),
        ("Secretaria de Estado da Fazenda", "state treasury"),
        ("state treasury", "state treasury"),
        ("Trebeschi", "Trebeschi"),
        ("Prefeitura", "Prefeitura"),
    ],
)
def test_bodies_are_known_by_the_names_people_write(text: str, body: str) -> None:
    assert competent(text) == body


# Plebiscites by section


def test_sections_of_the_electoral_court_equal_typed_figures() -> None:
    votes = {"1": 150, "2": 60, "95": 5, "96": 3}
    places = (section("56014", 1, 300), section("56014", 2, 310), section("57010", 1, 290))
    typed = Register(GROUP).received().asked().answered().ordered()
    typed.held("electorate=900|turnout=654|yes=450|no=180|blank=15|null=9")
    read = Register(GROUP, sections=reports(*places, votes=votes)).received().asked().answered().ordered()
    read.held("election=701|question=61")
    assert read.of("mart.proposal_stage", LAW, AMENDED).equals(typed.of("mart.proposal_stage", LAW, AMENDED))
    assert read.of("mart.plebiscite_result")["counted_from"].to_list() == ["sections"]
    counts = pl.exclude("counted_from")
    assert read.of("mart.plebiscite_result").select(counts).equals(typed.of("mart.plebiscite_result").select(counts))


def test_sections_are_told_apart_by_municipality() -> None:
    votes = {"1": 150, "2": 60}
    sections = reports(section("56014", 1, 300), section("57010", 1, 290), votes=votes)
    this = Register(GROUP, sections=sections).received().asked().answered().ordered()
    this.held("area=3200607|election=701|question=61").held("area=3202207|election=701|question=61")
    found = this.of("mart.plebiscite_result").select("area_voted", "electorate", "yes", "yes_needed").rows()
    assert found == [("3200607", 300, 150, 151), ("3202207", 290, 150, 146)]


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ("election=701|question=62", "no section of election 701, question 62 in plebiscite_sections.csv"),
        ("area=3202207|election=701|question=61", "no section of election 701, question 61 in município 3202207"),
        ("election=701|question=61|yes=151", "yes 151 was typed, the sections add up to 150"),
        ("election=701", "election and question go together"),
    ],
)
def test_sections_that_do_not_fit_the_event_are_refused(figures: str, told: str) -> None:
    sections = reports(section("56014", 1, 300), votes={"1": 150, "2": 60})
    assert told in Register(GROUP, sections=sections).received().ordered().held(figures).refused()


def test_sections_of_another_day_are_refused() -> None:
    sections = reports(section("56014", 1, 300), votes={"1": 150})
    this = Register(sections=sections).received().ordered()
    this.add("plebiscite_held", "2026-10-25", "election=701|question=61")
    assert "election 701 was held on 2026-10-04" in this.refused()


# The date of the run


def test_events_after_the_date_of_the_run_are_kept_but_not_counted() -> None:
    this = whole()
    this.as_of = date(2026, 5, 1)
    stages = this.stages()
    assert (here(stages), stages["plebiscite"]["reason"]) == ("plebiscite", "not ordered")
    assert this.of("core.proposal_event")["is_counted"].to_list() == [True] * 7 + [False] * 2
    this.as_of = date(2026, 1, 1)
    assert this.of("core.proposal").is_empty()
    assert this.of("mart.proposal_stage").is_empty()


def test_events_after_today_are_refused_in_brasilia_whatever_the_zone_of_the_clock() -> None:
    staged = Register().received("2026-12-02").of("core.proposal_event").lazy()
    scope = Scope("ES", date(2026, 11, 30))
    late = datetime(2026, 12, 2, 2, 59, tzinfo=UTC)  # still the 1st in Brasília
    with pytest.raises(
        UsageError, match=r"2026-12-02 is after today, 2026-12-01 \[proposals.csv, line 2, column date\]"
    ):
        require_past(staged, scope, late)
    require_past(staged, scope, late.replace(hour=3, minute=0))
    require_past(staged, Scope("ES", date(2026, 12, 2)), late)


# The sample


def test_the_sample_has_every_event_and_says_that_it_is_simulated() -> None:
    lines = Path(str(sample_inputs() / "proposals.csv")).read_text(encoding="utf-8").splitlines()[1:]
    assert {line.split(";")[2] for line in lines} == set(inputs_proposals.EVENTS)
    assert all("SIMULADO" in line for line in lines)
