"""Simulated tournaments: games whose answers share luck, queries in sections, ties, and a judge that fails.

On a query each game is a standard normal, and cut so that a pair wins, loses and ties as often as the world says. A
share `luck` of its variance is the luck of the two answers, which all games of an answer on a query have in common;
of all normals a share `icc` is common to the queries of a section. So shares hold exactly, however games depend on one
another.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats, Ints, Truths
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.ratings.verdicts import Points

TABLE_5 = Path(__file__).parents[2] / "tests" / "data" / "paper_tables" / "ragelo_table5_wins.csv"

FAR = 0.8
"""The share of its games that an equal best agent wins against one that is far behind."""

Scores = NDArray[np.float32]
"""(experiments, pairs, queries): of each pair's first agent, 1, 0.5 or 0; NaN where the judge failed or was not asked.
Pairs are in the order of `itertools.combinations`."""


def table_5() -> Floats:
    """(agents, agents): the shares of wins that the RAGElo paper prints."""
    with TABLE_5.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    return np.array([[float(cell or 0) / 100 for cell in row[1:]] for row in rows])


def equal_best(n_agents: int, n_best: int, won: float) -> Floats:
    """The first `n_best` win `won` of their games against each other and FAR against the rest, who are equal too."""
    wins = np.full((n_agents, n_agents), won)
    wins[:n_best, n_best:], wins[n_best:, :n_best] = FAR, (1 - FAR) / 2
    np.fill_diagonal(wins, 0)
    return wins


def unequal_ties(n_agents: int, bold: float = 0.4, careful: float = 0.55, ahead: float = 0.15) -> Floats:
    """Two exactly level best agents: the first ties `bold` of its games, the second `careful` of its against the rest.

    ahead: both have .5 + ahead points against each of the rest.
    """
    wins = np.full((n_agents, n_agents), (1 - bold) / 2)
    for agent, tied in ((0, bold), (1, careful)):
        wins[agent, 2:], wins[2:, agent] = (1 - tied) / 2 + ahead, (1 - tied) / 2 - ahead
    np.fill_diagonal(wins, 0)
    return wins


def one_ahead(n_agents: int, by: float, tied: float = 0.2) -> Floats:
    """The first is ahead of each other by `by` points, and the others are level. All tie as often."""
    half = by * (n_agents - 1) / n_agents
    wins = np.full((n_agents, n_agents), (1 - tied) / 2)
    wins[0], wins[:, 0] = (1 - tied) / 2 + half, (1 - tied) / 2 - half
    np.fill_diagonal(wins, 0)
    return wins


def of_strengths(strengths: Floats, tied: float = 0.3) -> Floats:
    """(..., agents, agents): the wins of strengths (..., agents), in standard deviations of a game, where two equal
    agents tie `tied` of their games."""
    from scipy.special import ndtr, ndtri

    gap = strengths[..., :, None] - strengths[..., None, :]
    wins: Floats = ndtr(gap - ndtri((1 + tied) / 2)) * (1 - np.eye(strengths.shape[-1]))
    return wins


def points_by(wins: Floats) -> Floats:
    """(..., agents): the mean over its opponents of what an agent wins and half of what it ties."""
    lost = np.swapaxes(wins, -1, -2)
    found: Floats = ((1 + wins - lost).sum(axis=-1) - 1) / (2 * (wins.shape[-1] - 1))
    return found


def sizes(layout: str, n: int, generator: np.random.Generator) -> list[int]:
    """How many queries each section has: alone, by 5, 1 to 10, Zipf, or big (15% have 20)."""
    if layout == "Zipf":
        share = 1 / np.arange(1, n // 4 + 1)
        found = np.maximum(1, np.round(n * share / share.sum())).astype(int).tolist()
    else:
        draw: Callable[[], int] = {
            "alone": lambda: 1,
            "by 5": lambda: 5,
            "1 to 10": lambda: int(generator.integers(1, 11)),
            "big": lambda: 20 if generator.random() < 0.15 else 1,
        }[layout]
        found = []
        while sum(found) < n:
            found.append(draw())
    while (over := sum(found) - n) > 0:
        found[-1] -= min(over, found[-1])
        found = [size for size in found if size]
    return [*found, *[1] * (n - sum(found))]


@dataclass(frozen=True)
class World:
    """wins: (agents, agents), the share of its games that row wins against column, the rest of a pair's are ties; or
    (experiments, agents, agents), where each experiment has its own. layout: see `sizes`."""

    wins: Floats
    n_queries: int
    layout: str = "alone"
    icc: float = 0.0
    luck: float = 0.0

    @property
    def pairs(self) -> Ints:
        """(2, pairs): the first agent of each, and the second."""
        return np.array(list(combinations(range(self.wins.shape[-1]), 2))).T

    @property
    def truth(self) -> Floats:
        """(..., agents): the points of endlessly many queries."""
        return points_by(self.wins)

    @property
    def best(self) -> Truths:
        """(..., agents): which are the best, several where they are equal."""
        truth = self.truth
        return np.asarray(truth > truth.max(axis=-1, keepdims=True) - 1e-9)

    def play(self, experiments: int, generator: np.random.Generator) -> tuple[Scores, Clusters]:
        """All games of so many experiments, whose queries are in the same sections."""
        from scipy.special import ndtri

        of_sections = sizes(self.layout, self.n_queries, generator)
        numbers = np.repeat(np.arange(len(of_sections)), of_sections)
        names = tuple(f"{number:04d}" for number in range(len(of_sections)))
        clusters = Clusters(tuple(f"{query:05d}" for query in range(self.n_queries)), numbers, names)

        def normals(rows: int) -> Scores:
            own = generator.standard_normal((experiments, rows, self.n_queries), dtype=np.float32)
            if not self.icc:
                return own
            common = generator.standard_normal((experiments, rows, len(of_sections)), dtype=np.float32)
            mixed: Scores = np.sqrt(np.float32(self.icc)) * common[..., numbers]
            return mixed + np.sqrt(np.float32(1 - self.icc)) * own

        first, second = self.pairs
        place = normals(len(first))
        if self.luck:
            luck = normals(self.wins.shape[-1]) * np.sqrt(np.float32(self.luck / 2))
            place = luck[:, first] - luck[:, second] + np.sqrt(np.float32(1 - self.luck)) * place
        above, below = (
            ndtri(self.wins[..., one, other])[..., None] for one, other in ((first, second), (second, first))
        )
        # A normal above -above is a win, one below `below` a loss.
        scores = (1 + (place > -above).astype(np.float32) - (place < below)) / 2
        return scores, clusters


@dataclass(frozen=True)
class Tables:
    """Points of many experiments, (experiments, agents, queries) each, as `evaluate.ratings.verdicts` has them of one:
    seen, with every failed game lost, and won. shares: of games won, ties being none. failed: (experiments, pairs,
    queries), which games have no verdict."""

    seen: Floats
    lost: Floats
    won: Floats
    shares: Floats
    failed: Truths
    clusters: Clusters

    @classmethod
    def of(cls, scores: Scores, n_agents: int, clusters: Clusters) -> Tables:
        """NaN among the scores are games that the judge failed on."""
        shape = (len(scores), n_agents, scores.shape[-1])
        total, wins, number = (np.zeros(shape) for _ in range(3))
        for pair, ends in enumerate(combinations(range(n_agents), 2)):
            known = ~np.isnan(scores[:, pair])
            for agent, score in zip(ends, (scores[:, pair], 1 - scores[:, pair]), strict=True):
                total[:, agent] += np.where(known, score, 0)
                wins[:, agent] += np.where(known, score == 1, 0)
                number[:, agent] += known
        seen, shares = (np.divide(part, number, out=np.full(shape, np.nan), where=number > 0) for part in (total, wins))
        lost, won = total / (n_agents - 1), (total + n_agents - 1 - number) / (n_agents - 1)
        return cls(seen, lost, won, shares, np.isnan(scores), clusters)

    def points(self, experiment: int) -> Points:
        """As the product takes them."""
        rows = (table[experiment] for table in (self.seen, self.lost, self.won))
        n_agents = self.seen.shape[1]
        pair, query = np.nonzero(self.failed[experiment])
        one, other = np.array(list(combinations(range(n_agents), 2)), dtype=np.intp)[pair].T
        failures = np.concatenate([np.stack([*ends, query], axis=1) for ends in ((one, other), (other, one))])
        agents = tuple(f"{agent:02d}" for agent in range(n_agents))
        return Points(agents, self.clusters.queries, *rows, failures, len(pair))
