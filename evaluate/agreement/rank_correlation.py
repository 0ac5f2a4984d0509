"""Kendall's tau-b and Spearman's rho of two raters' labels, ties allowed."""

from __future__ import annotations

import numpy as np

from ragassay.arrays import Floats, Ints

from .crosstab import Crosstab

_BLOCK = 1000
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
        return _by_grid(labels[0][1], labels[1][1], counts, shape)
    agreeing = np.zeros(counts.shape[:-1])
    for start in range(0, len(table.x), _BLOCK):
        part = slice(start, start + _BLOCK)
        same = np.sign(table.x[:, None] - table.x[None, part]) * np.sign(table.y[:, None] - table.y[None, part])
        agreeing += ((counts @ same.astype(np.float64)) * counts[..., part]).sum(axis=-1)
    return agreeing


def _by_grid(x: Ints, y: Ints, counts: Floats, shape: tuple[int, int]) -> Floats:
    """The same where most labels have met each other: for each cell, what lies below it on both sides or on one."""
    grid = np.zeros((*counts.shape[:-1], *shape))
    grid[..., x, y] = counts
    below = grid.cumsum(axis=-2) - grid
    left = below.cumsum(axis=-1)
    agreeing: Floats = 2 * (grid * (left - below - (left[..., -1:] - left))).sum(axis=(-2, -1))
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
