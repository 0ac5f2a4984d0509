"""A collection without what a format cannot hold: for the name of each part that is lost, what is left of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ragassay.evaluate.from_files.collections.collection import Collection
from ragassay.evaluate.from_files.collections.ragelo import by_query, retrieved, swapped
from ragassay.files import digest_bytes
from ragassay.records import Answer, Passage, Query, Usage

Without = Callable[[Collection], Collection]


def _queries(change: Callable[[Query], Query]) -> Without:
    return lambda made: replace(made, queries={id: change(one) for id, one in made.queries.items()})


def _passages(change: Callable[[Passage], Passage]) -> Without:
    return lambda made: replace(made, passages={id: change(one) for id, one in made.passages.items()})


def _answers(change: Callable[[Answer], Answer]) -> Without:
    return lambda made: replace(
        made,
        answers={agent: {id: change(one) for id, one in rows.items()} for agent, rows in made.answers.items()},
    )


def _told(*kept: str) -> Without:
    return _queries(
        lambda one: one.model_copy(update={"metadata": {k: v for k, v in one.metadata.items() if k in kept}})
    )


def _empty(name: str, value: Any) -> Without:
    return lambda made: replace(made, **{name: value})


def _kept(*, answers: bool = True, labels: bool = False, ranked: bool = False) -> Without:
    """Only passages that something names."""

    def without(made: Collection) -> Collection:
        named = {id for rows in made.answers.values() for one in rows.values() for id in one.passages if answers}
        named |= {id for row in made.qrels.values() for id, label in row.items() if labels and (label >= 1 or ranked)}
        named |= {id for rows in made.rankings.values() for row in rows.values() for id, _ in row if ranked}
        return replace(made, passages={id: one for id, one in made.passages.items() if id in named})

    return without


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _numbered(made: Collection) -> Collection:
    """Queries called q1, q2, … in the order in which a file of answers, or of the rest, has them."""
    order = dict.fromkeys([*(id for rows in made.answers.values() for id in rows), *made.queries])
    new = {id: f"q{number}" for number, id in enumerate(order, 1)}
    return replace(
        made,
        queries={new[id]: made.queries[id].model_copy(update={"id": new[id]}) for id in order},
        qrels={new[id]: row for id, row in made.qrels.items()},
        answers={
            agent: {new[id]: one.model_copy(update={"query_id": new[id]}) for id, one in rows.items()}
            for agent, rows in made.answers.items()
        },
    )


def _digested(made: Collection) -> Collection:
    """Passages called after their texts."""
    new = {id: f"text-{digest_bytes(one.text.encode())[:16]}" for id, one in made.passages.items()}
    moved = _answers(lambda one: one.model_copy(update={"passages": tuple(new[id] for id in one.passages)}))(made)
    return replace(
        moved,
        passages={new[id]: one.model_copy(update={"id": new[id]}) for id, one in made.passages.items()},
        qrels={query: {new[id]: label for id, label in row.items()} for query, row in made.qrels.items()},
    )


def _graded(made: Collection) -> Collection:
    rows = {query: {id: 1 for id, label in row.items() if label >= 1} for query, row in made.qrels.items()}
    return replace(made, qrels={query: row for query, row in rows.items() if row})


def _whole(made: Collection) -> Collection:
    rows = {
        agent: {id: one for id, one in own.items() if one.answer is not None} for agent, own in made.answers.items()
    }
    return replace(made, answers=rows)


def _answered(made: Collection) -> Collection:
    known = {id for rows in made.answers.values() for id in rows}
    return replace(made, queries={id: one for id, one in made.queries.items() if id in known})


def _failed(one: Answer) -> Answer:
    return one if one.answer is not None else one.model_copy(update={"error": "lost"})


def _as_ranked(made: Collection) -> Collection:
    """Each agent's passages are its ranking's, a ranking of its answer's where it has none."""
    rankings: dict[str, Any] = {}
    for agent, query, rows in retrieved(made):
        if rows:
            rankings.setdefault(agent, {})[query] = [(id, 1 / rank) for rank, (id, _) in enumerate(rows, 1)]

    def ids(one: Answer) -> tuple[str, ...]:
        return tuple(id for id, _ in rankings.get(one.agent, {}).get(one.query_id, ()))

    return replace(_answers(lambda one: one.model_copy(update={"passages": ids(one)}))(made), rankings=rankings)


def _shown_first(made: Collection) -> Collection:
    bare = {"judge": "", "probability": None, "presentation": None, "place_a": None, "place_b": None}
    return replace(made, games=tuple(swapped(one, "a").model_copy(update=bare) for one in made.games))


WITHOUT: Mapping[str, Without] = {
    "ids of queries": _numbered,
    "ids of passages": _digested,
    "expected answers": _told("kind"),
    "metadata of queries": _told("expected_response"),
    "queries that nobody answered": _answered,
    "white space of queries": _queries(lambda one: one.model_copy(update={"text": _one_line(one.text)})),
    "white space of passages": _passages(
        lambda one: one.model_copy(update={"text": _one_line(one.text), "title": _one_line(one.title)})
    ),
    "passages": _empty("passages", {}),
    "passages of answers": _answers(lambda one: one.model_copy(update={"passages": ()})),
    "titles of passages": _passages(lambda one: one.model_copy(update={"title": ""})),
    "metadata of passages": _passages(lambda one: one.model_copy(update={"metadata": {}})),
    "metadata of passages besides their document": _passages(
        lambda one: one.model_copy(update={"metadata": {k: v for k, v in one.metadata.items() if k == "doc"}})
    ),
    "passages that nobody names": _kept(labels=True),
    "passages that no answer names": _kept(),
    "passages that nobody ranked or labelled": _kept(answers=False, labels=True, ranked=True),
    "labels": _empty("qrels", {}),
    "grades of labels": _graded,
    "answers": _empty("answers", {}),
    "answers that failed": _whole,
    "why answers failed": _answers(_failed),
    "queries that agents asked instead": _answers(lambda one: one.model_copy(update={"queries": ()})),
    "models and prompts of answers": _answers(lambda one: one.model_copy(update={"model": None, "prompt": None})),
    "tokens and costs": _answers(lambda one: one.model_copy(update={"usage": Usage()})),
    "latencies": _answers(lambda one: one.model_copy(update={"latency_s": None})),
    "rankings": _empty("rankings", {}),
    "passages of answers that are not the ranking's": _as_ranked,
    "scores of rankings": _as_ranked,
    "games": _empty("games", ()),
    "judges, probabilities and lists of games": _shown_first,
    "places of games among those of other queries": lambda made: replace(made, games=tuple(by_query(made))),
    "repeated passages of answers": _answers(
        lambda one: one.model_copy(update={"passages": tuple(dict.fromkeys(one.passages))})
    ),
}
"""What made collections have (`support.made_collections`); a part that is not here is one that they cannot lose."""


def reduced(made: Collection, losses: Mapping[str, Any]) -> Collection:
    """`made` without each of the parts, ids last; agents without an answer and rankings without a passage are none."""
    for name in sorted(losses.keys() & WITHOUT.keys(), key=lambda name: (name.startswith("ids of"), name)):
        made = WITHOUT[name](made)
    return replace(
        _answers(_failed)(made),
        answers={agent: rows for agent, rows in _answers(_failed)(made).answers.items() if rows},
        rankings={agent: rows for agent, rows in made.rankings.items() if rows},
        notes=(),
    )
