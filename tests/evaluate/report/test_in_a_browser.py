"""The pages in a browser: axe finds nothing serious, nothing is wider than a phone, and the first sheet says it all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Browser
from support.browser import chromium, grave_faults, looking_at
from support.made_up_results.workspace import make_workspace
from support.made_up_screen import made_up_screen
from support.validity_corpus import make_validity_corpus

from ragassay.cli import main
from ragassay.evaluate.report.page import read_results, report
from ragassay.evaluate.report.screening.screen_page import screen_page

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
    assert verdict.sentence in text and f"{verdict.p_best[str(verdict.best)]:.1%}" in text
    assert "Likely is not yet sure" in text
