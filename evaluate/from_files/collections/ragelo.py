"""RAGElo's files, both ways: tables of queries, documents, answers and games, and its experiment in one JSON file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.files import Rankings, first_problem, json_line, read_json, write_json, write_text
from ragassay.layouts.cells import Row, read_rows, text
from ragassay.layouts.traces import at, finite
from ragassay.records import Answer, Game, Passage, grouped
from ragassay.text import listed, plain

from ..rate import AnyonesGame, read_games
from .collection import Collection, Gathering, agent_name
from .format import OF_AGENTS, OF_COST, OF_QUERIES, Format, Losses, answers_of, in_folders, parts
from .sheets import write_table

KINDS = {
    "games": frozenset(("agent_a", "agent_b")),
    "documents": frozenset(("did", "document", "qid")),
    "answers": frozenset(("qid", "agent", "answer")),
    "ranking": frozenset(("agent", "score")),
    "queries": frozenset(("qid", "query")),
}
"""A kind of file to the columns it has; the first that fits."""
COLUMNS = {
    "queries": ("qid", "query"),
    "documents": ("did", "document", "qid", "agent"),
    "answers": ("qid", "agent", "answer", "query"),
    "games": ("qid", "query_id", "agent_a", "agent_b", "answer", "winner", "raw_answer"),
}
_KINDS_KNOWN = (
    "RAGElo's are queries (qid, query), documents (did, document, qid, agent), answers (qid, agent, answer) and games "
    "(qid, agent_a, agent_b, answer)"
)


def _cell(row: Row, name: str) -> str:
    return _filled(row, name).strip()


def _filled(row: Row, name: str) -> str:
    found = row.told(text, row.fields.get(name), f"'{name}' ")
    if not found.strip():
        raise row.wrong(f"'{name}' is empty")
    return found


def _documents(gathering: Gathering, rows: Iterable[Row]) -> dict[str, Rankings]:
    """Agent to its rankings: the order of the rows, the score of a passage being 1/rank."""
    order: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        fields = {"id": _cell(row, "did"), "text": _filled(row, "document")}
        passage = gathering.passage(fields, row.path, row.line)
        if agent := str(row.fields.get("agent") or "").strip():
            ranked = order.setdefault(agent_name(agent), {}).setdefault(_cell(row, "qid"), [])
            ranked += [passage] if passage not in ranked else []
    return {agent: {query: _by_rank(ids) for query, ids in rows.items()} for agent, rows in order.items()}


def _by_rank(ids: Iterable[str]) -> list[tuple[str, float]]:
    return [(id, 1 / rank) for rank, id in enumerate(ids, 1)]


def _not_used(files: Mapping[str, Sequence[list[Row]]]) -> Iterator[str]:
    """A sentence on each file with rows or columns that are not used."""
    for rows in files["ranking"]:
        yield f"{plain(rows[0].path.name)}: a ranking is not taken, `ragassay rate` makes one of the games"
    for kind, known in COLUMNS.items():
        for rows in files[kind]:
            left = [plain(name) for name in dict.fromkeys(k for row in rows for k in row.fields) if name not in known]
            if left:
                yield f"{plain(rows[0].path.name)}: read as {kind}; not used: {listed(left)}"


WINNERS = {"a": "A", "b": "B", "tie": "C"}
_SIDES = {theirs: ours for ours, theirs in WINNERS.items()}
GAMES = "pairwise_answers_evaluations.csv"


def retrieved(collection: Collection) -> Iterator[tuple[str, str, list[tuple[str, float]]]]:
    """(agent, query id, passages by falling score): the agent's ranking, or its answer's passages where it has none."""
    for agent in sorted({*collection.answers, *collection.rankings}):
        ranked, answers = collection.rankings.get(agent, {}), collection.answers.get(agent, {})
        for query in dict.fromkeys((*ranked, *answers)):
            own = answers[query].passages if query in answers else ()
            yield agent, query, ranked.get(query) or _by_rank(own)


def _other_passages(collection: Collection) -> int:
    """Answers whose passages are not those of the agent's ranking for the query."""
    found = {(agent, query): tuple(id for id, _ in rows) for agent, query, rows in retrieved(collection)}
    return sum(found[one.agent, one.query_id] != one.passages for one in answers_of(collection))


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


def check_ids(collection: Collection) -> None:
    """Raises InputError for an id that RAGElo would change."""
    for id in (*collection.queries, *collection.passages):
        if id != id.strip():
            problem = f"the id '{plain(id)}' has white space at its ends, which RAGElo takes away"
            raise InputError(problem, remedy="give it another id")


