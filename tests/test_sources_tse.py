"""TSE: the electoral register, the table of municípios, and plebiscites, from bytes to rows."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.codes import BY_UF
from transforms.delimited import read, zip_member
from transforms.errors import EmancipaError, SourceChanged, SourceUnsound
from transforms.sources import Request, Scope, tse_municipalities, tse_plebiscite, tse_polling_places
from transforms.sources.tse_municipalities import faults, parse_municipality
from transforms.sources.tse_polling_places import (
    HEADER,
    PREVIOUS_SECTION,
    SECTION,
    parse_previous_section,
    parse_section,
)

Row = Mapping[str, str]

ROW: Row = dict.fromkeys(HEADER, "-1") | {
    "DT_GERACAO": "05/10/2026",
    "DT_ELEICAO": "04/10/2026",
    "NR_TURNO": "1",
    "SG_UF": "AP",
    "CD_MUNICIPIO": "06050",
    "NM_MUNICIPIO": "MACAPÁ",
    "NR_ZONA": "2",
    "NR_SECAO": "538",
    "CD_TIPO_SECAO_AGREGADA": "1",
    "NR_LOCAL_VOTACAO": "2313",
    "NM_LOCAL_VOTACAO": "ESCOLA",
    "CD_TIPO_LOCAL": "1",
    "DS_ENDERECO": "RUA NOVO HORIZONTE, 153",
    "NM_BAIRRO": "SANTA INES",
    "NR_LATITUDE": ",01499",
    "NR_LONGITUDE": "-51,0577573",
    "DS_SITU_LOCAL_VOTACAO": "ATIVO",
    "QT_ELEITOR_SECAO": "157",
    "QT_ELEITOR_ELEICAO_FEDERAL": "159",
    "NR_LOCAL_VOTACAO_ORIGINAL": "2313",
    "NM_LOCAL_VOTACAO_ORIGINAL": "ESCOLA",
    "DS_ENDERECO_LOCVT_ORIGINAL": "RUA NOVO HORIZONTE, 153",
}


def table(rows: Iterable[Row], header: Iterable[str] = HEADER) -> bytes:
    """Rows as TSE writes them: text quoted, cp1252, CRLF."""
    names = list(header)
    quoted = (";".join('"' + row[name].replace('"', '""') + '"' for name in names) for row in rows)
    return "".join(f"{line}\r\n" for line in [";".join(f'"{name}"' for name in names), *quoted]).encode("cp1252")


def register(*changes: Row) -> bytes:
    return table({**ROW, **change} for change in changes)


def packed(**members: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.csv", content)
        archive.writestr("leiame.pdf", b"%PDF-1.4")
    file.seek(0)
    return file


def parsed(*changes: Row) -> pl.DataFrame:
    return parse_section(io.BytesIO(register(*changes)))


def asked(as_of: date, absent: Callable[[Request], bool]) -> list[tuple[str, str]]:
    """What the conversation asks for when some files are away."""
    talking, requests = tse_polling_places.conversation(Scope("AP", as_of)), list[Request]()
    request = next(talking, None)
    while request is not None:
        requests.append(request)
        assert request.optional or not absent(request)
        try:
            request = talking.send(None if absent(request) else io.BytesIO(b"PK"))
        except StopIteration:
            break
    assert all(request.shared and request.media == "zip" for request in requests)
    return [(request.part, request.path.rsplit("_", 1)[1]) for request in requests]


def test_asks_for_the_current_register_and_the_election_before() -> None:
    assert asked(date(2026, 11, 30), lambda _: False) == [("sections", "ATUAL.zip"), ("previous", "2024.zip")]
    assert asked(date(2027, 3, 1), lambda _: False) == [("sections", "ATUAL.zip"), ("previous", "2026.zip")]


def test_asks_for_the_last_election_where_the_register_is_away() -> None:
    def current(request: Request) -> bool:
        return "ATUAL" in request.path

    def current_and_2026(request: Request) -> bool:
        return "ATUAL" in request.path or "2026" in request.path

    assert asked(date(2026, 11, 30), current)[1:] == [("sections", "2026.zip"), ("previous", "2024.zip")]
    assert asked(date(2027, 3, 1), current)[1:] == [("sections", "2026.zip"), ("previous", "2024.zip")]
    assert asked(date(2026, 2, 1), current_and_2026)[1:] == [
        ("sections", "2026.zip"),
        ("sections", "2024.zip"),
        ("previous", "2022.zip"),
    ]


def test_real_extract_of_amapa(shared: Path) -> None:
    with (shared / "data/tse/eleitorado_local_votacao_2026_AP_trecho.csv").open("rb") as file:
        rows = parse_section(file)
    assert rows.schema == SECTION.schema
    assert (rows.height, rows["voters"].sum(), rows["generated_on"].unique().item()) == (11, 2923, date(2026, 10, 5))
    sucuriju = rows.row(by_predicate=pl.col("tse_municipality_code") == "06017", named=True)
    assert sucuriju == {
        "generated_on": date(2026, 10, 5),
        "uf": "AP",
        "tse_municipality_code": "06017",
        "municipality_name": "AMAPÁ",
        "zone": "1",
        "section": "8",
        "section_kind": "principal",
        "place": "1074",
        "place_name": "ESCOLA ESTADUAL ANTÔNIO TEIXEIRA GUERRA",
        "address": "MARGEM DIREITA DO RIO SUCURIJU",
        "neighbourhood": "VILA DO SUCURIJU",
        "latitude": 1.67683833,
        "longitude": -49.933475,
        "place_kind": "conventional",
        "place_status": "ATIVO",
        "voters": 239,
        "original_place": "1074",
        "original_place_name": "ESCOLA ESTADUAL ANTÔNIO TEIXEIRA GUERRA",
        "original_address": "MARGEM DIREITA DO RIO SUCURIJU",
        "lines": 1,
        "file_name": None,
    }
    near_the_equator = rows.row(by_predicate=pl.col("section") == "34", named=True)
    assert (near_the_equator["latitude"], near_the_equator["longitude"]) == (0.0436565, -51.049995)
    relocated = rows.filter(pl.col("place") != pl.col("original_place"))
    assert relocated.select("section", "place", "original_place", "original_place_name").rows() == [
        ("463", "1600", "2046", "ESCOLA ESTADUAL PROFª BENIGNA MOREIRA DE SOUZA"),
        ("485", "1791", "2046", "ESCOLA ESTADUAL PROFª BENIGNA MOREIRA DE SOUZA"),
        ("549", "1791", "2046", "ESCOLA ESTADUAL PROFª BENIGNA MOREIRA DE SOUZA"),
    ]
    assert "AV FELICIANO COELHO SN" in rows["address"].to_list()


def test_real_extract_of_cotia_has_points(shared: Path) -> None:
    with (shared / "data/tse/eleitorado_local_votacao_2024_Cotia_amostra.csv").open("rb") as file:
        rows = parse_section(file)
        file.seek(0)
        previous = parse_previous_section(file)
    assert previous.schema == PREVIOUS_SECTION.schema
    assert previous.equals(rows.select(previous.columns))
    assert (rows.height, rows["voters"].sum(), rows["latitude"].null_count()) == (11, 4137, 0)
    caucaia = rows.row(by_predicate=pl.col("place") == "1023", named=True)
    assert caucaia["neighbourhood"] == "CENTRO (CAUCAIA DO ALTO)"
    assert (caucaia["latitude"], caucaia["longitude"]) == (-23.6847728, -47.0218438)


def test_real_extract_of_voters_abroad_has_no_coordinates(shared: Path) -> None:
    with (shared / "data/tse/eleitorado_local_votacao_2026_ZZ_amostra.csv").open("rb") as file:
        rows = parse_section(file)
    assert (rows.height, rows["voters"].sum(), rows["uf"].unique().to_list()) == (7, 2321, ["ZZ"])
    assert rows["latitude"].null_count() == rows["longitude"].null_count() == 7


def test_real_layout_of_2022_quotes_everything(shared: Path) -> None:
    with (shared / "data/tse/layout_eleitorado_local_votacao_2022.csv").open("rb") as file:
        rows = parse_section(file)
    assert rows.select("tse_municipality_code", "voters", "latitude").rows() == [("01120", 201, -9.827566)]


def test_real_municipality_of_itapira(shared: Path) -> None:
    with (shared / "data/tse/itapira_SP_secoes_2026.csv").open(encoding="utf-8") as lines:
        sections = [
            {name: value for name, value in row.items() if name in HEADER} | {"SG_UF": "SP", "CD_MUNICIPIO": "65250"}
            for row in csv.DictReader(lines)
        ]
    rows = parsed(*sections)
    assert (rows.height, rows["place"].n_unique(), rows["voters"].sum()) == (161, 22, 53424)
    assert rows["latitude"].null_count() == 0
    assert dict(rows.group_by("place").agg(pl.col("voters").sum()).rows())["1090"] == 1668


def ceara_2014(shared: Path) -> Iterator[Row]:
    """The regional court's list of 2014, principal and aggregated sections in one row, as rows of the register."""
    with (shared / "data/tse/tre-ce-eleicoes-2014-secoes.csv").open(encoding="cp1252") as lines:
        for row in list(csv.reader(lines, delimiter=";"))[6:]:
            if row[0].strip().isdigit():
                yield {
                    "SG_UF": "CE",
                    "NR_ZONA": row[0],
                    "CD_MUNICIPIO": row[1],
                    "NM_MUNICIPIO": row[2],
                    "NR_LOCAL_VOTACAO": row[3],
                    "NM_LOCAL_VOTACAO": row[4],
                    "DS_ENDERECO": row[5],
                    "NM_BAIRRO": row[6],
                    "NR_SECAO": row[8],
                    "QT_ELEITOR_SECAO": row[12],
                }


