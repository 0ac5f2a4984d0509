"""Who sits where when answers are ranked together: balanced orders of the agents over queries and presentations.

A query's row is of a Williams square (Williams, Australian Journal of Scientific Research A 2, 1949; of an odd number
of agents two squares), by the query's place in a seeded order of all. So over the queries each agent stands equally
often in each place and each pair equally often in either order, as nearly as their number allows. An even presentation
is the one before it from the last place to the first; the next odd one is another row.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ragassay.errors import InputError

MOST_SEATS = 8
"""Answers in one list, at most."""


@dataclass(frozen=True)
class Sitting:
    """One list of a query: its presentation, from 1; who sits in it, by place; whether it is read from the last place
    to the first."""

    presentation: int
    agents: tuple[str, ...]
    turned: bool


def sittings(agents: Sequence[str], queries: Sequence[str], presentations: int, seed: int) -> dict[str, list[Sitting]]:
    """By query, its lists in the order of their presentations. They depend on the names and the seed alone.

    Raises InputError for more agents than a list has seats.
    """
    check_seats(len(agents))
    names, order = sorted(agents), sorted(queries)
    random.Random(f"{seed}:seats").shuffle(names)
    random.Random(f"{seed}:presentations").shuffle(order)
    rows = williams(len(names))
    return {
        query: [
            Sitting(number + 1, tuple(names[seat] for seat in rows[(place + number // 2) % len(rows)]), number % 2 == 1)
            for number in range(presentations)
        ]
        for place, query in enumerate(order)
    }


def check_seats(n_agents: int) -> None:
    """Raises InputError for more agents than a list has seats."""
    if n_agents > MOST_SEATS:
        raise InputError(
            f'judge.games is "listwise", which ranks at most {MOST_SEATS} answers, and there are {n_agents} agents',
            remedy='set games = "all" or "adaptive", or compare fewer agents',
        )


def williams(n: int) -> list[tuple[int, ...]]:
    """Rows of the numbers below `n`, n of them, or 2 n where it is odd; the reverse of a row stands half of them on.

    Each number stands equally often in each place, and equally often right behind each other one.
    """
    zigzag = [(place + 1) // 2 if place % 2 else (n - place // 2) % n for place in range(n)]
    square = [tuple((number + row) % n for number in zigzag) for row in range(n)]
    return square if n % 2 == 0 else [*square, *(row[::-1] for row in square)]
