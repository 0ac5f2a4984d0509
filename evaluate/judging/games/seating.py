"""Who sits where in a list of answers that are ranked together: balanced orders over queries and presentations.

A query's row is of a Williams square (Williams, Australian Journal of Scientific Research A 2, 1949; of an odd number
of agents two squares), by the query's place in a seeded order of all. So over the queries each agent stands equally
often in each place and each pair equally often in either order, as nearly as their number allows. An even presentation
is the one before it from the last place to the first; the next odd one is another row.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

MOST_SEATS = 8
"""Answers in one list, at most."""


@dataclass(frozen=True)
class Sitting:
    """One list of a query: its presentation, from 1; who sits in it, by place; whether it is read from the last place
    to the first."""

    presentation: int
    agents: tuple[str, ...]
    turned: bool


def turns(queries: Sequence[str], seed: str) -> dict[str, int]:
    """The place of each query, from 0, in an order that hangs on the queries' names and the seed alone."""
    order = sorted(queries)
    random.Random(seed).shuffle(order)
    return {query: place for place, query in enumerate(order)}


def sittings(agents: Sequence[str], turn: int, presentations: int) -> list[Sitting]:
    """The lists of agents on one query, in the order of their presentations.

    turn: of the query. Over the turns the first of `agents` is where the first row has its 0, and so on.
    """
    rows = williams(len(agents))
    return [
        Sitting(number + 1, tuple(agents[seat] for seat in rows[(turn + number // 2) % len(rows)]), number % 2 == 1)
        for number in range(presentations)
    ]


def williams(n: int) -> list[tuple[int, ...]]:
    """Rows of the numbers below `n`, n of them, or 2 n where it is odd; the reverse of a row stands half of them on.

    Each number stands equally often in each place, and equally often right behind each other one.
    """
    zigzag = [(place + 1) // 2 if place % 2 else (n - place // 2) % n for place in range(n)]
    square = [tuple((number + row) % n for number in zigzag) for row in range(n)]
    return square if n % 2 == 0 else [*square, *(row[::-1] for row in square)]
