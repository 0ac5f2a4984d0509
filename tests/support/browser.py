"""Debian's Chromium by Playwright, and what axe finds on a page in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; the test fails where it is not installed."""
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("Chromium is not there, which these tests look at pages with: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def looking_at(browser: Browser, file: Path, width: int = 1280, scheme: Any = "light") -> Iterator[Page]:
    """A page of this machine, `width` pixels wide, in the colour scheme "light" or "dark"."""
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    page.goto(file.as_uri())
    yield page
    context.close()


def grave_faults(page: Page) -> list[str]:
    """What axe calls serious or critical: the rule, and where."""
    # axe mistakes what stands behind an element where the browser has not laid out what is off the screen
    page.evaluate("for (const one of document.querySelectorAll('.q, article')) one.style.contentVisibility = 'visible'")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{fault['id']}: {node['html'][:200]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
