"""The second half of a run: write the release aside, judge it, and switch only if nothing critical failed."""

import threading
from collections.abc import Mapping
from importlib.metadata import version

import polars as pl

import expectations
from expectations import domain, gx, report
from expectations.check import Violation
from flows.pipeline import Outcome, Polled, Run, stale
from transforms.catalog import tables
from transforms.schema import Table
from warehouse import DATABASE, build, meta, publish, release
from warehouse.export import csv
from warehouse.freshness import freshness
from warehouse.staging import published

Tables = dict[str, tuple[Table, pl.DataFrame | pl.LazyFrame]]


def prepare() -> threading.Thread:
    """Start what takes long and waits for nothing: the import of the judge."""
    return gx.import_early()


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
    with publish.building(this.data, now=this.now) as folder:
        of_state, not_published = published(frames, declared, this.scope)
        content: Tables = {**of_state, **{name: (declared[name], frame) for name, frame in made.items()}}
        build.build(folder / DATABASE, content)
        results = check(this, content, folder)
        release.write_parquet(folder, content, {"fingerprint": fingerprint, "as_of": this.scope.as_of.isoformat()})
        csv.write(folder / release.EXPORT, {n: pair for n, pair in content.items() if n.startswith("mart.")})
        hash_ = release.contents_hash(folder)
        release_id = publish.release_id(this.now, hash_)
        facts = about_itself(this, polled, release_id, results)
        build.finish(folder / DATABASE, facts, [*declared.values(), *(table for table, _ in facts.values())])
        release.write_manifest(
            folder,
            release.manifest(
                release=release_id,
                built_at=this.now,
                uf=this.scope.uf,
                as_of=this.scope.as_of,
                fingerprint=fingerprint,
                contents_hash=hash_,
                rule_sets=[
                    {"id": file.rule_set.id, "title": file.rule_set.title, "sha256": file.sha256} for file in this.rules
                ],
                snapshots=[
                    {
                        "source": source.name,
                        "part": answer.part,
                        "url": answer.url,
                        "sha256": answer.sha256,
                        "fetched_at": answer.fetched_at,
                    }
                    for source, poll in polled
                    for answer in poll.answers
                ],
                counts={name: frame.height for name, frame in made.items()},
                checks=dict(results.group_by("status").len().sort("status").iter_rows()),
                legal_notice=this.rules[0].rule_set.notice,
                simulated=bool(this.simulated),
                predecessor=publish.predecessor(this.data, this.scope.uf),
                not_published=not_published,
            ),
        )
        target = publish.publish(this.data, folder, release_id, now=this.now)
    return Outcome(release_id, target, is_new=True, stale=stale(this, polled), warnings=tuple(warnings))


def check(this: Run, content: Tables, folder: "publish.Path") -> pl.DataFrame:
    """Judge everything; write the report into the folder, then refuse if anything critical failed."""
    truths = domain.violations({name: frame for name, (_, frame) in content.items()})
    for finding in build.findings(folder / DATABASE):
        header = finding.header
        truths.append(
            Violation(
                name=finding.name,
                severity="critical" if header.get("severity") != "warning" else "warning",
                reason=header.get("reason", ""),
                next_step=header.get("next step", ""),
                rows=finding.rows,
                error=finding.error,
            )
        )
    pages: dict[str, str] = {}
    results = expectations.judge(content, truths, pages=pages)
    report.write(folder / "checks", results, pages)
    report.require(results)
    return results


def about_itself(this: Run, polled: Polled, release_id: str, results: pl.DataFrame) -> Tables:
    """The meta tables: what this run was, what it is made of, and how its sources fare."""
    run = meta.Run(
        started_at=this.now,
        finished_at=None,
        uf=this.scope.uf,
        as_of=this.scope.as_of,
        outcome="published",
        exit_code=0,
        release=release_id,
        message="",
        version=version("emancipa"),
    )
    of_sources = meta.SOURCE_FRESHNESS.frame(
        freshness(this.store, [source for source, _ in polled], this.now, this.scope.uf)
    )
    frames = {
        meta.RUN: meta.runs(this.data, run),
        meta.SNAPSHOT: meta.snapshots(polled),
        meta.ATTEMPT: meta.attempts(this.store.attempts()),
        meta.SOURCE_FRESHNESS: of_sources,
        meta.RELEASE: meta.releases(this.data, release_id, at=this.now),
        report.CHECK_RESULT: results,
    }
    known = [*tables().values(), *frames, meta.COLUMN]
    frames[meta.COLUMN] = meta.columns(known)
    return {table.name: (table, frame) for table, frame in frames.items()}
