"""The fewest questions that keep the order of variants, chosen greedily and told by variants that had no part in it.

A greedy choice is flattered by the variants it was made on. So the variants are split in halves at random: one half
adds the questions one by one, each time that which brings tau-b with the whole set highest, and the other says what
tau-b each number of questions has there. The number is the first whose mean over splits is .95; the questions are then
chosen on all variants.
"""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats, Ints
from ragassay.records import Figure

from ..statistics.orders import tau_b
from ..statistics.resamples import rounded
from .families import Measured
from .records import Subset

KEPT = 0.95
"""Tau-b with the whole set, from which on the order counts as kept."""
FEWEST_VARIANTS = 8
MOST_VARIANTS = 80
"""Of more, so many drawn at random take part: pairs grow with the square."""
SPLITS = 10


def smallest_subset(part: Measured, seed: int) -> Subset | None:
    """None where the whole set ties all variants, or all of a half. part: with every value known."""
    rng = np.random.default_rng(seed)
    n_variants = len(part.names)
    drawn = np.sort(rng.permutation(n_variants)[:MOST_VARIANTS])
    values = part.values[drawn]
    curves = [curve for _ in range(SPLITS) for curve in _halves(values, rng)]
    if not curves:
        return None
    held, at_random = (np.array([pair[side] for pair in curves]) for side in (0, 1))
    reached = np.flatnonzero(held.mean(axis=0) >= KEPT)
    size = int(reached[0]) + 1 if len(reached) else values.shape[1]
    order = greedy_order(values, size)
    chosen = float(tau_b(values[:, order].mean(axis=1), values.mean(axis=1)))
    return Subset(
        questions=tuple(part.clusters.queries[at] for at in order),
        n_splits=len(curves),
        tau_b=_over_splits(held[:, size - 1], len(drawn)),
        tau_b_random=_over_splits(at_random[:, size - 1], len(drawn)),
        tau_b_chosen=rounded(chosen, len(drawn), 0, None, None),
    )


def greedy_order(values: Floats, size: int) -> Ints:
    """The questions (columns of `values`) in the order in which they are added, `size` of them; of equals the first."""
    n = values.shape[1]
    whole, sums, order = values.mean(axis=1), np.zeros(len(values)), list[int]()
    for _ in range(size):
        left = [at for at in range(n) if at not in order]
        means = (sums[:, None] + values[:, left]).T / (len(order) + 1)
        taus = np.nan_to_num(tau_b(means, whole), nan=-1.0)
        best = left[int(np.round(taus, 9).argmax())]
        order.append(best)
        sums = sums + values[:, best]
    return np.array(order, dtype=np.intp)


def _halves(values: Floats, rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
    """Of each half of a split: tau-b on it by the number of questions, as the other half and as chance chooses them."""
    order, half = rng.permutation(len(values)), len(values) // 2
    found = []
    for chooses, tells in ((order[:half], order[half:]), (order[half:], order[:half])):
        n = values.shape[1]
        curves = [_curve(values[tells], one) for one in (greedy_order(values[chooses], n), rng.permutation(n))]
        if np.isfinite(curves[0][-1]):
            found.append((np.nan_to_num(curves[0]), np.nan_to_num(curves[1])))
    return found


def _curve(values: Floats, order: Ints) -> Floats:
    """(questions,): tau-b with the whole set of the first 1, 2, … questions in order."""
    means = values[:, order].cumsum(axis=1) / np.arange(1, len(order) + 1)
    return tau_b(means.T, values.mean(axis=1))


def _over_splits(taus: Floats, n: int) -> Figure:
    """The mean, and where the middle 95% of the splits lie. n: variants."""
    low, high = np.quantile(taus, [0.025, 0.975])
    return rounded(float(taus.mean()), n, 0, float(low), float(high))
