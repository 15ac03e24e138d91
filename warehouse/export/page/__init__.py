"""`index.html`: a whole release as one page that opens anywhere, asks nobody for anything, and reads without script.

The figures are the marts' own, written once, as HTML; page.js finds, filters and looks, and holds no data. A policy in
the page forbids every request and every style or script but its own two, by their hashes. Equal inputs give equal
bytes: nothing in the page tells when it was made.

Size: a sheet is some 2.4 kB per rule set, nearly all of it markup that repeats. Under one rule set Minas Gerais, the
state with most areas, fits below 4 MB readable to the last word. Eleven would take 25 MB that deflate to 0.6, so where
areas × rule sets are more than READABLE, only page.js reads, from one deflated text, what is said of all rule sets but
the first, of the municípios of origin, and the evidence behind a sheet. Without JavaScript the first rule set's
ranking, pending facts and requirements and the comparison of all stay readable; the rest is then in the workbook.
"""

import hashlib
import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from transforms.catalog import sources
from transforms.codes import BY_UF
from transforms.rules.reading import RuleSet
from warehouse.build import Tables
from warehouse.export.contiguity import apart
from warehouse.export.page import figures, sheets
from warehouse.export.page.atlas import Map
from warehouse.export.page.sheets import Notes, Ranking, rows
from warehouse.export.page.words import Words
from warehouse.export.portuguese_checks import CHECKS
from warehouse.release import short_id

FILE = "index.html"
CHANGES_SHOWN = 200
READABLE = 1200  # sheets × rule sets that stand as HTML: 3.4 MB


def write(
    folder: Path,
    tables: Tables,
    manifest: Mapping[str, Any],
    rule_sets: Sequence[RuleSet],
    map_: Map | None,
    changes: pl.DataFrame | None = None,
) -> None:
    """The page into a release's export folder.

    `tables`: the marts, core and meta.snapshot, meta.source_freshness, meta.check_result; `changes`: what differs from
    the last release, None where there was none.
    """
    (folder / FILE).write_text(page(tables, manifest, rule_sets, map_, changes), encoding="utf-8")


def page(
    tables: Tables,
    manifest: Mapping[str, Any],
    rule_sets: Sequence[RuleSet],
    map_: Map | None,
    changes: pl.DataFrame | None = None,
) -> str:
    """The page's text."""
    said, notes = Words(), Notes()
    found = sheets.rankings(tables, rule_sets, notes)
    places, clusters = sheets.evidence(tables)
    packed = len(found) > 1 and sum(len(ranking.areas) for ranking in found) > READABLE
    text: str = template().render(
        **_own(),
        **_spelling(said),
        manifest=manifest,
        release=short_id(manifest),
        state_name=BY_UF[manifest["uf"]].name,
        rule_sets=rule_sets,
        rankings=found,
        packed=packed,
        pack=_packed,
        readable=found[:1] if packed else found,
        by_id={ranking.rule_set.id: {area["area_id"]: area for area in ranking.areas} for ranking in found},
        by_request=sheets.by_request,
        pending_count=len(rows(tables, "mart.pending")),
        together=[row for row in rows(tables, "mart.joint_departure") if row["areas"] != "1"],
        comparison=sheets.compared(found),
        no_candidate=sheets.grouped(rows(tables, "mart.no_candidate"), "reason"),
        revenue=rows(tables, "core.state_revenue"),
        notes=notes.listed,
        map=map_,
        painted=_painted(found),
        apart=apart(tables),
        groups=sheets.groups(tables, rule_sets[0].id),
        homonyms=sheets.grouped(rows(tables, "mart.name_check"), "area_id"),
        places=places,
        clusters=clusters,
        proposals=sheets.grouped(rows(tables, "mart.proposal_stage"), "rule_set", "proposal_id"),
        outcomes={row["proposal_id"]: row for row in rows(tables, "core.proposal") if row["outcome"] != "open"},
        **_names(tables),
        **_about(tables),
        **_changes(changes),
    )
    return text


class _Environment(Environment):
    """Reads `row.value` as `row["value"]`: nearly all that the template names are columns of rows."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        return self.getitem(obj, attribute)


@cache
def template() -> Any:
    """The page's, compiled: as long as filling it takes for a small state, so that a run begins with it early."""
    environment = _Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(_packaged),
    )
    return environment.get_template("page.html")


@cache
def _packaged(name: str) -> str:
    return (files(__name__) / name).read_text(encoding="utf-8")


def _own() -> dict[str, str]:
    """The page's one style and one script, which its policy lets in by their hashes."""
    style, script = _packaged("page.css"), _packaged("page.js")
    return {
        "style": Markup(style),  # noqa: S704  the package's own
        "script": Markup(script),  # noqa: S704
        "style_hash": _hash(style),
        "script_hash": _hash(script),
    }


def _spelling(said: Words) -> dict[str, Any]:
    """What the template writes words and figures with, and the pairs of all words said so far."""
    return {
        "t": said.say,
        "v": said.value,
        "words": lambda: Markup(json.dumps(said.pairs, ensure_ascii=False).replace("<", "\\u003c")),  # noqa: S704
        "parts": sheets.parts,
        "number": figures.number,
        "span": figures.span,
        "known": figures.known,
        "percent": figures.percent,
        "sign": figures.sign,
    }


def _packed(text: str) -> str:
    return b64encode(zlib.compress(text.encode(), 9)).decode()


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _painted(found: Sequence[Ranking]) -> dict[str, str]:
    """The status of each district that is an area by itself, under the first rule set."""
    return {area["area_id"]: area["status"] for area in found[0].areas if area["kind"] == "district"}


def _names(tables: Tables) -> dict[str, dict[str, str]]:
    """What areas, municípios and districts are called, by id and code."""
    districts = {row["district_code"]: row for row in rows(tables, "core.district")}
    return {
        "area_names": {row["area_id"]: row["area_name"] for row in rows(tables, "core.area")},
        "municipalities": {row["municipality_code"]: row["municipality_name"] for row in districts.values()},
        "district_labels": {code: f"{row['district_name']} ({code})" for code, row in districts.items()},
        "district_names": {
            code: f"{row['district_name']} · {row['municipality_name']}" for code, row in districts.items()
        },
    }


def _about(tables: Tables) -> dict[str, Any]:
    """The sources with their dates, their files, and the checks."""
    known = sources()
    checks = rows(tables, "meta.check_result")
    failed = [row for row in checks if row["status"] != "passed"]
    fresh = [row for row in rows(tables, "meta.source_freshness") if row["source"] in known and row["last_good_at"]]
    return {
        "freshness": [(known[row["source"]], row) for row in fresh],
        "published": any(row["published_at"] for row in fresh),
        "files": rows(tables, "meta.snapshot"),
        "checks_failed": failed,
        "check_words": CHECKS,
        "checks_passed": len(checks) - len(failed),
    }


def _changes(changes: pl.DataFrame | None) -> dict[str, Any]:
    """Verdicts that differ from the last release, statuses first, and how many are not shown."""
    if changes is None:
        return {"changes": None, "changes_left": 0}
    verdicts = changes.filter((pl.col("section") == "verdict") & (pl.col("field") != "rank")).sort(
        pl.col("table_name") != "mart.eligibility", "item", "rule_set", "detail", "field", maintain_order=True
    )
    return {"changes": verdicts.head(CHANGES_SHOWN).to_dicts(), "changes_left": max(0, verdicts.height - CHANGES_SHOWN)}
