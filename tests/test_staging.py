"""The parse cache: what is parsed again and when, what is refused, and what of it is published."""

from collections.abc import Callable, Generator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pytest

from transforms.columns import MUNICIPALITY
from transforms.errors import EmancipaError, SourceChanged, SourceUnsound, UsageError
from transforms.schema import Column, Kind, Table, Unit
from transforms.sources import Request, Scope, Source, Staged
from warehouse import staging
from warehouse.snapshots import Answer, Poll, Store
from warehouse.staging import of_state, published, stage, sweep

SCOPE = Scope("ES", date(2026, 11, 30))
NOW = datetime(2026, 11, 30, 5, tzinfo=UTC)
PEOPLE = Column("people", Kind.INTEGER, "Residents.", "População", Unit.PERSONS, nullable=True)
TABLE = Table("staging.test__place", "Lugar", "One row.", (MUNICIPALITY.name,), (MUNICIPALITY, PEOPLE))
NAME = TABLE.name


def parse(file: BinaryIO) -> pl.DataFrame:
    rows = [line.split(",") for line in file.read().decode().split()]
    return pl.DataFrame(rows, schema=["municipality_code", "people"], orient="row").with_columns(
        pl.when(pl.col(pl.String) != "").then(pl.col(pl.String))
    )


def conversation(_: Scope) -> Generator[Request, BinaryIO | None]:
    yield Request("all", "/all")


def source(parser: Callable[[BinaryIO], pl.DataFrame] = parse, **changes: object) -> Source:
    made = Source(
        name="test", title="T", publisher="P", home_page="", licence="", cadence="", stale_after=1, base="tse",
        encoding="utf-8", conversation=conversation, tables=(Staged(TABLE, "places", parser),),
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def poll(store: Store, **parts: str) -> Poll:
    answers = (
        Answer(part, "u", store.put(content.encode()), len(content), "csv", NOW) for part, content in parts.items()
    )
    return Poll("test", "", SCOPE.as_of, NOW, "ok", tuple(answers))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "raw")


def test_the_parts_of_a_table_are_read_together(store: Store, tmp_path: Path) -> None:
    answers = poll(store, places_b="3200102,5", places_a="3200136, 3200169,7", other="x")
    rows = stage(store, [(source(), answers)], tmp_path / "staging")[NAME].collect()
    assert rows.sort("municipality_code").rows() == [("3200102", 5), ("3200136", None), ("3200169", 7)]
    assert rows.schema == pl.Schema(TABLE.schema)


def test_a_table_without_answers_is_empty_and_typed(store: Store, tmp_path: Path) -> None:
    rows = stage(store, [(source(), poll(store))], tmp_path / "staging")[NAME].collect()
    assert rows.is_empty()
    assert rows.schema == pl.Schema(TABLE.schema)


def test_an_answer_is_parsed_once_until_parser_or_declaration_change(store: Store, tmp_path: Path) -> None:
    calls = []

    def counting(file: BinaryIO) -> pl.DataFrame:
        calls.append(1)
        return parse(file)

    answers = poll(store, places="3200102,5")
    for staged in (
        Staged(TABLE, "places", counting),
        Staged(TABLE, "places", counting),
        Staged(TABLE, "places", counting, version=2),
        Staged(replace(TABLE, grain="Another."), "places", counting),
    ):
        stage(store, [(source(tables=(staged,)), answers)], tmp_path / "staging")
    assert len(calls) == 3


def test_an_answer_shared_by_two_states_counts_once(store: Store, tmp_path: Path) -> None:
    answers = poll(store, places="3200102,5")
    rows = stage(store, [(source(), answers), (source(), answers)], tmp_path / "staging")[NAME]
    assert rows.collect().height == 1


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"places": "3200102,5 3200102,6"}, r"same key \(municipality_code\) twice: \('3200102',\)"),
        ({"places_a": "3200102,5", "places_b": "3200102,6"}, "test: places_a, places_b"),
        ({"places": "3200102,many"}, "rows do not fit"),
        ({"places": ",5"}, "municipality_code is empty"),
    ],
    ids=["twice in a part", "twice across parts", "wrong type", "null"],
)
def test_rows_that_break_the_declaration_are_a_changed_source(
    store: Store, tmp_path: Path, parts: dict[str, str], said: str
) -> None:
    with pytest.raises(SourceChanged, match=said):
        stage(store, [(source(), poll(store, **parts))], tmp_path / "staging")
    with pytest.raises(UsageError, match=said):
        stage(store, [(source(base="inputs"), poll(store, **parts))], tmp_path / "staging")


