"""Two-sided p-values beside measures of agreement: that two raters' labels have nothing in common, or the same mean.

Kendall's and Spearman's of pairs that stand alone are scipy's, exact for few pairs without ties and else asymptotic.
Where several pairs are of one cluster (a query, a section), its pairs are alike in both raters by themselves, and such
a p is far too small: so whole clusters are permuted (`permutation_p`). The t-test of judge - people is paired and
cluster-robust (`statistics.clustered`): with one pair a query it is Student's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ragassay.arrays import Floats, Ints

from ..inputs.clusters import Clusters
from ..statistics.clustered import NO_SPREAD, estimate
from ..statistics.resamples import six_digits
from .confusion import LARGEST
from .crosstab import Crosstab
from .rank_correlation import spearman_rho, tau_b

DRAWS = 999
TOGETHER = 5
"""So many clusters of neighbouring sizes, at least, change their places with each other."""
_CELLS = 2_000_000
"""Labels that are drawn at once."""
_KEYS = 2**22
"""Random keys by which a cluster's labels are put in another order, sorted together with them."""


def rank_p(x: Floats, y: Floats, clusters: Clusters | None = None, seed: int = 7) -> dict[str, float]:
    """`tau_b`, `rho` of values (n,); nothing below three, and where one side's values are all alike.

    clusters: of the pairs; where one has several of them the p is `permutation_p`, and nothing below two clusters.
    """
    if len(x) < 3 or np.ptp(x) < NO_SPREAD or np.ptp(y) < NO_SPREAD:
        return {}
    if clusters is not None and (clusters.sizes > 1).any():
        return permutation_p(x, y, clusters, seed) if len(clusters.names) > 1 else {}
    from scipy.stats import kendalltau, spearmanr

    found = {"tau_b": kendalltau(x, y).pvalue, "rho": spearmanr(x, y).pvalue}
    return {name: six_digits(p) for name, p in found.items() if np.isfinite(p)}


def permutation_p(x: Floats, y: Floats, clusters: Clusters, seed: int = 7, draws: int = DRAWS) -> dict[str, float]:
    """`tau_b`, `rho` of values (n,): the share of permutations of y's clusters in which they are as far from 0.

    Whole blocks are exchanged among those of one size (Winkler et al., NeuroImage 123, 2015, section 2), a cluster's
    labels keeping together, in random order among themselves. Sizes may differ here, so that a cluster may take the
    labels of one nearly of its size (`TOGETHER` or more change places): as many as it has pairs, at random, and some
    again where the other has fewer. The data count as one of the permutations (Phipson and Smyth 2010), so that p is at
    least 1 / (draws + 1). Neither the order of the rows nor the clusters' names change it. How often it is below 5%
    where there is nothing in common: `benchmarks/coverage/rank_p.py`.
    """
    values = [np.unique(side, return_inverse=True)[1].astype(np.intp) for side in (x, y)]
    blocks = _blocks(values[0], values[1], clusters)
    one, other = (np.array([pair[side] for block in blocks for pair in block], dtype=np.intp) for side in (0, 1))
    seen = _correlations(one, other[None])
    generator = np.random.default_rng(seed)
    beyond = dict.fromkeys(seen, 1)
    for permuted in _permuted(other, [len(block) for block in blocks], draws, generator):
        for name, drawn in _correlations(one, permuted).items():
            beyond[name] += int((np.abs(np.nan_to_num(drawn)) >= abs(seen[name][0]) - 1e-9).sum())
    return {name: six_digits(count / (draws + 1)) for name, count in beyond.items()}


def _blocks(x: Ints, y: Ints, clusters: Clusters) -> list[list[tuple[int, int]]]:
    """The clusters' pairs, in an order that does not hang on that of the rows or on names: by size, then by labels."""
    found: list[list[tuple[int, int]]] = [[] for _ in clusters.names]
    for number, a, b in zip(clusters.numbers.tolist(), x.tolist(), y.tolist(), strict=True):
        found[number].append((a, b))
    return sorted((sorted(block) for block in found if block), key=lambda block: (len(block), block))


def _permuted(labels: Ints, sizes: Sequence[int], draws: int, generator: np.random.Generator) -> Iterator[Ints]:
    """`draws` permutations, in slices (some, n), of labels that stand cluster by cluster, rising in size."""
    size = np.array(sizes)
    start, n, n_labels = np.cumsum(size) - size, len(labels), int(labels.max()) + 1
    cluster = np.repeat(np.arange(len(size)), size)
    place = np.arange(n) - start[cluster]
    group = _alike_in_size(sizes)
    for first in range(0, draws, step := max(1, _CELLS // n)):
        some = min(step, draws - first)
        keys = (cluster * _KEYS + generator.integers(0, _KEYS, (some, n))) * n_labels + labels
        shuffled = np.sort(keys, axis=1) % n_labels
        taken = np.argsort(group + generator.random((some, len(size))), axis=1)[:, cluster]
        yield np.take_along_axis(shuffled, start[taken] + place % size[taken], axis=1)


def _alike_in_size(sizes: Sequence[int]) -> Ints:
    """(clusters,): which change places with each other; those of one size always do, whatever their labels."""
    starts = [0]
    for place in range(1, len(sizes)):
        if sizes[place] != sizes[place - 1] and min(place - starts[-1], len(sizes) - place) >= TOGETHER:
            starts.append(place)
    found: Ints = np.searchsorted(starts, np.arange(len(sizes)), side="right")
    return found


def _correlations(x: Ints, y: Ints) -> dict[str, Floats]:
    """`tau_b`, `rho` of x (n,) with each row of y (draws, n), both numbered from 0; NaN where a side does not vary."""
    n_labels = int(max(x.max(), y.max())) + 1
    if n_labels > LARGEST:
        return _of_measured(x, y)
    cells = n_labels**2
    codes = x * n_labels + y + cells * np.arange(len(y))[:, None]
    counts = np.bincount(codes.ravel(), minlength=cells * len(y)).reshape(len(y), cells).astype(np.float64)
    every, none = np.arange(cells), np.zeros(0, dtype=np.intp)
    table = Crosstab(n_labels, every // n_labels, every % n_labels, none, none, np.zeros(0), 0)
    return {"tau_b": tau_b(table, counts), "rho": spearman_rho(table, counts)}


def _of_measured(x: Ints, y: Ints) -> dict[str, Floats]:
    """The same one by one, of values too many to be counted as labels."""
    from scipy.stats import kendalltau, spearmanr

    taus = [float(kendalltau(x, row).statistic) for row in y]
    return {"tau_b": np.array(taus), "rho": np.array([float(spearmanr(x, row).statistic) for row in y])}


def bias_p(gaps: Floats, clusters: Clusters) -> dict[str, float]:
    """`bias` of judge - people (n,), that it is 0; nothing below two clusters, and where all gaps are the same."""
    from scipy.special import stdtr

    found = estimate(clusters.sums(gaps), clusters.sizes)
    if not found.error > NO_SPREAD:
        return {}
    return {"bias": six_digits(2 * float(stdtr(found.df, -abs(found.value / found.error))))}