def test_real_ceara_of_2014(shared: Path) -> None:
    rows = parsed(*ceara_2014(shared))
    assert (rows.height, rows["voters"].sum()) == (19921, 6271554)
    assert rows["tse_municipality_code"].n_unique() == 184
    assert rows.select("tse_municipality_code", "zone", "place").n_unique() == 6928
    assert not rows["address"].str.contains("  ").any()


def test_case_17_latin1(shared: Path) -> None:
    with (shared / "cases/17-latin1-file/eleitorado_latin1.csv").open("rb") as file:
        content = file.read()
    header = content.split(b"\n")[0].decode().strip().split(";")
    trap = read(
        io.BytesIO(content),
        columns={"NM_MUNICIPIO": "name", "QT_ELEITORES": "voters"},
        generations=[header],
        source="case 17",
    )
    assert trap.rows() == [("SÃO JOÃO D'ALIANÇA", "8123")]
    assert parsed({"NM_MUNICIPIO": trap["name"][0]})["municipality_name"].to_list() == ["SÃO JOÃO D'ALIANÇA"]
    euro = register({"NM_BAIRRO": "VILA"}).replace(b"VILA", b"PAU D\x92ALHO \x81")
    assert parse_section(io.BytesIO(euro))["neighbourhood"].to_list() == ["PAU D’ALHO \x81"]


