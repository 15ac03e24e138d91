"""How fast polling places get their districts: `python -m tests.benchmarks.electorate [points]`.

A mesh of Brazil's proportions is made here (10,670 districts, 4 million vertices, shared borders). Assigning points
is measured against a bare shapely query of the same points and against geopandas, where it is installed; distances to
borders by themselves; and 500,000 sections, from staged rows to the electorate of every district. Each in a process
of its own, so that its peak memory is its own.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import shapely
from numpy.typing import NDArray

from transforms import geometry
from transforms.borders import distances, drawn, nearest
from transforms.codes import STATES
from transforms.core.district_electorate import district_electorate
from transforms.core.polling_place import TABLE, polling_place
from transforms.sources import Scope

DISTRICTS, VERTICES_APART = 10_670, 0.0020
BOX = (-60.0, -25.0, -40.0, -5.0)


def write_mesh(path: Path) -> None:
    """Cells of a Voronoi diagram with wavy borders, coded by state and município (two districts each)."""
    chance = np.random.default_rng(1)
    seeds = np.column_stack([chance.uniform(BOX[0], BOX[2], DISTRICTS), chance.uniform(BOX[1], BOX[3], DISTRICTS)])
    box = shapely.box(*BOX)
    cells: Any = np.array(shapely.get_parts(shapely.voronoi_polygons(shapely.multipoints(seeds), extend_to=box)))
    cells = shapely.segmentize(shapely.intersection(cells, box), VERTICES_APART)

    def wavy(at: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.round(at + 0.003 * np.sin(at[:, ::-1] * 150) + 0.001 * np.sin(at[:, ::-1] * 900), 7)

    cells = geometry.repaired(shapely.transform(cells, wavy))
    order = np.argsort(shapely.get_x(shapely.centroid(cells)))
    number = np.arange(DISTRICTS)
    per_state = -(-DISTRICTS // len(STATES))
    codes = [f"{STATES[n // per_state].code}{n % per_state // 2:05}{5 + 5 * (n % 2):02}" for n in number]
    pl.DataFrame({"district_code": codes, "geometry": geometry.wkb(cells[order])}).write_parquet(path)
    print(f"{len(cells):,} districts, {shapely.get_num_coordinates(cells).sum():,} vertices")  # noqa: T201


def points(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points all over the mesh."""
    chance = np.random.default_rng(2)
    return chance.uniform(BOX[0], BOX[2], count), chance.uniform(BOX[1], BOX[3], count)


def bare(mesh: pl.DataFrame, count: int) -> Callable[[], int]:
    """Shapely alone, from the same coordinates: a tree over the points, each polygon prepared; the pairs, no more."""
    shapes = geometry.shapes(mesh["geometry"])
    x, y = points(count)

    def run() -> int:
        at: Any = shapely.points(x, y)
        return len(shapely.STRtree(at).query(shapes, predicate="contains")[0])

    return run


def assigned(mesh: pl.DataFrame, count: int) -> Callable[[], int]:
    """What the product does: one district a point, borders included, by code."""
    shapes, codes = geometry.shapes(mesh["geometry"]), mesh["district_code"]
    x, y = points(count)

    group, wanted = np.zeros(len(shapes), dtype=np.int64), np.zeros(count, dtype=np.int64)

    def run() -> int:
        polygon = geometry.holder(shapes, group, x, y, wanted)
        return pl.DataFrame({"district": codes.gather(polygon[polygon >= 0])}).height

    return run


def geopandas_join(mesh: pl.DataFrame, count: int) -> Callable[[], int]:
    """The same with geopandas.sjoin."""
    geopandas: Any = import_module("geopandas")  # no dependency: measured where it is installed

    districts = geopandas.GeoDataFrame(
        {"code": mesh["district_code"].to_list()}, geometry=geometry.shapes(mesh["geometry"]), crs=4674
    )
    places = geopandas.GeoDataFrame(geometry=shapely.points(*points(count)), crs=4674)
    return lambda: len(geopandas.sjoin(places, districts, predicate="intersects"))


