"""Places by their name, and what the reading verbs print of them."""

import json
import re

import duckdb
import pytest

from flows.asking import named
from flows.cli import call
from tests.assembly import sample
from transforms.errors import UsageError

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