def test_case_19_sentinels_as_values(shared: Path) -> None:
    with (shared / "cases/19-sentinels-as-values/eleitorado.csv").open(encoding="utf-8") as lines:
        trap = list(csv.DictReader(lines, delimiter=";"))
    rows = parsed(
        *(
            {"NR_SECAO": str(number), "NM_BAIRRO": row["NM_BAIRRO"], "QT_ELEITOR_SECAO": row["QT_ELEITORES"]}
            for number, row in enumerate(trap, start=1)
        )
    )
    assert (rows["voters"].sum(), rows["voters"].null_count()) == (150, 1)
    assert rows["neighbourhood"].to_list() == ["CENTRO", None, None]


@pytest.mark.parametrize("mark", ["-1", "-3", "#NULO", "#NULO#", "#NE", "#NE#", ""])
def test_every_mark_of_missing_is_missing(mark: str) -> None:
    texts = ("NM_BAIRRO", "DS_ENDERECO", "CD_TIPO_SECAO_AGREGADA", "CD_TIPO_LOCAL", "DS_SITU_LOCAL_VOTACAO")
    row = parsed(dict.fromkeys((*texts, "QT_ELEITOR_SECAO", "NR_TURNO", "DT_ELEICAO"), mark)).row(0, named=True)
    assert [row[name] for name in ("neighbourhood", "address", "section_kind", "place_kind", "place_status")] == [
        None
    ] * 5
    assert row["voters"] is None


