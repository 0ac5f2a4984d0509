"""A user's own systems (`[[agent]]`): what they gave back, checked and made into answer records.

Of those that take part by a file (`kind = "file"`), what is in it, in any layout that `ragassay.layouts` reads; of
those that are called, what their source tells.
"""

from __future__ import annotations

import ast
import math
import threading
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.files import check_length, first_problem, read_text
from ragassay.records import Answer, Passage, Query, Usage, grouped
from ragassay.text import plain, some_of, without_keys, writable

if TYPE_CHECKING:  # the process of a user's own system has no use for them, and starts sooner without
    from ragassay.experiment.variant_settings import AgentSettings
    from ragassay.experiment.workspace import Workspace
    from ragassay.layouts.answers import Given

PARAMETER, HISTORY = "meter", "history"
"""A callable that has parameters of these names is handed a `Meter`, and what was said before the query: a list of
{"role": "user" or "assistant", "text": …}, empty for a query that is no turn of a conversation."""


class Meter:
    """Handed to a callable that has a parameter `meter`; a new one for each query, for all threads of the callable."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, int] = {}
        self._cost_usd: float | None = None

    def add(
        self, *, input_tokens: int | None = None, output_tokens: int | None = None, cost_usd: float | None = None
    ) -> None:
        """Count what one call took, in tokens and US dollars; None where that is not known.

        Raises ValueError for what is below 0 or not finite, TypeError for tokens that are no whole number.
        """
        tokens = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        known = {name: count for name, count in tokens.items() if count is not None}
        if wrong := [name for name, count in known.items() if isinstance(count, bool) or not isinstance(count, int)]:
            raise TypeError(f"meter.add: {wrong[0]} is not a whole number")
        if negative := [name for name, count in known.items() if count < 0]:
            raise ValueError(f"meter.add: {negative[0]} is {known[negative[0]]}, it must be at least 0")
        if cost_usd is not None and not (math.isfinite(cost_usd) and cost_usd >= 0):
            raise ValueError(f"meter.add: cost_usd is {cost_usd}, which is not a finite number from 0")
        with self._lock:
            for name, count in known.items():
                self._tokens[name] = self._tokens.get(name, 0) + count
            if cost_usd is not None:
                self._cost_usd = (self._cost_usd or 0.0) + float(cost_usd)

    def usage(self) -> Usage:
        """All that was added; None of what never was."""
        with self._lock:
            return Usage.model_validate({**self._tokens, "cost_usd": self._cost_usd})


_FIELDS = ("answer", "passages", "queries", "usage", "latency_s", "error", "hops", "calls")
_SAID = ("model", "prompt")
"""What it may say of how it answered; what is no text says nothing."""


def own_answer(given: Mapping[str, Any], query_id: str, agent: str, passage_ids: AbstractSet[str] | None) -> Answer:
    """The record made from a user's fields (those of Answer; others are ignored).

    passage_ids: the corpus's; None where that is looked at elsewhere. A blank answer is a record with an error. Raises
    ValueError, with a phrase for the user, where a field has a wrong type, neither or both of answer and error are
    given, or a passage is not in the corpus.
    """
    fields = {name: _writable(given[name]) for name in _FIELDS if given.get(name) is not None}
    fields |= {name: said for name in _SAID if isinstance(said := _writable(given.get(name)), str) and said.strip()}
    if isinstance(fields.get("error"), str):
        fields["error"] = without_keys(fields["error"])
    if isinstance(fields.get("usage"), Mapping):
        fields["usage"] = {name: fields["usage"][name] for name in Usage.model_fields if name in fields["usage"]}
    if isinstance(text := fields.get("answer"), str) and not text.strip():
        fields = {"error": "the answer is empty", **fields, "answer": None}
    try:
        answer = Answer.model_validate({"answer": None, **fields, "query_id": query_id, "agent": agent})
    except ValidationError as error:
        raise ValueError(first_problem(error).removeprefix("Value error, ")) from None
    for name, number in (("latency_s", answer.latency_s), ("cost_usd", answer.usage.cost_usd)):
        if number is not None and not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{name} is {number}, which is not a finite number from 0")
    for passage in (*answer.passages, *(passage for hop in answer.hops for passage in hop.passages)):
        if passage_ids is not None and passage not in passage_ids:
            advice = "name passages by their _id there, or leave them out"
            raise ValueError(f"passage '{plain(passage)}' is not in corpus.jsonl; {advice}")
    return answer


def _writable(value: Any) -> Any:
    """Strings without the lone surrogates that no UTF-8 file can hold."""
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, Mapping):
        return {_writable(name): _writable(part) for name, part in value.items()}
    return [_writable(part) for part in value] if isinstance(value, list | tuple) else value


USED = (
    *("query_id", "query", "agent", "answer", "passages", "queries", "usage", "latency_s", "error", "contexts"),
    *("model", "prompt"),
)
"""Of what a file may give, what becomes part of an answer's record."""


