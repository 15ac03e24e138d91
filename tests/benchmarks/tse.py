"""How fast the electoral register is read: `python -m tests.benchmarks.tse [sections]`.

Against the floor (the same zip decompressed, decoded and parsed by Polars, same columns, all text), in one run, each
in a process of its own so that its peak memory is its own. The file is made here, in TSE's layout.
"""

import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import polars as pl

from transforms.codes import BY_UF
from transforms.sources.tse_polling_places import HEADER, SECTION, parse_section

MEMBER = "eleitorado_local_votacao_ATUAL.csv"


def write_register(path: Path, sections: int) -> None:
    """A register of so many sections, five to a place, all states, as TSE writes it (cp1252, CRLF, quoted text)."""
    number = pl.int_range(sections)
    place, state = number // 5, number % 27
    address = pl.format("RUA DAS ACÁCIAS Nº {}                    SN", place % 9000)
    name = pl.format("ESCOLA ESTADUAL PROFª MARIA DA CONCEIÇÃO {}", place)
    text = pl.lit("x")
    values: dict[str, pl.Expr] = dict.fromkeys(HEADER, pl.lit(-1)) | {
        "DT_GERACAO": pl.lit("03/08/2026"),
        "HH_GERACAO": pl.lit("06:29:34"),
        "DT_ELEICAO": pl.lit("#NULO"),
        "DS_ELEICAO": pl.lit("#NULO"),
        "NR_TURNO": pl.lit(1),
        "SG_UF": state.replace_strict(dict(enumerate(BY_UF))),
        "CD_MUNICIPIO": (1000 + number % 5570).cast(pl.String).str.zfill(5),
        "NM_MUNICIPIO": pl.lit("SÃO JOÃO D'ALIANÇA"),
        "NR_ZONA": 1 + number % 400,
        "NR_SECAO": 1 + number // 5570,
        "DS_TIPO_SECAO_AGREGADA": text,
        "NR_LOCAL_VOTACAO": 1015 + place % 3000,
        "NM_LOCAL_VOTACAO": name,
        "CD_TIPO_LOCAL": pl.lit(1),
        "DS_TIPO_LOCAL": pl.lit("Convencional"),
        "DS_ENDERECO": address,
        "NM_BAIRRO": pl.format("VILA {}", place % 700),
        "NR_CEP": pl.lit("68900000"),
        "NR_TELEFONE_LOCAL": pl.lit("+5596988052658"),
        "NR_LATITUDE": pl.format("-{},{}", 2 + place % 28, 1_000_000 + place),
        "NR_LONGITUDE": pl.format("-{},{}", 35 + place % 30, 1_000_000 + place),
        "DS_SITU_LOCAL_VOTACAO": pl.lit("ATIVO"),
        "DS_SITU_ZONA": pl.lit("ATIVO"),
        "DS_SITU_SECAO": pl.lit("ATIVO"),
        "DS_SITU_LOCALIDADE": pl.lit("Ativo"),
        "CD_SITU_SECAO_ACESSIBILIDADE": pl.lit("1"),
        "DS_SITU_SECAO_ACESSIBILIDADE": pl.lit("Com acessibilidade"),
        "QT_ELEITOR_SECAO": 100 + number % 300,
        "NR_LOCAL_VOTACAO_ORIGINAL": 1015 + place % 3000,
        "NM_LOCAL_VOTACAO_ORIGINAL": name,
        "DS_ENDERECO_LOCVT_ORIGINAL": address,
    }
    frame = pl.select(number.alias("n")).select(expression.alias(column) for column, expression in values.items())
    text_csv = frame.write_csv(separator=";", quote_style="non_numeric", line_terminator="\r\n")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.writestr(MEMBER, text_csv.encode("cp1252"))


def floor(path: Path) -> pl.DataFrame:
    """The bare cost: decompress, decode, parse the same columns as text."""
    with zipfile.ZipFile(path) as archive:
        content = archive.read(MEMBER).decode("cp1252").encode()
    columns = [column.source for column in SECTION.columns if column.source]
    return pl.read_csv(content, separator=";", infer_schema=False, columns=columns)


def reader(path: Path) -> pl.DataFrame:
    """The parser under test."""
    with path.open("rb") as stream:
        return parse_section(stream)


def measured(job: str, path: Path) -> tuple[float, float, int]:
    """Seconds, peak MB and rows of a job."""
    seconds, peak, rows = alone(job, str(path)).split()
    return float(seconds), float(peak), int(rows)


def alone(*arguments: str) -> str:
    """Runs this module in a process of its own: a child's peak memory begins at its parent's."""
    command = [sys.executable, "-m", "tests.benchmarks.tse", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(arguments: list[str]) -> None:
    """Runs one job when told which; else makes the file and compares."""
    match arguments:
        case ["write", path, sections]:
            write_register(Path(path), int(sections))
        case [("floor" | "reader") as job, path]:
            start = time.perf_counter()
            rows = {"floor": floor, "reader": reader}[job](Path(path)).height
            seconds = time.perf_counter() - start
            print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, rows)  # noqa: T201
        case _:
            compare(int(arguments[0]) if arguments else 500_000)


def compare(sections: int) -> None:
    """Floor and reader over the same file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "register.zip"
        alone("write", str(path), str(sections))
        print(f"{sections:,} sections, zip of {path.stat().st_size / 1e6:.0f} MB")  # noqa: T201
        results = {job: measured(job, path) for job in ("floor", "reader")}
        for job, (seconds, peak, rows) in results.items():
            print(f"{job:<7}{seconds:6.2f} s  {peak:6.0f} MB  {rows:,} rows")  # noqa: T201
        print(f"ratio  {results['reader'][0] / results['floor'][0]:6.2f}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