def test_an_answer_without_rows_is_no_news_unless_the_table_may_be_empty(store: Store, tmp_path: Path) -> None:
    nothing = poll(store, places=" ")
    with pytest.raises(SourceUnsound, match=r"no row for staging.test__place \[test, places, snapshot"):
        stage(store, [(source(), nothing)], tmp_path / "staging")
    may_be_empty = Staged(replace(TABLE, may_be_empty=True), "places", parse)
    for allowed in (source(tables=(may_be_empty,)), source(base="inputs")):
        assert stage(store, [(allowed, nothing)], tmp_path / "staging")[NAME].collect().is_empty()


def test_a_parsers_own_error_says_where(store: Store, tmp_path: Path) -> None:
    def refusing(_: BinaryIO) -> pl.DataFrame:
        raise SourceChanged("no such column")

    answers = poll(store, places="x")
    with pytest.raises(EmancipaError, match=rf"test, places, snapshot {answers.answers[0].sha256[:12]}"):
        stage(store, [(source(refusing), answers)], tmp_path / "staging")
    assert list((tmp_path / "staging").rglob("*.parquet")) == []


@pytest.mark.parametrize(
    ("name", "codes", "kept"),
    [
        ("uf", ["ES", "CE", "ZZ"], ["ES"]),
        ("state_code", ["32", "23"], ["32"]),
        ("sector_code", ["320010205000001", "230010205000001"], ["320010205000001"]),
        ("location_code", ["32", "3200102", "23"], ["32", "3200102"]),
        ("area_id", ["32", "23"], ["32", "23"]),
    ],
)
def test_only_the_rows_of_the_state_are_published(name: str, codes: list[str], kept: list[str]) -> None:
    table = Table("staging.x", "X", "One.", (name,), (Column(name, Kind.CODE, "C.", "C"),))
    assert of_state(pl.LazyFrame({name: codes}), table, SCOPE).collect()[name].to_list() == kept


def test_geometry_and_huge_tables_stay_in_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "LARGEST", 2)
    shape = Column("geometry", Kind.BINARY, "G.", "G")
    declared = {
        "staging.mesh": Table("staging.mesh", "M", "One.", (MUNICIPALITY.name,), (MUNICIPALITY, shape)),
        "staging.small": replace(TABLE, name="staging.small"),
        "staging.huge": replace(TABLE, name="staging.huge"),
    }
    staged = {
        "staging.mesh": pl.LazyFrame({"municipality_code": ["3200102"], "geometry": [b""]}),
        "staging.small": pl.LazyFrame({"municipality_code": ["3200102"] * 2 + ["2300101"], "people": [1, 2, 3]}),
        "staging.huge": pl.LazyFrame({"municipality_code": ["3200102"] * 3, "people": [1, 2, 3]}),
    }
    tables, left_out = published(staged, declared, SCOPE)
    assert left_out == ["staging.huge", "staging.mesh"]
    assert list(tables) == ["staging.small"]
    assert tables["staging.small"][1].lazy().collect().height == 2


def test_sweeping_removes_what_is_idle_and_halves_of_killed_runs(store: Store, tmp_path: Path) -> None:
    cache = tmp_path / "staging"
    stage(store, [(source(), poll(store, places="3200102,5"))], cache)
    (half,) = [cache / NAME / ".half-1-1"]
    half.touch()
    (kept,) = cache.rglob("*.parquet")
    assert sweep(cache, kept.stat().st_mtime) == 1
    assert list(cache.rglob("*.parquet")) == [kept]
    assert sweep(cache, kept.stat().st_mtime + 1) == 1
    assert list(cache.rglob("*.parquet")) == []
