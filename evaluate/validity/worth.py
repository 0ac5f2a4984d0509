"""How many of people's judged queries a set of written questions is worth: a random sample of so many does as well.

A sample of n of people's queries is set against the rest of them, which are the truth for it, and the written set
against the same rest. n is where the sample, on average, comes as near to the truth as the written set does: by tau, or
by what choosing the best retriever loses. No query is in sample and truth at once, and n goes up to half of them.

The interval holds each n at which the two cannot be told apart: the mean difference at n, plus and minus Student's
quantile times its standard error, from resampling both sets, crosses 0 there. A query drawn several times is on one
side only, with all its copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from ragassay.arrays import Floats, Ints
from ragassay.records import Record

from ..agreement.estimates import draws
from ..statistics.orders import loss, tau_b
from .questions import Scores

SMALLEST, N_SIZES = 5, 12
SPLITS, RESAMPLES, RESAMPLED_SPLITS = 2000, 200, 50


class Worth(Record):
    """value: so many of people's queries; where `bound` is set it is a limit, and the set is worth fewer or more.

    n: of people's queries, drawn from. An end is None where it lies beyond `smallest` or `largest`, the sizes tried.
    All is None for a set that ties all retrievers, and so has no order.
    """

    value: float | None
    bound: Literal["fewer than", "more than"] | None = None
    n: int
    n_failed: int = 0
    ci_low: float | None = None
    ci_high: float | None = None
    smallest: int
    largest: int


class _Leads(NamedTuple):
    """(sizes,) or (resamples, sizes): by how much samples do better than the written set, below 0 where worse."""

    tau: Floats
    loss: Floats


def worth(
    people: Scores, written: Mapping[str, Scores], seed: int, resamples: int = RESAMPLES, splits: int = SPLITS
) -> dict[str, tuple[Worth, Worth]]:
    """Kind of question to what its questions are worth by tau, and by the loss of the retriever chosen."""
    sizes = sample_sizes(people.n)
    means = {kind: scores.means for kind, scores in written.items()}
    found = _leads(people, np.ones(people.n, np.intp), means, sizes, splits, seed)
    drawn = _resampled(people, written, sizes, resamples, seed)
    return {
        kind: (
            _worth(sizes, found[kind].tau, drawn[kind].tau, people, scores),
            _worth(sizes, found[kind].loss, drawn[kind].loss, people, scores),
        )
        for kind, scores in written.items()
    }


def sample_sizes(n: int) -> Ints:
    """From 5 to half of `n` queries, evenly on the logarithm."""
    return np.unique(np.round(np.geomspace(SMALLEST, n // 2, N_SIZES)).astype(np.intp))


def crossing(sizes: Ints, lead: Floats) -> float | None:
    """Where `lead` first comes to 0 from below, linearly on the logarithm of sizes; None where it never does.

    The first size where it is not below 0 there already.
    """
    reached = np.flatnonzero(lead >= 0)
    if not len(reached):
        return None
    if not (k := int(reached[0])):
        return float(sizes[0])
    share = -lead[k - 1] / (lead[k] - lead[k - 1])
    return float(np.exp(np.log(sizes[k - 1]) + share * np.log(sizes[k] / sizes[k - 1])))


def _leads(
    people: Scores, weights: Ints, written: Mapping[str, Floats], sizes: Ints, splits: int, seed: int
) -> dict[str, _Leads]:
    """Kind to its leads; weights: (queries,) how often each of people's is there; written: kind to means."""
    generator = np.random.default_rng(seed)
    found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in written}
    for size in sizes.tolist():
        sample, truth = _split(people, weights, size, splits, generator)
        own = tau_b(sample, truth), loss(truth, sample)
        for kind, means in written.items():
            leads = own[0] - tau_b(means, truth), loss(truth, means) - own[1]
            found[kind].append((_mean(leads[0]), _mean(leads[1])))
    return {kind: _Leads(*np.array(rows).T) for kind, rows in found.items()}


def _mean(values: Floats) -> float:
    """Of those that are defined; NaN where none is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan


def _split(
    people: Scores, weights: Ints, size: int, splits: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """(splits, retrievers) twice: the means of a random sample of about `size` queries, and those of the rest.

    Exactly `size` where every query is there once.
    """
    there = np.flatnonzero(weights)
    order = there[generator.random((splits, len(there))).argsort(axis=1)]
    taken = np.cumsum(weights[order], axis=1)
    taken = (taken <= size) | (taken == taken[:, :1])
    counts = np.zeros((splits, people.n))
    np.put_along_axis(counts, order, np.where(taken, weights[order], 0).astype(np.float64), axis=1)
    rest = weights - counts
    means = [part @ people.values.T / part.sum(axis=1, keepdims=True) for part in (counts, rest)]
    return means[0], means[1]


def _resampled(
    people: Scores, written: Mapping[str, Scores], sizes: Ints, resamples: int, seed: int
) -> dict[str, _Leads]:
    of_people = draws(people.n, resamples, seed).astype(np.intp)
    means = {k: scores.drawn_means(draws(scores.n_clusters, resamples, seed + 1)) for k, scores in written.items()}
    rows = [
        _leads(people, weights, {k: of_kind[b] for k, of_kind in means.items()}, sizes, RESAMPLED_SPLITS, seed + b)
        for b, weights in enumerate(of_people)
    ]
    return {
        kind: _Leads(np.array([row[kind].tau for row in rows]), np.array([row[kind].loss for row in rows]))
        for kind in written
    }


def _worth(sizes: Ints, lead: Floats, drawn: Floats, people: Scores, written: Scores) -> Worth:
    from scipy.special import stdtrit

    sides = {"n": people.n, "n_failed": people.n_failed, "smallest": int(sizes[0]), "largest": int(sizes[-1])}
    if not np.isfinite(lead).all():
        return Worth(value=None, **sides)
    df = min(people.n, written.n_clusters) - 1
    reach = float(stdtrit(df, 0.975)) * np.nanstd(drawn, axis=0) if df > 0 else np.full(len(sizes), np.inf)
    value, low, high = crossing(sizes, lead), crossing(sizes, lead + reach), crossing(sizes, lead - reach)
    bound: Literal["fewer than", "more than"] | None = None
    if value is None or lead[0] >= 0:
        bound = "more than" if value is None else "fewer than"
    return Worth(
        value=round(value, 1) if value is not None else float(sizes[-1]),
        bound=bound,
        ci_low=None if low is None or low <= sizes[0] else round(low, 1),
        ci_high=None if high is None else round(high, 1),
        **sides,
    )
