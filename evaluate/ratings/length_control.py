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
_AT_ONCE = 20_000
"""Games of all fits that are made together, unless one alone has more: few enough to stay in the processor's cache."""


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
    weights = np.vstack([np.ones(len(draws.queries), dtype=np.int16), draws.weights])
    (with_term, found), (without, found_plain) = _fits(held, np.tanh(difference / spread), weights)
    if not (found[0] and found_plain[0]):
        return _nothing(contests, n, "the games are too one-sided for finite ratings under length control")
    size = len(np.unique(held.query))
    value, low, high = _with_ends(with_term[:, -1], found, draws, size)
    effect = rounded(value, n, 0, low, high)
    return Controlled(
        _ratings(contests, held, without, found_plain, draws, initial),
        _ratings(contests, held, with_term[:, :-1], found, draws, initial),
        effect,
        None if effect.ci_low is not None else "no intervals: too many resamples are one-sided",
    )


def _nothing(contests: Contests, n: int, note: str) -> Controlled:
    empty = contests.figures(lambda agent: None)
    return Controlled(empty, dict(empty), Figure(value=None, n=n, n_failed=len(contests.failed)), note)


def _ratings(
    contests: Contests, held: Contests, fits: Floats, found: Truths, draws: Resamples, initial: float
) -> dict[str, Figure]:
    strengths = np.hstack([fits, np.zeros((len(fits), 1))])
    points = initial + POINTS * (strengths - strengths.mean(axis=1, keepdims=True))

    def of(agent: str) -> tuple[float, float | None, float | None] | None:
        if agent not in held.agents:
            return None
        return _with_ends(points[:, held.agents.index(agent)], found, draws, held.queries_of(agent))

    return contests.figures(of)


def _with_ends(
    values: Floats, found: Truths, draws: Resamples, queries: int
) -> tuple[float, float | None, float | None]:
    """The first is of the whole table, the others of the resamples; no interval where too many have no maximum."""
    if 1 - found[1:].mean() > UNBOUNDED_SHARE:
        return values[0], None, None
    return values[0], *draws.interval(values[1:][found[1:]], queries)


_Fits = tuple[Floats, Truths]
"""The terms (fits, terms), and whether each fit has a finite maximum that was found (fits,)."""


