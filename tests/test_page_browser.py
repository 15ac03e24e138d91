"""index.html in a browser: found, filtered, sorted, opened from the map, in both languages, without asking anybody."""

import math
import re
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.assembly import large_page, sample

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")
OTHERS = "mg_lc_37_1995", "plp_137_2015"
DESKTOP, PHONE = ViewportSize(width=1280, height=900), ViewportSize(width=390, height=844)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    found = {"sample": sample().folder / "export" / "index.html"}
    for name, others in {"minas": (), "three rule sets": OTHERS}.items():
        found[name] = tmp_path_factory.mktemp("minas") / "index.html"
        found[name].write_text(large_page(*others), encoding="utf-8")
    return {name: f"file://{path}" for name, path in found.items()}


@pytest.fixture(
    params=[("sample", DESKTOP), ("sample", PHONE), ("minas", DESKTOP)], ids=["sample", "sample on a phone", "minas"]
)
def opened(request: pytest.FixtureRequest, browser: Browser, addresses: dict[str, str]) -> Iterator[Page]:
    """The page; at the end, nothing was said on the console and nothing but the page was asked for."""
    state, size = request.param
    context = browser.new_context(viewport=size)
    found, said, asked = context.new_page(), list[str](), list[str]()
    found.on("console", lambda message: said.append(message.text))
    found.on("pageerror", lambda error: said.append(str(error)))
    found.on("request", lambda request: asked.append(request.url))
    found.goto(addresses[state])
    yield found
    assert (said, asked) == ([], [addresses[state]])
    context.close()


def shown(opened: Page) -> list[str]:
    """Names of the areas in the ranking, as they stand."""
    return opened.locator(".ranking tbody tr:visible th a").all_inner_texts()


def test_it_is_searched_without_accents_and_filtered(opened: Page) -> None:
    every = shown(opened)
    name = every[20]
    opened.fill("#find", name.upper().replace("Ç", "C").replace("Ã", "A"))
    assert name in shown(opened)
    assert len(shown(opened)) < len(every)
    expect(opened.locator("#count")).to_contain_text(f"de {len(every)} áreas")
    opened.fill("#find", "nenhuma área se chama assim")
    expect(opened.locator("#none")).to_be_visible()
    opened.click("text=Limpar filtros")
    opened.uncheck("input[value=ineligible]")
    some = opened.locator(".ranking tbody tr:visible .badge").all_inner_texts()
    assert some
    assert set(some) <= {"elegível", "indeterminado"}
    opened.click("text=Limpar filtros")
    municipality = opened.locator(".ranking tbody tr th small").nth(30).inner_text()
    opened.select_option("#municipality", municipality)
    places = opened.locator(".ranking tbody tr:visible th small").all_inner_texts()
    assert places
    assert all(municipality in place.split(" · ") for place in places)


def test_it_is_filtered_by_requirement(opened: Page) -> None:
    opened.select_option("#requirement", label="População")
    opened.select_option("#result", "met")
    cells = opened.locator(".ranking tbody tr:visible td:nth-child(4)")
    assert cells.count() > 0
    assert set(cells.evaluate_all("cells => cells.map((cell) => cell.className)")) == {"met"}


def test_it_is_sorted_both_ways(opened: Page) -> None:
    def populations() -> list[int]:
        texts = opened.locator(".ranking tbody td:nth-child(4)").evaluate_all(
            "cells => cells.map((cell) => cell.lastChild.textContent.replace(/[^0-9]/g, ''))"
        )
        return [int(text) for text in texts if text]

    if opened.viewport_size == DESKTOP:
        opened.locator(".ranking thead button").nth(3).click()
        assert populations() == sorted(populations(), reverse=True)
        expect(opened.locator(".ranking thead th").nth(3)).to_have_attribute("aria-sort", "descending")
        opened.locator(".ranking thead button").nth(3).click()
        assert populations() == sorted(populations())
    else:
        opened.select_option("#order", label="População")
        assert populations() == sorted(populations(), reverse=True)


def test_a_sheet_opens_from_the_ranking_from_the_map_and_by_its_address(opened: Page) -> None:
    first = shown(opened)[0]
    opened.locator(".ranking tbody a").first.click()
    expect(opened.locator("dialog h3")).to_have_text(first)
    opened.click("#next")
    expect(opened.locator("dialog h3")).to_have_text(shown(opened)[1])
    address = opened.evaluate("location.hash")
    opened.keyboard.press("Escape")
    expect(opened.locator("dialog")).not_to_be_visible()
    assert opened.evaluate("document.activeElement.textContent") == shown(opened)[1]
    path = opened.locator("#map g path:not(.seat)").nth(40)
    path.dispatch_event("click")
    district = (path.get_attribute("id") or "").removeprefix("d")
    expect(opened.locator("dialog article")).to_have_attribute("id", f"a-{district}")
    opened.click("#close")
    opened.evaluate(f"location.hash = '{address}'")
    expect(opened.locator("dialog h3")).to_have_text(shown(opened)[1])


def test_no_table_of_a_sheet_is_wider_than_the_sheet(opened: Page) -> None:
    wide = []
    for area in opened.locator(".ranking tbody tr").evaluate_all(
        "rows => rows.slice(0, 25).map((row) => row.dataset.a)"
    ):
        opened.evaluate(f"location.hash = '#a-{area}'")
        expect(opened.locator("dialog article")).to_have_id(f"a-{area}")
        if opened.evaluate(
            "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('#reading'))"
        ):
            wide.append(area)
        # What spills out of its own cell runs into the next one.
        if opened.evaluate(
            "[...document.querySelectorAll('#reading td')].some((cell) => cell.scrollWidth > cell.clientWidth + 1)"
        ):
            wide.append(f"{area}: a cell")
    assert wide == []


