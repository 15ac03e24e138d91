"""IBGE's sources: what is asked, and the rows that the answers give, on invented answers and on real files."""

import io
import json
import time
import zipfile
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.damage import damaged
from transforms.codes import BY_UF, is_seat
from transforms.errors import EmancipaError, SourceChanged, SourceUnavailable
from transforms.listing import newest
from transforms.numbers import count, missing_marker
from transforms.sidra import flat_rows
from transforms.sources import Conversation, Request, Scope, Source, ibge_census_districts, ibge_estimates
from transforms.sources import ibge_localities as localities

ES = Scope("ES", date(2026, 11, 30))
CENSUS = "data/ibge/Agregados_por_distritos_basico_BR_20260520.csv"


def talk(conversation: Conversation, *answers: bytes | None) -> list[Request]:
    """The requests of a conversation that is given these answers in turn."""
    asked = [next(conversation)]
    for answer in answers:
        try:
            asked.append(conversation.send(None if answer is None else io.BytesIO(answer)))
        except StopIteration:
            break
    return asked


def as_json(body: Any) -> io.BytesIO:
    return io.BytesIO(json.dumps(body).encode())


# Localities


def locality(code: int = 320500210, **municipality: Any) -> dict[str, Any]:
    region = {"regiao-intermediaria": {"UF": {"id": 32, "sigla": "ES"}}}
    described = {"id": 3205002, "nome": "Serra", "microrregiao": None, "regiao-imediata": region}
    return {"id": code, "nome": "Calogi", "municipio": described | municipality}


def test_localities_asks_for_the_districts_of_the_state() -> None:
    asked = talk(localities.conversation(ES), as_json([locality()]).read())
    assert [(request.path, request.shared) for request in asked] == [("/v1/localidades/estados/ES/distritos", False)]


def test_localities_one_district_alone_and_a_list_read_the_same() -> None:
    alone, listed = localities.parse_district(as_json(locality())), localities.parse_district(as_json([locality()]))
    assert alone.rows() == listed.rows() == [("320500210", "Calogi", "3205002", "Serra", "ES")]


def test_localities_no_district_is_an_empty_table_but_no_answer_to_a_state() -> None:
    assert localities.parse_district(io.BytesIO(b"[]")).is_empty()
    with pytest.raises(SourceUnavailable, match="no district of ES"):
        talk(localities.conversation(ES), b"[]")


@pytest.mark.parametrize("without", ["regiao-imediata", "regiao-intermediaria", "UF"])
def test_localities_the_state_comes_from_the_code_where_no_region_says_it(without: str) -> None:
    region: Any = {"regiao-intermediaria": {"UF": None if without == "UF" else {"sigla": "ES"}}}
    region = None if without == "regiao-imediata" else {"regiao-intermediaria": None} if "-i" in without else region
    assert localities.parse_district(as_json([locality(**{"regiao-imediata": region})]))["uf"].to_list() == ["ES"]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        pytest.param([locality(), locality()], "same district_code more than once.*320500210", id="twice"),
        pytest.param([locality(32050021)], "district_code does not fit", id="eight-digits"),
        pytest.param([locality(320501010)], "a district of another município.*320501010 3205002", id="elsewhere"),
        pytest.param([locality(320500310, id=3205003)], "a município code that cannot be.*3205003", id="check-digit"),
        pytest.param(
            [locality(320500210, **{"regiao-imediata": {"regiao-intermediaria": {"UF": {"sigla": "RJ"}}}})],
            "a município of another state.*3205002 RJ",
            id="another-state",
        ),
        pytest.param([locality(id=None)], "municipality_code does not fit", id="no-code"),
        pytest.param([{"id": 320500210}], "not laid out as it was: KeyError", id="no-municipality"),
        pytest.param("text", "not laid out as it was", id="not-a-list"),
    ],
)
def test_localities_that_are_not_whole_are_refused(found: Any, told: str) -> None:
    with pytest.raises(SourceChanged, match=told):
        localities.parse_district(as_json(found))


