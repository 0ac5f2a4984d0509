"""Coefficients of agreement between two raters' labels, each a function of a table of how often which label met which.

A cell is a pair of labels that occurs; its count is a sum over rows, and so it can be had for any weighting of the
clusters: once for the data (all 1), once for each draw of clusters, once with each cluster left out. Every coefficient
takes cell counts of shape (..., cells), and is computed for all leading entries at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats, Ints, Truths, sums_by_number
from ragassay.records import Record

from .label_tables import Label, spelt

_AT_ONCE = 2_000_000
"""Weights, counts and pairs of labels that are held at once beside the result."""


@dataclass(frozen=True)
class Crosstab:
    """`n_labels` labels, numbered 0 to n_labels - 1 in the order of the scale, and the cells (x[m], y[m]).

    x, y: (cells,) the row's and the column's label. row_cell: (rows,) rising, each row's cell. row_cluster: (rows,)
    its cluster, 0 to n_clusters - 1. mass: (rows,) what the row counts for.
    """

    n_labels: int
    x: Ints
    y: Ints
    row_cell: Ints
    row_cluster: Ints
    mass: Floats
    n_clusters: int

    def counts(self, weights: Floats) -> Floats:
        """(..., cells): the cell counts with the clusters weighted by `weights`, (..., clusters)."""
        flat = weights.reshape(-1, weights.shape[-1])
        summed = np.zeros((len(flat), len(self.x)))
        step = max(1, _AT_ONCE // max(1, flat.shape[1] + len(self.x)))
        for start in range(0, len(flat), step):
            summed[start : start + step] = (self._by_cluster @ flat[start : start + step].T).T
        return summed.reshape(*weights.shape[:-1], len(self.x))

    @cached_property
    def _by_cluster(self) -> Any:
        """What each cluster adds to each cell: (cells, clusters), sparse, summed in the same order on every machine."""
        from scipy.sparse import coo_array

        places = (self.row_cell, self.row_cluster)
        return coo_array((self.mass, places), shape=(len(self.x), self.n_clusters)).tocsr()

    def rows_by_label(self, counts: Floats) -> Floats:
        """(..., n_labels): the totals of the row's labels."""
        return sums_by_number(counts, self.x, self.n_labels)

    def columns_by_label(self, counts: Floats) -> Floats:
        """(..., n_labels): the totals of the column's labels."""
        return sums_by_number(counts, self.y, self.n_labels)


def crosstab(x: Sequence[int] | Ints, y: Sequence[int] | Ints, cluster: Ints, n_labels: int) -> Crosstab:
    """The table of rows (x[i], y[i]), each of cluster[i] and counting 1; three sequences of one length."""
    return weighted_crosstab(np.asarray(x), np.asarray(y), cluster, np.ones(len(cluster)), n_labels)


