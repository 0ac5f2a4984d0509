"""RAGElo's tables, as its notebooks have them: queries.csv, documents.csv, answers.csv and the verdicts of its judge.

https://github.com/zetaalphavector/RAGElo, docs/examples/notebooks. A document has a row for each agent and query that
it was retrieved for, in the order of retrieval; of a game the answer shown first is agent_a's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from ragassay.errors import InputError
from ragassay.records import Game, Passage
from ragassay.text import plain

from . import held
from .collection import Collection
from .sheets import write_table

WINNERS = {"a": "A", "b": "B", "tie": "C"}
GAMES = "pairwise_answers_evaluations.csv"


def retrieved(collection: Collection) -> Iterator[tuple[str, str, list[tuple[str, float]]]]:
    """(agent, query id, passages by falling score): the agent's ranking, or its answer's passages where it has none."""
    for agent in sorted({*collection.answers, *collection.rankings}):
        ranked, answers = collection.rankings.get(agent, {}), collection.answers.get(agent, {})
        for query in dict.fromkeys((*ranked, *answers)):
            own = answers[query].passages if query in answers else ()
            yield agent, query, ranked.get(query) or [(id, 1 / rank) for rank, id in enumerate(own, 1)]


def _other_passages(collection: Collection) -> int:
    """Answers whose passages are not those of the agent's ranking for the query."""
    found = {(agent, query): tuple(id for id, _ in rows) for agent, query, rows in retrieved(collection)}
    return sum(found[one.agent, one.query_id] != one.passages for one in held.answers_of(collection))


def _without_text(collection: Collection) -> int:
    return sum(not _text(collection, id) for _, _, rows in retrieved(collection) for id, _ in rows)


def _blank(collection: Collection) -> int:
    return sum(not passage.text.strip() for passage in collection.passages.values())


def _spaced_reasons(collection: Collection) -> int:
    return sum((game.reason or "").strip() != (game.reason or "") for game in collection.games)


def _other_scores(collection: Collection) -> int:
    places = [(n, score) for _, _, rows in retrieved(collection) for n, (_, score) in enumerate(rows, 1)]
    return sum(round(score, 6) != round(1 / n, 6) for n, score in places)


def swapped(game: Game, first: Literal["a", "b"]) -> Game:
    """The same game, told so that this side is the one shown first."""
    if game.first == first:
        return game
    winner: Any = {"a": "b", "b": "a"}.get(game.winner or "", game.winner)
    probability = None if game.probability is None else 1 - game.probability
    sides = {"agent_a": game.agent_b, "agent_b": game.agent_a, "place_a": game.place_b, "place_b": game.place_a}
    return game.model_copy(update={**sides, "first": first, "winner": winner, "probability": probability})


def _told_of_games(collection: Collection) -> int:
    games = collection.games
    return sum(bool(one.judge) or one.probability is not None or one.presentation is not None for one in games)


def _failed_games(collection: Collection) -> int:
    return sum(game.winner is None for game in collection.games)


LOSES: held.Losses = {
    **held.OF_QUERIES,
    "passages without a text": _blank,
    "titles of passages": held.titles,
    "metadata of passages": held.told_of_passages,
    "retrieved passages without their text": _without_text,
    "passages of answers that are not the ranking's": _other_passages,
    "scores of rankings": _other_scores,
    "labels": held.labels,
    **held.OF_FAILURES,
    **held.OF_AGENTS,
    **held.OF_COST,
    "judges, probabilities and lists of games": _told_of_games,
    "why games failed": _failed_games,
    "white space around reasons of games": _spaced_reasons,
}


def write(collection: Collection, folder: Path) -> None:
    """The tables there are. Raises InputError for an id with white space at its ends, which RAGElo takes away."""
    check_ids(collection)
    write_table(folder / "queries.csv", [{"qid": one.id, "query": one.text} for one in collection.queries.values()])
    if rows := list(_documents(collection)):
        write_table(folder / "documents.csv", rows)
    answers = [
        {"qid": one.query_id, "agent": one.agent, "answer": one.answer or ""} for one in held.answers_of(collection)
    ]
    if answers:
        write_table(folder / "answers.csv", answers)
    if collection.games:
        write_table(folder / GAMES, [_game(swapped(game, "a")) for game in collection.games])


def check_ids(collection: Collection) -> None:
    """Raises InputError for an id that RAGElo would change."""
    for id in (*collection.queries, *collection.passages):
        if id != id.strip():
            problem = f"the id '{plain(id)}' has white space at its ends, which RAGElo takes away"
            raise InputError(problem, remedy="give it another id")


def _documents(collection: Collection) -> Iterator[Mapping[str, str]]:
    there = set()
    for agent, query, rows in retrieved(collection):
        for id, _ in rows:
            if text := _text(collection, id):
                there.add(id)
                yield {"did": id, "document": text, "qid": query, "agent": agent}
    for id, passage in collection.passages.items():
        if id not in there and _text(collection, id):
            yield {"did": id, "document": passage.text, "qid": "", "agent": ""}


def _text(collection: Collection, id: str) -> str:
    passage: Passage | None = collection.passages.get(id)
    return passage.text if passage and passage.text.strip() else ""


def _game(game: Game) -> Mapping[str, str]:
    return {
        **{"qid": game.query_id, "agent_a": game.agent_a, "agent_b": game.agent_b},
        **{"raw_answer": game.reason or "", "answer": WINNERS.get(game.winner or "", "")},
    }
