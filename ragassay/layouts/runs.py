"""Layouts of others' runs and data sets: promptfoo's, Inspect's, TruLens's; DeepEval's conversations, MTRAG's tasks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ..errors import InputError
from ..text import plain
from .answers import Column, Columns, Given, Layout, turns_of
from .cells import (
    BY,
    OUR_ID,
    PROMPTFOO,
    Row,
    as_list,
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

    def fits(self, there: Iterable[str]) -> bool:
        return "vars" in set(there)

    def field_of(self, name: str) -> str | None:
        return "answer" if name in _PROMPTFOO else None

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each result, or a query for each test. Raises InputError with the line."""
        prompts: dict[str, list[Any]] = {}
        return runs_apart(_read(row, _promptfoo, path, prompts) for row in rows)


_PROMPTFOO = frozenset(
    (
        *("vars", "response", "provider", "prompt", "promptId", "promptIdx", "error", "latencyMs", "tokenUsage"),
        *("cost", "metadata", "testCase", "testIdx", "id", "success", "failureReason", "description"),
    )
)


def _promptfoo(row: Mapping[str, Any], prompts: dict[str, list[Any]]) -> dict[str, Any]:
    given = _object(row.get("vars"))
    told = dict(_object(at(row, "testCase", "metadata") if "response" in row else row.get("metadata")))
    fields = {"query_id": told.pop(OUR_ID, None), **_of_vars(given)}
    answered = bool({"response", "error", "provider"} & row.keys())
    if told and (fields["query_id"] or not answered):
        fields["metadata"] = told
    if not answered:
        return fields
    response, provider = _object(row.get("response")), row.get("provider")
    fields["agent"] = _agent(
        provider if isinstance(provider, str) else _object(provider), row.get("promptIdx"), prompts
    )
    metadata = {**_object(row.get("metadata")), **_object(response.get("metadata"))}
    if (found := first_of(metadata, _CONTEXTS) or first_of(given, _CONTEXTS)) is not None:
        fields["contexts"] = contexts(found)
    if response.get("output") in (None, ""):
        fields["error"] = str(response.get("error") or row.get("error") or "no answer is given")
    else:
        fields["answer"] = _as_text(response["output"])
    usage = _object(response.get("tokenUsage"))
    used = {
        "input_tokens": usage.get("prompt"),
        "output_tokens": usage.get("completion"),
        "cost_usd": response.get("cost"),
    }
    fields["usage"] = {name: value for name, value in used.items() if isinstance(value, int | float)} or None
    fields["latency_s"] = None if row.get("latencyMs") is None else number(row["latencyMs"]) / 1000
    return fields


def _of_vars(given: Mapping[str, Any]) -> dict[str, Any]:
    """Question and expected answer. Raises ValueError where no variable is known for a question."""
    names = [name for name in given if name not in _CONTEXTS]
    question = heading_of("question", names) or (names[0] if len(names) == 1 else None)
    if question is None:
        raise ValueError(
            f"has the variables {', '.join(map(plain, given)) or 'nothing'}, none of which is called question"
        )
    expected = heading_of("answer", [name for name in names if name != question])
    return {"query": _as_text(given[question]), "expected_response": given[expected] if expected else None}


def _agent(provider: Any, prompt: Any, prompts: dict[str, list[Any]]) -> str:
    """The provider's label or id, with the number of the prompt behind it from its second on."""
    name = provider if isinstance(provider, str) else str(provider.get("label") or provider.get("id") or "promptfoo")
    known = prompts.setdefault(name, [])
    known += [] if prompt in known else [prompt]
    place = known.index(prompt) + 1
    return name if place == 1 else f"{name}-prompt-{place}"


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
        return runs_apart(one for row in rows for one in _promptfoo_cells(row, path))


