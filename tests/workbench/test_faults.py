"""Files that vanish or break while the server runs: a sentence, no traceback, and all is well when they are back."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from support.made_up_results.workspace import make_workspace
from support.served import HOSTILE_NAME, make_served
from support.workbench import browsing

from ragassay.evaluate.human_labels.sheet import draw_into
from ragassay.experiment.workspace import Workspace
from ragassay.workbench.app import Access, make_app
from ragassay.workbench.asked import benches_of


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path, hostile=False)


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    with browsing(workspace) as client:
        client.post("/results/labels/who", data={"who": "Ann"})
        yield client


def until(client: TestClient, address: str, words: str) -> str:
    """The page, when it has these words."""
    for _ in range(300):
        page = client.get(address).text
        if words in page:
            return page
        time.sleep(0.1)
    raise AssertionError(f"{words!r} is not in: {page}")


def test_an_index_that_is_damaged_is_said_and_made_again(workspace: Workspace, client: TestClient) -> None:
    assert "q001" in client.get("/results/queries").text
    path = workspace.workbench / "index.sqlite"
    with path.open("r+b") as stream:
        stream.seek(100)
        stream.write(b"\xff" * (path.stat().st_size - 100))
    answer = client.get("/results/queries?words=fuse")
    assert answer.status_code == 503
    assert "is made again" in answer.text
    assert "q001" in until(client, "/results/queries", "<table")


@pytest.mark.parametrize("left", ["nothing", b'{"broken', b"\xff\xfe\n", "folder"])
@pytest.mark.parametrize("kept", ["label_samples", "label_journals"])
def test_a_sheet_that_cannot_be_read_is_said(
    workspace: Workspace, client: TestClient, kept: str, left: bytes | str
) -> None:
    sheet = draw_into(workspace, n=5, seed=7, kinds=("answers",))[0].stem.removeprefix("label-sheet-")
    journal = workspace.label_journal(sheet)
    path = journal if kept == "label_journals" else workspace.label_samples / f"{sheet}.jsonl"
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    if isinstance(left, bytes):
        path.write_bytes(left)
    elif left == "folder":
        path.mkdir()
    for address in ("/results/labels", f"/results/labels/{sheet}"):
        answer = client.get(address)
        assert answer.status_code in (200, 404, 500)
        assert "</html>" in answer.text
        if answer.status_code == 500:
            assert path.name in re.findall(r'class="said"[^>]*>(.*?)</p>', answer.text, re.DOTALL)[0]


def test_a_results_folder_that_cannot_be_written_is_looked_at_all_the_same(tmp_path: Path) -> None:
    workspace = make_served(tmp_path)
    shutil.rmtree(workspace.workbench)
    workspace.workbench.write_text("a file, below which nothing can be written")
    before = {path: path.stat().st_mtime_ns for path in workspace.results.rglob("*")}
    app = make_app(benches_of([workspace]), Access())
    with TestClient(app, base_url="http://localhost:8765") as client:
        assert "q001" in until(client, "/results/queries", "<table")
        for address in ("decision", "test-set", "labels", "queries/q001", "progress"):
            assert client.get(f"/results/{address}").status_code == 200, address
        page = client.get(f"/results/page/{quote(HOSTILE_NAME)}/1").text
        picture = client.get(unescape(re.findall(r'<image href="([^"]+)"', page)[0]))
        assert picture.content.startswith(b"\x89PNG")
        elsewhere = app.state.kept.folder(workspace)
        assert (elsewhere / "index.sqlite").exists() and list((elsewhere / "pages").iterdir())
    assert not elsewhere.exists()
    assert {path: path.stat().st_mtime_ns for path in workspace.results.rglob("*")} == before


def test_a_results_folder_that_goes_and_comes_back(workspace: Workspace, client: TestClient) -> None:
    before = client.get("/results/queries/q001").text
    away = workspace.results.with_name("away")
    shutil.move(workspace.results, away)
    for address in ("queries", "queries/q001", "decision", "test-set", "labels", "page/a.pdf/1"):
        assert client.get(f"/results/{address}").status_code in (200, 404)
    assert not workspace.results.exists()
    shutil.move(away, workspace.results)
    assert until(client, "/results/queries/q001", "q001</") == before
