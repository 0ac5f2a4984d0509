"""Choosing the test set: of many questions those that share as many words with their best passage as people's do.

A question that shares nearly all of its words with the passage that answers it is found by any BM25, and one that
shares none flatters embeddings; people's stand between. What is matched is the distribution, not the mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ragassay.experiment.tables import QuestionsSettings
from ragassay.records import Query
from ragassay.text import plain, some_of

from .quotas import (
    Draw,
    cell_of,
    cells_of,
    documents_covered,
    is_blind,
    key_of,
    kind_of,
    model_of,
    place_of,
    wanted_kinds,
)
from .reject import shape_of

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

UNKNOWN = 3.0
"""Stands for a share that is not known. Shares end at 1, so that to exchange it for any known one pays always."""
SMALLEST = 1e-9
"""Exchanges that gain less are left, as rounding decides them."""
FIRST = 40
"""Of the exchanges that make the set more blind, and of those that make it less, so many are tried in pairs."""


def shared_words(question: str, passage: str, language: str) -> float:
    """Share of the question's content words (stems, each once, no stop words) that the passage has, 0 to 1.

    A question of stop words alone is held to be all content. language: ISO 639, for stems.
    """
    content = shape_of(question, language).content
    return len(content & shape_of(passage, language).content) / len(content) if content and passage else 0.0


@dataclass(frozen=True)
class Choice:
    """queries: in an order whose beginning is spread. distance: between the distribution of their shares and the
    target, in words shared (0 to 1), those without a share left out; drawn: that of the draw before the exchanges; None
    where no share is known. notices: for the user.
    """

    queries: tuple[Query, ...] = ()
    distance: float | None = None
    drawn: float | None = None
    notices: tuple[str, ...] = ()


def choose(
    pool: Sequence[Query],
    shares: Mapping[str, float],
    target: Sequence[float],
    settings: QuestionsSettings,
    keep: Sequence[str] = (),
    held: Collection[str] = (),
) -> Choice:
    """Of `pool` the questions that are kept: each model's quota, or as many as it has.

    shares: `shared_words` of each query with its best passage, by id; those without come last. target: the same of
    people's questions; without any it is the lower half of the pool's. Kinds have their shares of `settings.kinds`,
    where the pool allows; documents and sections are asked about as evenly as can be found, and `settings.blind` of the
    questions are blind, as nearly as that allows. Within this questions are exchanged until no exchange of one, or of
    two where one makes the set more and the other less blind, brings the distribution of the shares nearer to the
    target's (1-Wasserstein distance, which in one dimension is the mean difference of equal quantiles; Vallender 1974).
    keep: ids that are taken first, in this order, where the quotas of their model and kind allow; held: of an earlier
    choice, which stay as far as they are in the pool. The same for any order of the pool; what is equal in all of this
    is decided by the seed. Without shares it is a draw.
    """
    pool = sorted(pool, key=lambda query: key_of(settings.seed, query.id))
    wanted = wanted_kinds(pool, settings.quota, settings.kinds)
    kept = _kept(pool, keep, settings.quota, wanted)
    stay = {query.id: query for query in (*kept, *(query for query in pool if query.id in held))}
    start = _start(pool, list(stay.values()), wanted, settings)
    notices = _of_kept(pool, keep, kept)
    if not start:
        return Choice(notices=tuple(notices))
    values = np.array([shares.get(query.id, UNKNOWN) for query in pool], float)
    exchange = _Exchange(pool, values, _quantiles(values, target, len(start)), start, len(stay), settings.blind)
    exchange.run(spread=True)
    drawn = exchange.distance()
    exchange.run(spread=False)
    chosen = [query for query, is_in in zip(pool, exchange.inside, strict=True) if is_in]
    ordered = Draw(chosen, Counter(map(cell_of, chosen)), settings.blind, settings.seed).all()
    return Choice(tuple(ordered), exchange.distance(), drawn, (*notices, *_short(chosen, wanted)))


Look = Callable[[Collection[str]], tuple[Sequence[Query], Mapping[str, float]]]
"""Ids of questions to (the pool without those of them that nothing answers, what each of it shares with its best
passage as far as it is known, and with one of its own section where nobody has looked)."""


def choose_looking(
    look: Look, target: Sequence[float], settings: QuestionsSettings, keep: Sequence[str] = ()
) -> Choice:
    """`choose` where what answers a question costs a request: those alone are looked up that are chosen.

    Those that something answers stay, and in place of the others new ones are chosen, until all have been looked up.
    """
    pool, shares = look(keep)
    looked = set(keep)
    first = choice = choose(pool, shares, target, settings, keep)
    while new := {query.id for query in choice.queries} - looked:
        pool, shares = look(new)
        looked |= new
        choice = choose(pool, shares, target, settings, keep, held={query.id for query in choice.queries})
    return replace(choice, drawn=first.drawn)


def _kept(
    pool: Sequence[Query], keep: Sequence[str], quota: Mapping[str, int], wanted: Mapping[str, int]
) -> list[Query]:
    """Of the questions named those that there is room for."""
    by_id = {query.id: query for query in pool}
    found: list[Query] = []
    models, kinds = Counter(quota), Counter(wanted)
    for query in (by_id[id] for id in dict.fromkeys(keep) if id in by_id):
        model, kind = cell_of(query)
        if models[model] > 0 and (kinds[kind] > 0 or not wanted):
            models[model] -= 1
            kinds[kind] -= 1
            found.append(query)
    return found


def _start(
    pool: Sequence[Query], kept: Sequence[Query], wanted: Mapping[str, int], settings: QuestionsSettings
) -> list[Query]:
    """What is kept, and behind it a draw: first of each document that nothing is asked about."""
    ids, docs = {query.id for query in kept}, {place_of(query)[0] for query in kept}
    rest = [query for query in pool if query.id not in ids]
    models, kinds = Counter(map(model_of, kept)), Counter(map(kind_of, kept))
    quota = {model: n - models[model] for model, n in settings.quota.items()}
    cells = cells_of(rest, quota, {kind: n - kinds[kind] for kind, n in wanted.items()})
    draw = Draw(rest, cells, settings.blind, settings.seed, kept)
    new = [query for query in rest if place_of(query)[0] not in docs]
    covered = documents_covered(new, quota, settings.seed)
    for doc in sorted(covered, key=lambda doc: key_of(settings.seed, doc)):
        draw.take(covered[doc], doc)
    return draw.all()


def _of_kept(pool: Sequence[Query], keep: Sequence[str], kept: Sequence[Query]) -> list[str]:
    """What is to be said of the questions that were named: those not in the pool, and those without room."""
    there, taken = {query.id for query in pool}, {query.id for query in kept}
    lost = [id for id in keep if id not in there]
    full = [id for id in keep if id in there - taken]
    return [
        *([f"questions.keep names {_named(lost)} not in the pool"] if lost else []),
        *([f"questions.keep names {_named(full)} beyond the quotas"] if full else []),
    ]


def _named(ids: Sequence[str]) -> str:
    """How many questions, and the first of them."""
    n, that_is = ("1 question", "that is") if len(ids) == 1 else (f"{len(ids):,} questions", "that are")
    return f"{n} ({some_of(map(plain, ids))}) {that_is}"


def _short(chosen: Sequence[Query], wanted: Mapping[str, int]) -> list[str]:
    """The sentence for kinds that the pool has too few questions of."""
    n = Counter(map(kind_of, chosen))
    told = [f"{n[kind]} of the {count} {kind} questions" for kind, count in wanted.items() if n[kind] < count]
    if not told:
        return []
    return [f"the pool has only {', '.join(told)} that their share would be; the rest went to other kinds"]


def _numbered(values: Sequence[Hashable]) -> Ints:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.intp)


def _quantiles(values: Array, target: Sequence[float], n: int) -> Array:
    """What the n shares of the set, in order, would be."""
    known = np.sort(values[values < UNKNOWN])
    of = np.array(target, float) if len(target) else known[: (len(known) + 1) // 2]
    return np.quantile(of, (np.arange(n) + 0.5) / n, method="hazen") if len(of) else np.zeros(n)


class _Exchange:
    """A set that is being exchanged, all but its first `n_kept` questions.

    How many questions it has of each model and kind never changes. How well it is spread never gets worse: documents
    that nothing is asked about, the squares of how often each section is asked about, and how many blind questions
    there are too many or too few, in this order.
    """

    def __init__(
        self, pool: Sequence[Query], values: Array, goal: Array, start: Sequence[Query], n_kept: int, blind: float
    ) -> None:
        chosen, kept = ({query.id for query in some} for some in (start, start[:n_kept]))
        self.inside = np.array([query.id in chosen for query in pool])
        self._fixed = np.array([query.id in kept for query in pool])
        self._values, self._goal, self._n = values, goal, len(start)
        self._cell, self._section = _numbered(list(map(cell_of, pool))), _numbered(list(map(place_of, pool)))
        self._doc = _numbered([place_of(query)[0] for query in pool])
        self._blind, self._wants_blind = np.array(list(map(is_blind, pool)), np.intp), round(blind * len(start))
        out, into = np.nonzero((self._cell[:, None] == self._cell[None, :]) & ~self._fixed[:, None])
        self._out, self._into = out, into

    def run(self, *, spread: bool) -> None:
        """Do the best exchange until none spreads the set better, or else brings it nearer to the target."""
        while self._spread_better() if spread else self._nearer():
            pass

    def distance(self) -> float | None:
        """Of the known shares to the target's."""
        known = np.sort(self._values[self.inside & (self._values < UNKNOWN)])
        if not len(known):
            return None
        at = (np.arange(self._n) + 0.5) / self._n
        return float(np.abs(np.quantile(known, at, method="hazen") - self._goal).mean())

    def _pairs(self) -> tuple[Ints, Ints]:
        able = self.inside[self._out] & ~self.inside[self._into]
        return self._out[able], self._into[able]

    def _spread_better(self) -> bool:
        out, into = self._pairs()
        worse = self._worse(out, into)
        rows = np.flatnonzero(worse < 0)
        if not len(rows):
            return False
        best = rows[np.lexsort((self._grows(out, into)[rows].round(12), worse[rows]))[0]]
        return self._do([(out[best], into[best])])

    def _nearer(self) -> bool:
        out, into = self._pairs()
        grows = self._grows(out, into)
        rows = np.flatnonzero((grows < -SMALLEST) & (self._worse(out, into) <= 0))
        if len(rows):
            best = rows[np.argmin(grows[rows].round(12))]
            return self._do([(out[best], into[best])])
        return self._two_nearer(out, into, grows)

    def _two_nearer(self, out: Ints, into: Ints, grows: Array) -> bool:
        """Two exchanges within sections, of which one undoes what the other does to how many are blind."""
        within = self._section[out] == self._section[into]
        change = self._blind[into] - self._blind[out]
        order = np.argsort(grows.round(12), kind="stable")
        more, less = (order[(within & (change == by))[order]][:FIRST] for by in (1, -1))
        best, now = None, self._cost(self._values[self.inside]) - SMALLEST
        for one in more:
            for other in less:
                if into[one] != into[other] and out[one] != out[other] and grows[one] + grows[other] < 0:
                    rows = self.inside.copy()
                    rows[[out[one], out[other]]], rows[[into[one], into[other]]] = False, True
                    if (cost := self._cost(self._values[rows])) < now:
                        best, now = [(out[one], into[one]), (out[other], into[other])], cost - SMALLEST
        return self._do(best) if best else False

    def _do(self, exchanges: Sequence[tuple[np.intp, np.intp]]) -> bool:
        for out, into in exchanges:
            self.inside[out], self.inside[into] = False, True
        return True

    def _cost(self, values: Array) -> float:
        return float(np.abs(np.sort(values) - self._goal).mean())

    def _grows(self, out: Ints, into: Ints) -> Array:
        """By how much the distance grows with each exchange.

        It is the area between the two distribution functions, and an exchange lifts or lowers the set's by 1/n between
        the two shares; so sums over all that lies below a share give every exchange.
        """
        ends = np.unique(np.concatenate([self._values, self._goal]))
        mine, theirs = np.sort(self._values[self.inside]), self._goal
        apart = (np.searchsorted(mine, ends, "right") - np.searchsorted(theirs, ends, "right"))[:-1] / self._n
        lifts, lowers = (
            np.concatenate([[0.0], np.cumsum((np.abs(apart + by / self._n) - np.abs(apart)) * np.diff(ends))])
            for by in (1, -1)
        )
        a, b = np.searchsorted(ends, self._values[out]), np.searchsorted(ends, self._values[into])
        return np.asarray(np.where(b < a, lifts[a] - lifts[b], lowers[b] - lowers[a]))

    def _worse(self, out: Ints, into: Ints) -> Ints:
        """By how much the set is spread worse after each exchange; negative where it is better."""
        docs, sections = (np.bincount(trait[self.inside], minlength=len(trait)) for trait in (self._doc, self._section))
        elsewhere, other_doc = self._section[out] != self._section[into], self._doc[out] != self._doc[into]
        lost = other_doc * ((docs[self._doc[out]] == 1).astype(np.intp) - (docs[self._doc[into]] == 0))
        squares = elsewhere * 2 * (sections[self._section[into]] - sections[self._section[out]] + 1)
        too_many = int(self._blind[self.inside].sum()) - self._wants_blind
        blind = np.abs(too_many + self._blind[into] - self._blind[out]) - abs(too_many)
        return np.asarray((lost * (4 * self._n + 9) + squares) * (2 * self._n + 1) + blind)
