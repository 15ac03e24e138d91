"""How fast addresses become urban centres: `python -m tests.benchmarks.houses [addresses]`.

A state's address list is made here in CNEFE's layout (12 million rows, as Minas Gerais: a tenth of them outside the
towns) with its sectors. Zip to centres, and zip to cells alone, are measured against the floor: the same zip
decompressed and its needed columns parsed by Polars, one after the other as anyone would do it (unpacked to memory
it is slower, and so is DuckDB). Each run in a process of its own, so that its peak memory is its own. The jobs take
turns, and the least of ROUNDS runs counts, of seconds and of CPU seconds: a busy machine slows them all. The CPU
seconds forgive waiting, and give no credit for using both cores.
"""

import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import polars as pl

from transforms.core.urban_cluster_district import urban_cluster_district
from transforms.sources.ibge_addresses import parse_cell
from warehouse.sample.addresses import COLUMNS

TOWNS = 1_817  # districts of Minas Gerais
SECTOR_ADDRESSES = 300
BATCH = 500_000
ROUNDS = 3
NEEDED = ("COD_SETOR", "LATITUDE", "LONGITUDE", "COD_ESPECIE", "COD_TIPO_ESPECI")


def write_addresses(folder: Path, count: int) -> None:
    """`addresses.zip` and `sectors.parquet`: towns of very different sizes, houses some 20 m apart."""
    chance = np.random.default_rng(1)
    sizes = chance.pareto(1.1, TOWNS) + 0.2
    sizes = np.maximum((sizes / sizes.sum() * count * 0.9).astype(np.int64), 100)
    centres = np.column_stack([chance.uniform(-50, -40, TOWNS), chance.uniform(-22, -14.5, TOWNS)])
    town = np.repeat(np.arange(TOWNS), sizes)
    rural = np.sort(chance.integers(0, TOWNS, count - len(town)))
    district = np.concatenate([town, rural])
    outside = np.arange(count) >= len(town)
    spread = np.where(outside, 0.08, 0.0001 * np.sqrt(sizes[district]))
    x, y = (centres[district, axis] + chance.uniform(-1, 1, count) * spread for axis in (0, 1))
    order = np.lexsort([x, np.floor(y / 0.003), outside, district])  # sectors are compact
    place = district[order] * 2 + outside[order]
    rank = np.arange(count) - np.searchsorted(place, place)
    sector = rank // SECTOR_ADDRESSES % 5000 + 5000 * outside[order]
    frame = pl.DataFrame(
        {
            "code": pl.Series(district[order] + 10_000).cast(pl.String),
            "sector": pl.Series(sector).cast(pl.String).str.zfill(4),
            "outside": outside[order],
            "y": y[order],
            "x": x[order],
            "kind": chance.choice(["101", "102", "103", "104", "6", "4", "8", "3"], count, p=KINDS),
        }
    ).with_columns(pl.format("31{}05", "code").alias("code"))
    frame = frame.with_columns(pl.format("{}00{}", "code", "sector").alias("COD_SETOR"))
    frame.group_by("COD_SETOR").agg(
        pl.col("outside").mean() > 0.5, pl.len().cast(pl.Int64).alias("private_dwellings")
    ).select(
        sector_code="COD_SETOR",
        district_code=pl.col("COD_SETOR").str.head(9),
        situation_code=pl.when("outside").then(pl.lit("8")).otherwise(pl.lit("1")),
        private_dwellings="private_dwellings",
        houses=pl.col("private_dwellings") // 2,
        village_houses=pl.lit(0, pl.Int64),
    ).write_parquet(folder / "sectors.parquet")
    with (
        zipfile.ZipFile(folder / "addresses.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
        archive.open("31_MG.csv", "w", force_zip64=True) as member,
    ):
        member.write((";".join(COLUMNS) + "\n").encode())
        for start in range(0, count, BATCH):
            member.write(_lines(frame[start : start + BATCH], start).encode())


KINDS = [0.66, 0.03, 0.12, 0.01, 0.12, 0.01, 0.02, 0.03]


def _lines(frame: pl.DataFrame, start: int) -> str:
    """Rows as CNEFE writes them."""
    number = pl.int_range(pl.len()) + start
    dwelling = pl.col("kind").str.len_chars() == 3
    cells = {
        "COD_UNICO_ENDERECO": 100_000_000 + number,
        "COD_UF": pl.lit("31"),
        "COD_MUNICIPIO": pl.col("code").str.head(7),
        "COD_DISTRITO": pl.col("code"),
        "COD_SUBDISTRITO": pl.format("{}00", "code"),
        "COD_SETOR": pl.format("{}P", "COD_SETOR"),
        "NUM_QUADRA": number % 40,
        "NUM_FACE": number % 8,
        "CEP": 30_000_000 + number % 9_999_999,
        "DSC_LOCALIDADE": pl.format("BAIRRO SÃO JOÃO {}", number % 900),
        "NOM_TIPO_SEGLOGR": pl.lit("RUA"),
        "NOM_SEGLOGR": pl.format("JOSÉ DA SILVA {}", number % 7000),
        "NUM_ENDERECO": number % 3000,
        "LATITUDE": pl.col("y").round(6),
        "LONGITUDE": pl.col("x").round(6),
        "NV_GEO_COORD": pl.lit("1"),
        "COD_ESPECIE": pl.when(dwelling).then(pl.lit("1")).otherwise("kind"),
        "COD_TIPO_ESPECI": pl.when(dwelling).then("kind"),
    }
    return frame.select(cells.get(column, pl.lit(None, pl.String)).alias(column) for column in COLUMNS).write_csv(
        separator=";", include_header=False
    )


def floor(folder: Path) -> int:
    """The bare cost: decompress to a file, parse the needed columns of it as text in a stream, count rows.

    The file stays: written over, it costs a second less than new, so the least of the rounds is a strict floor.
    """
    with zipfile.ZipFile(folder / "addresses.zip") as archive:
        path = archive.extract("31_MG.csv", folder)
    columns = pl.scan_csv(path, separator=";", infer_schema=False).select(pl.col(NEEDED).count())
    return int(columns.collect(engine="streaming")["COD_SETOR"].item())


def reader(folder: Path) -> int:
    """Zip to cells."""
    with (folder / "addresses.zip").open("rb") as stream:
        return parse_cell(stream).height


def centres(folder: Path) -> int:
    """Zip to urban centres by district."""
    with (folder / "addresses.zip").open("rb") as stream:
        cells = parse_cell(stream)
    sectors = pl.read_parquet(folder / "sectors.parquet")
    districts = sectors.select("district_code").unique()
    no_mesh = pl.LazyFrame(schema={"sector_code": pl.String, "geometry": pl.Binary})
    known = sectors.select("sector_code", "houses", "village_houses")
    return urban_cluster_district(
        sectors.drop("houses", "village_houses"), known, cells.lazy(), no_mesh, districts
    ).height


JOBS = {job.__name__: job for job in (floor, reader, centres)}


def main(count: int) -> None:
    """All jobs over one file, their speed as a share of the floor's."""
    runs: dict[str, list[list[float]]] = {job: [] for job in JOBS}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.benchmarks.houses"]  # a child's peak begins at its parent's
        subprocess.run([*command, "write", folder, str(count)], check=True)
        size = (Path(folder) / "addresses.zip").stat().st_size
        print(f"{count:,} addresses, zip of {size / 1e6:.0f} MB, least of {ROUNDS} runs each")  # noqa: T201
        for job in list(JOBS) * ROUNDS:
            done = subprocess.run([*command, job, folder], capture_output=True, text=True, check=True)
            runs[job].append([float(figure) for figure in done.stdout.split()])
    for job, figures in runs.items():
        told = ""
        for index, unit in enumerate(("s", "CPU s")):
            least, of_floor = (min(run[index] for run in of) for of in (figures, runs["floor"]))
            told += f"{least:6.2f} {unit} {100 * of_floor / least:4.0f} %   "
        print(f"{job:8} {told}of the floor's speed   {max(run[2] for run in figures):5.0f} MB  {figures[0][3]:,.0f}")  # noqa: T201


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder, count]:
            write_addresses(Path(folder), int(count))
        case [job, folder]:
            start, used = time.perf_counter(), time.process_time()
            rows = JOBS[job](Path(folder))
            seconds, cpu = time.perf_counter() - start, time.process_time() - used
            print(seconds, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, rows)  # noqa: T201
        case arguments:
            main(int(arguments[0]) if arguments else 12_000_000)
