"""Places by their name, and what the reading verbs print of them."""

import json
import re
import shutil
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pytest

from flows.asking import named
from flows.cli import call
from tests.assembly import sample
from tests.conftest import PROJECT
from transforms.errors import UsageError
from warehouse import publish
from warehouse.snapshots import Poll, Store

AS_OF, MOMENT = date(2026, 11, 30), datetime(2026, 11, 30, 5, tzinfo=UTC)
FUSION = "fusao-mucurici-ponto-belo"


@pytest.fixture
def database() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    made.execute("CREATE SCHEMA mart")
    made.execute("CREATE SCHEMA core")
    made.execute("CREATE TABLE core.district (district_code TEXT, district_name TEXT, refusal TEXT)")
    made.execute("INSERT INTO core.district VALUES ('320000105', 'Sé', 'seat of its município')")
    made.execute("CREATE TABLE mart.eligibility (rule_set TEXT, area_id TEXT, area_name TEXT, municipality_names TEXT)")
    for rule_set in ("a", "b"):
        made.execute(
            "INSERT INTO mart.eligibility VALUES ($1, '1', 'São João', 'Serra'), "
            "($1, '2', 'Sao Joao', 'Apiacá|Ibatiba'), ($1, '3', 'Pedra Azul', 'Serra')",
            [rule_set],
        )
    return made


def test_a_place_is_named_by_its_id_or_by_a_name_that_no_other_has(database: duckdb.DuckDBPyConnection) -> None:
    assert [named(database, "area", words) for words in ("3", "Pedra Azul", "PEDRA AZUL", "pedrá azul", "1")] == [
        "3", "3", "3", "3", "1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "what", "action"),
    [
        ("são joão", "2 areas are named 'são joão'", "name one by its id: 1 (Serra), 2 (Apiacá + Ibatiba)"),
        ("Pedra Asul", "no area 'Pedra Asul'", "did you mean 3 (Pedra Azul)?"),
        ("se", "no area 'se'", "Sé (320000105) cannot be an area: seat of its município"),
        ("Xique-Xique", "no area 'Xique-Xique'", "no name is like it; all of them:"),
    ],
)
def test_other_words_are_answered_with_what_may_be_meant(
    database: duckdb.DuckDBPyConnection, words: str, what: str, action: str
) -> None:
    with pytest.raises(UsageError) as told:
        named(database, "area", words)
    assert told.value.what == what
    assert told.value.action.startswith(action)


def verb(*words: str) -> int:
    return call([*words, "--sample", "--data", str(sample().data.parent)])


