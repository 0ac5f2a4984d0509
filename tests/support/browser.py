"""Debian's Chromium by Playwright, and what axe finds on a page in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; the test fails where it is not installed."""
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("Chromium is not there, which these tests look at pages with: apt-get install chromium")
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def grave_faults(page: Page, rule: str = "") -> list[str]:
    """What axe calls serious or critical, by all its rules or by one: the rule, and where."""
    # axe mistakes what stands behind an element where the browser has not laid out what is off the screen
    page.evaluate("for (const one of document.querySelectorAll('.q, article')) one.style.contentVisibility = 'visible'")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    asked = {"resultTypes": ["violations"]} | ({"runOnly": [rule]} if rule else {})
    found = page.evaluate("asked => axe.run(document, asked)", asked)
    return [
        f"{fault['id']}: {node['html'][:200]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
