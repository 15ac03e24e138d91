"""Every stage of a petition, every transition, every deadline: arts. 1º to 8º, under several rule sets."""

from datetime import date
from typing import Any

import pytest

from tests.petitions import AMENDED, FUSION, GROUP, LAW, Register, here, made, verdicts, whole
from tests.states import rules
from transforms.catalog import tables
from transforms.marts.proposal_stage import STAGES
from warehouse.export import portuguese

# Art. 1º


@pytest.mark.parametrize(
    ("signed", "status", "reason"),
    [
        ("claimed=130|recognised=84|residents=130", "blocked", "84 valid signatures, 100 needed"),
        ("claimed=130|recognised=130|residents=99", "blocked", "99 valid signatures, 100 needed"),
        ("claimed=100|recognised=100|residents=100", "done", "100 valid signatures, 100 needed"),
        ("claimed=100|recognised=100", "done", "100 valid signatures, 100 needed"),
        ("claimed=400", "due", "not told: recognised"),
        ("", "due", "not told: recognised"),
    ],
)
def test_article_1_wants_a_hundred_recognised_signatures(signed: str, status: str, reason: str) -> None:
    stages = Register().received(value=signed).stages()
    found = stages["representation"]
    assert (found["status"], found["reason"], found["article"]) == (status, reason, "art. 1º, parágrafo único")
    assert here(stages) == ("information" if status == "done" else "representation")
    if status != "done":
        assert stages["information"]["waits_for"] == "representation"


def test_the_representation_is_found_wherever_its_row_stands() -> None:
    this = Register().asked("2026-02-02").received("2026-02-02")
    assert this.stages()["representation"]["status"] == "done"


@pytest.mark.parametrize(
    ("signed", "status"),
    [(1999, "blocked"), (2000, "due"), (2199, "due"), (2200, "done")],
)
def test_a_share_of_the_voters_is_judged_within_the_bounds_of_the_electorate(signed: int, status: str) -> None:
    bill = Register(electorate=(10_000, 11_000)).received(value=f"claimed={signed}").stages(rules("pls_98_2002"))
    assert bill["representation"]["status"] == status  # 20 %


# Art. 2º


def test_information_is_due_sixty_days_from_receipt_and_overdue_the_day_after() -> None:
    def on(day: date) -> dict[str, Any]:
        return Register(as_of=day).received().asked("2026-03-10").stages()["information"]

    last = on(date(2026, 5, 9))
    assert (last["status"], last["due_on"], last["days_left"]) == ("due", date(2026, 5, 9), 0)
    assert last["working_day"] == date(2026, 5, 11)  # the 9th is a Saturday
    after = on(date(2026, 5, 10))
    assert (after["status"], after["due_on"], after["days_left"]) == ("overdue", date(2026, 5, 9), -1)
    assert after["next_step"] == "press IBGE; press TRE; press state treasury"


def test_a_term_runs_over_the_end_of_the_year() -> None:
    found = Register(as_of=date(2026, 12, 31)).received().asked("2026-11-10").stages()["information"]
    assert (found["status"], found["due_on"], found["days_left"]) == ("due", date(2027, 1, 9), 9)


def test_each_body_has_its_own_term() -> None:
    this = Register(as_of=date(2026, 6, 1)).received()
    this.asked("2026-03-02", ["IBGE"]).asked("2026-03-20", ["TRE-ES"]).asked("2026-04-02", ["SEFAZ-ES"])
    this.answered("2026-05-04", ["IBGE"])
    columns = ["body", "due_on", "answered_on", "status", "days_late"]
    assert this.of("mart.proposal_request").select(columns).rows() == [
        ("IBGE", date(2026, 5, 1), date(2026, 5, 4), "done", 3),
        ("TRE", date(2026, 5, 19), None, "overdue", 13),
        ("state treasury", date(2026, 6, 1), None, "due", 0),
    ]
    found = this.stages()["information"]
    assert (found["status"], found["due_on"]) == ("overdue", date(2026, 5, 19))
    assert found["reason"] == (
        "IBGE: answered on 2026-05-04, 3 days late; TRE: due on 2026-05-19, 13 days overdue; "
        "state treasury: due on 2026-06-01"
    )


def test_bodies_not_asked_are_named() -> None:
    nobody = Register().received().stages()["information"]
    assert (nobody["status"], nobody["due_on"]) == ("due", None)
    assert nobody["next_step"] == "request from IBGE; request from TRE; request from state treasury"
    one = Register(as_of=date(2026, 3, 20)).received().asked(bodies=["IBGE"]).stages()["information"]
    assert (one["status"], one["due_on"]) == ("due", date(2026, 5, 9))
    assert one["next_step"] == "request from TRE; request from state treasury"
    answered = Register().received().asked(bodies=["IBGE"]).answered(bodies=["IBGE"]).stages()["information"]
    assert (answered["status"], answered["due_on"]) == ("due", None)


