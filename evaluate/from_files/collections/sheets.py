"""Sheets of answers, a row a query and a file an agent: Ragas, DeepEval, Agent Evaluation, and our own columns as CSV;
data sets without answers: promptfoo, Inspect; conversations, each with all its turns: Ragas, DeepEval.

https://docs.ragas.io, "Evaluation sample"; https://deepeval.com/docs/evaluation-test-cases; https://docs.databricks.com,
"Agent Evaluation input schema". `ragassay.layouts` reads them back. A failure is a row without an answer; queries that
nobody answered are a file of their own, without a column of answers.

https://deepeval.com/docs/evaluation-multiturn-test-cases. A conversation is written once, up to the last turn that was
asked: behind it stands the agent's answer, before it what was said, which these tools take for the agent's, too. A turn
that was asked has its query's id and metadata in its message's metadata, and what no agent said has `BY` there:
`layouts.answers.turns_of` knows them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ragassay.errors import InputError
from ragassay.files import json_line, write_json, write_text
from ragassay.layouts.answers import calls_of
from ragassay.layouts.cells import BY, OUR_ID, Context
from ragassay.layouts.tables import AgentEvaluation as Rows
from ragassay.records import PERTURBED_FROM, Answer, Passage, Query, Turn, Usage, link_of
from ragassay.text import csv_cell, csv_of, plain

from .collection import Collection
from .format import (
    OF_AGENTS,
    OF_COST,
    OF_TESTS,
    Format,
    Losses,
    answers_of,
    expected_text,
    parts,
    told_besides,
    told_of_queries,
    unanswered,
)

Row = dict[str, Any]
Pair = tuple[Query, Answer | None]

_TEXTLESS = "passages of answers without their text"
_SHEET = parts(
    *("ids of queries", "metadata of queries", "passages that nobody names", "titles of passages"),
    *("labels of passages without a text", "metadata of passages", "grades of labels", "why answers failed"),
    *(_TEXTLESS, *OF_AGENTS, *OF_COST, *OF_TESTS),
)


class Sheet(Format):
    """A file an agent (`files_of`), of rows or of conversations. suffix: the file's kind.

    without_ids: whether rows have none, so that no two queries may have one text.
    """

    suffix: ClassVar[str] = ".jsonl"
    without_ids: ClassVar[bool] = False

    def write(self, collection: Collection, folder: Path) -> None:
        """AGENT and the suffix. Raises InputError where two queries have one text and nothing else tells them apart."""
        first: dict[str, str] = {}
        for id, query in collection.queries.items() if self.without_ids else ():
            if (other := first.setdefault(query.text, id)) != id:
                problem = f"the queries '{plain(other)}' and '{plain(id)}' have one text, and {self.title} have no ids"
                raise InputError(problem, remedy="leave one of them out, or export to csv or hf, which have ids")
        writers: dict[str, Callable[[Path, list[Row]], None]]
        writers = {".jsonl": _write_lines, ".json": write_json, ".csv": write_table}
        for name, pairs in files_of(collection):
            writers[self.suffix](folder / f"{name}{self.suffix}", self.rows(pairs, collection))

    def rows(self, pairs: Sequence[Pair], collection: Collection) -> list[Row]:
        """Those of a file."""
        return [self.row(query, answer, collection) for query, answer in pairs]

    def row(self, query: Query, answer: Answer | None, collection: Collection) -> Row:
        """The query with its answer; a failure is a row without one."""
        raise NotImplementedError


class Ragas(Sheet):
    """Ragas' samples, as `EvaluationDataset.from_jsonl` reads them: https://docs.ragas.io, "Evaluation sample"."""

    name = "ragas"
    title = "Ragas' samples"
    layouts = ("ragas",)
    loses = _SHEET
    without_ids = True

    def row(self, query: Query, answer: Answer | None, collection: Collection) -> Row:
        link = link_of(query)  # by the text, since samples have no ids
        original = collection.queries.get(link.get(PERTURBED_FROM, ""))
        made: Row = {"user_input": query.text, **link, **({PERTURBED_FROM: original.text} if original else {})}
        if answer is not None:
            known = _known(answer.passages, collection)
            made |= {"response": answer.answer, "retrieved_contexts": [one.text for one in known]}
            made |= {"retrieved_context_ids": [one.id for one in known]}
        right = _right(query, collection)
        made |= {"reference": expected_text(query), "reference_contexts": [one.text for one in right] or None}
        return made | {"reference_context_ids": [one.id for one in right] or None}


class RagasCsv(Ragas):
    """The same as a table, lists as JSON in a cell."""

    name = "ragas-csv"
    source = "ragas"
    suffix = ".csv"