def borders(mesh: pl.DataFrame, count: int) -> Callable[[], int]:
    """Which other districts come within 500 m, and how far the nearest is, of a fifth of the points."""
    shapes = geometry.shapes(mesh["geometry"])
    x, y = (values[: count // 5] for values in points(count))
    point, polygon = geometry.covering(shapes, x, y)
    own = np.full(len(x), -1)
    own[point] = polygon

    def run() -> int:
        edges = drawn(shapes)
        nearest(edges, x, y, own)
        return distances(edges, x, y, own, 500).height

    return run


def national(mesh: pl.DataFrame, count: int) -> Callable[[], int]:
    """Sections, five to a place, nine in ten with a coordinate, to every district of every state."""
    x, y = points(count // 5)
    point, polygon = geometry.covering(geometry.shapes(mesh["geometry"]), x, y)
    places = pl.DataFrame({"point": point, "district_code": mesh["district_code"].gather(polygon)}).unique("point")
    uf = {state.code: state.uf for state in STATES}
    districts = mesh.select(
        "district_code",
        pl.format("Distrito {}", pl.col("district_code").str.slice(2, 5)).alias("district_name"),
        pl.col("district_code").str.head(7).alias("municipality_code"),
        pl.col("district_code").str.ends_with("05").alias("is_seat"),
        pl.col("district_code").str.head(2).replace_strict(uf).alias("uf"),
    )
    sections = (
        places.join(districts, on="district_code")
        .select(
            "uf",
            pl.col("municipality_code").str.slice(2).alias("tse_municipality_code"),
            pl.lit("1").alias("zone"),
            pl.col("point").cast(pl.String).alias("place"),
            pl.format("EMEF {}", "point").alias("place_name"),
            pl.format("RUA DAS FLORES, {} - SÃO JOÃO", "point").alias("address"),
            pl.format("JARDIM {}", pl.col("point") % 900).alias("neighbourhood"),
            pl.when(pl.col("point") % 10 < 9).then(pl.lit(y).gather("point")).alias("latitude"),
            pl.when(pl.col("point") % 10 < 9).then(pl.lit(x).gather("point")).alias("longitude"),
            pl.lit([0, 1, 2, 3, 4]).alias("section"),
        )
        .explode("section")
        .with_columns(
            (pl.col("section") + pl.col("place").cast(pl.Int64) * 5).cast(pl.String).alias("section"),
            pl.lit(300).alias("voters"),
            original_place="place",
            original_place_name="place_name",
            original_address="address",
        )
    )
    crosswalk = districts.select(
        pl.col("municipality_code").str.slice(2).alias("tse_municipality_code"), "municipality_code", "uf"
    ).unique()
    hand = pl.DataFrame(schema=dict.fromkeys([*TABLE.key, "district_code"], pl.String))

    def run() -> int:
        total = 0
        for state in STATES:
            own = {
                "districts": districts.filter(pl.col("uf") == state.uf),
                "mesh": mesh.filter(pl.col("district_code").str.starts_with(state.code)),
            }
            found = polling_place(
                sections.lazy(),
                sections.clear().lazy(),
                crosswalk.filter(pl.col("uf") == state.uf),
                own["districts"],
                hand,
                own["mesh"],
                Scope(state.uf, date(2026, 11, 30)),
            )
            total += int(district_electorate(found, own["districts"])["value"].sum())
        return total

    return run


JOBS = {job.__name__: job for job in (bare, assigned, geopandas_join, borders, national)}


def one(job: str, mesh: str, count: int) -> None:
    """Runs a job three times in this process and prints its best seconds, its peak in MB, and its count."""
    run = JOBS[job](pl.read_parquet(mesh), count)
    best, result = float("inf"), 0
    for _ in range(3 if job != "national" else 1):
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
    print(best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, result)  # noqa: T201


def main(count: int) -> None:
    """All jobs, and their times as ratios to the bare query's."""
    with tempfile.TemporaryDirectory() as folder:
        mesh = Path(folder) / "mesh.parquet"
        command = [sys.executable, "-m", "tests.benchmarks.electorate"]  # a child's peak begins at its parent's
        made = subprocess.run([*command, "write", str(mesh)], capture_output=True, text=True, check=True)
        print(f"{made.stdout.strip()}, {count:,} points")  # noqa: T201
        floor = 0.0
        for job in JOBS:
            done = subprocess.run([*command, job, str(mesh), str(count)], capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{job:15} not measured: {done.stderr.strip().splitlines()[-1]}")  # noqa: T201
                continue
            seconds, peak, result = done.stdout.split()
            floor = floor or float(seconds)
            ratio = float(seconds) / floor
            print(f"{job:15} {float(seconds):6.2f} s  {ratio:5.2f} × bare  {peak:>5} MB  {int(result):,}")  # noqa: T201


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", mesh]:
            write_mesh(Path(mesh))
        case [job, mesh, count]:
            one(job, mesh, int(count))
        case arguments:
            main(int(arguments[0]) if arguments else 500_000)