def test_article_2_is_done_when_all_certificates_are_in_and_the_screen_agrees() -> None:
    stages = Register().received().asked().answered().stages()
    found = stages["requirements"]
    assert (found["status"], found["done_on"]) == ("done", date(2026, 4, 20))
    assert found["reason"] == "screen as of 2026-11-30: eligible"
    assert (stages["information"]["status"], here(stages)) == ("done", "plebiscite")


def test_article_2_waits_for_certificates() -> None:
    found = Register().received().asked().answered(bodies=["IBGE"]).stages()["requirements"]
    assert (found["status"], found["waits_for"]) == ("blocked", "information")
    assert "TRE: no certificate; state treasury: no certificate" in found["reason"]


def test_article_2_is_open_while_the_screen_is() -> None:
    this = Register(status="undetermined", failing=("electorate",)).received().asked().answered()
    stages = this.stages()
    assert stages["requirements"]["status"] == "due"
    assert "undetermined: electorate" in stages["requirements"]["reason"]
    assert stages["requirements"]["next_step"] == "enter the certified figures in certificates.csv"
    assert here(stages) == "requirements"
    assert stages["plebiscite"]["waits_for"] == "requirements"


def test_article_2_blocks_an_ineligible_area_even_after_the_plebiscite() -> None:
    for this in (Register().received().asked().answered(), whole()):
        this.status, this.failing = "ineligible", ("population",)
        stages = this.stages()
        assert (stages["requirements"]["status"], here(stages)) == ("blocked", "requirements")
        assert stages["requirements"]["reason"].endswith("not met: population")


def test_a_rule_set_without_a_term_still_wants_certificates() -> None:
    stages = Register().received(value="claimed=9999").stages(rules("pls_98_2002"))
    assert stages["information"]["status"] == "not_applicable"
    assert stages["requirements"]["status"] == "due"
    assert stages["requirements"]["next_step"].startswith("request from ")


# Arts. 3º and 5º


def test_the_plebiscite_is_ordered_then_held() -> None:
    before = Register().received().asked().answered()
    assert before.stages()["plebiscite"]["next_step"] == "order the plebiscite"
    ordered = before.ordered().stages()
    assert (ordered["plebiscite"]["status"], here(ordered)) == ("due", "plebiscite")
    assert "voters resident for more than 1 year, ballot Sim or Não" in ordered["plebiscite"]["next_step"]
    assert ordered["plebiscite"]["article"] == "art. 3º"
    assert ordered["majority"]["waits_for"] == "plebiscite"
    held = before.held().stages()
    assert (held["plebiscite"]["status"], held["plebiscite"]["done_on"]) == ("done", date(2026, 10, 4))


def test_the_majority_differs_between_1967_and_1977() -> None:
    this = Register(GROUP).received().asked().answered().ordered()
    this.held("electorate=18500|turnout=12000|yes=8100|no=3500|blank=250|null=150")
    old, new = this.stages(), this.stages(AMENDED)
    assert (old["majority"]["status"], old["majority"]["article"]) == ("blocked", "art. 5º")
    assert old["majority"]["reason"] == "8100 yes, 9251 needed"
    assert here(old) == "majority"
    assert (new["majority"]["status"], new["majority"]["done_on"]) == ("done", date(2026, 10, 4))
    assert (new["calendar"]["status"], here(new)) == ("due", "calendar")
    results = this.of("mart.plebiscite_result", LAW, AMENDED)
    assert results.select("rule_set", "verdict", "turnout_needed", "yes_needed").rows() == [
        ("lc_1_1967", "failed", None, 9251),
        ("lc_1_1967_amended", "passed", 9250, 6001),
    ]


def test_barra_da_tijuca_as_a_proposal() -> None:
    this = Register().received().asked().answered().ordered().held("electorate=47955|turnout=6217|yes=5785|no=354")
    assert this.stages()["majority"]["reason"] == "5785 yes, 23978 needed"
    assert this.stages(AMENDED)["majority"]["reason"] == "turnout 6217 of 47955, 23978 needed; 5785 yes, 3109 needed"


def test_every_area_voted_must_agree() -> None:
    this = Register(GROUP).received().asked().answered().ordered()
    this.held("area=3200607|electorate=1000|turnout=900|yes=501|no=399|blank=0|null=0")
    this.held("area=3202207|electorate=1000|turnout=900|yes=500|no=400|blank=0|null=0")
    found = this.stages()["majority"]
    assert found["status"] == "blocked"
    assert found["reason"] == "Aracruz: 501 yes, 501 needed; Fundão: 500 yes, 501 needed"
    assert this.stages(AMENDED)["majority"]["status"] == "done"


