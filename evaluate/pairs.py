"""Which agents meet in a query's games: all pairs, or a balanced part of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from typing import Literal


def pairs_of(
    agents: Sequence[str], games: Literal["all", "adaptive"], seed: int, query_id: str
) -> list[tuple[str, str]]:
    """The pairs of one query, each in the order of `agents`.

    "all": every pair. "adaptive": a cyclic paired-comparison design (David, The Method of Paired Comparisons, 1963):
    the agents are seated in a circle at random, anew for each query (seeded), and each meets its next d neighbours on
    either side, where d is a quarter of its opponents (at least 1). Each agent then plays 2d others in every query and
    is linked to all through them: about half of the games, of six agents 6 pairs instead of 15. The choice does not
    look at results; over many queries every pair meets equally often.
    """
    if games == "all":
        return list(combinations(agents, 2))
    place = {agent: position for position, agent in enumerate(agents)}
    circle = list(agents)
    random.Random(f"{seed}:{query_id}").shuffle(circle)
    reach = max(1, (len(agents) - 1) // 4)
    meetings = {
        tuple(sorted((agent, circle[(seat + step) % len(circle)]), key=place.__getitem__))
        for seat, agent in enumerate(circle)
        for step in range(1, reach + 1)
    }
    return [pair for pair in combinations(agents, 2) if pair in meetings]
