"""Compare runs: one folder says how to name another, two are compared, hostile texts stay texts."""

from __future__ import annotations

import re
from pathlib import Path

from support.made_up_results.page import Page
from support.made_up_results.workspace import make_workspace
from support.workbench import browsing


def test_one_folder_says_how_to_serve_two(tmp_path: Path):
    with browsing(make_workspace(tmp_path)) as client:
        page = client.get("/results/compare")
    assert page.status_code == 200 and "ragassay serve corpora/A corpora/B" in page.text


def test_two_folders_are_compared_and_every_changed_query_is_linked_in_both(tmp_path: Path):
    one, two = make_workspace(tmp_path / "1", 12), make_workspace(tmp_path / "2", 30, hostile=False)
    with browsing(one, two) as client:
        page = client.get("/results/compare?with=results-2&measure=accuracy&agent=knn-rag")
        assert page.status_code == 200
        read = Page(page.text)
        assert "figures moved beyond noise" in read.text and "same in both" in read.text
        for link in set(re.findall(r'href="(/results(?:-2)?/queries/[^"]+)"', page.text)):
            assert client.get(link).status_code == 200
        assert not re.search(r"<(script(?! src)|img|iframe|svg/onload)|\sstyle=|\son\w+=", page.text)
        handed = client.get("/results/compare/handed?with=results-2&agent=knn-rag", headers={"hx-request": "true"})
        assert handed.status_code == 200 and "<html" not in handed.text


def test_what_is_not_served_is_not_found(tmp_path: Path):
    folders = [make_workspace(tmp_path / name) for name in "12"]
    with browsing(*folders) as client:
        for address in (
            "/results/compare?with=../../etc",
            "/results/compare/handed?with=results&agent=knn-rag",
            "/results/compare/handed?with=results-2&agent=nobody",
        ):
            assert client.get(address).status_code == 404, address
