"""Adaptive play by a `file:` judge on the command line: stopped for replies again and again, cut short, and killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records, write_lines
from support.schema_replies import reply_to
from support.small_corpus import make_corpus

from ragassay.calls.reply_cache import output_line
from ragassay.cli import main

N_QUERIES = 9
SAYS = {"bad": "THE WORST", "one": "The one", "other": "The other", "poor": "THE POOR"}
SETTINGS = """\
[ingest]
passage_words = 40
passage_overlap_words = 8
[questions]
source = "own"
evidence = "section"
[answer]
model = "file:m"
agents = []
[judge]
model = "file:m"
criteria = ["accuracy"]
games = "adaptive"
adaptive_max_games = 0.9
[compare]
tournaments = 10
bootstrap = 100
"""
DIES = """\
import os, signal, sys
from ragassay.cli import main
left, move = int(sys.argv.pop(1)), os.replace
def replace(*places):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    move(*places)
os.replace = replace
sys.exit(main(sys.argv[1:]))
"""
"""The command line, killed where it would put its n-th file into place."""


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nine questions and the answers of four systems, two of them better than the others."""
    monkeypatch.chdir(tmp_path)
    folder = make_corpus(tmp_path / "mine", "file:m")
    names = [f"q{n:02d}" for n in range(N_QUERIES)]
    write_lines(folder / "queries.jsonl", [{"_id": name, "text": f"How is {name} reset?"} for name in names])
    agents = ""
    for agent, text in SAYS.items():
        write_lines(folder / f"{agent}.jsonl", [{"query_id": name, "answer": f"{text} way: {name}."} for name in names])
        agents += f'[[agent]]\nname = "{agent}"\nkind = "file"\npath = "{agent}.jsonl"\n'
    (folder / "experiment.toml").write_text(SETTINGS + agents)
    return folder


def verdict(line: dict[str, Any]) -> str:
    """Of the two good answers each wins on every second question, and against the bad ones always, as do these.

    Other requests get what fits the schema.
    """
    body = line["body"]
    if "verdict" not in body["response_format"]["json_schema"]["schema"]["properties"]:
        return reply_to(body)
    first, second = body["messages"][-1]["content"].split("<answer")[1:]
    odd = int(first.split("way: q")[1][:2]) % 2
    better = ("one", "other", "poor", "bad") if odd else ("other", "one", "bad", "poor")
    winner = next(SAYS[agent] for agent in better if SAYS[agent] in first + second)
    return json.dumps({"reason": "It says more.", "verdict": "A" if winner in first else "B"})


def waiting(results: Path) -> list[dict[str, Any]]:
    return [line for path in sorted((results / "requests").glob("*.jsonl")) for line in records(path)]


def deliver(corpus: Path, results: Path, some: list[dict[str, Any]]) -> None:
    """Take in the replies to these requests."""
    rows = [output_line(line["custom_id"], {"choices": [{"message": {"content": verdict(line)}}]}) for line in some]
    write_lines(results / "delivered", rows)
    assert main(["replies", str(results / "delivered"), str(corpus), "--results", str(results)]) == 0


def answered_round_by_round(corpus: Path, results: Path) -> list[set[str]]:
    """What each round asked for, all of it answered before the next."""
    rounds: list[set[str]] = []
    while main(["run", str(corpus), "--results", str(results)]) == 3:
        rounds.append({line["custom_id"] for line in waiting(results)})
        deliver(corpus, results, waiting(results))
    return rounds


def killed(corpus: Path, results: Path, n_moves: int) -> None:
    """A run that is killed before it puts one more file into place."""
    command = [sys.executable, "-c", DIES, str(n_moves), "run", str(corpus), "--results", str(results)]
    done = subprocess.run(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_cut_short_and_killed_it_goes_the_same_way_and_asks_nothing_twice(tmp_path: Path, corpus: Path):
    whole, broken = tmp_path / "whole" / "mine", tmp_path / "broken" / "mine"
    rounds = answered_round_by_round(corpus, whole)
    games = records(whole / "games.jsonl")
    played = Counter((game["agent_a"], game["agent_b"]) for game in games)
    assert len(rounds) == N_QUERIES // 3, "three queries of a pair a round, twice as many of the two good ones"
    assert played["one", "other"] == 2 * N_QUERIES
    assert played["bad", "poor"] == 2 * 3, "those out of the running play the first round alone"
    assert played["bad", "one"] == played["other", "poor"] == 2 * N_QUERIES, "but go on against those in it"
    assert all(game["error"] is None for game in games)

    moves = {2: 0, 5: 1, 2 * len(rounds): 3}
    had: set[str] = set()
    turn = 0
    while True:
        if turn in moves:
            killed(corpus, broken, moves[turn])
        if main(["run", str(corpus), "--results", str(broken)]) != 3:
            break
        asked = waiting(broken)
        assert had.isdisjoint(line["custom_id"] for line in asked), "what was answered is asked again"
        some = asked if turn % 2 else asked[::2]
        deliver(corpus, broken, some)
        had |= {line["custom_id"] for line in some}
        turn += 1
    assert turn == 2 * len(rounds), "each round was delivered in two parts"
    assert had == set.union(*rounds), "another request was asked than without the kills"
    for name in ("games.jsonl", "pointwise.jsonl", "results.json"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes(), name
