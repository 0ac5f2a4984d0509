"""Verdicts from games, two lines a game: who won, who flipped, and each agent's share of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from support.recomputed.files import Line


@dataclass(frozen=True)
class Verdict:
    """`winner`: an agent's name, "" for a tie, None where an order failed; `flipped` is None there too."""

    query: str
    agents: tuple[str, str]
    winner: str | None
    flipped: bool | None

    def won_by(self, agent: str) -> bool:
        return self.winner == agent


def winner_of(game: Line) -> str | None:
    """The agent's name, "" for a tie, None for a game that failed."""
    named = {"a": game["agent_a"], "b": game["agent_b"], "tie": "", None: None}
    name: str | None = named[game["winner"]]
    return name


def verdicts_of(games: Iterable[Line]) -> list[Verdict]:
    """Both orders agree: that winner; they disagree: a tie; one failed: no verdict. Probabilities are averaged."""
    pairs: dict[tuple[str, tuple[str, str]], list[Line]] = {}
    for game in games:
        first, second = sorted((game["agent_a"], game["agent_b"]))
        pairs.setdefault((game["query_id"], (first, second)), []).append(game)
    return [_verdict(query, agents, rows) for (query, agents), rows in pairs.items()]


def _verdict(query: str, agents: tuple[str, str], rows: list[Line]) -> Verdict:
    assert sorted(row["first"] for row in rows) == ["a", "b"], f"a game is not there in both orders: {query}, {agents}"
    winners = [winner_of(row) for row in rows]
    if None in winners:
        return Verdict(query, agents, None, None)
    flipped = winners[0] != winners[1]
    chances = [
        row["probability"] if row["agent_a"] == agents[0] else 1 - row["probability"]
        for row in rows
        if row["probability"] is not None
    ]
    if len(chances) == 2:
        mean = round(sum(chances) / 2 - 0.5, 9)
        return Verdict(query, agents, agents[0] if mean > 0 else agents[1] if mean < 0 else "", flipped)
    return Verdict(query, agents, "" if flipped else winners[0], flipped)
