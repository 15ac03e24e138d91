"""Plebiscites (arts. 3º and 5º): what was counted, wherever it comes from, and what it decides. Whole voters only.

Each area voted is decided by itself (STF, ADI 733 MC). A figure that was not handed in is unknown, never zero: it can
let a vote fail (more than half of those known to have voted said no), but not pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from transforms.rules.procedure import ABSOLUTE, OF_VALID, OF_VOTING, Votes, plebiscite_passes, quorum
from transforms.rules.reading import RuleSet

COUNTS = ("electorate", "turnout", "yes", "no", "blank", "spoilt")
# What a rule must know to let a vote pass, by its kind of majority; a rule with a quorum of turnout knows both totals.
NEEDED: Mapping[str, tuple[str, ...]] = {
    ABSOLUTE: ("electorate", "yes"),
    OF_VOTING: ("turnout", "yes"),
    OF_VALID: ("yes", "no"),
}


@dataclass(frozen=True, slots=True)
class Ballot:
    """The count of one area voted; None where a figure was not handed in. Turnout includes blank and spoilt votes."""

    electorate: int | None = None
    turnout: int | None = None
    yes: int | None = None
    no: int | None = None
    blank: int | None = None
    spoilt: int | None = None

    @property
    def at_least(self) -> Votes:
        """The fewest voters that these figures allow."""
        votes = sum(count or 0 for count in (self.yes, self.no, self.blank, self.spoilt))
        turnout = self.turnout if self.turnout is not None else votes
        return Votes(self.electorate if self.electorate is not None else turnout, turnout, self.yes or 0, self.no or 0)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a ballot comes to. `passes` is None where missing figures decide; a quorum is, where its base is unknown."""

    passes: bool | None
    missing: tuple[str, ...]
    turnout_needed: int | None
    yes_needed: int | None
    reason: str


def decide(rule_set: RuleSet, ballot: Ballot) -> Decision:
    """A ballot under a rule set that has a plebiscite."""
    rule = rule_set.procedure["plebiscite"]
    asks_turnout, base = "turnout" in rule, NEEDED[rule["majority"]]
    needed = dict.fromkeys((*base, *(("electorate", "turnout") if asks_turnout else ())))
    missing = tuple(name for name in needed if getattr(ballot, name) is None)
    least = ballot.at_least
    turnout, yes = quorum(rule_set, least)
    turnout_is_known = asks_turnout and ballot.electorate is not None and ballot.turnout is not None
    too_few_came = turnout_is_known and least.voted < turnout
    too_few_agreed = ballot.yes is not None and ballot.yes < yes
    passes = False if too_few_came or too_few_agreed else None if missing else plebiscite_passes(rule_set, least)
    told = {
        f"turnout {ballot.turnout} of {ballot.electorate}, {turnout} needed": turnout_is_known,
        f"{ballot.yes} yes, {yes} needed": not {*base} & {*missing},
        f"{ballot.yes} yes, at least {yes} needed": too_few_agreed and bool({*base} & {*missing}),
        **{f"not told: {name}": True for name in missing},
    }
    return Decision(
        passes,
        missing,
        turnout if asks_turnout and ballot.electorate is not None else None,
        yes if not {*base} - {"yes"} & {*missing} else None,
        "; ".join(text for text, applies in told.items() if applies),
    )


def counted(sections: pl.DataFrame, crosswalk: Mapping[str, str]) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Ballots of the electoral court's file by election, question and município of IBGE ("" is all of them).

    `sections`: staging.tse_plebiscite__section, where each section's voters stand once. `crosswalk`: TSE code → IBGE's.
    """
    codes = sections.with_columns(
        pl.col("tse_municipality_code").replace_strict(crosswalk, default=None, return_dtype=pl.String).alias("place")
    )
    totals = [pl.col("voters").sum().alias("electorate"), pl.col(*COUNTS[1:]).sum(), pl.col("held_on").first()]
    whole = codes.group_by("election", "question").agg(*totals).with_columns(pl.lit("").alias("place"))
    by_place = codes.drop_nulls("place").group_by("election", "question", "place").agg(*totals)
    rows = pl.concat([whole, by_place], how="diagonal").sort("election", "question", "place")
    return {(row["election"], row["question"], row["place"]): row for row in rows.iter_rows(named=True)}
