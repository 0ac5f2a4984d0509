"""Every figure of a set of written questions beside people's: one object for each kind, and one for all together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.question_worth.scores import figures_of, mean_of
from ragassay.arrays import Floats
from ragassay.evaluate.agreement.estimates import bootstrap_interval, draws
from ragassay.evaluate.statistics.orders import loss, place, rho, tau_b
from ragassay.evaluate.statistics.resamples import rounded
from ragassay.evaluate.validity.people import Shares, decisions, shares, worth
from ragassay.evaluate.validity.questions import Scores
from ragassay.evaluate.validity.records import Worth
from ragassay.records import Figure, Record

HALVES = 2000


class Means(Record):
    """nDCG@10 of one retriever, by people's queries and by the written ones."""

    people: Figure
    written: Figure


class Measured(Record):
    """What the written questions of one kind say beside people's queries; n of a figure: the written questions.

    shared_words, people_shared_words: share of a question's distinct terms (stems, no stop words) in its passage.
    tau, rho: of the two orders, -1 to 1. ceiling: mean tau of two random halves of people's queries, without any
    correction for their being halves; its ends hold 95% of the halves.
    decided: of the `n_decided` pairs that people's queries decide, the share that these decide too. contradicted: of
    those, the share decided the other way round. best: the retriever with the highest mean. place: where it stands in
    people's order, from 1. loss: people's nDCG@10 of their best less that of this one. worth, worth_by_loss: how many
    of people's queries do as well.
    """

    kind: str
    n: int
    n_sources: int
    n_people: int
    n_people_failed: int
    n_retrievers: int
    shared_words: Figure
    people_shared_words: Figure
    tau: Figure
    rho: Figure
    ceiling: Figure
    n_pairs: int
    n_decided: int
    decided: Figure
    contradicted: Figure
    best: str
    place: Figure
    loss: Figure
    worth: Worth
    worth_by_loss: Worth
    retrievers: dict[str, Means]


class Words(NamedTuple):
    """Share of each query's terms in its passage, (queries,), 0 to 1."""

    people: Floats
    written: Mapping[str, Floats]


class _Draws(NamedTuple):
    """Means (retrievers,) and decisions (pairs,) of one side, and of each draw of its clusters, (draws, …)."""

    means: Floats
    drawn_means: Floats
    decided: Floats
    drawn_decided: Floats


def measure(
    names: Sequence[str], people: Scores, written: Mapping[str, Scores], words: Words, resamples: int, seed: int
) -> dict[str, Measured]:
    """Kind to its figures. names: of the retrievers, in the order of the rows of all scores."""
    of_people, ceiling = _drawn(people, resamples, seed), _ceiling(people, seed)
    worths = worth(people, written, seed, max(2, resamples // 5))
    people_means, found = figures_of(people, names), {}
    for kind, scores in written.items():
        own = figures_of(scores, names)
        found[kind] = Measured(
            kind=kind,
            n=scores.n,
            n_sources=scores.n_clusters,
            n_people=people.n,
            n_people_failed=people.n_failed,
            n_retrievers=len(names),
            shared_words=mean_of(scores, words.written[kind]),
            people_shared_words=mean_of(people, words.people),
            ceiling=ceiling,
            n_pairs=len(of_people.decided),
            n_decided=int((of_people.decided != 0).sum()),
            best=names[int(scores.means.argmax())],
            worth=worths[kind][0],
            worth_by_loss=worths[kind][1],
            retrievers={name: Means(people=people_means[name], written=own[name]) for name in names},
            **_beside(people, of_people, scores, _drawn(scores, resamples, seed + 1)),
        )
    return found


def _drawn(scores: Scores, resamples: int, seed: int) -> _Draws:
    weights = draws(scores.n_clusters, resamples, seed).astype(np.intp)
    drawn = np.array([decisions(scores, row) for row in weights])
    return _Draws(scores.means, scores.drawn_means(weights), decisions(scores), drawn)


def _beside(people: Scores, of_people: _Draws, written: Scores, of_written: _Draws) -> dict[str, Figure]:
    """The figures that compare both sides, with intervals from resampling both."""
    n_units = min(people.n_clusters, written.n_clusters)

    def figure(value: float, replicates: Floats, low: float, high: float, n: int = written.n) -> Figure:
        if not np.isfinite(value):
            return Figure(value=None, n=n)
        ends = bootstrap_interval(value, replicates, n_units, bounded=low < 0)
        held = [None if end is None else float(np.clip(end, low, high)) for end in ends]
        return rounded(value, n, 0, held[0], held[1])

    def of_means(function: Callable[[Floats, Floats], Floats], low: float, high: float) -> Figure:
        value = float(function(of_people.means, of_written.means))
        return figure(value, function(of_people.drawn_means, of_written.drawn_means), low, high)

    now = shares(of_people.decided, of_written.decided)
    drawn = [shares(*row) for row in zip(of_people.drawn_decided, of_written.drawn_decided, strict=True)]
    return {
        "tau": of_means(tau_b, -1.0, 1.0),
        "rho": of_means(rho, -1.0, 1.0),
        "place": of_means(place, 1.0, float(len(people.values))),
        "loss": of_means(loss, 0.0, 1.0),
        "decided": figure(now.decided, _column(drawn, "decided"), 0.0, 1.0, now.n),
        "contradicted": figure(now.contradicted, _column(drawn, "contradicted"), 0.0, 1.0, now.found),
    }


def _column(rows: Sequence[Shares], name: str) -> Floats:
    return np.array([getattr(row, name) for row in rows])


def _ceiling(people: Scores, seed: int) -> Figure:
    order = np.random.default_rng(seed).random((HALVES, people.n)).argsort(axis=1)
    half, sides = people.n // 2, []
    for part in (order[:, :half], order[:, half : 2 * half]):
        counts = np.zeros(order.shape)
        np.put_along_axis(counts, part, 1.0, axis=1)
        sides.append(counts @ people.values.T / half)
    taus = tau_b(sides[0], sides[1])
    taus = taus[np.isfinite(taus)]
    if not len(taus):
        return Figure(value=None, n=people.n, n_failed=people.n_failed)
    low, high = np.quantile(taus, [0.025, 0.975])
    return rounded(float(taus.mean()), people.n, people.n_failed, float(low), float(high))