def _document_rows(collection: Collection) -> Iterator[Mapping[str, str]]:
    there = set()
    for agent, query, rows in retrieved(collection):
        for id, _ in rows:
            if text := _text_of(collection, id):
                there.add(id)
                yield {"did": id, "document": text, "qid": query, "agent": agent}
    for id, passage in collection.passages.items():
        if id not in there and _text_of(collection, id):
            yield {"did": id, "document": passage.text, "qid": "", "agent": ""}


def _text_of(collection: Collection, id: str) -> str:
    passage: Passage | None = collection.passages.get(id)
    return passage.text if passage and passage.text.strip() else ""


class RageloTables(Format):
    """RAGElo's tables, as its notebooks have them, told by their columns when they are read; and its experiments.

    https://github.com/zetaalphavector/RAGElo, docs/examples/notebooks: queries.csv, documents.csv, answers.csv and
    the verdicts of its judge as games. A document has a row for each agent and query that it was retrieved for, in the
    order of retrieval; of a game the answer shown first is agent_a's. RAGElo's own ranking is not taken: `ragassay
    rate` makes one.
    """

    name = "ragelo"
    title = "RAGElo's tables"
    loses: ClassVar[Losses] = {
        **parts(*OF_QUERIES),
        "passages without a text": lambda made: sum(not one.text.strip() for one in made.passages.values()),
        **parts("titles of passages", "metadata of passages"),
        "retrieved passages without their text": lambda made: sum(
            not _text_of(made, id) for _, _, rows in retrieved(made) for id, _ in rows
        ),
        "passages of answers that are not the ranking's": _other_passages,
        "scores of rankings": _other_scores,
        **parts("labels", "why answers failed", *OF_AGENTS, *OF_COST),
        "judges, probabilities and lists of games": lambda made: sum(
            bool(one.judge) or one.probability is not None or one.presentation is not None for one in made.games
        ),
        "why games failed": lambda made: sum(one.winner is None for one in made.games),
        "white space around reasons of games": lambda made: sum(
            (one.reason or "").strip() != (one.reason or "") for one in made.games
        ),
    }

    def write(self, collection: Collection, folder: Path) -> None:
        """The tables there are. Raises InputError for an id with white space at its ends, which RAGElo takes away."""
        check_ids(collection)
        write_table(folder / "queries.csv", [{"qid": one.id, "query": one.text} for one in collection.queries.values()])
        if rows := list(_document_rows(collection)):
            write_table(folder / "documents.csv", rows)
        answers = ({"qid": one.query_id, "agent": one.agent, "answer": one.answer} for one in answers_of(collection))
        games = (
            {
                **{"qid": game.query_id, "agent_a": game.agent_a, "agent_b": game.agent_b},
                **{"raw_answer": game.reason, "answer": WINNERS.get(game.winner or "")},
            }
            for game in (swapped(one, "a") for one in collection.games)
        )
        for name, made in (("answers.csv", list(answers)), (GAMES, list(games))):
            if made:
                write_table(folder / name, made)

    def read(self, sources: Sequence[Path]) -> Collection:
        """The collection of the files, or of the `.csv`, `.json` and `.jsonl` files of folders. Raises InputError."""
        files: dict[str, list[list[Row]]] = {kind: [] for kind in KINDS}
        experiments: list[Path] = []
        for path in in_folders(sources, (".csv", ".json", ".jsonl")):
            if path.name.endswith(RESULTS):
                continue  # it is read with its experiment
            if path.suffix.lower() == ".json" and isinstance(at(read_json(path), "queries"), Mapping):
                experiments.append(path)
                continue
            rows = list(read_rows(path, _KINDS_KNOWN))
            there = {name for row in rows for name in row.fields}
            kind = next((kind for kind, needed in KINDS.items() if needed <= there), None)
            if kind is None:
                names = ", ".join(plain(name) for name in sorted(there)[:12]) or "nothing"
                raise InputError(f"has the columns {names}", file=path, remedy=_KINDS_KNOWN)
            files[kind].append(rows)
        gathering = Gathering()
        gathering.notes += _not_used(files)
        for row in chain.from_iterable(files["queries"]):
            gathering.query(_cell(row, "qid"), _filled(row, "query"), row.path, row.line)
        rankings = _documents(gathering, chain.from_iterable(files["documents"]))
        for row in chain.from_iterable(files["answers"]):
            query, agent = _cell(row, "qid"), _cell(row, "agent")
            if query not in gathering.queries:
                problem = f"query '{plain(query)}' is in no file of queries"
                raise InputError(problem, file=row.path, line=row.line, remedy=_KINDS_KNOWN)
            found = [id for id, _ in rankings.get(agent_name(agent), {}).get(query, ())]
            answer = {"query_id": query, "answer": text(row.fields.get("answer") or ""), "passages": found}
            gathering.answer(agent, answer, row.path, row.line)
        by_text, games = {query.text.strip(): id for id, query in gathering.queries.items()}, list[Game]()
        for game in (game for rows in files["games"] for game in read_games(rows[0].path).games):
            id = game.query_id if game.query_id in gathering.queries else by_text.get(game.query_id.strip())
            sides = {side: gathering.known_as(getattr(game, side)) for side in ("agent_a", "agent_b")}
            games.append(Game(**{**game.model_dump(), "query_id": id or game.query_id, **sides}))
        reading = Reading(gathering, rankings, games)
        for path in experiments:
            reading.take(path)
        played = {name for game in games for name in (game.agent_a, game.agent_b)}
        if games and gathering.answers and not played & gathering.answers.keys():
            theirs, ours = listed(sorted(played)[:3]), listed(sorted(gathering.answers)[:3])
            gathering.notes.append(f"no agent of the games ({plain(theirs)}, …) has answers (those are of {ours}, …)")
        return gathering.collection(rankings=rankings, games=tuple(games))