def read_answers(
    agent: AgentSettings, workspace: Workspace, queries: Sequence[Query], passages: Mapping[str, Passage]
) -> tuple[list[Answer], list[str]]:
    """The system's answers in the order of `queries`, and notices.

    A file may hold several systems: the rows of `agent.name` count, or all rows where only one system is in it. A query
    without a row gets a record with an error. Passages that are written out are found in the corpus by their id or
    their text. Raises InputError, with the line, for a row that cannot be used and for two answers to one query.
    """
    from ragassay.layouts.answers import read_given

    path = workspace.corpus / str(agent.path)
    if not path.exists():
        raise no_answers_yet(agent.name, path, workspace.queries)
    given = read_given(path)
    placed, unknown = _place(_rows_of(agent.name, given.answers, path), queries, path)
    by_text: dict[str, str] = {}
    if any(row.fields.get("contexts") for row in placed.values()):
        by_text = {_words(one.text): one.id for one in passages.values()}
    answers, lost = dict[str, Answer](), 0
    for query_id, row in placed.items():
        text, fields = row.fields.get("answer"), dict(row.fields)
        check_length(text if isinstance(text, str) else None, "answer", path, row.line)
        if "contexts" in fields and not fields.get("passages"):
            ids = [_id_of(context, passages, by_text) for context in fields["contexts"]]
            lost += ids.count(None)
            fields["passages"] = [id for id in ids if id is not None]
        try:
            answers[query_id] = own_answer(fields, query_id, agent.name, passages.keys())
        except ValueError as error:
            raise InputError(str(error), file=path, line=row.line) from None
    missing, notices = f"no answer in {plain(str(agent.path))}", [*given.unused(USED)]
    for query in queries:
        answers.setdefault(query.id, Answer(query_id=query.id, agent=agent.name, answer=None, error=missing))
    if unknown:
        listed = f"{len(unknown)} ({some_of(unknown)})"
        notices.append(f"{agent.name}: answers to queries that are not in the test set are left out: {listed}")
    if lost:
        notices.append(f"{agent.name}: passages written out that are not in corpus.jsonl are left out: {lost}")
    return [answers[query.id] for query in queries], notices


def no_answers_yet(name: str, path: Path, queries: Path) -> InputError:
    """The error where a system's file of answers to `queries` is not there."""
    remedy = f"answer the queries of {queries} with it and put the answers there"
    return InputError(f"agent '{name}' has no answers yet", file=path, remedy=remedy)


def _id_of(context: Mapping[str, Any], passages: Mapping[str, Passage], by_text: Mapping[str, str]) -> str | None:
    """Of a passage that is written out, the id in the corpus; None where that has none such."""
    id, words = context.get("id"), _words(context["text"])
    if isinstance(id, str) and id in passages and _words(passages[id].text) == words:
        return id
    return by_text.get(words)


def _words(text: str) -> str:
    return " ".join(text.split())


def _place(rows: Sequence[Given], queries: Sequence[Query], path: Path) -> tuple[dict[str, Given], list[str]]:
    """Query id to its row, by text where ids are another tool's; and how rows that are for no query name theirs."""
    by_text = grouped((query.text.strip(), query.id) for query in queries)
    known = {query.id for query in queries}
    placed: dict[str, Given] = {}
    unknown: list[str] = []
    for row in rows:
        id, text = row.fields.get("query_id"), row.fields.get("query")
        if isinstance(id, int) and not isinstance(id, bool):
            id = str(id)
        id, text = id.strip() if isinstance(id, str) else "", text if isinstance(text, str) else ""
        if not id and not text.strip():
            remedy = "name the query's _id in queries.jsonl"
            raise InputError("has no query_id", file=path, line=row.line, remedy=remedy)
        ids = by_text.get(text.strip(), []) if text and (row.foreign_ids or not id) else [id] if id in known else []
        if not ids:
            unknown.append(plain(id or text))
        for query_id in ids:
            if query_id in placed:
                problem = f"answers query '{plain(query_id)}' again, after line {placed[query_id].line}"
                raise InputError(problem, file=path, line=row.line)
            placed[query_id] = row
    return placed, unknown


