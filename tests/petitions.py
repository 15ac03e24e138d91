"""Petitions under construction: events of proposals.csv, what the screen says, and the tables of the register."""

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from tests.rows import row
from tests.states import rules
from transforms.catalog import tables
from transforms.errors import UsageError
from transforms.register import register
from transforms.rules.reading import RuleSet
from transforms.sources import Scope, inputs_proposals, tse_plebiscite

LAW, AMENDED = rules(), rules("lc_1_1967_amended")
HEADER = "proposal_id;area_id;event;date;document;body;value;note\n"
AREA, GROUP, FUSION, SEAT = "320060720", "grupo", "fusão", "320060705"
# Aracruz and Fundão: a district, a group over both municípios, their fusion.
MEMBERS = {
    AREA: ["320060720"],
    GROUP: ["320060720", "320220713"],
    FUSION: ["320060705", "320060720", "320220705", "320220713"],
}
NAMES = {"3200607": "Aracruz", "3202207": "Fundão"}


@dataclass
class Register:
    """Events of one proposal, and what the screen says of its area; `of` gives a table of the register."""

    area: str = AREA
    status: str = "eligible"
    failing: tuple[str, ...] = ()
    as_of: date = date(2026, 11, 30)
    uf: str = "ES"
    electorate: tuple[int, int] = (9000, 9500)
    lines: list[str] = field(default_factory=list)
    sections: pl.DataFrame = field(default_factory=tse_plebiscite.SECTION.frame)

    def add(
        self, event: str, day: str, value: str = "", body: str = "", document: str = "", area: str = ""
    ) -> "Register":
        self.lines.append(f"p;{area or self.area};{event};{day};{document};{body};{value};")
        return self

    def received(self, day: str = "2026-02-02", value: str = "claimed=150|recognised=121|residents=119") -> "Register":
        return self.add("representation_received", day, value, "Assembleia")

    def asked(self, day: str = "2026-03-10", bodies: Iterable[str] = ("IBGE", "TRE-ES", "SEFAZ-ES")) -> "Register":
        for body in bodies:
            self.add("information_requested", day, body=body)
        return self

    def answered(self, day: str = "2026-04-20", bodies: Iterable[str] = ("IBGE", "TRE-ES", "SEFAZ-ES")) -> "Register":
        for body in bodies:
            self.add("certificate_received", day, body=body, document="certidão")
        return self

    def ordered(self, day: str = "2026-05-11") -> "Register":
        return self.add("plebiscite_ordered", day)

    def held(self, value: str = "electorate=9400|turnout=7000|yes=5000|no=1900|blank=60|null=40") -> "Register":
        return self.add("plebiscite_held", "2026-10-04", value, "TRE-ES")

    def of(self, name: str, *laws: RuleSet) -> pl.DataFrame:
        staged = inputs_proposals.SOURCE.tables[0].parse(io.BytesIO((HEADER + "\n".join(self.lines)).encode()))
        frames = {
            "staging.inputs_proposals__event": staged.lazy(),
            "staging.tse_plebiscite__section": self.sections.lazy(),
        }
        found = register(
            frames, screened(self, laws or (LAW,)), Scope(self.uf, self.as_of), laws or (LAW,), simulated=False
        )
        return found[name]

    def stages(self, law: RuleSet = LAW) -> dict[str, dict[str, Any]]:
        return {row["stage"]: row for row in self.of("mart.proposal_stage", law).iter_rows(named=True)}

    def refused(self) -> str:
        with pytest.raises(UsageError) as caught:
            self.of("core.proposal_event")
        assert caught.value.exit_code == 2
        return str(caught.value)


def screened(this: Register, laws: Iterable[RuleSet]) -> dict[str, pl.DataFrame]:
    """As much of a screen as the register reads: the areas above, with one verdict for all of them."""

    def frame(name: str, rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
        table = tables()[name]
        return table.frame(row(table, **each) for each in rows)

    kinds = {AREA: "district", GROUP: "group", FUSION: "fusion"}
    low, high = this.electorate
    return {
        "core.area": frame(
            "core.area",
            [{"area_id": area, "area_name": area, "uf": this.uf, "kind": kind} for area, kind in kinds.items()],
        ),
        "core.area_district": frame(
            "core.area_district",
            [
                {"area_id": area, "district_code": code, "municipality_code": code[:7]}
                for area, codes in MEMBERS.items()
                for code in codes
            ],
        ),
        "core.municipality": frame(
            "core.municipality",
            [
                {"municipality_code": code, "municipality_name": name, "tse_municipality_code": tse}
                for (code, name), tse in zip(NAMES.items(), ("56014", "57010"), strict=True)
            ],
        ),
        "core.district": frame("core.district", [{"district_code": SEAT, "refusal": "seat of its município"}]),
        "core.area_measure": frame(
            "core.area_measure",
            [
                {"area_id": area, "measure": "electorate", "low": Decimal(low), "high": Decimal(high)}
                for area in MEMBERS
            ],
        ),
        "mart.eligibility": frame(
            "mart.eligibility",
            [{"rule_set": law.id, "area_id": area, "status": this.status} for law in laws for area in MEMBERS],
        ),
        "mart.requirement_result": frame(
            "mart.requirement_result",
            [
                {
                    "rule_set": law.id,
                    "area_id": area,
                    "requirement": name,
                    "status": "not_met" if this.status == "ineligible" else "undetermined",
                }
                for law in laws
                for area in MEMBERS
                for name in this.failing
            ],
        ),
    }  # fmt: skip


def verdicts(stages: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: stage["status"] for name, stage in stages.items()}


def here(stages: dict[str, dict[str, Any]]) -> str | None:
    """The stage the proposal stands at: one, or none."""
    found = [name for name, stage in stages.items() if stage["is_current"]]
    assert len(found) <= 1
    return found[0] if found else None


def whole() -> Register:
    """A petition with everything up to the plebiscite in favour."""
    return Register().received().asked().answered().ordered().held()


def made(law: str = "2027-08-16", limits: str = "limits=yes", as_of: str = "2027-09-01") -> Register:
    this = whole().add("bill", "2026-12-01").add("law", law, limits)
    this.as_of = date.fromisoformat(as_of)
    return this