class DeepEval(Sheet):
    """DeepEval's test cases, as `add_test_cases_from_json_file` reads them.

    https://deepeval.com/docs/evaluation-test-cases.
    """

    name = "deepeval"
    title = "DeepEval's test cases"
    layouts = ("deepeval",)
    loses: ClassVar[Losses] = {
        **{name: count for name, count in _SHEET.items() if name != "latencies"},
        **parts("ids of passages"),
    }
    suffix = ".json"
    without_ids = True

    def row(self, query: Query, answer: Answer | None, collection: Collection) -> Row:
        made: Row = {"input": query.text}
        if answer is not None:
            made |= {"actual_output": answer.answer, "completion_time": answer.latency_s}
            made |= {"retrieval_context": [one.text for one in _known(answer.passages, collection)]}
        right = [one.text for one in _right(query, collection)]
        return made | {"expected_output": expected_text(query), "context": right or None}


class AgentEvaluation(Sheet):
    """The rows that `mlflow.evaluate` takes: https://docs.databricks.com, "Agent Evaluation input schema"."""

    name = "agent-evaluation"
    title = "Agent Evaluation's rows"
    layouts = ("agent-evaluation",)
    loses: ClassVar[Losses] = {
        "metadata of queries": lambda made: told_of_queries(made, besides=("expected_facts", "expected_docs")),
        **parts(
            *("passages that no answer names", "titles of passages", "metadata of passages besides their document"),
            *("labels", "why answers failed", _TEXTLESS, *OF_AGENTS, "tokens and costs", *OF_TESTS),
        ),
    }

    def row(self, query: Query, answer: Answer | None, collection: Collection) -> Row:
        made: Row = {"request_id": query.id, "request": _as_text("request", query.text)}
        if answer is not None:
            context = [_context(one, "passage_id", "doc_uri", "content") for one in _known(answer.passages, collection)]
            made |= {"response": answer.answer and _as_text("response", answer.answer), "retrieved_context": context}
            made |= {"agent": answer.agent, "agent/latency_seconds": answer.latency_s}
        facts, docs = (_texts(query.metadata.get(name)) for name in ("expected_facts", "expected_docs"))
        made |= {"expected_response": expected_text(query), "expected_facts": facts}
        made["expected_retrieved_context"] = [{"doc_uri": doc} for doc in docs] if docs else None
        return made


_NO_ANSWERS = parts("passages", "titles of passages", "labels", "answers", *OF_TESTS)


class Promptfoo(Format):
    """promptfoo's tests: https://www.promptfoo.dev/docs/configuration/test-cases."""

    name = "promptfoo"
    title = "promptfoo's tests"
    layouts = ("promptfoo",)
    loses = _NO_ANSWERS

    def write(self, collection: Collection, folder: Path) -> None:
        """tests.json, for `tests: file://tests.json`: the variables question and expected_response, and metadata.

        promptfoo fills in templates and reads files in variables, so that texts are as they are only without them.
        Raises InputError for one with `{{`, `{%` or `{#`, or that begins with file://.
        """
        rows = []
        for query in collection.queries.values():
            told = {"question": query.text, "expected_response": expected_text(query)}
            variables = {name: text for name, text in told.items() if text is not None}
            for name, text in variables.items():
                if text.startswith("file://") or any(mark in text for mark in ("{{", "{%", "{#")):
                    run = "would be run by promptfoo (file:// or a template)"
                    remedy = "leave it out, or export to inspect or csv"
                    raise InputError(f"{name} of the query '{plain(query.id)}' {run}", remedy=remedy)
            rows.append({"vars": variables, "metadata": {**told_besides(query), OUR_ID: query.id}})
        write_json(folder / "tests.json", rows)


class Inspect(Format):
    """Inspect's data sets: https://inspect.aisi.org.uk/datasets.html."""

    name = "inspect"
    title = "Inspect's data sets"
    layouts = ("inspect",)
    loses = _NO_ANSWERS

    def write(self, collection: Collection, folder: Path) -> None:
        """dataset.jsonl, for `json_dataset`: id, input, target and metadata."""
        queries = collection.queries.values()
        names = ("id", "input", "target", "metadata")
        told = ((one.id, one.text, expected_text(one) or "", told_besides(one)) for one in queries)
        _write_lines(folder / "dataset.jsonl", (dict(zip(names, one, strict=True)) for one in told))


