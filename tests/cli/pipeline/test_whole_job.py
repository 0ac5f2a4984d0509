"""The whole job through the command line: over HTTP, through files, again, killed, and against a failing server."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records
from support.loopback.behaviours import Behaviour, cut, half_body, hang, not_json, prose, refusal, reply, status
from support.loopback.server import ScriptedServer
from support.schema_replies import reply_to
from support.small_corpus import answer_everything, contents, make_corpus

from ragassay.calls.reply_cache import output_line
from ragassay.cli import main

FAILURES = [
    status(429, retry_after_s=0.05),
    status(500),
    status(503),
    cut("before"),
    cut("body"),
    half_body(),
    not_json(),
    prose(),
    refusal(),
]

SECRET = "Zx9-8y7W6v5U4t3S2r1Q0"


def owed(results: Path) -> None:
    """Every record that the experiment owes is there, each with exactly one of its value and its error."""
    queries = [query["_id"] for query in records(results / "queries.jsonl")]
    agents = ["bm25-rag", "bm25-rag-fusion"]
    answers = {agent: records(results / "answers" / f"{agent}.jsonl") for agent in agents}
    for agent in agents:
        assert [answer["query_id"] for answer in answers[agent]] == queries
        assert all((answer["answer"] is None) != (answer["error"] is None) for answer in answers[agent])
    pooled = {(a["query_id"], passage) for rows in answers.values() for a in rows for passage in a["passages"]}
    relevance = records(results / "relevance.jsonl")
    assert sorted((row["query_id"], row["subject"]) for row in relevance) == sorted(pooled)
    pointwise = records(results / "pointwise.jsonl")
    assert len(pointwise) == len(queries) * len(agents) * 6, "five criteria, and whether it is a refusal"
    assert all((row["label"] is None) != (row["error"] is None) for row in relevance + pointwise)
    games = records(results / "games.jsonl")
    assert sorted((g["query_id"], g["first"]) for g in games) == sorted((q, first) for q in queries for first in "ab")
    assert all((game["winner"] is None) != (game["error"] is None) for game in games)


def test_a_run_a_rerun_and_what_makes_a_stage_stale(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        assert main(["run", str(corpus)]) == 0
        results = tmp_path / "results" / "mine"
        owed(results)
        printed = capfd.readouterr()
        assert "bm25-rag-fusion" in printed.out and "report.html" in printed.out
        assert printed.err.count("the price of openai:m is not known") == 1
        first, n_calls = contents(results), len(server.requests)

        (corpus / "experiment.toml").touch()
        (corpus / "errata.pdf").touch()
        assert main(["run", str(corpus)]) == 0
        assert capfd.readouterr().err.count("up to date") == 8
        assert contents(results) == first and len(server.requests) == n_calls

        for path in results.rglob("*.json*"):
            if path.parent.name != "replies" and path.name != "search-times.jsonl":  # what was received and measured
                path.unlink()
        assert main(["run", str(corpus)]) == 0
        assert contents(results) == first, "a rerun from the reply cache gives the same bytes"
        assert len(server.requests) == n_calls

        text = (corpus / "experiment.toml").read_text()
        (corpus / "experiment.toml").write_text(text.replace("bootstrap = 100", "bootstrap = 120"))
        capfd.readouterr()
        assert main(["run", str(corpus)]) == 0
        assert "compare: running (compare.bootstrap: 100 is now 120)" in capfd.readouterr().err
        assert len(server.requests) == n_calls

        changed = text.replace("bootstrap = 100", "bootstrap = 120\nmatters = { wins = 0.1 }")
        (corpus / "experiment.toml").write_text(changed)
        assert main(["compare", str(corpus)]) == 2
        said = capfd.readouterr().err
        assert "compare.matters names 'wins', which is not compared here" in said and "accuracy" in said
    assert b"sk-test" not in b"".join(contents(tmp_path).values()), "the key was written somewhere"


@pytest.mark.parametrize("verb", ["plan", "run", "questions"])
@pytest.mark.parametrize(
    ("matters", "refused"),
    [
        ("wins = 0.1", "names 'wins'"),
        ('"umbrela.P(rel=2)@7" = 0.1', "names 'umbrela.P(rel=2)@7'"),
        ('"umbrela.P(rel=2)@5" = 0.1, query_answered = 0.2, points = 0.05', None),
    ],
)
def test_what_matters_is_known_before_anything_is_paid_for(tmp_path: Path, capsys, verb, matters, refused):
    """Those of evaluators by their names and cutoffs; no verb has read a PDF or asked anybody yet."""
    corpus = make_corpus(tmp_path / "mine", "file:m")
    text = (corpus / "experiment.toml").read_text()
    more = f'\n[compare]\nmatters = {{ {matters} }}\n[evaluate]\njudges = ["umbrela", "no_answer"]\n'
    (corpus / "experiment.toml").write_text(text.partition("[compare]")[0] + more)
    status = main([verb, str(corpus)])
    err = capsys.readouterr().err
    if refused is None:
        assert "compare.matters" not in err
        return
    assert status == 2 and refused in err and "umbrela.P(rel=2)@5" in err and "points" in err
    assert "experiment.toml" in err and err.count("\n") == 1
    assert not list(tmp_path.glob("results/*/*.jsonl"))


def test_a_stage_alone_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    assert main(["judge", str(corpus)]) == 2
    assert "ragassay run" in capsys.readouterr().err
    assert main(["ingest", str(corpus)]) == 0
    assert main(["questions", str(corpus)]) == 3


def test_against_a_server_that_fails_thirty_percent_of_the_time_every_record_is_there(tmp_path: Path):
    chance = random.Random(5)
    hangs = iter([True, True])

    def script(number: int, body: dict[str, Any]) -> Behaviour:
        if number % 40 == 7 and next(hangs, False):
            return hang()
        return chance.choice(FAILURES) if chance.random() < 0.3 else reply(reply_to(body))

    with ScriptedServer("openai", script) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, retries=6, timeout_s=1.0)
        assert main(["run", str(corpus)]) == 0
    results = tmp_path / "results" / "mine"
    owed(results)
    figures = json.loads((results / "results.json").read_text())
    failed = sum(row["error"] is not None for row in records(results / "relevance.jsonl"))
    assert figures["n_relevance_failed"] == failed


def test_a_gateway_that_repeats_the_callers_key_puts_it_into_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Neither in replies that fit nor in what is said of those that do not."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)

    def script(number: int, body: dict[str, Any]) -> Behaviour:
        said = reply_to(body)
        if number % 7 == 0:
            return Behaviour(f"not with {SECRET}", ending="refusal")
        if not said.startswith("{") or number % 5 == 0:
            return reply(f"{said} {SECRET}")
        given = json.loads(said)
        return reply({name: f"{x} {SECRET}" if isinstance(x, str) and " " in x else x for name, x in given.items()})

    with ScriptedServer("openai", script) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        assert main(["run", str(corpus), "--results", "results"]) == 0
    files = [path for folder in (corpus, tmp_path / "results") for path in folder.rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert "…" in (tmp_path / "results" / "answers" / "bm25-rag.jsonl").read_text()


def test_through_files_of_requests_and_replies_the_two_orders_of_a_game_never_in_one(tmp_path: Path, capsys):
    corpus = make_corpus(tmp_path / "behind a wall", "file:m")
    results = tmp_path / "results" / "behind-a-wall"
    asked: list[str] = []
    seen: dict[str, set[str]] = {}
    for turn in range(8):
        code = main(["run", str(corpus)])
        if code != 3:
            break
        assert "wait for replies" in capsys.readouterr().err
        lines = []
        for path in sorted((results / "requests").glob("*.jsonl")):
            of_file = records(path)
            lines += of_file
            seen.setdefault(path.name.rsplit("-", 1)[0], set()).update(line["custom_id"] for line in of_file)
        new = [line for line in lines if line["custom_id"] not in asked]
        asked += [line["custom_id"] for line in new]
        file = tmp_path / f"replies {turn}.jsonl"
        bodies = [{"choices": [{"message": {"content": reply_to(line["body"])}}]} for line in new]
        text = "".join(
            json.dumps(output_line(line["custom_id"], body)) + "\n" for line, body in zip(new, bodies, strict=True)
        )
        file.write_text(text)
        assert main(["replies", str(file), str(corpus)]) == 0
        assert f"{len(new)} replies taken in" in capsys.readouterr().out
    assert code == 0
    owed(results)
    games = [keys for label, keys in seen.items() if label.startswith("games")]
    assert len(games) == 2 and not set.intersection(*games)
    assert json.loads((results / "results.json").read_text())["usage"][0]["cost_usd"] is None


@pytest.mark.slow
def test_killed_anywhere_it_goes_on_and_asks_for_nothing_it_has(tmp_path: Path):
    chance = random.Random(3)

    def script(number: int, body: dict[str, Any]) -> Behaviour:
        del number
        return reply(reply_to(body), delay_s=0.03)

    with ScriptedServer("openai", script) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        received = tmp_path / "results" / "mine" / "replies"
        command = [sys.executable, "-m", "ragassay", "run", str(corpus)]
        had: list[set[str]] = []
        for _ in range(4):
            n_before = len(server.requests)
            process = subprocess.Popen(command, cwd=tmp_path, env=os.environ, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 30
            wanted = n_before + chance.randrange(2, 12)
            while len(server.requests) < wanted and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
            had.append({line["custom_id"] for path in received.glob("*.jsonl") for line in _whole_lines(path)})
        assert main(["run", str(corpus)]) == 0
        bodies = [json.dumps(request.body, sort_keys=True) for request in server.requests]
    owed(tmp_path / "results" / "mine")
    assert had == sorted(had, key=len), "a reply was lost"
    n_kept = len({line["custom_id"] for path in received.glob("*.jsonl") for line in records(path)})
    assert n_kept == len(set(bodies))
    assert len(bodies) - len(set(bodies)) <= 4 * 8, "more was asked twice than was under way when it was killed"


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().split("\n")[:-1] if line]
