"""The main job from bytes to release, through the command line, on the sample and on the local upstream."""

import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import warehouse
from flows.cli import call
from tests.upstream import Upstream
from transforms.sources import inputs_polling_place_districts
from warehouse import data_folder, publish, sample

EXPORTS = {
    "eligibility.csv": """rule_set rank area_id area_name kind uf municipality_codes municipality_names district_codes
        status likely requirements_met requirements_not_met requirements_undetermined binding_requirement
        smallest_margin origin_status same_origin_conflict population electorate urban_houses collection_brl
        weakest_evidence is_simulated""",
    "requirements.csv": """rule_set area_id requirement article low value high threshold comparison unit margin status
        indication evidence method source reference_period competent_body reason""",
    "origins.csv": """rule_set area_id municipality_code municipality_name requirement before_low before_value
        before_high after_low after_value after_high threshold verdict""",
    "pending.csv": "rule_set area_id area_name requirement reason ask",
    "no_candidate.csv": "uf municipality_code municipality_name reason",
}
# Non-seat districts with more than 10,000 residents, at least 5 thousandths of the state's, and either
# (Census 2022, file of 2026-05-20), and the state's residents.
CENSUS = {
    "SE": (6, 6, 6, 2_210_004),
    "ES": (16, 8, 16, 3_833_712),
    "CE": (15, 2, 15, 8_794_957),
    "PA": (31, 5, 31, 8_120_131),
    "AP": (1, 5, 5, 733_759),
    "PI": (0, 0, 0, 3_271_199),
    "AC": (0, 0, 0, 830_018),
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which the sample has been run once."""
    data = tmp_path_factory.mktemp("published")
    assert call(["run", "--sample", "--data", str(data)]) == 0
    return data / "sample"


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    """The sample's state, served over HTTP; nothing is waited for."""
    with Upstream() as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("EMANCIPA_SICONFI_PACE", "0")
        monkeypatch.setenv("EMANCIPA_BACKOFF_SECONDS", "0")
        yield server


def run(data: Path, *words: str, inputs: Path | None = None) -> int:
    chosen = inputs or sample.inputs()
    return call(["run", "--uf", "ES", "--as-of", "2026-11-30", "--data", str(data), "--inputs", str(chosen), *words])


def csv(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(folder / "export" / name, infer_schema=False)


def test_the_sample_shows_every_verdict(published: Path) -> None:
    ranking = csv(published / "current", "eligibility.csv")
    assert {"eligible", "ineligible", "undetermined"} == set(ranking["status"])
    assert {"likely_eligible", "likely_ineligible", "unknown"} <= set(ranking["likely"].drop_nulls())
    assert set(ranking["is_simulated"]) == {"true"}
    assert set(csv(published / "current", "requirements.csv")["evidence"].drop_nulls()) >= {"simulated", "derived"}
    assert set(csv(published / "current", "origins.csv")["verdict"]) >= {"kept", "lost", "never_had", "undetermined"}
    assert ranking["same_origin_conflict"].drop_nulls().len() >= 2


def test_the_exports_have_exactly_the_promised_columns(published: Path) -> None:
    for name, columns in EXPORTS.items():
        assert csv(published / "current", name).columns == columns.split(), name


def test_a_second_run_finds_nothing_new(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = publish.current(published)
    assert call(["run", "--sample", "--data", str(published.parent)]) == 0
    assert "nothing new" in capsys.readouterr().err
    assert publish.current(published) == before


def test_two_builds_of_the_same_snapshots_are_equal_to_the_byte(published: Path, tmp_path: Path) -> None:
    shutil.copytree(published / "raw", tmp_path / "sample" / "raw")
    assert call(["run", "--sample", "--offline", "--data", str(tmp_path)]) == 0
    for kind in ("parquet/*.parquet", "export/*.csv"):
        ours = {path.name: path.read_bytes() for path in (published / "current").glob(kind)}
        theirs = {path.name: path.read_bytes() for path in (tmp_path / "sample" / "current").glob(kind)}
        assert len(ours) > 5
        assert ours == theirs


def test_reading_verbs_answer_from_the_release(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(*words: str) -> Any:
        assert call([*words, "--json", "--sample", "--data", str(published.parent)]) == 0
        return json.loads(capsys.readouterr().out)

    assert answer("status")["release"] == publish.current(published)
    assert {"core.district", "mart.eligibility"} <= {row["name"] for row in answer("tables")}
    assert answer("tables", "mart.pending")[0] | {"what": ""} == {"name": "rule_set", "type": "VARCHAR", "what": ""}
    assert answer("query", "SELECT count(*) AS n FROM core.district") == [{"n": 278}]
    shown = answer("show", "320500215", "--explain")
    assert shown["verdicts"][0]["area_name"] == "Carapina"
    assert {row["requirement"] for row in shown["requirements"]} >= {"population", "origin"}
    assert all(len(row["sha256"]) == 64 for row in shown["snapshots"])
    assert len(shown["polling places"]) > 5


def test_unknown_areas_and_seats_are_told_apart(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--sample", "--data", str(published.parent)]
    assert call(["show", "320500205", *where]) == 2
    assert "seat of its município" in capsys.readouterr().err
    assert call(["show", "Carapinna", *where]) == 2
    assert "320500215 (Carapina)" in capsys.readouterr().err


def test_the_places_to_fill_in_are_read_back(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["places", "--unassigned", "--sample", "--data", str(published.parent)]) == 0
    template = capsys.readouterr().out
    heading, *lines = template.splitlines()
    assert heading == "municipality_code;zone;place;district_code;source;note"
    assert len(lines) > 2
    first = lines[0].split(";")
    filled = [heading, ";".join([*first[:3], f"{first[0]}05", "TRE", *first[5:]]), *lines[1:]]
    with (tmp_path / "places.csv").open("w+b") as file:
        file.write("\n".join(filled).encode())
        file.seek(0)
        read = inputs_polling_place_districts.SOURCE.tables[0].parse(file)
    assert read.select("municipality_code", "district_code").rows() == [(first[0], f"{first[0]}05")]


def test_apportioned_estimates_sum_to_the_official_ones(published: Path) -> None:
    with warehouse.connect(published) as database:
        wrong = database.sql(
            """SELECT municipality_code FROM core.municipality m JOIN (SELECT left(district_code, 7) AS code,
            sum(population_estimate) AS parts FROM core.district_population GROUP BY 1) ON code = municipality_code
            WHERE parts IS DISTINCT FROM m.population_estimate"""
        ).fetchall()
        total = database.sql("SELECT sum(population_estimate) FROM core.district_population").fetchall()
        official = database.sql("SELECT population_estimate FROM core.state").fetchall()
    assert wrong == []
    assert total == official


@pytest.fixture(scope="module")
def country(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Upstream, Callable[[str], Path]]]:
    """The whole country's real census file behind the local upstream; gives the release folder of a state."""
    census = shared / "data/ibge/Agregados_por_distritos_basico_BR_20260520.csv"
    crosswalk = shared / "data/tse/municipio_tse_ibge_20260531.csv"
    data = tmp_path_factory.mktemp("country")
    with pytest.MonkeyPatch.context() as patch, Upstream(census=census, crosswalk=crosswalk) as server:
        for name, value in server.environment().items():
            patch.setenv(name, value)
        patch.setenv("EMANCIPA_SICONFI_PACE", "0")

        def release(uf: str) -> Path:
            assert call(["run", "--uf", uf, "--as-of", "2026-11-30", "--data", str(data)]) == 0
            return data / "current"

        yield server, release


@pytest.mark.parametrize("uf", CENSUS)
def test_districts_pass_population_as_the_real_census_says(
    country: tuple[Upstream, Callable[[str], Path]], uf: str
) -> None:
    _, release = country
    folder = release(uf)
    more_than, share, either, residents = CENSUS[uf]
    candidates = (
        pl.scan_parquet(folder / "parquet/core.district_population.parquet")
        .join(pl.scan_parquet(folder / "parquet/core.district.parquet"), on="district_code")
        .filter(pl.col("refusal").is_null())
        .collect()["population_census"]
    )
    total = pl.read_parquet(folder / "parquet/core.state.parquet")["population_census"].item()
    assert total == residents
    assert (candidates > 10_000).sum() == more_than
    assert (candidates * 1000 >= total * 5).sum() == share
    assert ((candidates > 10_000) | (candidates * 1000 >= total * 5)).sum() == either
    ranking, requirements = csv(folder, "eligibility.csv"), csv(folder, "requirements.csv")
    assert ranking.height == candidates.len()
    # The stand-in's estimates are the census counts: both bases agree.
    assert requirements.filter(requirement="population", status="met").height == either


def test_a_source_that_is_down_is_replaced_by_its_last_good_snapshot(upstream: Upstream, tmp_path: Path) -> None:
    assert run(tmp_path) == 0
    first = publish.current(tmp_path)
    upstream.fault("eleitorado_local_votacao_ATUAL", "503")
    assert run(tmp_path) == 0
    assert publish.current(tmp_path) == first  # the same snapshots: nothing new


@pytest.mark.parametrize(
    ("path", "kind", "code", "says"),
    [
        ("/siconfi/", "503", 4, "siconfi_revenue"),
        ("perfil_eleitorado", "renamed_column", 5, "tse_polling_places"),
    ],
)
def test_with_nothing_at_hand_a_bad_source_stops_the_run(
    upstream: Upstream, tmp_path: Path, capsys: pytest.CaptureFixture[str], path: str, kind: str, code: int, says: str
) -> None:
    upstream.fault(path, kind)
    assert run(tmp_path) == code
    assert says in capsys.readouterr().err
    assert publish.current(tmp_path) is None


def test_a_changed_layout_leaves_readers_on_the_last_release(upstream: Upstream, tmp_path: Path) -> None:
    assert run(tmp_path) == 0
    first = publish.current(tmp_path)
    upstream.fault("Agregados_por_distritos", "lost_column")
    assert run(tmp_path) == 5
    assert publish.current(tmp_path) == first


def test_a_bad_input_row_is_named_by_file_and_line(
    upstream: Upstream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = tmp_path / "inputs"
    shutil.copytree(sample.inputs(), inputs)
    with (inputs / "certificates.csv").open("a", encoding="utf-8") as file:
        file.write("320500215;population;muitos;IBGE;ofício;2026-10-01;\n")
    assert run(tmp_path / "data", inputs=inputs) == 2
    told = capsys.readouterr().err
    assert "certificates.csv" in told
    assert "muitos" in told


def test_doubled_voters_are_refused_before_publication(
    upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More voters than people in a whole state is double counting (case 26): nothing is published."""
    from transforms.core import polling_place  # noqa: PLC0415

    registered = polling_place._registered
    monkeypatch.setattr(
        polling_place,
        "_registered",
        lambda *given: registered(*given).with_columns(pl.col("voters") * 3),
    )
    assert run(tmp_path) == 3
    assert publish.current(tmp_path) is None


def test_hand_supplied_files_are_read_offline_too(
    upstream: Upstream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = tmp_path / "inputs"
    shutil.copytree(sample.inputs(), inputs)
    assert run(tmp_path / "data", inputs=inputs) == 0
    with (inputs / "candidates.csv").open("a", encoding="utf-8") as file:
        file.write("sede;A sede;group;320500205|320500215;\n")
    assert run(tmp_path / "data", "--offline", inputs=inputs) == 2
    assert "seat of its município" in capsys.readouterr().err


def test_what_was_never_supplied_and_what_has_an_unknown_name_is_told(
    upstream: Upstream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs, data = tmp_path / "inputs", tmp_path / "data"
    assert run(data, inputs=inputs) == 2
    assert f"no such folder [--inputs {inputs}]" in capsys.readouterr().err
    inputs.mkdir()
    for name in ("candidate.csv", "Candidates.CSV", "laudo.pdf"):
        (inputs / name).touch()
    assert run(data, "--json", inputs=inputs) == 0
    told = capsys.readouterr()
    assert "inputs_candidates: not supplied" in told.err
    warnings = json.loads(told.out)["warnings"][:2]
    assert [warning.split()[0] for warning in warnings] == ["Candidates.CSV", "candidate.csv"]
    assert all("a file there is named candidates.csv, certificates.csv" in warning for warning in warnings)
    assert "warning: candidate.csv in the inputs folder" in told.err
    assert call(["status", "--data", str(data)]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("inputs_candidates")]
    assert "not supplied" in line
    assert "fresh" not in line


def test_the_program_tells_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["--version"]) == 0
    assert capsys.readouterr().out == f"{version('emancipa')}\n"


def test_an_optional_source_that_has_nothing_is_said_to_be_done_without(
    upstream: Upstream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    upstream.fault("Arquivos_CNEFE", "404")
    assert call(["fetch", "--uf", "ES", "--data", str(tmp_path), "--source", "ibge_addresses"]) == 0
    assert run(tmp_path) == 0
    told = capsys.readouterr().err
    assert "ibge_addresses: failed" in told
    assert "ibge_addresses: done without, bounds are wider" in told


def test_two_runs_at_once_do_not_touch_each_other(upstream: Upstream, tmp_path: Path) -> None:
    with data_folder.held(tmp_path, now=datetime.now(UTC)):
        assert run(tmp_path) == 6
    assert not (tmp_path / "releases").exists()


def test_without_a_state_or_with_the_federal_district_nothing_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["run"]) == 2
    assert "--uf" in capsys.readouterr().err
    assert call(["run", "--uf", "DF"]) == 2
    assert "cannot be divided" in capsys.readouterr().err


def test_the_date_fixes_every_period(published: Path) -> None:
    state = pl.read_parquet(published / "current/parquet/core.state.parquet").row(0, named=True)
    assert (state["as_of"], state["fiscal_year"]) == (date(2026, 11, 30), 2025)
