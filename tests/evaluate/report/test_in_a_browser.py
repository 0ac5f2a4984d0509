"""The pages in a browser: axe finds nothing serious, nothing is wider than a phone, and the first sheet says it all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Browser, Locator
from support.browser import chromium, grave_faults, looking_at
from support.made_up_results.workspace import make_workspace
from support.made_up_screen import made_up_screen
from support.validity_corpus import make_validity_corpus

from ragassay.cli import main
from ragassay.evaluate.report.page import read_results, report
from ragassay.evaluate.report.screening import screen_page

PAGES = ("report.html", "screen.html", "validity.html")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    made = make_workspace(folder)
    report(made)
    made.report.rename(folder / "report.html")
    (folder / "screen.html").write_text(screen_page(made_up_screen(), "manuals"), encoding="utf-8")
    corpus, results = make_validity_corpus(folder / "validity", "leak")
    assert main(["validity", str(corpus), "--results", str(results)]) == 0
    (results / "validity.html").rename(folder / "validity.html")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_axe_finds_nothing_serious(browser: Browser, pages: Path, name: str, width: int, scheme: str):
    with looking_at(browser, pages / name, width, scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert grave_faults(page) == []


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_wider_than_a_phone(browser: Browser, pages: Path, name: str):
    with looking_at(browser, pages / name, 390) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_first_printed_sheet_says_what_to_choose_and_how_sure_that_is(browser: Browser, pages: Path):
    with looking_at(browser, pages / "report.html") as page:
        page.pdf(path=pages / "report.pdf", format="A4")
    text = " ".join(pypdfium2.PdfDocument(pages / "report.pdf")[0].get_textpage().get_text_range().split())
    verdict = read_results(pages / "results" / "results.json").verdict
    assert verdict.sentence in text and f"{verdict.p_best[str(verdict.leader)]:.1%}" in text
    assert "not told: may be the best" in text and "P(best) is an average" in text


def test_the_cells_of_the_win_matrix_stand_below_their_agents(browser: Browser, pages: Path):
    with looking_at(browser, pages / "report.html") as page:
        heads = [box(one)[0] for one in page.locator("#games table.matrix thead th").all()]
        for row in page.locator("#games table.matrix tbody tr").all():
            cells = [box(one) for one in row.locator("th, td").all()]
            assert [left for left, _ in cells] == heads and len({top for _, top in cells}) == 1


def box(one: Locator) -> tuple[float, float]:
    """Where it begins: from the left, from the top, in pixels."""
    found = one.bounding_box()
    assert found is not None
    return found["x"], found["y"]