def test_show_tells_an_area_by_its_name_and_a_fusion_as_exempt(capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("show", "goiabeiras") == 0
    told = capsys.readouterr().out
    assert "Goiabeiras (320530910), Vitória" in told
    assert "lc_1_1967: eligible" in told
    assert verb("show", FUSION) == 0
    assert "exempt from the requirements" in capsys.readouterr().out


def test_groups_of_one_district_hold_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("groups", "--json") == 0
    groups = json.loads(capsys.readouterr().out)
    assert verb("groups", "garrafao", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    (code,) = set.intersection(*({*row["district_codes"].split("|")} for row in found))
    assert found == [row for row in groups if code in row["district_codes"].split("|")]
    assert 0 < len(found) < len(groups)
    assert verb("groups", "Nenhum lugar") == 2


@pytest.mark.parametrize(
    ("district", "told"),
    [
        ("carapina", "Carapina is eligible alone; no group is needed"),
        ("serra", "Serra cannot leave its município: seat of its município"),
        ("argolas", "no group of up to 6 districts with Argolas would do: each fails a requirement, or needs no"),
        ("barra nova", "Barra Nova alone is undetermined (likely eligible), and no group of up to 6 with it is surer"),
    ],
)
def test_where_no_group_is_listed_it_is_said_why(district: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("groups", district) == 0
    assert told in " ".join(capsys.readouterr().out.split())


def test_a_polling_place_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("places", "--json") == 0
    places = json.loads(capsys.readouterr().out)
    municipalities = len({row["municipality_code"] for row in places})
    assert verb("places") == 0
    lines = capsys.readouterr().out.splitlines()
    nowhere = sum(row["district_code"] is None for row in places)
    assert sum(bool(re.match(r"\d+ +\d+ ", line)) for line in lines) == len(places)
    assert sum(bool(re.match(r".+ \(\d{7}\)$", line)) for line in lines) == municipalities
    assert f"{len(places)} polling places, {nowhere} in no district yet" in lines[-2]


def test_a_source_s_licence_and_the_addresses_of_its_files_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("sources") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "tse_municipalities (required) Códigos oficiais" in told
    assert "weekly, on Sundays licence: Dados abertos do TSE (Portaria TSE 93/2021): uso livre com citação" in told
    assert verb("sources", "--json") == 0
    files = {row["source"]: [file["address"] for file in row["files"]] for row in json.loads(capsys.readouterr().out)}
    assert all(files.values())
    assert files["ibge_addresses"][0].endswith("/CSV/UF/32_ES.zip")
    assert files["tse_polling_places"][0].endswith("/perfil_eleitorado/eleitorado_local_votacao_ATUAL.zip")
    assert files["ibge_census_districts"][0].endswith("/Agregados_por_Distrito_csv/")  # its file's name is read there


def test_status_tells_whole_dates_and_what_never_gave_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verb("status") == 0
    day = r"\d{4}-\d{2}-\d{2}"
    assert re.search(rf"^tse_polling_places +fresh +{day} +{day} +0 +75$", capsys.readouterr().out, re.MULTILINE)
    poll = Poll("siconfi_revenue", "ES", AS_OF, MOMENT, "failed", (), "HTTP 404", "absent")
    Store(tmp_path / "sample" / "raw").poll(poll)
    assert call(["status", "--sample", "--data", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^siconfi_revenue +never +– +– +– +62$", told, re.MULTILINE)
    assert "siconfi_revenue: absent: HTTP 404" in told


def test_status_says_what_readers_were_rolled_back_from_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "sample"
    shutil.copytree(sample().data, data, symlinks=True)
    release = publish.current(data)
    event = {"at": "2026-11-30T08:15:00+00:00", "event": "rolled_back", "release": release, "previous": "later"}
    with (data / "history.jsonl").open("a", encoding="utf-8") as history:
        history.write(json.dumps(event | {"reason": "wrong revenue"}) + "\n")
    assert call(["status", "--sample", "--data", str(tmp_path)]) == 0
    assert "rolled back on 2026-11-30 08:15 UTC, from later: wrong revenue" in capsys.readouterr().out


READING = (
    "status", "sources", "rules", "tables", "groups", "proposals", "proposal P03", "places --uf ES", "show goiabeiras",
    "show garrafao --explain", f"show {FUSION}",
)  # fmt: skip


@pytest.mark.parametrize("words", READING)
def test_what_is_read_fits_80_columns(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    sample()
    assert verb(*words.split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 3
    assert [line for line in lines if len(line) > 80 and " " in line.strip()] == []


def test_figures_are_told_in_the_order_of_the_law_and_to_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert verb("show", "barra nova") == 0
    told = capsys.readouterr().out
    assert re.findall(r"^(\w[\w ]+) · art\. 2º, (\w+):", told, re.MULTILINE) == [
        ("population", "I"), ("electorate", "II"), ("urban houses", "III"), ("collection", "IV"),
    ]  # fmt: skip
    assert "164,373,132.47 BRL, between 0.00 and 800,030,573.77; asked >= 129,115,000.00" in " ".join(told.split())
    assert re.search(
        r"^collection +800,030,573\.77 +635,657,441\.30 +129,115,000\.00 +undetermined", told, re.MULTILINE
    )


@pytest.mark.parametrize("columns", ["", "abc", "0", "-5", "20"])
def test_an_odd_width_is_no_bug(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sample()
    monkeypatch.setenv("COLUMNS", columns)
    assert verb("show", "goiabeiras") == 0
    assert "Goiabeiras" in capsys.readouterr().out


@pytest.mark.parametrize("end", [">&-", "| head -1 >/dev/null"], ids=["closed", "read in part"])
def test_nobody_has_to_read_all_of_it(end: str) -> None:
    """The exit code is the command's, not the reader's."""
    words = f"show garrafao --explain --sample --data {sample().data.parent}"
    program = f'{sys.executable} -c "from flows.cli import main; main()" {words}'
    command = ["bash", "-c", f"{program} {end}; exit ${{PIPESTATUS[0]}}"]
    ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
