"""500 Elo tournaments and 1,000 bootstrap Bradley-Terry fits over 6 agents and 3,000 games: the bar is 2 s together.

Beside them the sign-flip test of two agents' reciprocal ranks on many queries.

python -m benchmarks.speed.ratings
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ragassay.arrays import Floats
from ragassay.evaluate.ratings import bradley_terry, elo
from ragassay.evaluate.ratings.win_table import Contests
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.evaluate.statistics.sign_flip import flip_p

GAMES, QUERIES, REPEATS = 3000, 200, 5


def made_up() -> Contests:
    """Random games between random pairs of six agents on 200 queries, a third of them tied; seeded."""
    generator = np.random.default_rng(7)
    a = generator.integers(0, 6, GAMES)
    b = (a + generator.integers(1, 6, GAMES)) % 6
    score, query = generator.choice([0.0, 0.5, 1.0], GAMES), generator.integers(0, QUERIES, GAMES)
    agents, queries = (tuple(f"{n:03d}" for n in range(count)) for count in (6, QUERIES))
    return Contests(agents, queries, a, b, query, score)


def reciprocal_gaps(queries: int) -> Floats:
    """Differences of two agents' random reciprocal ranks, each query its own section; seeded."""
    ranks = np.array([0.0, 1 / 5, 1 / 4, 1 / 3, 1 / 2, 1.0])
    first, second = np.random.default_rng(7).choice(ranks, (2, queries))
    gaps: Floats = first - second
    return gaps


def best_s(work: Callable[[], object]) -> float:
    """Seconds, the best of several."""
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    """Print both times and their sum."""
    contests = made_up()
    draws = resamples(contests.queries, 1000, 7)
    elo_s = best_s(lambda: elo.rate(contests, None, elo.EloSettings(tournaments=500)))
    davidson_s = best_s(lambda: bradley_terry.rate(contests, draws, ties="davidson"))
    half_s = best_s(lambda: bradley_terry.rate(contests, draws, ties="half"))
    print(f"6 agents, {GAMES} games (best of {REPEATS})")
    print(f"500 Elo tournaments                        {elo_s:6.3f} s")
    print(f"1,000 Bradley-Terry fits, Davidson's ties  {davidson_s:6.3f} s")
    print(f"1,000 Bradley-Terry fits, half wins        {half_s:6.3f} s")
    print(f"tournaments and Davidson's fits            {elo_s + davidson_s:6.3f} s  (bar: 2 s)")
    for queries in (1000, 8000):
        gaps = reciprocal_gaps(queries)
        print(f"sign flips of {queries:,} queries                {best_s(lambda g=gaps: flip_p(g, 7)):6.3f} s")


if __name__ == "__main__":
    main()