def _fits(held: Contests, term: Floats, weights: NDArray[np.int16]) -> tuple[_Fits, _Fits]:
    """Logistic regressions of the score (0 to 1) on who plays and `term` (games,), and on who plays alone.

    weights: (fits, queries). Games count as `Contests.pair_weights` says. The terms are those of the agents but the
    last, and that of `term`. All begin where the first of them ended.
    """
    every, size = _Pairs.of(held), len(held.agents) - 1
    starts = [np.zeros(size + 1), np.zeros(size)]
    parts: tuple[list[_Fits], list[_Fits]] = ([], [])
    step = max(1, _AT_ONCE // max(1, len(held.a)))
    for rows in [weights[:1], *(weights[start : start + step] for start in range(1, len(weights), step))]:
        drawn = np.atleast_1d(rows.any(axis=0))
        pairs = every.where(drawn[held.query[every.order]])
        # (fits, games) in the order of the pairs: what each counts, and that times its score.
        weight, of_pair = rows[:, held.query[pairs.order]].astype(np.float64), held.pair_weights(rows)
        if of_pair is not None:
            weight *= np.repeat(of_pair[:, pairs.a, pairs.b], pairs.often, axis=1)
        scored = weight * held.score[pairs.order]
        parts[0].append(_newton(pairs, term[pairs.order], weight, scored, starts[0]))
        parts[1].append(_newton(pairs, None, pairs.sums(weight), pairs.sums(scored), starts[1]))
        if len(parts[0]) == 1:
            starts = [each[0][0][0] if each[0][1][0] else start for each, start in zip(parts, starts, strict=True)]
    with_term, without = (
        (np.concatenate([terms for terms, _ in each]), np.concatenate([found for _, found in each])) for each in parts
    )
    return with_term, without


@dataclass(frozen=True)
class _Pairs:
    """The pairs of agents that have played: many games are of the same two.

    a, b: (pairs,); the last of the `agents` is the reference. order: what puts the games of a pair side by side;
    starts: (pairs,), where each pair's begin; often: (pairs,), how many there are.
    """

    agents: int
    a: Ints
    b: Ints
    order: Ints
    starts: Ints
    often: Ints

    @classmethod
    def of(cls, held: Contests) -> _Pairs:
        size = len(held.agents)
        number = held.a * size + held.b
        order = np.argsort(number, kind="stable")
        different, starts, often = np.unique(number[order], return_index=True, return_counts=True)
        return cls(size, different // size, different % size, order, starts, often)

    def where(self, drawn: Truths) -> _Pairs:
        """The same with those games alone that are `drawn`, (games,) in `order`."""
        if drawn.all():
            return self
        often = np.add.reduceat(drawn, self.starts, dtype=np.intp)
        some = often > 0
        starts = np.cumsum(often[some]) - often[some]
        return _Pairs(self.agents, self.a[some], self.b[some], self.order[drawn], starts, often[some])

    def sums(self, values: Floats) -> Floats:
        """(fits, pairs) of values (fits, games), in `order`; of pairs, as they are."""
        return values if values.shape[1] == len(self.a) else np.add.reduceat(values, self.starts, axis=1)

    # No products with a matrix of signs, most of it 0: so small, they spend their time in waking the cores.

    def odds(self, terms: Floats) -> Floats:
        """(fits, pairs): a's less b's of terms (fits, agents - 1)."""
        all_terms = np.column_stack([terms, np.zeros(len(terms))])
        return np.asarray(all_terms[:, self.a] - all_terms[:, self.b])

    def slope(self, values: Floats) -> Floats:
        """(fits, agents - 1): the sum of values (fits, pairs) over the pairs in which an agent is a, less where b."""
        between = np.zeros((len(values), self.agents, self.agents))
        between[:, self.a, self.b] = values
        return np.asarray((between.sum(axis=2) - between.sum(axis=1))[:, :-1])

    def curve(self, values: Floats) -> Floats:
        """(fits, agents - 1, agents - 1): the derivative by the terms of `slope(values * odds(terms))`."""
        size = self.agents
        between = np.zeros((len(values), size, size))
        between[:, self.a, self.b] = between[:, self.b, self.a] = values
        inner = np.arange(size)
        full = -between
        full[:, inner, inner] = between.sum(axis=2)
        return full[:, :-1, :-1]


def _newton(pairs: _Pairs, term: Floats | None, weight: Floats, scored: Floats, at: Floats) -> tuple[Floats, Truths]:
    """One of `_fits`, from `at` (terms,). weight, scored: (fits, games), or the pairs' sums where no `term` is."""
    from scipy.special import expit

    size = pairs.agents - 1
    terms, last = np.tile(at, (len(weight), 1)), np.full(len(weight), np.inf)
    curve = np.zeros((len(weight), len(at), len(at)))
    for _ in range(STEPS):
        odds = pairs.odds(terms[:, :size])
        if term is not None:
            odds = np.repeat(odds, pairs.often, axis=1)
            odds += terms[:, size:] * term
        expected = expit(np.clip(odds, -FAR, FAR, out=odds), out=odds)
        spread = weight * expected
        short = scored - spread
        spread *= np.subtract(1.0, expected, out=expected)
        slope = pairs.slope(pairs.sums(short))
        curve[:, :size, :size] = pairs.curve(pairs.sums(spread))
        if term is not None:
            slope = np.column_stack([slope, short @ term])
            spread *= term
            curve[:, size, :size] = curve[:, :size, size] = pairs.slope(pairs.sums(spread))
            curve[:, size, size] = spread @ term
        move = np.linalg.solve(curve + 1e-9 * np.eye(len(at)), slope[:, :, None])[:, :, 0]
        move = np.clip(move, -2.0, 2.0)
        terms, last = terms + move, np.abs(move).max(axis=1)
        if last.max() < TOLERANCE:
            break
    # Where a direction is flat (an agent without games in a resample) it is not determined.
    flat = np.linalg.eigvalsh(curve)[:, 0] < 1e-6
    found: Truths = (last < TOLERANCE) & (np.abs(terms).max(axis=1) < FAR / 2) & ~flat
    return terms, found
