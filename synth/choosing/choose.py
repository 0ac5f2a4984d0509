"""Choosing the test set as a whole: of many questions those that together look like people's."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ragassay.experiment.tables import QuestionsSettings
from ragassay.experiment.workspace import Workspace, read_passages
from ragassay.records import Query, QuestionsCheck

from ..questions.own import ExpertQuestion
from ..questions.slots import shares
from .features import Array, Features, Passages, Sample, distances, energy_distance, features_of, people
from .told_apart import questions_check

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

    The set's energy distance to the target is, but for a constant, 2 mean(t) - mean(d), with t the distances to the
    target and d those within the set; an exchange of one question changes it by a closed form, so all of them are
    weighed at once.
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
        """Do the best exchange of one question that leaves as many of each kind, or else of two; whether there was."""
        singles = self._singles(self._traits.model, self._traits.kind)
        return self._best(singles, self._worse([singles]), [singles], spread) or self._two(spread)

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

    def _two(self, spread: bool) -> bool:
        """The best two exchanges that together leave as many of each kind."""
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

    The kinds that can be had together are the independent sets of a transversal matroid, with the models' quotas on the
    other side; so taking one question after the other, wherever one can still be had, misses as few of the wanted ones
    as there is a way to (Edmonds 1971, "Matroids and the greedy algorithm").
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


FORMS = ("wh", "yes_no", "statement", "keywords", "several_sentences")


@dataclass(frozen=True)
class Chosen:
    """queries: in an order whose beginning is spread. distance: their energy distance to people's questions; drawn:
    that of the spread draw from which they were exchanged; None where there is no query. notices: for the user.
    """

    queries: tuple[Query, ...] = ()
    distance: float | None = None
    drawn: float | None = None
    notices: tuple[str, ...] = ()


def choose_queries(
    pool: Sequence[Query], features: Mapping[str, Features], target: Sample, settings: QuestionsSettings
) -> Chosen:
    """Of `pool` the questions that are kept: each model's quota, or as many as it has.

    features: of each query, by id. target: people's features. Kinds have their shares of `settings.kinds`, where the
    pool allows; sections and documents are asked about as evenly as can be found, and `settings.blind` of the questions
    are blind, as nearly as that allows. Within this the set is chosen to have the smallest energy distance to the
    target that exchanges of one or two questions reach. The same for any order of the pool.
    """
    pool = sorted(pool, key=lambda query: query.id)
    cells = cells_of(pool, settings.quota, settings.kinds)
    start = draw_spread(pool, cells, settings.blind, settings.seed)
    if not start:
        return Chosen()
    points, standard = _standardised(np.array([features[query.id] for query in pool], float), target)
    place = {query.id: row for row, query in enumerate(pool)}
    rows = [place[query.id] for query in start]
    exchange = Exchange(points, standard, _traits(pool), rows, round(settings.blind * len(start)))
    exchange.spread()
    drawn = energy_distance(Sample.even(points[exchange.kept]), standard)
    exchange.approach()
    kept = [query for query, is_kept in zip(pool, exchange.kept, strict=True) if is_kept]
    return Chosen(
        tuple(draw_spread(kept, cells_of(kept, settings.quota, {}), settings.blind, settings.seed)),
        energy_distance(Sample.even(points[exchange.kept]), standard),
        drawn,
        tuple(_short(pool, kept, settings)),
    )


def _standardised(points: Array, target: Sample) -> tuple[Array, Sample]:
    """Both in units of the standard deviation over both, each weighing half; what is 0 or 1 in units of one half.

    A rare form would otherwise outweigh all else, as its standard deviation is small.
    """
    both = np.concatenate([points, target.points])
    weights = np.concatenate([np.full(len(points), 0.5 / len(points)), target.weights / 2])
    mean = weights @ both
    scale = np.sqrt(weights @ (both - mean) ** 2)
    scale[[Features._fields.index(name) for name in FORMS]] = 0.5
    scale[scale < 1e-9] = 1.0
    return (points - mean) / scale, Sample((target.points - mean) / scale, target.weights)


def _traits(pool: Sequence[Query]) -> Traits:
    return Traits(
        model=_numbered([model_of(query) for query in pool]),
        kind=_numbered([kind_of(query) for query in pool]),
        section=_numbered([place_of(query) for query in pool]),
        doc=_numbered([place_of(query)[0] for query in pool]),
        blind=np.array([is_blind(query) for query in pool], np.intp),
    )


def _numbered(values: Sequence[Hashable]) -> Ints:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.intp)


def _short(pool: Sequence[Query], kept: Sequence[Query], settings: QuestionsSettings) -> list[str]:
    """The sentence for kinds that the pool has too few questions of."""
    n = {kind: sum(kind_of(query) == kind for query in kept) for kind in settings.kinds}
    wanted = wanted_kinds(pool, settings.quota, settings.kinds)
    told = [f"{n[kind]} of the {count} {kind} questions" for kind, count in wanted.items() if n[kind] < count]
    if not told:
        return []
    return [f"the pool has only {', '.join(told)} that their share would be; the rest went to other kinds"]


@dataclass(frozen=True)
class ByLooks:
    """The questions chosen, how they look beside the experts', and sentences for the user."""

    queries: Sequence[Query]
    check: QuestionsCheck
    notices: Sequence[str]


def choose_by_looks(workspace: Workspace, pool: Sequence[Query], experts: Sequence[ExpertQuestion]) -> ByLooks:
    """Choose from `pool` by the settings of `[questions]`. Raises InputError where the passages cannot be read."""
    language, settings = workspace.experiment.corpus.language, workspace.experiment.questions
    passages = Passages([passage.text for passage in read_passages(workspace.passages)], language)
    of_experts = [features_of(expert.text, passages, language) for expert in experts]
    of_pool = {query.id: features_of(query.text, passages, language) for query in pool}
    chosen = choose_queries(pool, of_pool, people(of_experts), settings)
    check = questions_check(
        of_experts,
        [of_pool[query.id] for query in chosen.queries],
        distance=chosen.distance,
        drawn=chosen.drawn,
        seed=settings.seed,
    )
    return ByLooks(chosen.queries, check, [*chosen.notices, *([check.said] if check.said else [])])
