"""What changed between two releases: the flip first, with the cause that fits, then figures, then coverage."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from flows.cli import call
from tests.rows import row
from transforms.catalog import tables
from transforms.errors import UsageError
from warehouse import diff, release
from warehouse.build import Tables

AREA = "320010210"
CATALOG = tables()


def write(folder: Path, *, people: int = 9500, status: str = "not_met", **facts: Any) -> Path:
    """A release of one area judged on its population, from an estimate."""
    folder.mkdir(parents=True)
    verdict = {"met": "eligible", "not_met": "ineligible", "undetermined": "undetermined"}[status]
    period = facts.get("period", "2024-07-01")
    result = {
        "rule_set": "lc_1_1967", "area_id": AREA, "requirement": "population", "status": status,
        "value": Decimal(people), "source": "ibge_estimates", "reference_period": period,
        "threshold": facts.get("threshold", Decimal(10000)),
    }  # fmt: skip
    rows: dict[str, list[dict[str, Any]]] = {
        "mart.eligibility": [
            {"rule_set": "lc_1_1967", "area_id": AREA, "area_name": "Lajinha", "status": verdict},
            {"rule_set": "lc_1_1967", "area_id": "other", "rank": facts.get("other_rank", 2)},
        ],
        "mart.requirement_result": [result],
        "core.area": [{"area_id": AREA, "area_name": "Lajinha"}, *facts.get("areas", [])],
        "core.area_measure": [
            {"area_id": AREA, "measure": "population_estimate", "value": Decimal(people), "reference_period": period}
        ],
        "core.state": [{"uf": "ES", "population_estimate": 4_000_000}],
        "core.state_revenue": [{"state_code": "32", "variant": "gross", "value": Decimal("19000000000.00")}],
        "core.district": [{"district_code": AREA, "district_name": "Lajinha"}],
        "core.municipality": [{"municipality_code": "3200102", "municipality_name": "Pancas"}],
    }
    content: Tables = {
        name: (CATALOG[name], CATALOG[name].frame([row(CATALOG[name], **given) for given in found]))
        for name, found in rows.items()
    }
    release.write_parquet(folder, content, {})
    files = {"ibge_estimates": "aa", "tse_polling_places": "bb"} | facts.get("files", {})
    manifest = {
        "id": folder.name,
        "uf": facts.get("uf", "ES"),
        "as_of": facts.get("as_of", "2026-11-30"),
        "code": facts.get("code", "c1"),
        "rule_sets": [{"id": "lc_1_1967", "sha256": facts.get("rule", "r1")}],
        "snapshots": [{"source": source, "part": "all", "sha256": sha256} for source, sha256 in files.items()],
        "counts": {name: len(found) for name, found in rows.items()},
    }
    (folder / "release.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def rows_of(found: pl.DataFrame, section: str, *columns: str) -> list[tuple[Any, ...]]:
    return found.filter(pl.col("section") == section).select(columns).rows()


def test_nothing_changed(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one"), write(tmp_path / "two")
    assert diff.write(two, one).is_empty()
    text = (two / "diff.md").read_text(encoding="utf-8")
    assert "Compared with one." in text
    assert text.count("no change") == 3


def test_the_first_release_says_so(tmp_path: Path) -> None:
    one = write(tmp_path / "one")
    diff.write(one, None)
    assert "This is the first release of ES" in (one / "diff.md").read_text(encoding="utf-8")
    assert (one / "diff.csv").read_text(encoding="utf-8") == ",".join(diff.DIFFERENCE.names) + "\n"


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        ({"files": {"ibge_estimates": "a2", "tse_polling_places": "b2"}}, "revised source: ibge_estimates"),
        (
            {"files": {"ibge_estimates": "a2"}, "period": "2025-07-01"},
            "new reference period: 2024-07-01 → 2025-07-01; revised source: ibge_estimates",
        ),
        ({"rule": "r2"}, "changed rule: lc_1_1967"),
        ({"code": "c2"}, "changed program"),
        ({"rule": "r2", "code": "c2"}, "changed rule: lc_1_1967; changed program"),
        ({"as_of": "2026-12-31"}, "later date"),
        ({"files": {"siconfi_revenue": "s1"}, "threshold": Decimal(9000)}, "revised source: siconfi_revenue"),
        ({}, "unexplained"),
    ],
    ids=["source", "period", "rule", "code", "rule and code", "date", "threshold", "nothing"],
)
def test_a_flip_names_its_cause(tmp_path: Path, facts: dict[str, Any], cause: str) -> None:
    one = write(tmp_path / "one")
    two = write(tmp_path / "two", people=10_500, status="met", **facts)
    found = diff.write(two, one)
    assert rows_of(found, "verdict", "table_name", "item", "name", "field", "before", "after", "cause") == [
        ("mart.eligibility", AREA, "Lajinha", "status", "ineligible", "eligible", f"population: {cause}"),
        ("mart.requirement_result", AREA, "Lajinha", "status", "not_met", "met", cause),
    ]
    text = (two / "diff.md").read_text(encoding="utf-8")
    assert "## Verdicts: 2 changes, 1 in the status of an area" in text
    assert f"| Lajinha ({AREA}) | ineligible | eligible | population: {cause} |" in text
    assert text.index("## Verdicts") < text.index("## Figures") < text.index("## Coverage")


def test_a_rank_alone_changes_because_others_do_and_comes_after_the_verdicts(tmp_path: Path) -> None:
    one = write(tmp_path / "one")
    two = write(tmp_path / "two", status="undetermined", rule="r2", other_rank=1)
    found = diff.write(two, one)
    assert rows_of(found.filter(field="rank"), "verdict", "item", "before", "after", "cause") == [
        ("other", "2", "1", "other areas moved")
    ]
    lines = [line for line in (two / "diff.md").read_text(encoding="utf-8").splitlines() if "lc_1_1967" in line]
    assert ["status" in line.split("|")[1] for line in lines] == [True, True]
    assert "1 rank changed because other areas moved: see diff.csv." in (two / "diff.md").read_text(encoding="utf-8")


def test_figures_and_files_that_moved_are_listed(tmp_path: Path) -> None:
    one = write(tmp_path / "one")
    two = write(tmp_path / "two", people=9600, files={"ibge_estimates": "a2", "ibge_addresses": "new"})
    found = diff.write(two, one)
    assert rows_of(found, "verdict", "item") == []
    assert rows_of(found, "figure", "item", "detail", "field", "before", "after") == [
        (AREA, "population_estimate", "value", "9500", "9600")
    ]
    assert rows_of(found, "coverage", "item", "detail", "field", "before", "after") == [
        ("ibge_addresses", "all", "sha256", None, "new"),
        ("ibge_estimates", "all", "sha256", "aa", "a2"),
    ]


def test_areas_that_come_and_go_are_coverage(tmp_path: Path) -> None:
    one = write(tmp_path / "one", areas=[{"area_id": "old", "area_name": "Velha"}])
    two = write(tmp_path / "two", areas=[{"area_id": "new", "area_name": "Nova"}])
    found = diff.write(two, one)
    assert rows_of(found, "coverage", "item", "name", "before", "after") == [
        ("new", "Nova", None, "present"),
        ("old", "Velha", "present", None),
    ]


def test_a_table_or_column_the_older_release_lacks_is_no_error(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one"), write(tmp_path / "two")
    (one / "parquet/core.state_revenue.parquet").unlink()
    path = one / "parquet/core.area_measure.parquet"
    pl.read_parquet(path).drop("evidence").write_parquet(path)
    found = diff.differences(diff.read(one), diff.read(two))
    assert rows_of(found, "figure", "item", "field", "before", "after") == [(AREA, "evidence", None, "certified")]


def test_two_states_are_not_compared(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one"), write(tmp_path / "two", uf="CE")
    with pytest.raises(UsageError, match="two states, ES and CE"):
        diff.write(two, one)


def test_a_long_section_is_cut_with_a_pointer(tmp_path: Path) -> None:
    areas = [{"area_id": f"a{n:03}", "area_name": f"A{n}"} for n in range(diff.SHOWN + 5)]
    one, two = write(tmp_path / "one"), write(tmp_path / "two", areas=areas)
    found = diff.write(two, one)
    text = (two / "diff.md").read_text(encoding="utf-8")
    hidden = found.height - diff.SHOWN
    assert hidden > 0
    assert f"{hidden} more: see diff.csv." in text
    assert len((two / "diff.csv").read_text(encoding="utf-8").splitlines()) == found.height + 1


def test_printed_it_fits_80_columns_and_points_only_to_a_file_that_holds_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    areas = [{"area_id": f"a{n:03}", "area_name": f"Área de nome comprido {n}"} for n in range(diff.SHOWN + 5)]
    releases = tmp_path / "releases"
    for name, more in (("r0", {}), ("r1", {"files": {"ibge_estimates": "b" * 64}}), ("r2", {"areas": areas})):
        write(releases / name, **more)
        manifest = json.loads((releases / name / "release.json").read_text(encoding="utf-8"))
        manifest |= {"id": name, "predecessor": f"r{int(name[1]) - 1}"}
        (releases / name / "release.json").write_text(json.dumps(manifest), encoding="utf-8")
    told = {}
    for before in ("r0", "r1"):
        assert call(["diff", before, "r2", "--data", str(tmp_path)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if len(line) > 80 and " " in line.strip()] == []
        told[before] = " ".join(" ".join(lines).split())
    assert "emancipa diff r0 r2 --json prints all." in told["r0"]
    assert "diff.csv" not in told["r0"]
    assert "more: see" in told["r1"]
    assert "releases/r2/diff.csv" in told["r1"]
    assert call(["diff", "r0", "r1", "--data", str(tmp_path)]) == 0
    assert "ibge_estimates aa bbbbbbbb…" in " ".join(capsys.readouterr().out.split())