def _rows_of(name: str, rows: Sequence[Given], path: Path) -> list[Given]:
    """The rows of one system. A row that names none is this system's."""
    by_system: dict[str, list[Given]] = {}
    for row in rows:
        agent = row.fields.get("agent")
        if agent is not None and not isinstance(agent, str):
            raise InputError("agent is not a string", file=path, line=row.line)
        by_system.setdefault((agent or "").strip() or name, []).append(row)
    if len(by_system) <= 1:
        return list(rows)
    if name not in by_system:
        listed = some_of(map(plain, by_system), 5)
        remedy = f"name the [[agent]] after one of them: {listed}"
        raise InputError(f"holds {len(by_system)} systems and none is named '{name}'", file=path, remedy=remedy)
    return by_system[name]


Function = ast.FunctionDef | ast.AsyncFunctionDef


_GIVEN = ("a query's text", "k")


def source_problem(callable_name: str, folder: Path, n_given: Literal[1, 2] = 1) -> str | None:
    """Why "module:name" in `folder` cannot take part, in words; None where nothing is known against it.

    n_given: what it is called with, an agent with a query's text, a retriever with that and k.
    A module that lies elsewhere, or a name that is not plainly a function, is left to the import.
    """
    module, _, name = callable_name.partition(":")
    path = _source(module, folder)
    if path is None:
        return None if _installed(module) else f"there is no module {module}"
    try:
        tree = ast.parse(read_text(path))
    except (SyntaxError, ValueError, InputError) as error:
        return f"{path.name} is not Python ({error})"
    for node in tree.body:  # what is imported whatever happens
        imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            imported = [node.module]
        for top in (module.partition(".")[0] for module in imported):
            if not _source(top, folder) and not _installed(top):
                return f"{path.name} imports {top}, which is not installed"
    functions = [node for node in tree.body if isinstance(node, Function) and node.name == name]
    if functions:
        return _against(functions[-1], n_given)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    bound |= {alias.asname or alias.name for node in ast.walk(tree) for alias in getattr(node, "names", []) if alias}
    bound |= {node.name for node in tree.body if isinstance(node, ast.ClassDef | Function)}
    return None if {name, "*", "globals", "__getattr__"} & bound else f"{path.name} has no {name}"


def hears_nothing(callable_name: str, folder: Path) -> bool:
    """Whether "module:name" in `folder` is a function that can take part (`source_problem`) and takes no `history`.

    False where that is not known from its source.
    """
    module, _, name = callable_name.partition(":")
    if (path := _source(module, folder)) is None or source_problem(callable_name, folder) is not None:
        return False
    functions = [node for node in ast.parse(read_text(path)).body if isinstance(node, Function) and node.name == name]
    given = functions[-1].args if functions else None
    known = {arg.arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs)} if given else {HISTORY}
    return HISTORY not in known


def _source(module: str, folder: Path) -> Path | None:
    base = folder / module.replace(".", "/")
    places = (base.with_name(f"{base.name}.py"), base / "__init__.py")
    return next((path for path in places if path.is_file()), None)


def _installed(module: str) -> bool:
    """Whether this environment has the module's package; only its first part, as finding further ones runs code."""
    try:
        return find_spec(module.partition(".")[0]) is not None
    except ValueError:
        return True


def _against(function: Function, n_given: int) -> str | None:
    if isinstance(function, ast.AsyncFunctionDef):
        return f"{function.name} is async"
    if function.decorator_list:
        return None
    given = function.args
    places = [*given.posonlyargs, *given.args]
    needed = {arg.arg for arg in places[: len(places) - len(given.defaults)]} - {PARAMETER, HISTORY}
    keywords = {arg.arg for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is None}
    if len(needed) > n_given or keywords - {PARAMETER, HISTORY} or not (len(places) >= n_given or given.vararg):
        return f"{function.name} cannot be called with {' and '.join(_GIVEN[:n_given])} alone"
    return None
