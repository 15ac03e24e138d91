"""Plebiscites, real ones and boundaries, under the quorum of 1967 and that of 26-12-1977."""

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.states import rules
from transforms.plebiscite import COUNTS, Ballot, counted, decide
from transforms.rules.procedure import Votes, plebiscite_passes, quorum
from transforms.sources import tse_plebiscite

LAW_1967, LAW_1977, SAO_PAULO = rules(), rules("lc_1_1967_amended"), rules("sp_adct_34_1989")

BARRA = Ballot(electorate=47_955, turnout=6_217, yes=5_785, no=354)  # 78 blank or spoilt, not told apart
EXTREMA = Ballot(electorate=257_724, turnout=196_103, yes=170_004, no=18_853)
DOIS_LAJEADOS = Ballot(3_190, 2_862, 507, 2_225, 101, 29)


def test_barra_da_tijuca_fails_the_majority_of_the_voters_of_1967() -> None:
    found = decide(LAW_1967, BARRA)
    assert (found.passes, found.yes_needed, found.turnout_needed) == (False, 23_978, None)
    assert found.reason == "5785 yes, 23978 needed"


def test_barra_da_tijuca_fails_the_quorum_of_1977() -> None:
    found = decide(LAW_1977, BARRA)
    assert (found.passes, found.turnout_needed, found.yes_needed) == (False, 23_978, 3_109)
    assert found.reason == "turnout 6217 of 47955, 23978 needed; 5785 yes, 3109 needed"


def test_extrema_de_rondonia_passes_under_both() -> None:
    assert (decide(LAW_1977, EXTREMA).passes, decide(LAW_1977, EXTREMA).turnout_needed) == (True, 128_862)
    assert (decide(LAW_1967, EXTREMA).passes, decide(LAW_1967, EXTREMA).yes_needed) == (True, 128_863)


def test_dois_lajeados_is_measured_by_the_electorate_and_not_by_the_valid_votes() -> None:
    assert 2_225 * 1000 // 3_190 == 697  # 69.7 % of the electorate, 81.4 % of the valid votes
    for rule_set in (LAW_1967, LAW_1977):
        assert decide(rule_set, DOIS_LAJEADOS).passes is False
    turned = Ballot(3_190, 2_862, yes=2_225, no=507, blank=101, spoilt=29)
    assert decide(LAW_1967, turned).passes is True
    assert decide(LAW_1967, turned).yes_needed == 1_596


def test_ana_rech_turned_out_but_its_votes_were_not_published() -> None:
    found = decide(LAW_1977, Ballot(electorate=5_464, turnout=4_283))
    assert (found.passes, found.turnout_needed, found.yes_needed) == (None, 2_732, 2_142)
    assert found.missing == ("yes",)


def test_barao_fails_though_its_electorate_was_not_published() -> None:
    found = decide(LAW_1977, Ballot(yes=156, no=654))
    assert (found.passes, found.turnout_needed, found.yes_needed) == (False, None, None)
    assert found.reason.startswith("156 yes, at least 406 needed")
    assert decide(LAW_1967, Ballot(yes=156, no=654)).passes is False
    assert decide(LAW_1967, Ballot(yes=654, no=156)).passes is None


def test_turnout_below_the_quorum_fails_whatever_the_votes() -> None:
    found = decide(LAW_1977, Ballot(electorate=1000, turnout=499))
    assert (found.passes, found.missing) == (False, ("yes",))


@pytest.mark.parametrize(
    ("rule_set", "ballot", "passes"),
    [
        (LAW_1967, Ballot(1000, 1000, 500, 500), False),
        (LAW_1967, Ballot(1000, 501, 501, 0), True),
        (LAW_1967, Ballot(1001, 1001, 500, 501), False),
        (LAW_1967, Ballot(1001, 501, 501, 0), True),
        (LAW_1967, Ballot(0, 0, 0, 0), False),
        (LAW_1977, Ballot(1000, 500, 251, 249), True),
        (LAW_1977, Ballot(1000, 499, 499, 0), False),
        (LAW_1977, Ballot(1000, 500, 250, 0, 250, 0), False),  # blank votes are of those present
        (LAW_1977, Ballot(1001, 500, 500, 0), False),  # half of 1001 is 500.5
        (LAW_1977, Ballot(1001, 501, 251, 250), True),
        (SAO_PAULO, Ballot(1000, 501, 10, 9, 482, 0), True),  # the majority of the valid votes
        (SAO_PAULO, Ballot(1000, 500, 490, 10), False),  # the absolute majority must have voted
    ],
)
def test_every_boundary_is_a_whole_voter(rule_set: object, ballot: Ballot, passes: bool) -> None:
    assert decide(rule_set, ballot).passes is passes  # type: ignore[arg-type]


