"""IBGE's mesh, sectors and addresses: bytes in, staged rows out."""

import io
import zipfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyogrio
import pytest
import shapely

from transforms import geometry
from transforms.errors import SourceChanged, SourceUnsound
from transforms.sources import Conversation, Scope, ibge_addresses, ibge_census_sectors, ibge_district_mesh
from warehouse import sample
from warehouse.sample.addresses import COLUMNS
from warehouse.sample.generate import CENSUS, CNEFE
from warehouse.sample.ibge import DWELLING_COLUMNS, SECTOR_COLUMNS

ES = Scope("ES", date(2026, 11, 30))
SECTOR = "320010205000001"


def body(path: str) -> io.BytesIO:
    answer = sample.answers("ibge_files", path, {})
    assert answer is not None, path
    return io.BytesIO(answer.body)


def asked(conversation: Conversation, answers: Sequence[bytes | None]) -> list[str]:
    """The parts a conversation asks for, given the answers in turn."""
    parts = [next(conversation).part]
    for answer in answers:
        try:
            parts.append(conversation.send(None if answer is None else io.BytesIO(answer)).part)
        except StopIteration:
            break
    return parts


def zipped(name: str, lines: Sequence[Sequence[str]], encoding: str = "cp1252", quote: str = '"') -> io.BytesIO:
    text = "".join(";".join(f"{quote}{cell}{quote}" for cell in line) + "\r\n" for line in lines)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, text.encode(encoding))
    return stream


# --- mesh


def layer(path: Path, columns: dict[str, list[Any]], shapes: list[Any], crs: str = "EPSG:4674") -> bytes:
    pyogrio.raw.write(
        path,
        shapely.to_wkb(np.array(shapes)),
        [np.array(values, dtype=object if isinstance(values[0], str) else None) for values in columns.values()],
        np.array(list(columns)),
        geometry_type="Polygon",
        crs=crs,
    )
    if path.suffix == ".gpkg":
        return path.read_bytes()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for part in sorted(path.parent.glob(f"{path.stem}.*")):
            archive.write(part, part.name)
    return stream.getvalue()


SQUARE = shapely.box(-41, -20, -40.9, -19.9)
DISTRICTS: dict[str, list[Any]] = {"CD_DIST": ["320010205"], "NM_DIST": ["Afonso Cláudio"], "AREA_KM2": [115.8]}


def test_the_sample_mesh_is_mended_and_whole() -> None:
    mesh = ibge_district_mesh.parse_district(
        body(f"{CENSUS}/malha_com_atributos/distritos/gpkg/UF/ES/ES_distritos_CD2022.gpkg")
    )
    assert mesh.height == 278
    assert shapely.is_valid(geometry.shapes(mesh["geometry"])).all()
    measured = geometry.area_km2(geometry.shapes(mesh["geometry"])).tolist()
    assert measured == pytest.approx(mesh["area_km2"].to_list(), rel=ibge_district_mesh.AREA_TOLERANCE)


@pytest.mark.parametrize("name", ["ES.gpkg", "ES.shp"])
def test_geopackage_and_shapefile_read_the_same(tmp_path: Path, name: str) -> None:
    mesh = ibge_district_mesh.parse_district(io.BytesIO(layer(tmp_path / name, DISTRICTS, [SQUARE])))
    assert mesh.drop("geometry").rows() == [("320010205", "Afonso Cláudio", 115.8)]
    assert shapely.equals(geometry.shapes(mesh["geometry"])[0], SQUARE)


def test_a_repeated_district_is_dissolved(tmp_path: Path) -> None:
    halves = [shapely.box(-41, -20, -40.95, -19.9), shapely.box(-40.95, -20, -40.9, -19.9)]
    twice = {name: values * 2 for name, values in DISTRICTS.items()}
    mesh = ibge_district_mesh.parse_district(io.BytesIO(layer(tmp_path / "ES.gpkg", twice, halves)))
    assert mesh.height == 1
    assert shapely.equals(geometry.shapes(mesh["geometry"])[0], SQUARE)


