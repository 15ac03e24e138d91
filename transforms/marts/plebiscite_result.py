"""mart.plebiscite_result: every area voted, its count, and whether it passes under each rule set."""

from collections.abc import Sequence

import polars as pl

from transforms.columns import AREA, AREA_NAME, RULE_SET, UF
from transforms.core.proposal import EVENT, PROPOSAL
from transforms.petition import Petition, decisions
from transforms.plebiscite import COUNTS
from transforms.schema import Column, Kind, Table, Unit

VERDICTS = {True: "passed", False: "failed", None: "undetermined"}


def _needed(name: str, description: str, label: str) -> Column:
    return Column(name, Kind.INTEGER, description, label, Unit.VOTERS, nullable=True, minimum=0)


TABLE = Table(
    name="mart.plebiscite_result",
    title="Resultado dos plebiscitos",
    grain="One row per proposal, rule set and area voted",
    key=("rule_set", "proposal_id", "held_on", "area_voted"),
    columns=(
        RULE_SET,
        PROPOSAL,
        AREA,
        AREA_NAME,
        UF,
        Column("held_on", Kind.DATE, "Day of the plebiscite.", "Data"),
        EVENT["area_voted"].but(nullable=False),
        *(EVENT[name] for name in COUNTS),
        EVENT["counted_from"],
        _needed("turnout_needed", "Least turnout that the rule set asks for.", "Comparecimento mínimo"),
        _needed("yes_needed", "Fewest votes for Sim that the rule set asks for.", "Votos Sim necessários"),
        Column("verdict", Kind.TEXT, "Passed, failed, or undetermined: figures are missing.", "Resultado",
               values=tuple(VERDICTS.values())),
        Column("reason", Kind.TEXT, "The figures that decide.", "Motivo"),
        Column("is_latest", Kind.BOOLEAN, "Whether it was held under the last order of a plebiscite.", "É o último"),
    ),
    may_be_empty=True,
)  # fmt: skip


def plebiscite_result(petitions: Sequence[Petition]) -> pl.DataFrame:
    """The ballots of every petition, under the rule sets that have a plebiscite."""
    return TABLE.frame(
        petition.identity
        | {name: held[name] for name in ("area_voted", "counted_from", *COUNTS)}
        | {
            "held_on": held["date"],
            "turnout_needed": decision.turnout_needed,
            "yes_needed": decision.yes_needed,
            "verdict": VERDICTS[decision.passes],
            "reason": decision.reason,
            "is_latest": held in petition.round,
        }
        for petition in petitions
        for held, decision in decisions(petition, petition.of("plebiscite_held"))
    )
