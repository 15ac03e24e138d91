"""One run, step by step, as plain functions: fetch → stage → screen → build → check → publish.

The command line and the Prefect flow call these very steps. Nothing readers see changes before the last of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime

import polars as pl

from flows.polling import Polled, fetch, polled, stale, usable
from flows.proposals import require_past
from flows.run import Outcome, Run
from transforms.catalog import sources, tables
from transforms.caveats import caveats
from transforms.errors import EmancipaError, SourceChanged, SourceUnavailable
from transforms.screen import screen
from transforms.sources import inputs, inputs_certificates
from transforms.states import own_inputs
from warehouse import data_folder, publish, release, run_ledger
from warehouse.snapshots import BRASILIA
from warehouse.staging import stage, sweep
from warehouse.states import COUNTRY

Fetching = Callable[[Run], object]
Building = Callable[[Run], Outcome]
TABULAR = {".csv", ".tsv", ".txt", ".xls", ".xlsx", ".ods"}  # what somebody may think is read
UNUSED_DAYS = 120  # parsed answers that no run has used for so long are parsed again if ever needed


def run(this: Run, fetching: Fetching | None = None, building: Building | None = None) -> Outcome:
    """The whole of it, holding the data folder's lock; how it ended is recorded, whatever it was.

    The flow hands in the two steps as Prefect tasks; they tell each other all through the ledger of polls.
    """
    with data_folder.held(this.data, now=this.now):
        try:
            with data_folder.writing(this.data):
                sweep_up(this)
                into_lake(this)  # one that cannot be reached is told before the work, not after
                strange = strangers(this)
                for warning in strange:
                    this.say(f"warning: {warning}")
                (fetching or fetch)(this)
                outcome = (building or build)(this)
                outcome = replace(outcome, warnings=(*strange, *outcome.warnings))
                into_lake(this, outcome)
        except EmancipaError as error:
            record(this, run_ledger.FAILURES[error.exit_code], error.exit_code, message=str(error))
            raise
        except Exception as error:
            record(this, "bug", 1, message=f"{type(error).__name__}: {error}")
            raise
        how, why = ("published", this.accept_drift) if outcome.is_new else ("nothing_new", outcome.withdrawn)
        record(this, how, 0, release=outcome.release, message=why)
        return outcome


def strangers(this: Run) -> list[str]:
    """Tables in the inputs folder that no source reads, most often for a slip in their names; told once a run."""
    folder = this.settings.inputs_folder
    if this.client is None or this.home.parts or not folder.is_dir():
        return []
    known = [source.tables[0].part for source in sources().values() if source.base == "inputs"]
    found = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in TABULAR and path.is_file())
    return [
        f"{name} in the inputs folder is not read: a file there is named {', '.join(known)}"
        for name in found
        if name not in known
    ]


def into_lake(this: Run, outcome: Outcome | None = None) -> None:
    """Bring the lake, where there is one, to a state's release; before there is any, see that it can be opened."""
    if (catalogue := this.settings.lake) is None:
        return
    from warehouse import lake  # noqa: PLC0415  few have one

    if outcome is None and not this.home.parts:
        with lake.opened(catalogue, this.settings.lake_data):
            pass
    elif outcome is not None and this.scope.uf != COUNTRY:
        marts = [table for table in tables().values() if table.schema_name == "mart"]
        lake.keep(catalogue, this.settings.lake_data, outcome.folder, this.scope.uf, marts)


def record(this: Run, outcome: str, exit_code: int, *, release: str | None = None, message: str = "") -> None:
    """A line more in the data folder's ledger of runs."""
    ended = this.ended(outcome, exit_code, at=datetime.now(UTC), release=release, message=message)
    try:
        run_ledger.record_run(this.data, ended)
    except OSError as error:  # a full disk, most often: how the run ended is told all the same
        this.say(f"the run could not be recorded: {error}")


def sweep_up(this: Run) -> None:
    """Remove what killed runs and forgotten answers left. The lock is held, of a state's home or of the whole folder:
    only the latter keeps all others away.
    """
    publish.clean(this.data)
    if this.home.parts:
        return
    this.store.sweep()
    sweep(this.cache, this.now.timestamp() - UNUSED_DAYS * 86_400)


