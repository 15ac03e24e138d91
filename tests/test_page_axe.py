"""index.html by keyboard alone, and before axe: no fault that it calls serious or critical, in any of its states."""

from collections.abc import Iterator
from itertools import product

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.test_page_browser import DESKTOP, PHONE, addresses, browser, pytestmark

__all__ = ["addresses", "browser", "pytestmark"]  # fixtures, and the reason to skip

GRAVE = {"serious", "critical"}
# A thousand rows are of one make, and axe takes a second for each fifty: those after the fortieth are taken out first.
ALIKE = ", ".join(
    f"{rows}:nth-child(n+40)" for rows in (".ranking tbody tr", "#map g path", ".ask li", "#comparison div")
)


def faults(page: Page) -> list[str]:
    page.evaluate(f"document.querySelectorAll('{ALIKE}').forEach((each) => each.remove())")
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found if each["impact"] in GRAVE]


@pytest.fixture(
    params=product(("sample", "three rule sets", "minas"), ("light", "dark"), (DESKTOP, PHONE)),
    ids=lambda param: f"{param[0]}, {param[1]}, {param[2]['width']} px",
)
def seen(request: pytest.FixtureRequest, browser: Browser, addresses: dict[str, str]) -> Iterator[Page]:
    state, scheme, size = request.param
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    page.goto(addresses[state])
    yield page
    context.close()


def test_axe_finds_no_grave_fault(seen: Page) -> None:
    assert faults(seen) == []
    seen.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    seen.click("#language")
    assert faults(seen) == []
    seen.locator(".ranking tbody a").first.click()
    expect(seen.locator("dialog article")).to_be_visible()
    seen.evaluate("document.querySelectorAll('dialog details').forEach((each) => { each.open = true })")
    assert faults(seen) == []


def test_axe_finds_a_fault_that_is_put_there(browser: Browser, addresses: dict[str, str]) -> None:
    page = browser.new_page()
    page.goto(addresses["sample"])
    page.evaluate(
        "document.querySelector('#municipality').closest('label').replaceWith(document.querySelector('#municipality'))"
    )
    assert [fault.split(":")[0] for fault in faults(page)] == ["select-name"]
    page.close()


def test_it_is_used_by_keyboard_alone(browser: Browser, addresses: dict[str, str]) -> None:
    page = browser.new_page(viewport=DESKTOP)
    page.goto(addresses["sample"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    reach(page, "#find")
    page.keyboard.type("carap")
    expect(page.locator("#count")).to_contain_text("1 de ")
    reach(page, ".ranking tbody a")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("dialog h3")).to_have_text("Carapina")
    reach(page, "dialog summary")
    page.keyboard.press("Enter")
    expect(page.locator("dialog details").first).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).not_to_be_visible()
    assert page.evaluate("document.activeElement.textContent") == "Carapina"
    reach(page, "input[value=eligible]", key="Shift+Tab")
    page.keyboard.press("Space")
    expect(page.locator("#none")).to_be_visible()
    reach(page, ".filters button[type=reset]")
    page.keyboard.press("Enter")
    expect(page.locator("#count")).to_contain_text("204 de 204")
    reach(page, ".ranking thead th:nth-child(4) button")
    page.keyboard.press("Enter")
    expect(page.locator(".ranking thead th").nth(3)).to_have_attribute("aria-sort", "descending")
    page.close()


def reach(page: Page, selector: str, *, key: str = "Tab") -> None:
    """Press a key until the focus is on what the selector means."""
    for _ in range(60):
        page.keyboard.press(key)
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"{key} does not lead to {selector}")