OURS = "ragassay"
FILE, RESULTS = "experiment.json", "_results.jsonl"
_KNOWN = {
    "query": {"qid", "query", "metadata", "retrieved_docs", "answers", "pairwise_games", "reference_answer"},
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


class Reading:
    """Takes experiments into `gathering`, and what it has no place for into `rankings` and `games`."""

    def __init__(self, gathering: Gathering, rankings: dict[str, Rankings], games: list[Game]) -> None:
        self.gathering, self.rankings, self.games = gathering, rankings, games
        self._path, self._where, self._unused = Path(), "", Counter[str]()
        self._numbered: list[tuple[int, Game]] = []

    def take(self, path: Path) -> None:
        """Raises InputError for what is not as RAGElo writes it."""
        self._path = path
        self._unused.clear()
        experiment = read_json(path)
        self._name_unused("experiment", {k: v for k, v in experiment.items() if v})
        self._add_results(experiment)
        for id, query in experiment["queries"].items():
            self._where = f"query '{plain(id)}'"
            self._take_query(id, self._object(query, self._where))
        if self._unused:
            told = listed([f"{plain(name)} ({n})" for name, n in self._unused.items()])
            self.gathering.notes.append(f"{plain(path.name)}: not used: {told}")

    def _add_results(self, experiment: Mapping[str, Any]) -> None:
        """What RAGElo 0.7 keeps in a file beside it, to documents and games whose evaluation is not told here."""
        beside = self._path.with_name(f"{experiment.get('experiment_name') or self._path.stem}{RESULTS}")
        for row in read_rows(beside) if beside.is_file() else ():
            told = row.fields
            pair = "-".join(sorted((str(told.get("agent_a")), str(told.get("agent_b")))))
            kind, id = ("retrieved_docs", told["did"]) if "did" in told else ("pairwise_games", pair)
            judged = at(experiment["queries"].get(told.get("qid")), kind, id)
            if not isinstance(judged, dict):
                self._unused["evaluations of what is not there, or of single answers"] += 1
            elif judged.get("evaluation") is None:
                judged["evaluation"] = told

    def _take_query(self, id: str, query: Mapping[str, Any]) -> None:
        self._name_unused("query", query)
        text = query.get("query")
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{self._where} has no text", file=self._path)
        self.gathering.query(id, text, self._path, None, self._metadata(query, self._where))
        ranked: Rankings = {}
        for document in self._several(query, "retrieved_docs"):
            self._take_document(id, document, ranked)
        for agent, rows in ranked.items():
            self.rankings.setdefault(agent, {})[id] = sorted(rows, key=lambda row: -row[1])
        for answer in self._several(query, "answers"):
            self._take_answer(id, answer)
        self._numbered = []
        for game in self._several(query, "pairwise_games"):
            self._take_game(id, game)
        self.games += [game for _, game in sorted(self._numbered, key=lambda one: one[0])]

    def _take_document(self, query: str, document: Mapping[str, Any], ranked: Rankings) -> None:
        self._name_unused("document", document)
        told = self._metadata(document, f"a document of {self._where}")
        if not isinstance(document.get("did"), str) or not isinstance(document.get("text"), str):
            raise InputError(f"a document of {self._where} has no did or no text", file=self._path)
        fields = {"id": document["did"], "text": document["text"], **_ours(told), "metadata": told}
        passage = self.gathering.passage(fields, self._path, None)
        scores = self._object(document.get("retrieved_by") or {}, f"retrieved_by in {self._where}")
        for agent, score in scores.items():
            if not isinstance(score, int | float) or score - score != 0:
                raise InputError(f"a score in {self._where} is not a number", file=self._path)
            ranked.setdefault(agent_name(agent), []).append((passage, float(score)))
        label = _label(document.get("evaluation"))
        if label is not None:
            self.gathering.qrels.setdefault(query, {})[passage] = label
        elif document.get("evaluation"):
            self._unused["evaluations of documents without a whole number"] += 1

    def _take_answer(self, query: str, answer: Mapping[str, Any]) -> None:
        self._name_unused("answer", {name: value for name, value in answer.items() if value})
        agent, said = answer.get("agent"), answer.get("text")
        if not isinstance(agent, str):
            raise InputError(f"an answer to {self._where} has no agent", file=self._path)
        if said is None and isinstance(talk := answer.get("conversation"), list) and talk:
            said = at(talk[-1], "content")
        rest = _ours(self._metadata(answer, f"an answer to {self._where}"))
        if isinstance(said, str) and said.strip():
            rest.pop("error", None)
        found = [id for id, _ in self.rankings.get(agent_name(agent), {}).get(query, ())]
        fields = {"passages": found, **rest, "query_id": query, "answer": "" if said is None else said}
        self.gathering.answer(agent, fields, self._path, None)

    def _take_game(self, query: str, game: Mapping[str, Any]) -> None:
        self._name_unused("game", game)
        what = f"a game of {self._where}"
        fields: dict[str, Any] = {"query_id": query, "first": "a"}
        for side in ("agent_a", "agent_b"):
            inner = self._object(game.get(f"{side}_answer"), f"{side}_answer of {what}")
            fields[side] = self.gathering.known_as(str(inner.get("agent") or ""))
        if not isinstance(judged := game.get("evaluation"), Mapping):
            self._unused["games without an evaluation"] += 1
            return
        answer = judged.get("answer")
        told = answer if isinstance(answer, Mapping) else {"winner": answer}
        winner, reason = told.get("winner"), told.get("comparison_reasoning") or judged.get("raw_answer")
        if winner is None:
            fields |= {"winner": None, "error": str(judged.get("exception") or "no winner is given")}
        elif (side := str(winner).strip().upper()) in _SIDES:
            fields |= {"winner": _SIDES[side], "reason": reason if reason and isinstance(reason, str) else None}
        else:
            problem = f"the winner of {what} is '{plain(str(winner)[:60])}'"
            raise InputError(problem, file=self._path, remedy="it is A, B or C (a tie)")
        rest = _ours(self._metadata(game, what))
        further, number = rest.pop("further", ()), rest.pop("number", len(self._numbered))
        try:
            made = Game(**AnyonesGame.model_validate(fields).model_dump())
            made = swapped(made, "b") if rest.pop("first", "a") == "b" else made
            same = rest.pop("raw_answer", None) == judged.get("raw_answer")
            self._numbered.append((number, Game.model_validate({**made.model_dump(), **(rest if same else {})})))
        except ValidationError as error:
            problem = first_problem(error).removeprefix("Value error, ")
            raise InputError(f"{what}: {problem}", file=self._path) from None
        for one in further:
            self._take_game(query, self._object(one, f"a further game of {self._where}"))

    def _name_unused(self, kind: str, given: Mapping[str, Any]) -> None:
        for name in given.keys() - _KNOWN[kind]:
            self._unused[f"{name} of {kind}"] += 1

    def _object(self, value: Any, what: str) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise InputError(f"{what} is not a JSON object", file=self._path)
        return value

    def _metadata(self, holder: Mapping[str, Any], what: str) -> dict[str, Any]:
        return dict(self._object(holder.get("metadata") or {}, f"the metadata of {what}"))

    def _several(self, query: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        """The objects of a list, or those of an object by their names."""
        value = query.get(name) or []
        found = list(value.values()) if isinstance(value, Mapping) else value
        if not isinstance(found, list):
            raise InputError(f"'{name}' of {self._where} is neither a list nor an object", file=self._path)
        return [self._object(one, f"one of '{name}' of {self._where}") for one in found]


def _ours(metadata: dict[str, Any]) -> dict[str, Any]:
    """What we put there, which is taken out of it."""
    found = metadata.pop(OURS, None)
    return dict(found) if isinstance(found, Mapping) else {}


def _label(evaluation: Any) -> int | None:
    answer = at(evaluation, "answer")
    if isinstance(answer, Mapping):
        answer = next((answer[name] for name in _SCORES if answer.get(name) is not None), None)
    return value if isinstance(value := finite(answer), int) else None


def _experiment_games(games: Sequence[Game], collection: Collection) -> dict[str, dict[str, Any]]:
    """RAGElo's id of a game, the agents' names in their order, to it; it has one of two agents, and further ones, such
    as that of the other order, stand in its metadata. `number` is the game's place among the query's.
    """
    made: dict[str, dict[str, Any]] = {}
    for number, game in enumerate(games):
        told = _experiment_game(game, collection)
        told["metadata"][OURS]["number"] = number
        first = made.setdefault("-".join(sorted((game.agent_a, game.agent_b))), told)
        if first is not told:
            first["metadata"][OURS].setdefault("further", []).append(told)
    return made


def _results(collection: Collection, games: Mapping[str, Sequence[Game]]) -> Iterator[dict[str, Any]]:
    """What RAGElo 0.7 keeps of its evaluators: labels as of its `reasoner`, and of two agents one verdict as of its
    `pairwise`: who won more of their games, which need not be judged again.
    """
    for query in collection.queries:
        for id, label in sorted(collection.qrels.get(query, {}).items()):
            if id in collection.passages:
                answer = {"answer_format": "retrieval_relevance", "reasoning": "", "score": label}
                yield {"qid": query, "evaluator_name": "reasoner", "exception": None, "answer": answer, "did": id}
    for query in collection.queries:
        pairs: dict[tuple[str, str], list[Game]] = {}
        for game in games.get(query, ()):
            pairs.setdefault((min(game.agent_a, game.agent_b), max(game.agent_a, game.agent_b)), []).append(game)
        for (a, b), both in pairs.items():
            won = [{"a": one.agent_a, "b": one.agent_b}.get(one.winner or "") for one in both if one.winner]
            lead = won.count(a) - won.count(b)
            said = {"answer_format": "pairwise", "answer_a_analysis": "", "answer_b_analysis": ""}
            said |= {"comparison_reasoning": both[0].reason or "", "winner": "A" if lead > 0 else "B" if lead else "C"}
            told = {"qid": query, "evaluator_name": "pairwise", "exception": both[0].error, "agent_a": a, "agent_b": b}
            yield {**told, "exception": None if won else both[0].error, "answer": said if won else None}


def _ranked_documents(query: str, collection: Collection) -> Iterator[dict[str, Any]]:
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


def _experiment_answer(answer: Answer) -> dict[str, Any]:
    rest = {name: value for name, value in answer.dump().items() if name not in ("query_id", "agent", "answer")}
    return {
        **{"qid": answer.query_id, "evaluation": None, "metadata": {OURS: rest}},
        **{"agent": answer.agent, "text": answer.answer or "", "conversation": None},
    }


def _experiment_game(game: Game, collection: Collection) -> dict[str, Any]:
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


class RageloExperiment(Format):
    """RAGElo's experiment, as RAGElo 0.7.0 reads it, and what was judged in a file beside it.

    https://github.com/zetaalphavector/RAGElo, ragelo/types (experiment, query, evaluables, results): queries by id,
    each with `retrieved_docs`, `answers` and `pairwise_games`, and what the evaluators said as `evaluation`. What it
    has no field for stands in `metadata`, under `ragassay`, where RAGElo leaves it alone.
    """

    name = "ragelo-experiment"
    title = "RAGElo's experiments"
    source = "ragelo"
    loses: ClassVar[Losses] = {
        "places of games among those of other queries": _moved,
        "passages that nobody ranked or labelled": _strays,
        "ranked passages without their text": lambda made: sum(
            id not in made.passages for rows in made.rankings.values() for row in rows.values() for id, _ in row
        ),
        **parts("labels of passages without a text"),
        "labels, rankings and games of unknown queries": _of_unknown,
    }

    def write(self, collection: Collection, folder: Path) -> None:
        """experiment.json. Raises InputError for an id that RAGElo would change."""
        check_ids(collection)
        games = grouped((game.query_id, game) for game in collection.games)
        queries = {}
        for id, query in collection.queries.items():
            answers = [rows[id] for _, rows in sorted(collection.answers.items()) if id in rows]
            queries[id] = {
                **{"qid": id, "query": query.text, "metadata": query.metadata or None},
                "retrieved_docs": {one["did"]: one for one in _ranked_documents(id, collection)},
                "answers": {one.agent: _experiment_answer(one) for one in answers},
                "pairwise_games": _experiment_games(games.get(id, ()), collection),
            }
        write_json(folder / FILE, {"queries": queries, "experiment_name": OURS, "elo_tournaments": []})
        write_text(folder / f"{OURS}{RESULTS}", "".join(map(json_line, _results(collection, games))))
