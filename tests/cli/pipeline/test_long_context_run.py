"""An agent without a retriever, which is handed all documents: a whole run, what it may read, and what it asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.json_lines import records
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, contents, make_corpus

from ragassay.cli import main

AGENT = '\n[[agent]]\nname = "whole"\nkind = "long-context"\nmodel = "{model}"\n{more}\n'


def test_it_is_judged_as_others_and_has_no_figures_of_retrieval(tmp_path: Path, capsys) -> None:
    with ScriptedServer("openai", answer_everything) as server:
        address = f'[models."openai:big"]\nbase_url = "{server.base_url}"'
        more = AGENT.format(model="openai:big", more=address)
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=more)
        assert main(["run", str(corpus)]) == 0
        assert sum(request.body["model"] == "big" for request in server.requests) == 4
        n_calls = len(server.requests)
        kept = contents(tmp_path / "results")
        assert main(["run", str(corpus)]) == 0
        assert contents(tmp_path / "results") == kept and len(server.requests) == n_calls, "nothing is left to do"
        capsys.readouterr()
        assert main(["plan", str(corpus), "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
    assert sum(row["calls"] for row in rows) == n_calls and not any(row["estimated"] for row in rows)
    results = tmp_path / "results" / "mine"
    answers = records(results / "answers" / "whole.jsonl")
    assert all(row["passages"] == [] and row["error"] is None and row["latency_s"] > 0 for row in answers)
    assert not (results / "rankings" / "whole.trec").exists()
    figures = json.loads((results / "results.json").read_text())
    assert figures["pointwise"]["whole"]["accuracy"]["n"] == 4 and "whole" in figures["elo"]
    assert (figures["settings"]["answer_model"], figures["settings"]["answer_model.whole"]) == (
        "openai:m",
        "openai:big",
    )
    assert "whole" not in figures["retrieval"] and len(figures["retrieval"]) == 2, "missing, not zero"
    assert "whole" in (results / "report.html").read_text()


def test_documents_that_are_too_long_are_refused_before_anything_is_paid(tmp_path: Path, capsys) -> None:
    with ScriptedServer("openai", answer_everything) as server:
        more = AGENT.format(model="openai:m", more="tokens = 500")
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=more)
        for verb in ("plan", "run"):
            assert main([verb, str(corpus)]) == 2
            assert "agent 'whole': the documents have about" in capsys.readouterr().err
        assert server.requests == []


@pytest.mark.parametrize(
    ("model", "more", "said"),
    [
        ("openai:other", "", "OPENAI_API_KEY is not set"),
        ("openai:m", 'prompt = "missing.md"', "missing.md"),
        ("nobody:m", "", "'nobody:m' has no known provider"),
    ],
)
def test_what_an_agents_own_model_and_prompt_lack_is_said_before_anything_is_paid(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    model: str,
    more: str,
    said: str,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, more=AGENT.format(model=model, more=more))
        assert main(["run", str(corpus)]) == 2
        assert said in capsys.readouterr().err and server.requests == []
