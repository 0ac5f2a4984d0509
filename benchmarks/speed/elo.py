"""Elo: 500 shuffled tournaments of 3,000 games, ours beside RAGElo's ranker and a plain loop over the games.

    python -m benchmarks.speed.elo [TOURNAMENTS GAMES AGENTS]       500 100000 60 is a large arena

RAGElo plays as many games between six agents where RAGELO_PYTHON names a Python that has it. The loop keeps ratings in
a dict, updates two of them a game, and does nothing else. The target is 20 times faster than RAGElo.
"""

from __future__ import annotations

import random
import sys
import time

import numpy as np

from benchmarks.speed.aims import note, why
from benchmarks.speed.ragelo_peer import NOT_INSTALLED, peer
from ragassay.evaluate.ratings.elo import EloSettings, rate
from ragassay.evaluate.ratings.win_table import Contests
from ragassay.evaluate.statistics.resamples import resamples

REPEATS, TIMES_FASTER, QUERIES, RESAMPLES = 20, 20, 200, 1000


def made_up(games: int, agents: int) -> Contests:
    """Random games between random pairs on 200 queries, seeded."""
    generator = np.random.default_rng(7)
    a = generator.integers(0, agents, games)
    b = (a + generator.integers(1, agents, games)) % agents
    score = generator.choice([0.0, 0.5, 1.0], games)
    names = tuple(f"agent-{n:02d}" for n in range(agents))
    queries = tuple(f"q{n:03d}" for n in range(QUERIES))
    return Contests(names, queries, a, b, generator.integers(0, QUERIES, games), score)


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
        ratings = [float(one.value or 0.0) for one in rate(contests, None, settings).values()]
        ours.append(time.perf_counter() - start)
    start = time.perf_counter()
    rate(contests, resamples(contests.queries, RESAMPLES, 7), settings)
    with_intervals_s = time.perf_counter() - start
    start = time.perf_counter()
    loop = plain_loop(contests, settings)
    loop_s = time.perf_counter() - start
    apart = max(abs(loop[name] - rating) for name, rating in zip(contests.agents, ratings, strict=True))
    print(f"{tournaments} tournaments of {games} games between {agents} agents")
    print(f"ours        {min(ours):8.3f} s  (best of {REPEATS})")
    print(f"with intervals from {RESAMPLES:,} resamples {with_intervals_s:8.1f} s")
    print(f"plain loop  {loop_s:8.3f} s  ({loop_s / min(ours):.0f} times as long)")
    print(f"the ratings differ by at most {apart:.2f} points, the loop's order noise")
    beside_ragelo(tournaments, games, min(ours))


def beside_ragelo(tournaments: int, games: int, ours_s: float) -> None:
    """The row of the speed table: the best of three of RAGElo's runs."""
    runs = [made for _ in range(3) if (made := peer("elo", tournaments, games))]
    best = min((made["wall_s"] for made in runs), default=None)
    slow = best is not None and best < TIMES_FASTER * ours_s
    note(
        f"{tournaments} Elo tournaments of {games:,} games",
        f"at least {TIMES_FASTER} times RAGElo's ranker",
        f"{ours_s:.3f} s",
        peer=NOT_INSTALLED if best is None else f"{best:.2f} s (RAGElo {runs[0]['version']})",
        ratio="" if best is None else f"{best / ours_s:.0f} times as fast",
        missed=why((best is None, "there was no RAGElo to compare with"), (slow, "ours was not fast enough")),
        packages=("numpy",),
    )


if __name__ == "__main__":
    main()