class Csv(Format):
    """Our own columns as a table; read from files of answers in any layout."""

    name = "csv"
    title = "a table of answers"
    loses = parts(
        *("passages that nobody names", "titles of passages", "labels of passages without a text"),
        *("metadata of passages besides their document", "grades of labels", *OF_TESTS),
    )

    def write(self, collection: Collection, folder: Path) -> None:
        """answers.csv of all agents, and queries.csv of the queries that nobody answered; what has parts is JSON."""
        queries = collection.queries
        if rows := [_ours(queries[one.query_id], one, collection) for one in answers_of(collection)]:
            write_table(folder / "answers.csv", rows)
        if rest := [_ours(query, None, collection) for query in unanswered(collection)]:
            write_table(folder / "queries.csv", rest)


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """The rows as CSV (RFC 4180): None is an empty cell, what is no text or number JSON (`text.csv_cell`)."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    write_text(path, csv_of([columns, *([_cell(row.get(name)) for name in columns] for row in rows)]))


def _cell(value: Any) -> Any:
    whole = value is None or isinstance(value, int | float)
    return value if whole else csv_cell(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _write_lines(path: Path, rows: Iterable[Row]) -> None:
    write_text(path, "".join(map(json_line, rows)))


def files_of(collection: Collection) -> list[tuple[str, list[Pair]]]:
    """What is asked in each agent's file, with its answer, and in one for the queries that nobody answered."""
    files: list[tuple[str, list[Pair]]] = [
        (agent, [(collection.queries[id], answer) for id, answer in rows.items()])
        for agent, rows in collection.answers.items()
        if rows
    ]
    rest: list[Pair] = [(query, None) for query in unanswered(collection)]
    if rest:
        taken = {name.casefold() for name, _ in files}
        names = ("testset", *(f"testset-{number}" for number in range(2, len(files) + 3)))
        files.append((next(name for name in names if name not in taken), rest))
    return files


def _ours(query: Query, answer: Answer | None, collection: Collection) -> Row:
    made: Row = {"query_id": query.id, "query": query.text, "expected_response": expected_text(query)}
    made["metadata"] = told_besides(query) or None
    made["reference_contexts"] = [_context(one, "id", "doc", "text") for one in _right(query, collection)] or None
    if answer is None:
        return made
    made |= {"agent": answer.agent, "answer": answer.answer, "error": answer.error}
    made |= {"passages": answer.passages or None, "queries": answer.queries or None, "latency_s": answer.latency_s}
    used = {name: value for name, value in answer.usage.dump().items() if value is not None}
    made["contexts"] = [_context(one, "id", "doc", "text") for one in _known(answer.passages, collection)] or None
    made["usage"] = used if answer.usage != Usage() else None
    return made | {name: said for name in ("model", "prompt") if (said := getattr(answer, name)) is not None}


def _known(ids: Iterable[str], collection: Collection) -> list[Passage]:
    return [collection.passages[id] for id in ids if id in collection.passages]


def _right(query: Query, collection: Collection) -> list[Passage]:
    return _known((id for id, label in collection.qrels.get(query.id, {}).items() if label >= 1), collection)


