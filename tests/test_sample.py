"""The bundled sample: formats as published, figures as published, and the story that its README tells."""

import csv
import io
import json
import os
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from hashlib import sha256
from pathlib import Path

import pyogrio
import pyproj
import pytest
import shapely

from warehouse import sample
from warehouse.sample.generate import CENSUS, CNEFE

DISTRICTS = f"{CENSUS}/Agregados_por_Distrito_csv/Agregados_por_distritos_basico_BR_20260520.zip"
SECTORS = f"{CENSUS}/Agregados_por_Setor_csv/Agregados_por_setores_basico_BR_20260520.zip"
DWELLINGS = f"{CENSUS}/Agregados_por_Setor_csv/Agregados_por_setores_caracteristicas_domicilio1_BR.zip"
MESH = f"{CENSUS}/malha_com_atributos/distritos/gpkg/UF/ES/ES_distritos_CD2022.gpkg"
PLACES = "/perfil_eleitorado/eleitorado_local_votacao_ATUAL.zip"
PLACES_2024 = "/eleitorado_locais_votacao/eleitorado_local_votacao_2024.zip"
DCA = {"an_exercicio": "2025", "id_ente": "32", "no_anexo": "DCA-Anexo I-C"}
RREO = {
    "an_exercicio": "2025",
    "nr_periodo": "6",
    "co_tipo_demonstrativo": "RREO",
    "id_ente": "32",
    "no_anexo": "RREO-Anexo 03",
}
EVERYTHING: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("ibge_api", "/v1/localidades/estados/ES/distritos", {}),
    ("ibge_api", "/v3/agregados/6579/periodos", {}),
    ("ibge_api", "/v3/agregados/6579/periodos/2025/variaveis/9324", {"localidades": "N3[32]"}),
    ("ibge_api", "/v3/agregados/6579/periodos/2025/variaveis/9324", {"localidades": "N6[N3[32]]"}),
    ("ibge_files", f"{CENSUS}/Agregados_por_Distrito_csv/", {}),
    ("ibge_files", f"{CENSUS}/Agregados_por_Setor_csv/", {}),
    ("ibge_files", DISTRICTS, {}),
    ("ibge_files", SECTORS, {}),
    ("ibge_files", DWELLINGS, {}),
    ("ibge_files", MESH, {}),
    ("ibge_files", f"{CNEFE}/32_ES.zip", {}),
    ("tse", PLACES, {}),
    ("tse", PLACES_2024, {}),
    ("tse", "/municipio_tse_ibge/municipio_tse_ibge.zip", {}),
    ("siconfi", "/dca", DCA),
    ("siconfi", "/rreo", RREO),
    ("siconfi", "/extrato_entregas", {"id_ente": "32", "an_referencia": "2025"}),
)


def body(base: str, path: str, params: Mapping[str, str] | None = None) -> bytes:
    answer = sample.answers(base, path, params or {})
    assert answer is not None, path
    assert answer.status == 200
    return answer.body


def items(route: str, params: Mapping[str, str]) -> list[dict[str, object]]:
    page = json.loads(body("siconfi", route, params), parse_float=Decimal)
    assert page["hasMore"] is False
    assert page["count"] == len(page["items"]) > 0
    return list(page["items"])


@cache
def member(base: str, path: str) -> bytes:
    """The bytes of the CSV in a zip."""
    with zipfile.ZipFile(io.BytesIO(body(base, path))) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith(".csv")))


def rows(base: str, path: str, encoding: str = "cp1252") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(member(base, path).decode(encoding), newline=""), delimiter=";"))


@cache
def sections() -> list[dict[str, str]]:
    return [row for row in rows("tse", PLACES) if row["SG_UF"] == "ES"]