def test_a_section_registered_where_it_votes_may_not_say_so() -> None:
    row = parsed({"NR_LOCAL_VOTACAO_ORIGINAL": "-1", "NM_LOCAL_VOTACAO_ORIGINAL": "#NULO"}).row(0, named=True)
    assert (row["original_place"], row["original_place_name"]) == ("2313", "ESCOLA")


@pytest.mark.parametrize("name", ["eleitorado", "eleitorado_ano_novo"])
@pytest.mark.parametrize("backwards", [False, True])
def test_case_20_same_rows_two_generation_dates(shared: Path, name: str, *, backwards: bool) -> None:
    with (shared / f"cases/20-same-rows-two-generation-dates/{name}.csv").open(encoding="utf-8") as lines:
        trap = list(csv.DictReader(lines, delimiter=";"))
    rows = parsed(
        *(
            {"DT_GERACAO": row["DT_GERACAO"], "QT_ELEITOR_SECAO": row["QT_ELEITORES"]}
            for row in (reversed(trap) if backwards else trap)
        )
    )
    assert rows["voters"].to_list() == [{"eleitorado": 310, "eleitorado_ano_novo": 320}[name]]


def test_rows_of_one_day_that_disagree_are_refused() -> None:
    with pytest.raises(SourceChanged, match="twice with different voters, in 2 of 2 rows: 06050 2 538 157"):
        parsed({}, {"QT_ELEITOR_SECAO": "158"})
    assert parsed({}, {})["voters"].to_list() == [157]


def test_rows_without_a_date_are_refused_not_dropped() -> None:
    with pytest.raises(SourceChanged, match="generated_on"):
        parsed({"DT_GERACAO": ""}, {"DT_GERACAO": ""})


def test_supplementary_elections_and_second_rounds_do_not_double() -> None:
    supplementary = {"DT_ELEICAO": "06/12/2026", "QT_ELEITOR_SECAO": "160"}
    second = {"NR_TURNO": "2", "DT_ELEICAO": "25/10/2026", "QT_ELEITOR_SECAO": "170"}
    assert parsed(supplementary, {}, second)["voters"].to_list() == [157]
    assert parsed(supplementary, {}, second)["lines"].to_list() == [3]
    assert parsed({"NR_TURNO": "1º Turno"}, {"NR_TURNO": "2º Turno"}).select("section", "lines").rows() == [("538", 2)]
    with pytest.raises(SourceChanged, match="only the second round has"):
        parsed({}, {"NR_TURNO": "2", "NR_SECAO": "9"})
    with pytest.raises(SourceChanged, match="round is not understood"):
        parsed({"NR_TURNO": "3"})


