"""Do the intervals hold where queries are turns of conversations: a mean over turns, and the price of conversation?

    python -m benchmarks.retrieval.turns [EXPERIMENTS]

Each cell draws conversations anew, each of 3 to 10 turns; the scores of a conversation are correlated through a
Gaussian copula. The price is the paired difference of a turn asked with its history and asked to stand alone, over
turns from the second on; half of what sets a turn's score apart from its conversation is shared by both. Exit status 1
where a cell covers less than 93% or more than 97%, by more than two standard errors.
"""

from __future__ import annotations

import sys
from itertools import product
from math import sqrt

import numpy as np

from benchmarks.coverage.comparisons import HIGHEST, LOWEST, MEASURES
from benchmarks.machine import machine
from ragassay.arrays import Floats
from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.statistics.paired_comparison import pair_by_query
from ragassay.evaluate.statistics.resamples import resamples

CONVERSATIONS, CORRELATIONS, TURNS = (20, 40, 80), (0.0, 0.2, 0.5), (3, 10)
SHARED = 0.5


def covers(rng: np.random.Generator, n: int, correlation: float) -> tuple[bool, bool, float, float]:
    """Whether the mean's and the price's interval cover, and how wide each is."""
    sizes = rng.integers(TURNS[0], TURNS[1] + 1, size=n)
    of = np.repeat(np.arange(n), sizes)
    turn = np.concatenate([np.arange(size) for size in sizes])
    talk, own = rng.standard_normal(n)[of], rng.standard_normal((3, len(of)))
    sides = [sqrt(SHARED) * own[0] + sqrt(1 - SHARED) * own[which] for which in (1, 2)]
    normal = [sqrt(correlation) * talk + sqrt(1 - correlation) * side for side in sides]
    scores: list[Floats] = [MEASURES[place].of(one) for place, one in zip((0, 2), normal, strict=True)]
    clusters = clusters_of_rows([str(one) for one in of])
    names = clusters.queries
    mean = resamples(names, 1, 1, clusters).figure(dict(zip(names, scores[0].tolist(), strict=True)), (0.0, 1.0))
    later = [name for name, at in zip(names, turn, strict=True) if at > 0]
    rows = [{name: float(score[int(name)]) for name in later} for score in scores]
    price = pair_by_query(rows[0], rows[1], clusters).difference(1.0)
    truth = MEASURES[0].mean - MEASURES[2].mean
    ends = [(one.ci_low or 0.0, one.ci_high or 0.0) for one in (mean, price)]
    inside = [low <= value <= high for (low, high), value in zip(ends, (MEASURES[0].mean, truth), strict=True)]
    return inside[0], inside[1], ends[0][1] - ends[0][0], ends[1][1] - ends[1][0]


def main(experiments: int = 2000) -> int:
    """Print the table; 1 where a cell is out of its bar."""
    print("| conversations | correlation | mean covered | its width | price covered | its width |")
    print("|--:|--:|--:|--:|--:|--:|")
    slack, wrong = 2 * sqrt(0.05 * 0.95 / experiments), 0
    for n, correlation in product(CONVERSATIONS, CORRELATIONS):
        rng = np.random.default_rng([7, n, int(100 * correlation)])
        found = np.array([covers(rng, n, correlation) for _ in range(experiments)], dtype=np.float64).mean(axis=0)
        wrong += sum(not LOWEST - slack <= share <= HIGHEST + slack for share in found[:2])
        mean, price, width, wide = found
        print(f"| {n} | {correlation:g} | {mean:.1%} | {width:.3f} | {price:.1%} | {wide:.3f} |", flush=True)
    print(f"\n{experiments:,} experiments a cell, {machine()}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
