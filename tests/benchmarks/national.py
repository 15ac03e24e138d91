"""The whole country, from snapshots to one national release: `python -m tests.benchmarks.national [--folder DIR]`.

The upstreams' files are made here in their true formats around the real census file (10,698 districts; `--census`, by
default the one in ../shared): 470 thousand sectors, 500 thousand electoral sections, a mesh of 4 million vertices for
all 27 states. Making them takes minutes and is kept in the folder. Then, each in processes of its own:

    build    every state and the national release, nothing parsed before: wall, CPU, peak memory of all processes
    floor    the same bytes decompressed and parsed, and nothing else
    files    the same tables written by the libraries alone: DuckDB, Parquet, CSV and workbook of each state and of the
             country, with no key, comment, heading, format, map or page
    plain    the same job written plainly: pandas, geopandas, DuckDB, Great Expectations (needs geopandas)

The plain job has the bounds, the origin before and after, checks, warehouse, Parquet, CSV and workbook of every state
and of the country; what it leaves out is in plain/. `--only build,growth` chooses; `--geopandas PATH` is a folder
that holds geopandas, which is no dependency.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from importlib.util import find_spec
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import shapely
import xlsxwriter
from pyogrio import raw

from flows import polling
from flows.run import Run
from flows.sample import AtHand, Found
from flows.settings import Settings
from tests.upstream.census import country
from transforms.catalog import sources
from transforms.codes import BY_UF
from transforms.sources import Base, Request, Scope
from warehouse.export import csv, xlsx
from warehouse.sample import generate, sectors
from warehouse.sample.facts import District
from warehouse.sample.ibge import DISTRICT_COLUMNS, district_rows
from warehouse.sample.layout import Box
from warehouse.sample.mesh import _value
from warehouse.sample.story import Story
from warehouse.states import COUNTRY, STATES

PROJECT = Path(__file__).resolve().parents[2]
CENSUS = PROJECT.parent / "shared/data/ibge/Agregados_por_distritos_basico_BR_20260520.csv"
AS_OF = date(2026, 11, 30)
MESH, SECTOR_MESH = "_distritos_CD2022.gpkg", "_setores_CD2022.gpkg"
UFS = sorted(BY_UF.keys() - {"DF"})
GROWTH = (("SE",), ("AL", "ES", "RN"), tuple(UFS[:9]), tuple(UFS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "emancipa-national")
    parser.add_argument("--census", type=Path, default=CENSUS)
    parser.add_argument("--geopandas", type=Path)
    parser.add_argument("--only", default="build,processes,floor,files,plain,growth")
    parser.add_argument("--step", nargs="*", help=argparse.SUPPRESS)  # what a process of ours is for
    options = parser.parse_args()
    if options.step:
        STEPS[options.step[0]](options.folder, *options.step[1:])
        return
    if not (options.folder / "made").exists():
        made, _, peak = measured(options, "make", str(options.census))
        say(f"made in {made:.0f} s, {peak:.0f} MB")
        (options.folder / "made").touch()
    only = options.only.split(",")
    everything = ",".join(UFS)
    walls: dict[str, float] = {}
    for name, step, *words in (
        ("build", "build", everything, "threads", "2"),
        ("one at a time", "build", everything, "threads", "1"),
        ("processes", "build", everything, "dask", "2"),
        ("again", "build", everything, "threads", "2", "keep"),
        ("floor", "floor"),
        ("files", "files"),
        *([("plain", "plain")] if options.geopandas or find_spec("geopandas") else []),
        *(("growth", "build", ",".join(ufs), "threads", "2") for ufs in GROWTH[:-1]),  # last: it leaves few states
    ):
        if name.split()[0] not in {*only, *(["one", "again"] if "build" in only else [])}:
            continue
        wall, cpu, peak = measured(options, step, *words)
        walls.setdefault(name, wall)
        label = f"{name}, {len(words[0].split(','))} states" if step == "build" else name
        say(f"{label:28} {wall:8.1f} s wall {cpu:8.1f} s CPU {peak:8.0f} MB peak")
    for names in (("floor",), ("floor", "files"), ("plain",)):
        if {"build", *names} <= walls.keys():
            say(f"build ÷ ({' + '.join(names)}): {walls['build'] / sum(walls[name] for name in names):.2f}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def measured(options: argparse.Namespace, *step: str) -> tuple[float, float, float]:
    """Wall and CPU seconds of a step in a process of its own, and the peak of all its processes together in MB."""
    words = [sys.executable, "-m", "tests.benchmarks.national", "--folder", str(options.folder), "--step", *step]
    path = os.pathsep.join(map(str, filter(None, [PROJECT, options.geopandas])))
    began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(words, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, family(process.pid))
        time.sleep(0.1)
    if process.returncode:
        sys.exit(f"{step[0]} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    return time.perf_counter() - began, cpu, peak


def family(pid: int) -> float:
    """Memory of a process and its descendants in MB, what they share counted once (PSS)."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    own = next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
    return own / 1024 + sum(family(int(child)) for child in children)


# steps, each in its own process


