"""What changed between two releases and why: verdicts first, then figures, then coverage.

`diff.md` tells it to people, `diff.csv` to programs; every release holds both, against the one before it. A cause is
what changed among the things a verdict rests on: its rule, its reference period, the files of its sources, the
program. Where several of them changed all are named, for any of them may have done it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from transforms.catalog import tables
from transforms.errors import UsageError
from transforms.schema import Column, Kind, Table
from warehouse.ddl import stored
from warehouse.export.csv import as_text, machine
from warehouse.publish import MANIFEST
from warehouse.release import PARQUET

SECTIONS = ("verdict", "figure", "coverage")
DIFFERENCE = Table(
    name="meta.difference",
    title="Diferenças",
    grain="One row per value that differs between two releases.",
    key=("section", "table_name", "item", "rule_set", "detail", "field"),
    columns=(
        Column("section", Kind.TEXT, "Verdicts, figures, or what is covered.", "Seção", values=SECTIONS),
        Column("table_name", Kind.TEXT, "Table that differs.", "Tabela"),
        Column("item", Kind.TEXT, "The area, state, source or table it is about.", "Item"),
        Column("name", Kind.TEXT, "Its name.", "Nome", nullable=True),
        Column("rule_set", Kind.TEXT, "The rule set, of a verdict.", "Regra"),
        Column("detail", Kind.TEXT, "The requirement, measure, definition or part.", "Detalhe"),
        Column("field", Kind.TEXT, "What of it differs.", "Campo"),
        Column("before", Kind.TEXT, "Its value in the earlier release.", "Antes", nullable=True),
        Column("after", Kind.TEXT, "Its value in the later release.", "Depois", nullable=True),
        Column("cause", Kind.TEXT, "What may have caused it.", "Causa", nullable=True),
    ),
    may_be_empty=True,
)
MOVED = "other areas moved"  # why a rank changes alone
HEADS = ("What", "Of", "Before", "After", "Cause")
SHOWN = 50  # rows of each section in diff.md; diff.csv has all of them


@dataclass(frozen=True, slots=True)
class Watch:
    """A table watched for changes: what its rows are about, and which of its columns matter."""

    section: str
    table: str
    item: str
    detail: str | None
    fields: tuple[str, ...]


WATCHED = (
    Watch("verdict", "mart.eligibility", "area_id", None, ("status", "likely", "rank")),
    Watch("verdict", "mart.requirement_result", "area_id", "requirement", ("status", "indication")),
    Watch(
        "figure", "core.area_measure", "area_id", "measure", ("low", "value", "high", "evidence", "reference_period")
    ),
    Watch("figure", "core.state", "uf", None, ("population_census", "population_estimate", "fiscal_year")),
    Watch("figure", "core.state_revenue", "state_code", "variant", ("value", "fiscal_year", "statement")),
)
COVERED = ("core.area", "core.district", "core.municipality")


@dataclass(frozen=True, slots=True)
class Release:
    """One of the two releases: its folder and its release.json."""

    folder: Path
    manifest: Mapping[str, Any]

    @property
    def rules(self) -> dict[str, str]:
        return {rule_set["id"]: rule_set["sha256"] for rule_set in self.manifest["rule_sets"]}

    @property
    def files(self) -> dict[tuple[str, str], str]:
        several = "states" in self.manifest  # a national release has the same part of many states
        return {
            (file["source"], f"{file['uf']}/{file['part']}" if several and file["uf"] else file["part"]): file["sha256"]
            for file in self.manifest["snapshots"]
        }

    def rows(self, name: str) -> pl.DataFrame:
        """A table as text; columns it did not have yet are empty, a table it did not have has no rows."""
        declared = tables()[name]
        path = self.folder / PARQUET / f"{name}.parquet"
        found = pl.read_parquet(path) if path.exists() else declared.frame()
        absent = [pl.lit(None).alias(column) for column in declared.names if column not in found.columns]
        return as_text(declared, stored(declared, found.with_columns(absent)))


def read(folder: Path) -> Release:
    """The release in a folder."""
    return Release(folder, json.loads((folder / MANIFEST).read_text(encoding="utf-8")))


def differences(before: Release, after: Release) -> pl.DataFrame:
    """Every difference, as rows of DIFFERENCE. Raises UsageError on releases of two states."""
    if before.manifest["uf"] != after.manifest["uf"]:
        raise UsageError(
            f"releases of two states, {before.manifest['uf']} and {after.manifest['uf']}, are not comparable",
            where=f"{before.manifest['id']}, {after.manifest['id']}",
            action="choose two of one state",
        )
    changed = Changes.between(before, after)
    found = [row for watch in WATCHED for row in _values(watch, before, after, changed)]
    found += [row for name in COVERED for row in _presence(name, before, after)]
    found += list(_files(before, after))
    return DIFFERENCE.frame(_named(_with_causes_of_areas(found), before, after))


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed that could change a verdict: rule sets, sources, the program, the date."""

    rules: frozenset[str]
    sources: frozenset[str]
    code: bool
    as_of: bool

    @classmethod
    def between(cls, before: Release, after: Release) -> "Changes":
        """From the two manifests."""
        rules = dict(before.rules.items() ^ after.rules.items())
        files = dict(before.files.items() ^ after.files.items())
        return cls(
            frozenset(rules),
            frozenset(source for source, _ in files),
            before.manifest["code"] != after.manifest["code"],
            before.manifest["as_of"] != after.manifest["as_of"],
        )

    def cause(self, before: Mapping[str, str | None], after: Mapping[str, str | None]) -> str:
        """What may have changed one row: only the sources it names count, all of them where it names none."""
        causes = []
        if after.get("rule_set") in self.rules:
            causes.append(f"changed rule: {after['rule_set']}")
        old, new = before.get("reference_period"), after.get("reference_period")
        if old != new and old and new:
            causes.append(f"new reference period: {old} → {new}")
        named = {name for row in (before, after) for name in (row.get("source") or "").split("|") if name}
        # What a figure is compared with comes from the state's sources, which its row does not name.
        moved = before.get("threshold") != after.get("threshold")
        if revised := sorted(self.sources & named if named and not moved else self.sources):
            causes.append(f"revised source: {', '.join(revised)}")
        if self.code:
            causes.append("changed program")
        if not causes and self.as_of:
            causes.append("later date")
        return "; ".join(causes) or "unexplained"


