"""Two agents on a measure: is one that fails called better, and are two that differ by what matters called equal?

    python -m benchmarks.ratings.pair_verdicts [EXPERIMENTS]

Of two equal agents one fails on half of the queries on which it would score 0. And two that win points of games, of
which a fifth are ties, where 5 points matter.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.coverage.comparisons import MEASURES, drawn, sections
from ragassay.arrays import Floats
from ragassay.evaluate.figures.pool import withhold_pairs
from ragassay.evaluate.statistics.clustered import Values
from ragassay.evaluate.statistics.paired_comparison import LEVEL, compare_pairs, pair_by_query

EXPERIMENTS = 400
ALONE, TOGETHER = (1, 0.0), (5, 0.5)
"""Queries a section, and the correlation within it."""


def values_of(rates: Floats) -> dict[str, Values]:
    """Agent to query to value of (agents, queries), NaN where there is none; names in the order of `sections`."""
    return {
        str(agent): {str(query): None if np.isnan(value) else value for query, value in enumerate(row.tolist())}
        for agent, row in enumerate(rates)
    }


def failing_cells(experiments: int) -> Iterator[str]:
    """The failing one called better with failures left out, and as it is said; called worse."""
    for scores in MEASURES[:4]:
        for n, (each, correlation) in ((100, ALONE), (200, ALONE), (200, TOGETHER)):
            generator, clusters = np.random.default_rng([13, n, each]), sections(n, each)
            out, ahead, behind = 0, 0, 0
            for _ in range(experiments):
                values = scores.of(drawn((2, n), each, correlation, generator))
                fails = (values[0] == 0) & (generator.random(n) < 0.5)
                left_out = np.where([fails, np.zeros(n, dtype=bool)], np.nan, values)
                plain = compare_pairs("m", values_of(left_out), clusters)
                low = compare_pairs("m", values_of(values), clusters)
                now = withhold_pairs(plain, low, {"0": [str(q) for q in np.flatnonzero(fails)]})[0].verdict
                out += plain[0].verdict == "better"
                ahead, behind = ahead + (now == "better"), behind + (now == "worse")
            shares = " | ".join(f"{count / experiments:.1%}" for count in (out, ahead, behind))
            yield f"| {scores.name} | {n} | {each} | {correlation:g} | {shares} |"


def equal_cells(experiments: int, matters: float = 0.05) -> Iterator[str]:
    """How often two agents are called practically equal, within 5 points."""
    for n, (each, correlation) in ((800, ALONE), (1600, ALONE), (3200, ALONE), (3200, TOGETHER)):
        shares = []
        for difference in (0.0, matters / 2, matters):
            generator, clusters = np.random.default_rng([15, n, each, round(1000 * difference)]), sections(n, each)
            equal = 0
            for _ in range(experiments):
                normal = drawn((n,), each, correlation, generator)
                values = values_of(_points(normal, 0.4 + difference / 2, 0.4 - difference / 2))
                _, low, high = pair_by_query(values["0"], values["1"], clusters).ends(1.0, 1 - 2 * LEVEL)
                equal += low is not None and high is not None and -matters < low and high < matters
            shares.append(f"{equal / experiments:.1%}")
        yield f"| {n} | {each} | {correlation:g} | {' | '.join(shares)} |"


def _points(normal: Floats, first: float, second: float) -> Floats:
    """(2, queries): of games that the first wins with chance `first`, the second with `second`."""
    from scipy.special import ndtri

    ahead = (1.0 + (normal < ndtri(first)) - (normal > ndtri(1 - second))) / 2
    return np.array([ahead, 1 - ahead])


def main() -> None:
    """Print both tables."""
    experiments = int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS
    print("| measure | queries | a section | correlation | failing one better, left out | as it is said | worse |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for line in failing_cells(experiments):
        print(line, flush=True)
    print(f"\n{experiments:,} experiments a line. Called practically equal, at 5 points at most 5%:\n")
    print("| queries | a section | correlation | no difference | 2.5 points | 5 points |\n|--:|--:|--:|--:|--:|--:|")
    for line in equal_cells(experiments):
        print(line, flush=True)


if __name__ == "__main__":
    main()
