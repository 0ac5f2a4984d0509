"""Twenty labels by keyboard, and the server killed with -9 half way: nothing is lost, and one goes on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from support.served import Watched, make_served, serving

from ragassay.evaluate.human_labels.sheet import draw_into, known_sheets, read_said
from ragassay.evaluate.inputs.labels import read_labels

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

N = 20


def test_twenty_by_keyboard_over_a_kill(tmp_path: Path, browser: Browser):
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
        done = page.locator(".gone-through [role=status]")
        expect(done).to_contain_text(f"{number} labelled")
        items.append(str(page.locator("article.item").get_attribute("data-item")))
        page.keyboard.press(str(number % 2 + 1))
    expect(page.locator(".gone-through [role=status]")).to_contain_text(f"{stop} labelled")
    return items
