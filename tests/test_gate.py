"""The gate: checks derived from declarations, judged by Great Expectations, reported; none passes by accident."""

import json
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import expectations
from expectations import beside, counting, derive, gx, report
from expectations.check import Check, Outcome, Violation
from transforms.errors import ChecksRefused
from transforms.schema import Column, Kind, Table, Unit

DISTRICT = Table(
    name="core.district",
    title="Distritos",
    grain="one row per district and year",
    key=("code", "year"),
    columns=(
        Column("code", Kind.CODE, "IBGE code.", "Código", pattern=r"^\d{9}$"),
        Column("year", Kind.INTEGER, "Year.", "Ano", Unit.COUNT, minimum=2022, maximum=2026),
        Column("kind", Kind.TEXT, "Kind.", "Tipo", values=("seat", "other"), nullable=True),
        Column("population", Kind.INTEGER, "People.", "População", Unit.PERSONS, minimum=0, nullable=True),
        Column("area", Kind.FLOAT, "Area.", "Área", Unit.KM2, minimum=0, nullable=True),
        Column("name", Kind.TEXT, "Name.", "Nome"),
    ),
)
ROW = {"code": "310620010", "year": 2022, "kind": "seat", "population": 5, "area": 1.5, "name": "Alfa"}
SOUND = DISTRICT.frame([ROW, {**ROW, "year": 2023, "kind": None}, {**ROW, "code": "310620015", "population": None}])
HOLDS = Violation("truth", "critical", "reason", "next step")


def judged(frame: pl.DataFrame | pl.LazyFrame, table: Table = DISTRICT, *violations: Violation) -> pl.DataFrame:
    return expectations.judge({table.name: (table, frame)}, violations or (HOLDS,))


def not_passed(results: pl.DataFrame) -> list[tuple[str, ...]]:
    return results.filter(pl.col("status") != "passed").select("check_name", "column_name", "status").rows()


def with_cell(column: str, value: Any) -> pl.DataFrame:
    """The sound table with another value in the first row's cell."""
    rows = SOUND.rows(named=True)
    return pl.DataFrame([{**rows[0], column: value}, *rows[1:]], schema=SOUND.schema)


DEFECTS = {
    "columns": (SOUND.select("code", "year", "population", "kind", "area", "name"), "columns", ""),
    "a column too many": (SOUND.with_columns(extra=pl.lit(1)), "columns", ""),
    "types": (SOUND.cast({"population": pl.Int32}), "types", ""),
    "empty": (SOUND.clear(), "not_empty", ""),
    "key": (pl.concat([SOUND, SOUND.head(1)]), "key", ""),
    "null": (with_cell("name", None), "not_null", "name"),
    "vocabulary": (with_cell("kind", "Seat"), "vocabulary", "kind"),
    "pattern": (with_cell("code", "31062001"), "pattern", "code"),
    "line break after the pattern": (with_cell("code", "310620010\n"), "pattern", "code"),
    "below the range": (with_cell("population", -1), "range", "population"),
    "above the range": (with_cell("year", 2027), "range", "year"),
    "not a number": (with_cell("area", float("nan")), "range", "area"),
}


def test_a_sound_table_passes() -> None:
    results = judged(SOUND)
    assert not_passed(results) == []
    assert results.height == len(derive.checks(DISTRICT)) + 1


@pytest.mark.parametrize("lazy", [False, True], ids=["judged row by row", "counted"])
@pytest.mark.parametrize("defect", DEFECTS)
def test_each_defect_is_named_by_its_check_alone(defect: str, lazy: bool) -> None:
    frame, check, column = DEFECTS[defect]
    assert not_passed(judged(frame.lazy() if lazy else frame)) == [(check, column, "failed")]


@pytest.mark.parametrize("defect", DEFECTS)
def test_both_ways_of_judging_count_alike(defect: str) -> None:
    frame, check, _ = DEFECTS[defect]
    rows, counted = (judged(each).filter(check_name=check, status="failed") for each in (frame, frame.lazy()))
    assert rows["first_keys"].to_list() == counted["first_keys"].to_list()
    if check not in {"columns", "not_empty"}:  # these are about the table, not about rows
        assert rows["failing_rows"].to_list() == counted["failing_rows"].to_list()