def test_it_speaks_english_and_portuguese_again(opened: Page) -> None:
    before = opened.locator("main").inner_text()
    opened.click("#language")
    expect(opened.locator("html")).to_have_attribute("lang", "en")
    english = opened.locator("main").inner_text()
    for word in ("Ranking", "Status", "undetermined", "Methods and sources of the figures"):
        assert word in english
    for word in ("Situação", "indeterminado", "não elegível", "Pendências", "Fontes e datas"):
        assert word not in english
    expect(opened.locator("#municipality option").first).to_have_text("all")
    expect(opened.locator(".notice [lang=pt-BR]")).to_be_visible()
    opened.locator(".ranking tbody a").first.click()
    expect(opened.locator("dialog caption").first).to_have_text("Requirements")
    opened.click("#close")
    opened.click("#language")
    assert opened.locator("main").inner_text() == before


def test_the_map_is_zoomed_and_coloured_by_requirement(opened: Page) -> None:
    whole = opened.locator("#map").get_attribute("viewBox")
    opened.click("[data-zoom=in]")
    assert opened.locator("#map").get_attribute("viewBox") != whole
    opened.click("[data-zoom=all]")
    assert opened.locator("#map").get_attribute("viewBox") == whole
    opened.select_option("#paint", label="Eleitorado")
    assert opened.locator("#map g path.met").count() > 0
    expect(opened.locator(".legend li").first).to_have_text("atende")


def test_other_rule_sets_of_a_large_state_are_unpacked_when_asked_for(
    browser: Browser, addresses: dict[str, str]
) -> None:
    found, said = browser.new_page(), list[str]()
    found.on("console", lambda message: said.append(message.text))
    found.on("pageerror", lambda error: said.append(str(error)))
    found.goto(addresses["three rule sets"])
    first = found.locator(".ranking tbody a").first.inner_text()
    found.click("#language")
    found.select_option("#rule", "plp_137_2015")
    table = found.locator(".scroll[data-rule=plp_137_2015] .ranking")
    expect(table).to_be_visible()
    expect(table.locator("thead")).to_contain_text("buildings")
    expect(found.locator(".tiles:visible")).to_have_attribute("data-rule", "plp_137_2015")
    expect(found.locator("#pending > div:visible")).to_have_attribute("data-rule", "plp_137_2015")
    ranks = table.locator("tbody td:first-child").all_inner_texts()
    assert len(ranks) == 964
    assert ranks == sorted(ranks, key=int)
    found.click("#language")
    expect(table.locator("thead")).to_contain_text("imóveis")
    table.locator("tbody a").first.click()
    expect(found.locator("dialog .tests:visible caption")).to_have_count(1)
    expect(found.locator("dialog section:visible")).to_have_attribute("data-rule", "plp_137_2015")
    expect(found.locator("dialog details")).to_have_count(1)
    found.click("#close")
    found.select_option("#rule", "lc_1_1967")
    assert found.locator(".ranking:visible tbody a").first.inner_text() == first
    found.locator(".ranking:visible tbody a").first.click()
    expect(found.locator("dialog .origin:visible")).to_have_count(1)
    assert said == []
    found.close()


def test_each_requirement_has_a_bar_from_its_least_to_its_most(opened: Page) -> None:
    opened.locator(".ranking tbody a").first.click()
    for row in opened.locator("dialog .tests tbody tr:has(svg)").all():
        value, between, limit = (figure(text) for text in row.locator("td").all_inner_texts()[:3])
        drawn = (row.locator("path").get_attribute("d") or "").replace("H", " H").replace("M", " M").split()
        low, high = spot(between[0], limit[0]), spot(between[-1], limit[0])
        expected = [f"M{low}", "5", f"H{max(high, low + 1)}"]
        expected += [f"M{spot(value[0], limit[0])}", "1V9"] if value else []
        assert drawn == expected
    assert opened.locator("dialog .tests svg").count() > 0


def figure(text: str) -> list[float]:
    return [float(told.replace(".", "").replace(",", ".")) for told in re.findall(r"\d[\d.,]*", text)]


def spot(figure: float, threshold: float) -> int:
    """The threshold in the middle of a bar of a hundred, a sixth of it for each doubling."""
    doublings = math.log2(figure / threshold) if figure else -3
    return math.floor(50 + 50 * max(-1.0, min(1.0, doublings / 3)) + 0.5)


def test_nothing_is_wider_than_the_window(opened: Page) -> None:
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_reads_without_script(browser: Browser, addresses: dict[str, str]) -> None:
    context = browser.new_context(java_script_enabled=False, viewport=DESKTOP)
    found = context.new_page()
    found.goto(addresses["sample"])
    expect(found.locator(".ranking tbody tr").first).to_be_visible()
    expect(found.locator(".filters")).not_to_be_visible()
    first = found.locator(".ranking tbody a").first
    name = first.inner_text()
    found.goto(f"{addresses['sample']}{first.get_attribute('href')}")
    expect(found.locator("noscript summary", has_text=name).first).to_be_visible()
    expect(found.locator("noscript article:target .tests")).to_be_visible()
    context.close()
