"""Hand-supplied figures that cannot be true, against the official ones: refused with their line, or told."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from flows.cli import call
from tests.states import Invented, rules, screened
from tests.upstream import Upstream
from transforms.caveats import caveats
from transforms.columns import MEASURES_OF
from transforms.core.state import latest_estimates
from transforms.errors import UsageError
from transforms.screen import screen
from transforms.sources import Scope, ibge_estimates
from warehouse import sample

SEAT, NORTH, SOUTH, ALONE = "310620005", "310620010", "310620015", "310630105"
CERTIFICATES, COLLECTIONS = "staging.inputs_certificates__certificate", "staging.inputs_collections__collection"


def state_of() -> Invented:
    """Two municípios of 30,000 and 10,000 people, 12,000 and 4,000 voters; the state has R$ 10,000,000.00 of taxes."""
    state = Invented()
    for code in (SEAT, NORTH, SOUTH, ALONE):
        state.district(code, 10_000, voters=4_000, houses=300)
    return state


def refusal(state: Invented) -> str:
    with pytest.raises(UsageError) as refused:
        screened(state)
    return str(refused.value)


def told_of(state: Invented) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """Its tables, and what is said though nothing failed."""
    staged = state.staged()
    frames = screen(staged, state.scope, (rules(),))
    return frames, caveats(staged, frames, state.scope)


def measure(frames: dict[str, pl.DataFrame], area: str, name: str) -> dict[str, object]:
    return frames["core.area_measure"].filter(area_id=area, measure=name).row(0, named=True)


@pytest.mark.parametrize(
    ("requirement", "most", "above", "told"),
    [
        ("population", "30000", "30001", "30001, more than the 30000 inhabitants of Município 3106200, by the larger"),
        ("electorate", "12000", "99999999", "99999999, more than the 12000 voters registered in Município 3106200"),
        ("collection", "7000000.00", "7000000.01", "R$ 7000000.01, more than the R$ 7000000.00 stated for Município"),
    ],
)
def test_a_certificate_cannot_say_more_than_the_whole(requirement: str, most: str, above: str, told: str) -> None:
    state = state_of()
    state.collection("3106200", "7000000.00")
    state.certificate(NORTH, requirement, most)
    assert measure(screened(state), NORTH, MEASURES_OF[requirement][0])["evidence"] == "certified"
    state = state_of()
    state.collection("3106200", "7000000.00")
    state.certificate(SOUTH, "urban_houses", "1")
    state.certificate(NORTH, requirement, above)
    said = refusal(state)
    assert f"area {NORTH}: {requirement} certified is {told}" in said
    assert "a part cannot exceed its whole: compare the row with the document" in said
    assert "[certificates.csv, line 3, column value]" in said


def test_the_whole_of_a_group_is_all_its_municipalities() -> None:
    state = state_of()
    state.district("310630110", 5_000, voters=2_000, houses=300)
    state.candidate("both", "group", [NORTH, "310630110"])
    state.certificate("both", "population", "45000")
    assert measure(screened(state), "both", "population_census")["value"] == 45_000
    state = state_of()
    state.district("310630110", 5_000, voters=2_000, houses=300)
    state.candidate("both", "group", [NORTH, "310630110"])
    state.certificate("both", "population", "45001")
    assert "45001, more than the 45000 inhabitants of Município 3106200, Município 3106301" in refusal(state)


def test_certificates_of_districts_together_cannot_say_more_than_the_whole() -> None:
    state = state_of()
    state.certificate(NORTH, "electorate", "7000")
    state.certificate(SOUTH, "electorate", "6000")
    said = refusal(state)
    assert f"area {NORTH} + {SOUTH}: electorate certified is 13000, more than the 12000 voters" in said
    assert "line 3" in said


@pytest.mark.parametrize("quality", [None, "estimado"])
def test_where_no_collection_is_stated_the_whole_is_the_states_tax_revenue(quality: str | None) -> None:
    """An estimate of the município is no limit to what the treasury certifies."""
    state = state_of()
    if quality:
        state.collection("3106200", "1000.00", quality=quality)
    state.certificate(NORTH, "collection", "99000000000.00")
    assert "R$ 99000000000.00, more than the R$ 10000000.00 of the state's tax revenue" in refusal(state)


def test_a_whole_that_is_not_known_is_no_limit() -> None:
    state = state_of()
    state.state_tax = None
    state.certificate(NORTH, "collection", "99000000000.00")
    assert measure(screened(state), NORTH, "collection_brl")["evidence"] == "certified"


def test_a_certificate_dated_after_the_run_does_not_count_and_is_told() -> None:
    state = state_of()
    state.certificate(NORTH, "population", "99999999")
    state.certificate(NORTH, "electorate", "3000")
    state.rows[CERTIFICATES][0]["date"] = date(2026, 12, 1)
    state.rows[CERTIFICATES][1]["date"] = date(2026, 11, 30)
    frames, told = told_of(state)
    assert measure(frames, NORTH, "population_census")["evidence"] != "certified"
    assert measure(frames, NORTH, "electorate")["evidence"] == "certified"
    rows = frames["mart.requirement_result"].filter(area_id=NORTH, requirement="population")
    assert rows["value"].item() == 10_000
    assert told == ["inputs_certificates: left out: certificates dated later than 2026-11-30: 1 rows"]


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ({"3106200": "10000000.01"}, "3106200: R$ 10000000.01 is more than the state's tax revenue of 2025"),
        ({"3106200": "9000000.00", "3106301": "1000000.01"}, "the 2 rows of level municipio that begin here add up to"),
        ({NORTH: "10000000.01"}, f"{NORTH}: R$ 10000000.01 is more than the state's tax revenue of 2025"),
        ({NORTH: "6000000.00", SOUTH: "6000000.00"}, "the 2 rows of level distrito that begin here add up to R$ 12"),
    ],
)
def test_no_place_collects_more_than_the_state(stated: dict[str, str], told: str) -> None:
    state = state_of()
    state.district("310640005", 10_000, voters=4_000, houses=300)  # the file covers a part of the state
    for code, value in stated.items():
        state.collection(code, value)
    said = refusal(state)
    assert told in said
    assert "is it R$ 1, not R$ thousand?" in said
    assert "[collections.csv, line 2, column valor]" in said


@pytest.mark.parametrize(
    ("value", "sound"),
    [("9800000.00", True), ("10200000.00", True), ("9799999.99", False), ("10200000.01", False), ("10000.00", False)],
)
def test_the_files_own_total_of_the_state_is_the_states(value: str, sound: bool) -> None:
    state = state_of()
    state.collection("3106200", "1000.00")
    state.collection("3106200", value)
    state.rows[COLLECTIONS][-1] |= {"level": "estado", "municipality_code": None}
    if sound:
        assert screened(state)["core.municipality_collection"].height == 1
    else:
        said = refusal(state)
        assert f"R$ {value} is not within 2 % of the state's tax revenue of 2025, R$ 10000000.00" in said
        assert "[collections.csv, line 3, column valor]" in said


def test_a_file_of_the_whole_state_has_at_least_half_of_its_revenue() -> None:
    state = state_of()
    state.collection("3106200", "4000000.00")
    state.collection("3106301", "999999.99")
    assert "sums to R$ 4999999.99, less than half of the state's tax revenue" in refusal(state)


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ({"3106200": "1.00", "3106309": "1.00"}, "MG has no município 3106309: correct the code"),
        ({"3106200": "1.00", "310620099": "1.00"}, "MG has no district 310620099: correct it"),
    ],
)
def test_places_that_the_state_does_not_have_are_named_with_their_line(stated: dict[str, str], told: str) -> None:
    state = state_of()
    for code, value in stated.items():
        state.collection(code, value)
    said = refusal(state)
    assert told in said
    assert "[collections.csv, line 3, column cod_" in said


def test_districts_above_their_municipality_are_named_with_their_line() -> None:
    state = state_of()
    for code, value in (("3106200", "100.00"), (NORTH, "60.00"), (SOUTH, "40.51")):
        state.collection(code, value)
    said = refusal(state)
    assert "the districts of 3106200 sum to R$ 100.51, more than the R$ 100.00 of the município: correct either" in said
    assert "[collections.csv, line 3, column valor]" in said


def test_faults_of_an_area_are_all_told_with_their_lines() -> None:
    state = state_of()
    state.candidate("seat", "group", [SEAT, NORTH])
    state.candidate("part", "fusion", [SEAT, ALONE])
    said = refusal(state)
    assert said.startswith("3 faults in candidates.csv:\n")
    assert f"  line 2, column district_codes: area seat, district {SEAT}" in said
    assert f"line 3, column district_codes: area part, district {NORTH}: a fusion takes whole municípios" in said


def test_a_file_that_covers_a_part_of_the_state_is_told() -> None:
    state = state_of()
    state.collection("3106200", "1000.00")
    told = "collections.csv covers part of MG: 1 of its 2 municípios are missing, and their collection unknown"
    assert told_of(state)[1] == [told]
    assert told_of(state_of())[1] == []


def test_taxes_of_municipalities_are_left_out_and_told() -> None:
    state = state_of()
    state.collection("3106200", "1000.00")
    state.rows[COLLECTIONS][0] |= {"sphere": "municipal", "tax": "ISS"}
    frames = screened(state)
    assert frames["core.municipality_collection"].is_empty()
    assert frames["core.left_out"].rows() == [
        ("inputs_collections", "rows of taxes that municípios collect themselves (esfera municipal)", 1, None)
    ]


def estimates(*rows: tuple[str, int, int | None]) -> pl.DataFrame:
    listed = ibge_estimates.PERIODS.frame({"year": year, "modified": date(year, 8, 28)} for year in (2024, 2025, 2026))
    level = {2: "state", 7: "municipality"}
    known = ibge_estimates.POPULATION.frame(
        {"level": level[len(code)], "location_code": code, "location_name": code, "year": year, "population": people}
        for code, year, people in rows
    )
    return latest_estimates(listed.lazy(), known.lazy(), Scope("ES", date(2026, 11, 30)))


def test_case_06_a_year_without_figures_is_no_year() -> None:
    older = [("32", 2025, 9), ("3205002", 2025, 5)]
    assert set(estimates(*older, ("32", 2026, None), ("3205002", 2026, None))["year"]) == {2025}
    assert set(estimates(*older, ("32", 2026, 10), ("3205002", 2026, None))["year"]) == {2025}
    assert set(estimates(*older, ("32", 2026, 10), ("3205002", 2026, 6))["year"]) == {2026}
    assert set(estimates(("3205002", 2026, 6))["year"]) == {2026}


def test_case_06_the_older_period_is_flagged() -> None:
    state = state_of()
    state.add("ibge_estimates__period", year=2027, modified=date(2026, 11, 30))
    assert told_of(state)[1] == [
        "ibge_estimates: no figures of 2027 yet (período 2027 ainda não publicado): the estimates of 2026 serve"
    ]


@pytest.mark.parametrize(
    ("day", "told"),
    [
        (
            date(2026, 10, 31),
            ["tse_polling_places: voters are those of 2026-11-01, for the TSE keeps none of 2026-10-31"],
        ),
        (date(2026, 11, 1), []),
    ],
)
def test_voters_newer_than_the_day_of_the_run_are_told(day: date, told: list[str]) -> None:
    state = state_of()
    state.scope = replace(state.scope, as_of=day)
    assert told_of(state)[1] == told


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., int]:
    """The bundled sample with other files of the user's own."""
    inputs = tmp_path / "inputs"
    shutil.copytree(sample.inputs(), inputs)

    def run(*certificates: str, collections: str = "") -> int:
        with (inputs / "certificates.csv").open("a", encoding="utf-8") as file:
            file.writelines(f"{row}\n" for row in certificates)
        if collections:
            heading = (inputs / "collections.csv").read_text(encoding="utf-8").splitlines()[0]
            (inputs / "collections.csv").write_text(f"{heading}\n{collections}\n", encoding="utf-8")
        return call(["run", "--sample", "--data", str(tmp_path / "data"), "--inputs", str(inputs)])

    return run