def test_case_21_zip_has_states_and_brasil(shared: Path) -> None:
    abroad = {"SG_UF": "ZZ", "CD_MUNICIPIO": "30228", "NR_SECAO": "1"}
    whole = packed(
        eleitorado_local_votacao_2026_AP=register({}),
        eleitorado_local_votacao_2026_ZZ=register(abroad),
        eleitorado_local_votacao_2026_BRASIL=register({}, abroad),
    )
    assert parse_section(whole)["voters"].to_list() == [157, 157]
    with (shared / "cases/21-zip-has-states-and-brasil/perfil_eleitorado_2026.zip").open("rb") as trap:
        lines = zip_member(trap, r"perfil_eleitorado_\d{4}_BRASIL\.csv", source="case 21").read().decode().split()
        assert sum(int(line.rsplit(";", 1)[1]) for line in lines[1:]) == 300
        with pytest.raises(SourceChanged, match="no members"):
            parse_section(trap)


def test_a_zip_of_states_alone_must_have_them_all() -> None:
    names = {uf: f"eleitorado_local_votacao_2026_{uf}" for uf in [*BY_UF, "ZZ"]}
    members = {name: register({"SG_UF": uf, "NR_SECAO": str(n)}) for n, (uf, name) in enumerate(names.items(), start=1)}
    assert parse_section(packed(**members))["uf"].n_unique() == 28
    del members[names["AP"]]
    with pytest.raises(SourceChanged, match="_AP"):
        parse_section(packed(**members))


def test_current_and_old_zips() -> None:
    for name in ("eleitorado_local_votacao_ATUAL", "eleitorado_local_votacao_2024"):
        assert parse_section(packed(**{name: register({})})).height == 1


def test_case_23_layout_changed(shared: Path) -> None:
    with (shared / "cases/23-layout-changed/e2022.csv").open(encoding="utf-8") as old:
        known = old.readline().strip().split(";")
    with (
        (shared / "cases/23-layout-changed/e2026.csv").open("rb") as new,
        pytest.raises(SourceChanged, match=r"missing \['QT_ELEITORES'\], unexpected \['CD_GENERO', 'QT_ELEITOR'\]"),
    ):
        read(new, columns={"QT_ELEITORES": "voters"}, generations=[known], source="case 23")
    content = register({}).replace(b"QT_ELEITOR_SECAO", b"QT_ELEITOR")
    with pytest.raises(SourceChanged, match=r"missing \['QT_ELEITOR_SECAO'\], unexpected \['QT_ELEITOR'\]"):
        parse_section(io.BytesIO(content))
    moved = [*HEADER[20:], *HEADER[:20]]
    assert parse_section(io.BytesIO(table([ROW], moved)))["voters"].to_list() == [157]
    with pytest.raises(SourceChanged, match="uf "):
        parsed({"SG_UF": "XX"})


def test_case_24_tse_code_leading_zero(shared: Path) -> None:
    with (shared / "cases/24-tse-code-leading-zero/municipios_tse.csv").open(encoding="utf-8") as lines:
        codes = [row["CD_MUNICIPIO"] for row in csv.DictReader(lines, delimiter=";")]
    assert codes == ["01457", "00035"]
    for code in codes:
        for written in (code, code.lstrip("0")):
            assert parsed({"CD_MUNICIPIO": written})["tse_municipality_code"].to_list() == [code]


def test_case_27_voters_abroad_zz(shared: Path) -> None:
    with (shared / "cases/27-voters-abroad-zz/eleitorado.csv").open(encoding="utf-8") as lines:
        trap = [
            {"SG_UF": row["SG_UF"], "CD_MUNICIPIO": row["CD_MUNICIPIO"], "QT_ELEITOR_SECAO": row["QT"]}
            for row in csv.DictReader(lines, delimiter=";")
        ]
    rows = parsed(*trap[:2])
    assert dict(rows.select("uf", "voters").rows()) == {"SC": 100, "ZZ": 40}
    with pytest.raises(SourceChanged, match="tse_municipality_code"):  # a section of nowhere is nobody's
        parsed(*trap)


