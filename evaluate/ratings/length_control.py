"""Ratings that allow for a judge's taste for length: Bradley-Terry with a term for the difference of lengths.

Length-controlled AlpacaEval (Dubois, Galambosi, Liang and Hashimoto 2024, arXiv:2404.04475, equation 2), without its
term for the instruction's difficulty, which pairs of one query share: the log odds that a beats b are
strength_a - strength_b + phi tanh((length_a - length_b) / sd), where sd is the standard deviation of the differences;
the rating is the strength, that is, what is left with the length term set to 0. A tie is half a win for each side.

What an agent gains by saying more that is useful goes into the term too: it bounds the judge's taste from above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragassay.arrays import Floats, Ints, Truths
from ragassay.records import Figure

from ..statistics.resamples import Resamples, rounded
from .bradley_terry import POINTS, UNBOUNDED_SHARE
from .win_table import Contests

STEPS = 40
TOLERANCE = 1e-8
FAR = 25.0
"""Log odds beyond which a strength is taken as running off to infinity."""
_AT_ONCE = 500_000


@dataclass(frozen=True)
class Controlled:
    """Ratings on Elo's scale without and with the length term, and the term in log odds.

    effect: phi; a difference of one standard deviation shifts the log odds by tanh(1) phi. note: why something is
    missing, or None.
    """

    plain: dict[str, Figure]
    controlled: dict[str, Figure]
    effect: Figure
    note: str | None = None


def control_length(contests: Contests, difference: Floats, draws: Resamples, initial: float = 500.0) -> Controlled:
    """difference: a's length less b's of each of the contests, in any unit. Intervals are from resampling queries.

    Where the verdicts have no finite maximum (one-sided games, or all lengths alike) the figures have no value.
    """
    held = contests.with_verdicts()
    n, spread = len(held.a), float(np.std(difference)) if len(difference) else 0.0
    if len(held.agents) < 2:
        return _nothing(contests, n, "there are no verdicts to compare")
    if spread < 1e-12:
        return _nothing(contests, n, "in every game the two answers are equally longer or shorter")
    weights = np.vstack([np.ones(len(draws.queries), dtype=np.int64), draws.weights])
    with_term, found = _fit(held, np.tanh(difference / spread), weights)
    without, found_plain = _fit(held, None, weights)
    if not (found[0] and found_plain[0]):
        return _nothing(contests, n, "the games are too one-sided for finite ratings under length control")
    size = len(np.unique(held.query))
    effect = _figure(with_term[:, -1], found, draws, n, size)
    return Controlled(
        _ratings(contests, held, without, found_plain, draws, initial),
        _ratings(contests, held, with_term[:, :-1], found, draws, initial),
        effect,
        None if effect.ci_low is not None else "no intervals: too many resamples are one-sided",
    )


def _nothing(contests: Contests, n: int, note: str) -> Controlled:
    empty = {a: Figure(value=None, n=contests.games_of(a), n_failed=contests.failed_of(a)) for a in contests.agents}
    return Controlled(empty, dict(empty), Figure(value=None, n=n, n_failed=len(contests.failed)), note)


def _ratings(
    contests: Contests, held: Contests, fits: Floats, found: Truths, draws: Resamples, initial: float
) -> dict[str, Figure]:
    strengths = np.hstack([fits, np.zeros((len(fits), 1))])
    points = initial + POINTS * (strengths - strengths.mean(axis=1, keepdims=True))
    figures = {}
    for agent in contests.agents:
        n, failed = contests.games_of(agent), contests.failed_of(agent)
        figures[agent] = Figure(value=None, n=n, n_failed=failed)
        if agent in held.agents:
            column = points[:, held.agents.index(agent)]
            figures[agent] = _figure(column, found, draws, n, held.queries_of(agent), failed)
    return figures


def _figure(values: Floats, found: Truths, draws: Resamples, n: int, queries: int, n_failed: int = 0) -> Figure:
    """The first is of the whole table, the others of the resamples; no interval where too many have no maximum."""
    ends: tuple[float | None, float | None] = (None, None)
    if 1 - found[1:].mean() <= UNBOUNDED_SHARE:
        ends = draws.interval(values[1:][found[1:]], queries)
    return rounded(values[0], n, n_failed, *ends)


def _fit(held: Contests, term: Floats | None, weights: NDArray[np.int64]) -> tuple[Floats, Truths]:
    """Logistic regression of the score (0 to 1) on who plays and `term` (games,), under weights (fits, queries).

    Games count as `Contests.pair_weights` says. Returns the terms (fits, agents but the last, and that of `term`) and
    whether each fit has a finite maximum that was found. All begin where the first of them ended.
    """
    pairs = _Pairs.of(held)
    at = np.zeros(len(held.agents) - 1 + (term is not None))
    parts = []
    for rows in [weights[:1], *_slices(weights[1:], len(held.a))]:
        parts.append(_newton(pairs, term, *_weighed(pairs, held, rows, whole=term is None), at))
        if len(parts) == 1 and parts[0][1][0]:
            at = parts[0][0][0]
    return np.concatenate([terms for terms, _ in parts]), np.concatenate([found for _, found in parts])


def _slices(weights: NDArray[np.int64], n_games: int) -> list[NDArray[np.int64]]:
    step = max(1, _AT_ONCE // max(1, n_games))
    return [weights[start : start + step] for start in range(0, len(weights), step)]


@dataclass(frozen=True)
class _Pairs:
    """The pairs of agents that have played: many games are of the same two.

    a, b: (pairs,). signs: (pairs, agents - 1), 1 for a, -1 for b; the last agent is the reference. order: what puts the
    games of a pair side by side; starts: (pairs,), where each pair's begin; often: (pairs,), how many there are.
    """

    a: Ints
    b: Ints
    signs: Floats
    order: Ints
    starts: Ints
    often: Ints

    @classmethod
    def of(cls, held: Contests) -> _Pairs:
        size = len(held.agents)
        number = held.a * size + held.b
        order = np.argsort(number, kind="stable")
        different, starts, often = np.unique(number[order], return_index=True, return_counts=True)
        a, b = different // size, different % size
        signs = np.zeros((len(different), size))
        signs[np.arange(len(different)), a], signs[np.arange(len(different)), b] = 1.0, -1.0
        return cls(a, b, signs[:, :-1], order, starts, often)

    def sums(self, values: Floats) -> Floats:
        """(fits, pairs) of values (fits, games), in `order`; of pairs, as they are."""
        return values if values.shape[1] == len(self.a) else np.add.reduceat(values, self.starts, axis=1)

    def curve(self, values: Floats) -> Floats:
        """(fits, agents - 1, agents - 1): the sum over pairs of values (fits, pairs) times a pair's signs squared."""
        size = self.signs.shape[1] + 1
        between = np.zeros((len(values), size, size))
        between[:, self.a, self.b] = between[:, self.b, self.a] = values
        inner = np.arange(size)
        full = -between
        full[:, inner, inner] = between.sum(axis=2)
        return full[:, :-1, :-1]


