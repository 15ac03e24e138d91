"""Files that somebody downloaded with a browser: every kind of them, from an empty data folder to a release."""

import io
import json
import random
import shutil
import time
import zipfile
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from xlsxwriter import Workbook

from flows.cli import call
from flows.verify import Unusable, verify
from tests.upstream import Upstream
from transforms.catalog import sources
from transforms.sources import Scope, ibge_census_districts
from warehouse import sample
from warehouse.snapshots import Store
from warehouse.staging import stage

SCOPE = Scope("ES", date(2026, 11, 30))
WORDS = ["--uf", "ES", "--as-of", "2026-11-30"]


def from_sample(base: str, path: str, **params: str) -> bytes:
    found = sample.answers(base, path, params)
    assert found is not None, path
    return found.body


def finbra(folder: Path, *, zipped: bool = False, state: str = "32") -> Path:
    """The sample's annual statement as the Treasury's portal gives it: three lines, then its own columns."""
    asked = {"an_exercicio": "2025", "id_ente": "32", "no_anexo": "DCA-Anexo I-C"}
    items = json.loads(from_sample("siconfi", "/dca", **asked))["items"]
    lines = [
        "Exercício: 2025",
        "Escopo: Estados/DF",
        "Tabela: Receitas Orçamentárias (Anexo I-C)",
        "Instituição;Cod.IBGE;UF;População;Coluna;Conta;Identificador da Conta;Valor",
        *(
            f"Governo;{state};ES;1;{item['coluna']};{item['conta']};siconfi-cor_{item['cod_conta']};"
            + f"{item['valor']:.2f}".replace(".", ",")
            for item in items
        ),
    ]
    content = "\r\n".join(lines).encode("cp1252")
    path = folder / ("finbra_ESTDF.zip" if zipped else "finbra.csv")
    if not zipped:
        path.write_bytes(content)
        return path
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("finbra.csv", content)
    return path


def census(folder: Path) -> Path:
    index = from_sample("ibge_files", ibge_census_districts.FOLDER).decode()
    name = next(part.split('"')[0] for part in index.split('href="') if part.startswith("Agregados_por_distritos_b"))
    return write(folder / name, from_sample("ibge_files", ibge_census_districts.FOLDER + name))


def register(folder: Path) -> Path:
    path = "/perfil_eleitorado/eleitorado_local_votacao_ATUAL.zip"
    return write(folder / "ATUAL.zip", from_sample("tse", path))


def crosswalk(folder: Path) -> Path:
    """The file out of the zip: some people unpack what they download."""
    with zipfile.ZipFile(io.BytesIO(from_sample("tse", "/municipio_tse_ibge/municipio_tse_ibge.zip"))) as archive:
        return write(folder / "municipio_tse_ibge.csv", archive.read("municipio_tse_ibge.csv"))


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def as_xlsx(path: Path, target: Path) -> Path:
    """The same cells as IBGE publishes them since 2026."""
    import fastexcel  # noqa: PLC0415

    old = fastexcel.read_excel(path)
    with Workbook(target) as book:
        for name in old.sheet_names:
            sheet = book.add_worksheet(name)
            rows = old.load_sheet(name, header_row=None, dtypes="string").to_polars().rows()
            for row, cells in enumerate(rows):
                sheet.write_row(row, 0, ["" if cell is None else cell for cell in cells])
    return target


def fetch(data: Path, **files: Path) -> int:
    words = [word for name, path in files.items() for word in ("--file", f"{name}={path}")]
    return call(["fetch", *WORDS, "--data", str(data), *words])


def parts(data: Path, source: str) -> list[str]:
    good = Store(data / "raw").last_good(source, "ES", SCOPE.as_of)
    return [answer.part for answer in good.answers] if good else []