def test_areas_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    wrong = DISTRICTS | {"AREA_KM2": [120.0]}
    with pytest.raises(SourceChanged, match="116 km², the table 120"):
        ibge_district_mesh.parse_district(io.BytesIO(layer(tmp_path / "ES.gpkg", wrong, [SQUARE])))


def test_a_district_without_an_area_leaves_the_others_to_add_up(tmp_path: Path) -> None:
    two: dict[str, list[Any]] = {
        "CD_DIST": ["320010205", "320010210"],
        "NM_DIST": ["Afonso Cláudio", "Fazenda"],
        "AREA_KM2": [115.8, np.nan],
    }
    shapes = [SQUARE, shapely.box(-40.9, -20, -40.8, -19.9)]
    mesh = ibge_district_mesh.parse_district(io.BytesIO(layer(tmp_path / "ES.gpkg", two, shapes)))
    assert mesh["area_km2"].to_list() == [115.8, None]
    wrong = two | {"AREA_KM2": [120.0, np.nan]}
    with pytest.raises(SourceChanged, match="116 km², the table 120"):
        ibge_district_mesh.parse_district(io.BytesIO(layer(tmp_path / "wrong.gpkg", wrong, shapes)))


def test_a_projected_map_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceChanged, match="not in degrees"):
        ibge_district_mesh.parse_district(io.BytesIO(layer(tmp_path / "ES.gpkg", DISTRICTS, [SQUARE], crs="EPSG:5880")))


def test_rings_that_do_not_close_and_coordinates_beyond_numbers_are_refused(tmp_path: Path) -> None:
    good = layer(tmp_path / "ES.gpkg", DISTRICTS, [SQUARE])
    corner = np.array([-40.9, -20.0]).tobytes()
    ring = good.index(corner, good.index(corner) + 16)  # the first is in the envelope
    for point in ([-40.8, -20.0], [1e308, 1e308]):
        broken = bytearray(good)
        broken[ring : ring + 16] = np.array(point).tobytes()
        with pytest.raises(SourceChanged, match=r"cannot be drawn|measure"):
            ibge_district_mesh.parse_district(io.BytesIO(bytes(broken)))


@pytest.mark.parametrize("content", [b"<html>Not Found</html>", b"", b"PK\x03\x04 cut"])
def test_what_is_no_map_is_refused(content: bytes) -> None:
    with pytest.raises(SourceChanged, match="not a readable map"):
        ibge_district_mesh.parse_district(io.BytesIO(content))


@pytest.mark.parametrize("situation", ["CD_SIT", "CD_SITUACAO"])
def test_urban_sectors_only(tmp_path: Path, situation: str) -> None:
    columns = {"CD_SETOR": [SECTOR, "320010205000002P", "320010205000003"], situation: ["1", "2", "3"]}
    table = ibge_district_mesh.parse_sector(io.BytesIO(layer(tmp_path / "ES.gpkg", columns, [SQUARE] * 3)))
    assert table["sector_code"].to_list() == [SECTOR, "320010205000002"]


def test_the_shapefile_is_asked_for_where_the_geopackage_is_away() -> None:
    assert asked(ibge_district_mesh.conversation(ES), [b"", None]) == ["districts.gpkg", "sectors.gpkg"]
    parts = asked(ibge_district_mesh.conversation(ES), [None, b"", None])
    assert parts == ["districts.gpkg", "districts.zip", "sectors.gpkg"]


# --- sectors


def sector_row(**cells: str) -> list[str]:
    known = {"CD_SETOR": SECTOR, "CD_DIST": "320010205", "CD_SIT": "1", "AREA_KM2": "0,15834", "v0001": "19"}
    known |= {"v0003": "50", "v0007": "6"} | cells
    return [known.get(name, ".") for name in SECTOR_COLUMNS]


def test_the_basic_table_of_sectors() -> None:
    rows = [SECTOR_COLUMNS, sector_row(), sector_row(CD_SETOR="320010205000002P", v0003=".", CD_SIT=".")]
    table = ibge_census_sectors.parse_sector(zipped("Agregados_por_setores_basico_BR_20260520.csv", rows))
    assert table.rows() == [
        (SECTOR, "320010205", "1", 0.15834, 19, 50, 6),
        ("320010205000002", "320010205", None, 0.15834, 19, None, 6),
    ]