def _weighed(pairs: _Pairs, held: Contests, weights: NDArray[np.int64], *, whole: bool) -> tuple[Floats, Floats]:
    """(fits, games) in the order of the pairs: what each counts, and that times its score; `whole` pairs' sums."""
    order, of_pair = pairs.order, held.pair_weights(weights)
    each = weights[:, held.query[order]].astype(np.float64)
    if of_pair is not None:
        each *= of_pair[:, held.a[order], held.b[order]]
    scored = each * held.score[order]
    return (pairs.sums(each), pairs.sums(scored)) if whole else (each, scored)


def _newton(pairs: _Pairs, term: Floats | None, weight: Floats, scored: Floats, at: Floats) -> tuple[Floats, Truths]:
    """`_fit` of some of the fits, from `at` (terms,). weight, scored: (fits, games), or of pairs where no `term` is."""
    size = pairs.signs.shape[1]
    terms, last = np.tile(at, (len(weight), 1)), np.full(len(weight), np.inf)
    given = None if term is None else term[pairs.order]
    curve = np.zeros((len(weight), len(at), len(at)))
    for _ in range(STEPS):
        odds = terms[:, :size] @ pairs.signs.T
        if given is not None:
            odds = np.repeat(odds, pairs.often, axis=1)
            odds += terms[:, size:] * given
        expected = 1 / (1 + np.exp(-np.clip(odds, -FAR, FAR)))
        short, spread = scored - weight * expected, weight * expected * (1 - expected)
        slope = pairs.sums(short) @ pairs.signs
        curve[:, :size, :size] = pairs.curve(pairs.sums(spread))
        if given is not None:
            slope = np.column_stack([slope, short @ given])
            across = pairs.sums(spread * given) @ pairs.signs
            curve[:, size, :size] = curve[:, :size, size] = across
            curve[:, size, size] = spread @ given**2
        move = np.linalg.solve(curve + 1e-9 * np.eye(len(at)), slope[:, :, None])[:, :, 0]
        move = np.clip(move, -2.0, 2.0)
        terms, last = terms + move, np.abs(move).max(axis=1)
        if last.max() < TOLERANCE:
            break
    # Where a direction is flat (an agent without games in a resample) it is not determined.
    flat = np.linalg.eigvalsh(curve)[:, 0] < 1e-6
    found: Truths = (last < TOLERANCE) & (np.abs(terms).max(axis=1) < FAR / 2) & ~flat
    return terms, found
