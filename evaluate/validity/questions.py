"""The questions that a test set is held by, how their words are read, what they measured, and differences of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ragassay.arrays import Floats, Ints, Truths
from ragassay.records import Figure
from ragassay.text import same_words

from ..inputs.clusters import Clusters, clusters_of_rows
from ..screening.screened import Screened, mean_figures
from ..statistics.clustered import ASSUMED_CORRELATION, NO_SPREAD
from ..statistics.paired import figures


class Reading(NamedTuple):
    """How texts are read, in the language of the corpus.

    words: in order, in small letters; a script without spaces in single characters. content: the stems of those that
    carry content. best: the text of the passage that BM25 finds first for a question, "" where none shares a word.
    apart: the area under the curve of a classifier that tells people's questions from written ones by looks and
    meaning; None where there is no embedding model at hand.
    """

    words: Callable[[str], Sequence[str]]
    content: Callable[[str], frozenset[str]]
    best: Callable[[str], str]
    apart: Callable[[Sequence[str], Sequence[str]], Figure | None] | None = None


class Question(NamedTuple):
    """A question of the test set. author: the model that wrote it, None of a real one. cluster: its source section, or
    itself. evidence: the text that it rests on, "" where that is not known. section: its id, "" where it names none."""

    id: str
    text: str
    cluster: str
    author: str | None = None
    kind: str = ""
    role: str = ""
    doc: str = ""
    section: str = ""
    evidence: str = ""


def written(questions: Sequence[Question]) -> list[Question]:
    """Those that a model wrote."""
    return [question for question in questions if question.author is not None]


def asked_by_people(questions: Sequence[Question], experts: Sequence[str]) -> list[str]:
    """The texts of people's questions, among the queries and elsewhere, each once."""
    texts = [question.text for question in questions if question.author is None] + list(experts)
    return list({same_words(text) or text: text for text in texts}.values())


def share_of(questions: Sequence[Question], flags: Iterable[bool]) -> Figure:
    """The share of the questions that are flagged, one flag a question."""
    clusters = clusters_of_rows([question.cluster for question in questions])
    return mean_figures(np.array([list(flags)], dtype=np.float64), clusters)[0]


@dataclass(frozen=True, eq=False)
class Measured:
    """Quality of variants on queries. names, families: of the variants. values: (variants, queries), 0 to 1, NaN where
    one failed. clusters: of these queries. quality: the measure's name."""

    names: tuple[str, ...]
    families: tuple[str, ...]
    values: Floats
    clusters: Clusters
    quality: str

    @classmethod
    def of(cls, screened: Screened) -> Measured:
        """By the measure that the screening ranks by; variants without a value on half of the queries left out."""
        kept = np.sort(screened.ranked)
        families = tuple(str(screened.settings[at].get("kind", "")) for at in kept)
        names = tuple(screened.names[at] for at in kept)
        return cls(names, families, screened.values[kept], screened.clusters, screened.quality)

    def only(self, queries: Sequence[str]) -> Measured:
        """On those of these queries that there are, in our order."""
        wanted = set(queries)
        there = np.array([query in wanted for query in self.clusters.queries], dtype=bool)
        clusters = self.clusters.of([query for query in self.clusters.queries if query in wanted])
        return Measured(self.names, self.families, self.values[:, there], clusters, self.quality)

    def complete(self) -> Measured:
        """On the queries on which every variant has a value."""
        whole = np.asarray(~np.isnan(self.values).any(axis=0)).tolist()
        return self.only([query for query, known in zip(self.clusters.queries, whole, strict=True) if known])

    @property
    def family_names(self) -> tuple[str, ...]:
        """Each family once, in order."""
        return tuple(dict.fromkeys(self.families))

    @property
    def by_family(self) -> Floats:
        """(families, queries): the mean over a family's variants; every value must be known."""
        rows = [self.values[np.array(self.families) == family].mean(axis=0) for family in self.family_names]
        return np.array(rows).reshape(len(rows), self.values.shape[1])

    def best(self, means: Floats) -> tuple[str, ...]:
        """The names of the variants with the highest of `means` (variants,)."""
        return tuple(self.names[at] for at in np.flatnonzero(means > means.max() - 1e-9))


@dataclass(frozen=True, eq=False)
class Scores:
    """values: (retrievers, queries), 0 to 1. clusters: of these queries. n_failed: queries that have no value."""

    values: Floats
    clusters: Clusters
    n_failed: int = 0

    @property
    def n(self) -> int:
        """How many queries there are."""
        return len(self.clusters.queries)

    @property
    def n_clusters(self) -> int:
        """How many of their clusters."""
        return len(self.clusters.names)

    @property
    def means(self) -> Floats:
        """(retrievers,)"""
        means: Floats = self.values.mean(axis=1)
        return means

    @cached_property
    def sums(self) -> Floats:
        """(retrievers, clusters): the values of each cluster's queries, summed."""
        return self.clusters.sums(self.values)

    def drawn_means(self, weights: Ints | Floats) -> Floats:
        """(draws, retrievers): the means where each cluster was drawn as often as `weights` (draws, clusters) say."""
        means: Floats = (weights @ self.sums.T) / (weights @ self.clusters.sizes)[:, None]
        return means