def test_large_tables_are_never_turned_into_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a large table reached pandas")

    monkeypatch.setattr(gx, "of_checks", refuse)
    large = SOUND.head(1).drop("year").join(pl.DataFrame({"year": range(2022, 2022 + expectations.LARGE)}), how="cross")
    found = judged(large.select(DISTRICT.names)).filter(status="failed").select("check_name", "failing_rows")
    assert found.rows() == [("range", expectations.LARGE - 5)]


def test_the_first_failing_keys_are_shown() -> None:
    row = judged(with_cell("population", -7)).filter(status="failed").row(0, named=True)
    assert row["first_keys"] == "code=310620010 year=2022 population=-7"
    assert (row["observed"], row["expected"], row["failing_rows"]) == ("1 of 3 rows", "at least 0", 1)


def test_a_table_that_may_be_empty_may_be() -> None:
    assert not_passed(judged(SOUND.clear(), replace(DISTRICT, may_be_empty=True))) == []


def test_case_15_duplicate_reference_rows() -> None:
    reference = Table(
        "core.reference", "Referência", "one row per district", ("code",),
        (Column("code", Kind.CODE, "Code.", "Código"), Column("name", Kind.TEXT, "Name.", "Nome")),
    )  # fmt: skip
    of_2022 = pl.DataFrame({"code": ["310620010", "220890805", "220890805"], "name": ["Alfa", "Sede", "Sede"]})
    for frame in (of_2022, of_2022.lazy()):
        (row,) = judged(frame, reference).filter(status="failed").to_dicts()
        assert (row["check_name"], row["failing_rows"]) == ("key", 2)
        assert row["first_keys"] == "code=220890805; code=220890805"


def test_case_79_a_failed_gate_raises_and_leaves_its_report(tmp_path: Path) -> None:
    results = judged(with_cell("name", None))
    report.write(tmp_path, results)
    with pytest.raises(ChecksRefused, match=r"1 critical check did not pass: not_null core\.district\.name") as refusal:
        report.require(results, tmp_path)
    assert refusal.value.where == str(tmp_path / "checks.txt")
    assert "CRITICAL failed: not_null core.district.name" in (tmp_path / "checks.txt").read_text()
    assert ChecksRefused.exit_code == 3


def test_case_79_warnings_are_published() -> None:
    warning = Violation("truth", "warning", "reason", "next step", rows=pl.DataFrame({"code": ["1"]}))
    results = judged(SOUND, DISTRICT, warning)
    assert not_passed(results) == [("truth", "", "failed")]
    report.require(results)
    assert report.published_with(results) == ["truth: 1 failing rows (checks.txt)"]
    assert report.published_with(judged(SOUND)) == []


def test_case_80_nulls_never_pass_for_values() -> None:
    people = Table(
        "core.people", "Pessoas", "one row per district", ("code",),
        (
            Column("code", Kind.CODE, "Code.", "Código"),
            Column("population", Kind.INTEGER, "People.", "População", Unit.PERSONS, minimum=0, maximum=9),
        ),
    )  # fmt: skip
    nothing = people.frame([{"code": "310620010"}, {"code": "310620015"}])
    assert not_passed(judged(nothing, people)) == [("not_null", "population", "failed")]


def test_case_80_mostly_is_refused() -> None:
    with pytest.raises(ValueError, match="mostly ignores nulls"):
        check("expect_column_values_to_not_be_null", column="ok", mostly=0.61)


def test_case_81_an_empty_table_fails() -> None:
    results = judged(SOUND.clear())
    assert results.filter(status="failed")["expected"].to_list() == ["at least 1 row"]