def make(folder: Path, census: str, *only: str) -> None:
    """Every answer as a snapshot, and a poll of every source (or only of some) for every state."""
    coarse = sectors._situations

    def finer(district: District, story: Story) -> list[tuple[str, float]]:
        """A sector of IBGE's holds fewer people than one of the sample's; its number has four digits."""
        sectors._PEOPLE = max(425, district.population // 9000)
        return coarse(district, story)

    sectors._situations = finer
    world, placed = country(Path(census), None, None, 5000)
    world = replace(world, place_voters=1650, section_voters=325)

    def find(base: Base, request: Request) -> Found | None:
        if request.path.endswith(SECTOR_MESH) or "CNEFE" in request.path or base == "inputs":
            return None
        if request.path.endswith(MESH):
            return request.path, mesh(world, request.path[-len(MESH) - 2 : -len(MESH)], folder)
        found = placed.get(f"/ftp{request.path}") or generate.answer(world, base, request.path, request.params)
        return (request.path, found.body) if found else None

    settings = Settings(data=folder)
    whole = Run(Scope(COUNTRY, AS_OF), [], settings, AtHand(find), datetime.now(UTC))
    runs = [whole.of_state(uf, STATES / uf) for uf in UFS]
    for name in only or sources():
        polling.ask(runs, sources()[name])


def mesh(world: generate.World, uf: str, folder: Path) -> bytes:
    """A state's districts with some 380 vertices each: the sample's boxes, with borders that wind as rivers do."""
    facts, boxes = world.states[uf], world.boxes[uf]
    rows = list(district_rows(facts))
    corners = [boxes[row[0]] for row in rows]
    step = sum(2 * (box.east - box.west + box.north - box.south) for box in corners) / (380 * len(corners))
    outlines = np.array([shapely.polygons(wind(ring(box, step))) for box in corners])
    shapes = shapely.multipolygons(outlines, indices=np.arange(len(rows)))
    path = folder / f"{uf}.gpkg"
    columns = DISTRICT_COLUMNS[:-2]
    fields = [np.array([_value(column, row[at]) for row in rows]) for at, column in enumerate(columns)]
    raw.write(
        path, shapely.to_wkb(shapes), fields, columns, layer=f"{uf}_distritos_CD2022", driver="GPKG",
        geometry_type="MultiPolygon", crs="EPSG:4674",
    )  # fmt: skip
    body = path.read_bytes()
    path.unlink()
    return body


def ring(box: Box, step: float) -> np.ndarray:
    """Round a box, with a point wherever a side meets a line of the grid: neighbours have the same ones."""
    x, y = (
        np.concatenate([[low], np.arange(np.floor(low / step) + 1, np.ceil(high / step)) * step])
        for low, high in ((box.west, box.east), (box.south, box.north))
    )
    there_x, there_y = np.append(x[1:], box.east), np.append(y[1:], box.north)
    sides = (
        (x, np.full(len(x), box.south)),
        (np.full(len(y), box.east), y),
        (there_x[::-1], np.full(len(x), box.north)),
        (np.full(len(y), box.west), there_y[::-1]),
    )
    points = np.vstack([np.column_stack(side) for side in sides])
    return np.vstack([points, points[:1]])


def wind(points: np.ndarray) -> np.ndarray:
    """Up to 200 m aside, by where a point is alone."""
    x, y = points[:, 0], points[:, 1]
    aside = 0.001 * (np.sin(x * 900) + np.sin(y * 1300))
    return np.column_stack([x + aside, y - aside])


def build(folder: Path, ufs: str, runner: str, workers: str, keep: str = "") -> None:
    """The product's own job, from the snapshots."""
    from flows.cli import call  # noqa: PLC0415

    for name in ("staging", "states", "releases", "current", "history.jsonl") if not keep else ():
        path = folder / name
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    words = (
        f"national --offline --json --uf {ufs} --data {folder} --as-of {AS_OF} --runner {runner} --workers {workers}"
    )
    sys.exit(call(words.split()))


def floor(folder: Path) -> None:
    """Every file decompressed and parsed, as text, with nothing done to it."""
    for path in (folder / "raw" / "blobs").glob("*/*"):
        head = path.read_bytes()[:16]
        if head.startswith(b"PK"):
            with zipfile.ZipFile(path) as archive:
                for member in (name for name in archive.namelist() if name.endswith(".csv")):
                    text = archive.read(member).decode("cp1252").encode()
                    pl.read_csv(text, separator=";", infer_schema=False, quote_char='"')
        elif head.startswith(b"SQLite"):
            with warnings.catch_warnings(action="ignore"):  # a snapshot has no extension
                raw.read(path)
        elif head[:1] in {b"[", b"{"}:
            json.loads(path.read_bytes())


def files(folder: Path) -> None:
    """Every release's tables, in the plainest way that each library has to write them; read from the Parquet copies."""
    for release in (*(folder / STATES).glob("*/current"), folder / "current"):
        tables = {path.stem: pl.read_parquet(path) for path in sorted((release / "parquet").glob("*.parquet"))}
        with tempfile.TemporaryDirectory(dir=folder) as aside:
            with duckdb.connect(Path(aside) / "all.duckdb") as database:
                for name, frame in tables.items():
                    database.register("frame", frame)
                    database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM frame')
            for name, frame in tables.items():
                frame.write_parquet(Path(aside) / f"{name}.parquet")
            for name, file in [*csv.MACHINE.items(), *csv.ASSEMBLY.items()]:
                tables[name].write_csv(Path(aside) / file)
            with xlsxwriter.Workbook(Path(aside) / xlsx.FILE) as book:
                for name in xlsx.SHEETS:
                    tables[name].write_excel(book, name.partition(".")[2])


def plain(folder: Path) -> None:
    """The screen in pandas and geopandas; told on stderr, how far its verdicts are those of the release at hand."""
    from tests.benchmarks.plain import agreement, country  # noqa: PLC0415  needs geopandas

    country(folder, UFS)
    if (folder / "current").exists():
        sys.stderr.write(f"{agreement(folder)}\n")


STEPS: Mapping[str, Callable[..., None]] = {
    "make": make,
    "build": build,
    "floor": floor,
    "files": files,
    "plain": plain,
}

if __name__ == "__main__":
    main()