def test_case_06_a_year_not_published_yet_is_done_without(
    upstream: Upstream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At first by the year before; once it was there, it stays in use though it is not there any more."""

    def year() -> int:
        return int(pl.read_parquet(tmp_path / "current/parquet/core.state.parquet")["estimate_year"].item())

    words = ["run", "--uf", "ES", "--as-of", "2026-11-30", "--data", str(tmp_path)]
    upstream.fault("/periodos/2025/", "empty_list")
    assert call(words) == 0
    told = "no figures of 2025 yet (período 2025 ainda não publicado): the estimates of 2024 serve"
    assert f"warning: ibge_estimates: {told}" in capsys.readouterr().err
    assert f"ibge_estimates: {told}" in json.loads((tmp_path / "current/release.json").read_text())["warnings"]
    assert year() == 2024
    upstream.heal()
    assert call(words) == 0
    assert year() == 2025
    upstream.fault("/periodos/2025/", "empty_list")
    capsys.readouterr()
    assert call(words) == 0
    assert "what it answered before is not there any more" in capsys.readouterr().err
    assert year() == 2025


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    with Upstream() as server:
        for name, value in (server.environment() | {"EMANCIPA_SICONFI_PACE": "0"}).items():
            monkeypatch.setenv(name, value)
        yield server


def test_a_later_certificate_counts_on_its_day_with_nothing_else_new(upstream: Upstream, tmp_path: Path) -> None:
    """The day is no part of what a release is made of, unless something waits for it."""
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    heading = "area_id;requirement;value;body;document;date;note"
    row = "320500215;electorate;77;TRE-ES;ofício 2;2099-11-15;"
    (inputs / "certificates.csv").write_text(f"{heading}\n{row}\n", encoding="utf-8")

    def electorate(day: str, *words: str) -> Decimal:
        where = ["--data", str(tmp_path / "data"), "--inputs", str(inputs)]
        assert call(["run", "--uf", "ES", "--as-of", day, *where, *words]) == 0
        areas = pl.read_parquet(tmp_path / "data/current/parquet/core.area_measure.parquet")
        return Decimal(areas.filter(area_id="320500215", measure="electorate")["value"].item())

    assert electorate("2099-11-14") != 77
    assert electorate("2099-11-15", "--offline") == 77


def test_the_newest_certificate_counts_and_the_older_ones_are_told() -> None:
    state = state_of()
    for value, day in (("3000", date(2026, 9, 1)), ("3500", date(2026, 11, 1)), ("99999999", date(2026, 12, 1))):
        state.certificate(NORTH, "electorate", value)
        state.rows[CERTIFICATES][-1]["date"] = day
    frames, told = told_of(state)
    assert measure(frames, NORTH, "electorate")["value"] == 3_500
    assert told == [
        "inputs_certificates: left out: certificates dated later than 2026-11-30: 1 rows",
        "inputs_certificates: left out: certificates with a newer one of the same area and requirement: 1 rows",
    ]


def test_impossible_certificates_publish_nothing(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("320500215;electorate;99999999;TRE-ES;ofício 1;2026-01-05;") == 2
    told = capsys.readouterr().err
    assert "certificates.csv, line 11" in told
    assert "area 320500215: electorate certified is 99999999, more than the " in told
    assert not (tmp_path / "data/sample/current").exists()


def test_what_is_doubtful_is_published_and_told(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("municipio", "estadual", "ICMS", "1000,00", "bruta_liquida_restituicoes", "nao_informada", "declarado")
    row = ";".join(("ES", "2025", "3200102", "", "", *words, "", "", "", "", "", ""))
    slip = "320500215;population;10;IBGE;ofício 1;2026-01-05;"
    assert run(slip, "320500215;electorate;1;TRE-ES;ofício 2;2027-12-31;", collections=row) == 0
    told = capsys.readouterr().err
    release = tmp_path / "data/sample/current"
    warnings = json.loads((release / "release.json").read_text(encoding="utf-8"))["warnings"]
    assert any(each.startswith("collections.csv covers part of ES: 77 of its 78 municípios are") for each in warnings)
    assert any("certificates dated later than" in each for each in warnings)
    assert all(f"warning: {each}" in told for each in warnings)
    checks = pl.read_csv(next((release / "checks").glob("*.csv")), infer_schema=False)
    (told_of,) = checks.filter(check_name="certified_figures_near_census").to_dicts()
    assert (told_of["status"], told_of["severity"]) == ("failed", "warning")
    said = "certificates.csv, line 11: population of 320500215 is certified as 10, its districts have "
    assert told_of["observed"] == f"{said}314388 inhabitants in the Census 2022"
    areas = pl.read_parquet(release / "parquet/core.area_measure.parquet")
    found = dict(areas.filter(area_id="320500215").select("measure", "value").iter_rows())
    assert found["population_census"] == 10
    assert found["electorate"] != 1
