"""A screening whose models are on servers: what the plan says of it, and what is then asked, counted over HTTP."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import write_lines
from support.loopback.behaviours import Behaviour, reply
from support.loopback.json_server import JsonServer, Sent, cohere, embeddings
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, edit, make_corpus

from ragassay.cli import main

QUOTES = [f"write {number} to register" for number in (31, 62, 67, 93)]
TABLES = """
[[chunking]]
name = "small"
by = "sentences"
size = [20, 40]
[[retriever]]
name = "k"
kind = "knn"
embedding = "openai:e"
rerank = "rerank:r"
depth = 7
[[retriever]]
name = "b"
kind = "bm25"
rewrite = "hyde"
rewrite_model = "openai:w"
rerank = "openai:l"
depth = 25
[search]
finalists = 2
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    made = make_corpus(tmp_path / "mine", "openai:m")
    rows = [
        {
            "_id": f"q{n}",
            "text": f"What do I {quote} for?",
            "metadata": {"evidence": [{"doc": "user manual.pdf", "quote": quote}]},
        }
        for n, quote in enumerate(QUOTES)
    ]
    write_lines(made / "queries.jsonl", rows)
    path = made / "experiment.toml"
    text = path.read_text().replace('style = "passage"', 'source = "own"\nevidence = "section"')
    path.write_text(text.replace("fusion_queries = 2", "agents = []") + TABLES)
    return made


def at(corpus: Path, address: str, *models: str, more: str = "") -> None:
    path = corpus / "experiment.toml"
    tables = "".join(f'[models."{model}"]\nbase_url = "{address}"\n{more}' for model in models)
    path.write_text(path.read_text() + tables)


def chat(number: int, body: dict[str, Any]) -> Behaviour:
    shown = str(body["messages"][-1]["content"]).count("<passage")
    order = '"order"' in json.dumps(body.get("response_format", {}))
    return reply(json.dumps({"order": list(range(1, shown + 1))})) if order else answer_everything(number, body)


def served(number: int, path: str, body: dict[str, Any]) -> Sent:
    return embeddings(body) if path.endswith("embeddings") else cohere(body)


def planned(corpus: Path, capsys: pytest.CaptureFixture[str]) -> dict[tuple[str, str], dict[str, Any]]:
    capsys.readouterr()
    assert main(["plan", str(corpus), "--json"]) == 0
    return {(row["stage"], row["model"]): row for row in json.loads(capsys.readouterr().out)}


def test_the_plan_foresees_every_model_and_asks_none(corpus: Path, capsys: pytest.CaptureFixture[str]):
    with JsonServer(served) as server, ScriptedServer("openai", chat) as chats:
        at(corpus, f"{server.address}/v1", "openai:e", "rerank:r", more="prices_usd_per_million = { input = 9.0 }\n")
        at(corpus, chats.base_url, "openai:w", "openai:l", "openai:m")
        before = planned(corpus, capsys)
        assert not server.requests and not chats.requests
        assert main(["run", str(corpus)]) == 0
        asked = Counter(f"rerank:{body['model']}" for path, _, body in server.requests if path.endswith("rerank"))
        asked["openai:e"] = sum(path.endswith("embeddings") for path, _, _ in server.requests)
        asked += Counter(f"openai:{request.body['model']}" for request in chats.requests)
        for model in ("openai:e", "rerank:r", "openai:w", "openai:l"):
            row = before["screen", model]
            assert (row["calls"], row["from_cache"]) == (asked[model], 0), model
        n_finalists = len(json.loads(Path("results/mine/screen.json").read_text())["finalists"])
        assert n_finalists == 2 and before["answer", "openai:m"]["calls"] == n_finalists * len(QUOTES)
        assert before["screen", "openai:e"]["cost_usd"] > 0 and before["screen", "openai:w"]["cost_usd"] is None

        n = len(server.requests), len(chats.requests)
        after = planned(corpus, capsys)
        assert all(row["calls"] == row["from_cache"] for row in after.values())
        edit(corpus, "size = [20, 40]", "size = [20, 40, 60]")
        more = planned(corpus, capsys)["screen", "openai:e"]
        assert (len(server.requests), len(chats.requests)) == n
        assert main(["screen", str(corpus)]) == 0
        new = sum(path.endswith("embeddings") for path, _, _ in server.requests[n[0] :])
        assert more["calls"] - more["from_cache"] == new > 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace("openai:e", "no/such-model"), "embedding model 'no/such-model' cannot be loaded"),
        (lambda text: text.replace('rerank = "rerank:r"', 'rerank = "rerank:r2"'), "rerank:r2 has no base_url"),
        (lambda text: text + '[models."openai:e"]\nbase_url = "http://127.0.0.1:9/v1"\n', "http://127.0.0.1:9/v1"),
        (
            lambda text: text + '[[retriever]]\nname = "p"\nkind = "python"\ncallable = "mine:find"\n',
            "retriever 'p': ",
        ),
    ],
)
def test_what_is_not_at_hand_is_said_before_anything_is_paid(corpus: Path, capsys, change: Any, says: str):
    path = corpus / "experiment.toml"
    with ScriptedServer("openai", chat) as chats:
        path.write_text(change(path.read_text()))
        at(corpus, chats.base_url, "openai:w", "openai:m", "openai:l")
        assert main(["plan", str(corpus)]) == 0
        assert says in capsys.readouterr().out
        assert main(["run", str(corpus)]) == 2
        assert says in capsys.readouterr().err
        assert not chats.requests


def test_finalists_that_change_take_the_place_of_the_others(corpus: Path):
    path = corpus / "experiment.toml"
    tables = path.read_text().replace(TABLES, "")
    tables += '[[retriever]]\nname = "b"\nkind = "bm25"\nk = [1, 3]\n[search]\nfinalists = 1\nbaseline = "b-k_1"\n'
    with ScriptedServer("openai", chat) as chats:
        path.write_text(tables)
        at(corpus, chats.base_url, "openai:m")
        for name in ("b-k_1", "b-k_3"):
            path.write_text(path.read_text().replace('baseline = "b-k_1"', f'baseline = "{name}"'))
            assert main(["run", str(corpus)]) == 0
            assert json.loads(Path("results/mine/results.json").read_text())["agents"] == [name]


def test_where_every_search_fails_the_status_says_it(corpus: Path, capsys: pytest.CaptureFixture[str]):
    edit(corpus, TABLES, '[[retriever]]\nname = "b"\nkind = "bm25"\nrerank = "rerank:r"\n')
    with JsonServer(lambda number, path, body: Sent({"results": []})) as server:
        at(corpus, f"{server.address}/v1", "rerank:r")
        assert [main([stage, str(corpus)]) for stage in ("ingest", "questions", "screen")] == [0, 0, 6]
    assert "the server gave 0 scores for" in capsys.readouterr().out


def test_the_six_are_not_timed_anew_where_a_chunking_joins(corpus: Path):
    path = corpus / "experiment.toml"
    with ScriptedServer("openai", chat) as chats:
        path.write_text(path.read_text().replace(TABLES, "").replace("agents = []", 'agents = ["rag"]'))
        at(corpus, chats.base_url, "openai:m")
        assert main(["run", str(corpus)]) == 0
        times, asked = Path("results/mine/search-times.jsonl").read_bytes(), len(chats.requests)
        path.write_text(path.read_text() + '[[chunking]]\nname = "small"\nsize = 20\n')
        assert main(["run", str(corpus)]) == 0
        assert Path("results/mine/search-times.jsonl").read_bytes() == times
        assert len(chats.requests) == asked