def test_districts_are_the_real_file_less_its_leftover_columns(shared: Path) -> None:
    real_file = (shared / "data/ibge/Agregados_por_distritos_basico_BR_20260520.csv").read_bytes()
    ours = member("ibge_files", DISTRICTS)
    assert ours.split(b"\n", 1)[0] == real_file.split(b"\n", 1)[0]
    real = csv.DictReader(io.StringIO(real_file.decode("cp1252"), newline=""), delimiter=";")
    # of no use here; and the localities API spells one NM_RGINT differently
    left_over = {"CD_NU", "NM_NU", "CD_AGLOM", "NM_AGLOM", "CD_CONCURB", "NM_CONCURB", "NM_RGINT"}

    def kept(row: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in row.items() if name not in left_over}

    assert [kept(row) for row in rows("ibge_files", DISTRICTS)] == [
        kept(row) for row in sorted(real, key=lambda row: row["CD_DIST"]) if row["CD_UF"] == "32"
    ]


def test_codes_of_municipalities_are_the_real_ones(shared: Path) -> None:
    real_file = (shared / "data/tse/municipio_tse_ibge_20260531.csv").read_bytes()
    path = "/municipio_tse_ibge/municipio_tse_ibge.zip"
    ours = member("tse", path)
    assert ours.split(b"\r\n", 1)[0] == real_file.split(b"\n", 1)[0]
    real = csv.DictReader(io.StringIO(real_file.decode("cp1252")), delimiter=";")
    wanted = {(row["CD_MUNICIPIO_TSE"], row["CD_MUNICIPIO_IBGE"]) for row in real if row["SG_UF"] == "ES"}
    assert {(row["CD_MUNICIPIO_TSE"], row["CD_MUNICIPIO_IBGE"]) for row in rows("tse", path)} == wanted
    assert len(wanted) == 78


def test_polling_places_have_tse_s_header_quoting_and_line_ends(shared: Path) -> None:
    real_header, real_row = (
        (shared / "data/tse/eleitorado_local_votacao_2026_AP_trecho.csv").read_bytes().split(b"\r\n")[:2]
    )
    header, row, *_, end = member("tse", PLACES).split(b"\r\n")
    assert header == real_header
    assert end == b""
    quoted = [cell.startswith(b'"') for cell in real_row.split(b";")]
    assert [cell.startswith(b'"') for cell in row.split(b";")] == quoted


def test_localities_are_every_district_with_its_regions() -> None:
    found = json.loads(body("ibge_api", "/v1/localidades/estados/ES/distritos"))
    assert len(found) == 278
    serra = next(row for row in found if row["id"] == 320500205)
    assert serra["municipio"]["id"] == 3205002
    assert serra["municipio"]["microrregiao"]["mesorregiao"]["UF"]["sigla"] == "ES"
    assert serra["municipio"]["regiao-imediata"]["regiao-intermediaria"]["UF"]["id"] == 32


def test_estimates_of_municipalities_add_up_to_the_state() -> None:
    path = "/v3/agregados/6579/periodos/2025/variaveis/9324"

    def values(level: str) -> list[int]:
        (variable,) = json.loads(body("ibge_api", path, {"localidades": level}))
        return [int(series["serie"]["2025"]) for series in variable["resultados"][0]["series"]]

    assert values("N3[32]") == [4126854] == [sum(values("N6[N3[32]]"))]
    assert body("ibge_api", path.replace("2025", "2022"), {"localidades": "N3[32]"}) == b"[]"


def test_what_an_upstream_lacks_is_none() -> None:
    assert sample.answers("tse", "/nothing.zip", {}) is None
    assert sample.answers("ibge_files", MESH.replace("ES", "SE"), {}) is None


def test_sectors_add_up_to_their_district() -> None:
    counts = ("v0001", "v0002", "v0003", "v0004", "v0007", "v0008", "v0009")
    totals: dict[str, list[int]] = defaultdict(lambda: [0] * len(counts))
    for row in rows("ibge_files", SECTORS):
        assert len(row) == 38
        values = [int(row[count]) for count in counts]
        assert min(values) >= 0
        assert values[1] == values[2] + values[3]
        assert values[2] == sum(values[4:])
        totals[row["CD_DIST"]] = [a + b for a, b in zip(totals[row["CD_DIST"]], values, strict=True)]
    assert totals == {
        row["CD_DIST"]: [int(row[count]) for count in counts]
        for row in rows("ibge_files", DISTRICTS)
        if row["v0001"] != "."
    }


