"""One browser, and one server over two runs that nobody writes to, for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.served import Served, Watched, chromium, make_served, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root: Path = tmp_path_factory.mktemp("served")
    with serving([make_served(root / "one"), make_served(root / "two")]) as server:
        yield server


@pytest.fixture
def tab(browser: Browser, served: Served) -> Iterator[Watched]:
    context = browser.new_context()
    yield Watched(context.new_page(), served.url)
    context.close()
