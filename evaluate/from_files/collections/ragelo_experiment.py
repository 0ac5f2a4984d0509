"""RAGElo's experiment in one JSON file, as `Experiment.save` of RAGElo 0.1.10 writes it.

https://github.com/zetaalphavector/RAGElo, ragelo/types (experiment, query, evaluables, results): queries by id, each
with `retrieved_docs`, `answers` and `pairwise_games`, and what the evaluators said as `evaluation`. What it has no
field for stands in `metadata`, under `ragassay`, where RAGElo leaves it alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.files import Rankings, first_problem, read_json, write_json
from ragassay.records import Answer, Game
from ragassay.text import listed, plain

from ..rate import AnyonesGame
from . import held
from .collection import Collection, agent_name
from .gathered import Gathering
from .ragelo_tables import WINNERS, check_ids, swapped

OURS = "ragassay"
FILE = "experiment.json"
_KNOWN = {
    "query": {"qid", "query", "metadata", "retrieved_docs", "answers", "pairwise_games"},
    "document": {"qid", "did", "text", "metadata", "retrieved_by", "evaluation"},
    "answer": {"qid", "agent", "text", "conversation", "metadata"},
    "game": {"qid", "agent_a_answer", "agent_b_answer", "metadata", "evaluation"},
    "experiment": {"queries", "experiment_name"},
}
_SCORES = ("score", "relevance", "overall")


def _strays(collection: Collection) -> int:
    judged = {id for row in collection.qrels.values() for id in row}
    ranked = {id for rows in collection.rankings.values() for row in rows.values() for id, _ in row}
    return len(collection.passages.keys() - judged - ranked)


def _ranked_without_text(collection: Collection) -> int:
    rows = [row for rankings in collection.rankings.values() for row in rankings.values()]
    return sum(id not in collection.passages for row in rows for id, _ in row)


def by_query(collection: Collection) -> list[Game]:
    """The games of known queries, query by query."""
    place = {id: number for number, id in enumerate(collection.queries)}
    return sorted((game for game in collection.games if game.query_id in place), key=lambda one: place[one.query_id])


def _moved(collection: Collection) -> int:
    known = [game for game in collection.games if game.query_id in collection.queries]
    return sum(one is not other for one, other in zip(by_query(collection), known, strict=True))


def _of_unknown(collection: Collection) -> int:
    games = [game.query_id for game in collection.games]
    rankings = [query for rows in collection.rankings.values() for query in rows]
    return sum(query not in collection.queries for query in (*games, *rankings, *collection.qrels))


LOSES: held.Losses = {
    "places of games among those of other queries": _moved,
    "passages that nobody ranked or labelled": _strays,
    "ranked passages without their text": _ranked_without_text,
    "labels of passages without a text": held.labels_without_text,
    "labels, rankings and games of unknown queries": _of_unknown,
}


def is_experiment(path: Path) -> bool:
    """Whether it is a JSON file of one object with queries by id. Raises InputError for what is not JSON."""
    if path.suffix.lower() != ".json":
        return False
    value = read_json(path)
    return isinstance(value, dict) and isinstance(value.get("queries"), dict)


def write(collection: Collection, folder: Path) -> None:
    """experiment.json. Raises InputError for an id that RAGElo would change."""
    check_ids(collection)
    games: dict[str, list[Game]] = {}
    for game in collection.games:
        games.setdefault(game.query_id, []).append(game)
    queries = {id: _query(id, collection, games.get(id, ())) for id in collection.queries}
    write_json(folder / FILE, {"queries": queries, "experiment_name": OURS, "elo_tournaments": []})


class Reading:
    """Takes experiments into `gathering`, and what it has no place for into `rankings` and `games`."""

    def __init__(self, gathering: Gathering, rankings: dict[str, Rankings], games: list[Game]) -> None:
        self.gathering, self.rankings, self.games = gathering, rankings, games
        self._unused: Counter[str] = Counter()

    def take(self, path: Path) -> None:
        """Raises InputError for what is not as RAGElo writes it."""
        self._unused.clear()
        experiment = read_json(path)
        self._name_unused("experiment", {k: v for k, v in experiment.items() if v})
        for id, query in experiment["queries"].items():
            self._take_query(id, _object(query, f"query '{plain(id)}'", path), path)
        if self._unused:
            told = listed([f"{plain(name)} ({n})" for name, n in self._unused.items()])
            self.gathering.notes.append(f"{plain(path.name)}: not used: {told}")

    def _take_query(self, id: str, query: Mapping[str, Any], path: Path) -> None:
        where = f"query '{plain(id)}'"
        self._name_unused("query", query)
        text = query.get("query")
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{where} has no text", file=path)
        told = _object(query.get("metadata") or {}, f"the metadata of {where}", path)
        self.gathering.query(id, text, path, None, told)
        ranked: Rankings = {}
        for document in _several(query, "retrieved_docs", where, path):
            self._take_document(id, document, ranked, where, path)
        for agent, rows in ranked.items():
            self.rankings.setdefault(agent, {})[id] = sorted(rows, key=lambda row: -row[1])
        for answer in _several(query, "answers", where, path):
            self._take_answer(id, answer, where, path)
        for game in _several(query, "pairwise_games", where, path):
            self._take_game(id, game, where, path)

    def _take_document(
        self,
        query: str,
        document: Mapping[str, Any],
        ranked: Rankings,
        where: str,
        path: Path,
    ) -> None:
        self._name_unused("document", document)
        told = dict(_object(document.get("metadata") or {}, f"the metadata of a document of {where}", path))
        if not isinstance(document.get("did"), str) or not isinstance(document.get("text"), str):
            raise InputError(f"a document of {where} has no did or no text", file=path)
        rest = _ours(told)
        fields = {"id": document["did"], "text": document["text"], **rest, "metadata": told}
        passage = self.gathering.passage(fields, path, None)
        for agent, score in _object(document.get("retrieved_by") or {}, f"retrieved_by in {where}", path).items():
            if not isinstance(score, int | float) or score - score != 0:
                raise InputError(f"a score in {where} is not a number", file=path)
            ranked.setdefault(agent_name(agent), []).append((passage, float(score)))
        label = _label(document.get("evaluation"))
        if label is not None:
            self.gathering.qrels.setdefault(query, {})[passage] = label
        elif document.get("evaluation"):
            self._unused["evaluations of documents without a whole number"] += 1

    def _take_answer(self, query: str, answer: Mapping[str, Any], where: str, path: Path) -> None:
        self._name_unused("answer", {name: value for name, value in answer.items() if value})
        agent, said = answer.get("agent"), answer.get("text")
        if not isinstance(agent, str):
            raise InputError(f"an answer to {where} has no agent", file=path)
        if said is None and isinstance(talk := answer.get("conversation"), list) and talk:
            said = talk[-1].get("content") if isinstance(talk[-1], Mapping) else None
        rest = _ours(dict(_object(answer.get("metadata") or {}, f"the metadata of an answer to {where}", path)))
        if isinstance(said, str) and said.strip():
            rest.pop("error", None)
        found = [id for id, _ in self.rankings.get(agent_name(agent), {}).get(query, ())]
        fields = {"passages": found, **rest, "query_id": query, "answer": "" if said is None else said}
        self.gathering.answer(agent, fields, path, None)

    def _take_game(self, query: str, game: Mapping[str, Any], where: str, path: Path) -> None:
        self._name_unused("game", game)
        fields: dict[str, Any] = {"query_id": query, "first": "a"}
        for side in ("agent_a", "agent_b"):
            inner = _object(game.get(f"{side}_answer"), f"{side}_answer of a game of {where}", path)
            fields[side] = self.gathering.known_as(str(inner.get("agent") or ""))
        verdict = _verdict(game.get("evaluation"), where, path)
        if verdict is None:
            self._unused["games without an evaluation"] += 1
            return
        rest = _ours(dict(_object(game.get("metadata") or {}, f"the metadata of a game of {where}", path)))
        try:
            made = Game(**AnyonesGame.model_validate({**fields, **verdict}).model_dump())
            made = swapped(made, "b") if rest.pop("first", "a") == "b" else made
            same = rest.pop("raw_answer", None) == game["evaluation"].get("raw_answer")
            self.games.append(Game.model_validate({**made.model_dump(), **(rest if same else {})}))
        except ValidationError as error:
            problem = first_problem(error).removeprefix("Value error, ")
            raise InputError(f"a game of {where}: {problem}", file=path) from None

    def _name_unused(self, kind: str, given: Mapping[str, Any]) -> None:
        for name in given.keys() - _KNOWN[kind]:
            self._unused[f"{name} of {kind}"] += 1


def _object(value: Any, what: str, path: Path) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{what} is not a JSON object", file=path)
    return value


def _several(query: Mapping[str, Any], name: str, where: str, path: Path) -> list[Mapping[str, Any]]:
    """The objects of a list, or those of an object by their names."""
    value = query.get(name) or []
    found = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(found, list):
        raise InputError(f"'{name}' of {where} is neither a list nor an object", file=path)
    return [_object(one, f"one of '{name}' of {where}", path) for one in found]


def _ours(metadata: dict[str, Any]) -> dict[str, Any]:
    """What we put there, which is taken out of it."""
    found = metadata.pop(OURS, None)
    return dict(found) if isinstance(found, Mapping) else {}


def _label(evaluation: Any) -> int | None:
    answer = evaluation.get("answer") if isinstance(evaluation, Mapping) else None
    if isinstance(answer, Mapping):
        answer = next((answer[name] for name in _SCORES if answer.get(name) is not None), None)
    try:
        value = float(answer) if not isinstance(answer, bool) and isinstance(answer, int | float | str) else None
    except ValueError:
        return None
    return int(value) if value is not None and value - value == 0 and value == int(value) else None


def _verdict(evaluation: Any, where: str, path: Path) -> dict[str, Any] | None:
    """winner or error, and the reason; None where the game was not judged."""
    if not isinstance(evaluation, Mapping):
        return None
    answer = evaluation.get("answer")
    told = answer if isinstance(answer, Mapping) else {"winner": answer}
    winner, reason = told.get("winner"), told.get("comparison_reasoning") or evaluation.get("raw_answer") or None
    if winner is None:
        return {"winner": None, "error": str(evaluation.get("exception") or "no winner is given")}
    side = {theirs: ours for ours, theirs in WINNERS.items()}.get(str(winner).strip().upper())
    if side is None:
        problem = f"the winner of a game of {where} is '{plain(str(winner)[:60])}'"
        raise InputError(problem, file=path, remedy="it is A, B or C (a tie)")
    return {"winner": side, "reason": reason if isinstance(reason, str) else None}


def _query(id: str, collection: Collection, games: Sequence[Game]) -> dict[str, Any]:
    query = collection.queries[id]
    answers = [rows[id] for _, rows in sorted(collection.answers.items()) if id in rows]
    return {
        **{"qid": id, "query": query.text, "metadata": query.metadata or None},
        "retrieved_docs": {one["did"]: one for one in _documents(id, collection)},
        "answers": {one.agent: _answer(one) for one in answers},
        "pairwise_games": [_game(one, collection) for one in games],
    }


def _documents(query: str, collection: Collection) -> Iterator[dict[str, Any]]:
    labels = collection.qrels.get(query, {})
    by: dict[str, dict[str, float]] = {}
    for agent, rows in sorted(collection.rankings.items()):
        for id, score in rows.get(query, ()):
            by.setdefault(id, {})[agent] = score
    for id in dict.fromkeys((*by, *labels)):
        if passage := collection.passages.get(id):
            told = passage.metadata | ({OURS: {"title": passage.title}} if passage.title else {})
            evaluation = _evaluation(query, labels[id], str(labels[id])) if id in labels else None
            yield {
                **{"qid": query, "evaluation": evaluation, "metadata": told or None},
                **{"did": id, "text": passage.text, "retrieved_by": by.get(id, {})},
            }


def _evaluation(query: str, answer: Any, raw: str | None, exception: str | None = None) -> dict[str, Any]:
    return {"qid": query, "agent": None, "raw_answer": raw, "answer": answer, "exception": exception}


def _answer(answer: Answer) -> dict[str, Any]:
    rest = {name: value for name, value in answer.dump().items() if name not in ("query_id", "agent", "answer")}
    return {
        **{"qid": answer.query_id, "evaluation": None, "metadata": {OURS: rest}},
        **{"agent": answer.agent, "text": answer.answer or "", "conversation": None},
    }


def _game(game: Game, collection: Collection) -> dict[str, Any]:
    """As it was shown; which of the two is our agent_a stands in the metadata."""
    shown = swapped(game, "a")
    said = {"answer_a_analysis": "", "answer_b_analysis": "", "comparison_reasoning": game.reason or ""}
    winner = WINNERS.get(shown.winner or "")
    raw = None if winner is None else game.reason or winner
    verdict = _evaluation(game.query_id, winner and {**said, "winner": winner}, raw, game.error)
    names = ("first", "judge", "reason", "probability", "presentation", "place_a", "place_b")
    rest = {name: value for name, value in game.dump().items() if name in names} | {"raw_answer": raw}
    return {
        "qid": game.query_id,
        "evaluation": {**verdict, "agent_a": shown.agent_a, "agent_b": shown.agent_b, "pairwise": True},
        "metadata": {OURS: rest},
        "agent_a_answer": _side(shown.agent_a, game.query_id, collection),
        "agent_b_answer": _side(shown.agent_b, game.query_id, collection),
    }


def _side(agent: str, query: str, collection: Collection) -> dict[str, Any]:
    found = collection.answers.get(agent, {}).get(query)
    text = found.answer if found else None
    none = {"evaluation": None, "metadata": None, "conversation": None}
    return {"qid": query, "agent": agent, "text": text or "", **none}
