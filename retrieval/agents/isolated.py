"""A user's own system behind processes of its own: a query that hangs or ends one is an error, and the others go on."""

from __future__ import annotations

import os
import threading
from typing import Any, Literal

from .process import AgentProcess, ProcessEnded, TookTooLong
from .worker import Load

LOADING_S = 600.0
"""How long the import of the system's module may take."""
SIGN_OF_LIFE_S = 5.0
_STUCK = "the process did not respond any more"
PATIENCE = 10
"""After so many ends of processes in a row, each at one query and none with an answer between, no more are asked."""


class Refused(Exception):
    """The system cannot be imported or called: `problem` and `remedy` say why."""

    def __init__(self, problem: str, remedy: str | None) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


class NoAnswer(Exception):
    """A query has no answer, and why."""


class Isolated:
    """The system `callable` names, asked by up to `at_once` threads in one process.

    Where a query takes longer than `timeout_s` seconds, others get a new process, and the old one is ended when those
    under way in it are done. Where the process ends, or a query keeps all others in it from running, those that were
    under way together are asked once more, each alone in a process: only what ends processes by itself has no answer.
    """

    def __init__(
        self,
        agent: str,
        callable: str,
        corpus: str,
        at_once: int,
        timeout_s: float,
        kind: Literal["agent", "retriever"] = "agent",
    ) -> None:
        limit_s = max(LOADING_S, timeout_s) + 60
        self._setup = Load(agent, callable, corpus, at_once, os.environ.get("PYTHONPATH"), limit_s, kind)
        self._named, self._timeout_s = f"{kind} '{agent}': the module of {callable}", timeout_s
        self._lock, self._alone_lock = threading.Lock(), threading.Lock()
        self._under_way: dict[AgentProcess, int] = {}
        self._shared: AgentProcess | None = None
        self._alone: AgentProcess | None = None
        self._ends_in_a_row = 0
        self._closed = False

    def load(self) -> str:
        """Start, and give the digest of the system's code. Raises Refused."""
        with self._lock:
            self._shared, code = self._start()
        return code

    def ask(self, query: str, k: int | None = None) -> dict[str, Any]:
        """The fields of the answer; of a retriever, asked for `k`, its ranking or error. Raises NoAnswer."""
        try:
            answer = self._ask(query, k)
        except TookTooLong:
            raise NoAnswer(f"no answer within {self._timeout_s:g} s (timeout_s)") from None
        except Refused as error:
            self._ends_in_a_row += 1
            raise NoAnswer(f"its process could not be started again: {error.problem}") from None
        except ProcessEnded as error:
            self._ends_in_a_row += 1
            raise NoAnswer(str(error)) from None
        self._ends_in_a_row = 0
        return answer

    def close(self) -> None:
        """End every process at once."""
        self._closed = True
        for process in list(self._under_way):
            process.kill("stopped")
            process.join()

    def _ask(self, query: str, k: int | None) -> dict[str, Any]:
        process = self._lend()
        try:
            return process.ask(query, self._timeout_s, k)
        except TookTooLong:
            self._forget(process)
            if self._under_way[process] == 1 or process.responds(SIGN_OF_LIFE_S):
                raise
            process.kill(_STUCK)
        except ProcessEnded as error:
            self._forget(process)
            if error.under_way == 1 or self._closed:
                raise
        finally:
            self._give_back(process)
        return self._ask_alone(query, k)

    def _lend(self) -> AgentProcess:
        with self._lock:
            self._check()
            if self._shared is None:
                self._shared, _ = self._start()
            self._under_way[self._shared] += 1
            return self._shared

    def _check(self) -> None:
        if self._closed:
            raise ProcessEnded("stopped", 1)
        if self._ends_in_a_row >= PATIENCE:
            raise ProcessEnded(f"not asked: its process ended at {PATIENCE} queries in a row", 1)

    def _give_back(self, process: AgentProcess) -> None:
        with self._lock:
            self._under_way[process] -= 1
            done = process is not self._shared and not self._under_way[process]
        if done:
            self._end(process)

    def _forget(self, process: AgentProcess) -> None:
        with self._lock:
            if self._shared is process:
                self._shared = None

    def _ask_alone(self, query: str, k: int | None) -> dict[str, Any]:
        with self._alone_lock:
            self._check()
            if self._alone is None:
                self._alone, _ = self._start()
            try:
                return self._alone.ask(query, self._timeout_s, k)
            except (TookTooLong, ProcessEnded):
                self._end(self._alone)
                self._alone = None
                raise

    def _start(self) -> tuple[AgentProcess, str]:
        process = AgentProcess()
        self._under_way[process] = 0
        if self._closed:
            process.kill("stopped")
        try:
            loaded = process.load(self._setup, LOADING_S)
        except TookTooLong:
            self._end(process)
            raise Refused(f"{self._named} is not imported after {LOADING_S:g} s", None) from None
        except ProcessEnded as error:
            self._end(process)
            raise Refused(f"{self._named} cannot be imported ({error})", None) from None
        if "problem" in loaded:
            self._end(process)
            raise Refused(loaded["problem"], loaded["remedy"])
        return process, loaded["code"]

    def _end(self, process: AgentProcess) -> None:
        process.kill()
        process.join()
        self._under_way.pop(process, None)