def test_localities_composed_and_decomposed_accents_become_one_form() -> None:
    found = localities.parse_district(as_json([locality() | {"nome": "Sa\u0303o Joa\u0303o"}]))
    assert found["district_name"].to_list() == ["São João"]


def test_case_07_an_error_sent_as_200_is_a_failure_of_the_source(shared: Path) -> None:
    folder = shared / "cases/07-error-page-with-http-200"
    for name, told in (("resposta_waf", "web page"), ("resposta_erro", "Consulta sem resultados")):
        body = (folder / f"{name}.http").read_bytes().split(b"\n\n", 1)[-1].split(b"\r\n\r\n", 1)[-1]
        for parse in (localities.parse_district, ibge_estimates.parse_period, ibge_estimates.parse_population):
            with pytest.raises(SourceUnavailable, match=told):
                parse(io.BytesIO(body))


def test_case_08_a_null_micro_region_loses_no_row(shared: Path) -> None:
    with (shared / "cases/08-localidades-null-microrregiao/distritos.json").open("rb") as file:
        found = localities.parse_district(file)
    assert found.select("district_code", "municipality_code", "uf").rows() == [
        ("510183705", "5101837", "MT"),
        ("510792505", "5107925", "MT"),
    ]


def test_case_10_the_seat_is_told_by_its_code(shared: Path) -> None:
    rows = (shared / "cases/10-seat-district-as-candidate/distritos.csv").read_text().split()[1:]
    codes = [int(row.split(";")[0]) for row in rows if row[0].isdigit()]
    found = localities.parse_district(
        as_json([locality(code, id=3106200, **{"regiao-imediata": None}) for code in codes])
    )
    assert found.height == 2
    assert found.filter(~is_seat(pl.col("district_code")))["district_code"].to_list() == ["310620010"]


def test_case_11_other_levels_are_no_districts(shared: Path) -> None:
    codes = (shared / "cases/11-wrong-geographic-level/codigos.csv").read_text().split()[1:]
    good, *others = map(int, codes)
    found = [locality(code, id=2927408, **{"regiao-imediata": None}) for code in (good, *others)]
    with pytest.raises(SourceChanged, match="in 3 of 4 rows") as error:
        localities.parse_district(as_json(found))
    assert all(f"{code} ({len(str(code))} characters)" in str(error.value) for code in others)
    assert localities.parse_district(as_json(found[:1]))["district_code"].to_list() == ["292740805"]


def test_dtb_holds_the_same_districts_as_the_api(shared: Path) -> None:
    with (shared / "data/ibge/RELATORIO_DTB_BRASIL_DISTRITO_2022.xls").open("rb") as file:
        found = localities.parse_dtb(file)
    api = {str(row["id"]): row for row in json.loads((shared / "data/ibge/distritos_api_2023_flat.json").read_bytes())}
    assert found.height == 10_670
    assert set(found["district_code"]) == set(api)
    assert all(api[code]["uf"] == uf for code, uf in found.select("district_code", "uf").iter_rows())
    assert found.filter(uf="ES").height == 278
    seats = found.filter(~is_seat(pl.col("district_code")))
    assert seats.filter(uf="PI").is_empty()
    assert seats.filter(uf="SE").height == 9


# Estimates


def figures(level: str = "N6", year: str = "2025", **values: str) -> list[dict[str, Any]]:
    series = [
        {"localidade": {"id": code, "nivel": {"id": level}, "nome": f"Lugar {code}"}, "serie": {year: value}}
        for code, value in values.items()
    ]
    return [{"id": "9324", "resultados": [{"classificacoes": [], "series": series}]}]


PERIODS = [
    {"id": "2021", "literals": ["2021"], "modificacao": "24/06/2024"},
    {"id": "2024", "literals": ["2024"], "modificacao": "29/08/2024"},
    {"id": "2025", "literals": ["2025"], "modificacao": "28/08/2025"},
]


def answers(year: str) -> tuple[bytes, ...]:
    bodies = PERIODS, figures("N3", year, **{"32": "4126854"}), figures("N6", year, **{"3205002": "1"})
    return tuple(as_json(body).read() for body in bodies)


