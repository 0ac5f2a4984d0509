"""Figures as they are estimated: a value with its interval, or the reason why there is none; and p-values.

Percentiles of the bootstrap are too narrow where judge and people nearly always agree: with 30 labels at kappa .96 they
cover 47% (as benchmarks/coverage/agreement.py simulates). So the bootstrap gives a standard error (Efron and
Tibshirani, An Introduction to the Bootstrap, 1993, chapter 6; times sqrt(c / (c - 1)) for c clusters), and the interval
is Student's t with c - 1 degrees of freedom on Fisher's scale, artanh, where a correlation-like figure is nearly normal
(Fisher, Metron 1, 1921). Each end is moved out to the expanded percentile's (Hesterberg 2015) where that lies farther.
Shares (accuracy, precision, ...) have the clustered interval of `evaluate.statistics.clustered`: it needs no draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from ragassay.arrays import Floats, Ints
from ragassay.records import Figure

from ..inputs.clusters import Clusters
from ..statistics.clustered import NO_SPREAD, alike_interval, estimate, interval
from ..statistics.resamples import expanded_tail, rounded, six_digits
from .coefficients import Crosstab, Share, spearman_rho, tau_b
from .label_tables import LARGEST

Ends = tuple[float | None, float | None]
Statistic = Callable[[Crosstab, Floats], Floats]
"""From a table and cell counts (..., cells) to the figure's values (...), NaN where it is undefined."""
_AT_ONCE = 2_000_000
"""Counts, or labels drawn, that are held at once."""


@lru_cache(maxsize=4)
def draws(n_clusters: int, replicates: int, seed: int) -> Floats:
    """(replicates, clusters): how often each cluster was drawn, of as many draws with replacement as there are."""
    share = np.full(n_clusters, 1 / max(n_clusters, 1))
    weights: Floats = np.random.default_rng(seed).multinomial(n_clusters, share, size=replicates).astype(np.float64)
    weights.setflags(write=False)
    return weights


def bootstrap_interval(value: float, replicates: Floats, n_clusters: int, *, bounded: bool) -> Ends:
    """The ends of 95% from the value in each replicate; None below two clusters and where no replicate differs.

    bounded: the figure lies between -1 and 1 and Fisher's scale is used; else Student's t as it is. Replicates in which
    the figure is undefined (NaN) take no part.
    """
    known = replicates[np.isfinite(replicates)]
    if n_clusters < 2 or len(known) < 2 or known.std() < NO_SPREAD:
        return None, None
    from scipy.special import stdtrit

    reach = float(stdtrit(n_clusters - 1, 0.975)) * known.std() * np.sqrt(n_clusters / (n_clusters - 1))
    if bounded:
        inside = float(np.clip(value, -1 + 1e-6, 1 - 1e-6))
        around = np.tanh(np.arctanh(inside) + np.array([-1, 1]) * reach / (1 - inside**2))
    else:
        around = value + np.array([-1, 1]) * reach
    tail = expanded_tail(n_clusters, 0.95)
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(min(low, around[0])), float(max(high, around[1]))


def rank_interval(value: float, replicates: Floats, n_clusters: int) -> Ends:
    """`bootstrap_interval` of how far two orders agree, -1 to 1; of one order and itself, or its reverse, another.

    Fisher's scale has no place for 1, and an error taken to it reaches all of -1 to 1. There the interval goes from the
    value to the expanded percentile, which stays where such a figure can lie (Efron and Tibshirani 1993, chapter 13),
    and at least to the nearest value that a resample has: a resample adds noise of its own, and its orders agree less
    than these do.
    """
    ends = bootstrap_interval(value, replicates, n_clusters, bounded=True)
    if ends == (None, None) or abs(value) < 1 - NO_SPREAD:
        return ends
    inwards = np.abs(replicates[np.isfinite(replicates)] - value)
    far = float(np.quantile(inwards, 1 - expanded_tail(n_clusters, 0.95), method="closest_observation"))
    end = float(np.sign(value)) * (1 - max(far, float(inwards[inwards > NO_SPREAD].min())))
    return min(end, value), max(end, value)