def test_small_sectors_are_suppressed_and_small_cells_hidden() -> None:
    private = {row["CD_SETOR"]: int(row["v0003"]) for row in rows("ibge_files", SECTORS)}
    occupied = {row["CD_SETOR"]: int(row["v0007"]) for row in rows("ibge_files", SECTORS)}
    dwellings = rows("ibge_files", DWELLINGS)
    assert {row["CD_SETOR"] for row in dwellings} == set(private)
    suppressed = {row["CD_SETOR"] for row in dwellings if row["V00001"] == "X" and row["V00089"] == "X"}
    assert suppressed == {code for code, count in private.items() if count < 5}
    assert sum(code.startswith("320455915") for code in suppressed) == 24
    for row in dwellings:
        assert len(row) == 90
        assert not {"1", "2"} & {row[f"V{n:05}"] for n in range(1, 90)}
        if row["V00001"] != "X" and row["V00002"] != "X":
            assert int(row["V00001"]) + int(row["V00002"]) == occupied[row["CD_SETOR"]]


def test_the_mesh_has_the_published_areas_and_the_true_mesh_s_defects(tmp_path: Path) -> None:
    file = tmp_path / "mesh.gpkg"
    file.write_bytes(body("ibge_files", MESH))
    meta, _, geometry, columns = pyogrio.raw.read(file, columns=["CD_DIST", "AREA_KM2"])
    assert meta["crs"] == "EPSG:4674"
    assert meta["geometry_type"] == "MultiPolygon"
    shapes = shapely.from_wkb(geometry)
    assert list(columns[0][~shapely.is_valid(shapes)]) == ["320010213"]
    geod = pyproj.Geod(ellps="GRS80")
    areas: dict[str, float] = defaultdict(float)
    for code, shape in zip(columns[0], shapely.make_valid(shapes), strict=True):
        areas[code] += abs(geod.geometry_area_perimeter(shape)[0]) / 1e6
    assert len(columns[0]) == 279
    assert len(areas) == 278
    published = dict(zip(*columns, strict=True))
    assert max(abs(areas[code] / published[code] - 1) for code in areas) < 0.0001


def test_addresses_are_the_dwellings_of_their_sectors() -> None:
    found = rows("ibge_files", f"{CNEFE}/32_ES.zip", "utf-8")
    assert len(found[0]) == 34
    assert list(found[0])[-1] == "COD_TIPO_ESPECI"
    assert 50_000 < len(found) <= 120_000
    dwellings = sum(row["COD_ESPECIE"] == "1" for row in found)
    covered = {row["COD_MUNICIPIO"] for row in found}
    census = [row for row in rows("ibge_files", DISTRICTS) if row["CD_MUN"] in covered]
    assert dwellings == sum(int(row["v0003"]) for row in census)
    assert {row["COD_SETOR"][-1] for row in found} == {"P"}
    final = {row["CD_SETOR"] for row in rows("ibge_files", SECTORS)}
    assert {row["COD_MUNICIPIO"] for row in found if row["COD_SETOR"][:-1] not in final} == {"3202207"}


def test_voters_are_three_quarters_of_the_people_everywhere() -> None:
    voters = sum(int(row["QT_ELEITOR_SECAO"]) for row in sections())
    assert 0.75 < voters / 4126854 < 0.78
    keys = [(row["CD_MUNICIPIO"], row["NR_ZONA"], row["NR_SECAO"]) for row in sections()]
    assert len(set(keys)) == len(keys)
    assert len({row["CD_MUNICIPIO"] for row in sections()}) == 78