class Estimates(NamedTuple):
    """(rows,) each: value, standard error and degrees of freedom, NaN where there is none; n: queries behind it."""

    value: Floats
    error: Floats
    df: Floats
    n: int
    n_failed: int

    def figures(self) -> list[Figure]:
        """Each with its 95% interval (Student's t)."""
        return figures((self.value, *self._ends(0.95)), self.n, [self.n_failed] * len(self.value))

    def told(self, n_tests: int) -> Truths:
        """(rows,): whether 0 is left out at the level of `n_tests` tests together (Bonferroni)."""
        low, high = self._ends(1 - (1 - 0.95) / max(1, n_tests))
        found: Truths = (low > 0) | (high < 0)
        return found

    def _ends(self, confidence: float) -> tuple[Floats, Floats]:
        from scipy.special import stdtrit

        with np.errstate(invalid="ignore"):
            usable = (self.df > 0) & (self.error > NO_SPREAD)
            reach = np.where(usable, stdtrit(np.maximum(self.df, 1), (1 + confidence) / 2) * self.error, np.nan)
        return self.value - reach, self.value + reach


def group_difference(values: Floats, inside: Truths, clusters: Clusters, n_failed: int = 0) -> Estimates:
    """The mean of values (rows, queries) where `inside` less the mean of the others.

    A cluster may have queries of both groups: the variance is that of the clusters' parts in the difference (the
    linearised estimator, Binder, International Statistical Review 51(3), 1983), with G / (G - 1) for G clusters. Its
    degrees of freedom are the smaller group's: its effective number of clusters (Kish) less 1. Values must be known.
    """
    sides = (inside, ~inside)
    sizes = [clusters.sums(side.astype(np.float64)) for side in sides]
    if not all(side.sum() for side in sizes):
        none = np.full(len(values), np.nan)
        return Estimates(none, none, none, values.shape[1], n_failed)
    means = [values[:, side].mean(axis=1) for side in sides]
    parts = np.zeros_like(values)
    for side, mean, sign in zip(sides, means, (1, -1), strict=True):
        parts[:, side] = sign * (values[:, side] - mean[:, None]) / side.sum()
    n_clusters = int((clusters.sizes > 0).sum())
    error = np.sqrt((clusters.sums(parts) ** 2).sum(axis=1) * n_clusters / max(1, n_clusters - 1))
    df = min(effective(size) for size in sizes) - 1
    return Estimates(means[0] - means[1], error, np.full(len(values), df), values.shape[1], n_failed)


def slopes(values: Floats, x: Floats, clusters: Clusters, n_failed: int = 0) -> Estimates:
    """The least-squares slope of values (rows, queries) on x (queries,), all known; NaN where x does not vary.

    The error is the delete-one-cluster jackknife's (Bell and McCaffrey 2002: CR3). A slope rests on the clusters
    that lie far out: its degrees of freedom are their effective number (Kish, of each one's part in the slope's
    variance, where queries of a cluster are correlated by `ASSUMED_CORRELATION`) less 1.
    """
    x, y = x - x.mean(), values - values.mean(axis=1, keepdims=True)
    n, sx, sxx = (clusters.sums(one) for one in (np.ones_like(x), x, x * x))
    sy, sxy = clusters.sums(y), clusters.sums(y * x)
    whole = _slope(n.sum(), sx.sum(), sxx.sum(), sy.sum(axis=1), sxy.sum(axis=1))
    left = [total.sum(axis=-1, keepdims=True) - total for total in (n, sx, sxx, sy, sxy)]
    without = _slope(*left)[:, n > 0]
    n_clusters = without.shape[1]
    error = np.sqrt(((without - whole[:, None]) ** 2).sum(axis=1) * (n_clusters - 1) / max(1, n_clusters))
    parts = ASSUMED_CORRELATION * sx**2 + (1 - ASSUMED_CORRELATION) * sxx
    return Estimates(whole, error, np.full(len(values), effective(parts) - 1), values.shape[1], n_failed)


def effective(sizes: Floats) -> float:
    """How many clusters of one size are as many as these (Kish 1965)."""
    return float(sizes.sum() ** 2 / (sizes @ sizes)) if sizes.any() else 0.0


def _slope(n: Floats, sx: Floats, sxx: Floats, sy: Floats, sxy: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = n * sxx - sx * sx
        value: Floats = np.where(spread > NO_SPREAD, (n * sxy - sx * sy) / spread, np.nan)
    return value
