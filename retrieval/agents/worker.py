"""The process in which a user's own system answers: run as a module, one JSON request a line, one JSON reply a line.

    {"number": 0, "load": Load's fields}                                   →  {"number": 0, "code": digest or null}
    what cannot be imported or called                                      →  {"number": 0, "problem": …, "remedy": …}
    {"number": 7, "query": …}                                              →  {"number": 7, "answer": Answer's fields}
    {"number": 7, "query": …, "k": 5}            →  {"number": 7, "answer": {"ranking": [[id, score], …] or "error": …}}
    {"number": 8, "ping": true}                                            →  {"number": 8, "answer": {}}

Queries are answered in threads, `at_once` of them; replies come in any order. The process ends with its input.
"""

from __future__ import annotations

import faulthandler
import inspect
import json
import math
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

from ragassay.errors import InputError
from ragassay.experiment.plugins import import_own, said
from ragassay.files import digest_file, digest_json
from ragassay.records import Answer
from ragassay.text import plain

from .own_agents import HISTORY, PARAMETER, Meter, own_answer

LARGEST_ID = 512
"""Characters."""


def ranking_system(target: object) -> Any:
    """The target, or how a retriever of a library is asked (`asked_by_method`): called with a query's text and k.

    Raises InputError for a function of other arguments; what is no function is given back.
    """
    if inspect.isroutine(target):
        _check_arguments(target)
        return target
    if target is None or inspect.isclass(target):
        return None
    method = asked_by_method(target)
    return target if method is None else lambda query, k: getattr(found := method(query), "source_nodes", found)


def asked_by_method(target: Any) -> Callable[[str], object] | None:
    """How an object that is no function is asked, by what it can do: LangChain's `invoke`, LlamaIndex's `query` or
    `retrieve`, a Haystack pipeline's `run`. None where it can do none of these, or be called and not `invoke`.
    """
    for name in ("invoke",) if callable(target) else ("invoke", "query", "retrieve"):
        if callable(method := getattr(target, name, None)):
            return method  # type: ignore[no-any-return]
    if callable(target) or not all(callable(getattr(target, name, None)) for name in ("run", "inputs", "walk")):
        return None
    return lambda query: _run_pipeline(target, query)


class _Response(NamedTuple):
    """An answer with what it is from, as LlamaIndex has it."""

    text: str
    source_nodes: Sequence[object]

    def __str__(self) -> str:
        return self.text


def _run_pipeline(pipeline: Any, query: str) -> _Response:
    """A Haystack pipeline is given the query wherever it waits for one, or must be given a text; of all that its
    components put out the last `answers` or `replies` are the answer, the last `documents` what was found.
    """
    data = {
        component: {
            name: query
            for name, told in inputs.items()
            if name in {"query", "question"} or (told.get("is_mandatory") and told.get("type") is str)
        }
        for component, inputs in pipeline.inputs().items()
    }
    made = pipeline.run(
        {name: given for name, given in data.items() if given},
        include_outputs_from={name for name, _ in pipeline.walk()},
    )
    last = {name: value for part in made.values() for name, value in part.items() if value}
    found = list(last.get("documents") or ())
    said = next((last[name][-1] for name in ("answers", "replies") if last.get(name)), None)
    text = next((one for name in ("data", "text") if isinstance(one := getattr(said, name, said), str)), None)
    return _Response(_quoted(found) if text is None else text, found)


def _quoted(found: Sequence[object]) -> str:
    """The text of the first that was found: the answer of what only finds."""
    node = getattr(found[0], "node", found[0]) if found else None
    texts = (getattr(node, name, None) for name in ("page_content", "text", "content"))
    return next((text for text in texts if isinstance(text, str)), "")


def ranking_of(system: Callable[..., object], query: str, k: int) -> dict[str, Any]:
    """`ranking`, at most `k` pairs of id and score, best first, or `error`: what it raises or wrongly gives."""
    try:
        return {"ranking": own_ranking(system(query, k), k)}
    except BaseException as error:  # noqa: BLE001 - the user's own code may raise anything; it becomes the query's error
        return {"error": said(error)}


