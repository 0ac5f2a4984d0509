"""Games between three agents, judged by a function, and what an audit found of them."""

from __future__ import annotations

import random
from itertools import combinations

from support.results_folder import game

AGENTS = ("amber", "beryl", "coral")


def names(n):
    return [f"q{i:03d}" for i in range(n)]


def play(n, judge, agents=AGENTS):
    """Every pair in both orders on `n` queries; `judge(query, shown first, shown second)` is the winner or "tie"."""
    games = []
    for query in names(n):
        for a, b in combinations(agents, 2):
            for first, shown in (("a", (a, b)), ("b", (b, a))):
                won = judge(query, *shown)
                winner = "tie" if won == "tie" else "a" if won == a else "b"
                games.append(game(query, a, b, winner, first))
    return games


def finding(rows, key):
    return next(row for row in rows if row.key == key)


def coin(*key):
    return random.Random(":".join(map(str, key))).random()


def guessed(seed, n=60, tie=1 / 3, taste=0.5):
    """A judge that draws its verdicts, whatever it is shown; `taste`: of the decided, the share for the first place."""

    def judge(query, one, other):
        drawn = coin(seed, query, one, other)
        return "tie" if drawn < tie else one if drawn < tie + (1 - tie) * taste else other

    return play(n, judge)