Row = dict[str, Any]


def _values(watch: Watch, before: Release, after: Release, changed: Changes) -> Iterator[Row]:
    """The watched fields that differ, of rows that both releases have."""
    key = [name for name in ("rule_set", watch.item, watch.detail) if name in tables()[watch.table].names]
    old, new = before.rows(watch.table), after.rows(watch.table)
    differs = pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_before")) for name in watch.fields)
    both = new.join(old, on=key, how="inner", suffix="_before", nulls_equal=True, validate="1:1").filter(differs)
    for row in both.iter_rows(named=True):
        earlier = {name.removesuffix("_before"): value for name, value in row.items() if name.endswith("_before")}
        for name in watch.fields:
            if row[name] != earlier[name]:
                yield {
                    "section": watch.section,
                    "table_name": watch.table,
                    "item": row[watch.item],
                    "rule_set": row.get("rule_set") or "",
                    "detail": (row[watch.detail] if watch.detail else None) or "",
                    "field": name,
                    "before": earlier[name],
                    "after": row[name],
                    "cause": changed.cause(earlier, row),
                }


def _presence(name: str, before: Release, after: Release) -> Iterator[Row]:
    """Rows that only one of the releases has."""
    (key,) = tables()[name].key
    old, new = (set(release.rows(name)[key]) for release in (before, after))
    for code in sorted(old ^ new):
        there = code in new
        yield _covered(name, code, "row", None if there else "present", "present" if there else None)


def _files(before: Release, after: Release) -> Iterator[Row]:
    """Files of sources that came, went or were revised; row counts that moved."""
    old, new = before.files, after.files
    for source, part in sorted(old.keys() | new.keys()):
        earlier, later = old.get((source, part)), new.get((source, part))
        if earlier != later:
            yield {**_covered("meta.snapshot", source, "sha256", earlier, later), "detail": part}
    earlier_counts, counts = before.manifest["counts"], after.manifest["counts"]
    for name in sorted(earlier_counts.keys() | counts.keys()):
        rows = [None if name not in each else str(each[name]) for each in (earlier_counts, counts)]
        if rows[0] != rows[1]:
            yield _covered(name, name, "rows", *rows)


def _covered(table: str, item: str, field: str, before: str | None, after: str | None) -> Row:
    words = {"section": "coverage", "table_name": table, "item": item, "rule_set": "", "detail": "", "cause": None}
    return words | {"field": field, "before": before, "after": after}