def test_figures_not_entered_are_asked_for() -> None:
    found = Register().received().asked().answered().ordered().held("").stages()["majority"]
    assert (found["status"], found["reason"]) == ("due", "not told: electorate; not told: yes")


def test_a_second_plebiscite_takes_the_place_of_the_first() -> None:
    this = Register().received("1990-02-01").asked("1990-03-01").answered("1990-04-01").ordered("1990-06-01")
    this.add("plebiscite_held", "1990-11-25", "electorate=30000|yes=14101")
    assert this.stages()["majority"]["status"] == "blocked"
    this.ordered("1993-12-01")
    assert (this.stages()["majority"]["waits_for"], this.stages()["plebiscite"]["status"]) == ("plebiscite", "due")
    this.add("plebiscite_held", "1994-03-13", "electorate=30000|yes=15001")
    assert this.stages()["majority"]["status"] == "done"
    assert this.of("mart.plebiscite_result").select("verdict", "is_latest").rows() == [
        ("failed", False),
        ("passed", True),
    ]


# Arts. 4º and 7º


def test_a_fusion_is_spared_the_requirements_but_every_municipality_votes() -> None:
    this = Register(FUSION, status="undetermined").received().ordered()
    first = this.held("area=3200607|electorate=4300|turnout=3600|yes=2500|no=1100|blank=0|null=0").stages()
    assert verdicts(first) | {"plebiscite": "due", "fusion": "blocked"} == verdicts(first)
    assert {first["requirements"]["status"], first["information"]["status"]} == {"not_applicable"}
    assert "no result of Fundão" in first["plebiscite"]["reason"]
    both = this.held("area=3202207|electorate=5100|turnout=4300|yes=2900|no=1400|blank=0|null=0").stages()
    assert (both["fusion"]["status"], both["majority"]["status"]) == ("done", "done")
    assert both["fusion"]["article"] == "art. 4º"
    assert "the fusion and the seat" in both["fusion"]["reason"]


def test_a_fusion_that_one_municipality_refuses_fails() -> None:
    this = Register(FUSION).received().ordered().held("area=3200607|electorate=4300|yes=2500")
    found = this.held("area=3202207|electorate=5100|yes=2550").stages()["majority"]
    assert (found["status"], found["reason"]) == (
        "blocked",
        "Aracruz: 2500 yes, 2151 needed; Fundão: 2550 yes, 2551 needed",
    )


def test_a_district_is_no_fusion_and_a_state_no_territory() -> None:
    stages = whole().stages()
    assert (stages["fusion"]["status"], stages["fusion"]["reason"]) == ("not_applicable", "not a fusion")
    assert (stages["territory"]["status"], stages["territory"]["article"]) == ("not_applicable", "art. 7º")


def test_a_federal_territory_is_exempt() -> None:
    stages = Register(uf="RO", as_of=date(1981, 12, 21)).received("1981-02-02").stages()
    assert (stages["territory"]["status"], stages["requirements"]["status"]) == ("done", "not_applicable")
    state = Register(uf="RO", as_of=date(1981, 12, 22)).received("1981-02-02").stages()
    assert (state["territory"]["status"], state["information"]["status"]) == ("not_applicable", "due")


# Arts. 6º, 5º § 1º and 8º


def test_the_law_waits_for_the_year_before_the_municipal_election() -> None:
    closed = whole().stages()
    window = closed["calendar"]
    assert (window["status"], here(closed)) == ("blocked", "calendar")
    assert (window["opens_on"], window["due_on"]) == (date(2027, 1, 1), date(2027, 12, 31))
    assert window["reason"] == "closed until 2027-01-01"
    assert closed["limits"]["waits_for"] == closed["installation"]["waits_for"] == "calendar"
    for day in (date(2027, 1, 1), date(2027, 12, 31)):
        this = whole()
        this.as_of = day
        opened = this.stages()
        assert (opened["calendar"]["status"], opened["calendar"]["due_on"]) == ("due", date(2027, 12, 31))
        assert opened["calendar"]["next_step"] == "present the bill"
        assert opened["limits"]["next_step"] == "draw the limits in the bill"
        this.add("bill", "2026-12-01")
        assert this.stages()["calendar"]["next_step"] == "pass the law"
    this = whole()
    this.as_of = date(2028, 1, 1)
    assert this.stages()["calendar"]["opens_on"] == date(2031, 1, 1)


def test_a_law_outside_the_window_is_told() -> None:
    assert made().stages()["calendar"]["status"] == "done"
    late = made("2028-01-01", as_of="2028-02-01").stages()["calendar"]
    assert (late["status"], late["reason"]) == ("blocked", "law of 2028-01-01; outside the window")
    assert made("2028-01-01", as_of="2028-02-01").stages(AMENDED)["calendar"]["status"] == "done"


