"""A user's own systems (`[[agent]]`): what they gave back, checked and made into answer records."""

from __future__ import annotations

import ast
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.files import Rankings, first_problem, read_text
from ragassay.records import OWN_SYSTEM, Answer, StageUsage, Usage
from ragassay.text import plain, without_keys, writable

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
            return Usage(
                input_tokens=self._tokens.get("input_tokens"),
                output_tokens=self._tokens.get("output_tokens"),
                cost_usd=self._cost_usd,
            )


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
    _check(answer, passage_ids)
    return answer


def _writable(value: Any) -> Any:
    """Strings without the lone surrogates that no UTF-8 file can hold."""
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, Mapping):
        return {_writable(name): _writable(part) for name, part in value.items()}
    return [_writable(part) for part in value] if isinstance(value, list | tuple) else value


def _check(answer: Answer, passage_ids: AbstractSet[str] | None) -> None:
    for name, number in (("latency_s", answer.latency_s), ("cost_usd", answer.usage.cost_usd)):
        if number is not None and not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{name} is {number}, which is not a finite number from 0")
    named = (*answer.passages, *(passage for hop in answer.hops for passage in hop.passages))
    unknown = [passage for passage in named if passage_ids is not None and passage not in passage_ids]
    if unknown:
        advice = "name passages by their _id there, or leave them out"
        raise ValueError(f"passage '{plain(unknown[0])}' is not in corpus.jsonl; {advice}")


def own_rankings(answers: Sequence[Answer]) -> Rankings:
    """The rankings behind a system's answers, the score of a passage being 1/rank; empty where it names no passage."""
    return {
        answer.query_id: [(passage, 1 / rank) for rank, passage in enumerate(dict.fromkeys(answer.passages), 1)]
        for answer in answers
        if answer.passages
    }


def metered_usage(agent: str, answers: Sequence[Answer]) -> StageUsage | None:
    """What a system says that its answers took, failed ones included; None where it says nothing."""
    used = [answer.usage for answer in answers]
    if not any(value is not None for usage in used for value in usage.model_dump().values()):
        return None
    costs = [usage.cost_usd for usage in used if usage.cost_usd is not None]
    return StageUsage(
        stage="answer",
        model=f"{OWN_SYSTEM}{agent}",
        calls=len(answers),
        n_failed=sum(answer.error is not None for answer in answers),
        n_unmeasured=len(used) - len(costs),
        input_tokens=_known_sum([usage.input_tokens for usage in used]),
        output_tokens=_known_sum([usage.output_tokens for usage in used]),
        cost_usd=round(sum(costs), 6) if costs else None,
    )


def _known_sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


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
    if missing := next((top for top in _imports(tree) if not _source(top, folder) and not _installed(top)), None):
        return f"{path.name} imports {missing}, which is not installed"
    functions = [node for node in tree.body if isinstance(node, Function) and node.name == name]
    return _against(functions[-1], n_given) if functions else _not_there(tree, name, path)


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


def _imports(tree: ast.Module) -> Iterator[str]:
    """The packages that the module imports whatever happens."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]


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


def _not_there(tree: ast.Module, name: str, path: Path) -> str | None:
    """A name that nothing in the module can bind."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {alias.asname or alias.name for node in ast.walk(tree) for alias in getattr(node, "names", []) if alias}
    names |= {node.name for node in tree.body if isinstance(node, ast.ClassDef | Function)}
    return None if {name, "*", "globals", "__getattr__"} & names else f"{path.name} has no {name}"
