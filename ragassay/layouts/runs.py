"""Layouts of others' runs and data sets: promptfoo's, Inspect's, TruLens's; DeepEval's conversations, MTRAG's tasks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress, pairwise
from pathlib import Path
from typing import Any, ClassVar

from ..text import plain
from .answers import Column, Columns, Given, Layout, turns_of
from .cells import (
    BY,
    OUR_ID,
    PROMPTFOO,
    Row,
    as_list,
    as_object,
    asked,
    contexts,
    exchanges,
    first_of,
    number,
    said,
    text,
    texts,
    unpacked,
)
from .questions import heading_of
from .tables import DeepEval
from .traces import at, runs_apart

_CONTEXTS = ("contexts", "context", "retrieved_contexts", "retrieval_context", "documents")
"""Where applications put what was retrieved: of a run's metadata, or of what fills a prompt."""


class Promptfoo(Layout):
    """promptfoo's results (`results.json`, JSON Lines) and tests: `vars`, and a provider's `response`.

    https://www.promptfoo.dev/docs/configuration/outputs. The question is the variable that is called so, or the
    only one; what was retrieved stands in the metadata of the response or in a variable. A provider is an agent,
    one for each further prompt. An assertion that failed is no failed answer.
    """

    name = "promptfoo"
    title = "promptfoo's: vars, and of results provider, response"
    needs = (frozenset(("vars",)),)
    used = (
        *("vars", "response", "provider", "prompt", "promptId", "promptIdx", "error", "latencyMs", "tokenUsage"),
        *("cost", "metadata", "testCase", "testIdx", "id", "success", "failureReason", "description"),
    )

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each result, or a query for each test. Raises InputError with the line."""
        prompts: dict[str, list[Any]] = {}
        return runs_apart(_read(row, _promptfoo, prompts) for row in rows)


def _promptfoo(row: Mapping[str, Any], prompts: dict[str, list[Any]]) -> dict[str, Any]:
    """prompts: of each provider's label or id those that came before: from the second on its number is behind it."""
    given = as_object(row.get("vars"))
    told = dict(as_object(at(row, "testCase", "metadata") if "response" in row else row.get("metadata")))
    names = [name for name in given if name not in _CONTEXTS]
    question = heading_of("question", names) or (names[0] if len(names) == 1 else None)
    if question is None:
        there = ", ".join(map(plain, given)) or "nothing"
        raise ValueError(f"has the variables {there}, none of which is called question")
    expected = heading_of("answer", [name for name in names if name != question])
    fields = {"query_id": told.pop(OUR_ID, None), "query": _as_text(given[question])}
    fields["expected_response"] = given[expected] if expected else None
    answered = bool({"response", "error", "provider"} & row.keys())
    if told and (fields["query_id"] or not answered):
        fields["metadata"] = told
    if not answered:
        return fields
    response, provider, prompt = as_object(row.get("response")), row.get("provider"), row.get("promptIdx")
    if not isinstance(provider, str):
        provider = str(at(provider, "label") or at(provider, "id") or "promptfoo")
    known = prompts.setdefault(provider, [])
    known += [] if prompt in known else [prompt]
    place = known.index(prompt) + 1
    fields["agent"] = provider if place == 1 else f"{provider}-prompt-{place}"
    metadata = {**as_object(row.get("metadata")), **as_object(response.get("metadata"))}
    if (found := first_of(metadata, _CONTEXTS) or first_of(given, _CONTEXTS)) is not None:
        fields["contexts"] = contexts(found)
    if response.get("output") in (None, ""):
        fields["error"] = str(response.get("error") or row.get("error") or "no answer is given")
    else:
        fields["answer"] = _as_text(response["output"])
    tokens = as_object(response.get("tokenUsage"))
    used = {"input_tokens": tokens.get("prompt"), "output_tokens": tokens.get("completion")}
    used["cost_usd"] = response.get("cost")
    fields["usage"] = {name: value for name, value in used.items() if isinstance(value, int | float)} or None
    fields["latency_s"] = None if row.get("latencyMs") is None else number(row["latencyMs"]) / 1000
    return fields


