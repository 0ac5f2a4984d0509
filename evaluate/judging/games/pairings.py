"""Which agents meet on which queries: all pairs on all, or what adaptive play chooses round by round."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from ragassay.arrays import Floats, Truths

from ...inputs.clusters import Clusters
from .adaptive import Design, places, play_out

Pair = tuple[str, str]
Meeting = tuple[str, Pair]
"""A query's id and the pair that plays on it."""

Play = Callable[[Sequence[Meeting]], Sequence[float | None]]
"""Plays games in both orders; the first agent's score of each: 1, 0.5, 0, or None where there is no verdict."""


def all_pairs(agents: Sequence[str]) -> list[Pair]:
    """Every pair, each in the order of `agents`."""
    return list(combinations(agents, 2))


def adaptive_meetings(
    agents: Sequence[str],
    queries: Sequence[str],
    clusters: Clusters,
    play: Play,
    seed: int,
    confidence: float,
    max_share: float,
) -> set[Meeting]:
    """The meetings played until the best agent is decided at `confidence`, or `max_share` is played.

    The path depends on the seed, the agents' and queries' names and the scores alone, so that a run that was stopped
    goes the same way again. clusters: of the queries.
    """
    given = set(all_pairs(agents))
    in_order, names = all_pairs(sorted(agents)), sorted(queries)
    pairs = [next(pair for pair in (two, two[::-1]) if pair in given) for two in in_order]
    if not pairs or not names:
        return set()
    cluster = clusters.of(names).numbers
    place = places(cluster, len(agents), random.Random(f"{seed}"))[None]

    def reveal(new: Truths) -> Floats:
        cells = np.argwhere(new[0]).tolist()
        found, scores = play([(names[query], pairs[pair]) for query, pair in cells]), np.full(new.shape, np.nan)
        for (query, pair), score in zip(cells, found, strict=True):
            scores[0, query, pair] = np.nan if score is None else score if pairs[pair] == in_order[pair] else 1 - score
        return scores

    design = Design(len(agents), len(names), confidence, max_share)
    played = play_out(design, cluster, place, reveal)
    return {(names[query], pairs[pair]) for query, pair in np.argwhere(place[0] < played.met[0])}