@pytest.mark.parametrize(
    ("latitude", "longitude", "expected"),
    [
        (",0436565", "-51,049995", (0.0436565, -51.049995)),
        ("-,5", "-51", (-0.5, -51.0)),
        ("-23.6181607", "-46.9522745", (-23.6181607, -46.9522745)),
        ("-1", "-48,5", (-1.0, -48.5)),
        ("-1,0", "-48,5", (-1.0, -48.5)),
        ("0", "-51,05", (0.0, -51.05)),
        ("-1", "-1", (None, None)),
        ("-1,0", "-1,0", (None, None)),
        (",9518967", "-1", (None, None)),
        ("#NULO", "-51,05", (None, None)),
        ("", "", (None, None)),
        ("-3", "-3", (None, None)),
    ],
)
def test_coordinates(latitude: str, longitude: str, expected: tuple[float | None, float | None]) -> None:
    rows = parsed({"NR_LATITUDE": latitude, "NR_LONGITUDE": longitude})
    assert rows.select("latitude", "longitude").row(0) == expected


@pytest.mark.parametrize("column", ["NR_LATITUDE", "NR_LONGITUDE", "QT_ELEITOR_SECAO", "DT_GERACAO", "CD_TIPO_LOCAL"])
@pytest.mark.parametrize("value", ["nan", "1e3", "22°50'", "1.2.3", "9x"])
def test_what_is_no_number_is_refused(column: str, value: str) -> None:
    with pytest.raises(SourceChanged):
        parsed({column: value})


def test_blocked_places_and_prisons_keep_their_voters() -> None:
    rows = parsed({"DS_SITU_LOCAL_VOTACAO": "BLOQUEADO"}, {"NR_SECAO": "9", "CD_TIPO_LOCAL": "3"})
    assert rows.select("place_status", "place_kind", "voters").rows() == [
        ("BLOQUEADO", "conventional", 157),
        ("ATIVO", "prison", 157),
    ]


def test_voters_of_aggregated_sections_are_their_own() -> None:
    aggregated = {
        "NR_SECAO": "9",
        "CD_TIPO_SECAO_AGREGADA": "2",
        "QT_ELEITOR_SECAO": "43",
        "QT_ELEITOR_ELEICAO_FEDERAL": "0",
    }
    rows = parsed({"QT_ELEITOR_ELEICAO_FEDERAL": "200"}, aggregated)
    assert dict(rows.select("section_kind", "voters").rows()) == {"principal": 157, "aggregated": 43}


def test_quotes_inside_a_field() -> None:
    assert parsed({"NM_LOCAL_VOTACAO": 'ESCOLA "A; B"'})["place_name"].to_list() == ['ESCOLA "A; B"']


@pytest.mark.parametrize("content", [b"", register(), register({})[:-40], register({}) + b'"stray\r\n'])
def test_no_section_and_broken_lines_are_refused(content: bytes) -> None:
    with pytest.raises((SourceChanged, SourceUnsound)):
        parse_section(io.BytesIO(content))


def test_case_88_zip_slip(shared: Path) -> None:
    for parse in (parse_section, parse_municipality):
        with (
            (shared / "cases/88-zip-slip/malicioso.zip").open("rb") as file,
            pytest.raises(SourceChanged, match="outside"),
        ):
            parse(file)


def crosswalk(shared: Path, name: str) -> pl.DataFrame:
    with (shared / f"data/tse/municipio_tse_ibge_{name}.csv").open("rb") as file:
        return parse_municipality(file)


def test_real_table_of_april_2026_is_wrong_once(shared: Path) -> None:
    rows = crosswalk(shared, "20260412")
    assert rows.height == 5571
    assert faults(rows).rows() == [
        ("MT", "73709", "5300109", "a code of another state"),
        ("MT", "73709", "5300109", "not a code that IBGE could give"),
    ]


