"""`ragassay screen` and its finalists in a whole run: over PDFs, by the command line, with answers over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import write_lines
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, make_corpus

from ragassay.cli import main

TABLES = """
[[chunking]]
name = "small"
by = "sentences"
size = [20, 40]

[[retriever]]
name = "bm25"
kind = "bm25"
k1 = [0.5, 1.2, 3.0]

[[retriever]]
name = "both"
kind = "hybrid"
of = ["bm25", "bm25-small-size_20-k1_0.5"]
"""
QUOTES = [f"write {number} to register" for number in (31, 62, 67, 93, 98, 124)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    made = make_corpus(tmp_path / "mine", "openai:m")
    rows = [
        {"_id": f"q{n}", "text": f"What do I {quote} for?", "metadata": {"evidence": [_evidence(quote)]}}
        for n, quote in enumerate(QUOTES)
    ]
    write_lines(made / "queries.jsonl", rows)
    return made


def _evidence(quote: str) -> dict[str, str]:
    return {"doc": "user manual.pdf", "quote": quote}


def say(corpus: Path, more: str, agents: str = "[]") -> None:
    path = corpus / "experiment.toml"
    text = (
        path.read_text()
        .replace('style = "passage"', 'source = "own"\nevidence = "section"')
        .replace("fusion_queries = 2", f"agents = {agents}")
    )
    path.write_text(text + more)


def screened(results: Path) -> dict[str, Any]:
    return json.loads((results / "screen.json").read_text())


def test_a_screening_needs_no_model_and_says_what_it_found(corpus: Path, tmp_path: Path, capsys):
    say(
        corpus, TABLES.replace('"bm25-small-size_20-k1_0.5"', '"bm25"') + '[search]\nbaseline = "bm25"\nfinalists = 3\n'
    )
    for stage in ("ingest", "questions", "screen"):
        assert main([stage, str(corpus)]) == 0
    found = screened(tmp_path / "results" / "mine")
    names = [variant["name"] for variant in found["variants"]]
    assert len(names) == len(set(names)) == 6 + 2 * 9
    assert found["finalists"][0] == "bm25-small-size_20-k1_0.5" and len(found["finalists"]) <= 3
    for variant in found["variants"]:
        for measure in ("evidence_recall", "evidence_precision", "evidence_iou", "evidence_ndcg", "evidence_mrr"):
            for figure in (variant[measure], variant[f"{measure}_at_tokens"]):
                assert (figure["n"], figure["n_failed"]) == (len(QUOTES), 0)
                assert 0 <= figure["ci_low"] <= figure["value"] <= figure["ci_high"] <= 1
    assert "cannot be told" in capsys.readouterr().out or found["chosen"]["sure"]


def test_finalists_answer_and_play_beside_the_others(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with ScriptedServer("openai", answer_everything) as server:
        address = f'\n[models."openai:m"]\nbase_url = "{server.base_url}"\n'
        say(corpus, TABLES.split('[[retriever]]\nname = "both"')[0] + "[search]\nfinalists = 2\n" + address, '["rag"]')
        assert main(["run", str(corpus)]) == 0
        asked = len(server.requests)
        capsys.readouterr()
        assert main(["run", str(corpus)]) == 0
        assert len(server.requests) == asked
        assert "running" not in capsys.readouterr().err
    results = tmp_path / "results" / "mine"
    finalists = screened(results)["finalists"]
    assert 1 <= len(finalists) <= 2
    assert {path.stem for path in (results / "answers").iterdir()} == {"bm25-rag", *finalists}
    agents = json.loads((results / "results.json").read_text())["agents"]
    assert {agent["agent"] if isinstance(agent, dict) else agent for agent in agents} == {"bm25-rag", *finalists}


def test_without_a_table_there_is_nothing_to_screen(corpus: Path, capsys: pytest.CaptureFixture[str]):
    say(corpus, "")
    assert main(["ingest", str(corpus)]) == 0
    assert main(["questions", str(corpus)]) == 0
    assert main(["screen", str(corpus)]) == 2
    assert "has no [[retriever]] table" in capsys.readouterr().err


def test_finalists_need_evidence_and_agents_do_not(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write_lines(corpus / "queries.jsonl", [{"_id": "q1", "text": "What is register R10 for?"}])
    say(corpus, '[[retriever]]\nname = "mine"\nkind = "bm25"\n')
    for stage in ("ingest", "questions"):
        assert main([stage, str(corpus)]) == 0
    assert main(["screen", str(corpus)]) == 2
    assert "no query has evidence" in capsys.readouterr().err
    say(corpus, '[[agent]]\nname = "a"\nretriever = "mine"\n')
    assert main(["screen", str(corpus)]) == 0
    assert "no variant was held against it" in capsys.readouterr().out
    assert not (tmp_path / "results" / "mine" / "screen.json").exists()


def test_the_plan_counts_finalists_before_and_after_the_screening(corpus: Path, monkeypatch, capsys):
    say(corpus, TABLES.split('[[retriever]]\nname = "both"')[0] + "[search]\nfinalists = 2\n")

    def answers() -> int:
        capsys.readouterr()
        assert main(["plan", str(corpus), "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        return sum(row["calls"] for row in rows if row["stage"] == "answer")

    before = answers()
    assert len(QUOTES) < before <= 2 * len(QUOTES)
    for stage in ("questions", "screen"):
        assert main([stage, str(corpus)]) == 0
    monkeypatch.setattr("ragassay.retrieval.variants.screen_variants.screen_variants", None)  # is not run again
    assert 0 < answers() <= 2 * len(QUOTES)