@pytest.mark.parametrize(
    ("as_of", "year"), [(date(2025, 8, 28), "2025"), (date(2025, 8, 27), "2024"), (date(2024, 8, 28), "2021")]
)
def test_estimates_asks_for_the_latest_year_published_by_the_date(as_of: date, year: str) -> None:
    asked = talk(ibge_estimates.conversation(Scope("ES", as_of)), *answers(year))
    assert [(request.path, dict(request.params), request.shared) for request in asked] == [
        ("/v3/agregados/6579/periodos", {}, True),
        (f"/v3/agregados/6579/periodos/{year}/variaveis/9324", {"localidades": "N3[32]"}, False),
        (f"/v3/agregados/6579/periodos/{year}/variaveis/9324", {"localidades": "N6[N3[32]]"}, False),
    ]


def test_estimates_before_the_first_publication_are_not_there() -> None:
    with pytest.raises(SourceUnavailable, match="no estimate had been published by 2024-06-23"):
        talk(ibge_estimates.conversation(Scope("ES", date(2024, 6, 23))), *answers("2021"))


def outcome(*answers: bytes) -> tuple[list[str], object]:
    """The years asked for, of the state and then of its municípios, and what the conversation says at its end."""
    talking = ibge_estimates.conversation(ES)
    asked = [next(talking)]
    for answer in answers:
        try:
            asked.append(talking.send(io.BytesIO(answer)))
        except StopIteration as end:
            return [request.path.split("/")[5] for request in asked[1:]], end.value
    raise AssertionError(f"asked for more: {asked[-1]}")


@pytest.fixture
def empty(shared: Path) -> bytes:
    return (shared / "cases/06-ibge-empty-list-not-published/resposta.json").read_bytes()


def test_case_06_an_empty_list_is_not_published_yet(empty: bytes) -> None:
    with pytest.raises(SourceUnavailable, match="not published yet"):
        ibge_estimates.parse_population(io.BytesIO(empty))
    with pytest.raises(SourceUnavailable, match="2025 are not published yet") as told:
        talk(ibge_estimates.conversation(ES), as_json(PERIODS).read(), *[empty] * len(PERIODS))
    assert "stays in use" not in str(told.value)


def test_case_06_a_year_not_published_yet_gives_way_to_the_one_before(empty: bytes) -> None:
    periods, state, municipalities = answers("2024")
    years, told = outcome(periods, empty, state, municipalities)
    assert (years, told) == (
        ["2025", "2024", "2024"],
        "no figures of 2025 yet (período 2025 ainda não publicado): the estimates of 2024 serve",
    )
    untold = as_json(figures("N6", "2025", **{"3205002": "...", "3205101": "..."})).read()
    assert outcome(periods, answers("2025")[1], untold, state, municipalities)[0] == ["2025", "2025", "2024", "2024"]
    assert outcome(*answers("2025")) == (["2025", "2025"], "")


def test_estimates_of_another_year_than_asked_are_not_taken_for_it() -> None:
    other = answers("2020")[1]
    with pytest.raises(SourceUnavailable, match="2025 are not published yet"):
        talk(ibge_estimates.conversation(ES), as_json(PERIODS).read(), *[other] * len(PERIODS))


