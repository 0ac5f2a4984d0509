"""A system that takes part as a Python callable (`kind = "python"`): asked in a process of its own, answers kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.plugins import importable, said
from ragassay.experiment.variant_settings import AgentSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_json, json_line, naming, write_text
from ragassay.layouts.questions import question_file
from ragassay.progress import NoProgress, Progress
from ragassay.records import Answer, Query
from ragassay.text import plain

from ..rankers.ranker import Failed, Ranker, Ranking, all_found
from .isolated import Isolated, NoAnswer
from .own_agents import no_answers_yet, own_answer, source_problem
from .worker import REMEDIES

if TYPE_CHECKING:
    from .rag import PassageRetriever as PassageRetriever

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
    return PythonAgent(agent.name, system, system.load(), workspace.answers(f"{agent.name}.partial"), at_once)


def ask_python_agent(
    agent: PythonAgent, queries: Sequence[Query], passage_ids: AbstractSet[str], progress: Progress | None = None
) -> list[Answer]:
    """The answers in the order of `queries`; what the callable raises or wrongly returns is a record's error.

    So is a query that takes too long or ends the callable's process. Up to `max_concurrency` are asked at a time. Each
    answer is appended to the partial file, from where a later call takes those of the same query text and module;
    records with errors are asked for again.
    """
    before = {query.id: [[turn.dump() for turn in query.history]] if query.history else [] for query in queries}
    keys = {query.id: digest_json([agent.code, query.id, query.text, *before[query.id]]) for query in queries}
    kept = _kept(agent.partial)
    there = {query: kept[key] for query, key in keys.items() if key in kept}
    answers = {query: answer for query, answer in there.items() if passage_ids >= set(answer.passages)}
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
    except (NoAnswer, ValueError) as error:
        why = str(error) if isinstance(error, NoAnswer) else said(error)
        return Answer(query_id=query.id, agent=agent.name, answer=None, error=why)


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


def check_own_agent(agent: AgentSettings, workspace: Workspace, *, run_code: bool) -> None:
    """Raises InputError for a callable that cannot be imported or does not take a query's text alone.

    Its module is imported only where the user's code may `run_code`; without, what its source tells is checked. For a
    file of answers that is not there it is raised where the queries are: those that models write come first.
    """
    if agent.kind == "python":
        if run_code:
            with importable(workspace.corpus):
                load_python_agent(agent, workspace).close()
        if problem := source_problem(str(agent.callable), workspace.corpus):
            settings, remedy = workspace.corpus / "experiment.toml", REMEDIES["agent"]
            raise InputError(f"agent '{agent.name}': {agent.callable}: {problem}", file=settings, remedy=remedy)
    elif not (file := workspace.corpus / str(agent.path)).exists():
        own = workspace.experiment.questions.source == "own"
        if own or workspace.queries.exists():
            queries = (question_file(workspace.corpus) if own else None) or workspace.queries
            raise no_answers_yet(agent.name, file, queries)


def __getattr__(name: str) -> object:
    """`PassageRetriever`, made of LangChain, which is slow to import: when somebody asks for it."""
    if name != "PassageRetriever":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from .rag import PassageRetriever

    return PassageRetriever


TIMEOUT_S = 300.0


class PythonRanker(Ranker):
    """What `callable` ("module:name") finds: a function of a query's text and k, or a LangChain retriever.

    A function gives ids of passages, or (id, score) with the best first; a retriever gives documents with
    `metadata["id"]`. The module is looked for in `folder` first, and imported in a process of its own when this is
    made: the process runs until `close`. passage_ids: those of the corpus. at_once: queries asked at a time. timeout_s:
    for one query. Raises InputError where the module cannot be imported or what it names cannot be called.
    """

    def __init__(
        self,
        name: str,
        callable: str,
        folder: Path,
        passage_ids: AbstractSet[str],
        *,
        at_once: int,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._ids, self._at_once = passage_ids, at_once
        self._system = Isolated(name, callable, str(folder), at_once, timeout_s, "retriever")
        self.code = self._system.load()

    def search(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """At most `k` passages for each query.

        Raises QueriesFailed where it raises or gives something else for a query, takes too long, or ends its process.
        """
        if not queries:
            return []
        with ThreadPoolExecutor(max_workers=max(1, min(self._at_once, len(queries)))) as pool:
            try:
                return all_found(list(pool.map(lambda query: self._found(query, k), queries)))
            except KeyboardInterrupt:
                self.close()
                raise

    def close(self) -> None:
        """End the process, and all that it started."""
        self._system.close()

    def _found(self, query: str, k: int) -> Ranking | Failed:
        try:
            given = self._system.ask(query, k)
        except NoAnswer as error:
            return Failed(str(error))
        if "error" in given:
            return Failed(given["error"])
        ranking = [(str(identifier), float(score)) for identifier, score in given["ranking"]]
        if unknown := next((identifier for identifier, _ in ranking if identifier not in self._ids), None):
            return Failed(f"passage '{plain(unknown)}' is not in corpus.jsonl; name passages by their _id there")
        return ranking