def build(this: Run) -> Outcome:
    """Build from what was fetched and what is at hand, unless a release was made of the very same."""
    usable_polls = usable(this, polled(this))
    fingerprint = fingerprint_of(this, usable_polls)
    same = nothing_new(this, fingerprint, "every source and rule is as in the current release")
    return replace(same, stale=stale(this, usable_polls)) if same else make_release(this, usable_polls, fingerprint)


def nothing_new(this: Run, fingerprint: str, why: str) -> Outcome | None:
    """The release that readers see, where this run would make it again, or one that was withdrawn from them."""
    same, seen = publish.already(this.data, fingerprint), publish.current(this.data)
    if same is None or seen is None:
        return None
    withdrawn = publish.withdrawal(this.data, same)
    this.say(f"nothing new: {withdrawn or why}")
    return Outcome(seen, this.data / publish.RELEASES / seen, is_new=False, withdrawn=withdrawn)


def fingerprint_of(this: Run, polled: Polled) -> str:
    """Everything the release would be made of. The date counts only where it decides what data are used."""
    answers = [(source.name, answer) for source, poll in polled for answer in poll.answers]
    newest = max((answer.fetched_at.astimezone(BRASILIA).date() for _, answer in answers), default=date.min)
    has_deadlines = any(name == "inputs_proposals" for name, _ in answers)
    decides = has_deadlines or this.scope.as_of < newest or has_later_certificates(this, polled)
    return release.fingerprint(
        uf=this.scope.uf,
        period=this.scope.as_of.isoformat() if decides else str(this.scope.fiscal_year),
        snapshots=[(name, answer.part, answer.sha256) for name, answer in answers],
        rules={file.rule_set.id: file.sha256 for file in this.rules},
        code=release.code_hash(),
    )


def has_later_certificates(this: Run, polled: Polled) -> bool:
    """Whether a certificate is dated after the day of the run: it will count one day, with nothing else new."""
    for source, good in polled:
        if source.name == "inputs_certificates":
            rows = stage(this.store, [(source, good)], this.cache)[inputs_certificates.CERTIFICATES.name]
            return not rows.filter(pl.col("date") > this.scope.as_of).collect().is_empty()
    return False


def staged(this: Run, polled: Polled) -> tuple[dict[str, pl.LazyFrame], list[str]]:
    """Every staging table, and what had to be done without: an optional source that cannot be read is left out."""
    frames: dict[str, pl.LazyFrame] = {
        name: table.frame().lazy() for name, table in tables().items() if table.schema_name == "staging"
    }
    left_out = []
    for source, good in polled:
        try:
            frames |= stage(this.store, [(source, good)], this.cache)
        except (SourceChanged, SourceUnavailable) as error:
            if source.required:
                raise
            left_out.append(f"{source.name}: done without, bounds are wider: {error.what}")
    return own_inputs(frames, this.scope) if this.home.parts else frames, left_out


def make_release(this: Run, polled: Polled, fingerprint: str) -> Outcome:
    """Screen, build aside, check, and only then switch."""
    from expectations import beside  # noqa: PLC0415  a night where nothing changed needs none of it
    from flows import releasing  # noqa: PLC0415

    beside.begin()
    frames, warnings = staged(this, polled)
    require_past(frames["staging.inputs_proposals__event"], this.scope, this.now)
    warnings += hand_warnings(this, polled)
    made = screen(frames, this.scope, [file.rule_set for file in this.rules], this.simulated)
    warnings += caveats(frames, made, this.scope)
    for warning in warnings:
        this.say(f"warning: {warning}")
    return releasing.publish_release(this, polled, fingerprint, frames, made, warnings)


def hand_warnings(this: Run, polled: Polled) -> Iterator[str]:
    """What should be known of hand-supplied files though they were read."""
    for answer in (answer for source, good in polled if source.base == "inputs" for answer in good.answers):
        with this.store.open(answer.sha256) as file:
            yield from inputs.warnings(file, answer.part)
