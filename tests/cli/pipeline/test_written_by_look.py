"""`[run] write_by_look`: questions are written for the looks that are taken, and for no others."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records, write_lines
from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer
from support.need_replies import labelled
from support.pdf_maker import make_pdf
from support.small_corpus import answer_everything, contents, make_corpus, page

from ragassay.cli import main

SYSTEMS = """
[[agent]]
name = "good"
kind = "python"
callable = "systems:good"
[[agent]]
name = "bad"
kind = "python"
callable = "systems:bad"
"""
CODE = """
def good(query):
    return "gold: " + query


def bad(query):
    return "tin: " + query
"""
WRITING = {"WrittenQuestions", "Needs", "NeedQuestions", "Evidence"}
Script = Callable[[int, dict[str, Any]], Behaviour]


def step_of(body: dict[str, Any]) -> str:
    return str(body.get("response_format", {}).get("json_schema", {}).get("name"))


def prefers_gold(number: int, body: dict[str, Any]) -> Behaviour:
    text = body["messages"][-1]["content"]
    if step_of(body) == "PairwiseReply":
        return reply(json.dumps({"reason": "so.", "verdict": "A" if text.find("gold:") < text.find("tin:") else "B"}))
    if (written := labelled(body)) is not None:
        return reply(json.dumps(written))
    return answer_everything(number, body)


def killing(*at: int) -> Script:
    def script(number: int, body: dict[str, Any]) -> Behaviour:
        if number in at:
            os.kill(os.getpid(), signal.SIGINT)
        return prefers_gold(number, body)

    return script


def make(
    corpus: Path, server: ScriptedServer, style: str = "passage", looks: int = 4, more: str = "", **table: Any
) -> Path:
    """Two systems of the user's, 24 questions of as many sections in four parts."""
    make_corpus(corpus, "openai:m", server.base_url)
    make_pdf(corpus / "third.pdf", [page(n) for n in range(7, 17)])
    path = corpus / "experiment.toml"
    asked = {"evidence": "section", "sections": 24, "per_section": 2, "quota": {"openai:m": 24}} | table
    lines = "".join(f"{key} = {toml(value)}\n" for key, value in asked.items())
    text = path.read_text().replace("section_tokens = 200", "section_tokens = 100")
    head, tail = text.split("[questions]\n")
    questions, rest = tail.split("[retrieval]\n")
    text = f'{head}[questions]\nstyle = "{style}"\nfew_shot = 1\n{lines}[retrieval]\n{rest}'
    text = text.replace("fusion_queries = 2", "agents = []")
    run = f"max_concurrency = 2\nlooks = {looks}\nwrite_by_look = true\n{more}\n{SYSTEMS}"
    path.write_text(text.replace("max_concurrency = 8", run))
    (corpus / "systems.py").write_text(CODE)
    return corpus.parent / "results" / corpus.name


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)


def writing(server: ScriptedServer) -> Counter[str]:
    return Counter(json.dumps(one.body, sort_keys=True) for one in server.requests if step_of(one.body) in WRITING)


def set_of(results: Path) -> list[Any]:
    """What a run has come to: its test set with all that is said of it, the parts, the looks, what the report says."""
    names = ("planned.jsonl", "queries.jsonl", "parts.jsonl", "looks.jsonl", "pool.jsonl", "rejected.jsonl")
    return [*((results / name).read_bytes() for name in (*names, "ledger.jsonl")), verdict_of(results)]


def verdict_of(results: Path) -> Any:
    found = json.loads((results / "results.json").read_text())
    return [found[name] for name in ("verdict", "looks", "points", "stopped_early")]


@pytest.mark.parametrize(
    ("style", "kills"),
    [
        ("passage", (3, 20, 46)),
        pytest.param("need", (9, 20, 60, 75), marks=pytest.mark.slow),
    ],
)
def test_what_is_decided_at_the_second_of_four_looks_pays_for_half_of_the_writing_however_often_it_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], style: str, kills: tuple[int, ...]
) -> None:
    """Killed while the first part is written, while its answers are judged, and while the second part is written."""
    with ScriptedServer("openai", prefers_gold) as server:
        whole = make(tmp_path / "whole" / "mine", server, style)
        assert main(["run", str(tmp_path / "whole" / "mine"), "--until", "best"]) == 0
        paid = Counter(json.dumps(one.body, sort_keys=True) for one in server.requests)
        parts = records(whole / "parts.jsonl")
        steps = Counter(step_of(one.body) for one in server.requests)
        shown = [body for body in writing(server) if "WrittenQuestions" in body or '"Needs"' in body]
    looks = records(whole / "looks.jsonl")
    told = [(one["look"], one["looks"], one["queries"], one["planned"], one["decided"]) for one in looks]
    assert told == [(1, 4, 6, 24, False), (2, 4, 12, 24, True)]
    assert [len(part["sections"]) for part in parts] == [6] * 4 and [part["quota"] for part in parts] == [
        {"openai:m": 6}
    ] * 4
    assert [part["queries"] is None for part in parts] == [False, False, True, True]
    if style == "passage":
        assert steps["WrittenQuestions"] == 12
    texts = {one["_id"]: one["text"] for one in records(whole / "sections.jsonl")}
    written = {id for id, text in texts.items() if any(json.dumps(text)[1:-1] in body for body in shown)}
    assert {id for part in parts[:2] for id in part["sections"]} <= written
    unwritten = {id for part in parts[2:] for id in part["sections"]}
    assert not {one["metadata"]["section"] for one in records(whole / "pool.jsonl")} & unwritten
    saved = "12 of 24 queries, 24 of 48 answers and 12 of 24 games"
    assert f"Saved against the full plan: {saved}." in (whole / "report.html").read_text()

    statuses = []
    with ScriptedServer("openai", killing(*kills)) as server:
        results = make(tmp_path / "killed" / "mine", server, style)
        for _ in range(len(kills) + 1):
            statuses.append(main(["run", str(tmp_path / "killed" / "mine"), "--until", "best"]))
        again = Counter(json.dumps(one.body, sort_keys=True) for one in server.requests)
        assert statuses == [130] * len(kills) + [0]
        assert set(again) == set(paid) and again.total() <= paid.total() + 2 * len(kills), "no more than were under way"
        n_asked = len(server.requests)
        assert (
            main(["run", str(tmp_path / "killed" / "mine"), "--until", "best"]) == 0 and len(server.requests) == n_asked
        )
    assert set_of(results) == set_of(whole)
