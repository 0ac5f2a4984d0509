"""Kendall's tau-b and Spearman's rho of two raters' labels, ties allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats, Ints, Truths, sums_by_number
from ragassay.records import Figure, Record

from .label_tables import Label

# A cell is a pair of labels that occurs; its count is a sum over rows, and so it can be had for any weighting of the
# clusters: once for the data (all 1), once for each draw of clusters, once with each cluster left out. Every figure of
# this package is a function of cell counts of shape (..., cells), computed for all leading entries at once.

_AT_ONCE = 2_000_000
"""Weights and counts that are held at once beside the result."""


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


# Bland and Altman, The Lancet 327, 1986: bias is the mean of judge - human, the limits of agreement bias -+ 1.96
# standard deviations. The plot shows each difference over the mean of the two labels, points as large as they are many.

LIMIT_SD = 1.96
WIDTH, HEIGHT, LEFT, TOP = 640, 380, 60, 20
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1f }}
svg {{ width: 100%; height: auto }} text {{ font: 12px system-ui, sans-serif; fill: #44474e }}
.dot {{ fill: #2f5d9b; fill-opacity: .45; stroke: #2f5d9b }} .axis {{ stroke: #8e9099 }} .zero {{ stroke: #c4c6cf }}
.bias {{ stroke: #9b2f2f; stroke-width: 2 }} .limit {{ stroke: #9b2f2f; stroke-dasharray: 6 4 }}
.band {{ fill: #9b2f2f; fill-opacity: .12 }}
</style></head><body>
{body}
</body></html>
"""


def bias_and_limits(table: Crosstab, counts: Floats, values: Floats) -> dict[str, Floats]:
    """`bias`, `limit_low`, `limit_high` for each of the leading entries of `counts` (..., cells); NaN below two rows.

    values: (n_labels,) the labels as numbers. The standard deviation divides by n - 1.
    """
    gap, n = values[table.y] - values[table.x], counts.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        bias = counts @ gap / n
        spread = np.maximum(counts @ gap**2 - n * bias**2, 0.0)
        sd = np.sqrt(spread / np.where(n > 1, n - 1, np.nan))
    return {"bias": bias, "limit_low": bias - LIMIT_SD * sd, "limit_high": bias + LIMIT_SD * sd}


def page(plots: Mapping[str, tuple[Counter[tuple[float, float]], Mapping[str, Figure]]]) -> str:
    """One self-contained HTML page: title to (how often each (human, judge) pair occurs, the three figures)."""
    body = "\n".join(_section(title, *plot) for title, plot in plots.items())
    return _PAGE.format(title="Agreement of judge and people (Bland-Altman)", body=body)


def _section(title: str, pairs: Counter[tuple[float, float]], figures: Mapping[str, Figure]) -> str:
    words = "; ".join(f"{name.replace('_', ' ')} {_words(figure)}" for name, figure in figures.items())
    caption = f"{sum(pairs.values()):,} pairs of labels. {words}. Shaded: 95% intervals."
    return f"<h1>{escape(title)}</h1>\n{plot(title, pairs, figures)}\n<p>{escape(caption)}</p>"


def _words(figure: Figure) -> str:
    if figure.value is None:
        return "undefined"
    interval = "" if figure.ci_low is None else f" [{figure.ci_low:.3g}, {figure.ci_high:.3g}]"
    return f"{figure.value:.3g}{interval}"