def test_case_81_a_gate_without_checks_fails() -> None:
    results = expectations.judge({}, [])
    assert not_passed(results) == [("gate_has_tables", "", "error"), ("gate_has_truths", "", "error")]
    with pytest.raises(ChecksRefused):
        report.require(results)


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that leaves out a result without a word, as Great Expectations has been seen to do."""
    validate = gx._validate

    def lost(*arguments: Any) -> Any:
        result = validate(*arguments)
        result.results.pop()
        return result

    monkeypatch.setattr(gx, "_validate", lost)


def test_case_81_fewer_checks_executed_than_expected(forgetful: None) -> None:
    checks = {"a": check("expect_column_to_exist", column="code"), "b": check("expect_column_to_exist", column="name")}
    outcomes = gx.judge([gx.of_checks("core.t", SOUND, checks)]).outcomes
    assert sorted((outcome.status, outcome.observed) for outcome in outcomes.values()) == [
        ("error", "not executed"),
        ("passed", ""),
    ]


def of_counts(failing: dict[str, int]) -> dict[str, Outcome]:
    return gx.of_each(failing, gx.judge([gx.of_counts(failing)]))


def test_case_81_counts_that_were_not_judged_are_errors(forgetful: None) -> None:
    assert of_counts({"a": 0, "b": 0}) == dict.fromkeys("ab", Outcome("error", "not executed"))


def test_counts_are_judged_one_by_one_and_none_passes_by_accident() -> None:
    counts = {"a": 0, "b": 7, "c": 0, "d": 1}
    assert of_counts(counts) == {
        "a": Outcome("passed"),
        "b": Outcome("failed", "7 failing rows", 7),
        "c": Outcome("passed"),
        "d": Outcome("failed", "1 failing rows", 1),
    }
    assert of_counts({"a": 0}) == {"a": Outcome("passed")}
    assert of_counts({}) == {}
    blind = gx.Judged({gx.COUNTED: Outcome("passed")})
    assert {outcome.status for outcome in gx.of_each(counts, blind).values()} == {"error"}


def check(expectation: str, **arguments: Any) -> Check:
    return Check("c", "core.t", "", "critical", "reason", "next step", "expected", expectation, arguments)


def outcome_of(
    frame: pl.DataFrame, expectation: str, parameters: dict[str, Any] | None = None, **arguments: Any
) -> Outcome:
    suite = gx.of_checks("core.t", frame, {"c": check(expectation, **arguments)})
    return gx.judge([suite], parameters or {}).outcomes["c"]


def test_case_82_a_missing_column_is_an_error() -> None:
    frame = pl.DataFrame({"cod_distrito": ["310620010"], "pop": [12_000]})
    outcome = outcome_of(frame, "expect_column_values_to_be_between", column="populacao", min_value=0)
    assert outcome == Outcome("error", "column absent: populacao")
    results = judged(SOUND.drop("population")).filter(column_name="population")
    assert results.select("check_name", "severity", "status", "observed").rows() == [
        ("range", "critical", "error", "column absent: population")
    ]


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"raised_exception": True, "exception_message": "boom", "exception_traceback": ""}, "boom"),
        ({"('metric', 'id')": {"raised_exception": True, "exception_message": "boom"}}, "boom"),
        (
            {"a": {"raised_exception": False}, "b": {"raised_exception": True, "exception_message": None}},
            "unknown exception",
        ),
        ({"raised_exception": False, "exception_message": None, "exception_traceback": None}, ""),
        ({}, ""),
        (None, ""),
    ],
    ids=["flat", "nested", "nested without a message", "none raised", "empty", "absent"],
)
def test_case_82_both_shapes_of_exception_info(info: dict[str, Any] | None, message: str) -> None:
    assert gx.exception(info) == message


def test_case_82_an_erroring_check_is_critical_even_as_a_warning() -> None:
    erring = Violation("truth", "warning", "reason", "next step", error="KeyError: 'x'")
    row = judged(SOUND, DISTRICT, erring).filter(check_name="truth").row(0, named=True)
    assert (row["severity"], row["status"], row["observed"]) == ("critical", "error", "KeyError: 'x'")


def test_an_expectation_that_cannot_be_configured_is_an_error() -> None:
    outcome = outcome_of(SOUND, "expect_what_nobody_knows", column="code")
    assert outcome.status == "error"


def test_case_84_missing_suite_parameter(shared: Path) -> None:
    suite = json.loads((shared / "cases/84-missing-suite-parameter/suite.json").read_text())
    (given,) = suite["expectations"]
    frame = pl.DataFrame({"populacao": [12_000]})
    assert outcome_of(frame, given["type"], **given["kwargs"]) == Outcome("error", "missing parameter: pop_estado")
    for limit, status in ((12_000, "passed"), (11_999, "failed"), (None, "error")):
        assert outcome_of(frame, given["type"], {"pop_estado": limit}, **given["kwargs"]).status == status


def test_a_truth_handed_in_twice_is_a_bug() -> None:
    with pytest.raises(ValueError, match="handed in twice: truth"):
        judged(SOUND, DISTRICT, HOLDS, HOLDS)


def test_results_fit_their_declaration() -> None:
    results = judged(with_cell("kind", "x"))
    assert not_passed(expectations.judge({report.CHECK_RESULT.name: (report.CHECK_RESULT, results)}, [HOLDS])) == []


def test_the_text_begins_with_failures() -> None:
    lines = report.text(judged(with_cell("kind", "x"))).splitlines()
    assert lines[0] == "13 checks: 12 passed, 1 failed, 0 error; 1 critical: nothing may be published"
    assert lines[2:9] == [
        "CRITICAL failed: vocabulary core.district.kind",
        "  expected   one of seat, other",
        "  observed   1 of 3 rows",
        "  first rows code=310620010 year=2022 kind=x",
        "  why        Kind.",
        f"  next step  {derive.NEXT_STEP['core']}",
        "",
    ]


def test_data_docs_load_nothing_from_anywhere(tmp_path: Path) -> None:
    pages: dict[str, str] = {}
    failing = Violation("truth", "warning", "<reason>", "next step", rows=pl.DataFrame({"code": ["<script>"]}))
    results = expectations.judge({DISTRICT.name: (DISTRICT, with_cell("name", None))}, [failing], pages=pages)
    report.write(tmp_path, results, pages)
    site = {path.name: path.read_text() for path in (tmp_path / "docs").iterdir()}
    assert sorted(site) == ["core.district.html", "counted.html", "index.html"]
    for name, page in site.items():
        assert re.findall(r"https?:|//\w|@import|url\(|<(?:script|link|img|iframe)\b", page) == [], name
        assert set(re.findall(r'\b(?:src|href)="([^"]*)"', page)) <= set(site)
    assert "&lt;script&gt;" in site["index.html"]
    assert "values must never be null" in re.sub(r"<[^>]+>", "", site["core.district.html"])


def test_counting_says_what_is_absent() -> None:
    checks = {"range": next(one for one in derive.checks(DISTRICT) if one.column == "population")}
    counts, errors = counting.failing_rows(SOUND.lazy().drop("population"), checks)
    assert (counts, errors) == ({}, {"range": Outcome("error", "column absent: population")})


def test_threads_do_not_mix_what_they_judge() -> None:
    """States are judged at once, each in a thread."""

    def one(number: int) -> pl.DataFrame:
        column = Column(f"c{number}", Kind.INTEGER, "d", "l", Unit.COUNT)
        return judged(
            pl.DataFrame({column.name: [1, 2]}), Table(f"core.t{number}", "t", "g", (column.name,), (column,))
        )

    with ThreadPoolExecutor(3) as pool:
        assert set(pl.concat(pool.map(one, range(6)))["status"]) == {"passed"}


def test_a_judge_that_dies_fails_the_gate_and_the_next_run_has_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gx, "of_counts", lambda _: Deadly("counted", SOUND, {"counted": ("", {}, "")}))
    results = judged(SOUND)
    assert set(results["status"]) == {"error"}
    assert set(results["severity"]) == {"critical"}
    assert "ended before it had answered" in results["observed"][0]
    monkeypatch.undo()
    assert not_passed(judged(SOUND)) == []


def test_a_judge_that_ended_while_nobody_asked_is_replaced() -> None:
    judged(SOUND)
    process = beside._judge(os.getpid()).process
    process.kill()
    process.wait()
    assert not_passed(judged(SOUND)) == []


def test_a_judge_that_hangs_is_not_waited_for_and_passes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    judged(SOUND)
    os.kill(beside._judge(os.getpid()).process.pid, signal.SIGSTOP)
    monkeypatch.setattr(beside, "PATIENCE", 0.3)  # nor is the next one given the time to import
    assert set(judged(SOUND)["status"]) == {"error"}
    monkeypatch.undo()
    assert not_passed(judged(SOUND)) == []


def test_an_interrupted_question_leaves_no_answer_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(judge: beside.Judge, suites: Any) -> None:
        judge.line.send(suites)
        raise KeyboardInterrupt

    monkeypatch.setattr(beside.Judge, "ask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        judged(SOUND)
    monkeypatch.undo()
    assert not_passed(judged(with_cell("name", None))) == [("not_null", "name", "failed")]


class Deadly(gx.Suite):
    """A suite that ends the process that reads it, as a kill for want of memory would."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)
