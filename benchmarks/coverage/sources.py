"""Do the figures that hold written queries against real ones say what they should? Simulated, with known orders.

    python -m benchmarks.coverage.sources [EXPERIMENTS]

Six agents get labels 0 to 2 on real and on written queries, with a part of its own for each section and for each agent
in it. Counted is how often the interval of tau-b holds the tau of the true orders, beside that of the percentiles of
the resamples; how often the interval of the loss holds what the agent that leads by the written queries truly loses;
and how many of the pairs that both kinds decide are said to be contradicted.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats
from ragassay.evaluate.figures.written_and_real import compare_orders
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.statistics.orders import tau_b
from ragassay.evaluate.statistics.resamples import Resamples, expanded_tail, resamples

BOOTSTRAP = 300
AGENTS = tuple("abcdef")
STEPS = np.arange(6)
WORLDS = {
    "the same, .05 apart": (0.3 + 0.05 * STEPS, 0.3 + 0.05 * STEPS),
    "the same, .02 apart": (0.3 + 0.02 * STEPS, 0.3 + 0.02 * STEPS),
    "the same, two groups .2 apart": (0.3 + 0.01 * STEPS + 0.2 * (STEPS > 2), 0.3 + 0.01 * STEPS + 0.2 * (STEPS > 2)),
    "a little different": (0.3 + 0.05 * STEPS, 0.3 + 0.05 * np.array([1, 0, 2, 4, 3, 5])),
    "unrelated": (0.3 + 0.05 * STEPS, 0.3 + 0.05 * np.array([3, 5, 0, 2, 4, 1])),
    "turned round": (0.3 + 0.05 * STEPS, 0.3 + 0.05 * STEPS[::-1]),
    "two groups, turned inside": (
        0.3 + 0.02 * STEPS + 0.2 * (STEPS > 2),
        0.3 + 0.02 * np.array([2, 1, 0, 5, 4, 3]) + 0.2 * (STEPS > 2),
    ),
}
SIZES = ((12, 12, 1), (36, 36, 1), (100, 100, 1), (36, 180, 5))
"""Real queries, written ones, and how many of these are of one section."""


@dataclass
class Counts:
    """What was seen in the experiments of a cell."""

    held: int = 0
    by_percentiles: int = 0
    loss_held: int = 0
    both: int = 0
    contradicted: int = 0
    width: float = 0.0


def labels(means: Floats, n: int, per_section: int, generator: np.random.Generator) -> Floats:
    """(agents, queries): 0, .5 or 1, of these means exactly."""
    sections = n // per_section
    luck = generator.uniform(-0.1, 0.1, sections) + generator.uniform(-0.15, 0.15, (len(means), sections))
    chance = means[:, None] + np.repeat(luck, per_section, axis=1)
    return generator.binomial(2, chance) / 2


def side(
    kind: str, values: Floats, per_section: int, seed: int
) -> tuple[dict[str, dict[str, float | None]], Resamples]:
    """Agent to query to value, and the draws of the queries."""
    ids = [f"{kind}{n:04}" for n in range(values.shape[1])]
    clusters = Clusters.named(ids, [f"{kind} {n // per_section}" for n in range(len(ids))])
    rows = {agent: dict(zip(ids, map(float, row), strict=True)) for agent, row in zip(AGENTS, values, strict=True)}
    return {agent: {**row} for agent, row in rows.items()}, resamples(ids, BOOTSTRAP, seed, clusters)


def experiment(real: Floats, written: Floats, size: tuple[int, int, int], seed: int, counts: Counts) -> None:
    """One pair of test sets."""
    n_real, n_written, per_section = size
    generator = np.random.default_rng(seed)
    values = labels(real, n_real, 1, generator), labels(written, n_written, per_section, generator)
    (one, draws), (other, more) = side("r", values[0], 1, seed), side("w", values[1], per_section, seed + 1)
    found = compare_orders("label", one, other, draws, more, (0.0, 1.0))
    truth = float(tau_b(real, written))
    tau, loss = found.figures["tau_b"], found.figures["loss"]
    counts.held += (
        tau.ci_low is not None and tau.ci_high is not None and tau.ci_low - 1e-6 <= truth <= tau.ci_high + 1e-6
    )
    counts.width += (tau.ci_high or 0.0) - (tau.ci_low or 0.0)
    drawn = tau_b(draws.weights @ values[0].T, more.weights @ values[1].T)
    tail = expanded_tail(n_real, draws.confidence)
    low, high = np.nanquantile(drawn, [tail, 1 - tail])
    counts.by_percentiles += bool(low - 1e-6 <= truth <= high + 1e-6)
    lost = float(np.mean([real.max() - real[AGENTS.index(agent)] for agent in found.best_written]))
    counts.loss_held += loss.ci_low is not None and loss.ci_high is not None and loss.ci_low <= lost <= loss.ci_high
    counts.both += found.n_same + len(found.contradicted)
    counts.contradicted += len(found.contradicted)


def main(experiments: int) -> None:
    """Print the table."""
    print(
        "| true orders | τ | real, written, a section | τ held | by percentiles | width | loss held | decided by both |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, (real, written) in WORLDS.items():
        for size in SIZES:
            counts = Counts()
            for seed in range(experiments):
                experiment(real, written, size, 100 + 2 * seed, counts)
            shares = (f"{n / experiments:.1%}" for n in (counts.held, counts.by_percentiles))
            width, lost = counts.width / experiments, counts.loss_held / experiments
            pairs = f"{counts.both:,}, {counts.contradicted:,} contradicted"
            cells = [name, f"{float(tau_b(real, written)):.2f}", ", ".join(map(str, size)), *shares]
            print(f"| {' | '.join(cells)} | {width:.2f} | {lost:.1%} | {pairs} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
