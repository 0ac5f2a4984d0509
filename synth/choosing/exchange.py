"""Exchanging drawn questions for others of the pool until the set looks no more like people's questions.

The kept set's energy distance to the target is, but for a constant, 2 mean(t) - mean(d), with t the distances to the
target and d those within the set; an exchange of one question changes it by a closed form, so all of them are weighed
at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .energy_distance import Array, Sample, distances

Ints = npt.NDArray[np.intp]

SMALLEST = 1e-9
"""Exchanges that gain less are left, as rounding decides them."""
FIRST = 80
"""Of the exchanges of each two kinds, those that are tried in pairs: the ones that gain most, and as many within
a section."""


@dataclass(frozen=True)
class Traits:
    """What quotas and spread are counted in: a number for each question of the pool, equal where the trait is."""

    model: Ints
    kind: Ints
    section: Ints
    doc: Ints
    blind: Ints
    """0 or 1."""


@dataclass(frozen=True)
class _Pairs:
    """Exchanges, as arrays of equal length: `out` leaves, `into` comes; `grows` is what the distance changes by."""

    out: Ints
    into: Ints
    grows: Array

    def at(self, rows: Any) -> _Pairs:
        return _Pairs(self.out[rows], self.into[rows], self.grows[rows])


class Exchange:
    """A set that is being exchanged. chosen: rows of the pool; blind: how many of the set should be blind.

    How many questions it has of each model and of each kind never changes. How well it is spread never gets worse:
    documents that nothing is asked about, the squares of how often each section is asked about, and how many blind
    questions there are too many or too few, in this order. Within that, its distance to the target falls.
    """

    def __init__(self, points: Array, target: Sample, traits: Traits, chosen: Sequence[int], blind: int) -> None:
        self._within = distances(points, points)
        np.fill_diagonal(self._within, 0.0)
        self._to_target = distances(points, target.points) @ target.weights
        self._traits, self._blind = traits, blind
        self.kept = np.zeros(len(points), bool)
        self.kept[list(chosen)] = True

    def spread(self) -> None:
        """Exchange until nothing spreads the set better: each time the best one of one question, or else of two."""
        while self._step(spread=True):
            pass

    def approach(self) -> None:
        """The same until nothing brings the set nearer to the target without spreading it worse."""
        while self._step(spread=False):
            pass

    def _step(self, *, spread: bool) -> bool:
        return self._one(spread) or self._two(spread)

    def _singles(self, *traits: Ints) -> _Pairs:
        """Every exchange of a question for another one that is alike in the traits."""
        out, into = np.flatnonzero(self.kept), np.flatnonzero(~self.kept)
        alike = [trait[out][:, None] == trait[into][None, :] for trait in traits]
        rows, columns = np.nonzero(np.logical_and.reduce(alike))
        out, into, n = out[rows], into[columns], len(out)
        row_sums = self._within[:, self.kept].sum(1)
        nearer = 2 / n * (self._to_target[into] - self._to_target[out])
        apart = 2 / n**2 * (row_sums[into] - row_sums[out] - self._within[out, into])
        return _Pairs(out, into, nearer - apart)

    def _one(self, spread: bool) -> bool:
        """The best exchange of one question that leaves as many of each kind."""
        singles = self._singles(self._traits.model, self._traits.kind)
        return self._best(singles, self._worse([singles]), [singles], spread)

    def _two(self, spread: bool) -> bool:
        """The best two exchanges together that do."""
        one, other = self._candidates(self._singles(self._traits.model))
        within, n = self._within, self.kept.sum()
        a, b, c, d = one.out, one.into, other.out, other.into
        both = one.grows + other.grows - 2 / n**2 * (within[a, c] + within[b, d] - within[c, b] - within[a, d])
        return self._best(_Pairs(a, b, both), self._worse([one, other]), [one, other], spread)

    def _candidates(self, singles: _Pairs) -> tuple[_Pairs, _Pairs]:
        kind, many = self._traits.kind, int(self._traits.kind.max(initial=0)) + 1
        change = kind[singles.out] * many + kind[singles.into]
        order = np.lexsort((singles.into, singles.out, np.round(singles.grows, 12)))
        first = {int(code): self._first(singles, order[change[order] == code]) for code in np.unique(change)}
        rows, columns = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
        for code, some in first.items():
            back = code % many * many + code // many
            if back >= code and back in first:
                x, y = (grid.ravel() for grid in np.meshgrid(some, first[back], indexing="ij"))
                apart = (singles.out[x] != singles.out[y]) & (singles.into[x] != singles.into[y])
                rows.append(x[apart])
                columns.append(y[apart])
        return singles.at(np.concatenate(rows)), singles.at(np.concatenate(columns))

    def _first(self, singles: _Pairs, order: Ints) -> Ints:
        """Of exchanges in order the first, and the first of those within a section, which spread the set no worse."""
        section = self._traits.section
        within = order[section[singles.out[order]] == section[singles.into[order]]]
        return np.unique(np.concatenate([order[:FIRST], within[:FIRST]]))

    def _best(self, found: _Pairs, worse: Ints, parts: Sequence[_Pairs], spread: bool) -> bool:
        """Do the best of the exchanges that are allowed, if any is."""
        able = np.flatnonzero(worse < 0 if spread else (worse <= 0) & (found.grows < -SMALLEST))
        if not len(able):
            return False
        able = able[worse[able] == worse[able].min()] if spread else able
        best = able[np.lexsort((found.into[able], found.out[able], np.round(found.grows[able], 12)))[0]]
        for part in parts:
            self.kept[part.out[best]], self.kept[part.into[best]] = False, True
        return True

    def _worse(self, parts: Sequence[_Pairs]) -> Ints:
        """By how much the set is spread worse after all parts of each exchange; negative where it is better."""
        kept, traits = int(self.kept.sum()), self._traits
        squares = self._squares(traits.section, parts)
        lost = self._lost(traits.doc, parts)
        is_blind = int(traits.blind[self.kept].sum())
        change = sum((traits.blind[part.into] - traits.blind[part.out] for part in parts), np.zeros(1, np.intp))
        blind = abs(is_blind + change - self._blind) - abs(is_blind - self._blind)
        return (lost * (4 * kept + 9) + squares) * (2 * kept + 1) + blind

    def _squares(self, trait: Ints, parts: Sequence[_Pairs]) -> Ints:
        """By how much the sum of squared counts of the trait's values grows."""
        counts = np.bincount(trait[self.kept], minlength=int(trait.max()) + 1)
        moved = [(sign, trait[rows]) for part in parts for sign, rows in ((-1, part.out), (1, part.into))]
        grown = sum((2 * sign * counts[values] for sign, values in moved), np.zeros(1, np.intp))
        for sign, values in moved:
            grown = grown + sum(sign * also * (values == others) for also, others in moved)
        return np.asarray(grown, np.intp)

    def _lost(self, trait: Ints, parts: Sequence[_Pairs]) -> Ints:
        """How many more of the trait's values no question of the set has."""
        counts = np.bincount(trait[self.kept], minlength=int(trait.max()) + 1)
        moved = [(sign, trait[rows]) for part in parts for sign, rows in ((-1, part.out), (1, part.into))]
        lost = np.zeros(len(parts[0].out), np.intp)
        for place, (_, values) in enumerate(moved):
            first = np.ones(len(values), bool)
            for _, earlier in moved[:place]:
                first &= values != earlier
            after = counts[values] + sum(sign * (values == others) for sign, others in moved)
            lost += first * ((after == 0).astype(np.intp) - (counts[values] == 0))
        return lost
