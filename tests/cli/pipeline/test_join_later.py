"""A variant that joins a finished run of six pays for itself alone: counted over HTTP."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records, write_lines
from support.loopback.behaviours import Behaviour, reply
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, make_corpus
from support.small_run import SmallRun, finished_in

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


def own_queries(corpus: Path) -> None:
    rows = []
    for n, (text, quote) in enumerate(QUERIES):
        rows.append(
            {"_id": f"q{n}", "text": text, "metadata": {"evidence": [{"doc": "user manual.pdf", "quote": quote}]}}
        )
    write_lines(corpus / "queries.jsonl", rows)


def tables(corpus: Path) -> tuple[str, str]:
    """experiment.toml with the user's own queries, before the table of models and from it."""
    text = (corpus / "experiment.toml").read_text().replace('style = "passage"', 'source = "own"')
    text = text.replace("fusion_queries", "#").replace("[answer]", '[answer]\nagents = ["rag"]')
    models, table = text.split("\n[models.")
    return models, f"\n[models.{table}"


def script(number: int, body: dict[str, Any]) -> Behaviour:
    """An answer of its own to every request for one, and a passage that finds others than the question does."""
    asked = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    if "response_format" not in body:
        return reply(f"It is done by {asked} [1].")
    if body["response_format"]["json_schema"]["name"] == "HypotheticalPassage":
        return reply(json.dumps({"passage": "To verify a fuse and the UART, relocate port B and the stack pointer."}))
    return answer_everything(number, body)


def kinds(server: ScriptedServer, start: int = 0, stop: int | None = None) -> Counter[str]:
    """What was asked, by the name of its reply's schema."""
    bodies = [request.body for request in server.requests[start:stop]]
    names = [
        body["response_format"]["json_schema"]["name"] if "response_format" in body else "answer" for body in bodies
    ]
    return Counter(names)


def pools(results: Path, names: list[str]) -> dict[str, set[str]]:
    """By query, the passages that these agents answered from."""
    found: dict[str, set[str]] = {}
    for name in names:
        for row in records(results / "answers" / f"{name}.jsonl"):
            found.setdefault(row["query_id"], set()).update(row["passages"])
    return found


def test_a_seventh_variant_asks_for_its_own_and_nothing_else(tmp_path: Path, capsys) -> None:
    results = tmp_path / "results" / "mine"
    with ScriptedServer("openai", script) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        own_queries(corpus)
        path = corpus / "experiment.toml"
        models, table = tables(corpus)
        path.write_text(f"{models}{SIX}{table}")
        assert main(["run", str(corpus)]) == 0
        six = sorted(file.stem for file in (results / "answers").iterdir())
        first, played = kinds(server), records(results / "games.jsonl")
        n_calls, n = len(server.requests), len(QUERIES)
        assert len(six) == 6 and first["answer"] == 6 * n

        path.write_text(f"{models}{SIX}{SEVENTH}{table}")
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
        "PairwiseReply": 2 * 6 * n,
    }
    assert brought > 0 and dict(joined) == expected
    kept = [game for game in records(results / "games.jsonl") if "seventh" not in (game["agent_a"], game["agent_b"])]
    assert kept == played


def with_two(corpus: Path) -> None:
    """bm25-rag and two others."""
    own_queries(corpus)
    models, table = tables(corpus)
    (corpus / "experiment.toml").write_text(f"{models}{SIX.replace('0.1, 0.2, 0.3, 0.4, 0.5', '0.1, 0.2')}{table}")


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallRun]:
    with finished_in(tmp_path_factory.mktemp("three"), script, with_two) as run:
        run.set("0.1, 0.2", "0.7")
        yield replace(run, n_calls=len(run.server.requests))


@pytest.fixture
def finished(three: SmallRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallRun:
    """A corpus folder whose run, in results/mine, has bm25-rag and two others, and an experiment with another one."""
    return three.copied(tmp_path, monkeypatch)


def test_agents_of_two_folders_meet_and_only_games_across_are_new(three: SmallRun, finished: SmallRun) -> None:
    n = len(QUERIES)
    arguments = ["run", "mine", "--results", "second", "--with", "results/mine"]
    assert main(arguments) == 0
    asked, first = kinds(finished.server, finished.n_calls), kinds(finished.server, stop=three.n_calls)
    each = {name: first[name] // 3 for name in ("PointwiseReply", "CorrectnessReply")}
    assert dict(asked) == {"answer": n, "PairwiseReply": 2 * 3 * n, **each}, (
        "of the new agent, and no passage is graded"
    )
    agents = sorted(file.stem for file in Path("second/answers").iterdir())
    assert agents == ["bm25-rag", "bm25-rag-mine", "mine", "mine-temperature_0.1", "mine-temperature_0.2"]
    there, here = records(Path("results/mine/games.jsonl")), records(Path("second/games.jsonl"))
    pair = {"mine-temperature_0.1", "mine-temperature_0.2"}
    winners = [
        [
            (game["query_id"], game["first"], game["winner"])
            for game in games
            if {game["agent_a"], game["agent_b"]} == pair
        ]
        for games in (there, here)
    ]
    assert winners[0] == winners[1] and len(winners[0]) == 2 * n
    n_calls = finished.asked()
    assert main(arguments) == 0 and finished.asked() == n_calls


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda run: write_lines(run.corpus / "queries.jsonl", [{"_id": "q0", "text": "Another?"}]),
            "query 'q0' is not the same",
        ),
        (lambda run: run.set("passage_words = 40", "passage_words = 30"), "is another one here; give both"),
        (lambda run: shutil.rmtree("results/mine/answers"), "there are no answers to queries in it"),
    ],
)
def test_folders_that_do_not_fit_are_refused_before_anything_is_asked(
    finished: SmallRun, capsys: pytest.CaptureFixture[str], change: Callable[[SmallRun], object], said: str
) -> None:
    change(finished)
    assert main(["run", "mine", "--results", "second", "--with", "results/mine"]) == 2
    assert said in capsys.readouterr().err and finished.asked() == 0
