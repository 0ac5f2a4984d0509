"""Elo by playing it game by game, and Bradley-Terry by Newton's method on the log-likelihood.

Elo: The Rating of Chessplayers (1978). Bradley and Terry (1952); a tie is half a win for each, and the maximum of the
concave log-likelihood sum of w_ij log(s_i / (s_i + s_j)) is found from its gradient and Hessian. With Davidson's tie
parameter (1970) the maximum is found by scipy.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize
from support.recomputed.games import Verdict

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


def ties_of(verdicts: Sequence[Verdict], agents: Sequence[str]) -> np.ndarray:
    """(agents, agents): ties, symmetric."""
    ties = np.zeros((len(agents), len(agents)))
    for a, b, score in rows_of(verdicts, agents):
        if score == 0.5:
            ties[a, b] += 1
            ties[b, a] += 1
    return ties


def davidson(wins: np.ndarray, ties: np.ndarray) -> tuple[np.ndarray, float]:
    """Log strengths with mean 0 and the tie parameter, by scipy; `wins` are those without ties."""

    def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
        half = (at[:-1, None] - at[None, :-1]) / 2
        total = np.exp(half) + np.exp(-half) + np.exp(at[-1])
        won, tied = np.exp(half) / total, np.exp(at[-1]) / total
        games = wins + wins.T + ties
        value = (wins * (half - np.log(total))).sum() + (ties / 2 * (at[-1] - np.log(total))).sum()
        slope = ((wins - wins.T) / 2 - games * (won - won.T) / 2).sum(axis=1)
        return -value, -np.append(slope, (ties / 2 - games / 2 * tied).sum())

    best = minimize(loss, np.zeros(len(wins) + 1), jac=True, method="BFGS", options={"gtol": 1e-7})
    return best.x[:-1] - best.x[:-1].mean(), float(np.exp(best.x[-1]))


def has_davidson(wins: np.ndarray, ties: np.ndarray) -> bool:
    """Whether there are no ties, or some agents beat one another in a circle (without ties)."""
    led = reaches(wins)
    return bool(not ties.any() or (led & led.T & ~np.eye(len(wins), dtype=bool)).any())


def standing_with_ties(wins: np.ndarray, ties: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """As `standing`, by Davidson's model where that has a maximum; `wins` are those without ties."""
    above, log = standing(wins + ties / 2)
    if log is None or not ties.any():
        return above, log
    if not has_davidson(wins, ties):
        return above, None
    log = davidson(wins, ties)[0]
    return log[:, None] - log[None, :] > 1e-7, log


def circles(wins: np.ndarray) -> tuple[int, int]:
    """Threes with a majority between each two, and those of them in which everyone beats one other."""
    n, found = len(wins), [0, 0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                won = [sum(wins[x, y] > wins[y, x] for y in (i, j, k)) for x in (i, j, k)]
                found[0] += sum(won) == 3
                found[1] += won == [1, 1, 1]
    return int(found[0]), int(found[1])


def chances_of_best(log: np.ndarray, covariance: np.ndarray, n: int) -> np.ndarray:
    """P(best) of each agent, log strengths normal around their true ones, and these normal around their mean.

    Their standard deviation has a half-normal prior of scale 1; the posterior is sampled in all coordinates at once.
    """
    size, generator = len(log), np.random.default_rng(11)
    centre, steps = np.eye(size) - 1 / size, np.linspace(0.005, 3.0, 60)
    noise = covariance * n / (n - 1)
    weights = []
    for step in steps:
        values, axes = np.linalg.eigh(centre @ noise @ centre + step**2 * centre)
        kept = values > 1e-10
        along = axes[:, kept].T @ (centre @ log)
        weights.append(-0.5 * float((np.log(values[kept]) + along**2 / values[kept]).sum()) - step**2 / 2)
    shares = np.exp(np.array(weights) - max(weights))
    counts = np.zeros(size)
    for step in generator.choice(steps, 2000, p=shares / shares.sum()):
        wide = noise * (n - 1) / generator.chisquare(n - 1)
        gain = step**2 * np.linalg.pinv(centre @ wide @ centre + step**2 * centre, hermitian=True)
        left = step**2 * centre - step**2 * gain @ centre
        values, axes = np.linalg.eigh((left + left.T) / 2)
        luck = axes @ (np.sqrt(np.maximum(values, 0)) * generator.standard_normal(size))
        counts[np.argmax(gain @ centre @ log + luck)] += 1
    return counts / 2000


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
