"""What a run over the bundled sample says, area by area: the table of warehouse/sample/README.md, held to its word."""

import csv
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from flows import releasing
from tests import assembly

Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("sample")
    program = "from flows.cli import main; main()"
    command = [sys.executable, "-c", program, "run", "--sample", "--data", str(data)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=data)
    assert run.returncode == 0, run.stderr
    return data / "sample" / "current" / "export"


def rows(export: Path, name: str) -> Rows:
    with (export / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_every_status_has_its_areas(export: Path) -> None:
    found = {row["area_id"]: row["likely"] or row["status"] for row in rows(export, "eligibility")}
    told = {
        "320130810": "eligible",  # Itaquari
        "320500215": "eligible",  # Carapina
        "320520015": "eligible",  # Ibes
        "320520020": "eligible",  # Jucu
        "320530910": "eligible",  # Goiabeiras
        "grupo-santa-cruz-praia-grande": "eligible",
        "fusao-mucurici-ponto-belo": "eligible",
        "320490610": "likely_eligible",  # Barra Nova
        "grupo-rio-quartel-farias": "likely_eligible",
        "320490630": "unknown",  # Nestor Gomes
        "320060720": "likely_ineligible",  # Santa Cruz
        "320280109": "likely_ineligible",  # Itaipava
        "320320507": "likely_ineligible",  # Bebedouro
        "320455915": "likely_ineligible",  # Garrafão
        "320500220": "likely_ineligible",  # Nova Almeida
        "320520010": "likely_ineligible",  # Argolas
        "320520025": "likely_ineligible",  # São Torquato
        "grupo-paraju-melgaco": "likely_ineligible",
    }
    assert {area: verdict for area, verdict in found.items() if verdict != "ineligible"} == told
    assert len(found) == 204
    assert {row["is_simulated"] for row in rows(export, "eligibility")} == {"true"}


def test_every_reason_has_its_area(export: Path) -> None:
    found = {(row["area_id"], row["requirement"]): row for row in rows(export, "requirements")}

    def told(area: str, requirement: str) -> tuple[str, str]:
        row = found[area, requirement]
        return row["status"], row["reason"]

    assert told("grupo-rio-quartel-farias", "population") == ("undetermined", "census and estimate disagree")
    assert told("320500220", "collection") == ("undetermined", "depends on the definition of revenue")
    assert told("320060720", "collection") == ("undetermined", "depends on the definition of revenue")
    assert told("320490630", "electorate")[1] == "no polling place in the district, the TRE must say"
    assert told("320160507", "collection")[0] == "not_met"
    assert told("320465810", "population")[0] == "undetermined"
    garrafao = found["320455915", "urban_houses"]
    assert (garrafao["low"], garrafao["high"], garrafao["indication"]) == ("153", "302", "likely_not_met")
    torquato, arace = found["320520025", "electorate"], found["320190210", "electorate"]
    assert (torquato["low"], torquato["value"]) == ("0", "13230")
    assert (arace["low"], arace["high"]) == ("5813", "7266")  # one place is in nobody's table


def test_origins_keep_lose_and_never_had(export: Path) -> None:
    found = {
        (row["area_id"], row["municipality_name"]): row["verdict"]
        for row in rows(export, "origins")
        if row["requirement"] == "collection"
    }
    assert found["320332010", "Marataízes"] == "lost"
    assert found["grupo-santa-cruz-praia-grande", "Fundão"] == "never_had"
    assert found["grupo-santa-cruz-praia-grande", "Aracruz"] == "kept"
    assert found["320490610", "São Mateus"] == "undetermined"


def test_two_areas_of_vila_velha_cannot_both_leave(export: Path) -> None:
    found = {row["area_id"]: row["same_origin_conflict"] for row in rows(export, "eligibility")}
    assert {area: others for area, others in found.items() if others} == {
        "320520015": "320520020",
        "320520020": "320520015",
    }


def test_the_key_of_every_table_and_view_is_unique() -> None:
    keys = {table.name: ", ".join(table.key) for table in releasing.every_table() if table.key}
    with duckdb.connect(str(assembly.sample().folder / "emancipa.duckdb"), read_only=True) as database:
        listed = database.sql("SELECT table_schema || '.' || table_name FROM information_schema.tables").fetchall()
        present = keys.keys() & {name for (name,) in listed}
        ask = "SELECT 1 FROM {} GROUP BY {} HAVING count(*) > 1"
        doubled = [name for name in sorted(present) if database.sql(ask.format(name, keys[name])).fetchall()]
    assert {"mart.lineage", "core.area_measure", "mart.ranking"} <= present
    assert doubled == []
