"""The views of sql/marts over a release of two areas: what each tells, and that all of it is commented."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.rows import row
from transforms.catalog import tables
from transforms.schema import Table
from warehouse import meta, views
from warehouse.build import build

CATALOG = tables()
SEEN = datetime(2026, 11, 30, 5)  # noqa: DTZ001  as DuckDB gives it back: UTC without saying so
A, B = "320010205", "320010210"


def small_release() -> dict[str, list[dict[str, Any]]]:
    """Area A is eligible under one rule set and not under another; area B lacks 500 people."""

    def of(name: str, **given: Any) -> dict[str, Any]:
        declared = CATALOG.get(name) or next(table for table in meta.TABLES if table.name == name)
        return row(declared, **given)

    def result(area: str, requirement: str, **given: Any) -> dict[str, Any]:
        return of("mart.requirement_result", rule_set="lc_1_1967", area_id=area, requirement=requirement, **given)

    def ranked(area: str, rank: int, status: str, rule_set: str = "lc_1_1967") -> dict[str, Any]:
        return of(
            "mart.eligibility", rule_set=rule_set, rank=rank, area_id=area, area_name=f"Area {area[-2:]}",
            status=status, municipality_names="Afonso Cláudio",
        )  # fmt: skip

    people = {"unit": "persons", "source": "ibge_estimates|ibge_census_districts", "comparison": ">"}
    return {
        "core.district": [of("core.district", district_code=A, district_name="Serra Pelada", is_seat=False)],
        "core.district_measure": [
            of("core.district_measure", district_code=A, measure="electorate", value=Decimal(900), unit="voters")
        ],
        "core.area": [of("core.area", area_id=area, area_name=f"Area {area[-2:]}") for area in (A, B)],
        "core.area_measure": [
            of("core.area_measure", area_id=A, measure="population_estimate", value=Decimal(12000), **{
                name: word for name, word in people.items() if name != "comparison"
            })
        ],
        "mart.eligibility": [
            ranked(A, 1, "eligible"), ranked(B, 2, "ineligible"), ranked(A, 1, "ineligible", "bill"),
        ],
        "mart.requirement_result": [
            result(A, "population", status="met", value=Decimal(12000), threshold=Decimal(10000),
                   margin=Decimal("0.2"), **people),
            result(A, "electorate", status="undetermined"),
            result(B, "population", status="not_met", value=Decimal(9500), threshold=Decimal(10000),
                   margin=Decimal("-0.05"), **people),
        ],
        "mart.origin_result": [
            of("mart.origin_result", rule_set="lc_1_1967", area_id=A, municipality_code="3200102",
               municipality_name="Afonso Cláudio", requirement="population", before_value=Decimal(30000),
               after_value=Decimal(18000), threshold=Decimal(10000), verdict="kept")
        ],
        "meta.snapshot": [
            of("meta.snapshot", source="ibge_estimates", part="2025", sha256="ab"),
            of("meta.snapshot", source="ibge_census_districts", part="all", sha256="cd"),
        ],
        "meta.source_freshness": [
            of("meta.source_freshness", source="ibge_estimates", last_good_at=SEEN.replace(tzinfo=UTC)),
            of("meta.source_freshness", source="tse_polling_places", failed_polls=2,
               failing_since=SEEN.replace(day=28, tzinfo=UTC)),
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    path: Path = tmp_path_factory.mktemp("views") / "a.duckdb"
    rows = small_release()
    declared: Sequence[Table] = [*CATALOG.values(), *meta.TABLES]
    frames = {table.name: (table, table.frame(rows.get(table.name, []))) for table in declared}
    build(path, frames, of=views.published())
    with duckdb.connect(str(path), read_only=True) as connection:
        yield connection


def asked(database: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    return database.execute(query).fetchall()


def test_ranking_has_the_verdicts_side_by_side(database: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT rank, area_id, status, population_status, electorate_status, collection_status FROM mart.ranking"
    assert asked(database, f"{query} WHERE rule_set = 'lc_1_1967'") == [
        (1, A, "eligible", "met", "undetermined", None),
        (2, B, "ineligible", "not_met", None, None),
    ]


def test_near_misses_say_what_is_missing(database: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT area_name, requirement, missing, margin FROM mart.near_misses"
    assert asked(database, query) == [("Area 10", "population", Decimal(500), Decimal("-0.05"))]


def test_district_profile_has_each_measure_with_its_words(database: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT district_name, measure, value, unit FROM mart.district_profile"
    assert asked(database, query) == [("Serra Pelada", "electorate", Decimal(900), "voters")]


def test_origin_before_after_says_what_leaves(database: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT before_value, leaves, after_value, unit, verdict FROM mart.origin_before_after"
    assert asked(database, query) == [(Decimal(30000), Decimal(12000), Decimal(18000), "persons", "kept")]


def test_rule_sets_are_compared_area_by_area(database: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT area_id, rule_sets, eligible_under, ineligible_under, verdicts_differ FROM mart.rule_set_comparison"
    assert asked(database, query) == [
        (A, 2, "lc_1_1967", "bill", True),
        (B, 1, None, "lc_1_1967", False),
    ]


def test_source_freshness_tells_since_when_a_source_fails(database: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT source, failing_since, failed_polls, files FROM mart.source_freshness"
    assert asked(database, query) == [
        ("ibge_estimates", None, 1, 1),
        ("tse_polling_places", SEEN.replace(day=28), 2, 0),
    ]


def test_lineage_leads_from_a_figure_to_its_files(database: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT measure, value, source, part, sha256 FROM mart.lineage"
    assert asked(database, query) == [
        ("population_estimate", Decimal(12000), "ibge_census_districts", "all", "cd"),
        ("population_estimate", Decimal(12000), "ibge_estimates", "2025", "ab"),
    ]


def test_views_are_unique_by_their_key(database: duckdb.DuckDBPyConnection) -> None:
    declared = views.declarations([*CATALOG.values(), *meta.TABLES])
    assert len(declared) == len(views.published()) >= 8
    for view in declared:
        key = ", ".join(view.key)
        assert asked(database, f"SELECT {key} FROM {view.name} GROUP BY ALL HAVING count(*) > 1") == [], view.name


def test_everything_in_the_file_is_commented(database: duckdb.DuckDBPyConnection) -> None:
    silent = """
        SELECT schema_name || '.' || table_name || '.' || column_name FROM duckdb_columns()
        WHERE NOT internal AND comment IS NULL
        UNION ALL SELECT schema_name || '.' || table_name FROM duckdb_tables() WHERE comment IS NULL
        UNION ALL SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal AND comment IS NULL
    """
    assert asked(database, silent) == []
    assert asked(database, "SELECT count(*) > 300 FROM duckdb_columns() WHERE NOT internal") == [(True,)]


def test_no_column_needs_quotes(database: duckdb.DuckDBPyConnection) -> None:
    for table in (*CATALOG.values(), *meta.TABLES):
        names = ", ".join(f"t.{name}, max({name})" for name in table.names)
        database.execute(f"SELECT {names} FROM {table.name} AS t GROUP BY ALL")