def test_estimates_markers_are_kept_and_only_a_dash_is_zero() -> None:
    body = figures(**{"3205002": "536765", "3205101": "-", "3205200": "..", "3205309": "...", "3205010": "X"})
    found = ibge_estimates.parse_population(as_json(body)).select("location_code", "population", "marker")
    assert found.rows() == [
        ("3205002", 536765, None),
        ("3205010", None, "X"),
        ("3205101", 0, None),
        ("3205200", None, ".."),
        ("3205309", None, "..."),
    ]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        pytest.param(figures("N10", **{"320500210": "1"}), "not laid out as it was", id="level"),
        pytest.param(figures("N3", **{"3205002": "1"}), "cannot be at its level.*state 3205002", id="code"),
        pytest.param(figures(**{"3205003": "1"}), "cannot be at its level", id="check-digit"),
        pytest.param(figures(**{"3205002": "1.234"}), "not laid out as it was", id="grouped"),
        pytest.param(figures(**{"3205002": "12,5"}), "not laid out as it was", id="decimals"),
        pytest.param([{"id": "93", "resultados": []}], "variables .'93'. came, 9324 was asked for", id="variable"),
        pytest.param(figures(**{"3205002": "1"}) * 2, "more than once", id="twice"),
        pytest.param({"id": "9324"}, "not laid out as it was", id="object"),
    ],
)
def test_estimates_that_are_not_what_was_asked_are_refused(body: Any, told: str) -> None:
    with pytest.raises(SourceChanged, match=told):
        ibge_estimates.parse_population(as_json(body))


def test_case_49_the_day_comes_first_and_is_never_guessed(shared: Path) -> None:
    days = (shared / "cases/49-day-month-swap/datas.csv").read_text().split()[1:]
    periods = [{"id": str(2020 + index), "modificacao": day} for index, day in enumerate(days)]
    found = ibge_estimates.parse_period(as_json(periods[:2]))
    assert found["modified"].to_list() == [date(2026, 4, 3), date(2026, 4, 13)]
    with pytest.raises(SourceChanged, match="04/13/2026"):
        ibge_estimates.parse_period(as_json(periods))


def test_estimates_periods_of_the_real_answer(shared: Path) -> None:
    with (shared / "data/ibge/periodos_6579_2024-08.json").open("rb") as file:
        found = ibge_estimates.parse_period(file)
    assert found.row(-1) == (2021, date(2024, 6, 24))
    assert {2007, 2010, 2022, 2023}.isdisjoint(found["year"])
    assert ibge_estimates.published(found, date(2023, 1, 1))[0] == 2020


@pytest.mark.parametrize(("year", "total", "municipalities"), [(2024, 212_583_750, 5570), (2025, 213_421_037, 5571)])
def test_dou_workbooks_add_up(shared: Path, year: int, total: int, municipalities: int) -> None:
    with (shared / f"data/ibge/estimativa_dou_{year}.xls").open("rb") as file:
        found = ibge_estimates.parse_dou(file)
    assert set(found["year"]) == {year}
    levels = {level: rows for (level,), rows in found.group_by("level")}
    assert {level: rows["population"].sum() for level, rows in levels.items()} == {
        "state": total,
        "municipality": total,
    }
    assert (levels["state"].height, levels["municipality"].height) == (27, municipalities)
    assert found["population"].null_count() == 0


def test_dou_codes_are_whole_though_kept_as_numbers(shared: Path) -> None:
    with (shared / "data/ibge/estimativa_dou_2025.xls").open("rb") as file:
        found = ibge_estimates.parse_dou(file)
    known = dict(found.select("location_code", "location_name").iter_rows())
    assert [known[code] for code in ("1100015", "5101837", "5300108", "32")] == [
        "Alta Floresta D'Oeste",
        "Boa Esperança do Norte",
        "Brasília",
        "Espírito Santo",
    ]


@pytest.mark.parametrize("parse", [localities.parse_dtb, ibge_estimates.parse_dou])
def test_workbooks_that_are_something_else_are_refused(parse: Callable[[io.BytesIO], pl.DataFrame]) -> None:
    book = io.BytesIO()
    pl.DataFrame({"a": [1]}).write_excel(book, worksheet="Planilha1")
    with pytest.raises(SourceChanged, match=r"no one worksheet .* among \['Planilha1'\]"):
        parse(io.BytesIO(book.getvalue()))
    with pytest.raises(SourceChanged, match="not a readable spreadsheet"):
        parse(io.BytesIO(book.getvalue()[:-400]))


def test_a_workbook_that_makes_its_reader_panic_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    panic = type("PanicException", (BaseException,), {})

    def read_excel(_: bytes) -> None:
        raise panic("index out of bounds")

    monkeypatch.setattr("transforms.answers.fastexcel.read_excel", read_excel)
    with pytest.raises(SourceChanged, match="not a readable spreadsheet: index out of bounds"):
        localities.parse_dtb(io.BytesIO())