def _texts(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and value and all(isinstance(one, str) for one in value) else None


def _context(passage: Passage, id: str, doc: str, text: str) -> Context:
    source = passage.metadata.get("doc")
    return {id: passage.id, text: passage.text} | ({doc: source} if isinstance(source, str) and source else {})


def _as_text(column: str, text: str) -> Any:
    """The text, or a conversation of it where the text would be taken for one."""
    try:
        if Rows.columns[column].read(text) == text:
            return text
    except ValueError:
        pass
    return {"messages": [{"role": "user" if column == "request" else "assistant", "content": text}]}


Talk = Mapping[int, Pair]
"""The turns of a conversation that were asked, each by how many stand before it; the last has all of them before it."""


class Message(NamedTuple):
    """One of a conversation. said: the answer whose words it has, None of a person's and of what no agent said."""

    role: str
    text: str
    metadata: Mapping[str, Any]
    said: Answer | None = None


def talks_of(pairs: Sequence[Pair]) -> list[Talk]:
    """The conversations: a turn is in another's if it stands, after the same history, in what was said before that."""
    found: list[dict[int, Pair]] = []
    by_id: dict[str, list[dict[int, Pair]]] = {}
    for query, answer in sorted(pairs, key=lambda pair: -len(pair[0].history)):
        id, place = query.metadata.get("conversation"), len(query.history)
        others = by_id.setdefault(str(id), []) if id is not None else []
        talk = next((one for one in others if place not in one and _stands_in(query, one)), None)
        if talk is None:
            found.append(talk := {})
            others.append(talk)
        talk[place] = (query, answer)
    first = {query.id: number for number, (query, _) in enumerate(pairs)}
    return sorted(found, key=lambda talk: min(first[query.id] for query, _ in talk.values()))


def _stands_in(query: Query, talk: Talk) -> bool:
    whole, place = talk[max(talk)][0].history, len(query.history)
    said = whole[place] if place < len(whole) else None
    return whole[:place] == query.history and said is not None and (said.role, said.text) == ("user", str(query.text))


def messages_of(talk: Talk) -> Iterator[Message]:
    """All that was said, in its order."""
    last, answer = talk[max(talk)]
    for place, turn in enumerate((*last.history, Turn(role="user", text=str(last.text)))):
        told: dict[str, Any] = {BY: turn.by} if turn.by else {}
        said = _said_at(place, talk)
        if place in talk:
            told |= {**talk[place][0].metadata, OUR_ID: talk[place][0].id}
        elif turn.role == "assistant" and said is None:
            told[BY] = turn.by or "somebody"
        yield Message(turn.role, turn.text, told, said)
    if answer is not None:
        yield Message("assistant", answer.answer or "", {}, answer)


def _said_at(place: int, talk: Talk) -> Answer | None:
    """The agent's answer to the turn before, where the last one's history has it at this place."""
    answer = talk[place - 1][1] if place - 1 in talk else None
    here = talk[max(talk)][0].history[place : place + 1]
    same = answer and answer.answer and here == (Turn(role="assistant", text=answer.answer),)
    return answer if same else None


def _fixed(collection: Collection) -> int:
    """Turns said before, in files of agents, that are no answers of theirs."""
    whole = [message for talk in _answered(collection) for message in messages_of(talk)]
    return sum(message.role == "assistant" and message.said is None for message in whole)


def followed(collection: Collection) -> int:
    """Answers to turns that others follow, but for those that the others have before them."""
    n_held = sum(message.said is not None for talk in _answered(collection) for message in messages_of(talk))
    return sum(1 for _ in answers_of(collection)) - n_held


def _answered(collection: Collection) -> Iterator[Talk]:
    """Those of agents."""
    return (talk for _, pairs in files_of(collection) if pairs[0][1] for talk in talks_of(pairs))


_OF_TALKS: Losses = {
    **parts("labels", "titles of passages"),
    "that turns said before are no answers of the agent": _fixed,
    "answers to turns that others follow": followed,
    **parts("steps of answers", "why answers failed", *OF_AGENTS, *OF_COST, *OF_TESTS),
}


class RagasConversations(Sheet):
    """Ragas' multi-turn samples, as `EvaluationDataset.from_jsonl` reads them; a failure is a message without words."""

    name = "ragas-conversations"
    title = "Ragas' conversations"
    source = "ragas"
    keeps_turns = True
    loses: ClassVar[Losses] = {**parts("passages", "passages of answers"), **_OF_TALKS}

    def rows(self, pairs: Sequence[Pair], collection: Collection) -> list[Row]:
        def message(one: Message) -> Row:
            made: Row = {"content": one.text, "type": "human" if one.role == "user" else "ai"}
            made |= {"metadata": one.metadata} if one.metadata else {}
            if one.said is None or one.said.calls is None:
                return made
            return {**made, "tool_calls": [{"name": o.name, "args": o.arguments} for o in one.said.calls]}

        made = []
        for talk in talks_of(pairs):
            query, _ = talk[max(talk)]
            calls = calls_of(query.metadata.get("expected_calls"))
            wanted = [{"name": one["name"], "args": one["arguments"]} for one in calls] or None
            said = [message(one) for one in messages_of(talk)]
            made.append({"user_input": said, "reference": expected_text(query), "reference_tool_calls": wanted})
        return made


class DeepEvalConversations(Sheet):
    """DeepEval's conversational goldens, as `add_goldens_from_json_file` reads them; a failure is a turn without words.

    Its conversational test cases have the same fields, too.
    """

    name = "deepeval-conversations"
    title = "DeepEval's conversations"
    layouts = ("deepeval-conversations",)
    suffix = ".json"
    keeps_turns = True
    loses: ClassVar[Losses] = {
        **parts("passages that no answer names", "ids of passages", "metadata of passages", _TEXTLESS),
        **_OF_TALKS,
    }

    def rows(self, pairs: Sequence[Pair], collection: Collection) -> list[Row]:
        def turn(one: Message) -> Row:
            made: Row = {"role": one.role, "content": one.text}
            made |= {"metadata": one.metadata} if one.metadata else {}
            if one.said is None:
                return made
            known = [passage.text for passage in _known(one.said.passages, collection)]
            made |= {"retrieval_context": known} if known else {}
            if one.said.calls is None:
                return made
            return {**made, "tools_called": [{"name": o.name, "input_parameters": o.arguments} for o in one.said.calls]}

        made = []
        for talk in talks_of(pairs):
            query, _ = talk[max(talk)]
            names = query.metadata.get("conversation") or query.id, query.metadata.get("stand_alone") or query.text
            told: Row = {"name": str(names[0]), "scenario": str(names[1])}
            made.append(told | {"turns": list(map(turn, messages_of(talk))), "expected_outcome": expected_text(query)})
        return made
