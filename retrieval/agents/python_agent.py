"""A system that takes part as a Python callable (`kind = "python"`): asked concurrently, answers kept as they come."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.runnables import Runnable
from pydantic import ValidationError

from ragassay.digests import digest_file, digest_json
from ragassay.errors import InputError
from ragassay.experiment.own_code import import_own, said
from ragassay.experiment.settings import AgentSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import json_line, naming, write_text
from ragassay.records import Answer, Query

from .own_agents import own_answer

System = Callable[[str], object]
"""The user's own: from the text of a query to a str, a dict with the fields of Answer, or an Answer."""


@dataclass(frozen=True)
class PythonAgent:
    """A user's callable and where its answers are kept until the stage is done; `code` is its module's digest."""

    name: str
    system: System
    code: str
    partial: Path
    max_concurrency: int


def load_python_agent(agent: AgentSettings, workspace: Workspace) -> PythonAgent:
    """Import the callable (or LangChain Runnable) that `agent.callable` names, inside `importable(corpus)`.

    Raises InputError where the module cannot be imported or what it names cannot be called.
    """
    settings, attribute = workspace.corpus / "experiment.toml", str(agent.callable).partition(":")[2]
    module = import_own(str(agent.callable).partition(":")[0], workspace.corpus, f"agent '{agent.name}'", settings)
    target = getattr(module, attribute, None)
    system = target.invoke if isinstance(target, Runnable) else target
    if not callable(system) or inspect.iscoroutinefunction(system):
        problem = "is async" if callable(system) else "is not a function" if target is not None else "does not exist"
        raise InputError(
            f"agent '{agent.name}': {agent.callable} {problem}",
            file=settings,
            remedy="name a plain function from the query's text to its answer",
        )
    source = getattr(module, "__file__", None)
    code = digest_json([agent.callable, digest_file(Path(source)) if source else None])
    partial = workspace.answers(f"{agent.name}.partial")
    return PythonAgent(agent.name, system, code, partial, workspace.experiment.run.max_concurrency)


def ask_python_agent(agent: PythonAgent, queries: Sequence[Query], passage_ids: AbstractSet[str]) -> list[Answer]:
    """The answers in the order of `queries`; what the callable raises or wrongly returns is a record's error.

    Up to `max_concurrency` threads call it. Each answer is appended to the partial file, from where a later call takes
    those of the same query text and module; records with errors are asked for again.
    """
    keys = {query.id: digest_json([agent.code, query.id, query.text]) for query in queries}
    kept = _kept(agent.partial)
    answers = {
        query.id: kept[key]
        for query in queries
        if (key := keys[query.id]) in kept and passage_ids >= set(kept[key].passages)
    }
    owed = [query for query in queries if query.id not in answers]
    pool = ThreadPoolExecutor(max_workers=max(1, min(agent.max_concurrency, len(owed))))
    agent.partial.parent.mkdir(parents=True, exist_ok=True)
    try:
        futures: dict[Future[Answer], Query] = {
            pool.submit(_answer, agent, query, passage_ids): query for query in owed
        }
        with naming(agent.partial), agent.partial.open("a", encoding="utf-8", errors="surrogatepass") as stream:
            for future in as_completed(futures):
                answer = answers[futures[future].id] = future.result()
                stream.write(json_line({"key": keys[answer.query_id], "answer": answer.dump()}))
                stream.flush()
    finally:
        pool.shutdown(cancel_futures=True)
    return [answers[query.id] for query in queries]


def _answer(agent: PythonAgent, query: Query, passage_ids: AbstractSet[str]) -> Answer:
    started = time.perf_counter()
    try:
        given = agent.system(query.text)
        seconds = time.perf_counter() - started
        return own_answer({"latency_s": seconds, **_fields(given)}, query.id, agent.name, passage_ids)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the user's own code may raise anything; it becomes the record's error
        return Answer(query_id=query.id, agent=agent.name, answer=None, error=said(error))


def _fields(given: object) -> dict[str, Any]:
    """What the callable returned, as fields of an answer; those that are None are left out."""
    if isinstance(given, str):
        return {"answer": given}
    fields = given.dump() if isinstance(given, Answer) else given
    if not isinstance(fields, Mapping):
        raise TypeError(f"a str, a dict or an Answer is expected, not {type(given).__name__}")
    return {str(name): value for name, value in fields.items() if value is not None}


def _kept(partial: Path) -> dict[str, Answer]:
    """The answers a killed run left, by key. What else is in the file goes, so that no line cut off is appended to."""
    if not partial.exists():
        return {}
    kept, whole = {}, []
    for line in partial.read_text("utf-8", errors="replace").split("\n"):
        try:
            row = json.loads(line)
            answer = Answer.model_validate(row["answer"])
            key = str(row["key"])
        except (ValueError, TypeError, KeyError, ValidationError):
            continue  # the line that was being written when the run was killed: its query is asked again
        if answer.error is None:
            kept[key] = answer
            whole.append(json_line({"key": key, "answer": answer.dump()}))
    write_text(partial, "".join(whole))
    return kept