def _promptfoo_cells(row: Row, path: Path) -> Iterator[Given]:
    names = list(row.fields)
    places = [at for at, name in enumerate(names[:-1]) if name.startswith("[") and names[at + 1].startswith("Status")]
    given = {name: row.fields[name] for name in names[: places[0] if places else None]}
    prompts: dict[str, list[Any]] = {}
    for place in places:
        answer, status = row.fields[names[place]], str(row.fields[names[place + 1]])
        provider = {"id": names[place][1:].partition("] ")[0]}
        failed = {"error": f"no answer is given ({status})"} if not answer else {"output": answer}
        whole = {"vars": given, "provider": provider, "promptIdx": place, "response": failed}
        yield _read(row._replace(fields=whole), _promptfoo, path, prompts)


class Inspect(Layout):
    """Inspect's logs (`.eval`, which its own library reads, or JSON) and data sets.

    https://inspect.aisi.org.uk/eval-logs.html. Task and model are the agent, a further epoch one of its own; what was
    retrieved stands in a sample's metadata.
    """

    name = "inspect"
    title = "Inspect's: id, input, target, and of logs output, epoch, metadata"

    def fits(self, there: Iterable[str]) -> bool:
        known = set(there)
        return {"input", "target"} <= known or {"input", "id", "epoch", "output"} <= known

    def field_of(self, name: str) -> str | None:
        return "answer" if name in _INSPECT else None

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each sample, or a query where there is no output. Raises InputError with the line."""
        return [_read(row, _inspect, path) for row in rows]


_INSPECT = frozenset(("id", "epoch", "input", "target", "output", "metadata", "error", "working_time", "eval"))
_TARGETS = "targets of a sample besides its first"


def _inspect(row: Mapping[str, Any]) -> dict[str, Any]:
    question, targets = row.get("input"), row.get("target")
    told = dict(_object(unpacked(row.get("metadata"))))
    targets = [one for one in (targets if isinstance(targets, list) else [targets]) if one not in (None, "")]
    fields: dict[str, Any] = {"query_id": told.pop(OUR_ID, None) or row.get("id"), "query": _as_text(question)}
    if isinstance(question, list):
        fields["query"] = asked(question)
    fields |= {"expected_response": targets[0] if targets else None, _TARGETS: max(len(targets) - 1, 0)}
    fields["query_id"] = None if fields["query_id"] in (None, "") else str(fields["query_id"])
    if "epoch" in row and (found := first_of(told, _CONTEXTS)) is not None:
        fields["contexts"] = contexts(found)
        told = {name: value for name, value in told.items() if name not in _CONTEXTS}
    fields["metadata"] = told or None
    if "epoch" not in row:
        return fields
    header, usage, epoch = _object(row.get("eval")), _object(at(row, "output", "usage")), row["epoch"]
    name = "-".join(str(header[one]) for one in ("task", "model") if header.get(one))
    fields["agent"] = (
        "-".join([*([name] if name else []), *([f"run-{epoch}"] if epoch not in (1, "1") else [])]) or None
    )
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
    columns: ClassVar[Columns] = {
        "input": Column("query", said),
        "output": Column("answer", lambda value: _as_text(value)),
        "latency": Column("latency_s", number),
        "app_name": Column("agent", text),
        "app_version": Column("agent", text),
    }
    needs = (frozenset(("record_id", "app_name", "input", "output")),)

    def notes(self, rows: Sequence[Row]) -> Sequence[str]:
        """That there are no passages."""
        return ("TruLens's table of records has no passages",)

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """An answer for each record. Raises InputError with the line."""
        made = []
        for row in rows:
            names = [str(row.fields[name]) for name in ("app_name", "app_version") if row.fields.get(name)]
            given = self._given(
                row._replace(fields={**row.fields, "app_name": "-".join(names), "app_version": ""}), path
            )
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
        return [
            one
            for row in rows
            for one in (turns_of(row, "turns", path) if row.fields.get("turns") else DeepEval().read([row], path))
        ]

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
    several_rows = True

    def field_of(self, name: str) -> str | None:
        """None of what is told of collections and annotators."""
        return "answer" if name == "predictions" else "metadata" if _plainly(name) in _MTRAG else None

    def read(self, rows: Sequence[Row], path: Path) -> list[Given]:
        """A query for each task. Raises InputError with the line of one that is none."""
        return [_read(row, _mtrag, path) for row in rows]


_MTRAG = frozenset(
    (
        *("task_id", "query_id", "_id", "conversation_id", "turn", "input", "messages", "targets", "reference"),
        *("contexts", "relevant", "answerability", "multi_turn", "question_type"),
    )
)
_MORE, _UNSAID = "references and predictions of a task besides its first", "contexts that nobody called relevant"


def _plainly(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def _mtrag(row: Mapping[str, Any]) -> dict[str, Any]:
    told = {_plainly(name): value for name, value in row.items()}
    messages = [_mtrag_message(one) for one in as_list(told.get("messages") or told.get("input"))]
    if not messages or messages[-1]["role"] != "user" or not messages[-1]["content"].strip():
        raise ValueError("its conversation does not end with a turn of a person's")
    id, turns = text(told.get("task_id", told.get("query_id"))), exchanges(messages)
    kinds = {name: _first(told.get(name)) for name in ("answerability", "multi_turn", "question_type")}
    answerable, move = ((kinds[name] or "").lower() for name in ("answerability", "multi_turn"))
    move = answerable if answerable in ("unanswerable", "underspecified") else move
    metadata = {
        "conversation": told.get("conversation_id") or told.get("_id") or id,
        "turn": told["turn"] if isinstance(told.get("turn"), int) else len(turns),
        "move": move if move != "n/a" else None,
        **{name: kinds[name] for name in ("answerability", "question_type")},
    }
    right, predicted = ([_text_of(one) for one in as_list(told.get(name))] for name in ("reference", "predictions"))
    right += [_text_of(one) for one in as_list(told.get("targets"))]
    given = [_object(one) for one in as_list(told.get("contexts"))]
    shown = contexts([{**one, "id": one.get("document_id")} for one in given])
    labelled = [context for one, context in zip(given, shown, strict=True) if _relevant(one)]
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


def _mtrag_message(one: Any) -> dict[str, Any]:
    """As `exchanges` takes it. Raises ValueError."""
    role, words = _object(one).get("role", _object(one).get("speaker")), _text_of(one)
    if role not in ("user", "agent", "assistant"):
        raise ValueError("a turn is neither user's nor agent's")
    who = ("user", "person") if role == "user" else ("assistant", "reference")
    return {"role": who[0], "content": words, "metadata": {BY: who[1]}}


def _text_of(one: Any) -> str:
    return text(one if isinstance(one, str) else first_of(_object(one), ("text", "content")))


def _relevant(context: Mapping[str, Any]) -> bool:
    """Whether each of the people who said something of the context called it relevant."""
    said = _object(_object(context.get("feedback")).get("relevant")).values()
    return bool(said) and all(_object(one).get("value") == "yes" for one in said)


def _first(value: Any) -> str | None:
    """Of a list its first; None of what is no text, as pandas writes NaN for nothing."""
    found = value[0] if isinstance(value, list) and value else value
    return found if isinstance(found, str) else None


def _read(row: Row, read: Any, path: Path, *more: Any) -> Given:
    """What `read` makes of the row, without what is None. Raises InputError with its line."""
    try:
        fields = {name: value for name, value in read(row.fields, *more).items() if value is not None}
    except ValueError as error:
        raise InputError(f"{row.place}{error}", file=path, line=row.line) from None
    left = {name: n for name in (_TARGETS, _MORE, _UNSAID) if (n := fields.pop(name, 0))}
    return Given(row, fields, foreign_ids=True, left_out=left)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _as_text(value: Any) -> str:
    """A text as it is, of a message what it says, anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return said(value)
    except ValueError:
        return json.dumps(value, ensure_ascii=False)