def perfect_interval(n_by_cluster: Floats, chance: float) -> Ends:
    """Where all labels agree, and resampling sees no spread: rows that disagree have at most a share of `reach`.

    `reach` is the exact limit for so many like observations (`alike_interval`), and a row that disagrees is taken to do
    so as chance would: agreement is at least 1 - reach / (1 - chance). chance: the share of rows on which two raters
    with these margins agree by chance. None below two clusters.
    """
    if (n_by_cluster > 0).sum() < 2 or chance >= 1:
        return None, None
    low, _ = alike_interval(np.array(1.0), n_by_cluster[n_by_cluster > 0], (0.0, 1.0))
    return max(-1.0, 1 - (1 - float(low)) / (1 - chance)), 1.0


FEW = 3
"""A rater who gave at most so many things another label than the commonest one has rare labels."""
PSEUDO_ROWS = 2.0
"""Over all pairs of labels, each the mass of a cluster: 1/2 for each of four."""


@dataclass(frozen=True)
class Rare:
    """Draws of the counts of every pair of the labels seen, (replicates, cells), and the table they are counts of.

    With two labels of the rare kind, a third of the resamples have one or none, and where a rater gave one label
    throughout kappa is 0 in every resample, whatever the other said. There the figure is drawn from a posterior
    instead: a Bayesian bootstrap of the clusters (Rubin, Annals of Statistics 9(1), 1981) with pseudo-rows for every
    pair of the labels seen, which for two labels and rows that stand alone is the Dirichlet posterior under Jeffreys'
    prior, 1/2 for each of the four cells (as Basu, Banerjee and Sen, Biometrics 56(2), 2000, have it for kappa).
    """

    table: Crosstab
    counts: Floats
    n_clusters: int

    def ends(self, statistic: Statistic) -> tuple[float, float]:
        """The 95% interval of a figure of agreement, its quantiles as far out as few clusters ask (Hesterberg 2015)."""
        tail = expanded_tail(self.n_clusters, 0.95)
        low, high = np.clip(np.quantile(statistic(self.table, self.counts), [tail, 1 - tail]), -1.0, 1.0)
        return float(low), float(high)

    def both_ways(self) -> Rare:
        """The same as coincidences, every pair counted once in each order."""
        side = round(len(self.table.x) ** 0.5)
        square = self.counts.reshape(-1, side, side)
        return Rare(self.table, (square + square.swapaxes(1, 2)).reshape(len(square), -1), self.n_clusters)


def rare(table: Crosstab, replicates: int, seed: int) -> Rare | None:
    """The draws for a table of pairs; None where both raters' labels vary enough, and where nothing varies at all."""
    counts = table.counts(np.ones(table.n_clusters))
    sides = (table.rows_by_label(counts), table.columns_by_label(counts))
    seen = np.flatnonzero(sides[0] + sides[1])
    n_clusters = len(np.unique(table.row_cluster))
    minority = min(float(side.sum() - side.max(initial=0.0)) for side in sides)
    if len(seen) < 2 or n_clusters < 2 or minority > FEW:
        return None
    generator = np.random.default_rng(seed)
    # The same rows, with a cell for every pair of the labels seen; a row of no mass keeps each cell in its place.
    x, y = (side.ravel() for side in np.meshgrid(seen, seen, indexing="ij"))
    cell = np.searchsorted(seen, table.x) * len(seen) + np.searchsorted(seen, table.y)
    row_cell = np.concatenate([cell[table.row_cell], np.arange(len(x))]).astype(np.intp)
    order = np.argsort(row_cell, kind="stable")
    cluster = np.concatenate([table.row_cluster, np.zeros(len(x), dtype=np.intp)])[order]
    masses = np.concatenate([table.mass, np.zeros(len(x))])[order]
    whole = Crosstab(table.n_labels, x, y, row_cell[order], cluster, masses, table.n_clusters)
    drawn = whole.counts(generator.gamma(1.0, size=(replicates, table.n_clusters)))
    each = PSEUDO_ROWS / len(whole.x)
    mass = float(table.mass.sum()) / n_clusters
    return Rare(whole, drawn + mass * generator.gamma(each, size=drawn.shape), n_clusters)


