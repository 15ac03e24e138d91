"""The second half of a run: write the release aside, judge it, and switch only if nothing critical failed."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import expectations
from expectations import coverage, domain, drift, report
from expectations.check import of_query
from flows.polling import Polled, stale
from flows.run import Outcome, Run
from transforms.catalog import tables
from transforms.errors import EmancipaError
from transforms.published_through import published_through
from transforms.schema import Table
from transforms.sources import Source
from warehouse import DATABASE, build, diff, meta, publish, release, run_ledger, views
from warehouse.export import csv, datapackage, leia_me
from warehouse.freshness import freshness
from warehouse.staging import published

if TYPE_CHECKING:
    from warehouse.export.page.atlas import Map

Tables = dict[str, tuple[Table, pl.DataFrame | pl.LazyFrame]]
ABOUT_ITSELF = (*meta.TABLES, report.CHECK_RESULT)


@dataclass(frozen=True, slots=True)
class Making:
    """A release being made: what goes into it, and what it is compared with."""

    run: Run
    sources: list[Source]
    snapshots: pl.DataFrame  # meta.snapshot
    fingerprint: str
    content: build.Tables  # staging, core and mart
    not_published: list[str]
    states: pl.DataFrame | None = None  # meta.state_release, where it is made of states' releases
    whole: Mapping[str, pl.LazyFrame] = field(default_factory=dict)  # what truths see of the whole country
    through: Mapping[str, date] = field(default_factory=dict)  # the last day that a source's data speak of
    warnings: Sequence[str] = ()
    map: "Future[Map | None] | None" = None  # of the state's districts; a release of several states has no page

    @property
    def uf(self) -> str | None:
        """The state it is of; None where it is made of several."""
        return self.run.scope.uf if self.states is None else None

    @property
    def predecessor(self) -> str | None:
        """The release it is compared with."""
        return publish.predecessor(self.run.data, self.run.scope.uf)


def publish_release(
    this: Run,
    polled: Polled,
    fingerprint: str,
    frames: Mapping[str, pl.LazyFrame],
    made: Mapping[str, pl.DataFrame],
    warnings: list[str],
) -> Outcome:
    """Build, check, write everything, switch. Raises ChecksRefused with readers still on the last release."""
    declared = tables()
    of_state, not_published = published(frames, declared, this.scope)
    content: Tables = {**of_state, **{name: (declared[name], frame) for name, frame in made.items()}}
    of = [source for source, _ in polled]
    making = Making(
        this,
        of,
        meta.snapshots(polled),
        fingerprint,
        content,
        not_published,
        whole={coverage.CROSSWALK: frames[coverage.CROSSWALK]},
        through=published_through(of, frames),
        warnings=warnings,
        map=begin_page(frames),
    )
    return replace(seal(making), stale=stale(this, polled), warnings=tuple(warnings))


def seal(making: Making) -> Outcome:
    """Everything from the tables of a release to readers."""
    this, predecessor = making.run, making.predecessor
    with publish.building(this.data, now=this.now) as folder:
        making = replace(making, content=write_copies(making, folder))
        asked = findings(making, folder / DATABASE)
        fresh = meta.SOURCE_FRESHNESS.frame(freshness(this.store, making.sources, this.now, making.uf, making.through))
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="exports") as pool:
            exports = pool.submit(write_exports, making, folder / release.EXPORT)  # while the judge judges
            results = check(making, folder, fresh, asked)
            exports.result()
        hash_ = release.contents_hash(folder)
        release_id = publish.release_id(this.now, hash_)
        facts = about_itself(making, release_id, results, fresh)
        build.fill(folder / DATABASE, facts)
        said = manifest(making, release_id, hash_, results)
        release.write_manifest(folder, said)
        changes = diff.write(folder, this.data / publish.RELEASES / predecessor if predecessor else None)
        write_for_assembly(making, folder / release.EXPORT, said, facts, changes if predecessor else None)
        target = publish.publish(this.data, folder, release_id, now=this.now, keep=this.keep, reason=this.accept_drift)
    return Outcome(release_id, target, is_new=True)


def findings(making: Making, database: Path) -> list[build.Finding]:
    """Build the file and ask it the queries of sql/checks. Rows it cannot hold are for the other checks to name."""
    try:
        build.build(database, making.content, ABOUT_ITSELF, views.published())
    except EmancipaError as error:
        return build.unbuilt(error)
    return build.findings(database)


def check(making: Making, folder: Path, fresh: pl.DataFrame, asked: Sequence[build.Finding]) -> pl.DataFrame:
    """Judge everything; write the report into the folder, then refuse if anything critical failed."""
    frames = {name: frame for name, (_, frame) in making.content.items()}
    truths = domain.violations({**frames, **making.whole, meta.SOURCE_FRESHNESS.name: fresh})
    truths += [of_query(one.name, one.header, one.rows, one.error) for one in asked]
    truths += drift.violations(_frames_of(making), frames, making.run.accept_drift)
    pages: dict[str, str] = {}
    results = expectations.judge(making.content, truths, pages=pages)
    run_ledger.record_checks(making.run.data, run_ledger.run_id(making.run.now, making.run.scope.uf), results)
    report.write(folder / "checks", results, pages)
    report.require(results, folder / "checks")
    for line in report.published_with(results):
        making.run.say(f"warning: {line}")
    return results


def _frames_of(making: Making) -> dict[str, pl.LazyFrame]:
    """The frames of the release before this one, from its Parquet copies; none before the first."""
    if making.predecessor is None:
        return {}
    return release.frames(making.run.data / publish.RELEASES / making.predecessor)


def write_copies(making: Making, folder: Path) -> build.Tables:
    """Parquet of every table. Returns the tables conformed: once, for all that is made of them."""
    scope = making.run.scope
    provenance = {"fingerprint": making.fingerprint, "uf": scope.uf, "as_of": scope.as_of.isoformat()}
    return release.write_parquet(folder, making.content, provenance)


def write_exports(making: Making, export: Path) -> None:
    """CSVs of the marts, with what describes them."""
    csv.write(export, making.content)
    datapackage.write(export, making.content, making.sources, making.run.rules[0].rule_set.notice)


def begin_page(frames: Mapping[str, pl.LazyFrame]) -> "Future[Map | None]":
    """Start what only the page waits for: the map, seconds for the largest states, and its template."""
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="page")
    try:
        return pool.submit(_map, frames["staging.ibge_district_mesh__district"])
    finally:
        pool.shutdown(wait=False)


def _map(mesh: pl.LazyFrame) -> "Map | None":
    from warehouse.export import page  # noqa: PLC0415  slow to import, and a national release has none
    from warehouse.export.page.atlas import drawn  # noqa: PLC0415

    page.template()
    return drawn(mesh.collect())


def write_for_assembly(
    making: Making, export: Path, said: Mapping[str, Any], facts: build.Tables, changes: pl.DataFrame | None
) -> None:
    """What the assembly opens beside its CSVs: the workbook, the page, and LEIA-ME, which lists what is there."""
    from warehouse.export import page, xlsx  # noqa: PLC0415  slow to import, and a refused release has none

    xlsx.write(export, making.content, said)
    if making.map is not None:
        rule_sets = [file.rule_set for file in making.run.rules]
        page.write(export, {**making.content, **facts}, said, rule_sets, making.map.result(), changes)
    leia_me.write(export, said, making.content)


def about_itself(making: Making, release_id: str, results: pl.DataFrame, fresh: pl.DataFrame) -> Tables:
    """The meta tables: what this run was, what it is made of, and how its sources fare."""
    this = making.run
    run = this.ended("published", release=release_id, message=this.accept_drift)
    frames = {
        run_ledger.RUN: run_ledger.runs(this.data, run),
        meta.SNAPSHOT: making.snapshots,
        meta.ATTEMPT: meta.attempts(this.store.attempts()),
        meta.POLL: meta.polls(this.store.polls(), making.uf),
        meta.SOURCE_FRESHNESS: fresh,
        meta.RELEASE: meta.releases(this.data, release_id, at=this.now, reason=this.accept_drift),
        run_ledger.CHECK_HISTORY: run_ledger.check_history(this.data),
        meta.STATE_RELEASE: meta.STATE_RELEASE.frame() if making.states is None else making.states,
        report.CHECK_RESULT: results,
    }
    frames[meta.COLUMN] = meta.columns(every_table())
    return {table.name: (table, frame) for table, frame in frames.items()}


@cache
def every_table() -> list[Table]:
    """Every table and view of a release: what the dictionary lists."""
    declared = [*tables().values(), *ABOUT_ITSELF]
    return [*declared, *views.declarations(declared)]


def manifest(making: Making, release_id: str, contents_hash: str, results: pl.DataFrame) -> dict[str, Any]:
    """What release.json says."""
    this = making.run
    return release.manifest(
        release=release_id,
        built_at=this.now,
        uf=this.scope.uf,
        as_of=this.scope.as_of,
        fingerprint=making.fingerprint,
        contents_hash=contents_hash,
        rule_sets=[
            {"id": file.rule_set.id, "title": file.rule_set.title, "sha256": file.sha256} for file in this.rules
        ],
        snapshots=making.snapshots.select("source", "uf", "part", "url", "sha256", "fetched_at").to_dicts(),
        counts={name: frame.height for name, (_, frame) in making.content.items() if isinstance(frame, pl.DataFrame)},
        checks=dict(results.group_by("status").len().sort("status").iter_rows()),
        legal_notice=this.rules[0].rule_set.notice,
        simulated=bool(this.simulated),
        predecessor=making.predecessor,
        not_published=making.not_published,
        states=None if making.states is None else making.states.cast({"as_of": pl.String}).to_dicts(),
        warnings=making.warnings,
    )
