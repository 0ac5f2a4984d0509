"""A person at the workbench: opens it, filters, looks at evidence, compares two runs; and nothing hostile runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from support.browser import grave_faults
from support.made_up_results.texts import AGENTS
from support.served import Served, Watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

MOST_PAGES = 60
VIEWS = ("decision", "queries", "compare", "test-set", "labels", "progress", "a query", "a page")


def test_from_the_first_page_to_the_evidence(tab: Watched):
    from playwright.sync_api import expect

    page = tab.page
    tab.go("/results/decision")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    tab.follow(page.get_by_role("link", name="Queries", exact=True))
    expect(page.get_by_role("status")).to_have_text("12 of 12 queries")
    page.get_by_label("Search").fill("EEPROM")
    expect(page.get_by_role("status")).to_have_text("1 of 12 queries")
    expect(page.locator("table.queries tbody th")).to_contain_text("EEPROM")
    page.get_by_label("Search").fill("")
    expect(page.get_by_role("status")).to_have_text("12 of 12 queries")
    page.keyboard.press("Tab")
    page.locator("table.queries thead a").first.focus()
    for _ in range(8):
        page.keyboard.press("j")
    expect(page.locator("table.queries tbody th a").nth(7)).to_be_focused()
    with page.expect_navigation(wait_until="networkidle"):
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("EEPROM")
    for agent in AGENTS:
        expect(page.locator("article h3").get_by_text(agent, exact=True)).to_be_visible()
    tab.follow(page.locator("ol.passages-shown a[href*='/page/']").first)
    expect(page.locator("svg.sheet-picture rect.passage").first).to_be_visible()
    inside, on = boxes(page)
    assert inside, on
    tab.follow(page.get_by_role("link", name=re.compile("Back to the query")))
    expect(page.get_by_role("heading", level=1)).to_contain_text("EEPROM")
    assert not tab.wrong


def test_what_is_typed_before_the_scripts_are_there_is_asked_for(tab: Watched):
    from playwright.sync_api import expect

    held: list[Route] = []
    tab.page.route("**/htmx.min.js", lambda script: held.append(script))
    tab.page.goto(f"{tab.url}/results/queries", wait_until="commit")
    tab.page.get_by_label("Search").fill("EEPROM")
    expect(tab.page.get_by_role("status")).to_have_text("12 of 12 queries")
    for script in held:
        script.continue_()
    expect(tab.page.get_by_role("status")).to_have_text("1 of 12 queries")
    assert held and not tab.wrong


def boxes(page: Page) -> tuple[bool, object]:
    """Whether the picture came and every mark lies on it."""
    drawn = page.locator("svg.sheet-picture").first
    outer = drawn.bounding_box()
    marks = [mark.bounding_box() for mark in drawn.locator("rect.passage").all()]
    assert outer is not None and marks
    return all(
        mark is not None
        and mark["width"] > 0
        and outer["x"] <= mark["x"]
        and mark["x"] + mark["width"] <= outer["x"] + outer["width"] + 1
        and outer["y"] <= mark["y"]
        and mark["y"] + mark["height"] <= outer["y"] + outer["height"] + 1
        for mark in marks
    ), (outer, marks)


def test_two_runs_beside_each_other(tab: Watched):
    from playwright.sync_api import expect

    tab.go("/results/compare")
    page = tab.page
    expect(page.get_by_role("heading", level=1)).to_have_text("results and results-2")
    expect(page.get_by_role("heading", name="What moved: from results to results-2")).to_be_visible()
    expect(page.locator("p.say")).to_contain_text("None of")
    page.get_by_label("Measure").select_option(index=1)
    expect(page).to_have_url(re.compile("measure="))
    expect(page.locator("figure.moved tr th[scope=row]")).to_have_count(len(AGENTS))
    assert not tab.wrong


def test_nothing_of_a_hostile_corpus_runs_on_any_page(tab: Watched):
    """Every page that a link of ours leads to, once for each kind of address and each query."""
    page, seen = tab.page, set()
    todo = [f"/results/{view}" for view in ("decision", "queries", "compare", "test-set", "labels", "progress")]
    while todo and len(seen) < MOST_PAGES:
        address = todo.pop(0)
        if address in seen:
            continue
        seen.add(address)
        tab.go(address, "load")
        page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
        harm = "[onerror], [onload], [onclick], iframe, object, embed, a[href^='javascript:'], script:not([src])"
        assert page.locator(harm).count() == 0, address
        links = page.locator("a[href]").evaluate_all(
            "all => all.map((one) => new URL(one.getAttribute('href'), location).href)"
        )
        assert all(link.startswith(tab.url) for link in links), address
        todo += one_of_a_kind(links, seen | set(todo))
    page.wait_for_load_state("networkidle")
    assert any("/page/" in one for one in seen) and sum("/queries/" in one for one in seen) >= 12
    assert not tab.wrong


def one_of_a_kind(links: list[str], known: set[str]) -> list[str]:
    """Links to queries and pages that nobody has been at, without what is asked of them."""
    new = []
    for link in links:
        path = urlsplit(link).path
        if re.search("/results/(queries|page)/", path) and path not in known:
            known.add(path)
            new.append(path)
    return new


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_screen(
    browser: Browser, served: Served, width: int, scheme: Any
):
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    tab = Watched(context.new_page(), served.url)
    faults = {}
    for view in VIEWS:
        open_view(tab, view)
        tab.page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
        faults[view] = grave_faults(tab.page)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, view
    context.close()
    assert faults == {view: [] for view in VIEWS}


def open_view(tab: Watched, view: str) -> None:
    """A view by its address; a query and a page of a document by the links that lead there."""
    tab.go("/results/" + (view if " " not in view else "queries"))
    if " " in view:
        tab.follow(tab.page.locator("table.queries tbody th a").first)
    if view == "a page":
        tab.follow(tab.page.locator("ol.passages-shown a[href*='/page/']").first)


def test_an_agent_has_one_colour_in_all_views(tab: Watched):
    def colours() -> dict[str, str]:
        found = tab.page.locator("main .ag").evaluate_all("all => all.map((one) => [one.textContent, one.className])")
        return dict(found)

    open_view(tab, "decision")
    first = colours()
    assert set(first) == set(AGENTS) and len(set(first.values())) == len(AGENTS)
    for view in ("compare", "a query"):
        open_view(tab, view)
        assert colours() == first, view
