"""How often is the p of tau-b and rho below 5% where two raters have nothing in common but items in clusters?

    python -m benchmarks.coverage.rank_p [SIMULATIONS]

Each rater's labels (0, 1, 2) are cut from a normal value with a part of its own for each cluster, drawn by itself for
either rater. Beside the permutation of whole clusters stands scipy's p of tau-b, which takes items as independent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from scipy.stats import kendalltau

from ragassay.arrays import Floats, Ints
from ragassay.evaluate.agreement.estimates import permutation_p
from ragassay.evaluate.inputs.clusters import clusters_of_rows

SIZES: dict[str, Callable[[int, np.random.Generator], Ints]] = {
    "6 each": lambda n, _: np.full(n, 6),
    "1 to 14": lambda n, generator: generator.integers(1, 15, n),
    "1 to 60, few large": lambda n, generator: np.minimum(1 + 2 * generator.pareto(1.0, n), 60).astype(np.intp),
}
CLUSTERS, CORRELATIONS = (8, 20, 50), (0.3, 0.7)


def labels(cluster: Ints, correlation: float, cuts: tuple[float, float], generator: np.random.Generator) -> Floats:
    """(items,) of one rater."""
    shared = generator.normal(size=int(cluster.max()) + 1)[cluster]
    value = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * generator.normal(size=len(cluster))
    return np.digitize(value, cuts).astype(np.float64)


def below(layout: str, n_clusters: int, correlation: float, simulations: int) -> tuple[Floats, int]:
    """The shares of tau-b, rho and scipy's tau-b at 5%, and of how many experiments (without labels all alike)."""
    generator = np.random.default_rng(7)
    called, known = np.zeros(3), 0
    for _ in range(simulations):
        cluster = np.repeat(np.arange(n_clusters), SIZES[layout](n_clusters, generator))
        x = labels(cluster, correlation, (0.0, 1.0), generator)
        y = labels(cluster, correlation, (-0.5, 0.8), generator)
        if np.ptp(x) and np.ptp(y):
            found = permutation_p(x, y, clusters_of_rows(cluster.astype(str).tolist()))
            called += np.array([found["tau_b"], found["rho"], kendalltau(x, y).pvalue]) <= 0.05
            known += 1
    return called / known, known


def main(simulations: int) -> None:
    """Print the table."""
    print("| clusters | items in each | correlation | tau-b, permuted | rho, permuted | tau-b, scipy | experiments |")
    print("|--:|---|--:|--:|--:|--:|--:|")
    for layout in SIZES:
        for n_clusters in CLUSTERS:
            for correlation in CORRELATIONS:
                shares, known = below(layout, n_clusters, correlation, simulations)
                cells = " | ".join(f"{share:.1%}" for share in shares)
                print(f"| {n_clusters} | {layout} | {correlation:g} | {cells} | {known:,} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