def test_dtb_of_other_columns_is_refused() -> None:
    book = io.BytesIO()
    pl.DataFrame({"UF": ["32"], "Nome_Distrito": ["Calogi"]}).write_excel(book, worksheet="DTB_2024_Distrito")
    with pytest.raises(SourceChanged, match="no row has the headings"):
        localities.parse_dtb(io.BytesIO(book.getvalue()))


def flat(*figures_of: tuple[str, str]) -> list[dict[str, str]]:
    headings = {
        "NC": "Nível Territorial (Código)",
        "V": "Valor",
        "D1C": "Ano (Código)",
        "D1N": "Ano",
        "D2C": "Município (Código)",
        "D2N": "Município",
        "D3C": "Variável (Código)",
    }
    rows = [
        {"NC": "6", "V": figure, "D1C": "2025", "D1N": "2025", "D2C": code, "D2N": "Lugar", "D3C": "9324"}
        for code, figure in figures_of
    ]
    return [headings, *rows]


def test_estimates_as_sidra_rows_read_like_the_nested_ones() -> None:
    nested = ibge_estimates.parse_population(as_json(figures(**{"3205002": "5", "3205101": "X"})))
    rows = ibge_estimates.parse_population(as_json(flat(("3205002", "5"), ("3205101", "X"))))
    assert rows.drop("location_name").equals(nested.drop("location_name"))


def test_sidra_rows_without_headings_are_refused() -> None:
    with pytest.raises(SourceChanged, match="without their headings"):
        ibge_estimates.parse_population(as_json(flat(("3205002", "5"))[1:]))


def test_case_03_sidra_markers_are_kept_apart(shared: Path) -> None:
    body = json.loads((shared / "cases/03-sidra-special-markers/resposta.json").read_bytes())
    rows = flat_rows(body, "SIDRA").select(value=count(pl.col("Valor")), marker=missing_marker(pl.col("Valor")))
    assert rows.rows() == [(10001, None), (0, None), (None, ".."), (None, "..."), (None, "X")]


def test_case_04_sidra_headings_are_no_row(shared: Path) -> None:
    body = json.loads((shared / "cases/04-sidra-header-row/resposta.json").read_bytes())
    assert flat_rows(body, "SIDRA").rows() == [("230440005", "15"), ("230440010", "20")]


# Census by district

HEADER = ";".join(f'"{name}"' for name in ibge_census_districts.GENERATIONS[1])
SERRA = '320500210;Calogi;3;Sudeste;32;Espírito Santo;3205002;Serra;.;;.;;3201;Vitória;320001;Vitória;.;;"75,5"'
ROW = f"{SERRA};100;50;49;1;2,9;0,01;40;4;5"


def zipped(text: str | bytes, name: str = "Agregados_por_distritos_basico_BR.csv") -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, text.encode("cp1252") if isinstance(text, str) else text)
    packed.seek(0)
    return packed


def index_page(*names: str) -> io.BytesIO:
    links = "".join(f'<a href="{name}">{name[:20]}..&gt;</a> 2026-05-20 10:00 4.1M\n' for name in names)
    return io.BytesIO(f'<html><a href="?C=N;O=D">Name</a> <a href="/Censos/">Up</a>{links}'.encode("latin-1"))


def test_census_takes_the_newest_file_of_the_folder() -> None:
    names = [
        f"Agregados_por_distritos_{kind}.zip" for kind in ("basico_BR_20260520", "basico_BR_20250417", "basico_BR")
    ]
    page = index_page("Agregados_por_distritos_demografia_BR_20270101.zip", *names)
    asked = talk(ibge_census_districts.conversation(ES), page.read())
    assert [(request.path, request.media, request.shared) for request in asked] == [
        (ibge_census_districts.FOLDER, "html", True),
        (f"{ibge_census_districts.FOLDER}Agregados_por_distritos_basico_BR_20260520.zip", "zip", True),
    ]


