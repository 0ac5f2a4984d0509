"""How many games adaptive play needs for the order that all games give: simulated, and recorded games replayed.

    python -m benchmarks.ratings.adaptive_play [llmfao.csv]

Simulated: six agents, 100 queries, 500 tournaments a line. Replayed: evalica's llmfao.csv (59 models, 8,931 votes by
people, of one order each, so that orders cannot be played together), each pair's votes spread over 100 rows as if these
were queries, in five drawings; a line a round. Beside each: as many games drawn at random. tau is Kendall's, with the
order by all games.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from benchmarks.coverage.ratings import WORLDS, World, simulate
from ragassay.arrays import Floats, Truths
from ragassay.evaluate.judging.games.adaptive import Design, play_out
from ragassay.evaluate.ratings.bradley_terry_fit import log_strengths

SHARES = (0.2, 1 / 3, 0.5, 0.75, 1.0)
EXPERIMENTS = 500
SCORE = {"left": 1.0, "tie": 0.5, "right": 0.0}
DRAWINGS = 5
"""How often the recorded votes are replayed, in other orders."""

ROWS = 100
"""Over which the recorded votes of a pair are spread, as if they were queries."""

_PRIOR = 0.25
"""A quarter of a win each way a pair, so that a part of the games has finite ratings as well."""


def logs(scores: Floats, n_agents: int) -> Floats:
    """(tables, agents): log strengths of the games that are not NaN."""
    known = ~np.isnan(scores)
    won = np.where(known, scores, 0).sum(axis=1) + _PRIOR
    lost = np.where(known, 1 - scores, 0).sum(axis=1) + _PRIOR
    table = np.zeros((len(scores), n_agents, n_agents))
    first, second = np.array(list(combinations(range(n_agents), 2))).T
    table[:, first, second], table[:, second, first] = won, lost
    log: Floats = log_strengths(table).log
    return log


def likeness(some: Floats, whole: Floats) -> str:
    """How often the order, and the first, are those of all games; and the mean tau."""
    order, wanted = np.argsort(-some, axis=1), np.argsort(-whole, axis=1)
    same, first = (order == wanted).all(axis=1).mean(), (order[:, 0] == wanted[:, 0]).mean()
    tau = np.mean([kendalltau(one, other).statistic for one, other in zip(some, whole, strict=True)])
    return f"{same:.2f} | {first:.2f} | {tau:.3f}"


def at_random(scores: Floats, n_games: Floats, generator: np.random.Generator) -> Floats:
    """`n_games` (tables,) of the recorded games of each table."""
    luck = np.where(np.isnan(scores), 2.0, generator.random(scores.shape)).reshape(len(scores), -1)
    chosen = np.argsort(np.argsort(luck, axis=1), axis=1) < n_games[:, None]
    return np.where(chosen.reshape(scores.shape), scores, np.nan)


def simulated() -> None:
    """A line for each world and budget."""
    worlds = {"near": (0.2, 0.12, 0.04, -0.04, -0.12, -0.2), "spread": WORLDS["6 agents"]}
    worlds |= {name: tuple(gap * (2.5 - n) for n in range(6)) for name, gap in (("clear", 0.6), ("very clear", 1.2))}
    for name, strengths in worlds.items():
        world, generator = World(strengths, 100), np.random.default_rng(7)
        scores = simulate(world, EXPERIMENTS, generator)
        whole = logs(scores, 6)
        place = np.argsort(generator.random(scores.shape), axis=1)
        for share in SHARES:
            design = Design(6, 100, max_share=share)
            done = play_out(design, world.cluster, place, lambda new, s=scores: np.where(new, s, np.nan))  # type: ignore[misc]
            games = done.met.sum(axis=1)
            decided = (done.decided != 0).all(axis=1).mean()
            even = likeness(logs(at_random(scores, games, generator), 6), whole)
            mine = likeness(logs(done.scores, 6), whole)
            print(f"| {name} | {share:.2f} | {games.mean() / 1500:.2f} | {decided:.2f} | {mine} | {even} |", flush=True)


def votes_of(path: Path) -> tuple[int, Floats]:
    """Agents, and (DRAWINGS, ROWS, pairs) scores: each pair's votes in rows drawn for it, NaN in the others."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["winner"] in SCORE]
    names = sorted({row[side] for row in rows for side in ("left", "right")})
    votes: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        swap, score = row["left"] > row["right"], SCORE[row["winner"]]
        votes[min(row["left"], row["right"]), max(row["left"], row["right"])].append(1 - score if swap else score)
    pairs, generator = list(combinations(names, 2)), np.random.default_rng(7)
    scores = np.full((DRAWINGS, ROWS, len(pairs)), np.nan)
    for one in scores:
        for index, pair in enumerate(pairs):
            own = votes[pair]
            one[generator.choice(ROWS, len(own), replace=False), index] = own
    return len(names), scores


def rounds_of(scores: Floats, n_agents: int) -> list[Floats]:
    """What is known after each round of adaptive play with all games to spend, (1, ROWS, pairs); a row is a cluster."""
    place = np.broadcast_to(np.arange(ROWS)[:, None], scores.shape[1:])[None]
    seen = [np.full(scores.shape, np.nan)]

    def reveal(new: Truths) -> Floats:
        seen.append(np.where(new, scores, seen[-1]))
        return np.where(new, scores, np.nan)

    play_out(Design(n_agents, ROWS, max_share=1.0), np.arange(ROWS), place, reveal)
    return seen[1:]


def replayed(path: Path) -> None:
    """A line a round."""
    n_agents, scores = votes_of(path)
    whole, n_votes = logs(scores, n_agents), int((~np.isnan(scores[0])).sum())
    plays, generator = [rounds_of(one[None], n_agents) for one in scores], np.random.default_rng(8)
    for number, parts in enumerate(zip(*plays, strict=True), 1):
        some = np.concatenate(parts)
        games = (~np.isnan(some)).sum(axis=(1, 2))
        even = likeness(logs(at_random(scores, games, generator), n_agents), whole)
        mine = likeness(logs(some, n_agents), whole)
        print(f"| llmfao, round {number} | 1.00 | {games.mean() / n_votes:.2f} | – | {mine} | {even} |", flush=True)


def main() -> None:
    """Print one table."""
    print("| games | at most | played | decided | same order | same first | tau | random: order | first | tau |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    simulated()
    if len(sys.argv) > 1:
        replayed(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
