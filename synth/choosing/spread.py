"""Drawing questions one after the other, each as unlike those before as can be: section, document, kind, blindness."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ragassay.records import Query

from .quotas import Cell, kind_of, model_of

Place = tuple[str, str]
"""(document, section)."""


def place_of(query: Query) -> Place:
    """Where it was asked from."""
    return str(query.metadata["doc"]), str(query.metadata["section"])


def is_blind(query: Query) -> bool:
    """Whether its writer was told the need alone."""
    return bool(query.metadata.get("blind"))


def draw_spread(pool: Sequence[Query], cells: Mapping[Cell, int], blind: float, seed: int) -> list[Query]:
    """`cells[model, kind]` questions of each (no more than the pool has), in the order drawn.

    Models take turns. Each gives a question about the section asked about least, of these one about the document asked
    about least, then of the kind that is furthest behind, then such that `blind` (0 to 1) of all are; what is equal in
    all of this is decided by the seed. The order of the pool does not matter. Given what was chosen already, and its
    cells, it is put in an order whose beginning is spread.
    """
    draw = _Draw(pool, cells, blind, seed)
    models = sorted({model for model, _ in cells}, key=lambda model: _key(seed, model))
    while models:
        models = [model for model in models if draw.take(model)]
    return draw.taken


class _Draw:
    def __init__(self, pool: Sequence[Query], cells: Mapping[Cell, int], blind: float, seed: int) -> None:
        self.taken: list[Query] = []
        self._left, self._cells, self._blind, self._n_blind = Counter(cells), cells, blind, 0
        self._n_section: Counter[Place] = Counter()
        self._n_own: Counter[tuple[str, Place]] = Counter()
        self._n_doc: Counter[str] = Counter()
        self._keys = {query.id: _key(seed, query.id) for query in pool}
        self._pool: defaultdict[str, list[Query]] = defaultdict(list)
        for query in sorted(pool, key=lambda query: self._keys[query.id]):
            self._pool[model_of(query)].append(query)

    def take(self, model: str) -> bool:
        """Draw the model's next question; whether there was one."""
        able = [query for query in self._pool[model] if self._left[model, kind_of(query)]]
        if not able:
            return False
        query = min(able, key=self._rank)
        place = place_of(query)
        self._pool[model].remove(query)
        self._left[model, kind_of(query)] -= 1
        self._n_section[place] += 1
        self._n_own[model, place] += 1
        self._n_doc[place[0]] += 1
        self._n_blind += is_blind(query)
        self.taken.append(query)
        return True

    def _rank(self, query: Query) -> tuple[int, int, int, float, bool, str]:
        cell, place = (model_of(query), kind_of(query)), place_of(query)
        behind = -self._left[cell] / self._cells[cell]
        wants_blind = self._n_blind < self._blind * (len(self.taken) + 1)
        spread = self._n_section[place], self._n_own[cell[0], place], self._n_doc[place[0]]
        return (*spread, behind, is_blind(query) != wants_blind, self._keys[query.id])


def _key(seed: int, name: str) -> str:
    return random.Random(f"{seed}:{name}").randbytes(8).hex() + name