def test_real_table_of_may_2026_is_right(shared: Path) -> None:
    rows = crosswalk(shared, "20260531")
    assert (rows.height, rows["generated_on"].unique().to_list()) == (5571, [date(2026, 5, 31)])
    assert rows.filter(tse_municipality_code="73709")["municipality_code"].to_list() == ["5101837"]
    assert faults(rows).is_empty()
    assert faults(rows, official(shared)).rows() == [("MT", "73709", "5101837", "not in IBGE's list")]  # list of 2023


def official(shared: Path) -> pl.DataFrame:
    listed = json.loads((shared / "data/ibge/cidades_api_2023.json").read_bytes())
    return pl.DataFrame(
        {"municipality_code": [str(m["id"]) for m in listed], "municipality_name": [m["nome"] for m in listed]}
    )


def test_real_community_table_has_seven_wrong_codes(shared: Path) -> None:
    rows = pl.read_csv(shared / "data/tse/crosswalk_with_seven_wrong_codes.csv", infer_schema=False).select(
        "uf",
        tse_municipality_code=pl.col("codigo_tse").str.zfill(5),
        tse_name="nome_municipio",
        municipality_code="codigo_ibge",
    )
    assert faults(rows).is_empty()
    found = faults(rows, official(shared))
    assert found["tse_municipality_code"].to_list() == ["36765", "36773", "36790", "36811", "36820", "81205", "81507"]
    assert found["fault"][0] == "the name is that of 2918753"
    bahia = official(shared).filter(pl.col("municipality_code").str.starts_with("29"))
    assert faults(rows, bahia).height == 5


def test_faults_name_doubles_and_absent_municipalities(shared: Path) -> None:
    names = official(shared).filter(pl.col("municipality_code").is_in(["1600303", "1600600"]))
    rows = pl.DataFrame(
        [("AP", "06050", "MACAPÁ", "1600303"), ("AP", "06017", "AMAPÁ", "1600303")],
        schema=["uf", "tse_municipality_code", "tse_name", "municipality_code"],
        orient="row",
    )
    assert [(row[1], row[3]) for row in faults(rows, names).rows()] == [
        ("06017", "an IBGE code twice"),
        ("06050", "an IBGE code twice"),
        (None, "no TSE code"),
    ]


MUNICIPALITY = {
    "DT_GERACAO": "06/09/2026",
    "HH_GERACAO": "09:00:00",
    "CD_UF_TSE": "24",
    "CD_UF_IBGE": "12",
    "SG_UF": "AC",
    "NM_UF": "Acre",
    "CD_MUNICIPIO_TSE": "01007",
    "NM_MUNICIPIO_TSE": "Bujari",
    "CD_MUNICIPIO_IBGE": "1200138",
    "NM_MUNICIPIO_IBGE": "Bujari",
}


def test_municipalities_with_and_without_leading_zeros_zipped_or_not() -> None:
    for written in ("1007", "01007"):
        content = table([MUNICIPALITY | {"CD_MUNICIPIO_TSE": written}], tse_municipalities.HEADER)
        for file in (io.BytesIO(content), packed(municipio_tse_ibge=content)):
            assert parse_municipality(file).select("tse_municipality_code", "state_code").rows() == [("01007", "12")]


@pytest.mark.parametrize(
    "rows",
    [[], [MUNICIPALITY, MUNICIPALITY], [MUNICIPALITY | {"CD_MUNICIPIO_IBGE": "120013"}]],
    ids=["none", "twice", "six"],
)
def test_a_table_that_cannot_be_is_refused(rows: list[Row]) -> None:
    with pytest.raises((SourceChanged, SourceUnsound)):
        parse_municipality(io.BytesIO(table(rows, tse_municipalities.HEADER)))


