"""The only door to Great Expectations: pandas frames and checks in, outcomes and Data Docs pages out.

What a reader must not break: whatever Great Expectations does not plainly pass is a failure or an error here.
It leaves results out without a word, nests its exceptions in two shapes, passes empty suites and drops a whole
suite over one missing parameter; every check asked for has an outcome, and only a clean success passes.

It is imported when the first suite is judged, in a process of its own (`beside.py`). The collector is paused
meanwhile: it would walk a growing heap of classes over and over, a fifth of the import's time.
"""

import gc
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import polars as pl

from expectations.check import Check, Outcome

if TYPE_CHECKING:
    from great_expectations.core import ExpectationSuiteValidationResult, ExpectationValidationResult
    from great_expectations.core.batch_definition import BatchDefinition

ROW = "check"  # a column that names the rows, where there is one
COUNTED = "counted"
_judging = threading.Lock()  # it knows one batch at a time: of two judged at once, each would be given the other's


@dataclass(frozen=True, slots=True)
class Suite:
    """One frame and what is expected of it. `expectations` maps an id to Great Expectations' type and arguments."""

    name: str
    frame: pl.DataFrame
    expectations: Mapping[str, tuple[str, Mapping[str, Any], str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """An outcome for each expectation, and by suite its Data Docs page (raw)."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)


def of_checks(name: str, frame: pl.DataFrame, checks: Mapping[str, Check]) -> Suite:
    """A suite that judges the rows of a small table themselves."""
    return Suite(
        name,
        frame,
        {key: (check.expectation, check.arguments, check.reason) for key, check in checks.items()},
    )


def of_counts(failing: Mapping[str, int]) -> Suite:
    """A suite that asks whether numbers of failing rows, by check, are zero: one expectation over all of them, for
    each costs as much as the rows of a small table.
    """
    frame = pl.DataFrame(list(failing.items()), schema={ROW: pl.String, "failing_rows": pl.Int64}, orient="row")
    none = {"column": "failing_rows", "min_value": 0, "max_value": 0}
    reason = "no row fails any of the checks that are counted"
    return Suite(COUNTED, frame, {COUNTED: ("expect_column_values_to_be_between", none, reason)})


def of_each(failing: Mapping[str, int], judged: Judged) -> dict[str, Outcome]:
    """What the verdict over all counts says of each check. Counts it does not name as they are: all are errors."""
    outcome = judged.outcomes[COUNTED]
    if outcome.status != "error" and set(outcome.rows) != {key for key, rows in failing.items() if rows}:
        outcome = Outcome("error", f"other counts were judged than there are: {', '.join(outcome.rows) or 'none'}")
    if outcome.status == "error":
        return dict.fromkeys(failing, outcome)
    return {
        key: Outcome("failed", f"{rows} failing rows", rows) if key in outcome.rows else Outcome("passed")
        for key, rows in failing.items()
    }


def judge(suites: Sequence[Suite], parameters: Mapping[str, Any] = MappingProxyType({})) -> Judged:
    """Every suite's outcomes and page. A suite that cannot be judged is an error of each of its expectations."""
    judged = Judged()
    for suite in suites:
        with _judging:
            outcomes, page = _judged(suite, parameters)
        judged.outcomes.update((key, outcomes.get(key, Outcome("error", "not executed"))) for key in suite.expectations)
        if page:
            judged.pages[suite.name] = page
    return judged


def _judged(suite: Suite, parameters: Mapping[str, Any]) -> tuple[dict[str, Outcome], str]:
    outcomes = {
        key: Outcome("error", f"missing parameter: {missing}")
        for key, (_, arguments, _) in suite.expectations.items()
        if (missing := _missing(arguments, parameters))
    }
    asked = {key: what for key, what in suite.expectations.items() if key not in outcomes}
    try:
        result = _validate(suite.name, suite.frame, asked, parameters)
    except Exception as error:  # noqa: BLE001 whatever goes wrong in the judge is a failure of the gate
        return outcomes | {key: Outcome("error", f"{type(error).__name__}: {error}") for key in asked}, ""
    for one in result.results:
        key = one.expectation_config.meta["key"] if one.expectation_config else ""
        outcomes[key] = _outcome(one, suite.frame.columns)
    return outcomes, _page(result)


@cache
def batches() -> "BatchDefinition[Any]":
    """Where every frame enters: one asset for all, for each new one is written to a store."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        import great_expectations as gx
        from great_expectations.data_context.types.base import ProgressBarsConfig

        gc.freeze()
    finally:
        if collecting:
            gc.enable()
    context = gx.get_context(mode="ephemeral", project_config=_in_memory())
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    asset = context.data_sources.add_pandas("emancipa").add_dataframe_asset("table")
    return asset.add_batch_definition_whole_dataframe("whole")


def _in_memory() -> Any:
    """A configuration that writes nothing: the default one makes a folder for Data Docs in /tmp for each run."""
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
    )

    return DataContextConfig(store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False))


def _validate(
    name: str,
    frame: pl.DataFrame,
    expectations: Mapping[str, tuple[str, Mapping[str, Any], str]],
    parameters: Mapping[str, Any],
) -> "ExpectationSuiteValidationResult":
    whole = batches()
    from great_expectations.core import ExpectationSuite
    from great_expectations.expectations.expectation_configuration import (
        ExpectationConfiguration,
    )

    configured = [
        ExpectationConfiguration(type=kind, kwargs=dict(arguments), meta={"key": key}, notes=reason)
        for key, (kind, arguments, reason) in expectations.items()
    ]
    batch = whole.get_batch({"dataframe": frame.to_pandas(use_pyarrow_extension_array=True)})
    suite = ExpectationSuite(name=name, expectations=[one.to_domain_obj() for one in configured])
    from pandas import NA

    shape: dict[str, Any] = {"result_format": "BASIC"}
    if ROW in frame.columns:
        shape = {"result_format": "COMPLETE", "unexpected_index_column_names": [ROW]}
    result = batch.validate(suite, result_format=shape, expectation_parameters=dict(parameters))
    for one in result.results:  # pandas' NA has no truth value, over which the renderer stumbles
        if "partial_unexpected_list" in one.result:
            listed = one.result["partial_unexpected_list"]
            one.result["partial_unexpected_list"] = [None if value is NA else value for value in listed]
    return result


def _missing(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    """The parameters that an expectation needs and nobody gave, by name."""
    needed = (value["$PARAMETER"] for value in arguments.values() if isinstance(value, dict) and "$PARAMETER" in value)
    return ", ".join(sorted(name for name in needed if parameters.get(name) is None))


def _outcome(result: "ExpectationValidationResult", columns: Iterable[str]) -> Outcome:
    arguments = result.expectation_config.kwargs if result.expectation_config else {}
    named = [arguments["column"]] if "column" in arguments else arguments.get("column_list", [])
    exact = result.expectation_config and result.expectation_config.type == "expect_table_columns_to_match_ordered_list"
    if not exact and (absent := [name for name in named if name not in set(columns)]):
        return Outcome("error", f"column absent: {', '.join(absent)}")
    if raised := exception(result.exception_info):
        return Outcome("error", raised)
    if result.success:
        return Outcome("passed")
    if not result.result:
        return Outcome("error", "no result")
    found = result.result
    if (failing := found.get("unexpected_count")) is not None:
        rows = tuple(row[ROW] for row in found.get("unexpected_index_list") or () if ROW in row)
        return Outcome("failed", f"{failing} of {found['element_count']} rows", int(failing), rows)
    return Outcome("failed", _shown(found.get("observed_value")))


def exception(info: Mapping[str, Any] | None) -> str:
    """The messages in an `exception_info`, flat or nested under the ids of metrics; empty when nothing was raised."""
    flat = [info] if info and "raised_exception" in info else list((info or {}).values())
    return "; ".join(
        str(one.get("exception_message") or "unknown exception").strip()
        for one in flat
        if isinstance(one, Mapping) and one.get("raised_exception")
    )


def _shown(observed: object) -> str:
    return ", ".join(map(str, observed)) if isinstance(observed, list) else str(observed)


def _page(result: "ExpectationSuiteValidationResult") -> str:
    from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer

    return str(_view().render(ValidationResultsPageRenderer(run_info_at_end=True).render(result)))


@cache
def _view() -> Any:
    """One view for all pages: each new one would compile its templates again."""
    from great_expectations.render.view.view import DefaultJinjaPageView

    return DefaultJinjaPageView()
