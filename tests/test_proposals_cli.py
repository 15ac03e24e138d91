"""`emancipa proposals` and `emancipa proposal ID` over the sample: what is told, refused, and warned of once."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from flows.cli import call
from warehouse.sample import inputs

RULES = ["--rules", "lc_1_1967", "--rules", "lc_1_1967_amended"]
# Where each petition of the sample stands, under the law of 1967 and as amended.
STANDS = {
    "P01": ("representation blocked",) * 2,
    "P02": ("plebiscite due",) * 2,
    "P03": ("information overdue",) * 2,
    "P04": ("information due",) * 2,
    "P05": ("information due",) * 2,
    "P06": ("majority blocked", "calendar due"),
    "P07": ("calendar blocked", "calendar due"),
    "P08": ("rejected",) * 2,
    "P09": ("withdrawn",) * 2,
    "P10": ("installed",) * 2,
    "P11": ("requirements due",) * 2,
    "P12": ("installation overdue",) * 2,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("petitions")
    assert call(["run", "--sample", *RULES, "--data", str(folder)]) == 0
    return folder


def asked(capsys: pytest.CaptureFixture[str], data: Path, *words: str) -> tuple[int, str, str]:
    code = call([*words, "--sample", "--data", str(data)])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: pytest.CaptureFixture[str], data: Path, *words: str) -> Any:
    code, out, _ = asked(capsys, data, *words, "--json")
    assert code == 0
    return json.loads(out)


def test_every_petition_stands_where_the_sample_says(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[str, tuple[str, ...]] = {}
    for row in as_json(capsys, data, "proposals")["proposals"]:
        stands = f"{row['stage']} {row['status']}" if row["stage"] else row["outcome"]
        found[row["proposal_id"]] = (*found.get(row["proposal_id"], ()), stands)
    assert found == STANDS


def test_the_calendar_tells_the_day_and_the_next_working_day(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, data, "proposals")
    assert code == 0
    lines = [line.strip() for line in out.splitlines()]
    assert "2026-10-09 Fri  OVERDUE: TRE must answer: P03" in lines
    assert "2027-01-09 Sat (next working day 2027-01-11 Mon)  IBGE must answer: P04" in lines
    assert "2025-01-01 Wed  OVERDUE: install the município: P12" in lines
    assert any(line.startswith("2027-01-01 Fri  the law may be made from here on: P01, P02") for line in lines)


def test_overdue_shows_only_what_is_overdue(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(capsys, data, "proposals", "--overdue")
    assert {row["proposal_id"] for row in found["proposals"]} == {"P03", "P12"}
    assert all(row["overdue"] for row in found["calendar"])


def test_a_state_that_the_release_does_not_have_is_refused(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, data, "proposals", "--uf", "ES")["proposals"]
    code, _, err = asked(capsys, data, "proposals", "--uf", "MG")
    assert (code, "the current release has no MG" in err) == (2, True)


def test_one_petition_is_told_with_its_articles_and_next_steps(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, data, "proposal", "P03")
    assert code == 0
    assert "→ information (art. 2º, § 3º): overdue, by 2026-10-09 Fri (52 days ago)" in out
    assert "next: press TRE; press state treasury" in out
    assert "SIMULATED" in out
    told = as_json(capsys, data, "proposal", "P06")
    assert told["proposal"]["area_id"] == "grupo-santa-cruz-praia-grande"
    assert [row["verdict"] for row in told["plebiscites"]] == ["failed", "passed"]


def test_an_unknown_petition_is_refused_with_the_known_ones(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = asked(capsys, data, "proposal", "P99")
    assert code == 2
    assert "no proposal 'P99'" in err
    assert "P01, P02" in err


def test_the_exports_have_a_row_per_proposal_rule_set_and_stage(data: Path) -> None:
    export = data / "sample/current/export"
    with (export / "proposals.csv").open(encoding="utf-8", newline="") as lines:
        machine = list(csv.DictReader(lines))
    with (export / "propostas.csv").open(encoding="utf-8-sig", newline="") as lines:
        assembly = list(csv.DictReader(lines, delimiter=";"))
    assert len(machine) == len(assembly) == 12 * 2 * 10
    assert {row["is_simulated"] for row in machine} == {"true"}
    late = next(row for row in assembly if row["Proposta"] == "P03" and row["Etapa"] == "informações dos órgãos")
    assert (late["Situação"], late["Prazo"], late["Dias restantes"]) == ("vencida", "09/10/2026", "-52")
    assert late["Próximo passo"] == "cobrar: TRE; cobrar: Secretaria da Fazenda do Estado"


def test_what_is_overdue_is_told_once_by_the_state_s_run_or_the_country_s(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = [json.loads(line) for line in (data / "sample/notified.jsonl").read_text(encoding="utf-8").splitlines()]
    keys = {entry["key"] for entry in ledger if entry["topic"] == "deadline/ES"}
    assert keys == {
        "P03 TRE must answer 2026-10-09",
        "P03 state treasury must answer 2026-10-09",
        "P12 install the município 2025-01-01",
    }
    assert call(["run", "--sample", *RULES, "--data", str(data)]) == 0
    assert "overdue" not in capsys.readouterr().err
    copy = shutil.copytree(data, tmp_path / "copy", symlinks=True)
    assert call(["national", "--sample", *RULES, "--data", str(copy)]) == 0
    told = capsys.readouterr()
    assert "overdue" not in told.err
    assert "ES (1 of 1 state) as of 2026-11-30" in told.out


def test_a_bad_register_stops_the_run_and_leaves_readers_where_they_were(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (data / "sample/current").resolve()
    for path in Path(str(inputs())).glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    register = tmp_path / "proposals.csv"
    lines = register.read_text(encoding="utf-8").splitlines()
    lines.append("P01;320500215;plebiscite_held;2026-10-04;ata;TRE-ES;electorate=9|yes=1;")
    register.write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, _, err = asked(capsys, data, "run", "--inputs", str(tmp_path))
    assert code == 2
    assert "no plebiscite_ordered before 2026-10-04" in err
    assert f"proposals.csv, line {len(lines)}, column event" in err
    assert (data / "sample/current").resolve() == before