@pytest.mark.parametrize(
    ("limits", "status"),
    [("limits=yes", "done"), ("limits=no", "blocked"), ("", "due")],
)
def test_the_law_must_draw_the_limits(limits: str, status: str) -> None:
    found = made(limits=limits).stages()["limits"]
    assert (found["status"], found["article"]) == (status, "art. 8º")


def test_installation_comes_with_the_next_municipal_election() -> None:
    waiting = made().stages()
    assert (waiting["installation"]["status"], waiting["installation"]["due_on"]) == ("due", date(2028, 10, 1))
    assert (here(waiting), waiting["installation"]["article"]) == ("installation", "art. 5º, § 1º")
    assert made(as_of="2028-10-01").stages()["installation"]["status"] == "due"
    assert made(as_of="2028-10-02").stages()["installation"]["status"] == "overdue"
    elected = made(as_of="2028-12-01").add("election", "2028-10-01")
    assert (elected.stages()["installation"]["status"], elected.stages()["installation"]["due_on"]) == (
        "due",
        date(2029, 1, 1),
    )
    elected.as_of = date(2029, 1, 2)
    assert elected.stages()["installation"]["status"] == "overdue"
    elected.add("installation", "2029-01-01")
    stages = elected.stages()
    assert set(verdicts(stages).values()) == {"done", "not_applicable"}
    assert (here(stages), elected.of("core.proposal")["outcome"].item()) == (None, "installed")


def test_an_election_of_another_year_is_no_municipal_election() -> None:
    found = made(as_of="2030-12-01").add("election", "2030-10-06").stages()["installation"]
    assert (found["status"], found["reason"]) == ("blocked", "the election of 2030-10-06 was no municipal election")


# The end, and the date of the run


@pytest.mark.parametrize("end", ["withdrawn", "rejected"])
def test_an_ended_proposal_waits_for_nothing(end: str) -> None:
    this = Register().received().asked().add(end, "2026-04-01")
    stages = this.stages()
    assert here(stages) is None
    assert set(verdicts(stages).values()) == {"done", "not_applicable"}
    assert stages["information"]["reason"] == f"{end} on 2026-04-01"
    assert stages["information"]["due_on"] is None
    assert this.of("mart.proposal_request")["status"].unique().to_list() == ["closed"]
    assert this.of("core.proposal")["outcome"].item() == end


# All of it together


def test_every_stage_has_a_row_in_the_order_of_the_law() -> None:
    found = whole().of("mart.proposal_stage", LAW, AMENDED)
    assert found["stage"].to_list() == [*STAGES] * 2
    assert found["stage_number"].to_list() == [*range(1, 11)] * 2
    articles = found.filter(rule_set=LAW.id)["article"].to_list()
    assert articles == [
        "art. 1º, parágrafo único", "art. 2º", "art. 2º, § 3º", "art. 3º", "art. 4º", "art. 5º", "art. 5º, § 1º",
        "art. 6º", "art. 7º", "art. 8º",
    ]  # fmt: skip


def test_without_petitions_every_table_is_empty() -> None:
    for name in ("core.proposal", "core.proposal_event", "mart.proposal_stage", "mart.proposal_request"):
        assert Register().of(name).is_empty()


def test_whatever_a_stage_says_is_said_in_portuguese_too() -> None:
    table = tables()["mart.proposal_stage"]
    days = (date(2026, 3, 1), date(2026, 4, 1), date(2026, 12, 1), date(2027, 3, 1), date(2029, 1, 2))
    steps = [
        Register().received(value="claimed=130|recognised=84"), Register().received(value=""), Register().received(),
        Register().received().asked(), Register().received().asked(bodies=["IBGE"]),
        Register().received().asked().answered("2026-06-01"),
        Register(status="undetermined", failing=("origin",)).received().asked().answered(),
        Register(status="ineligible", failing=("urban_houses",)).received(),
        Register().received().asked().answered().ordered(), Register(FUSION).received().ordered(),
        Register().received().asked().answered().ordered().held(""), whole(),
        Register(GROUP).received().asked().answered().ordered().held("area=3200607|yes=1|no=9").held("area=3202207"),
        whole().add("bill", "2026-11-01"), made(limits="limits=no"), made(limits=""), made("2028-01-01"),
        made().add("election", "2028-10-01"), made().add("election", "2028-10-01").add("installation", "2029-01-01"),
        made("2028-02-01").add("election", "2028-03-01"), Register().received().add("withdrawn", "2026-02-03"),
        Register(uf="RO").received("1981-02-02"),
    ]  # fmt: skip
    laws = (LAW, AMENDED, rules("pls_98_2002"), rules("sp_adct_34_1989"))
    for this in steps:
        for this.as_of in (*days, date(1981, 12, 1)):
            assert not list(portuguese.untranslated(table, this.of("mart.proposal_stage", *laws)))
