"""Elo by playing it game by game, and Bradley-Terry by Newton's method on the log-likelihood.

Elo: The Rating of Chessplayers (1978). Bradley and Terry (1952); a tie is half a win for each, and the maximum of the
concave log-likelihood sum of w_ij log(s_i / (s_i + s_j)) is found from its gradient and Hessian.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from recomputed.games import Verdict

POINTS = 400 / np.log(10)


def tournament(
    games: Sequence[tuple[int, int, float]], n: int, k_factor: float, initial: float, chance: random.Random
) -> list[float]:
    """Ratings after one tournament: (a, b, a's score) in random order."""
    ratings, order = [initial] * n, list(games)
    chance.shuffle(order)
    for a, b, score in order:
        gain = k_factor * (score - 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400)))
        ratings[a] += gain
        ratings[b] -= gain
    return ratings


def rows_of(verdicts: Sequence[Verdict], agents: Sequence[str]) -> list[tuple[int, int, float]]:
    """(a, b, a's score), the verdicts there are."""
    at = {agent: index for index, agent in enumerate(agents)}
    return [
        (at[v.agents[0]], at[v.agents[1]], 0.5 if v.winner == "" else float(v.won_by(v.agents[0])))
        for v in verdicts
        if v.winner is not None
    ]


def wins_of(verdicts: Sequence[Verdict], agents: Sequence[str]) -> np.ndarray:
    """(agents, agents): row's wins against column."""
    wins = np.zeros((len(agents), len(agents)))
    for a, b, score in rows_of(verdicts, agents):
        wins[a, b] += score
        wins[b, a] += 1 - score
    return wins


def strengths(wins: np.ndarray) -> np.ndarray:
    """Log strengths with mean 0, for a table in which a finite maximum exists."""
    n, log = len(wins), np.zeros(len(wins))
    games = wins + wins.T
    for _ in range(200):
        share = 1 / (1 + np.exp(log[None, :] - log[:, None]))
        gradient = wins.sum(axis=1) - (games * share).sum(axis=1)
        weight = games * share * (1 - share)
        hessian = np.diag(weight.sum(axis=1)) - weight
        step = np.linalg.solve(hessian + 1 / n, gradient)
        log = log + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-12:
            break
    return np.asarray(log - log.mean())


def reaches(wins: np.ndarray) -> np.ndarray:
    """(agents, agents): whether a chain of wins leads from row to column."""
    reached = np.eye(len(wins), dtype=bool)
    for start in range(len(wins)):
        waiting = [start]
        while waiting:
            for found in np.flatnonzero((wins[waiting.pop()] > 0) & ~reached[start]).tolist():
                reached[start, found] = True
                waiting.append(found)
    return reached


def standing(wins: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """(row stands above column, log strengths or None where there is no finite maximum)."""
    reached = reaches(wins)
    if reached.all():
        log = strengths(wins)
        return log[:, None] - log[None, :] > 1e-7, log
    above = reached & ~reached.T
    left = set(range(len(wins)))
    while left:
        group = sorted(i for i in left if reached[min(left), i] and reached[i, min(left)])
        left -= set(group)
        if len(group) > 1:
            log = strengths(wins[np.ix_(group, group)])
            above[np.ix_(group, group)] = log[:, None] - log[None, :] > 1e-7
    return above, None
