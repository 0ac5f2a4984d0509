"""A user's own system in a whole run: named in the progress, its tokens and cost beside ours, its money not of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.json_lines import records
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, edit, make_corpus

from ragassay.cli import main

OWN = """
[[agent]]
name = "ours"
kind = "python"
callable = "ours:answer"
timeout_s = 30
"""
CODE = """
def answer(question, meter):
    meter.add(input_tokens=1000, output_tokens=10, cost_usd=15)
    print("loud")
    return "It waits."
"""


def test_its_cost_is_shown_as_its_own_and_no_limit_counts_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=OWN)
        (corpus / "ours.py").write_text(CODE)
        assert main(["run", str(corpus), "--max-cost", "20"]) == 0
        assert "answer: agent ours: 4/4\n" in capfd.readouterr().err
        edit(corpus, "tournaments = 10", "tournaments = 20")
        assert main(["run", str(corpus), "--max-cost", "20"]) == 0, "60 US$ of its own are not the limit's"
        assert "loud" not in "".join(capfd.readouterr())
    results = tmp_path / "results" / "mine"
    usage = {row["model"]: row for row in json.loads((results / "results.json").read_text())["usage"]}["agent:ours"]
    assert (usage["stage"], usage["calls"], usage["n_failed"], usage["n_unmeasured"]) == ("answer", 4, 0, 0)
    assert (usage["input_tokens"], usage["output_tokens"], usage["cost_usd"]) == (4000, 40, 60.0)
    assert "agent:ours" in (results / "report.html").read_text()
    assert all(row["latency_s"] < 30 for row in records(results / "answers" / "ours.jsonl"))
    assert all(row["latency_s"] > 0 for row in records(results / "answers" / "bm25-rag-fusion.jsonl"))
