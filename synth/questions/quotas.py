"""Quotas: how many questions a test set has of each model and kind, and a draw within them that is spread."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import cycle

from ragassay.records import Query, grouped

from .slots import shares

Cell = tuple[str, str]
"""(model, kind)."""


def model_of(query: Query) -> str:
    """The model that wrote it."""
    return str(query.metadata["model"])


def kind_of(query: Query) -> str:
    """The kind that was asked for; "" where none is known."""
    return str(query.metadata.get("kind", ""))


def cell_of(query: Query) -> Cell:
    """Both."""
    return model_of(query), kind_of(query)


def wanted_kinds(pool: Sequence[Query], quota: Mapping[str, int], kinds: Mapping[str, float]) -> dict[str, int]:
    """How many of each kind the set has if the pool has enough of all; they add up to what the models can give."""
    have = Counter(map(model_of, pool))
    n = sum(min(wanted, have[model]) for model, wanted in quota.items())
    named = [kind for kind, share in kinds.items() if share > 0]
    return dict(zip(named, shares([kinds[kind] for kind in named], n), strict=True)) if named else {}


def divided(counts: Mapping[str, int], n: int, seed: int) -> list[dict[str, int]]:
    """The counts in `n` shares that are as equal as can be, each count and all of them together.

    Who has one more is drawn by the seed, so that no share is likelier than another to have what is rare.
    """
    order = random.Random(f"{seed}:shares").sample(range(n), n)
    found = [{name: count // n for name, count in counts.items()} for _ in range(n)]
    left = (name for name, count in counts.items() for _ in range(count % n))
    for name, at in zip(left, cycle(order), strict=False):
        found[at][name] += 1
    return found


def cells_of(pool: Sequence[Query], quota: Mapping[str, int], wanted: Mapping[str, int]) -> dict[Cell, int]:
    """How many questions to draw of each (model, kind).

    Each model gives `quota[model]`, or what it has. `wanted[kind]` is how many of a kind there should be; where the
    pool has too few, the others get what is left, always the one that is furthest below its share.

    The kinds that can be had together are the independent sets of a transversal matroid, with the models' quotas on the
    other side; so taking one question after the other, wherever one can still be had, misses as few of the wanted ones
    as there is a way to (Edmonds 1971, "Matroids and the greedy algorithm").
    """
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
        self._models = sorted(model for model, n in quota.items() if n > 0)

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


Place = tuple[str, str]
"""(document, section)."""


def place_of(query: Query) -> Place:
    """Where it was asked from."""
    return str(query.metadata["doc"]), str(query.metadata["section"])


def is_blind(query: Query) -> bool:
    """Whether its writer was told the need alone."""
    return bool(query.metadata.get("blind"))


Key = tuple[str | int, ...]


class Draw:
    """`cells[model, kind]` questions of each (no more than the pool has), in the order drawn: `taken`.

    The section asked about least comes next, of these the document asked about least, then the kind that is furthest
    behind, then such that `blind` (0 to 1) of all are; what is equal in all of this is decided by the seed. The order
    of the pool does not matter. Given what was chosen already, and its cells, it is put in an order whose beginning is
    spread. first: questions that are asked already, and are not drawn. keys: by which equals stand, by query id, in
    place of those drawn by the seed.
    """

    def __init__(
        self,
        pool: Sequence[Query],
        cells: Mapping[Cell, int],
        blind: float,
        seed: int,
        first: Sequence[Query] = (),
        keys: Mapping[str, Key] | None = None,
    ) -> None:
        self.taken: list[Query] = []
        self._cells, self._blind, self._seed = Counter(cells), blind, seed
        self._left, self._n_blind = Counter(cells), 0
        self._n_section: Counter[Place] = Counter()
        self._n_own: Counter[tuple[str, Place]] = Counter()
        self._n_doc: Counter[str] = Counter()
        for query in first:
            self._count(query)
        self._keys: Mapping[str, Key] = keys or {query.id: (key_of(seed, query.id),) for query in pool}
        self._pool = grouped((model_of(one), one) for one in sorted(pool, key=lambda query: self._keys[query.id]))

    def all(self) -> list[Query]:
        """Draw all that can be had; models take turns."""
        models = sorted({model for model, _ in self._cells}, key=lambda model: key_of(self._seed, model))
        while models:
            models = [model for model in models if self.take(model)]
        return self.taken

    def take(self, model: str, doc: str | None = None) -> bool:
        """Draw the model's next question, about `doc` where one is given; whether there was one."""
        able = [query for query in self._pool.get(model, ()) if self._left[model, kind_of(query)]]
        able = [query for query in able if doc in (None, place_of(query)[0])]
        if not able:
            return False
        query = min(able, key=self._rank)
        self._pool[model].remove(query)
        self._left[model, kind_of(query)] -= 1
        self._count(query)
        return True

    def _count(self, query: Query) -> None:
        place = place_of(query)
        self._n_section[place] += 1
        self._n_own[model_of(query), place] += 1
        self._n_doc[place[0]] += 1
        self._n_blind += is_blind(query)
        self.taken.append(query)

    def _rank(self, query: Query) -> tuple[int, int, int, float, bool, Key]:
        cell, place = (model_of(query), kind_of(query)), place_of(query)
        behind = -self._left[cell] / self._cells[cell]
        wants_blind = self._n_blind < self._blind * (len(self.taken) + 1)
        spread = self._n_section[place], self._n_own[cell[0], place], self._n_doc[place[0]]
        return (*spread, behind, is_blind(query) != wants_blind, self._keys[query.id])