@given(st.integers(0, 10**6), st.data())
def test_the_quorums_told_are_the_ones_that_decide(registered: int, data: st.DataObject) -> None:
    voted = data.draw(st.integers(0, registered))
    yes = data.draw(st.integers(0, voted))
    votes = Votes(registered, voted, yes, data.draw(st.integers(0, voted - yes)))
    for rule_set in (LAW_1967, LAW_1977, SAO_PAULO):
        turnout, needed = quorum(rule_set, votes)
        assert plebiscite_passes(rule_set, votes) == (voted >= turnout and yes >= needed)
        assert decide(rule_set, Ballot(registered, voted, yes, votes.no)).passes is plebiscite_passes(rule_set, votes)


@given(
    st.integers(0, 2000),
    st.integers(0, 2000),
    st.integers(0, 500),
    st.integers(0, 500),
    st.sets(st.sampled_from(COUNTS)),
)
def test_unknown_figures_never_let_a_vote_pass_and_never_fail_one_that_passes(
    yes: int, no: int, other: int, absent: int, hidden: set[str]
) -> None:
    whole = Ballot(yes + no + other + absent, yes + no + other, yes, no, other, 0)
    partly = Ballot(**{name: None if name in hidden else getattr(whole, name) for name in COUNTS})
    for rule_set in (LAW_1967, LAW_1977, SAO_PAULO):
        assert decide(rule_set, partly).passes in {None, decide(rule_set, whole).passes}


# The press figures of the consultations held so far: year, município, and what each rule makes of them.
HELD = {
    ("2024", "Dois Lajeados"): (False, False),
    ("2024", "Belo Horizonte"): (False, False),
    ("2024", "São Luís"): (None, None),  # the electorate was printed wrong
    ("2024", "Governador Edison Lobão"): (None, None),
    ("2024", "São Luiz"): (None, None),
    ("2012", "Jaru"): (None, None),
    ("2012", "Governador Jorge Teixeira"): (None, None),
    ("2012", "Presidente Juscelino (Serra Caiada)"): (None, None),
    ("2011", "Pará (Carajás)"): (None, None),
    ("2011", "Pará (Tapajós)"): (None, None),
}
NAMES = {"aptos": "electorate", "comparecimento": "turnout", "sim": "yes", "nao": "no", "brancos": "blank",
         "nulos": "spoilt"}  # fmt: skip


def test_the_consultations_held_so_far(shared: Path) -> None:
    found = {}
    with (shared / "data/tse/consultas_populares_resultados.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            ballot = Ballot(**{name: int(row[column]) if row[column] else None for column, name in NAMES.items()})
            if None not in {ballot.turnout, ballot.yes, ballot.no, ballot.blank, ballot.spoilt}:
                assert ballot.at_least.voted == sum(int(row[votes]) for votes in ("sim", "nao", "brancos", "nulos"))
            found[row["ano"], row["municipio"]] = tuple(decide(law, ballot).passes for law in (LAW_1967, LAW_1977))
    assert found == HELD


# The electoral court's file: ballot-box reports, a row per section and option.


def reports(*sections: dict[str, str], votes: dict[str, int]) -> pl.DataFrame:
    """The staging rows of sections that all voted alike."""
    plain = dict.fromkeys(tse_plebiscite.HEADER, "-1") | {
        "CD_TIPO_ELEICAO": "3",
        "DT_PLEITO": "04/10/2026 00:00:00",
        "CD_ELEICAO": "701",
        "SG_UF": "ES",
        "CD_CARGO_PERGUNTA": "61",
        "DS_CARGO_PERGUNTA": "Criação de município",
        "QT_COMPARECIMENTO": str(sum(votes.values())),
    }
    rows = [
        plain | each | {"NR_VOTAVEL": option, "QT_VOTOS": str(n)} for each in sections for option, n in votes.items()
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, tse_plebiscite.HEADER, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return tse_plebiscite.parse_section(io.BytesIO(text.getvalue().encode("cp1252")))


def section(municipality: str, number: int, voters: int) -> dict[str, str]:
    return {"CD_MUNICIPIO": municipality, "NR_ZONA": "7", "NR_SECAO": str(number), "QT_APTOS": str(voters)}


def test_sections_add_up_with_their_voters_counted_once() -> None:
    votes = {"1": 150, "2": 60, "95": 5, "96": 3}
    places = (section("56014", 1, 300), section("56014", 2, 310), section("57010", 1, 290))
    sections = reports(*places, votes=votes)
    found = counted(sections, {"56014": "3200607", "57010": "3202207"})
    whole, aracruz = found["701", "61", ""], found["701", "61", "3200607"]
    assert [whole[name] for name in COUNTS] == [900, 654, 450, 180, 15, 9]
    assert [aracruz[name] for name in COUNTS] == [610, 436, 300, 120, 10, 6]
    assert whole["held_on"].isoformat() == "2026-10-04"
    assert decide(LAW_1977, Ballot(**{name: whole[name] for name in COUNTS})).passes is True
    assert decide(LAW_1967, Ballot(**{name: whole[name] for name in COUNTS})).passes is False  # 451 needed
