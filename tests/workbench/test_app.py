"""Which folders are served, under which names, and what is said of what is not there."""

from __future__ import annotations

import re
import time
from pathlib import Path

from starlette.testclient import TestClient
from support.made_up_results.workspace import make_workspace
from support.workbench import browsing

from ragassay.workbench.app import Access, make_app
from ragassay.workbench.asked import benches_of


def test_one_folder_is_shown_at_once_and_several_are_listed(tmp_path: Path):
    one, two = make_workspace(tmp_path / "1"), make_workspace(tmp_path / "2")
    with browsing(one) as client:
        assert client.get("/", follow_redirects=False).headers["location"] == "/results/decision"
    with browsing(one, two) as client:
        page = client.get("/").text
        assert '"/results/decision"' in page and '"/results-2/decision"' in page


def test_two_folders_of_one_name_have_two_addresses(tmp_path: Path):
    folders = [make_workspace(tmp_path / name) for name in "ab"]
    assert list(benches_of(folders)) == ["results", "results-2"]


def test_what_is_not_there_is_not_found(tmp_path: Path):
    with browsing(make_workspace(tmp_path)) as client:
        for path in (
            "/nothing",
            "/other/decision",
            "/results/queries/none",
            "/static/../guard.py",
            "/results/%2e%2e/%2e%2e/etc",
        ):
            assert client.get(path).status_code == 404, path


def test_a_page_that_waits_is_loaded_anew_when_the_index_is_there(tmp_path: Path):
    app = make_app(benches_of([make_workspace(tmp_path)]), Access(), None)
    with TestClient(app, base_url="http://localhost:8765") as client:
        page = client.get("/results/queries").text
        (named,) = set(re.findall(r"hx-headers=\'{\"(x-ragassay-waits)\"", page))
        for _ in range(200):
            asked = client.get("/results/queries", headers={"hx-request": "true", named: "1"})
            assert asked.status_code == 204 and not asked.text
            if "hx-refresh" in asked.headers:
                break
            time.sleep(0.05)
        assert asked.headers["hx-refresh"] == "true" and "<html" in client.get("/results/queries").text
