"""The list of queries and the page of one: search, order, parts for htmx, and hostile texts as text."""

from __future__ import annotations

import re
from pathlib import Path

from support.made_up_results.workspace import make_workspace
from support.workbench import browsing


def test_a_list_is_a_page_and_its_rows_are_a_part(tmp_path: Path):
    with browsing(make_workspace(tmp_path)) as client:
        page = client.get("/results/queries").text
        part = client.get("/results/queries?words=zzzznothing", headers={"hx-request": "true"}).text
    assert "<!doctype html>" in page and "12 of 12 queries" in page
    assert "<html" not in part and "0 of 12 queries" in part


def test_every_query_has_an_address_and_no_text_of_it_is_markup(tmp_path: Path):
    with browsing(make_workspace(tmp_path)) as client:
        addresses = re.findall(r'href="(/results/queries/[^"?]+)"', client.get("/results/queries").text)
        assert len(dict.fromkeys(addresses)) == 12
        for address in addresses:
            page = client.get(address)
            assert page.status_code == 200
            assert not re.search(r"<(script(?! src)|img|iframe|svg on|b>)|javascript:[^&]*<|\son\w+=", page.text)
            assert "\x1b" not in page.text