def plot(title: str, pairs: Counter[tuple[float, float]], figures: Mapping[str, Figure]) -> str:
    """The plot as inline SVG: differences (judge - human) over means, bias and limits with their intervals."""
    points = sorted(((a + b) / 2, b - a, count) for (a, b), count in pairs.items())
    across = _ends([mean for mean, _, _ in points])
    ends = [v for f in figures.values() for v in (f.value, f.ci_low, f.ci_high) if v is not None]
    up = _ends([gap for _, gap, _ in points] + ends + [0.0])
    parts = [_level("zero", 0.0, up), *_axes(across, up)]
    for name, figure in figures.items():
        if figure.value is not None:
            parts += [*_band(figure, up), _level("bias" if name == "bias" else "limit", figure.value, up)]
    most = max(pairs.values(), default=1)
    for mean, gap, count in points:
        radius = 3 + 11 * sqrt(count / most) if most > 1 else 4
        place = f'cx="{_x(mean, across):.1f}" cy="{_y(gap, up):.1f}" r="{radius:.1f}"'
        said = f"<title>mean {mean:.4g}, difference {gap:.4g}: {count:,}</title>"
        parts.append(f'<circle class="dot" {place}>{said}</circle>')
    label = escape(f"Bland-Altman plot, {title}", quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _ends(values: list[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = (high - low or 1.0) * 0.08
    return low - margin, high + margin


def _x(value: float, across: tuple[float, float]) -> float:
    return LEFT + (value - across[0]) / (across[1] - across[0]) * (WIDTH - LEFT - 20)


def _y(value: float, up: tuple[float, float]) -> float:
    return TOP + (up[1] - value) / (up[1] - up[0]) * (HEIGHT - TOP - 50)


def _level(css: str, value: float, up: tuple[float, float]) -> str:
    y = _y(value, up)
    return f'<line class="{css}" x1="{LEFT}" x2="{WIDTH - 20}" y1="{y:.1f}" y2="{y:.1f}"/>'


def _band(figure: Figure, up: tuple[float, float]) -> list[str]:
    if figure.ci_low is None or figure.ci_high is None:
        return []
    top, bottom = _y(figure.ci_high, up), _y(figure.ci_low, up)
    width = WIDTH - 20 - LEFT
    return [f'<rect class="band" x="{LEFT}" y="{top:.1f}" width="{width}" height="{bottom - top:.1f}"/>']


def _axes(across: tuple[float, float], up: tuple[float, float]) -> list[str]:
    foot = HEIGHT - 50
    parts = [f'<path class="axis" fill="none" d="M{LEFT} {TOP}V{foot}H{WIDTH - 20}"/>']
    for tick in np.linspace(*across, 6)[1:-1]:
        parts.append(f'<text x="{_x(tick, across):.1f}" y="{foot + 16}" text-anchor="middle">{tick:.2g}</text>')
    for tick in np.linspace(*up, 7)[1:-1]:
        parts.append(f'<text x="{LEFT - 6}" y="{_y(tick, up) + 4:.1f}" text-anchor="end">{tick:.2g}</text>')
    parts.append(f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">mean of both labels</text>')
    middle = HEIGHT / 2
    parts.append(f'<text transform="translate(14 {middle:.0f}) rotate(-90)" text-anchor="middle">judge - human</text>')
    return parts


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


def from_zero(figure: Figure) -> Figure:
    """The same where nothing lies below 0; correlations do, and share the interval."""
    return figure if figure.ci_low is None else figure.model_copy(update={"ci_low": max(0.0, figure.ci_low)})


LARGEST = 50
"""Labels of a scale that is treated as categories; more are treated as measured values."""


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


def spelt(label: Label) -> str:
    """A label as people write it: `2`, `0.5`, `yes`."""
    return label if isinstance(label, str) else f"{label:.10g}"


# Each rate is a share of rows: `values` over `counts`, summed, so that it has the clustered interval of a share. Which
# is which: Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), section 8.3, equations 8.1 to
# 8.8; the false-positive rate is over what people found not relevant, the false-negative rate over what they did.


@dataclass(frozen=True)
class Share:
    """A share of rows: sum(values) / sum(counts), both (rows,); `empty` says in words that nothing is counted."""

    name: str
    values: Floats
    counts: Floats
    empty: str


def detection_shares(human: Truths, judge: Truths) -> list[Share]:
    """Accuracy, precision, recall, F1, false-positive and false-negative rate; both arguments are (rows,)."""
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


def near_shares(human: Floats, judge: Floats, within: float = 1.0) -> Share:
    """Off-by-one accuracy: the share of rows whose labels differ by no more than `within`."""
    near = np.abs(human - judge) <= within + 1e-9
    return _share("off_by_one", near, np.ones_like(near), "no row has both labels")


def same_shares(same: Truths) -> Share:
    """The share of rows with equal labels."""
    return _share("agreement", same, np.ones_like(same), "no row has both labels")


def _share(name: str, values: NDArray[Any], counts: NDArray[Any], empty: str) -> Share:
    return Share(name, values.astype(np.float64), counts.astype(np.float64), empty)


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


# Krippendorff, Content Analysis (3rd edition, 2013), section 12.3; "Computing Krippendorff's Alpha-Reliability" (2011).

Level = Literal["nominal", "ordinal", "interval"]

_KRIPPENDORFF_AT_ONCE = 2_000_000
"""Pairs of labels that are looked at together."""
_NOTHING = (np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))


def coincidences(units: Sequence[Sequence[int | None]], cluster: Ints, n_labels: int) -> Crosstab:
    """The coincidence table: every ordered pair of labels of a unit of m labels counts 1 / (m - 1).

    units: for each unit its raters' labels (numbers on the scale), None where one is missing; a unit with fewer than
    two is not pairable and takes no part. cluster: (units,) numbers from 0.
    """
    labels = np.full((len(units), max(map(len, units), default=0)), -1)
    for place, unit in enumerate(units):
        labels[place, : len(unit)] = [-1 if label is None else label for label in unit]
    step = max(1, _KRIPPENDORFF_AT_ONCE // max(1, labels.shape[1] ** 2))
    starts = range(0, len(labels), step)
    parts = [_pairs(labels[start : start + step], cluster[start : start + step], n_labels) for start in starts]
    x, y, of, mass = (np.concatenate(sides) for sides in zip(*(parts or [_NOTHING]), strict=True))
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

    alpha = 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck, with d_ck 1 where c and k differ (nominal), (v_c - v_k)^2
    (interval, `values` (n_labels,) being the labels' own), or the square of how many labels lie between c and k, half
    of c's and k's own counted (ordinal). Undefined where all labels are equal.
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
