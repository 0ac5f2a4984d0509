"""Does adaptive play find the best agent with half of the games, and do intervals hold after it? Simulated.

    python -m benchmarks.ratings.adaptive_play [EXPERIMENTS [OF_STRENGTHS]]

Two worlds of six agents, 200 and 400 queries, alone or five a section. "Table 5" has the win shares of the RAGElo
paper's Table 5, the rest ties, which no strengths give (not even the order of the agents is transitive); the pairs of a
query share each agent's luck there, a quarter of the variance, and sections are correlated by .5. "close" has
strengths with steps of .08, of which a section shares half of the luck. The best agent is that with the highest score
(a tie half a win) against the others in endlessly many queries. Beside each other: all games, half of the queries of
each pair, and adaptive play, of pairs and of whole queries. tau is Kendall's, of the whole order with the true one.
Covered are the differences of points (mean over the fifteen pairs, and the worst) and the strengths, by what
`compare` computes.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtri
from scipy.stats import kendalltau

from benchmarks.coverage.ratings import World, query_names, rated, simulate, verdict_shares
from benchmarks.ratings.tournaments import table_5
from ragassay.arrays import Floats, Ints
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.judging.adaptive import Design, places, play_out, play_together
from ragassay.evaluate.ratings.bradley_terry import log_strengths
from ragassay.evaluate.ratings.verdicts import Verdict, points_of
from ragassay.evaluate.statistics.clustered import intervals

CLOSE = (0.2, 0.12, 0.04, -0.04, -0.12, -0.2)
SIZES = ((200, 1), (200, 5), (400, 1), (400, 5))
"""Queries, and how many a section."""

PAIRS = tuple(combinations(range(6), 2))
SHARED_LUCK = 0.25
CORRELATION = 0.5
AT_ONCE = 250

Play = Callable[[Floats, Ints, Ints], Floats]
"""Scores of all games (tables, queries, pairs), clusters and places to the scores of the games played."""


@dataclass(frozen=True)
class Truth:
    """Of endlessly many queries: (agents,) points, and log strengths by Davidson."""

    points: Floats
    log: Floats


def truth_of(won: Floats, lost: Floats) -> Truth:
    """From the pairs' shares."""
    first, second = np.array(PAIRS).T
    wins, ties = np.zeros((1, 6, 6)), np.zeros((1, 6, 6))
    wins[0, first, second], wins[0, second, first] = won, lost
    ties[0, first, second] = ties[0, second, first] = 1 - won - lost
    return Truth((wins + ties / 2)[0].sum(axis=1) / 5, log_strengths(wins, ties).log[0])


def paper_shares() -> tuple[Floats, Floats]:
    """(pairs,): how often the first of a pair won, and the second."""
    table, (first, second) = table_5(), np.array(PAIRS).T
    return table[first, second], table[second, first]


def close_truth(world: World) -> Truth:
    """By many draws of the agents' luck, each with its opposite."""
    luck = np.hypot(world.by_query, world.by_section) * np.random.default_rng(99).standard_normal((200_000, 6))
    won, tied = (part.mean(axis=0) for part in verdict_shares(world, np.concatenate([luck, -luck])))
    return truth_of(won, 1 - won - tied)


def paper_games(world: World, experiments: int, generator: np.random.Generator) -> Floats:
    """Scores, (experiments, queries, pairs): a normal variable each, cut where the shares are the table's."""
    first, second = np.array(PAIRS).T
    rho, sections = CORRELATION if world.per_section > 1 else 0.0, int(world.cluster.max()) + 1

    def drawn(size: int) -> Floats:
        own = generator.standard_normal((experiments, world.n_queries, size))
        return (
            np.sqrt(1 - rho) * own
            + np.sqrt(rho) * generator.standard_normal((experiments, sections, size))[:, world.cluster]
        )

    luck, noise = drawn(6), drawn(15)
    place = np.sqrt(SHARED_LUCK / 2) * (luck[..., first] - luck[..., second]) + np.sqrt(1 - SHARED_LUCK) * noise
    won, lost = paper_shares()
    return np.where(place > -ndtri(won), 1.0, np.where(place < ndtri(lost), 0.0, 0.5))


def all_games(scores: Floats, cluster: Ints, place: Ints) -> Floats:
    """Every pair on every query."""
    return scores