class PromptfooTable(Layout):
    """promptfoo's results as `--output FILE.csv` writes them: variables, then columns for each prompt and provider."""

    name = "promptfoo-csv"
    title = "promptfoo's CSV: variables, [provider] prompt, Status, Grader Reason"
    several_rows = True

    def fits(self, there: Iterable[str]) -> bool:
        known = set(there)
        return {PROMPTFOO, "Status"} <= known and any(name.startswith("[") for name in known)

    def field_of(self, name: str) -> str | None:
        return None if name.split(" ")[0] in {"Score", "Named", "Comment", "Grader"} else "answer"

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each row and provider. Raises InputError with the line."""
        made = []
        for row in rows:
            names = list(row.fields)
            pairs = enumerate(pairwise(names))
            places = [at for at, (name, after) in pairs if name.startswith("[") and after.startswith("Status")]
            given = {name: row.fields[name] for name in names[: places[0] if places else None]}
            prompts: dict[str, list[Any]] = {}
            for place in places:
                answer, status = row.fields[names[place]], str(row.fields[names[place + 1]])
                provider = {"id": names[place][1:].partition("] ")[0]}
                response = {"output": answer} if answer else {"error": f"no answer is given ({status})"}
                whole = {"vars": given, "provider": provider, "promptIdx": place, "response": response}
                made.append(_read(row._replace(fields=whole), _promptfoo, prompts))
        return runs_apart(made)


class Inspect(Layout):
    """Inspect's logs (`.eval`, which its own library reads, or JSON) and data sets.

    https://inspect.aisi.org.uk/eval-logs.html. Task and model are the agent, a further epoch one of its own; what was
    retrieved stands in a sample's metadata.
    """

    name = "inspect"
    title = "Inspect's: id, input, target, and of logs output, epoch, metadata"
    needs = (frozenset(("input", "target")), frozenset(("input", "id", "epoch", "output")))
    used = ("id", "epoch", "input", "target", "output", "metadata", "error", "working_time", "eval")

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each sample, or a query where there is no output. Raises InputError with the line."""
        return [_read(row, _inspect) for row in rows]


_TARGETS = "targets of a sample besides its first"


def _inspect(row: Mapping[str, Any]) -> dict[str, Any]:
    question, targets, told = row.get("input"), row.get("target"), dict(as_object(unpacked(row.get("metadata"))))
    targets = [one for one in (targets if isinstance(targets, list) else [targets]) if one not in (None, "")]
    id = told.pop(OUR_ID, None) or row.get("id")
    fields: dict[str, Any] = {"query_id": None if id in (None, "") else str(id)}
    fields["query"] = asked(question) if isinstance(question, list) else _as_text(question)
    fields |= {"expected_response": targets[0] if targets else None, _TARGETS: max(len(targets) - 1, 0)}
    if "epoch" in row and (found := first_of(told, _CONTEXTS)) is not None:
        fields["contexts"] = contexts(found)
        told = {name: value for name, value in told.items() if name not in _CONTEXTS}
    fields["metadata"] = told or None
    if "epoch" not in row:
        return fields
    header, usage, epoch = as_object(row.get("eval")), as_object(at(row, "output", "usage")), row["epoch"]
    names = [str(header[one]) for one in ("task", "model") if header.get(one)]
    names += [f"run-{epoch}"] if epoch not in (1, "1") else []
    fields["agent"] = "-".join(names) or None
    answer, error = at(row, "output", "completion"), at(row, "error", "message")
    fields |= {"answer": answer} if answer and not error else {"error": str(error or "no answer is given")}
    fields["usage"] = {name: usage[name] for name in ("input_tokens", "output_tokens") if name in usage} or None
    return fields | {"latency_s": row.get("working_time")}


class TruLens(Layout):
    """TruLens's table of records (`TruSession.get_records_and_feedback`), which has no passages.

    https://www.trulens.org, "Working with records". Name and version of the application are the agent.
    """

    name = "trulens"
    title = "TruLens's: record_id, app_name, app_version, input, output"
    needs = (frozenset(("record_id", "app_name", "input", "output")),)
    columns: ClassVar[Columns] = {
        "input": Column("query", said),
        "output": Column("answer", lambda value: _as_text(value)),
        "latency": Column("latency_s", number),
        "app_name": Column("agent", text),
        "app_version": Column("agent", text),
    }

    def notes(self, rows: Sequence[Row]) -> Sequence[str]:
        """That there are no passages."""
        return ("TruLens's table of records has no passages",)

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each record. Raises InputError with the line."""
        made = []
        for row in rows:
            agent = "-".join(str(row.fields[name]) for name in ("app_name", "app_version") if row.fields.get(name))
            given = self._given(row._replace(fields={**row.fields, "app_name": agent, "app_version": ""}))
            fields = {name: value for name, value in given.fields.items() if name != "answer" or value}
            if row.fields.get("cost_currency") == "USD" and (cost := number(row.fields.get("total_cost") or 0)):
                fields["usage"] = {"cost_usd": cost}
            made.append(Given(row, fields if "answer" in fields else {**fields, "error": "no answer is given"}))
        return runs_apart(made)


class Conversations(Layout):
    """DeepEval's conversations (ConversationalTestCase, ConversationalGolden): a turn is a query with its history."""

    name = "deepeval-conversations"
    title = "DeepEval's conversations: turns"
    needs = tuple(
        frozenset(("turns", beside)) for beside in ("scenario", "metricsData", "expected_outcome", "expectedOutcome")
    )
    several_rows = True

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """A query for each turn of a person's. Raises InputError with the row that has none."""
        of_rows = (turns_of(r, "turns") if r.fields.get("turns") else DeepEval().read([r], path) for r in rows)
        return list(chain.from_iterable(of_rows))

    def field_of(self, name: str) -> str | None:
        """The turns, and what a test case beside a conversation has."""
        return "query" if name == "turns" else DeepEval().field_of(name)


