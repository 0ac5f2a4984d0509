"""Elo: 500 shuffled tournaments of 3,000 games, ours beside a plain loop over the games (as RAGElo plays them).

    .venv/bin/python benchmarks/elo_speed.py [TOURNAMENTS GAMES AGENTS]

The loop keeps ratings in a dict and updates two of them a game; it does nothing else, so RAGElo itself is no faster.
RAGElo 0.1 took 1.7 s for the same. The target is 20 times faster than that: under 85 ms.
"""

from __future__ import annotations

import random
import sys
import time

import numpy as np

from evaluate.elo import EloSettings, tournament_mean
from evaluate.win_table import Contests

REPEATS = 20
RAGELO_S = 1.7


def made_up(games: int, agents: int) -> Contests:
    """Random games between random pairs, seeded."""
    generator = np.random.default_rng(7)
    a = generator.integers(0, agents, games)
    b = (a + generator.integers(1, agents, games)) % agents
    score = generator.choice([0.0, 0.5, 1.0], games)
    names = tuple(f"agent-{n:02d}" for n in range(agents))
    return Contests(names, ("q",), a, b, np.zeros(games, dtype=np.intp), score)


def plain_loop(contests: Contests, settings: EloSettings) -> dict[str, float]:
    """The same mean, a game at a time."""
    names = contests.agents
    games = [
        (names[a], names[b], score)
        for a, b, score in zip(contests.a.tolist(), contests.b.tolist(), contests.score.tolist(), strict=True)
    ]
    totals, shuffler = dict.fromkeys(names, 0.0), random.Random(settings.seed)
    for _ in range(settings.tournaments):
        shuffler.shuffle(games)
        ratings = dict.fromkeys(names, settings.initial)
        for a, b, score in games:
            gain = settings.k_factor * (score - 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400)))
            ratings[a] += gain
            ratings[b] -= gain
        for name in names:
            totals[name] += ratings[name]
    return {name: total / settings.tournaments for name, total in totals.items()}


def main() -> None:
    """Print the seconds each takes (the best of several) and how far their ratings are apart."""
    tournaments, games, agents = (int(text) for text in sys.argv[1:4] or ("500", "3000", "6"))
    contests, settings = made_up(games, agents), EloSettings(tournaments=tournaments)
    ours = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        ratings = tournament_mean(contests, settings)
        ours.append(time.perf_counter() - start)
    start = time.perf_counter()
    loop = plain_loop(contests, settings)
    loop_s = time.perf_counter() - start
    apart = max(abs(loop[name] - rating) for name, rating in zip(contests.agents, ratings.tolist(), strict=True))
    print(f"{tournaments} tournaments of {games} games between {agents} agents")
    print(f"ours        {min(ours):8.3f} s  (best of {REPEATS})")
    print(f"plain loop  {loop_s:8.3f} s  ({loop_s / min(ours):.0f} times as long)")
    print(
        f"RAGElo      {RAGELO_S:8.3f} s  (measured, 500 tournaments of 3,000 games; {RAGELO_S / min(ours):.0f} times)"
    )
    print(f"the ratings differ by at most {apart:.2f} points, the loop's order noise")


if __name__ == "__main__":
    main()
