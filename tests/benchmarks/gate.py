"""What the gate costs on a release of the whole country's size: `python -m tests.benchmarks.gate [states]`.

The sample's state, screened once, stands for every state: its tables are repeated under other codes until there are
10,800 districts, and those of sectors and sections further, to 470 and 500 thousand rows. The build is the reading
and the screen of as many states (each as the sample's: measured once) and what makes a release of their tables: the
DuckDB file, the Parquet and CSV copies, the meta tables. The gate is everything that judges it, drift against an
equal release and the report's pages too. All by CPU time, so that a busy machine changes little.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from expectations import beside, gx, report
from flows import pipeline, polling, releasing
from flows.order import Order, run_of
from transforms.catalog import tables
from transforms.schema import Kind, Table
from transforms.screen import screen
from warehouse import DATABASE, build, meta, release, views
from warehouse.freshness import freshness
from warehouse.staging import published

STATES = 39
ROWS = {  # of the country, where repeating the state makes too few
    "staging.ibge_census_sectors__sector": 470_000,
    "staging.ibge_census_sectors__houses": 470_000,
    "staging.tse_polling_places__section": 500_000,
    "staging.tse_polling_places__previous_section": 500_000,
}
LEFT_OUT = frozenset({"staging.ibge_addresses__cell"})  # above a million rows, as in a national release
IDS = frozenset({"area_id", "proposal_id", "zone", "location_code"})


def repeated(table: Table, frame: pl.DataFrame, times: int) -> pl.DataFrame:
    """The rows of one state under the codes of so many."""
    rows = pl.concat(_under(table, frame, number) for number in range(times))
    return table.conform(rows.unique(table.key, keep="any"))


def _under(table: Table, frame: pl.DataFrame, number: int) -> pl.DataFrame:
    state, other = str(10 + number % 90), str(number // 90)
    cells = []
    for column in table.columns:
        cell = pl.col(column.name)
        if column.name == "uf":
            cells.append(pl.when(cell == "ES").then(pl.lit(f"{number:02}")).otherwise(cell).alias(column.name))
        elif column.kind is Kind.CODE or column.name in IDS:
            codes = cell.str.replace(r"^32(\d*)$", f"{state}${{1}}")
            if column.name in {"sector_code", "zone"}:
                codes = codes + other
            elif column.name in IDS:
                codes = pl.when(cell.str.contains(r"^32\d+$")).then(codes).otherwise(cell + f"-{number}")
            cells.append(codes.alias(column.name))
    return frame.with_columns(cells)


def content(making: releasing.Making, states: int) -> build.Tables:
    """Every table of the release, the country's size."""
    found = {}
    for name, (table, given) in making.content.items():
        if name in LEFT_OUT:
            continue
        frame = given.lazy().collect()
        times = max(states, -(-ROWS.get(name, 0) // max(frame.height, 1))) if states == STATES else states
        rows = repeated(table, frame, times)
        found[name] = (table, rows.lazy() if name.startswith("staging.") else rows)
    return found


def of_sample(data: Path) -> tuple[releasing.Making, float]:
    """The sample, read and screened but not built, and the CPU seconds that took; fetching counts for neither."""
    this = run_of(Order(sample=True, data=data, now=datetime(2026, 11, 30, 5, tzinfo=UTC)))
    polling.fetch(this)
    polls = polling.usable(this, polling.polled(this))
    shutil.rmtree(this.cache, ignore_errors=True)  # fetching reads what it gets; the build reads it once more
    began = time.process_time()
    frames, _ = pipeline.staged(this, polls)
    made = screen(frames, this.scope, [file.rule_set for file in this.rules], this.simulated)
    of_state, left_out = published(frames, tables(), this.scope)
    spent = time.process_time() - began
    whole = {**of_state, **{name: (tables()[name], frame) for name, frame in made.items()}}
    sources = [source for source, _ in polls]
    crosswalk = {name: frames[name] for name in frames if "tse_municipalities" in name}
    return releasing.Making(this, sources, meta.snapshots(polls), "f", whole, left_out, whole=crosswalk), spent


def timed(job: Callable[[], object]) -> tuple[float, float]:
    """CPU seconds of a job, and how many MB above its start memory went meanwhile."""
    peak, over = [start := resident()], threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            peak.append(max(resident(), peak.pop()))

    watching = threading.Thread(target=watch)
    watching.start()
    cpu = time.process_time()
    job()
    spent = time.process_time() - cpu
    over.set()
    watching.join()
    return spent, peak[0] - start


def resident() -> float:
    """This process's memory in MB."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(states: int, data: Path) -> None:
    """One release of so many states: build, then gate."""
    sample, screening = of_sample(data)
    making = replace(sample, content=content(sample, states))
    screening *= states
    folder, before = data / "release", data / "before"
    folder.mkdir()
    before.mkdir()
    release.write_parquet(before, making.content, {})
    gx.batches()
    beside.judge = gx.judge  # here, where its seconds and memory are counted
    fresh = meta.SOURCE_FRESHNESS.frame(freshness(making.run.store, making.sources, making.run.now))
    releasing._frames_of = lambda _: release.frames(before)  # type: ignore[assignment]
    report.require = lambda *_: None  # made-up codes fail some checks
    results: list[pl.DataFrame] = []

    def building() -> None:
        nonlocal making
        making = replace(making, content=releasing.write_copies(making, folder))
        build.build(folder / DATABASE, making.content, releasing.ABOUT_ITSELF, views.published())
        releasing.write_exports(making, folder / release.EXPORT)

    def judging() -> None:
        results.append(releasing.check(making, folder, fresh, build.findings(folder / DATABASE)))

    def finishing() -> None:
        facts = releasing.about_itself(making, "r", results[0], fresh)
        build.fill(folder / DATABASE, facts)

    spent, _ = timed(building)
    judged, more = timed(judging)
    finished, _ = timed(finishing)
    rows = {name: frame.lazy().select(pl.len()).collect().item() for name, (_, frame) in making.content.items()}
    print(  # noqa: T201
        f"{rows['core.district']:,} districts, {sum(rows.values()):,} rows, {results[0].height} checks",
        f"screen {screening:6.1f} s CPU, {states} times",
        f"build  {spent + finished:6.1f} s CPU",
        f"gate   {judged:6.1f} s CPU, {more:.0f} MB above what the build left in memory",
        f"gate ÷ build {judged / (screening + spent + finished):.2f}",
        sep="\n",
    )


def arguments() -> Iterator[int]:
    """How many states: as asked, or one and the whole country."""
    yield from map(int, sys.argv[1:]) if len(sys.argv) > 1 else (1, STATES)


def main() -> None:
    """Each size in a process of its own: a peak never falls."""
    if len(sys.argv) == 3:
        measure(int(sys.argv[1]), Path(sys.argv[2]))
        return
    for states in arguments():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "tests.benchmarks.gate", str(states), folder], check=True)


if __name__ == "__main__":
    main()