def test_census_a_folder_without_the_file_is_a_change() -> None:
    with pytest.raises(SourceChanged, match=r"no file .* in the list of 1.*leiame\.pdf"):
        talk(ibge_census_districts.conversation(ES), index_page("leiame.pdf").read())


def test_links_are_compared_decoded_and_kept_as_written_and_lead_nowhere_else() -> None:
    page = index_page("../../Situa%C3%A7%C3%A3o_20250101.zip", "http://elsewhere/Situa%C3%A7%C3%A3o_20260101.zip")
    assert newest(page, r"Situação_(\d{8})\.zip", "test") == "Situa%C3%A7%C3%A3o_20260101.zip"


def test_census_both_generations_read_alike() -> None:
    new = ibge_census_districts.parse_district(zipped(f"{HEADER}\n{ROW}\n"))
    header, row = HEADER.removesuffix(';"v0008";"v0009"'), ROW.removesuffix(";4;5")
    old = ibge_census_districts.parse_district(zipped(f"{header}\r\n{row}\r\n"))
    assert new.rows() == [
        ("320500210", "Calogi", "3205002", "Serra", "32", 75.5, 100, 50, 49, 1, 40, 4, 5, None),
    ]
    assert old.select("occasional_dwellings", "vacant_dwellings").row(0) == (None, None)
    assert old.drop("occasional_dwellings", "vacant_dwellings").equals(
        new.drop("occasional_dwellings", "vacant_dwellings")
    )


def test_census_a_row_of_points_is_no_data_not_zero() -> None:
    row = SERRA + ";." * 9
    found = ibge_census_districts.parse_district(zipped(f"{HEADER}\n{row}\n"))
    assert found.select("area_km2", "population", "dwellings", "vacant_dwellings", "marker").row(0) == (
        75.5, None, None, None, ".",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(f"{HEADER.replace('v0001', 'V0001')}\n{ROW}\n", r"missing \['v0001'\]", id="heading"),
        pytest.param(f"{HEADER}\n{ROW.replace(';100;', ';1.000;')}\n", "not laid out as it was", id="grouped"),
        pytest.param(f"{HEADER}\n{ROW}\n{ROW}\n", "same district_code more than once", id="twice"),
        pytest.param(f"{HEADER}\n{ROW.replace(';3205002;', ';3205101;')}\n", "of another município", id="elsewhere"),
        pytest.param(f"{HEADER}\n{ROW.replace('320500210', '32050021')}\n", "district_code does not fit", id="width"),
    ],
)
def test_census_files_that_are_not_understood_are_refused(text: str, told: str) -> None:
    with pytest.raises(SourceChanged, match=told):
        ibge_census_districts.parse_district(zipped(text))


@pytest.fixture(scope="module")
def census(shared: Path) -> pl.DataFrame:
    return ibge_census_districts.parse_district(zipped((shared / CENSUS).read_bytes()))


def test_census_the_whole_country(census: pl.DataFrame) -> None:
    assert census.height == 10_698
    assert census["population"].sum() == 203_080_756
    assert census["municipality_code"].n_unique() == 5570
    assert census.filter(pl.col("marker").is_not_null()).select("district_code", "population", "marker").rows() == [
        ("320465810", None, "."),
        ("500830520", None, "."),
    ]
    private = pl.sum_horizontal("occupied_dwellings", "occasional_dwellings", "vacant_dwellings")
    assert census.filter(pl.col("private_dwellings") != private).is_empty()


def test_census_districts_add_up_to_every_municipality(shared: Path, census: pl.DataFrame) -> None:
    """IBGE's own table of municípios, to the last person and dwelling."""
    path = shared / "data/ibge/Agregados_por_municipios_basico_BR_20260520.csv"
    official = pl.read_csv(path, separator=";", encoding="latin-1", infer_schema=False)
    counts = {"v0001": "population", "v0002": "dwellings", "v0003": "private_dwellings", "v0007": "occupied_dwellings"}
    known = census.filter(pl.col("marker").is_null())
    sums = known.group_by(CD_MUN="municipality_code").agg(pl.col(ours).sum() for ours in counts.values())
    both = official.select("CD_MUN", *(pl.col(name).cast(pl.Int64) for name in counts)).join(
        sums, on="CD_MUN", how="full", coalesce=True, validate="1:1"
    )
    assert both.height == 5570
    for theirs, ours in counts.items():
        assert both.filter(pl.col(theirs).ne_missing(pl.col(ours))).is_empty(), ours


