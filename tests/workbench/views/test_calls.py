"""Prompts and replies of a query, against what a server was asked and said in a whole small run."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, make_corpus, own_folder
from support.workbench import browsing

from ragassay.cli import main
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import IDENTICAL, Game, Query

MORE = """
[evaluate]
judges = ["no_answer"]
"""
OF = ("rewriting", "answer", "relevance", "evidence", "grades", "game", "list")


def whole(client: TestClient, query: str) -> str:
    """Every call about the query, whole: the pages that its list leads to, one after the other."""
    return "".join(client.get(f"/mine/calls/{query}", params={"of": of}).text for of in (*OF, "no_answer"))


def test_every_prompt_and_reply_is_what_the_model_was_asked_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder, model = own_folder(tmp_path, monkeypatch), "openai:scripted"
    with ScriptedServer("openai", answer_everything) as server:
        make_corpus(folder, model, server.base_url, more=MORE)
        assert main(["run", str(folder)]) == 0
    workspace = Workspace(folder, tmp_path / "results" / "mine", load_experiment(folder / "experiment.toml"))
    queries = list(read_records(workspace.queries, Query))
    with browsing(workspace) as client:
        pages = {query.id: whole(client, query.id) for query in queries}
        assert all("reply received in this run" in page and "no reply is kept" not in page for page in pages.values())
        played = [row for row in read_records(workspace.games, Game) if row.reason != IDENTICAL]
        asked = {"of": "game", "about": [played[0].agent_a, played[0].agent_b], "order": played[0].agent_a}
        (reply,) = texts(client.get(f"/mine/calls/{played[0].query_id}", params=asked).text, "t reply")
        assert json.loads(reply)["reason"] == played[0].reason
        assert client.get("/mine/calls/none").status_code == 404
        shown = [text for page in pages.values() for text in texts(page, "t")]
        seen = 0
        for request in server.requests:
            about = request.body["messages"][-1]["content"]
            if any(f"\n{query.text}\n" in about for query in queries):
                assert about in shown, request.body["messages"][0]["content"][:80]
                seen += 1
        assert seen > len(queries) * 5
        shutil.rmtree(workspace.replies)
        gone = whole(client, queries[0].id)
    assert "no reply is kept" in gone and "reply received" not in gone


def texts(page: str, css: str) -> list[str]:
    """What stands, to the letter, in the `pre` of this class."""
    return [unescape(text) for text in re.findall(rf'<pre class="{css}"[^>]*>(.*?)</pre>', page, re.DOTALL)]