def own_ranking(given: object, k: int) -> list[tuple[str, float]]:
    """The first `k` of ids, (id, score) pairs or a library's documents, each id once, at its first place.

    Where there are no scores, a passage gets 1/rank. Raises ValueError or TypeError, with a phrase for the user, for
    anything else, and for scores that are not finite or rise.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(f"a list of passage ids or of (id, score) is expected, not {type(given).__name__}")
    pairs = [_pair(item) for item in given]
    scores = [score for _, score in pairs if score is not None]
    if scores and len(scores) < len(pairs):
        raise ValueError("some passages have a score and others none")
    if not all(map(math.isfinite, scores)):
        raise ValueError("a score is not a finite number")
    if any(later > earlier for earlier, later in pairwise(scores)):
        raise ValueError("the scores rise: give the best first, a higher score to a better one")
    first: dict[str, float | None] = {}
    for identifier, score in pairs:
        first.setdefault(identifier, score)
    ranked = [(i, 1 / rank if score is None else score) for rank, (i, score) in enumerate(first.items(), 1)]
    return sorted(ranked[:k], key=lambda pair: (-pair[1], pair[0]))


def _pair(item: object) -> tuple[str, float | None]:
    if isinstance(item, str):
        return _id(item), None
    if isinstance(item, Sequence) and len(item) == 2:
        if isinstance(item[1], bool | str | bytes) or not hasattr(item[1], "__float__"):
            raise TypeError(f"a score is a {type(item[1]).__name__}, not a number")
        return _id(item[0]), float(item[1])
    node = getattr(item, "node", item)  # LlamaIndex has the score beside it
    kept = (getattr(node, name, None) for name in ("metadata", "meta"))
    if (metadata := next((one for one in kept if isinstance(one, dict)), None)) is not None:
        score = metadata.get("score", getattr(item, "score", None))
        own = getattr(node, "node_id", None) or getattr(node, "id", None)
        return _id(metadata.get("id") or own), None if score is None else float(score)
    raise TypeError(f"a passage id or (id, score) is expected, not {type(item).__name__}")


def _id(value: object) -> str:
    if isinstance(value, str) and 0 < len(value) <= LARGEST_ID:
        return value
    raise TypeError(f"a passage's id is {plain(repr(value))[:60]}, not its _id in corpus.jsonl")


def _check_arguments(function: Callable[..., object]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind("query", 1)
    except TypeError:
        name = getattr(function, "__name__", "the function")
        raise InputError(
            f"{name} cannot be called with a query's text and k alone", remedy="give it these two parameters"
        ) from None


LARGEST_ANSWER = 1_000_000
"""Bytes that an answer may take, with its passages and queries, as JSON."""

REMEDIES = {
    "agent": "name a plain function from the query's text to its answer",
    "retriever": "name a plain function of a query's text and k, or a LangChain retriever",
}

System = Callable[..., object]
"""The user's own: from a query's text, and a Meter if it wants one, to a str, an Answer, or its fields in a dict."""


def main() -> None:
    """Serve until the input ends, then end at once, whatever is under way, and all processes started from here."""
    requests, replies = os.fdopen(os.dup(0), "rb"), FileIO(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    taken: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, taken), daemon=True).start()
    worker = _Worker(replies)
    while True:
        worker.take(json.loads(taken.get()))


def _read(requests: BinaryIO, taken: queue.SimpleQueue[bytes]) -> None:
    """In a thread of its own, so that the end of the input is seen while a module is being imported."""
    for line in requests:
        taken.put(line)
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _show_life(limit_s: float) -> None:
    """Code that never lets Python's lock go would outlive its parent: without a sign of life the process ends."""
    while True:
        faulthandler.dump_traceback_later(limit_s, exit=True)
        time.sleep(10)


@dataclass(frozen=True)
class Load:
    """What is to be asked: `callable` ("module:name") of an agent, looked for in the folder `corpus` first.

    at_once: threads. pythonpath: the variable as the system shall find it. limit_s: for so long it may be unseen.
    kind: an agent answers, a retriever ranks.
    """

    agent: str
    callable: str
    corpus: str
    at_once: int
    pythonpath: str | None
    limit_s: float
    kind: Literal["agent", "retriever"] = "agent"


