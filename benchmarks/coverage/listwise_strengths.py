"""Do best, possible bests and strengths hold with answers ranked together, whose pairs depend on one another?

    python -m benchmarks.coverage.listwise_strengths [EXPERIMENTS]

The worlds and judges of `listwise.py`; two presentations of the whole list, and pairs of the same judge beside. The
worst case of calling an agent the best are two that are equally good, which takes more experiments.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.coverage import ratings
from benchmarks.coverage.listwise import SIZES, Cell, Place, places
from benchmarks.coverage.ranking_judge import Truth
from benchmarks.coverage.verdict import decided, standing
from ragassay.arrays import Floats
from ragassay.evaluate.ratings.bradley_terry import log_strengths

EXPERIMENTS, MORE = 400, 10
"""Ten times as many of the worst case."""

RATED = "lists, 2"
"""Whose strengths are fitted: `ratings.py` has those of pairs."""


def false_best(place: Place, at_once: int = 500) -> float:
    """How often one of two equal best agents is called the best."""
    wrong = 0
    for start in range(0, place.experiments, at_once):
        cell = place.played(min(at_once, place.experiments - start), start + 1)
        wrong += int((decided(cell.tables) >= 0).sum())
    return wrong / place.experiments


def line(place: Place) -> str:
    """Of the table."""
    cell = place.played(place.experiments)
    return f"{place} {_possible(cell)} | {_strengths(cell) if place.judge == RATED else '– | –'} |"


def _possible(cell: Cell) -> str:
    """How many true bests are among the possible ones, and how many these are."""
    covered, size = [], []
    for experiment in range(len(cell.tables.seen)):
        possible = {int(agent) for agent in standing(cell.tables, experiment).possible_best}
        covered.append(np.mean([agent in possible for agent in np.flatnonzero(cell.world.best)]))
        size.append(len(possible))
    return f"{np.mean(covered):.1%} | {np.mean(size):.2f}"


def _strengths(cell: Cell) -> str:
    """How often intervals of Bradley-Terry strengths hold the truth, and how often there is none."""
    world = ratings.World(cell.world.strengths, cell.world.n_queries, cell.world.per_section)
    rated = ratings.rated(world, (1 + cell.verdict) / 2)
    share, none = ratings.coverage(rated, true_strengths(cell.truth))
    return f"{share:.1%} | {none:.1%}"


def true_strengths(of: Truth) -> Floats:
    """(agents,): the log strengths of Davidson's fit to endlessly many queries."""
    ties = 1 - of.wins - of.wins.T
    np.fill_diagonal(ties, 0)
    log: Floats = log_strengths(of.wins[None], ties[None]).log[0]
    return log


def main() -> None:
    """Print the table, on all cores."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS
    judges = ["pairs", RATED, f"{RATED}, first places favoured"]
    worst = [place for place in places(MORE * experiments, SIZES[2:], judges) if place.world == "two equal best"]
    print("| world | queries | a section | judged | called the best |\n|---|--:|--:|---|--:|")
    with ProcessPoolExecutor() as pool:
        for place, share in zip(worst, pool.map(false_best, worst), strict=True):
            print(f"{place} {share:.1%} |", flush=True)
    print(f"\n{MORE * experiments:,} experiments a line, bar: 5%.\n")
    print("| world | queries | a section | judged | true bests among the possible | how many possible ", end="")
    print("| strengths cover | no interval |\n|---|--:|--:|---|--:|--:|--:|--:|")
    with ProcessPoolExecutor() as pool:
        for row in pool.map(line, places(experiments, (SIZES[1], SIZES[4]), ["pairs", RATED])):
            print(row, flush=True)
    print(f"\n{experiments:,} experiments a line.")


if __name__ == "__main__":
    main()
