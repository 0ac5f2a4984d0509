"""How many questions of each model and kind a test set has: models to their quotas, kinds to their shares.

The kinds that can be had together are the independent sets of a transversal matroid, with the models' quotas on the
other side; so taking one question after the other, wherever one can still be had, misses as few of the wanted ones as
there is a way to (Edmonds 1971, "Matroids and the greedy algorithm").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ragassay.records import Query

from ..questions.slots import shares

Cell = tuple[str, str]
"""(model, kind)."""


def model_of(query: Query) -> str:
    """The model that wrote it."""
    return str(query.metadata["model"])


def kind_of(query: Query) -> str:
    """The kind that was asked for; "" where none is known."""
    return str(query.metadata.get("kind", ""))


def wanted_kinds(pool: Sequence[Query], quota: Mapping[str, int], kinds: Mapping[str, float]) -> dict[str, int]:
    """How many of each kind the set has if the pool has enough of all; they add up to what the models can give."""
    have = Counter(map(model_of, pool))
    n = sum(min(wanted, have[model]) for model, wanted in quota.items())
    named = [kind for kind, share in kinds.items() if share > 0]
    return dict(zip(named, shares([kinds[kind] for kind in named], n), strict=True)) if named else {}


def cells_of(pool: Sequence[Query], quota: Mapping[str, int], kinds: Mapping[str, float]) -> dict[Cell, int]:
    """How many questions to draw of each (model, kind).

    Each model gives `quota[model]`, or what it has. Kinds have their share of all, by largest remainders; where a kind
    cannot fill its share, the others get what is left, always the one that is furthest below its share.
    """
    wanted = wanted_kinds(pool, quota, kinds)
    table = _Table(pool, quota)
    for kind, n in sorted(wanted.items(), key=lambda item: (item[1], item[0])):
        for _ in range(n):
            table.add(kind)
    open_kinds = sorted({kind_of(query) for query in pool})
    while open_kinds:
        kind = min(open_kinds, key=lambda kind: (-wanted.get(kind, 0) / (table.of_kind(kind) + 0.5), kind))
        if not table.add(kind):
            open_kinds.remove(kind)
    return {cell: n for cell, n in table.drawn.items() if n}


class _Table:
    """What is drawn so far of each model and kind, within what there is and what each model may give."""

    def __init__(self, pool: Sequence[Query], quota: Mapping[str, int]) -> None:
        self.drawn: Counter[Cell] = Counter()
        self._have = Counter((model_of(query), kind_of(query)) for query in pool)
        self._quota = quota
        self._models = sorted(quota)

    def of_kind(self, kind: str) -> int:
        return sum(n for (_, drawn), n in self.drawn.items() if drawn == kind)

    def add(self, kind: str) -> bool:
        """Whether one more of that kind can be had, which it then is, if need be by an exchange among the models."""
        return self._give(kind, set())

    def _give(self, kind: str, tried: set[str]) -> bool:
        able = [m for m in self._models if m not in tried and self.drawn[m, kind] < self._have[m, kind]]
        for model in sorted(able, key=lambda model: (self._filled(model), self.drawn[model, kind], model)):
            tried.add(model)
            if self._filled(model) < 1 or self._free(model, kind, tried):
                self.drawn[model, kind] += 1
                return True
        return False

    def _free(self, model: str, kind: str, tried: set[str]) -> bool:
        """Hand one of the model's other kinds to another model."""
        for other in sorted({k for (m, k), n in self.drawn.items() if m == model and n and k != kind}):
            self.drawn[model, other] -= 1
            if self._give(other, tried):
                return True
            self.drawn[model, other] += 1
        return False

    def _filled(self, model: str) -> float:
        return sum(n for (m, _), n in self.drawn.items() if m == model) / self._quota[model]
