"""A system that takes part as a Python callable (`kind = "python"`): asked in a process of its own, answers kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from ragassay.digests import digest_json
from ragassay.errors import InputError
from ragassay.experiment.own_code import said
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import json_line, naming, write_text
from ragassay.progress import NoProgress, Progress
from ragassay.records import Answer, Query

from .isolated import Isolated, NoAnswer, Refused
from .own_agents import own_answer

_SAID_EVERY_S = 15.0


@dataclass(frozen=True)
class PythonAgent:
    """A user's callable and where its answers are kept until the stage is done; `code` is its module's digest.

    Its process runs until `close`.
    """

    name: str
    system: Isolated
    code: str
    partial: Path
    max_concurrency: int

    def close(self) -> None:
        """End the process, and all that it started."""
        self.system.close()


def load_python_agent(agent: AgentSettings, workspace: Workspace) -> PythonAgent:
    """Start a process that imports the callable (or LangChain Runnable) that `agent.callable` names.

    Raises InputError where the module cannot be imported or what it names cannot be called.
    """
    at_once = workspace.experiment.run.max_concurrency
    system = Isolated(agent.name, str(agent.callable), str(workspace.corpus), at_once, agent.timeout_s)
    try:
        code = system.load()
    except Refused as error:
        settings = workspace.corpus / "experiment.toml"
        raise InputError(error.problem, file=settings, remedy=error.remedy) from None
    return PythonAgent(agent.name, system, code, workspace.answers(f"{agent.name}.partial"), at_once)


def ask_python_agent(
    agent: PythonAgent, queries: Sequence[Query], passage_ids: AbstractSet[str], progress: Progress | None = None
) -> list[Answer]:
    """The answers in the order of `queries`; what the callable raises or wrongly returns is a record's error.

    So is a query that takes too long or ends the callable's process. Up to `max_concurrency` are asked at a time. Each
    answer is appended to the partial file, from where a later call takes those of the same query text and module;
    records with errors are asked for again.
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
    progress = NoProgress() if progress is None else progress
    agent.partial.parent.mkdir(parents=True, exist_ok=True)
    progress.start(f"answer: agent {agent.name}", len(queries))
    try:
        for _ in answers:
            progress.advance("cached", None)
        futures = {pool.submit(_answer, agent, query, passage_ids) for query in owed}
        with naming(agent.partial), agent.partial.open("a", encoding="utf-8", errors="surrogatepass") as stream:
            for answer in _as_they_come(futures, progress):
                answers[answer.query_id] = answer
                stream.write(json_line({"key": keys[answer.query_id], "answer": answer.dump()}))
                stream.flush()
    except BaseException:
        agent.close()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        progress.stop()
    return [answers[query.id] for query in queries]


def _as_they_come(futures: set[Future[Answer]], progress: Progress) -> Iterator[Answer]:
    """Each answer when it is there; where none comes, how far it is is said now and then."""
    while futures:
        done, futures = wait(futures, _SAID_EVERY_S, FIRST_COMPLETED)
        if not done:
            progress.show()
        for answer in (future.result() for future in done):
            progress.advance("done" if answer.error is None else "failed", None, answer.error)
            yield answer


def _answer(agent: PythonAgent, query: Query, passage_ids: AbstractSet[str]) -> Answer:
    try:
        return own_answer(agent.system.ask(query.text), query.id, agent.name, passage_ids)
    except NoAnswer as error:
        return Answer(query_id=query.id, agent=agent.name, answer=None, error=str(error))
    except ValueError as error:
        return Answer(query_id=query.id, agent=agent.name, answer=None, error=said(error))


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