def ballots(*options: tuple[str, str], **changes: str) -> list[Row]:
    """The rows of one section: option number and votes."""
    row = dict.fromkeys(tse_plebiscite.HEADER, "-1") | {
        "CD_TIPO_ELEICAO": "3",
        "DT_PLEITO": "06/10/2024 00:00:00",
        "CD_ELEICAO": "637",
        "SG_UF": "RS",
        "CD_MUNICIPIO": "84000",
        "NR_ZONA": "22",
        "NR_SECAO": "1",
        "CD_CARGO_PERGUNTA": "52",
        "DS_CARGO_PERGUNTA": "Centro administrativo",
        "QT_APTOS": "300",
        "QT_COMPARECIMENTO": "250",
    }
    return [row | changes | {"NR_VOTAVEL": option, "QT_VOTOS": votes} for option, votes in options]


def plebiscite(*rows: Row) -> pl.DataFrame:
    return tse_plebiscite.parse_section(io.BytesIO(table(rows, tse_plebiscite.HEADER)))


def test_a_plebiscite_counts_its_electorate_once_per_section() -> None:
    mayors = ballots(("10", "240"), CD_TIPO_ELEICAO="2", CD_CARGO_PERGUNTA="11", CD_ELEICAO="619")
    rows = plebiscite(
        *ballots(("1", "40"), ("2", "190"), ("95", "15"), ("96", "5")),
        *mayors,
        *ballots(("2", "250"), NR_SECAO="2"),
    )
    assert rows.select("section", "voters", "turnout", "yes", "no", "blank", "spoilt").rows() == [
        ("1", 300, 250, 40, 190, 15, 5),
        ("2", 300, 250, 0, 250, 0, 0),
    ]
    assert rows.select("election", "question", "held_on").unique().rows() == [("637", "52", date(2024, 10, 6))]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        ballots(("1", "1"), CD_TIPO_ELEICAO="2"),
        ballots(("1", "1"), ("1", "2")),
        ballots(("1", "1")) + ballots(("2", "1"), QT_APTOS="301"),
        ballots(("1", "251")),
        ballots(("1", "1"), QT_APTOS="200"),
        ballots(("13", "1")),
        ballots(("1", "-1")),
    ],
    ids=["none", "no_consultation", "option_twice", "disagree", "too_many_votes", "too_few", "candidate", "mark"],
)  # fmt: skip
def test_a_plebiscite_that_does_not_add_up_is_refused(rows: list[Row]) -> None:
    with pytest.raises(SourceChanged):
        plebiscite(*rows)


ODD = st.text('aé";,.-٣°123\x00\x81\r\n #NULO', max_size=12)
PARSERS = [
    (parse_section, ROW, HEADER),
    (parse_previous_section, ROW, HEADER),
    (parse_municipality, MUNICIPALITY, tse_municipalities.HEADER),
    (tse_plebiscite.parse_section, ballots(("1", "1"))[0], tse_plebiscite.HEADER),
]


@pytest.mark.parametrize(("parse", "row", "header"), PARSERS, ids=["section", "previous", "municipality", "plebiscite"])
@given(data=st.data())
def test_any_bytes_give_rows_or_our_own_error(
    parse: Callable[[BinaryIO], pl.DataFrame], row: Row, header: list[str], data: st.DataObject
) -> None:
    odd = st.fixed_dictionaries({name: ODD | st.just(value) for name, value in row.items()})
    one: st.SearchStrategy[dict[str, Any]] = st.builds(
        lambda name, value: {**row, name: value}, st.sampled_from(header), ODD
    )
    content = data.draw(
        st.binary(max_size=200)
        | st.binary(max_size=60).map(lambda tail: b"PK\x03\x04" + tail)
        | st.lists(odd | one, max_size=3).map(lambda rows: utf8(rows, header))
    )
    try:
        rows = parse(io.BytesIO(content))
    except EmancipaError:
        return
    assert not rows.is_empty()


def utf8(rows: Sequence[Row], header: list[str]) -> bytes:
    return "".join(
        ";".join(line) + "\n" for line in [header, *([row[name] for name in header] for row in rows)]
    ).encode()
