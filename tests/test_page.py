"""index.html: every figure on it is the marts' own, names cannot break it, and it asks nobody for anything."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
import shapely

from flows import rule_files
from tests.assembly import MANIFEST, Released, large_page, minas, sample
from tests.benchmarks.national import wind
from tests.page_lines import read
from warehouse.build import Tables
from warehouse.diff import DIFFERENCE
from warehouse.export.contiguity import apart
from warehouse.export.page import page
from warehouse.export.page.atlas import Map, drawn
from warehouse.export.page.figures import number, percent
from warehouse.export.page.sheets import rows
from warehouse.export.portuguese_checks import CHECKS


@pytest.fixture(scope="module")
def released() -> Released:
    return sample()


@pytest.fixture(scope="module")
def text(released: Released) -> str:
    return (released.folder / "export" / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def large() -> tuple[str, Tables]:
    return large_page(), minas()[0]


def test_an_exempt_fusion_has_the_figures_of_its_csv(text: str, released: Released) -> None:
    fusion = "fusao-mucurici-ponto-belo"
    (area,) = (row for row in rows(released.tables, "mart.eligibility") if row["area_id"] == fusion)
    sheet = text[text.index(f'<article id="a-{fusion}"') :]
    sheet = sheet[: sheet.index("</article>")]
    for name in ("population", "electorate", "urban_houses", "collection_brl"):
        assert f"<b>{number(area[name])}</b>" in sheet
    assert "<b>12.324</b>" in sheet


def test_it_asks_nobody_for_anything(text: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy[1]
    without_words = re.sub(r"<code.*?</code>|<td translate=no>.*?<td>", "", text)
    assert not re.findall(
        r"<(?:link|img|iframe|object|embed|base)\b|\bsrc=|@import|url\(|\bfetch\(|XMLHttp", without_words
    )
    assert not re.findall(r"\son\w+=|\sstyle=", text[text.index("</style>") : text.index('<script type="app')])


def test_it_says_what_it_is_about(text: str, released: Released) -> None:
    assert text.startswith('<!doctype html>\n<html lang="pt-BR">')
    for wanted in (released.manifest["legal_notice"], "Dados simulados.", released.manifest["contents_hash"]):
        assert wanted in text
    assert '<time datetime="2026-11-30">30/11/2026</time>' in text
    for file in released.manifest["snapshots"]:
        assert file["sha256"] in text


def test_a_check_with_reservations_is_told_in_both_languages(text: str) -> None:
    section = text[text.index("<section id=checks>") : text.index("<noscript id=sheets>")]
    name = "bounds_are_as_narrow_as_they_could_be"
    assert f"<code translate=no>{name}</code>: <span>{CHECKS[name]}</span>" in section
    assert "optional" not in section
    assert f'"{CHECKS[name]}": "an optional source that is there in part' in text


def test_days_are_written_as_in_brazil(text: str) -> None:
    without = re.sub(r"<[^>]*>|<style>.*?</style>", " ", text[: text.index('<script type="app')], flags=re.DOTALL)
    found = set(re.findall(r"[^\s]*\b\d{4}-\d\d-\d\d\b[^\s]*", without))
    assert found == set()
    assert "ano(s)" not in text


def test_each_source_says_until_when_its_data_are(text: str) -> None:
    section = text[text.index("<section id=sources>") : text.index("<section id=methods>")]
    row = section[section.index("Estimativas da população residente") :]
    assert row[: row.index("<tr>")].count('<time datetime="2025-07-01">01/07/2025</time>') == 1


def test_a_petition_that_ended_says_how(text: str) -> None:
    section = text[text.index("<section id=proposals>") : text.index("<section id=without>")]
    told_ = dict(re.findall(r"<summary><b translate=no>(P\d+)</b>(.*?)</summary>", section, flags=re.DOTALL))
    for name, words in {"P08": "rejeitada", "P09": "retirada", "P10": "município instalado"}.items():
        assert f">{words}</b> <time" in told_[name]
    assert "rejeitada" not in told_["P01"]


def test_an_area_in_separate_pieces_says_so(released: Released) -> None:
    codes = {"one": ["320010205", "320010215"], "two": ["320010205", "320020105"], "unknown": ["320010205", "9"]}
    members, area = released.tables["core.area_district"][0], released.tables["core.area"][0]
    tables = {**released.tables}
    names = [{"area_id": name, "area_name": name, "uf": "ES", "kind": "group"} for name in codes]
    tables["core.area"] = area, area.frame(names)
    pairs = [{"area_id": name, "district_code": code} for name, listed in codes.items() for code in listed]
    tables["core.area_district"] = members, pl.DataFrame(pairs)
    touching = released.rows("core.neighbour").filter(district_code="320010205")["neighbour_code"]
    assert "320010215" in touching
    assert "320020105" not in touching
    assert apart(tables) == {"two": "two"}
    assert apart({**tables, "core.neighbour": (area, released.rows("core.neighbour").clear())}) == {}


def test_names_cannot_break_out(large: tuple[str, Tables]) -> None:
    text, _ = large
    assert "<Cia>" not in text
    assert "Vila 0000010 &amp; &lt;Cia&gt;" in text


def test_a_state_as_large_as_minas_stays_below_4_mb(large: tuple[str, Tables]) -> None:
    text, tables = large
    assert text.count("<article id=") == len(rows(tables, "mart.eligibility")) == 964
    assert text.count("<path id=d") == 1817
    assert len(text.encode()) < 3_700_000  # what remains is for a mesh and evidence richer than the invented ones


def test_it_stays_below_4_mb_under_every_rule_set() -> None:
    others = [name for name in rule_files.shipped() if name != rule_files.DEFAULT]
    text = large_page(*others)
    assert text.count("<article id=") == 964
    assert len(read(text).parts) == 3 * len(others) + 3 * 964
    assert len(text.encode()) < 3_900_000


def test_without_a_mesh_the_map_is_left_out_and_says_why(released: Released) -> None:
    _, _, rule_sets = minas()
    text = page(released.tables, {**MANIFEST, "uf": "ES"}, rule_sets, None)
    assert "<svg id=map" not in text
    assert "Sem mapa: a malha de distritos do IBGE não está disponível nesta publicação." in text


def test_it_tells_what_changed_since_the_last_release(released: Released) -> None:
    _, _, rule_sets = minas()
    row = {"section": "verdict", "table_name": "mart.eligibility", "item": "320500215", "name": "Carapina & Cia"}
    row |= {"rule_set": "lc_1_1967", "detail": "", "field": "status", "before": "undetermined", "after": "eligible"}
    row |= {"cause": "population: revised source: ibge_estimates"}
    text = page(released.tables, {**MANIFEST, "uf": "ES"}, rule_sets, None, DIFFERENCE.frame([row]))
    told = text[text.index("<section id=changes>") :]
    for wanted in (
        "Carapina &amp; Cia",
        "indeterminado",
        "elegível",
        "população: fonte revista: IBGE: Estimativas da população residente",
    ):
        assert wanted in told
    assert "<section id=changes>" not in page(released.tables, {**MANIFEST, "uf": "ES"}, rule_sets, None)


def test_rule_sets_are_compared_where_they_differ() -> None:
    tables, _, rule_sets = minas()
    other = replace(rule_sets[0], id="other", title="Outra regra")
    doubled = dict(tables)
    for name, (table, frame) in tables.items():
        if "rule_set" in table.names:
            rows_ = frame.lazy().collect()
            doubled[name] = table, pl.concat([rows_, rows_.with_columns(rule_set=pl.lit("other"))])
    table, frame = doubled["mart.eligibility"]
    flipped = (pl.col("area_id") == "310000010") & (pl.col("rule_set") == "other")
    status = pl.when(flipped).then(pl.lit("eligible")).otherwise("status").alias("status")
    doubled["mart.eligibility"] = table, frame.lazy().collect().with_columns(status)
    text = page(doubled, MANIFEST, [*rule_sets, other], None)
    told = text[text.index("<section id=comparison>") : text.index("</section>", text.index("<section id=comparison>"))]
    assert re.findall(r'href="#a-(\d+)"', told) == ["310000010"]
    assert "Outra regra" in told
    assert "<select id=rule>" in text


def test_equal_inputs_give_equal_pages(released: Released) -> None:
    _, _, rule_sets = minas()
    one, other = (page(released.tables, {**MANIFEST, "uf": "ES"}, rule_sets, None) for _ in range(2))
    assert one == other


def test_neighbours_share_their_borders_on_the_map() -> None:
    _, mesh, _ = minas()
    found = drawn(mesh)
    assert isinstance(found, Map)
    points = {code: corners(path) for code, path in list(found.districts.items())[:200]}
    one, other, *_ = points.values()
    assert len(one & other) > 2


def test_no_district_vanishes_and_no_gap_opens_where_borders_wind() -> None:
    enclave, dot = shapely.box(50, 50, 100, 100), shapely.box(300, 0, 300.01, 0.01)
    shapes = {
        "320000105": shapely.box(0, 0, 150, 150) - enclave,
        "320000110": enclave,
        "320000205": shapely.box(150, 0, 300, 150),
        "320000210": shapely.MultiPolygon([shapely.box(0, 150, 150, 300), shapely.box(310, 200, 330, 220)]),
        "320000305": shapely.box(150, 150, 300, 300),
        "320000310": dot,
    }
    true = [
        shapely.transform(shapely.segmentize(shape, 1), lambda at: wind(at * 0.002 - [41, 20]))
        for shape in shapes.values()
    ]
    mesh = pl.DataFrame({"district_code": [*shapes], "geometry": pl.Series(shapely.to_wkb(true).tolist())})
    found = drawn(mesh)
    assert found is not None
    areas = {code: area(path) for code, path in found.districts.items()}
    assert [code for code, shape in areas.items() if shape.is_empty] == []
    assert len(areas["320000105"].interiors) == 1
    assert len(areas["320000210"].geoms) == 2
    whole: Any = shapely.union_all(list(areas.values()))
    assert sum(shape.area for shape in areas.values()) - whole.area < 5
    assert sum(shapely.Polygon(hole).area for part in whole.geoms for hole in part.interiors) < 5


def area(path: str) -> Any:
    """What a path encloses; a ring in a ring is a hole."""
    rings = [shapely.make_valid(shapely.Polygon(ring)) for ring in rings_of(path)]
    found = rings[0]
    for ring in rings[1:]:
        found = found.symmetric_difference(ring)
    return found


def corners(path: str) -> set[tuple[int, int]]:
    """The points of a path of relative steps."""
    return {point for ring in rings_of(path) for point in ring}


def rings_of(path: str) -> Iterator[list[tuple[int, int]]]:
    for start, steps in re.findall(r"M(-?\d+ -?\d+)l([^zM]*)", path):
        x, y = map(int, start.split())
        ring = [(x, y)]
        numbers = list(map(int, re.findall(r"-?\d+", steps)))
        for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
            x, y = x + dx, y + dy
            ring.append((x, y))
        yield ring


@pytest.mark.parametrize(
    ("exact", "shown"),
    [("1234567.5", "1.234.567,5"), ("-0.50", "−0,50"), ("0", "0"), (None, "–"), ("129115000.00", "129.115.000,00")],
)
def test_figures_are_written_as_in_brazil(exact: str | None, shown: str) -> None:
    assert number(exact) == shown


def test_shares_are_signed_percentages() -> None:
    assert [percent(share) for share in ("0.0577", "-0.9497", "96.3400", None)] == [
        "+5,77\u00a0%",
        "−94,97\u00a0%",
        "+9.634,00\u00a0%",
        "–",
    ]


def test_it_reads_as_a_document(text: str) -> None:
    for wanted in (
        "<header",
        "<nav aria-label=",
        "<main",
        "<footer",
        'class=skip href="#ranking"',
        "<noscript id=sheets>",
    ):
        assert wanted in text
    ids = re.findall(r'\sid="?([^"\s>]+)', text)
    assert len(ids) == len(set(ids))
    assert text.count("<h1>") == 1
    inputs = re.findall(r"<(?:input|select)[^>]*>", text)
    labelled = re.findall(r"<label[^>]*>(?:(?!</label>).)*?<(?:input|select)", text, flags=re.DOTALL)
    assert len(labelled) == len(inputs)
