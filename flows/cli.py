"""The command line: `emancipa VERB …`. Each verb parses its words and calls one function; nothing is decided here.

A verb imports what it needs when it is called: `--help` and the light ones do not wait for the heavy.

Exit codes: 0 published or nothing new · 1 a bug, or a disk or share that fails · 2 usage or a bad input file ·
3 checks refused · 4 a source is unavailable and nothing usable is at hand · 5 a source changed its layout · 6 another
run holds the lock.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

from flows import terminal
from transforms.errors import EmancipaError, UsageError

if TYPE_CHECKING:
    from flows.order import Order
    from flows.run import Run
    from flows.settings import Settings


def installed() -> str:
    """The version of the program."""
    from importlib.metadata import version

    return version("emancipa")


app = App(
    name="emancipa",
    version=installed,
    help="Which areas of a Brazilian state could be raised to município under LC 1/1967, how sure, what is missing.",
    version_flags=["--version"],
)


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class Common:
    """What every verb takes."""

    data: Annotated[Path | None, Parameter(help="Data folder (EMANCIPA_DATA, else warehouse/data).")] = None
    sample: Annotated[bool, Parameter(negative="", help="The bundled sample, in its own data folder.")] = False
    json: Annotated[bool, Parameter(negative="", help="The result as JSON on standard output.")] = False
    debug: Annotated[bool, Parameter(negative="", help="Show the traceback of an error.")] = False

    def settings(self, inputs: Path | None = None) -> "Settings":
        """Environment, .env and these words."""
        from flows.settings import settings

        return settings(sample=self.sample, data=self.data, inputs=inputs)

    @property
    def folder(self) -> Path:
        """The data folder readers read from."""
        return self.settings().data


COMMON = Common()


@app.command
def run(
    *,
    uf: str | None = None,
    as_of: date | None = None,
    rules: Annotated[list[str] | None, Parameter(help="Rule set by name, or a TOML file; may be repeated.")] = None,
    offline: Annotated[bool, Parameter(negative="")] = False,
    inputs: Path | None = None,
    accept_drift: str = "",
    common: Common = COMMON,
) -> None:
    """Screen a state: fetch, build, check, publish, and print the top of the ranking.

    Parameters
    ----------
    uf
        The state, for instance ES (or EMANCIPA_UF).
    as_of
        Date that fixes every period: last closed year, latest estimate published by then. Default: today.
    offline
        Build from the snapshots at hand.
    inputs
        Folder of the hand-supplied files.
    accept_drift
        Publish although figures moved more than they should since the last release; the reason is recorded.
    """
    from flows import notify, pipeline, report
    from flows.order import run_of

    asked = order(
        common, uf=uf, as_of=as_of, rules=rules or [], offline=offline, inputs=inputs, accept_drift=accept_drift
    )
    if recorded(common):
        from flows.nightly import as_flow, nightly

        outcome = as_flow(nightly, asked)
    else:
        outcome = notify.attended(run_of(asked), pipeline.run, said=True)
    report.of_run(outcome, as_json=common.json)


def plan(common: Common, **words: Any) -> "Run":
    """A run as asked for."""
    from flows.order import run_of

    return run_of(order(common, **words))


def order(common: Common, *, rules: Sequence[str] = (), **words: Any) -> "Order":
    """What was asked for, as plain values."""
    from flows.order import Order

    data = common.data and common.data.resolve()  # a worker elsewhere starts in another folder
    return Order(data=data, sample=common.sample, rules=tuple(rules), **words)


def recorded(common: Common) -> bool:
    """Whether a Prefect API is configured and answers. One that does not keeps no run from its work."""
    if not (url := os.environ.get("PREFECT_API_URL")):
        return False
    from flows.serve import answers, quiet

    quiet(common.folder)
    if answers():
        return True
    terminal.say(f"the Prefect API at {url} does not answer: this run is not recorded there")
    return False


@app.command
def fetch(
    *,
    uf: str | None = None,
    as_of: date | None = None,
    source: Annotated[list[str] | None, Parameter(help="Only these sources; may be repeated.")] = None,
    file: Annotated[list[str] | None, Parameter(help="SOURCE=PATH: keep a file downloaded by hand.")] = None,
    inputs: Path | None = None,
    common: Common = COMMON,
) -> None:
    """Fetch the sources into the snapshots, or place a file downloaded by hand; build nothing."""
    from flows import fetching

    this = plan(common, uf=uf, as_of=as_of, inputs=inputs)
    fetching.fetch(this, source or [], file or [], as_json=common.json)


@app.command
def status(*, uf: str | None = None, common: Common = COMMON) -> None:
    """The release readers see, and how fresh each source is."""
    from flows import report

    report.status(common.settings(), uf, as_json=common.json)


@app.command
def sources(*, probe: Annotated[bool, Parameter(negative="")] = False, common: Common = COMMON) -> None:
    """The upstreams: what each gives, how often, under which licence. With --probe, whether each answers now."""
    from flows import report

    report.sources(common.settings(), probe=probe, as_json=common.json)


@app.command
def rules(name: str | None = None, /, *, common: Common = COMMON) -> None:
    """The rule sets that come with the program; or one of them (or a TOML file), in prose with its articles."""
    from flows import report

    report.rules(name, datetime.now(UTC).date(), as_json=common.json)


@app.command
def tables(name: str | None = None, /, *, common: Common = COMMON) -> None:
    """The tables of the warehouse; or one of them, column by column."""
    from flows import report

    report.tables(common.folder, name, as_json=common.json)


@app.command
def show(area: str, /, *, explain: Annotated[bool, Parameter(negative="")] = False, common: Common = COMMON) -> None:
    """One area: each requirement, the origin, what is pending. With --explain: every input, source, hash and step."""
    from flows import showing

    showing.show(common.folder, area, explain=explain, as_json=common.json)


@app.command
def dossier(
    area: str,
    /,
    *,
    output: Annotated[Path | None, Parameter(help="The PDF to write. Default: dossie-AREA.pdf here.")] = None,
    rules: Annotated[str | None, Parameter(help="Which of the release's rule sets. Default: its first.")] = None,
    common: Common = COMMON,
) -> None:
    """The dossier of one area as PDF: findings, drafts of the requests, limits with all vertices as CSV, steps."""
    from flows import dossier as document

    document.dossier(common.settings(), area, output, rules, as_json=common.json)


@app.command
def groups(district: str | None = None, /, *, uf: str | None = None, common: Common = COMMON) -> None:
    """With whom would a district make it: the smallest contiguous groups that fail no requirement, ranked.

    Parameters
    ----------
    district
        Only the groups that hold this district: its code, or its name.
    """
    from flows import groups as found

    found.groups(common.folder, district, uf, as_json=common.json)


@app.command
def places(
    *, uf: str | None = None, unassigned: Annotated[bool, Parameter(negative="")] = False, common: Common = COMMON
) -> None:
    """The polling places and their districts. With --unassigned, the CSV to fill in for polling_place_districts.csv."""
    from flows import places as listed

    listed.places(common.folder, uf, unassigned=unassigned, as_json=common.json)


@app.command
def proposals(
    *, uf: str | None = None, overdue: Annotated[bool, Parameter(negative="")] = False, common: Common = COMMON
) -> None:
    """The petitions: where each stands, what is due, and the calendar. With --overdue, only what is overdue."""
    from flows import proposals as register

    register.proposals(common.folder, uf, overdue=overdue, as_json=common.json)


@app.command
def proposal(proposal_id: str, /, *, common: Common = COMMON) -> None:
    """One petition: each stage with its article, reason and next step; its requests, plebiscites and events."""
    from flows import proposals as register

    register.proposal(common.folder, proposal_id, as_json=common.json)


@app.command
def query(sql: str, /, *, common: Common = COMMON) -> None:
    """Ask the published warehouse in SQL (read only)."""
    from flows import report

    report.query(common.folder, sql, as_json=common.json)


@app.command
def diff(before: str | None = None, after: str | None = None, /, *, common: Common = COMMON) -> None:
    """What changed between two releases, consequences first. Default: the current one and the one before it."""
    from flows import comparing

    comparing.diff(common.folder, before, after, as_json=common.json)


@app.command
def dictionary(*, check: Annotated[bool, Parameter(negative="")] = False, common: Common = COMMON) -> None:
    """Write the data dictionary in both languages; with --check, say whether it is up to date (exit 2 if not)."""
    from flows import comparing

    comparing.dictionary(check=check, as_json=common.json)


@app.command
def rollback(release: str | None = None, /, *, reason: str = "", common: Common = COMMON) -> None:
    """Point readers at the release before the current one, or at the one named."""
    from warehouse import publish

    back = publish.rollback(common.folder, release, now=datetime.now(UTC), reason=reason)
    terminal.as_json({"release": back}) if common.json else terminal.line(f"readers are on {back}")


@app.command
def serve(
    *,
    uf: Annotated[str | None, Parameter(help="One state, or several with commas between: ES,SE.")] = None,
    at: Annotated[str, Parameter(help="Time of day in Brasília.")] = "02:00",
    rules: list[str] | None = None,
    inputs: Path | None = None,
    common: Common = COMMON,
) -> None:
    """Run every night, under the Prefect server that PREFECT_API_URL names; until stopped."""
    from flows import serve as serving

    settings = common.settings(inputs)
    asked = order(common, rules=rules or [], inputs=inputs)
    serving.serve(asked, serving.states(uf, settings, is_sample=common.sample), at, settings.data)


@app.command
def national(
    *,
    uf: Annotated[str | None, Parameter(help="Some states only, commas between: ES,SE. Default: all 26.")] = None,
    as_of: date | None = None,
    rules: list[str] | None = None,
    offline: Annotated[bool, Parameter(negative="")] = False,
    inputs: Path | None = None,
    accept_drift: str = "",
    runner: Annotated[Literal["threads", "dask"], Parameter(help="Where the states are built.")] = "threads",
    dask_address: Annotated[str, Parameter(help="A Dask scheduler; see EMANCIPA_SHARE in the README.")] = "",
    workers: Annotated[int, Parameter(help="States built at once. Default: one per core.")] = 0,
    common: Common = COMMON,
) -> None:
    """Screen all states, or some: shared sources once, a release for each, and one of the country with all of them."""
    from flows import national as country
    from flows import report

    asked = order(
        common,
        ufs=country.states(uf, is_sample=common.sample),
        as_of=as_of,
        rules=rules or [],
        offline=offline,
        inputs=inputs,
        accept_drift=accept_drift,
    )
    spread = country.Spread(runner, dask_address, workers)
    if recorded(common):
        from flows import nightly

        outcome = nightly.as_flow(nightly.national, asked, runner=runner, dask_address=dask_address, workers=workers)
    else:
        outcome = country.run(asked, spread)
    report.of_run(outcome, as_json=common.json)


def main(words: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    tokens = list(sys.argv[1:] if words is None else words)
    for name in ("stdout", "stderr"):  # closed by who calls: nobody reads, and the work goes on
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  for the whole process
    sys.exit(call(tokens))


def call(tokens: Sequence[str]) -> int:
    """One command's exit code; what went wrong is told on standard error, as people need it."""
    debug = "--debug" in tokens
    try:
        app(list(tokens), exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        return _told(UsageError(str(error), action="emancipa --help"), debug=debug)
    except EmancipaError as error:
        return _told(error, debug=debug)
    except BrokenPipeError:  # `emancipa … | head`: the reader has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        terminal.say("interrupted: readers keep what is published")
        return 130
    except Exception as error:  # noqa: BLE001  the last door: a bug is told, with what to do, and exits 1
        if debug:
            traceback.print_exception(error)
        terminal.say(f"error: a bug: {type(error).__name__}: {error}\n  → run again with --debug, and report it")
        return 1
    return 0


def _told(error: EmancipaError, *, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    terminal.say(f"error: {error}")
    return error.exit_code