def test_a_state_is_screened_from_files_placed_by_hand_alone(shared: Path, tmp_path: Path) -> None:
    data, ibge = tmp_path / "data", shared / "data/ibge"
    placed = {
        "ibge_localities": ibge / "RELATORIO_DTB_BRASIL_DISTRITO_2022.xls",
        "ibge_estimates": ibge / "estimativa_dou_2025.xls",
        "ibge_census_districts": census(tmp_path),
        "tse_polling_places": register(tmp_path),
        "tse_municipalities": crosswalk(tmp_path),
        "siconfi_revenue": finbra(tmp_path, zipped=True),
    }
    assert fetch(data, **placed) == 0
    attempts = Store(data / "raw").attempts()
    assert attempts.select("source", "outcome", "message").rows() == [
        (name, "new", "placed by hand") for name in placed
    ]
    assert call(["run", *WORDS, "--offline", "--data", str(data)]) == 0
    release = data / "current/parquet"
    state = pl.read_parquet(release / "core.state.parquet").row(0, named=True)
    assert (state["population_estimate"], state["estimate_year"]) == (4_126_854, 2025)
    assert pl.read_parquet(release / "core.district.parquet")["in_localities"].sum() == 278
    revenue = pl.read_parquet(release / "core.state_revenue.parquet")
    assert set(revenue["variant"]) == {"gross", "without_irrf", "net"}
    assert set(revenue["warnings"].drop_nulls()) == {"date of delivery unknown"}
    made_of = json.loads((data / "current/release.json").read_text())["snapshots"]
    assert {row["url"] for row in made_of} == {path.name for path in placed.values()}


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that the upstreams have answered into once."""
    data = tmp_path_factory.mktemp("fetched")
    with pytest.MonkeyPatch.context() as patch, Upstream() as server:
        for name, value in server.environment().items():
            patch.setenv(name, value)
        patch.setenv("EMANCIPA_SICONFI_PACE", "0")
        assert call(["fetch", *WORDS, "--data", str(data)]) == 0
    return data


def test_what_is_placed_takes_the_place_of_what_fed_the_same_table(fetched: Path, shared: Path, tmp_path: Path) -> None:
    """Never both: the same places would be there twice."""
    data = tmp_path / "data"
    shutil.copytree(fetched, data)
    before = {name: parts(data, name) for name in ("ibge_localities", "ibge_estimates", "siconfi_revenue")}
    assert before == {
        "ibge_localities": ["districts.json"],
        "ibge_estimates": ["periods.json", "population/state.json", "population/municipalities.json"],
        "siconfi_revenue": ["deliveries/2025/0", "dca/2025/0"],
    }
    placed = {
        "ibge_localities": shared / "data/ibge/RELATORIO_DTB_BRASIL_DISTRITO_2022.xls",
        "ibge_estimates": as_xlsx(shared / "data/ibge/estimativa_dou_2025.xls", tmp_path / "estimativa_dou_2025.xlsx"),
        "siconfi_revenue": finbra(tmp_path),
    }
    assert fetch(data, **placed) == 0
    after = {name: parts(data, name) for name in before}
    assert after == {
        "ibge_localities": ["dtb/RELATORIO_DTB_BRASIL_DISTRITO_2022.xls"],
        "ibge_estimates": ["periods.json", "dou/estimativa_dou_2025.xlsx"],
        "siconfi_revenue": ["deliveries/2025/0", "finbra/finbra.csv"],
    }
    store = Store(data / "raw")
    for name in after:
        good = store.last_good(name, "ES", SCOPE.as_of)
        assert good is not None
        stage(store, [(sources()[name], good)], tmp_path / "cache")  # no key twice


def test_a_file_that_nobody_can_read_is_refused_and_changes_nothing(
    fetched: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(fetched, data)
    polls = (data / "raw/polls.jsonl").read_bytes()
    page = write(tmp_path / "ATUAL.zip", b"<html><title>Access Denied</title></html>")
    assert fetch(data, tse_polling_places=page) == 2
    assert "a page instead of csv: 'Access Denied'" in capsys.readouterr().err
    assert fetch(data, tse_polling_places=census(tmp_path)) == 2
    assert "tse_polling_places cannot read the file" in capsys.readouterr().err
    elsewhere = finbra(tmp_path, state="33")
    assert fetch(data, siconfi_revenue=elsewhere) == 2
    assert "as finbra/: no rows of ES" in capsys.readouterr().err
    assert (data / "raw/polls.jsonl").read_bytes() == polls


def test_an_estimate_that_ibge_does_not_list_yet_counts_from_its_july(tmp_path: Path) -> None:
    from transforms.core.state import latest_estimates  # noqa: PLC0415
    from transforms.sources.ibge_estimates import PERIODS, POPULATION  # noqa: PLC0415

    periods = PERIODS.frame([{"year": 2025, "modified": date(2025, 8, 28)}]).lazy()
    rows = [
        {"level": "state", "location_code": "32", "location_name": "ES", "year": year, "population": year}
        for year in (2025, 2026)
    ]
    known = POPULATION.frame(rows).lazy()
    assert latest_estimates(periods, known, Scope("ES", date(2026, 6, 30)))["year"].to_list() == [2025]
    assert latest_estimates(periods, known, Scope("ES", date(2026, 7, 1)))["year"].to_list() == [2026]


def test_damaged_workbooks_are_opened_apart_with_little_memory(shared: Path, tmp_path: Path) -> None:
    """Some make their reader ask for tens of gigabytes: that ends a process of its own, not the run."""
    good = (shared / "data/ibge/estimativa_dou_2025.xls").read_bytes()
    path = write(tmp_path / "x.xls", good)
    verify(path, "spreadsheet")
    chance, outcomes, began = random.Random(5), set(), time.monotonic()
    for _ in range(6):
        body = bytearray(good)
        at = chance.randrange(512)
        body[at : at + 4] = chance.randbytes(4)
        outcomes.add(outcome(write(path, bytes(body))))
    assert outcomes <= {"corrupt", "not_data", "whole"}
    assert "corrupt" in outcomes
    assert time.monotonic() - began < 60


def outcome(path: Path) -> str:
    try:
        verify(path, "spreadsheet")
    except Unusable as refused:
        return refused.outcome
    return "whole"