def test_coordinates_have_a_comma_now_and_a_point_in_2024() -> None:
    everywhere = rows("tse", PLACES)
    assert {row["NR_LATITUDE"] for row in everywhere if row["SG_UF"] == "AP"} == {",0436565"}
    assert {row["NR_LATITUDE"] for row in everywhere if row["SG_UF"] == "ZZ"} == {"-1"}
    now = {row["NR_LATITUDE"] for row in sections()}
    then = {row["NR_LATITUDE"] for row in rows("tse", PLACES_2024)}
    assert not any("." in text for text in now)
    assert not any("," in text for text in then)


def test_the_electorate_s_odd_cases_are_there() -> None:
    aggregated = [row for row in sections() if row["CD_TIPO_SECAO_AGREGADA"] == "2"]
    assert [(row["NM_MUNICIPIO"], row["QT_ELEITOR_ELEICAO_FEDERAL"]) for row in aggregated] == [("SERRA", "0")]
    moved = [row for row in sections() if row["NR_LOCAL_VOTACAO"] != row["NR_LOCAL_VOTACAO_ORIGINAL"]]
    assert [row["NM_MUNICIPIO"] for row in moved] == ["VITÓRIA"] * 2
    assert {row["NM_MUNICIPIO"] for row in sections() if row["CD_TIPO_LOCAL"] == "3"} == {"VIANA"}
    assert [row["QT_ELEITOR_SECAO"] for row in sections() if row["CD_TIPO_LOCAL"] == "2"] == ["0"]
    blocked = [row for row in sections() if row["DS_SITU_LOCAL_VOTACAO"] == "BLOQUEADO"]
    assert {row["NM_MUNICIPIO"] for row in blocked} == {"CARIACICA"}
    assert all(int(row["QT_ELEITOR_SECAO"]) > 0 for row in blocked)
    names = {row["NM_LOCAL_VOTACAO"] for row in sections() if row["NM_MUNICIPIO"] == "BOA ESPERANÇA"}
    assert {'ESCOLA SIMULADA "PROFESSORA ANITA"', "ESCOLA SIMULADA PAU D’ALHO"} <= names
    assert b"PAU D\x92ALHO" in member("tse", PLACES)


def test_places_without_coordinates_now_have_them_in_2024_or_by_hand_or_never() -> None:
    def located(found: list[dict[str, str]]) -> set[tuple[str, str, str]]:
        return {
            (row["CD_MUNICIPIO"], row["NR_ZONA"], row["NR_LOCAL_VOTACAO"])
            for row in found
            if row["NR_LATITUDE"] != "-1"
        }

    then = located([row for row in rows("tse", PLACES_2024) if row["SG_UF"] == "ES"])
    assert {code for code, _, _ in then - located(sections())} == {"56553"}  # Itapemirim
    with (sample.inputs() / "polling_place_districts.csv").open(encoding="utf-8") as lines:
        by_hand = {(row["zone"], row["place"]) for row in csv.DictReader(lines, delimiter=";")}
    unlocated = {
        (row["NR_ZONA"], row["NR_LOCAL_VOTACAO"])
        for row in sections()
        if row["NM_MUNICIPIO"] == "DOMINGOS MARTINS" and row["NR_LATITUDE"] == "-1"
    }
    assert by_hand < unlocated
    assert len(unlocated - by_hand) == 1


def test_a_parent_account_is_the_sum_of_its_children() -> None:
    found = {(row["cod_conta"], row["coluna"]): Decimal(str(row["valor"])) for row in items("/dca", DCA)}
    for column in {column for _, column in found}:
        total = found["RO1.1.1.0.00.0.0", column]
        children = [found.get((f"RO1.1.1.{n}.00.0.0", column), Decimal(0)) for n in (2, 3, 4)]
        assert total == sum(children)
    assert (
        found["RO1.1.1.4.50.0.0", "Receitas Brutas Realizadas"]
        == found["RO1.1.1.4.00.0.0", "Receitas Brutas Realizadas"]
    )


