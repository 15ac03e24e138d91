"""Portuguese: every closed vocabulary has its words, sentences are put together from parts, gaps are listed."""

import polars as pl
import pytest

from transforms.catalog import tables
from transforms.columns import EVIDENCE
from transforms.rules import evaluator
from transforms.schema import Column, Kind, Table, Unit
from warehouse.export.csv import ASSEMBLY
from warehouse.export.portuguese import VOCABULARY, sentence, untranslated

REASON = Column("reason", Kind.TEXT, "Why.", "Motivo", nullable=True)


@pytest.mark.parametrize(
    ("english", "portuguese"),
    [
        ("electorate", "eleitorado"),
        (
            "ibge_estimates|ibge_census_districts",
            "IBGE: Estimativas da população residente|IBGE: Censo Demográfico 2022, agregados por distrito (básico)",
        ),
        ("certificate of IBGE: Ofício 12/2026", "certidão (IBGE): Ofício 12/2026"),
        (
            "Pancas (electorate: lost); Águia Branca (population: undetermined)",
            "Pancas (eleitorado: perde); Águia Branca (população: indeterminado)",
        ),
        ("no figure for urban_houses", "sem dado de casas no centro urbano"),
        (
            "state treasury: the state taxes collected in the area in the last closed fiscal year, certified "
            "(art. 2º, §§ 2º and 3º)",
            "Secretaria da Fazenda do Estado: certidão dos impostos estaduais arrecadados na área no último exercício "
            "(art. 2º, §§ 2º e 3º)",
        ),
        (
            "a sentence nobody knows; census and estimate disagree",
            "a sentence nobody knows; Censo e estimativa divergem",
        ),
    ],
)
def test_sentences_are_translated_part_by_part(english: str, portuguese: str) -> None:
    assert sentence(english) == portuguese


def test_what_has_no_portuguese_is_listed() -> None:
    table = Table("mart.x", "X", "One.", ("reason",), (REASON, EVIDENCE))
    rows = pl.DataFrame(
        {
            "reason": ["census and estimate disagree; because", "no figure for weather"],
            "evidence": ["missing", "derived"],
        }
    )
    assert list(untranslated(table, rows)) == ["reason: because", "reason: no figure for weather"]


def test_every_value_that_an_export_can_show_has_portuguese() -> None:
    shown = {value for name in ASSEMBLY for column in tables()[name].columns for value in column.values or ()}
    assert shown - VOCABULARY.keys() == set()
    assert {unit.value for unit in Unit} - VOCABULARY.keys() == set()
    assert {kind.value for kind in Kind} - VOCABULARY.keys() == set()


def test_the_verdicts_of_the_evaluator_are_known() -> None:
    assert {evaluator.MET, evaluator.NOT_MET, evaluator.UNDETERMINED} <= VOCABULARY.keys()
    assert set(evaluator.DISAGREE.values()) <= VOCABULARY.keys()