@pytest.mark.parametrize("key", ["CD_SETOR", "CD_setor", "SETOR"])
def test_suppressed_houses_stay_suppressed(key: str) -> None:
    header = [key, *DWELLING_COLUMNS[1:]]
    row = {key: SECTOR, "V00001": "40", "V00047": "30", "V00048": "X"}
    cells = [row.get(name, "0") for name in header]
    name = "Agregados_por_setores_caracteristicas_domicilio1_BR.csv"
    table = ibge_census_sectors.parse_houses(zipped(name, [header, cells]))
    assert table.rows() == [(SECTOR, 30, None, None, "X", 40)]


def test_a_themed_file_without_houses_is_another_layout() -> None:
    name = "Agregados_por_setores_caracteristicas_domicilio1_BR.csv"
    with pytest.raises(SourceChanged, match="V00047"):
        ibge_census_sectors.parse_houses(zipped(name, [["CD_SETOR", "V00001"], [SECTOR, "1"]]))


def test_sector_files_without_a_row_or_a_readable_header_are_refused() -> None:
    file = "Agregados_por_setores_basico_BR_20260520.csv"
    header = ["CD_SETOR", "CD_DIST", "CD_SIT", "AREA_KM2", "v0001", "v0003", "v0007"]
    with pytest.raises(SourceUnsound, match="no sector"):
        ibge_census_sectors.parse_sector(zipped(file, [header]))
    with pytest.raises(SourceChanged, match="the file lacks"):
        ibge_census_sectors.parse_sector(zipped(file, [["\x8d"]], encoding="latin-1"))


def test_the_sample_sectors_add_up_to_their_districts() -> None:
    folder = f"{CENSUS}/Agregados_por_Setor_csv"
    sectors = ibge_census_sectors.parse_sector(body(f"{folder}/Agregados_por_setores_basico_BR_20260520.zip"))
    houses = ibge_census_sectors.parse_houses(body(f"{folder}/Agregados_por_setores_caracteristicas_domicilio1_BR.zip"))
    assert sectors["district_code"].n_unique() == 277
    assert houses.filter(pl.col("houses").is_null() != pl.col("houses_marker").is_not_null()).is_empty()


def test_the_newest_sector_files_are_asked_for() -> None:
    index = (
        b'<a href="Agregados_por_setores_basico_BR_20250417.zip">'
        b'<a href="Agregados_por_setores_basico_BR_20260520.zip">'
        b'<a href="Agregados_por_setores_caracteristicas_domicilio1_BR.zip">'
    )
    conversation = ibge_census_sectors.conversation(ES)
    assert next(conversation).part == "index.html"
    basic = conversation.send(io.BytesIO(index))
    assert (basic.part, basic.path.rsplit("/")[-1], basic.shared) == (
        "basico.zip",
        "Agregados_por_setores_basico_BR_20260520.zip",
        True,
    )
    assert conversation.send(None).part == "domicilio1.zip"


# --- addresses


def address(**cells: str) -> list[str]:
    known = {"COD_SETOR": f"{SECTOR}P", "LATITUDE": "-20.0001", "LONGITUDE": "-41.0002", "COD_ESPECIE": "1"}
    known |= {"COD_TIPO_ESPECI": "101"} | cells
    return [known.get(name, "") for name in COLUMNS]


def cells(*rows: list[str], header: Sequence[str] = COLUMNS) -> pl.DataFrame:
    return ibge_addresses.parse_cell(zipped("32_ES.csv", [header, *rows], encoding="utf-8", quote=""))


def test_houses_and_establishments_by_sector_and_cell() -> None:
    table = cells(
        address(),
        address(COD_TIPO_ESPECI="102", LATITUDE="-20.0003", LONGITUDE="-41.0004"),
        address(COD_TIPO_ESPECI="103"),  # a flat
        address(COD_ESPECIE="6", COD_TIPO_ESPECI=""),
        address(COD_ESPECIE="3", COD_TIPO_ESPECI=""),  # a farm
        address(LATITUDE="-20.0011"),
        address(LATITUDE="", LONGITUDE=""),
    )
    assert table.rows() == [
        (SECTOR, -20002, -41001, 1, 0, -20.0011, -41.0002),
        (SECTOR, -20001, -41001, 2, 1, -20.0002, -41.0003),
        (SECTOR, 0, 0, 1, 0, None, None),
    ]