class _Worker:
    def __init__(self, replies: FileIO) -> None:
        self._replies, self._lock = replies, threading.Lock()
        self._agent = ""
        self._system: System | None = None
        self._threads = ThreadPoolExecutor(1)

    def take(self, request: Mapping[str, Any]) -> None:
        if "load" in request:
            self._send({"number": request["number"], **self._load(Load(**request["load"]))})
        elif "ping" in request:
            self._send({"number": request["number"], "answer": {}})
        else:
            history = request.get("history", [])
            self._threads.submit(self._reply, request["number"], request["query"], request.get("k"), history)

    def _load(self, load: Load) -> dict[str, Any]:
        os.environ.pop("PYTHONPATH", None)
        os.environ.update({} if load.pythonpath is None else {"PYTHONPATH": load.pythonpath})
        threading.Thread(target=_show_life, args=(load.limit_s,), daemon=True).start()
        self._agent, self._threads = load.agent, ThreadPoolExecutor(load.at_once)
        try:
            self._system, code = load_system(load.agent, load.callable, Path(load.corpus), load.kind)
        except InputError as error:
            return {"problem": error.problem, "remedy": error.remedy}
        return {"code": code}

    def _reply(self, number: int, query: str, k: int | None, history: list[dict[str, str]]) -> None:
        assert self._system is not None
        if k is None:
            self._send({"number": number, "answer": answer_of(self._system, query, self._agent, history)})
        else:
            self._send({"number": number, "answer": ranking_of(self._system, query, k)})

    def _send(self, reply: Mapping[str, Any]) -> None:
        data = (json.dumps(reply, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "replace")
        try:
            with self._lock:
                while data:
                    data = data[self._replies.write(data) :]
        except BaseException:  # noqa: BLE001 - without a way to reply the process ends, which is noticed
            os._exit(70)


def load_system(
    agent: str, name: str, corpus: Path, kind: Literal["agent", "retriever"] = "agent"
) -> tuple[System, str]:
    """What `module:name` names, and the digest of its module's file. The path of modules begins with `corpus` after it.

    Raises InputError where the module cannot be imported or what it names cannot be called.
    """
    sys.path.insert(0, str(corpus.resolve()))
    target = import_own(name, corpus, f"{kind} '{agent}'", corpus / "experiment.toml")
    if kind == "retriever":
        system = ranking_system(target)
    elif target is None or inspect.isroutine(target) or inspect.isclass(target):
        system = target
    else:
        system = asked_by_method(target) or target
    if not callable(system) or inspect.iscoroutinefunction(system):
        problem = "is async" if callable(system) else "is not a function" if target is not None else "does not exist"
        raise InputError(f"{kind} '{agent}': {name} {problem}", remedy=REMEDIES[kind])
    source = getattr(sys.modules[name.partition(":")[0]], "__file__", None)
    return system, digest_json([name, digest_file(Path(source)) if source else None])


def answer_of(system: System, query: str, agent: str, history: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """The fields of the answer's record; what the system raises, wrongly returns or returns too much of is its error.

    `latency_s` is that of the whole call, and `usage` what the meter counted, unless the system gives its own.
    """
    meter, taken = Meter(), frozenset[str]()
    try:
        with suppress(TypeError, ValueError):  # it does not say
            taken = frozenset(inspect.signature(system).parameters)
        asking = {name: one for name, one in ((PARAMETER, meter), (HISTORY, list(history))) if name in taken}
        started = time.perf_counter()
        given = system(query, **asking)
        seconds = time.perf_counter() - started
        fields = {"latency_s": seconds, "usage": meter.usage().model_dump(), **_fields(given)}
        answer = own_answer(fields, "query", agent, None).dump()
        if (size := len(answer["answer"] or "")) <= LARGEST_ANSWER:
            size = len(json.dumps(answer, ensure_ascii=False).encode())
        if size > LARGEST_ANSWER:
            most = f"{LARGEST_ANSWER / 1e6:.0f} MB"
            raise ValueError(f"the answer is too large ({size / 1e6:,.1f} MB, at most {most})")
        return answer
    except BaseException as error:  # noqa: BLE001 - the user's own code may raise anything; it becomes the record's error
        return Answer(query_id="query", agent=agent, answer=None, error=said(error), usage=meter.usage()).dump()


def _fields(given: object) -> dict[str, Any]:
    """What the callable returned, as fields of an answer; those that are None are left out.

    Documents alone are an answer that quotes the first; a LlamaIndex response has its sources, a message its text.
    """
    if isinstance(given, str):
        return {"answer": given}
    if isinstance(given, list) and not any(isinstance(one, str) for one in given):
        given = _Response(_quoted(given), given)
    if hasattr(given, "source_nodes"):
        given = {"answer": str(given), "passages": [_pair(one)[0] for one in given.source_nodes]}
    elif isinstance(text := getattr(given, "content", None), str):
        return {"answer": text}
    fields = given.dump() if isinstance(given, Answer) else given
    if not isinstance(fields, Mapping):
        raise TypeError(f"a str, a dict or an Answer is expected, not {type(given).__name__}")
    given_fields = {str(name): value for name, value in fields.items() if value is not None}
    usage = given_fields.get("usage")
    if isinstance(usage, Mapping) and not any(value is not None for value in usage.values()):
        del given_fields["usage"]
    return given_fields


if __name__ == "__main__":
    main()
