"""Pages and what they were made from, and how a line of one spells what a table says.

Only the spelling of a figure and of a word is the page's own, which test_page.py and test_export_portuguese.py hold
to exact texts.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import polars as pl

from tests.assembly import MANIFEST, large_page, minas, sample
from tests.page_lines import Read, read
from transforms.marts.name_check import SAME
from transforms.rules.reading import RuleSet
from warehouse.build import Tables
from warehouse.export.page import page
from warehouse.export.page.atlas import Map
from warehouse.export.page.figures import number
from warehouse.export.page.sheets import rows
from warehouse.export.portuguese import sentence

Row = dict[str, Any]
OTHERS = ("mg_lc_37_1995", "plp_137_2015")
NBSP = "\u00a0"


@dataclass(frozen=True)
class Published:
    """A page, taken apart, and what it was made from."""

    text: str
    read: Read
    tables: Tables
    manifest: Mapping[str, Any]
    rule_sets: Sequence[RuleSet]
    known: dict[str, list[Row]] = field(default_factory=dict)

    def rows(self, name: str, **wanted: str) -> list[Row]:
        """Rows of a table, as exact texts, with the wanted values."""
        if name not in self.known:
            self.known[name] = rows(self.tables, name)
        return [row for row in self.known[name] if wanted.items() <= row.items()]

    @property
    def several(self) -> bool:
        return len(self.rule_sets) > 1

    def heading(self, rule: RuleSet) -> list[str]:
        return [rule.title] * self.several


def of_sample(*rules: str) -> Published:
    made = sample(*rules)
    text = (made.folder / "export" / "index.html").read_text(encoding="utf-8")
    return Published(text, read(text), made.tables, made.manifest, made.rule_sets)


@cache
def of_sample_with_more() -> Published:
    """The sample with what it has no case of: names that others bear, a stale source, dates that publishers give."""
    made = sample()
    told = {**made.tables}
    name = {"area_id": "320130810", "area_name": "Itaquari", "likeness": SAME, "name": "Itaquari & Cia"}
    same = [
        name | {"kind": "município", "code": "1", "uf": "MT", "municipality_name": "Itaquari & Cia"},
        name | {"kind": "district", "code": "2", "uf": "PA", "municipality_name": "Óbidos"},
    ]
    table, _ = told["mart.name_check"]
    told[table.name] = table, table.frame(same)
    table, fresh = told["meta.source_freshness"]
    late = pl.col("source") == "ibge_estimates"
    day_ = pl.when(late).then(pl.datetime(2025, 8, 28, time_zone="UTC")).alias("published_at")
    told[table.name] = table, fresh.lazy().with_columns(day_, is_stale=late).collect()
    codes = sorted(made.rows("core.district")["district_code"])
    text = page(told, made.manifest, made.rule_sets, Map(9, 9, dict.fromkeys(codes, "M0 0l1 1z"), ""))
    return Published(text, read(text), told, made.manifest, made.rule_sets)


def of_minas(*others: str) -> Published:
    tables, _, rule_sets = minas(*others)
    text = large_page(*others)
    return Published(text, read(text), tables, MANIFEST, rule_sets)


PAGES: Mapping[str, Callable[[], Published]] = {
    "sample": of_sample,
    "sample, three rule sets": lambda: of_sample("lc_1_1967", *OTHERS),
    "sample with more": of_sample_with_more,
    "minas": of_minas,
    "minas, three rule sets, packed": lambda: of_minas(*OTHERS),
}


def day(iso: str | None) -> str:
    return f"{iso[8:10]}/{iso[5:7]}/{iso[:4]}[{iso[:10]}]" if iso else "–"


def link(area: str, name: str) -> str:
    return f"{name}[#a-{area}]"


def parts(joined: str | None) -> list[str]:
    return joined.split("|") if joined else []


def word(value: str | None) -> str:
    return sentence(value).replace("|", "; ") if value else ""


def badge(row: Row) -> str:
    return f"‹{row['status']}›{sentence(row['status'])}"


def small(*texts: str | None) -> str:
    return "".join(f" ¦{text}" for text in texts if text)


def cell(text: str = "") -> str:
    return re.sub(r" +", " ", f"| {text}").strip()


def money(row: Row, figure: str | None) -> str:
    return (f"R${NBSP}" if row["unit"] == "BRL" and figure else "") + number(figure)


def named(rule: RuleSet) -> list[str]:
    return [requirement.name for requirement in rule.requirements] + ["origin"] * bool(rule.origin)


def methods(page: Published) -> dict[tuple[str | None, ...], int]:
    """What notes tell, and their numbers: as they are first met in the rankings."""
    found: dict[tuple[str | None, ...], int] = {}
    for rule in page.rule_sets:
        tested = by(page.rows("mart.requirement_result", rule_set=rule.id), "area_id")
        for area in page.rows("mart.eligibility", rule_set=rule.id):
            for row in ordered(tested.get(area["area_id"], []), rule):
                if row["method"]:
                    found.setdefault(method(row), len(found) + 1)
    return found


def method(row: Row) -> tuple[str | None, ...]:
    return row["method"], row["source"], row["reference_period"], row["evidence"]


def ordered(found: Iterable[Row], rule: RuleSet) -> list[Row]:
    return sorted(found, key=lambda row: named(rule).index(row["requirement"]))


def by(found: Iterable[Row], column: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in found:
        groups.setdefault(row[column], []).append(row)
    return groups
