"""That what index.html says is compared (test_page_figures.py) can fail: one altered cell of a table is noticed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from tests import test_page_figures as figures
from tests.page_published import Published, of_sample_with_more

SHEETS = figures.test_every_line_of_the_sheets_is_the_marts
PETITIONS = figures.test_each_petition_tells_its_stages
SOURCES = figures.test_each_source_tells_its_dates_and_whether_it_is_stale

# Table → what compares it, what of it is shown, and of which of its rows one is altered.
SHOWN: Mapping[str, tuple[Callable[[Published], None], str, Mapping[str, str]]] = {
    "mart.requirement_result": (
        SHEETS,
        "article low value high threshold margin status indication evidence method source reason",
        {"requirement": "collection"},
    ),
    "mart.origin_result": (
        SHEETS,
        "municipality_name before_low before_value before_high after_low after_value after_high threshold verdict",
        {"requirement": "population"},
    ),
    "mart.eligibility": (
        figures.test_every_cell_of_the_ranking_is_the_marts,
        "rank area_name municipality_names status likely smallest_margin",
        {},
    ),
    "mart.sensitivity": (
        SHEETS,
        "measure direction amount unit share becomes sure_amount note",
        {"status": "eligible"},
    ),
    "mart.pending": (
        figures.test_each_pending_fact_stands_under_what_is_to_be_asked,
        "area_id area_name reason ask",
        {},
    ),
    "mart.joint_departure": (
        figures.test_each_set_that_can_leave_together_is_told,
        "municipality_name area_names viable_areas verdict is_exact",
        {"areas": "2"},
    ),
    "mart.viable_group": (SHEETS, "district_names likely", {}),
    "mart.name_check": (SHEETS, "name uf municipality_name", {"kind": "district"}),
    "mart.proposal_stage": (PETITIONS, "area_name stage article status due_on reason next_step", {}),
    "mart.no_candidate": (figures.test_municipalities_without_candidates_are_named, "municipality_name reason", {}),
    "core.polling_place": (SHEETS, "place_name voters method flags", {"district_code": "320332010", "flags": "border"}),
    "core.urban_cluster": (SHEETS, "cluster_id low value high method", {"district_codes": "320495525"}),
    "core.district": (
        figures.test_the_map_has_each_district_once_in_the_colour_of_its_status,
        "district_code district_name municipality_name",
        {},
    ),
    "core.proposal": (PETITIONS, "outcome last_event_on", {"outcome": "rejected"}),
    "core.state_revenue": (SOURCES, "fiscal_year variant value method source", {}),
    "meta.source_freshness": (SOURCES, "published_through last_good_at is_stale", {"source": "ibge_estimates"}),
    "meta.snapshot": (SOURCES, "url sha256 fetched_at", {}),
    "meta.check_result": (
        figures.test_the_checks_are_counted_and_those_with_reservations_named,
        "check_name failing_rows",
        {"status": "failed"},
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_one_altered_cell_of_a_table_is_noticed(name: str) -> None:
    compare, columns, wanted = SHOWN[name]
    whole = of_sample_with_more()
    for column in columns.split():
        altered = replace(whole, known={**whole.known})
        found = [dict(row) for row in altered.rows(name)]
        one = next(row for row in found if row[column] and wanted.items() <= row.items())
        one[column] = other(one[column])
        altered.known[name] = found
        with pytest.raises((AssertionError, KeyError, IndexError, ValueError)):
            compare(altered)


def other(text: str) -> str:
    """The last digit another one (of a moment, that of its day), else a letter more."""
    opposite = {"true": "false", "false": "true", "decrease": "increase", "increase": "decrease"}
    if text in opposite:
        return opposite[text]
    last = re.search(r"\d(?=T\d\d:|[^\d]*$)", text)
    return f"{text[: last.start()]}{(int(last[0]) + 1) % 10}{text[last.end() :]}" if last else f"{text}x"