def key_of(seed: int, name: str) -> str:
    """What puts names in an order drawn by the seed."""
    return random.Random(f"{seed}:{name}").randbytes(8).hex() + name


def sample_queries(pool: Sequence[Query], quota: Mapping[str, int], seed: int) -> list[Query]:
    """`quota[model]` of each model's queries, or as many as the pool has, of kinds that nobody asked for.

    As many documents as the quotas allow are asked about; what comes then is that of `Draw`, of equals a section drawn
    by the seed. They come in the order they are drawn, so that the first of them are spread as well.
    """
    by_id = sorted(pool, key=lambda query: query.id)
    own = grouped(((model_of(query), place_of(query)), query.id) for query in by_id)
    keys: dict[str, Key] = {}
    for (model, place), ids in own.items():
        random.Random(f"{seed}:{model}:{place}").shuffle(ids)
        keys |= {id: (key_of(seed, place[1]), place[0], -number) for number, id in enumerate(ids)}
    draw = Draw(pool, {(model, ""): n for model, n in quota.items()}, 0.0, seed, keys=keys)
    for doc, model in sorted(documents_covered(pool, quota, seed).items(), key=lambda pair: key_of(seed, pair[0])):
        draw.take(model, doc)
    models = list(quota)
    while models:
        models = [model for model in models if draw.take(model)]
    return draw.taken


def documents_covered(pool: Sequence[Query], quota: Mapping[str, int], seed: int) -> dict[str, str]:
    """As many documents as the quotas allow to ask about, each with the model that asks (Kuhn's augmenting paths)."""
    able: defaultdict[str, set[str]] = defaultdict(set)
    for query in pool:
        able[place_of(query)[0]].add(model_of(query))
    asks: dict[str, str] = {}

    def assign(doc: str, tried: set[str]) -> bool:
        load = Counter(asks.values())
        for model in sorted(able[doc], key=lambda model: (load[model] - quota.get(model, 0), model)):
            if model in tried or not quota.get(model):
                continue
            tried.add(model)
            others = [other for other, asker in asks.items() if asker == model]
            if len(others) < quota[model] or any(assign(other, tried) for other in others):
                asks[doc] = model
                return True
        return False

    for doc in sorted(able, key=lambda doc: (len(able[doc]), key_of(seed, doc))):
        assign(doc, set())
    return asks