def weighted_crosstab(x: Ints, y: Ints, cluster: Ints, mass: Floats, n_labels: int) -> Crosstab:
    """The same with rows that count for `mass`; `cluster` may leave out numbers, and holds the highest one."""
    codes = x.astype(np.int64) * n_labels + y
    order = np.argsort(codes, kind="stable")
    cells, row_cell = np.unique(codes[order], return_inverse=True)
    return Crosstab(
        n_labels=n_labels,
        x=(cells // max(n_labels, 1)).astype(np.intp),
        y=(cells % max(n_labels, 1)).astype(np.intp),
        row_cell=row_cell.astype(np.intp),
        row_cluster=cluster[order],
        mass=mass[order],
        n_clusters=int(cluster.max(initial=-1)) + 1,
    )


class Confusion(Record):
    """`counts[i][j]`: rows to which people gave `labels[i]` and the judge `labels[j]`."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion(table: Crosstab, labels: Sequence[Label]) -> Confusion:
    """The matrix over all labels of the scale, in its order."""
    counts = [[0] * len(labels) for _ in labels]
    for cell in table.row_cell.tolist():
        counts[int(table.x[cell])][int(table.y[cell])] += 1
    return Confusion(labels=tuple(map(spelt, labels)), counts=tuple(map(tuple, counts)))


@dataclass(frozen=True)
class Share:
    """A share of rows, with the clustered interval of one: sum(values) / sum(counts), both (rows,).

    empty: in words, that nothing is counted.
    """

    name: str
    values: Floats
    counts: Floats
    empty: str


def detection_shares(human: Truths, judge: Truths) -> list[Share]:
    """Accuracy, precision, recall, F1, false-positive and false-negative rate; both arguments are (rows,).

    Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), section 8.3, equations 8.1 to 8.8; the
    false-positive rate is over what people found not relevant, the false-negative rate over what they did.
    """
    hit, extra, missed = human & judge, ~human & judge, human & ~judge
    no_human, no_judge = "people labelled nothing as relevant", "the judge labelled nothing as relevant"
    return [
        _share("accuracy", human == judge, np.ones_like(human), "no row has both labels"),
        _share("precision", hit, judge, no_judge),
        _share("recall", hit, human, no_human),
        _share("f1", 2 * hit, 2 * hit + extra + missed, f"{no_human}, nor did the judge"),
        _share("false_positive_rate", extra, ~human, "people labelled everything as relevant"),
        _share("false_negative_rate", missed, human, no_human),
    ]


def near_shares(human: Floats, judge: Floats) -> Share:
    """Off-by-one accuracy: the share of rows whose labels differ by no more than 1."""
    near = np.abs(human - judge) <= 1 + 1e-9
    return _share("off_by_one", near, np.ones_like(near), "no row has both labels")


def same_shares(same: Truths) -> Share:
    """The share of rows with equal labels."""
    return _share("agreement", same, np.ones_like(same), "no row has both labels")


def _share(name: str, values: NDArray[Any], counts: NDArray[Any], empty: str) -> Share:
    return Share(name, values.astype(np.float64), counts.astype(np.float64), empty)


def balanced_accuracy(table: Crosstab, counts: Floats) -> Floats:
    """(recall + specificity) / 2 for each of the leading entries of `counts` (..., cells), from 0 to 1; a coin has 0.5.

    Labels are 0, no, and 1, yes; rows are people's. NaN where people said only the one or the other. It is Youden's
    index J (Cancer 3(1), 1950) on another scale: (J + 1) / 2.
    """
    right = (counts * (table.x == table.y))[..., None, :] * (table.x == np.arange(2)[:, None])
    total = table.rows_by_label(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (right.sum(axis=-1) / np.where(total > 0, total, np.nan)).mean(axis=-1)
    return found


Weighting = Literal["plain", "linear", "quadratic"]


def disagreement(n_labels: int, weighting: Weighting) -> Floats:
    """(n_labels, n_labels): 0 on the diagonal; elsewhere 1, or the distance in places on the scale, or its square.

    Linear and quadratic weights are those of Cicchetti and Allison (1971) and of Fleiss and Cohen (1973).
    """
    places = np.arange(n_labels, dtype=np.float64)
    distance = np.abs(places[:, None] - places[None, :])
    return {"plain": (distance > 0).astype(np.float64), "linear": distance, "quadratic": distance**2}[weighting]


def kappa(table: Crosstab, counts: Floats, weighting: Weighting = "plain") -> Floats:
    """Kappa for each of the leading entries of `counts` (..., cells): at most 1; NaN where it is undefined.

    Cohen, Educational and Psychological Measurement 20, 1960, equation 1, and with weights Psychological Bulletin 70,
    1968, equation 2: 1 - q_o / q_e, the mean weighted disagreement observed over that expected from the margins. It is
    undefined where none is expected: both raters gave one and the same label throughout.
    """
    weights = disagreement(table.n_labels, weighting)
    observed = counts @ weights[table.x, table.y]
    rows, columns = table.rows_by_label(counts), table.columns_by_label(counts)
    expected = ((rows @ weights) * columns).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        value: Floats = 1 - observed * counts.sum(axis=-1) / np.where(expected > 1e-12, expected, np.nan)
    return value


Level = Literal["nominal", "ordinal", "interval"]


def coincidences(units: Sequence[Sequence[int | None]], cluster: Ints, n_labels: int) -> Crosstab:
    """The coincidence table: every ordered pair of labels of a unit of m labels counts 1 / (m - 1).

    units: for each unit its raters' labels (numbers on the scale), None where one is missing; a unit with fewer than
    two is not pairable and takes no part. cluster: (units,) numbers from 0.
    """
    labels = np.full((len(units), max(map(len, units), default=0)), -1)
    for place, unit in enumerate(units):
        labels[place, : len(unit)] = [-1 if label is None else label for label in unit]
    step = max(1, _AT_ONCE // max(1, labels.shape[1] ** 2))
    starts = range(0, len(labels), step)
    none = np.zeros(0, np.intp)
    parts = [_pairs(labels[start : start + step], cluster[start : start + step], n_labels) for start in starts]
    x, y, of, mass = (np.concatenate(sides) for sides in zip(*parts or [(none, none, none, np.zeros(0))], strict=True))
    return weighted_crosstab(x, y, of, mass, n_labels)


def _pairs(labels: Ints, cluster: Ints, n_labels: int) -> tuple[Ints, Ints, Ints, Floats]:
    """x, y, cluster and mass of each ordered pair of labels that a unit has, once a unit; labels: (units, raters)."""
    one, other = np.nonzero(~np.eye(labels.shape[1], dtype=bool))
    x, y = labels[:, one], labels[:, other]
    unit, place = np.nonzero((x >= 0) & (y >= 0))
    codes = (unit * n_labels + x[unit, place]) * n_labels + y[unit, place]
    met, often = np.unique(codes, return_counts=True)
    of = met // n_labels**2
    return met // n_labels % n_labels, met % n_labels, cluster[of], often / ((labels[of] >= 0).sum(axis=1) - 1)


def alpha(table: Crosstab, counts: Floats, level: Level, values: Floats | None = None) -> Floats:
    """Alpha for each of the leading entries of `counts` (..., cells): at most 1; NaN where it is undefined.

    Krippendorff, Content Analysis (3rd edition, 2013), section 12.3; "Computing Krippendorff's Alpha-Reliability"
    (2011): alpha = 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck, with d_ck 1 where c and k differ (nominal),
    (v_c - v_k)^2 (interval, `values` (n_labels,) being the labels' own), or the square of how many labels lie between c
    and k, half of c's and k's own counted (ordinal). Undefined where all labels are equal.
    """
    by_label, n = table.rows_by_label(counts), counts.sum(axis=-1)
    if level == "nominal":
        observed = counts @ (table.x != table.y).astype(np.float64)
        expected = n**2 - (by_label**2).sum(axis=-1)
    else:
        place = by_label.cumsum(axis=-1) - by_label / 2 if level == "ordinal" else np.asarray(values)
        gaps = place[..., table.x] - place[..., table.y]
        observed = (counts * gaps**2).sum(axis=-1)
        expected = 2 * (n * (by_label * place**2).sum(axis=-1) - (by_label * place).sum(axis=-1) ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        value: Floats = 1 - (n - 1) * observed / np.where(expected > 1e-9 * n, expected, np.nan)
    return value


_ROOM = 16
"""So many times the cells that there are, at most, a table of all labels by all labels may have."""


def tau_b(table: Crosstab, counts: Floats) -> Floats:
    """Tau-b for each of the leading entries of `counts` (..., cells): -1 to 1; NaN where one rater's labels are equal.

    Kendall, Biometrika 33(3), 1945: pairs in the same order less pairs in opposite order, over the root of the product
    of the numbers of pairs that each rater does not tie.
    """
    agreeing = _agreeing(table, counts)
    total = counts.sum(axis=-1) ** 2
    untied = [total - (side**2).sum(axis=-1) for side in (table.rows_by_label(counts), table.columns_by_label(counts))]
    product = untied[0] * untied[1]
    with np.errstate(invalid="ignore"):
        value: Floats = agreeing / np.sqrt(np.where(product > 1e-9, product, np.nan))
    return value


def _agreeing(table: Crosstab, counts: Floats) -> Floats:
    """Ordered pairs of rows in the same order less those in opposite order, (...)."""
    labels = [np.unique(side, return_inverse=True) for side in (table.x, table.y)]
    shape = (len(labels[0][0]), len(labels[1][0]))
    if shape[0] * shape[1] <= _ROOM * len(table.x):
        # Most labels have met each other: for each cell, what lies below it on both sides or on one.
        grid = np.zeros((*counts.shape[:-1], *shape))
        grid[..., labels[0][1], labels[1][1]] = counts
        below = grid.cumsum(axis=-2) - grid
        left = below.cumsum(axis=-1)
        found: Floats = 2 * (grid * (left - below - (left[..., -1:] - left))).sum(axis=(-2, -1))
        return found
    agreeing = np.zeros(counts.shape[:-1])
    for start in range(0, len(table.x), 1000):
        part = slice(start, start + 1000)
        same = np.sign(table.x[:, None] - table.x[None, part]) * np.sign(table.y[:, None] - table.y[None, part])
        agreeing += ((counts @ same.astype(np.float64)) * counts[..., part]).sum(axis=-1)
    return agreeing


def spearman_rho(table: Crosstab, counts: Floats) -> Floats:
    """Spearman's rho, Pearson's correlation of the mid-ranks: -1 to 1; NaN where one rater's labels are equal.

    Spearman, American Journal of Psychology 15, 1904; ties as Kendall, Rank Correlation Methods (1948), chapter 3.
    """
    n = counts.sum(axis=-1, keepdims=True)
    x, y = _centred_ranks(table.rows_by_label(counts), n), _centred_ranks(table.columns_by_label(counts), n)
    at_x, at_y = x[..., table.x], y[..., table.y]
    shared = (counts * at_x * at_y).sum(axis=-1)
    product = (counts * at_x**2).sum(axis=-1) * (counts * at_y**2).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        value: Floats = shared / np.sqrt(np.where(product > 1e-9, product, np.nan))
    return value


def _centred_ranks(by_label: Floats, n: Floats) -> Floats:
    """(..., n_labels): each label's mid-rank less the mean rank n / 2."""
    ranks: Floats = by_label.cumsum(axis=-1) - by_label / 2 - n / 2
    return ranks


LIMIT_SD = 1.96


def bias_and_limits(table: Crosstab, counts: Floats, values: Floats) -> dict[str, Floats]:
    """`bias`, `limit_low`, `limit_high` for each of the leading entries of `counts` (..., cells); NaN below two rows.

    Bland and Altman, The Lancet 327, 1986: bias is the mean of judge - human, the limits of agreement are bias -+ 1.96
    standard deviations, which divide by n - 1. values: (n_labels,) the labels as numbers.
    """
    gap, n = values[table.y] - values[table.x], counts.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        bias = counts @ gap / n
        spread = np.maximum(counts @ gap**2 - n * bias**2, 0.0)
        sd = np.sqrt(spread / np.where(n > 1, n - 1, np.nan))
    return {"bias": bias, "limit_low": bias - LIMIT_SD * sd, "limit_high": bias + LIMIT_SD * sd}
