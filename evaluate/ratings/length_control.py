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

from ragassay.arrays import Floats, Ints, Truths, sums_by_number
from ragassay.records import Figure

from ..statistics.resamples import Resamples, rounded
from .bradley_terry import POINTS, UNBOUNDED_SHARE
from .win_table import Contests

STEPS = 40
TOLERANCE = 1e-8
FAR = 25.0
"""Log odds beyond which a strength is taken as running off to infinity."""
_AT_ONCE = 2_000_000


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
    signs, term = _signs(held), np.tanh(difference / spread)[:, None]
    weights = np.vstack([np.ones(len(draws.queries), dtype=np.int64), draws.weights])
    with_term, found = _fit(np.hstack([signs, term]), held, weights)
    without, found_plain = _fit(signs, held, weights)
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


def _signs(held: Contests) -> Floats:
    """(games, agents - 1): 1 for a, -1 for b; the last agent is the reference."""
    signs = np.zeros((len(held.a), len(held.agents)))
    signs[np.arange(len(held.a)), held.a] = 1.0
    signs[np.arange(len(held.a)), held.b] = -1.0
    return signs[:, :-1]


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


def _fit(rows: Floats, held: Contests, weights: NDArray[np.int64]) -> tuple[Floats, Truths]:
    """Logistic regression of the score (0 to 1) on rows (games, terms) under weights (fits, queries), by Newton.

    Games count as `Contests.pair_weights` says. Returns the terms (fits, terms) and whether each fit has a finite
    maximum that was found.
    """
    parts = []
    step = max(1, _AT_ONCE // max(1, len(rows)))
    for start in range(0, len(weights), step):
        parts.append(_newton(rows, held.score, _weight(held, weights[start : start + step])))
    return np.concatenate([terms for terms, _ in parts]), np.concatenate([found for _, found in parts])


def _weight(held: Contests, weights: NDArray[np.int64]) -> Floats:
    """(fits, games)."""
    of_pair, of_game = held.pair_weights(weights), weights[:, held.query].astype(np.float64)
    return of_game if of_pair is None else np.asarray(of_game * of_pair[:, held.a, held.b])


def _newton(rows: Floats, score: Floats, weight: Floats) -> tuple[Floats, Truths]:
    n_terms = rows.shape[1]
    curves = _Curves.of(rows)
    terms = np.zeros((len(weight), n_terms))
    last = np.full(len(weight), np.inf)
    tiny = 1e-9 * np.eye(n_terms)
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-np.clip(terms @ rows.T, -FAR, FAR)))
        slope = (weight * (score - expected)) @ rows
        curve = curves.sums(weight * expected * (1 - expected))
        move = np.clip(np.linalg.solve(curve + tiny, slope[:, :, None])[:, :, 0], -2.0, 2.0)
        terms, last = terms + move, np.abs(move).max(axis=1)
        if last.max() < TOLERANCE:
            break
    # Where a direction is flat (an agent without games in a resample) it is not determined.
    flat = np.linalg.eigvalsh(curve)[:, 0] < 1e-6
    found: Truths = (last < TOLERANCE) & (np.abs(terms).max(axis=1) < FAR / 2) & ~flat
    return terms, found


@dataclass(frozen=True)
class _Curves:
    """Sums over games of a weight times a row's products with itself, by pairs: many games are of the same two agents.

    signs: (pairs, agents - 1), the rows' entries that are whole; rest: (games, 0 or 1), the last entry where it is not.
    number: (games,), each one's pair.
    """

    signs: Floats
    number: Ints
    rest: Floats

    @classmethod
    def of(cls, rows: Floats) -> _Curves:
        whole = (rows == np.round(rows)).all(axis=0)
        signs, number = np.unique(rows[:, whole], axis=0, return_inverse=True)
        return cls(signs, number.ravel(), rows[:, ~whole])

    def sums(self, weight: Floats) -> Floats:
        """(fits, terms, terms) of weight (fits, games)."""
        pairs, size = self.signs.shape
        products = (self.signs[:, :, None] * self.signs[:, None, :]).reshape(pairs, -1)
        curve = np.zeros((len(weight), size + self.rest.shape[1], size + self.rest.shape[1]))
        curve[:, :size, :size] = (sums_by_number(weight, self.number, pairs) @ products).reshape(-1, size, size)
        for place, column in enumerate(self.rest.T, size):
            across = sums_by_number(weight * column, self.number, pairs) @ self.signs
            curve[:, place, :size] = curve[:, :size, place] = across
            curve[:, place, place] = weight @ column**2
        return curve