@pytest.mark.parametrize(
    ("uf", "total", "over", "share", "either"),
    [
        ("SE", 2_210_004, 6, 6, 6),
        ("ES", 3_833_712, 16, 8, 16),
        ("CE", 8_794_957, 15, 2, 15),
        ("PA", 8_120_131, 31, 5, 31),
        ("AP", 733_759, 1, 5, 5),
        ("PI", 3_271_199, 0, 0, 0),
        ("AC", 830_018, 0, 0, 0),
    ],
)
def test_census_districts_that_pass_population(
    census: pl.DataFrame, uf: str, total: int, over: int, share: int, either: int
) -> None:
    of_state = census.filter(state_code=BY_UF[uf].code)
    assert of_state["population"].sum() == total
    people = pl.col("population")
    found = of_state.filter(~is_seat(pl.col("district_code"))).select(
        over=people > 10_000, share=people * 1000 >= 5 * total
    )
    assert found.select(
        pl.col("over").sum(), pl.col("share").sum(), either=(pl.col("over") | pl.col("share")).sum()
    ).row(0) == (over, share, either)


def test_census_knows_districts_that_the_list_does_not(shared: Path, census: pl.DataFrame) -> None:
    listed = localities.parse_dtb(
        io.BytesIO((shared / "data/ibge/RELATORIO_DTB_BRASIL_DISTRITO_2022.xls").read_bytes())
    )
    more = census.join(listed, on="district_code", how="anti")
    assert more.height == 28
    assert more.filter(district_name="Bom Jardim", municipality_name="Pacajá")["population"].to_list() == [10_502]
    assert listed.join(census, on="district_code", how="anti").is_empty()


def test_census_is_parsed_in_well_under_a_second(shared: Path) -> None:
    packed = zipped((shared / CENSUS).read_bytes())
    start = time.perf_counter()
    ibge_census_districts.parse_district(packed)
    assert time.perf_counter() - start < 0.8


# Every source, whatever comes

GOOD: Sequence[tuple[str, Callable[[io.BytesIO], pl.DataFrame], bytes]] = (
    ("localities", localities.parse_district, as_json([locality()]).read()),
    ("dtb", localities.parse_dtb, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
    ("periods", ibge_estimates.parse_period, as_json(PERIODS).read()),
    ("estimates", ibge_estimates.parse_population, as_json(figures(**{"3205002": "1"})).read()),
    ("sidra", ibge_estimates.parse_population, as_json(flat(("3205002", "5"))).read()),
    ("census", ibge_census_districts.parse_district, zipped(f"{HEADER}\n{ROW}\n").read()),
    (
        "census text",
        lambda raw: ibge_census_districts.parse_district(zipped(raw.read())),
        f"{HEADER}\n{ROW}\n".encode(),
    ),
)


@given(data=st.data(), number=st.sampled_from(range(len(GOOD))))
def test_any_answer_gives_a_table_or_one_of_our_errors(data: st.DataObject, number: int) -> None:
    _, parse, good = GOOD[number]
    try:
        found = parse(io.BytesIO(data.draw(damaged(good))))
    except EmancipaError:
        return
    assert isinstance(found, pl.DataFrame)


@pytest.mark.parametrize("source", [localities.SOURCE, ibge_estimates.SOURCE, ibge_census_districts.SOURCE])
def test_sources_say_where_they_come_from_and_read_every_part(source: Source) -> None:
    assert source.home_page.startswith("https://")
    assert source.publisher == "IBGE"
    assert all(staged.table.name.startswith(f"staging.{source.name}__") for staged in source.tables)
