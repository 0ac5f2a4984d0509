"""A variant that joins a finished run of six pays for itself alone: counted over HTTP."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records, write_lines
from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, make_corpus

from ragassay.cli import main

SIX = """
[[retriever]]
name = "plain"
kind = "bm25"
k = 3
[[agent]]
name = "mine"
retriever = "plain"
temperature = [0.1, 0.2, 0.3, 0.4, 0.5]
"""
SEVENTH = """
[[retriever]]
name = "wide"
kind = "bm25"
rewrite = "hyde"
k = 6
[[agent]]
name = "seventh"
retriever = "wide"
temperature = 0.9
"""
QUERIES = [
    ("How is the boot loader reset?", "write 31 to register R10"),
    ("What does register R25 want?", "write 67 to register R25"),
    ("How do I protect the EEPROM?", "write 93 to register R30"),
]


def script(number: int, body: dict[str, Any]) -> Behaviour:
    """An answer of its own to every request for one, and a passage that finds others than the question does."""
    asked = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    if "response_format" not in body:
        return reply(f"It is done by {asked} [1].")
    if body["response_format"]["json_schema"]["name"] == "HypotheticalPassage":
        return reply(json.dumps({"passage": "To verify a fuse and the UART, relocate port B and the stack pointer."}))
    return answer_everything(number, body)


def kinds(server: ScriptedServer, start: int = 0) -> Counter[str]:
    """What was asked, by the name of its reply's schema."""
    bodies = [request.body for request in server.requests[start:]]
    names = [
        body["response_format"]["json_schema"]["name"] if "response_format" in body else "answer" for body in bodies
    ]
    return Counter(names)


def n_lists(results: Path) -> int:
    path = results / "lists.jsonl"
    return len(records(path)) if path.exists() else 0


def pools(results: Path, names: list[str]) -> dict[str, set[str]]:
    """By query, the passages that these agents answered from."""
    found: dict[str, set[str]] = {}
    for name in names:
        for row in records(results / "answers" / f"{name}.jsonl"):
            found.setdefault(row["query_id"], set()).update(row["passages"])
    return found


@pytest.mark.parametrize("games", ["all", "listwise"])
def test_a_seventh_variant_asks_for_its_own_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], games: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
    results = tmp_path / "results" / "mine"
    with ScriptedServer("openai", script) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        write_lines(
            corpus / "queries.jsonl",
            [
                {"_id": f"q{n}", "text": text, "metadata": {"evidence": [{"doc": "user manual.pdf", "quote": quote}]}}
                for n, (text, quote) in enumerate(QUERIES)
            ],
        )
        path = corpus / "experiment.toml"
        text = path.read_text().replace('style = "passage"', 'source = "own"').replace("fusion_queries", "#")
        text = text.replace("[answer]", '[answer]\nagents = ["rag"]').replace("[judge]", f'[judge]\ngames = "{games}"')
        models, table = text.split("\n[models.")
        path.write_text(f"{models}{SIX}\n[models.{table}")
        assert main(["run", str(corpus)]) == 0
        six = sorted(file.stem for file in (results / "answers").iterdir())
        first, played, lists = kinds(server), records(results / "games.jsonl"), n_lists(results)
        n_calls, n = len(server.requests), len(QUERIES)
        assert len(six) == 6 and first["answer"] == 6 * n

        path.write_text(f"{models}{SIX}{SEVENTH}\n[models.{table}")
        capsys.readouterr()
        assert main(["plan", str(corpus), "--json"]) == 0
        planned = json.loads(capsys.readouterr().out)
        assert main(["run", str(corpus)]) == 0
        joined = kinds(server, n_calls)
        assert main(["run", str(corpus)]) == 0 and len(server.requests) == n_calls + joined.total()

    assert [row["calls"] - row["from_cache"] for row in planned if row["stage"] == "screen"] == [n]
    old, new = pools(results, six), pools(results, ["seventh"])
    brought = sum(len(new[query] - old[query]) for query in new)
    expected = {
        "HypotheticalPassage": n,
        "answer": n,
        "RelevanceReply": brought,
        **{name: first[name] // 6 for name in ("PointwiseReply", "CorrectnessReply")},
        "PairwiseReply": 2 * 6 * n if games == "all" else 0,
        "ListwiseReply": n_lists(results) - lists,
    }
    assert brought > 0 and dict(joined) == {name: count for name, count in expected.items() if count}
    kept = [game for game in records(results / "games.jsonl") if "seventh" not in (game["agent_a"], game["agent_b"])]
    assert kept == played
