"""Compare runs: one folder says how to name another, two are compared, hostile texts stay texts."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.made_up_results.page import Page
from support.made_up_results.workspace import make_workspace, stop_early
from support.workbench import browsing

from ragassay.files import write_json
from ragassay.workbench.asked import Bench
from ragassay.workbench.runs import Runs


def test_one_folder_alone_says_how_to_name_another(tmp_path: Path):
    with browsing(make_workspace(tmp_path)) as client:
        page = client.get("/results/compare")
    assert page.status_code == 200 and "ragassay serve corpora/A corpora/A --results" in page.text


def test_a_run_beside_others_has_the_settings_of_the_first_that_is_served_of_its_corpus(tmp_path: Path):
    first = make_workspace(tmp_path / "made", 12, hostile=False)
    for name in ("second", first.corpus.name):
        shutil.copytree(first.results, first.results.parent / "below" / name)
    second = replace(
        first,
        results=first.results.parent / "below" / "second",
        experiment=first.experiment.model_copy(update={"agent": ()}),
    )
    runs = Runs({"one": Bench("one", first), "two": Bench("two", second)})
    assert runs[first.corpus.name].workspace.experiment is first.experiment


@pytest.fixture
def found(tmp_path: Path) -> Iterator[TestClient]:
    """One run is served; `new` beside it has 12 other queries of 30, `old` stopped early, `half` has no figures, `bad`
    is broken."""
    served = make_workspace(tmp_path / "made", 30, hostile=False)
    for name in ("new", "old", "half", "bad"):
        shutil.copytree(served.results, served.results.with_name(name))
    beside = served.results.parent
    queries = (beside / "new" / "queries.jsonl").read_text("utf-8").splitlines()
    changed = [line.replace('"text": "', '"text": "Really: ') if at < 18 else line for at, line in enumerate(queries)]
    (beside / "new" / "queries.jsonl").write_text("\n".join(changed) + "\n", "utf-8")
    stop_early(beside / "old", 30, 60)
    for number, name in enumerate(("results", "old")):
        settings = {"retrieval.embedding": ("bge-small", "mini")[number], "judge.criteria": ["a", "b<b>"][number:]}
        write_json(beside / name / "manifests" / "judge.json", {"settings": settings, "inputs": {}})
    (beside / "half" / "results.json").unlink()
    (beside / "bad" / "results.json").write_text('{"corpus": "<b>')
    with browsing(served) as client:
        yield client


def until(client: TestClient, address: str) -> str:
    """The page, once the indexes are there."""
    for _ in range(300):
        page = client.get(address).text
        if "Reading the results" not in page:
            return page
        time.sleep(0.1)
    raise AssertionError(f"{address} waits for ever")


def test_runs_beside_the_one_served_are_rows_and_choices_and_half_made_ones_say_so(found: TestClient):
    page = found.get("/runs").text
    given = re.findall(r"(?s)<tr><th.*?</tr>", page)[1:]
    rows = {re.findall(r'href="/([^/"]+)/', row)[0]: Page(row).text for row in given}
    assert rows.keys() == {"results", "new", "old", "half", "bad"}
    assert (
        "none: not settled" in rows["new"]
        and "stopped early" in rows["old"]
        and "stopped early30avr-libc" in rows["old"]
    )
    assert "no figures yet" in rows["half"] and "cannot be read" in rows["bad"] and "is not JSON" in rows["bad"]
    chosen = found.get("/results/compare").text
    assert set(re.findall(r'<option value="(\w+)"', chosen)) == rows.keys()
    assert set(re.findall(r'<option value="(\w+)" disabled', chosen)) == {"half", "bad"}
    assert found.get("/results/compare?run=old&with=new", follow_redirects=False).headers["location"] == (
        "/old/compare?with=new"
    )
    assert found.get("/results/compare?with=results").status_code == 200
    for name in ("..", "%2e%2e", "corpus"):
        assert found.get(f"/results/compare?run={name}").status_code == 404
    for view in ("decision", "queries"):
        assert found.get(f"/bad/{view}").status_code in (200, 500)
    until(found, "/old/queries")
    assert "/old/labels" not in found.get("/old/queries").text and found.get("/old/labels").status_code == 404


def test_two_runs_found_say_in_words_what_was_changed_and_which_stopped_early(found: TestClient):
    page = until(found, "/results/compare?with=old")
    assert "embedding: mini, was bge-small" in page and "criteria: 1 fewer (a)" in page
    assert "None of" in page and "stopped early, with 30 of 60 planned queries" in page
    apart = Page(until(found, "/results/compare?with=new")).text
    assert "on other test sets and not comparable: only 12 of 30 queries are the same in both" in apart
    assert "moved beyond noise" not in apart


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