def test_dca_and_rreo_agree_to_the_cent() -> None:
    dca = {(row["cod_conta"], row["coluna"]): Decimal(str(row["valor"])) for row in items("/dca", DCA)}
    rreo = {(row["cod_conta"], row["coluna"]): Decimal(str(row["valor"])) for row in items("/rreo", RREO)}
    gross, other, total = "Receitas Brutas Realizadas", "Outras Deduções da Receita", "TOTAL (ÚLTIMOS 12 MESES)"

    def net(code: str) -> Decimal:
        return dca[f"RO{code}", gross] - dca[f"RO{code}", other]

    fund = net("1.1.1.4.50.2.0")
    assert net("1.1.1.4.50.1.0") + fund == rreo["ICMSLiquidoExcetoTransferenciasEFUNDEB", total]
    taxes = sum(rreo[f"{tax}LiquidoExcetoTransferenciasEFUNDEB", total] for tax in ("ICMS", "IPVA", "ITCD", "IRRF"))
    assert net("1.1.1.0.00.0.0") == taxes == Decimal(25_823_000_000)


def test_a_page_is_cut_where_asked() -> None:
    page = json.loads(body("siconfi", "/rreo", RREO | {"limit": "100", "offset": "50"}))
    assert (page["count"], page["limit"], page["offset"], page["hasMore"]) == (62, 100, 50, False)
    page = json.loads(body("siconfi", "/rreo", RREO | {"limit": "100"}))
    assert (page["count"], page["hasMore"]) == (100, True)
    assert "prosubnet" in page["links"][-1]["href"]


def test_collections_of_all_municipalities_lie_between_half_and_all_of_the_revenue() -> None:
    with (sample.inputs() / "collections.csv").open(encoding="utf-8") as lines:
        found = list(csv.DictReader(lines, delimiter=";"))
    totals: dict[str, Decimal] = defaultdict(Decimal)
    whole = {
        row["cod_municipio"] for row in found if row["nivel"] == "municipio" and row["tributo"] == "TOTAL_IMPOSTOS"
    }
    for row in found:
        if row["nivel"] == "municipio" and (row["tributo"] == "TOTAL_IMPOSTOS") == (row["cod_municipio"] in whole):
            totals[row["cod_municipio"]] += Decimal(row["valor"].replace(",", "."))
    assert len(totals) == 78
    assert Decimal(25_823_000_000) / 2 < sum(totals.values()) < Decimal(25_823_000_000)
    certified = [row for row in found if row["nivel"] == "distrito"]
    assert all(row["qualidade"] == "certificado" and row["documento"].startswith("SIMULADO") for row in certified)


@pytest.mark.parametrize("name", ["candidates", "certificates", "collections", "polling_place_districts", "proposals"])
def test_inputs_are_there_and_speak_of_known_areas(name: str) -> None:
    with (sample.inputs() / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        found = list(csv.DictReader(lines, delimiter=";", strict=True))
    assert found
    known = {row["CD_DIST"] for row in rows("ibge_files", DISTRICTS)}
    with (sample.inputs() / "candidates.csv").open(encoding="utf-8") as lines:
        known |= {row["area_id"] for row in csv.DictReader(lines, delimiter=";")}
    for row in found:
        assert None not in row
        assert set(row.get("district_codes", "").split("|")) <= known | {""}
        if name != "candidates":
            assert row.get("area_id") in known | {None}


def test_the_bytes_are_the_same_in_another_process() -> None:
    program = (
        "import sys; from hashlib import sha256; from tests.test_sample import EVERYTHING, body\n"
        "print(sha256(b''.join(body(*each) for each in EVERYTHING)).hexdigest())"
    )
    environment = os.environ | {
        "PYTHONHASHSEED": "7",
        "TZ": "America/Sao_Paulo",
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    there = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == sha256(b"".join(body(*each) for each in EVERYTHING)).hexdigest()