class MtRag(Layout):
    """MTRAG's tasks, each a conversation's last turn with its history, what is right and perhaps what was predicted.

    https://github.com/IBM/mt-rag-benchmark (generation_tasks, MTRAGEval); or in few words query_id, messages,
    reference, relevant (ids). Contexts that people called relevant are labelled; beside a prediction all are what it
    was made of.
    """

    name = "mtrag"
    title = "MTRAG's: task_id, input, contexts, targets; or query_id, messages, reference, relevant"
    needs = (
        *(frozenset(("task_id", "input", beside)) for beside in ("targets", "predictions")),
        frozenset(("query_id", "messages", "relevant")),
    )
    used = (
        *("task_id", "query_id", "_id", "conversation_id", "turn", "input", "messages", "targets", "reference"),
        *("contexts", "relevant", "answerability", "multi_turn", "question_type"),
    )
    several_rows = True

    def field_of(self, name: str) -> str | None:
        """None of what is told of collections and annotators."""
        return "answer" if name == "predictions" else "metadata" if _plainly(name) in self.used else None

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """A query for each task. Raises InputError with the line of one that is none."""
        return [_read(row, _mtrag) for row in rows]


_MORE, _UNSAID = "references and predictions of a task besides its first", "contexts that nobody called relevant"


def _plainly(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def _mtrag(row: Mapping[str, Any]) -> dict[str, Any]:
    told = {_plainly(name): value for name, value in row.items()}
    messages: list[dict[str, Any]] = []
    for one in as_list(told.get("messages") or told.get("input")):
        role, words = at(one, "role") or at(one, "speaker"), _text_of(one)
        if role not in ("user", "agent", "assistant"):
            raise ValueError("a turn is neither user's nor agent's")
        role, by = ("user", "person") if role == "user" else ("assistant", "reference")
        messages.append({"role": role, "content": words, "metadata": {BY: by}})
    if not messages or messages[-1]["role"] != "user" or not messages[-1]["content"].strip():
        raise ValueError("its conversation does not end with a turn of a person's")
    id, turns = text(told.get("task_id", told.get("query_id"))), exchanges(messages)
    kinds = [told.get(name) for name in ("answerability", "multi_turn", "question_type")]
    firsts = [value[0] if isinstance(value, list) and value else value for value in kinds]
    answerability, move, question_type = (one if isinstance(one, str) else "" for one in firsts)  # NaN is nothing
    if answerability.lower() in ("unanswerable", "underspecified"):
        move = answerability
    metadata = {
        "conversation": told.get("conversation_id") or told.get("_id") or id,
        "turn": told["turn"] if isinstance(told.get("turn"), int) else len(turns),
        "move": move.lower() if move.lower() != "n/a" else None,
        "answerability": answerability,
        "question_type": question_type,
    }
    right, more, predicted = (
        [_text_of(one) for one in as_list(told.get(name))] for name in ("reference", "targets", "predictions")
    )
    right += more
    given = [as_object(one) for one in as_list(told.get("contexts"))]
    shown = contexts([{**one, "id": one.get("document_id")} for one in given])
    of_people = [as_object(at(one, "feedback", "relevant")).values() for one in given]
    relevant = [bool(votes) and all(at(one, "value") == "yes" for one in votes) for votes in of_people]
    labelled = list(compress(shown, relevant))
    return {
        "query_id": id,
        "query": turns[-1].question,
        "metadata": {name: value for name, value in metadata.items() if value},
        "expected_response": right[0] if right else None,
        "reference_contexts": labelled or None,
        "reference_passages": texts(told.get("relevant")) or None,
        "answer": predicted[0] if predicted else None,
        "error": "no answer is given" if "predictions" in told and not predicted else None,
        "contexts": shown if predicted else None,
        _MORE: max(len(right) - 1, 0) + max(len(predicted) - 1, 0),
        _UNSAID: 0 if predicted else len(shown) - len(labelled),
    }


def _text_of(one: Any) -> str:
    return text(one if isinstance(one, str) else first_of(as_object(one), ("text", "content")))


def _read(row: Row, read: Any, *more: Any) -> Given:
    """What `read` makes of the row, without what is None. Raises InputError with its line."""
    found = row.told(lambda fields: read(fields, *more), row.fields)
    fields = {name: value for name, value in found.items() if value is not None}
    left = {name: n for name in (_TARGETS, _MORE, _UNSAID) if (n := fields.pop(name, 0))}
    return Given(row, fields, foreign_ids=True, left_out=left)


def _as_text(value: Any) -> str:
    """A text as it is, of a message what it says, anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return said(value)
    except ValueError:
        return json.dumps(value, ensure_ascii=False)