@dataclass
class Found:
    """Figures by name, over `n` rows, `n_failed` more being without a label; the reason for each that is undefined."""

    n: int
    n_failed: int
    figures: dict[str, Figure] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, value: float, ends: Ends, why: str) -> None:
        """A figure, or the reason why there is none."""
        if np.isfinite(value):
            self.figures[name] = rounded(value, self.n, self.n_failed, *ends)
        else:
            self.leave_out(name, why)

    def leave_out(self, name: str, why: str) -> None:
        """The figure without a value, and the reason."""
        self.figures[name] = Figure(value=None, n=self.n, n_failed=self.n_failed)
        self.undefined[name] = why

    def share(self, share: Share, clusters: Clusters, suffix: str = "") -> None:
        """A share of rows with its clustered interval, or that it is of nothing."""
        if not share.counts.any():
            return self.leave_out(share.name + suffix, share.empty)
        value, low, high = interval(share.values, share.counts, clusters, (0.0, 1.0))
        return self.put(share.name + suffix, value, (low, high), share.empty)


@dataclass(frozen=True)
class Sample:
    """A table with the draws of its clusters, and those of `rare` where resampling sees too few rare labels."""

    table: Crosstab
    weights: Floats
    rare: Rare | None = None

    @classmethod
    def of_pairs(cls, table: Crosstab, replicates: int, seed: int) -> Sample:
        """The draws for a table of pairs of labels."""
        return cls(table, draws(table.n_clusters, replicates, seed), rare(table, replicates, seed))

    @classmethod
    def of_coincidences(cls, table: Crosstab, pairs: Sample | None, replicates: int, seed: int) -> Sample:
        """The draws for a table of coincidences; `pairs` is what it was made from, where there are two raters."""
        few = pairs.rare.both_ways() if pairs is not None and pairs.rare is not None else None
        return cls(table, draws(table.n_clusters, replicates, seed), few)

    def every(self, statistic: Statistic) -> tuple[float, Floats]:
        """The value, and its value in each replicate: of all at once where their counts are few, and kept then."""
        step = max(1, _AT_ONCE // max(1, len(self.table.x)))
        starts = range(0, len(self.weights), step)
        parts = (self.table.counts(self.weights[start : start + step]) for start in starts)
        drawn = [statistic(self.table, c) for c in ([self._drawn] if step >= len(self.weights) else parts)]
        return float(statistic(self.table, self._counts)), np.concatenate(drawn)

    @cached_property
    def _drawn(self) -> Floats:
        return self.table.counts(self.weights)

    @cached_property
    def _counts(self) -> Floats:
        return self.table.counts(np.ones(self.table.n_clusters))

    def chance(self) -> float:
        """The share of rows with equal labels if both raters labelled blindly, with the frequencies that they have."""
        counts = self._counts
        rows, columns = self.table.rows_by_label(counts), self.table.columns_by_label(counts)
        return float((rows * columns).sum() / counts.sum() ** 2)

    def interval(self, value: float, replicates: Floats, statistic: Statistic, *, bounded: bool) -> Ends:
        """The interval of a figure; where all labels agree and it is 1, that of `perfect_interval`.

        Where there are draws of `rare`, it is moved out to theirs.
        """
        if bounded and value > 1 - 1e-9 and bool((self.table.x == self.table.y).all()):
            sizes = np.bincount(self.table.row_cluster, self.table.mass, self.table.n_clusters).astype(np.float64)
            return perfect_interval(sizes, self.chance())
        n_clusters = len(np.unique(self.table.row_cluster))
        ends = bootstrap_interval(value, replicates, n_clusters, bounded=bounded)
        if self.rare is None or not bounded:
            return ends
        low, high = self.rare.ends(statistic)
        known = [value, *(end for end in ends if end is not None)]
        return min(low, *known), max(high, *known)

    def figure(
        self, found: Found, name: str, statistic: Statistic, why: str, *, bounded: bool = True, lowest: float = -np.inf
    ) -> None:
        """Put the statistic, with its interval, among what was found; `why` says what makes it undefined.

        lowest: what no value lies below, as 0 where a share has the interval of correlations.
        """
        value, replicates = self.every(statistic)
        if not np.isfinite(value):
            return found.leave_out(name, why)
        low, high = self.interval(value, replicates, statistic, bounded=bounded)
        return found.put(name, value, (None if low is None else max(lowest, low), high), why)


DRAWS = 999
TOGETHER = 5
"""So many clusters of neighbouring sizes, at least, change their places with each other."""
_KEYS = 2**22
"""Random keys by which a cluster's labels are put in another order, sorted together with them."""


def rank_p(x: Floats, y: Floats, clusters: Clusters | None = None, seed: int = 7) -> dict[str, float]:
    """`tau_b`, `rho` of values (n,); nothing below three, and where one side's values are all alike.

    Of pairs that stand alone p is scipy's, exact for few pairs without ties and else asymptotic. clusters: of the pairs
    (a query, a section); where one has several of them they are alike in both raters by themselves, and such a p were
    far too small: it is `permutation_p`, of whole clusters, and nothing below two of them.
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
    values = [np.unique(side, return_inverse=True)[1].tolist() for side in (x, y)]
    rows: list[list[tuple[int, int]]] = [[] for _ in clusters.names]
    for number, a, b in zip(clusters.numbers.tolist(), *values, strict=True):
        rows[number].append((a, b))
    # By size, then by labels: an order that does not hang on that of the rows or on names.
    blocks = sorted((sorted(block) for block in rows if block), key=lambda block: (len(block), block))
    one, other = (np.array([pair[side] for block in blocks for pair in block], dtype=np.intp) for side in (0, 1))
    seen = _correlations(one, other[None])
    generator = np.random.default_rng(seed)
    beyond = dict.fromkeys(seen, 1)
    for permuted in _permuted(other, [len(block) for block in blocks], draws, generator):
        for name, drawn in _correlations(one, permuted).items():
            beyond[name] += int((np.abs(np.nan_to_num(drawn)) >= abs(seen[name][0]) - 1e-9).sum())
    return {name: six_digits(count / (draws + 1)) for name, count in beyond.items()}


def _permuted(labels: Ints, sizes: Sequence[int], draws: int, generator: np.random.Generator) -> Iterator[Ints]:
    """`draws` permutations, in slices (some, n), of labels that stand cluster by cluster, rising in size."""
    size = np.array(sizes)
    start, n, n_labels = np.cumsum(size) - size, len(labels), int(labels.max()) + 1
    cluster = np.repeat(np.arange(len(size)), size)
    place = np.arange(n) - start[cluster]
    # Which change places with each other: those of one size always do, whatever their labels.
    starts = [0]
    for at in range(1, len(sizes)):
        if sizes[at] != sizes[at - 1] and min(at - starts[-1], len(sizes) - at) >= TOGETHER:
            starts.append(at)
    group = np.searchsorted(starts, np.arange(len(sizes)), side="right")
    for first in range(0, draws, step := max(1, _AT_ONCE // n)):
        some = min(step, draws - first)
        keys = (cluster * _KEYS + generator.integers(0, _KEYS, (some, n))) * n_labels + labels
        shuffled = np.sort(keys, axis=1) % n_labels
        taken = np.argsort(group + generator.random((some, len(size))), axis=1)[:, cluster]
        yield np.take_along_axis(shuffled, start[taken] + place % size[taken], axis=1)


def _correlations(x: Ints, y: Ints) -> dict[str, Floats]:
    """`tau_b`, `rho` of x (n,) with each row of y (draws, n), both numbered from 0; NaN where a side does not vary."""
    n_labels = int(max(x.max(), y.max())) + 1
    if n_labels > LARGEST:
        from scipy.stats import kendalltau, spearmanr

        known = {"tau_b": kendalltau, "rho": spearmanr}
        return {name: np.array([float(one(x, row).statistic) for row in y]) for name, one in known.items()}
    cells = n_labels**2
    codes = x * n_labels + y + cells * np.arange(len(y))[:, None]
    counts = np.bincount(codes.ravel(), minlength=cells * len(y)).reshape(len(y), cells).astype(np.float64)
    every, none = np.arange(cells), np.zeros(0, dtype=np.intp)
    table = Crosstab(n_labels, every // n_labels, every % n_labels, none, none, np.zeros(0), 0)
    return {"tau_b": tau_b(table, counts), "rho": spearman_rho(table, counts)}


def bias_p(gaps: Floats, clusters: Clusters) -> dict[str, float]:
    """`bias` of judge - people (n,), that it is 0; nothing below two clusters, and where all gaps are the same.

    The t-test is paired and cluster-robust (`statistics.clustered`): with one pair a query it is Student's own.
    """
    from scipy.special import stdtr

    found = estimate(clusters.sums(gaps), clusters.sizes)
    if not found.error > NO_SPREAD:
        return {}
    return {"bias": six_digits(2 * float(stdtr(found.df, -abs(found.value / found.error))))}
