"""A whole run whose embeddings come from a server: planned, counted, paid once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.loopback.json_server import JsonServer, embeddings
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, edit, make_corpus

from ragassay.cli import main

TABLE = """
[models."openai:tiny-embedder"]
base_url = "{}/v1"
prices_usd_per_million = {{ input = 100.0 }}
"""


@pytest.fixture
def planned(capsys: pytest.CaptureFixture[str]):
    def plan(corpus: Path) -> dict[tuple[str, str], dict]:
        capsys.readouterr()
        assert main(["plan", str(corpus), "--json"]) == 0
        return {(row["stage"], row["model"]): row for row in json.loads(capsys.readouterr().out)}

    return plan


def test_it_is_in_the_plan_and_the_usage_and_a_second_run_asks_nothing(tmp_path: Path, planned):
    row = ("retrieve", "openai:tiny-embedder")
    with (
        ScriptedServer("openai", answer_everything) as chat,
        JsonServer(lambda number, path, body: embeddings(body)) as server,
    ):
        corpus = make_corpus(tmp_path / "mine", "openai:m", chat.base_url, more=TABLE.format(server.address))
        served = 'retrievers = ["bm25", "knn"]\nembedding = "openai:tiny-embedder"'
        edit(corpus, 'retrievers = ["bm25"]', served)
        before = planned(corpus)[row]
        assert before["estimated"] and before["from_cache"] == 0 and before["cost_usd"] > 0 and not server.requests

        assert main(["run", str(corpus)]) == 0
        texts = [text for _, _, body in server.requests for text in body["input"]]
        assert len(texts) == len(set(texts)) > 20 and before["calls"] == pytest.approx(len(server.requests), abs=1)
        usage = json.loads((tmp_path / "results/mine/results.json").read_text())["usage"]
        taken = [one for one in usage if one["model"] == "openai:tiny-embedder"]
        assert sum(one["calls"] for one in taken) == len(server.requests)
        assert sum(one["input_tokens"] for one in taken) == 5 * len(texts)
        assert sum(one["cost_usd"] for one in taken) == pytest.approx(5 * len(texts) * 100e-6)

        n_calls = len(server.requests)
        after = planned(corpus)[row]
        assert (after["calls"], after["cost_usd"]) == (after["from_cache"], 0) and 0 < after["calls"] <= n_calls
        (tmp_path / "results/mine/rankings/knn-rag.trec").unlink()
        assert main(["run", str(corpus)]) == 0
        assert len(server.requests) == n_calls


def test_the_table_of_an_embedding_model_that_nothing_names_is_refused(tmp_path: Path, capsys):
    corpus = make_corpus(tmp_path / "mine", "openai:m", more=TABLE.format("http://127.0.0.1:9"))
    assert main(["plan", str(corpus)]) == 2
    assert '[models."openai:tiny-embedder"] is a model that no table uses' in capsys.readouterr().err