def _with_causes_of_areas(rows: Sequence[Row]) -> Iterator[Row]:
    """An area's verdict changed for what changed its requirements'; a rank alone, because other areas moved."""
    causes: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        if row["table_name"] == "mart.requirement_result":
            causes.setdefault((row["rule_set"], row["item"]), {})[f"{row['detail']}: {row['cause']}"] = None
    moved = {row["item"] for row in rows if row["field"] != "rank"}
    for row in rows:
        own = causes.get((row["rule_set"], row["item"]))
        if row["table_name"] != "mart.eligibility":
            yield row
        elif row["item"] not in moved:
            yield {**row, "cause": MOVED}
        else:
            yield {**row, "cause": " / ".join(own) if own else row["cause"]}


def _named(rows: Iterable[Row], before: Release, after: Release) -> Iterator[Row]:
    """With the name of the area, district or município each row is about."""
    names: dict[str, str] = {}
    for release in (before, after):
        for table, key, name in (
            ("core.municipality", "municipality_code", "municipality_name"),
            ("core.district", "district_code", "district_name"),
            ("core.area", "area_id", "area_name"),
        ):
            names |= dict(release.rows(table).select(key, name).iter_rows())
    return ({**row, "name": names.get(row["item"])} for row in rows)


def markdown(found: pl.DataFrame, before: Release | None, after: Release) -> str:
    """The differences for people: each section as a table, the longest ones cut with a pointer to diff.csv."""
    title = f"# What changed in {after.manifest['id']}"
    if before is None:
        return f"{title}\n\nThis is the first release of {after.manifest['uf']}: there is nothing to compare it with.\n"
    parts = [title, f"Compared with {before.manifest['id']}."]
    for section in sections(found, "see diff.csv"):
        parts += [f"## {section.title}", *([_grid(section.rows)] if section.rows else []), *section.notes]
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class Section:
    """A section as people read it: rows of HEADS, and notes of what is not among them."""

    title: str
    rows: list[Row]
    notes: list[str]


def sections(found: pl.DataFrame, rest: str) -> Iterator[Section]:
    """The differences, consequences first, at most SHOWN of each section; `rest` says where the others can be read."""
    order = pl.col("field").replace_strict({"status": 0, "likely": 1, "indication": 2, "rank": 3}, default=4)
    for section, title in zip(SECTIONS, ("Verdicts", "Figures", "Coverage"), strict=True):
        rows = found.filter(pl.col("section") == section).sort(order, "table_name", *DIFFERENCE.key)
        told = rows.filter(pl.col("cause").ne_missing(MOVED))
        notes = [f"{told.height - SHOWN} more: {rest}."] if told.height > SHOWN else []
        if moved := rows.height - told.height:
            notes.append(f"{moved} {'rank' if moved == 1 else 'ranks'} changed because {MOVED}: {rest}.")
        yield Section(f"{title}: {_number(rows)}", [*map(_line, told.head(SHOWN).iter_rows(named=True))], notes)


def _number(rows: pl.DataFrame) -> str:
    flips = rows.filter((pl.col("table_name") == "mart.eligibility") & (pl.col("field") == "status")).height
    changes = "no change" if rows.is_empty() else f"{rows.height} change{'s' if rows.height > 1 else ''}"
    return f"{changes}, {flips} in the status of an area" if flips else changes


def _line(row: Mapping[str, Any]) -> Row:
    return {
        "What": " ".join(filter(None, (row["rule_set"], row["detail"], row["field"]))),
        "Of": f"{row['name']} ({row['item']})" if row["name"] else row["item"],
        "Before": row["before"] or "–",
        "After": row["after"] or "–",
        "Cause": row["cause"] or "",
    }


def _grid(rows: Sequence[Row]) -> str:
    lines = [HEADS, ("---",) * len(HEADS), *(tuple(row.values()) for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def write(folder: Path, predecessor: Path | None) -> pl.DataFrame:
    """`diff.md` and `diff.csv` into a release's folder, whose Parquet and release.json stand. Returns the rows."""
    after = read(folder)
    before = read(predecessor) if predecessor else None
    found = differences(before, after) if before else DIFFERENCE.frame()
    (folder / "diff.csv").write_bytes(machine(DIFFERENCE, found))
    (folder / "diff.md").write_text(markdown(found, before, after), encoding="utf-8")
    return found
