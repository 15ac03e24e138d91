"""What is read and counts in no figure is counted; what a source's own dates say of how far its data reach."""

from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

from tests.rows import row
from transforms.catalog import sources, tables
from transforms.core import polling_place
from transforms.core.left_out import left_out, sentences
from transforms.published_through import published_through
from transforms.sources import Scope
from warehouse.freshness import freshness
from warehouse.snapshots import Answer, Poll, Store

AP = Scope("AP", date(2026, 11, 30))
SECTION, HAND = "staging.tse_polling_places__section", "staging.inputs_polling_place_districts__place"
COLLECTION = "staging.inputs_collections__collection"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def staged(**rows: list[dict[str, object]]) -> dict[str, pl.LazyFrame]:
    given = {SECTION: rows.get("sections", []), HAND: rows.get("hand", []), COLLECTION: rows.get("collections", [])}
    return {
        name: table.frame(row(table, **cells) for cells in given.get(name, [])).lazy()
        for name, table in tables().items()
        if table.schema_name == "staging"
    }


def test_every_kind_of_row_that_does_not_count_is_counted() -> None:
    section = {"uf": "AP", "tse_municipality_code": "06050", "zone": "2", "voters": 300, "lines": 1}
    frames = staged(
        sections=[
            section | {"section": "1", "lines": 3},
            section | {"section": "2", "voters": None},
            section | {"section": "3", "uf": "ZZ", "voters": 40, "lines": 2},
            section | {"section": "4", "uf": "VT", "voters": 7},
        ],
        hand=[
            {"municipality_code": "1600303", "zone": "2", "place": place, "line": line}
            for line, place in ((2, "10"), (3, "99"))
        ],
        collections=[
            {"uf": "AP", "fiscal_year": year, "place_code": "16", "line": year} for year in (2023, 2024, 2025)
        ],
    )
    known = polling_place.TABLE.frame(
        [row(polling_place.TABLE, municipality_code="1600303", zone="2", place="10", uf="AP")]
    )
    found = left_out(frames, known, AP)
    assert found.select("source", "rows", "voters").rows() == [
        ("inputs_collections", 2, None),
        ("inputs_polling_place_districts", 1, None),
        ("tse_polling_places", 2, None),
        ("tse_polling_places", 1, None),
        ("tse_polling_places", 1, 40),
        ("tse_polling_places", 1, 7),
    ]
    assert sentences(found)[-2:] == [
        "tse_polling_places: left out: voters abroad (ZZ): 1 rows, 40 voters",
        "tse_polling_places: left out: voters in transit (VT): 1 rows, 7 voters",
    ]


def test_nothing_left_out_is_an_empty_table() -> None:
    whole = staged(sections=[{"uf": "AP", "section": "1", "voters": 5}])
    assert left_out(whole, polling_place.TABLE.frame(), AP).is_empty()


def test_sources_say_themselves_through_which_day_they_speak() -> None:
    frames = staged(sections=[{"uf": "AP", "section": str(day), "generated_on": date(2026, 10, day)} for day in (3, 5)])
    estimates = tables()["staging.ibge_estimates__population"]
    frames[estimates.name] = estimates.frame(
        row(estimates, location_code=code, year=year) for code, year in (("16", 2024), ("15", 2025))
    ).lazy()
    deliveries = tables()["staging.siconfi_revenue__delivery"]
    frames[deliveries.name] = deliveries.frame([row(deliveries, status_at=NOON)]).lazy()
    assert published_through(sources().values(), frames) == {
        "tse_polling_places": date(2026, 10, 5),
        "ibge_estimates": date(2025, 7, 1),
        "siconfi_revenue": NOON.date(),
    }


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://f/Agregados_por_distritos_basico_BR_20260520.zip", date(2026, 5, 20)),
        ("https://f/Agregados_por_distritos_basico_BR.zip", None),
        ("https://f/32_ES.zip", None),
    ],
)
def test_a_dated_name_says_so_where_the_data_do_not(url: str, day: date | None, tmp_path: Path) -> None:
    source = sources()["ibge_census_districts"]
    store = Store(tmp_path)
    answers = (Answer("basico.zip", url, store.put(b"x"), 1, "zip", NOON),)
    store.poll(Poll(source.name, "", AP.as_of, NOON, "ok", answers))
    (told,) = freshness(store, [source], NOON, "AP")
    assert told["published_through"] == day
    (better,) = freshness(store, [source], NOON, "AP", {source.name: date(2026, 11, 1)})
    assert better["published_through"] == date(2026, 11, 1)
