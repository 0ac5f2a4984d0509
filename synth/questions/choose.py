"""Choosing the test set: of many questions a spread draw under the quotas, of those that something answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ragassay.experiment.tables import QuestionsSettings
from ragassay.records import Query
from ragassay.text import plain, some_of

from .quotas import (
    Draw,
    Place,
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


@dataclass(frozen=True)
class Choice:
    """queries: in an order whose beginning is spread. notices: for the user."""

    queries: tuple[Query, ...] = ()
    notices: tuple[str, ...] = ()


def choose(
    pool: Sequence[Query], settings: QuestionsSettings, keep: Sequence[str] = (), held: Collection[str] = ()
) -> Choice:
    """Of `pool` the questions that are kept: each model's quota, or as many as it has.

    Kinds have their shares of `settings.kinds`, where the pool allows; each question drawn is of a section asked about
    least; `settings.blind` of them are blind, as nearly as that allows.
    keep: ids that are taken first, in this order, where the quotas of their model and kind allow; held: of an earlier
    choice, which stay as far as they are in the pool. The same for any order of the pool; what is equal in all of this
    is decided by the seed.
    """
    pool = sorted(pool, key=lambda query: key_of(settings.seed, query.id))
    wanted = wanted_kinds(pool, settings.quota, settings.kinds)
    kept = _kept(pool, keep, settings.quota, wanted)
    stay = {query.id: query for query in (*kept, *(query for query in pool if query.id in held))}
    chosen = _drawn(pool, list(stay.values()), wanted, settings)
    ordered = Draw(chosen, Counter(map(cell_of, chosen)), settings.blind, settings.seed).all()
    return Choice(tuple(ordered), (*_of_kept(pool, keep, kept), *_short(chosen, wanted)))


Look = Callable[[Collection[str]], Sequence[Query]]
"""Ids of questions to the pool without those of them that nothing answers."""


def choose_looking(look: Look, settings: QuestionsSettings, keep: Sequence[str] = ()) -> Choice:
    """`choose` where what answers a question costs a request: those alone are looked up that are chosen.

    Those that something answers stay, and in place of the others new ones are chosen, until all have been looked up.
    """
    pool, looked = look(keep), set(keep)
    choice = choose(pool, settings, keep)
    while new := {query.id for query in choice.queries} - looked:
        pool = look(new)
        looked |= new
        choice = choose(pool, settings, keep, held={query.id for query in choice.queries})
    return choice


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


def _drawn(
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
    drawn = draw.all()
    taken = {query.id for query in drawn}
    return _exchanged(drawn, [query for query in rest if query.id not in taken], ids, settings.blind)


def _exchanged(drawn: Sequence[Query], rest: Sequence[Query], stay: Collection[str], blind: float) -> list[Query]:
    """With others of the same model and kind in place of some, until `blind` of all are blind or no exchange is left
    that neither leaves a document out nor asks about sections less evenly. stay: ids of those that are not exchanged.
    """
    found, rest = list(drawn), list(rest)
    while off := sum(map(is_blind, found)) - round(blind * len(found)):
        n_section, n_doc = Counter(map(place_of, found)), Counter(place_of(query)[0] for query in found)

        def fits(out: Query, into: Query, n_section: Counter[Place] = n_section, n_doc: Counter[str] = n_doc) -> bool:
            here, there = place_of(out), place_of(into)
            even = here == there or n_section[there] < n_section[here]
            return cell_of(out) == cell_of(into) and even and (here[0] == there[0] or n_doc[here[0]] > 1)

        outs = [one for one in found if one.id not in stay and is_blind(one) == (off > 0)]
        ins = [one for one in rest if is_blind(one) == (off < 0)]
        pair = next(((out, into) for into in ins for out in outs if fits(out, into)), None)
        if pair is None:
            break
        found[found.index(pair[0])], rest[rest.index(pair[1])] = pair[1], pair[0]
    return found


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