def test_a_decimal_comma_reads_the_same() -> None:
    assert cells(address(LATITUDE="-20,0001", LONGITUDE="-41,0002")).equals(cells(address()))


COMMAS = {"LATITUDE": "-20,0001", "LONGITUDE": "-41,0002"}
NOWHERE = {"LATITUDE": "", "LONGITUDE": ""}


@pytest.mark.parametrize("first", [NOWHERE, COMMAS | {"NOM_SEGLOGR": '"A; B"'}], ids=["no coordinates", "quoted"])
def test_the_decimal_mark_is_that_of_the_first_coordinates(
    first: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for piece in (20, ibge_addresses.PIECE):  # a block a line or so, and all in one
        monkeypatch.setattr(ibge_addresses, "PIECE", piece)
        table = cells(address(**first), address(**COMMAS), address(**NOWHERE), address(**COMMAS))
        houses = [3, 1] if first.get("NOM_SEGLOGR") else [2, 2]
        assert table.select("cell_y", "houses").rows() == [(-20001, houses[0]), (0, houses[1])]


@pytest.mark.parametrize("swapped", [False, True], ids=["a comma among points", "a point among commas"])
def test_a_file_with_both_decimal_marks_is_refused_with_the_line(swapped: bool) -> None:
    first, other = (COMMAS, {}) if swapped else ({}, COMMAS)
    with pytest.raises(SourceChanged) as told:
        cells(address(**first), address(**NOWHERE), address(**other), address(**first))
    assert told.value.what == "decimal points and decimal commas in one file"
    assert told.value.where == "ibge_addresses, line 4"


@pytest.mark.parametrize(
    "wrong",
    [
        {"LATITUDE": "200001"},
        {"LONGITUDE": "leste"},
        {"COD_ESPECIE": "9"},
        {"COD_ESPECIE": ""},
        {"COD_TIPO_ESPECI": "6"},
        {"COD_SETOR": "RUA"},
        {"DSC_LOCALIDADE": "A;B"},
    ],
    ids=str,
)
def test_an_address_that_cannot_be_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(SourceChanged):
        cells(address(), address(**wrong))


def test_quotes_and_accents_in_what_is_not_read_do_no_harm() -> None:
    assert cells(address(NOM_SEGLOGR='SÃO JOSÉ "VELHO"'), address())["houses"].to_list() == [2]


def test_the_dictionarys_name_of_the_type_is_read_too() -> None:
    header = [*COLUMNS[:-1], "COD_TIPO_ESPECIE"]
    assert cells(address(), header=header)["houses"].to_list() == [1]


def test_batches_do_not_change_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [address(LATITUDE=f"-20.{number % 7:03}5") for number in range(200)]
    whole = cells(*rows)
    monkeypatch.setattr(ibge_addresses, "PIECE", 20)
    monkeypatch.setattr(ibge_addresses, "COMPACT_ROWS", 5)
    assert cells(*rows).equals(whole)
    assert whole["houses"].sum() == 200


def test_an_address_list_of_another_layout_or_empty_is_refused() -> None:
    with pytest.raises(SourceChanged, match="unknown header"):
        cells(["1"], header=["COD_UNICO_ENDERECO"])
    with pytest.raises(SourceUnsound, match="no address"):
        cells()
    with pytest.raises(SourceChanged, match="a line of more than"):
        cells(["X" * 20_000_000])


def test_the_sample_addresses_join_the_sectors_without_their_letter() -> None:
    table = ibge_addresses.parse_cell(body(f"{CNEFE}/32_ES.zip"))
    assert table["sector_code"].str.len_chars().unique().to_list() == [15]
    assert table.select(pl.col("houses", "establishments").sum()).row(0) > (0, 0)


def test_the_states_file_is_asked_for_by_code_and_abbreviation() -> None:
    request = next(ibge_addresses.conversation(ES))
    assert request.path.endswith("/CSV/UF/32_ES.zip")
    assert request.optional
