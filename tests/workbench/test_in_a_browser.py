"""In a browser, started once: what axe finds on every page, a way through by keyboard, what only a browser can tell.

What the pages say, and that hostile texts are texts in them, is looked for in their HTML elsewhere.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from support.browser import chromium, grave_faults
from support.made_up_results.texts import AGENTS
from support.made_up_screen import made_up_screen
from support.served import Served, Watched, make_served, serving
from support.validity_corpus import make_validity_corpus

from ragassay.cli import main
from ragassay.evaluate.human_labels.sheet import draw_into, known_sheets, read_said
from ragassay.evaluate.inputs.labels import read_labels
from ragassay.evaluate.report.page import read_results, report
from ragassay.evaluate.report.screening import screen_page
from ragassay.experiment.workspace import Workspace

pytestmark = pytest.mark.xdist_group("browser")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route

VIEWS = ("decision", "queries", "compare", "test-set", "labels", "progress", "a query", "a page")
N = 6
"""Labels given by keyboard."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Workspace]:
    return [make_served(tmp_path_factory.mktemp(name)) for name in ("one", "two")]


@pytest.fixture(scope="module")
def root(runs: list[Workspace], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages without a server."""
    folder = tmp_path_factory.mktemp("pages")
    report(runs[0])
    (folder / "screen.html").write_text(screen_page(made_up_screen(), "manuals"), encoding="utf-8")
    corpus, results = make_validity_corpus(folder / "validity", "leak")
    assert main(["check", "validity", str(corpus), "--results", str(results)]) == 0
    shutil.copy(results / "validity.html", folder)
    shutil.move(runs[0].report, folder)
    return folder


@pytest.fixture(scope="module")
def served(runs: list[Workspace]) -> Iterator[Served]:
    with serving(runs) as server:
        yield server


@pytest.fixture
def tab(browser: Browser, served: Served) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 844})
    yield Watched(context.new_page(), served.url)
    context.close()


@pytest.mark.slow
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_a_phone(tab: Watched, root: Path):
    faults = {}
    for view in VIEWS:
        tab.go("/results/" + (view if " " not in view else "queries"))
        if " " in view:
            tab.follow(tab.page.locator("table.queries tbody th a").first)
        if view == "a page":
            tab.follow(tab.page.locator("ol.passages-shown a[href*='/page/']").first)
        faults[view] = looked_at(tab.page, view)
    assert not tab.wrong, "a hostile text did something"
    for name in ("report.html", "screen.html", "validity.html"):
        tab.page.goto((root / name).as_uri())
        faults[name] = looked_at(tab.page, name)
    assert {name: found for name, found in faults.items() if found} == {}


def looked_at(page: Page, name: str) -> list[str]:
    """With all folds open: as it is, in the dark, and on a phone."""
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true })")
    found = grave_faults(page)
    page.emulate_media(color_scheme="dark")
    found += grave_faults(page, "color-contrast")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 390, "height": 844})
    found += grave_faults(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    page.set_viewport_size({"width": 1280, "height": 844})
    return found


def test_by_keyboard_from_the_list_to_the_evidence(tab: Watched):
    from playwright.sync_api import expect

    page = tab.page
    tab.go("/results/queries")
    page.get_by_label("Search").focus()
    page.keyboard.type("EEPROM")
    expect(page.get_by_role("status")).to_have_text("1 of 12 queries: with “EEPROM”")
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
    outer = page.locator("svg.sheet-picture").first.bounding_box()
    marks = [one.bounding_box() for one in page.locator("svg.sheet-picture").first.locator("rect.passage").all()]
    assert outer is not None and marks
    for mark in marks:
        assert mark is not None and mark["width"] > 0
        assert outer["x"] <= mark["x"] and mark["x"] + mark["width"] <= outer["x"] + outer["width"] + 1
        assert outer["y"] <= mark["y"] and mark["y"] + mark["height"] <= outer["y"] + outer["height"] + 1
    tab.follow(page.get_by_role("link", name=re.compile("Back to the query")))
    expect(page.get_by_role("heading", level=1)).to_contain_text("EEPROM")
    assert not tab.wrong


def test_labels_by_keyboard_over_a_kill_of_the_server(tmp_path: Path, browser: Browser):
    from playwright.sync_api import expect

    workspace = make_served(tmp_path)
    draw_into(workspace, n=60, seed=3)
    (sheet,) = known_sheets(workspace)
    context, shown = browser.new_context(), []
    with serving([workspace]) as server:
        tab = Watched(context.new_page(), server.url)
        tab.go("/results/labels")
        tab.page.keyboard.type("Ann")
        tab.page.keyboard.press("Enter")
        tab.page.get_by_role("link", name="Begin").focus()
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_url("**/labels/*", wait_until="networkidle")
        shown += label(tab.page, 0, N // 2)
        assert not tab.wrong
        server.kill()
        assert len(read_labels(workspace.own_labels)) == N // 2
        tab.page.keyboard.press("1")
        expect(tab.page.locator(".gone-through [role=status]")).to_contain_text("does not answer")
        port = urlsplit(server.url).port
    assert port is not None
    with serving([workspace], port):
        tab.page.reload(wait_until="networkidle")
        shown += label(tab.page, N // 2, N)
        tab.page.keyboard.press("u")
        expect(tab.page.locator(".gone-through [role=status]")).to_contain_text(f"{N - 1} labelled")
        expect(tab.page.locator("article.item")).to_have_attribute("data-item", shown[-1])
    context.close()
    assert len(set(shown)) == N, "an item came twice"
    said = read_said(workspace.label_journal(sheet))
    assert [row.item for row in said[:N]] == shown and len(read_labels(workspace.own_labels)) == N - 1
    assert [row.label for row in said[:N]] == [str(number % 2 + 1) for number in range(N)]


def label(page: Page, start: int, stop: int) -> list[str]:
    """Press 1 and 2 in turn for items `start` to `stop`; the items that were shown."""
    from playwright.sync_api import expect

    items = []
    for number in range(start, stop):
        expect(page.locator(".gone-through [role=status]")).to_contain_text(f"{number} labelled")
        items.append(str(page.locator("article.item").get_attribute("data-item")))
        page.keyboard.press(str(number % 2 + 1))
    expect(page.locator(".gone-through [role=status]")).to_contain_text(f"{stop} labelled")
    return items


def test_what_is_typed_before_the_scripts_are_there_is_asked_for(tab: Watched):
    from playwright.sync_api import expect

    held: list[Route] = []
    tab.page.route("**/htmx.min.js", lambda script: held.append(script))
    tab.page.goto(f"{tab.url}/results/queries", wait_until="commit")
    tab.page.get_by_label("Search").fill("EEPROM")
    expect(tab.page.get_by_role("status")).to_have_text("12 of 12 queries")
    for script in held:
        script.continue_()
    expect(tab.page.get_by_role("status")).to_have_text("1 of 12 queries: with “EEPROM”")
    assert held and not tab.wrong


def test_the_report_printed_and_its_matrix(browser: Browser, root: Path, runs: list[Workspace]):
    """The first sheet says what to choose and how sure that is; cells of the matrix stand below their agents."""
    import pypdfium2

    context = browser.new_context(viewport={"width": 1280, "height": 844})
    page = context.new_page()
    page.goto((root / "report.html").as_uri())
    page.locator("details.part", has=page.locator("#games")).locator("summary").first.click()
    heads = [box(one)[0] for one in page.locator("#games table.matrix thead th").all()]
    for row in page.locator("#games table.matrix tbody tr").all():
        cells = [box(one) for one in row.locator("th, td").all()]
        assert [left for left, _ in cells] == heads and len({top for _, top in cells}) == 1
    page.pdf(path=root / "report.pdf", format="A4")
    context.close()
    text = " ".join(pypdfium2.PdfDocument(root / "report.pdf")[0].get_textpage().get_text_range().split())
    verdict = read_results(runs[0].figures).verdict
    assert verdict.sentence in text and f"{verdict.p_best[str(verdict.leader)]:.1%}" in text
    assert "not told: may be the best" in text and "P(best): how likely" in text


def box(one: Locator) -> tuple[float, float]:
    """Where it begins: from the left, from the top, in pixels."""
    found = one.bounding_box()
    assert found is not None
    return found["x"], found["y"]
