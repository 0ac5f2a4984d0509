"""`rate` on games as other people write them down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.evaluate.from_files.rate import rate_file

GAMES = [("q1", "x", "y", "a"), ("q2", "y", "x", "b"), ("q3", "x", "z", "tie"), ("q4", "z", "y", "b")] * 2
WORDS = {"a": "model_a", "b": "model_b", "tie": "tie (bothbad)"}


def written(folder: Path, layout: str) -> Path:
    """The same games in a layout; none of them has an order but RAGElo's, whose agent_a is shown first."""
    rows = [(f"{query}{i}", one, other, winner) for i, (query, one, other, winner) in enumerate(GAMES)]
    if layout in {"ours.csv", "names.csv"}:
        told = [(q, a, b, {"a": a, "b": b, "tie": "tie"}[w] if layout == "names.csv" else w) for q, a, b, w in rows]
        header = "query_id,agent_a,agent_b,winner"
    elif layout == "ragelo.csv":
        told, header = (
            [(q, a, b, {"a": "A", "b": "B", "tie": "C"}[w]) for q, a, b, w in rows],
            "qid,agent_a,agent_b,answer",
        )
    elif layout == "kaggle.csv":
        told = [(q, a, b, int(w == "a"), int(w == "b"), int(w == "tie")) for q, a, b, w in rows]
        header = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie"
    else:
        arena = [{"question_id": q, "model_a": a, "model_b": b, "winner": WORDS[w]} for q, a, b, w in rows]
        plain = [{"query_id": q, "agent_a": a, "agent_b": b, "winner": w} for q, a, b, w in rows]
        path = folder / layout
        objects = plain if layout == "ours.jsonl" else arena
        path.write_text(json.dumps(arena) if layout.endswith(".json") else "\n".join(map(json.dumps, objects)))
        return path
    path = folder / layout
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in told)]) + "\n")
    return path


@pytest.mark.parametrize(
    "layout",
    ["ours.jsonl", "ours.csv", "names.csv", "ragelo.csv", "kaggle.csv", "arena.json", "arena.jsonl"],
)
def test_every_layout_gives_the_ratings_of_the_same_games(tmp_path: Path, layout: str):
    games = [
        {"query_id": f"{q}{i}", "agent_a": a, "agent_b": b, "first": "a", "winner": w}
        for i, (q, a, b, w) in enumerate(GAMES)
    ]
    (tmp_path / "games.jsonl").write_text("\n".join(map(json.dumps, games)))
    expected = rate_file(tmp_path / "games.jsonl", "bradley-terry", bootstrap=100)
    found = rate_file(written(tmp_path, layout), "bradley-terry", bootstrap=100)
    assert found["ratings"] == expected["ratings"] and found["n_verdicts"] == len(GAMES)
    assert found["first_shown_wins"]["n"] == (expected["first_shown_wins"]["n"] if layout == "ragelo.csv" else 0)


def test_games_without_an_order_are_not_taken_for_the_two_orders_of_one(tmp_path: Path):
    """Two games of one query that contradict each other: with orders one tie, without two games."""
    rows = [
        {"query_id": "q", "agent_a": "x", "agent_b": "y", "winner": "a"},
        {"query_id": "q", "agent_a": "y", "agent_b": "x", "winner": "a"},
    ]
    (tmp_path / "g.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = rate_file(tmp_path / "g.jsonl", "elo")
    assert (found["n_verdicts"], found["flip_rate"]["n"], found["first_shown_wins"]["value"]) == (2, 0, None)
    (tmp_path / "g.jsonl").write_text("\n".join(json.dumps(row | {"first": "a"}) for row in rows))
    found = rate_file(tmp_path / "g.jsonl", "elo")
    assert (found["n_verdicts"], found["flip_rate"]["value"]) == (1, 1.0)


def test_a_game_without_a_winner_failed_and_is_no_tie(tmp_path: Path):
    (tmp_path / "g.csv").write_text("query_id,agent_a,agent_b,winner\nq1,x,y,a\nq2,x,y,\n")
    found = rate_file(tmp_path / "g.csv", "elo")
    assert (found["n_games"], found["n_failed"], found["n_verdicts"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("g.csv", "query_id,agent_a,agent_b,winner\nq1,x,y,draw\n", r"g.csv:2: winner is 'draw'; a game has query_id"),
        ("g.csv", "agent_a,agent_b,winner\nx,y,a\n", r"g.csv:2: has no 'query_id'; a game has"),
        ("g.csv", "query_id,left,right,winner\nq,x,y,a\n", r"g.csv:2: has no 'agent_a'; a game has"),
        ("g.csv", "query_id,agent_a,agent_b\nq,x,y\n", r"g.csv:2: has no 'winner'; a game has"),
        ("g.csv", "query_id,agent_a,agent_b,winner\nq,x,x,a\n", r"g.csv:2: .*plays itself"),
        ("g.json", '{"a": 1}', "is not a JSON array of games"),
        ("g.jsonl", '{"query_id": "q", "agent_a": "x"}', r"g.jsonl:1: has no 'agent_b'"),
    ],
)
def test_a_refusal_names_the_layout_wanted(tmp_path: Path, name: str, text: str, says: str):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=says):
        rate_file(tmp_path / name, "elo")