def half(scores: Floats, cluster: Ints, place: Ints) -> Floats:
    """Every pair on half of the queries, the first of its order."""
    return np.where(place < scores.shape[1] // 2, scores, np.nan)


def adaptive(scores: Floats, cluster: Ints, place: Ints) -> Floats:
    """As `games = "adaptive"` plays them."""
    design = Design(6, scores.shape[1])
    return play_out(design, cluster, place, lambda new: np.where(new, scores, np.nan)).scores


def by_query(scores: Floats, cluster: Ints, place: Ints) -> Floats:
    """As `games = "listwise-adaptive"` does: all pairs of a query together, in the first pair's order of them."""
    design = Design(6, scores.shape[1])
    return play_together(design, cluster, place[:, :, 0], lambda new: np.where(new, scores, np.nan)).scores


METHODS: dict[str, Play] = {
    "all games": all_games,
    "half of each pair's": half,
    "adaptive": adaptive,
    "adaptive by query": by_query,
}


def points(scores: Floats) -> Floats:
    """(tables, agents): the mean of an agent's shares of the score against each other."""
    share, (first, second) = np.nanmean(scores, axis=1), np.array(PAIRS).T
    found = np.zeros((len(scores), 6))
    for pair, (one, other) in enumerate(zip(first, second, strict=True)):
        found[:, one] += share[:, pair] / 5
        found[:, other] += (1 - share[:, pair]) / 5
    return found


def contributions(scores: Floats) -> Floats:
    """(tables, queries, agents): the values of `points_of`, for all experiments at once."""
    n, known, found = scores.shape[1], ~np.isnan(scores), np.zeros((*scores.shape[:2], 6))
    m = known.sum(axis=1)
    few = np.sqrt(m / (m - 1) * (n - 1) / n) * n / m
    for pair, ends in enumerate(PAIRS):
        for agent, won in zip(ends, (scores[:, :, pair], 1 - scores[:, :, pair]), strict=True):
            share = (np.nansum(won, axis=1) / m[:, pair])[:, None]
            part = np.where(known[:, :, pair], won - share, 0.0) * few[:, pair, None]
            found[:, :, agent] += (share + part) / 5
    return found


def check(world: World, scores: Floats) -> None:
    """That one experiment's `contributions`, (queries, pairs), are those of `points_of`, where anybody met."""
    names, queries, said = "abcdef", query_names(world), {1.0: "a", 0.5: "tie", 0.0: "b"}
    found = [
        Verdict(queries[q], names[PAIRS[p][0]], names[PAIRS[p][1]], "m", said[scores[q, p]], None, None, 2)  # type: ignore[arg-type]
        for q, p in np.argwhere(~np.isnan(scores)).tolist()
    ]
    met = ~np.isnan(scores).all(axis=1)
    theirs = points_of(found, names, queries).seen[:, met]
    np.testing.assert_allclose(theirs, contributions(scores[None, met])[0].T, atol=1e-12)


def points_cover(world: World, scores: Floats, truth: Truth) -> Floats:
    """(pairs,): how often the interval of the difference of points holds the truth."""
    check(world, scores[0])
    sections = Clusters.named(query_names(world), [str(number) for number in world.cluster])
    met = ~np.isnan(scores).all(axis=2)
    if met.all():
        return _held(scores, sections, truth)
    alone = zip(scores, met, strict=True)
    return np.mean([_held(one[None, some], sections.where(some), truth) for one, some in alone], axis=0)


def _held(scores: Floats, sections: Clusters, truth: Truth) -> Floats:
    """The same of experiments in which somebody met on every query."""
    values, ones = contributions(scores), np.ones(scores.shape[1])
    held = []
    for a, b in PAIRS:
        gap = truth.points[a] - truth.points[b]
        _, low, high = intervals(values[..., a] - values[..., b], ones, sections, (-1.0, 1.0), difference=True)
        held.append(((low <= gap) & (gap <= high)).mean())
    return np.array(held)


def line(world: World, found: Floats, truth: Truth, n_strengths: int) -> str:
    """The share of the games, the best first, tau, and what intervals hold."""
    order = points(found)
    first = (order.argmax(axis=1) == truth.points.argmax()).mean()
    tau = np.mean([kendalltau(one, truth.points).statistic for one in order])
    games = (~np.isnan(found)).mean()
    rates = points_cover(world, found, truth)
    rating = rated(world, found[:n_strengths])
    strengths = np.nanmean(
        np.where(np.isnan(rating.low), np.nan, (rating.low <= truth.log) & (truth.log <= rating.high))
    )
    return f"{games:.2f} | {first:.1%} | {tau:.3f} | {rates.mean():.3f} | {rates.min():.3f} | {strengths:.3f}"


def played(play: Play, scores: Floats, world: World) -> Floats:
    """Some at once, so that memory stays small; the orders of the queries are the same for all methods."""
    parts = []
    for start in range(0, len(scores), AT_ONCE):
        part = scores[start : start + AT_ONCE]
        orders = [places(world.cluster, 6, random.Random(start + index)) for index in range(len(part))]
        parts.append(play(part, world.cluster, np.stack(orders)))
    return np.concatenate(parts)


def main() -> None:
    """Print one table."""
    experiments, n_strengths = (int(sys.argv[at]) if len(sys.argv) > at else n for at, n in ((1, 2000), (2, 200)))
    print("| world | queries | a section | | games | best first | tau | differences cover | worst pair | strengths |")
    print("|---|--:|--:|---|--:|--:|--:|--:|--:|--:|")
    for name in ("Table 5", "close"):
        for n_queries, per_section in SIZES:
            luck = {"by_query": 0.5, "by_section": 0.5} if per_section > 1 else {}
            world, generator = World(CLOSE, n_queries, per_section, **luck), np.random.default_rng([5, n_queries])
            make, truth = (
                (paper_games, truth_of(*paper_shares())) if name == "Table 5" else (simulate, close_truth(world))
            )
            scores = make(world, experiments, generator)
            for method, play in METHODS.items():
                found = line(world, played(play, scores, world), truth, n_strengths)
                print(f"| {name} | {n_queries} | {per_section} | {method} | {found} |", flush=True)


if __name__ == "__main__":
    main()
