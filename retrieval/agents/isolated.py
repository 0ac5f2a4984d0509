"""A user's own system behind processes of its own: a query that hangs or ends one is an error, and the others go on."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Literal

from ragassay.cores import import_environment, why_ended
from ragassay.errors import InputError
from ragassay.records import Asked
from ragassay.text import plain, without_keys

from . import worker
from .worker import Load

_LONGEST_LINE = worker.LARGEST_ANSWER + 10_000
_KEPT_OF_STDERR = 2_000
_NUMBER_OF_LOAD = 0


class ProcessEnded(Exception):
    """It ended, or had to be ended; `under_way` is how many queries were being answered, this one among them.

    It is 0 where the process had ended before this one was asked.
    """

    def __init__(self, why: str, under_way: int) -> None:
        super().__init__(why)
        self.under_way = under_way


class TookTooLong(Exception):
    """No answer came in time."""


class AgentProcess:
    """Starts when it is made; `ask` may be called by several threads. After `kill` every call raises ProcessEnded.

    What the system prints is not shown; the last of it is told where the process ends.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603  (our own module)
            [sys.executable, "-P", "-m", worker.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=import_environment(),
            start_new_session=True,
        )
        self._lock = threading.Lock()
        self._asked: dict[int, Future[dict[str, Any]]] = {}
        self._last_number = _NUMBER_OF_LOAD - 1
        self._to_write: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._said = b""
        self._why: str | None = None
        self._ended = False
        assert self._process.stdin and self._process.stdout and self._process.stderr
        reading = self._thread(self._read, self._process.stdout)
        listening = self._thread(self._listen, self._process.stderr)
        self._thread(self._write, self._process.stdin)
        self._waiting = self._thread(self._wait, (reading, listening))

    def load(self, load: Load, timeout_s: float) -> dict[str, Any]:
        """The first thing to be asked: {code} or {problem, remedy}. Raises ProcessEnded and TookTooLong."""
        return self._ask({"load": asdict(load)}, timeout_s)

    def ask(self, query: str, timeout_s: float, k: int | None = None) -> dict[str, Any]:
        """The fields of the answer; with `k`, the ranking of so many passages or its error.

        Raises ProcessEnded and TookTooLong, after which the query may still be at work.
        """
        asked: dict[str, Any] = {"query": query}
        if k is not None:
            asked["k"] = k
        elif isinstance(query, Asked):
            asked["history"] = [{"role": turn.role, "text": turn.text} for turn in query.history]
        answer: dict[str, Any] = self._ask(asked, timeout_s)["answer"]
        return answer

    def responds(self, timeout_s: float) -> bool:
        """Whether it takes note of a word in time; not while some code keeps Python's lock to itself."""
        try:
            self._ask({"ping": True}, timeout_s)
        except (ProcessEnded, TookTooLong):
            return False
        return True

    def kill(self, why: str | None = None) -> None:
        """End it and all it started, at once; those who wait for an answer see it end."""
        self._why = self._why or why
        self._end_group()
        self._to_write.put(None)

    def join(self) -> None:
        """Wait until it has ended, after `kill`."""
        self._waiting.join()

    def _ask(self, request: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            self._last_number += 1
            number = self._last_number
            if self._ended:
                raise ProcessEnded(self._why or "the process ended", 0)
            self._asked[number] = future
        self._to_write.put((json.dumps({"number": number, **request}) + "\n").encode())
        try:
            return future.result(timeout_s)
        except TimeoutError:
            raise TookTooLong from None
        finally:
            with self._lock:
                self._asked.pop(number, None)

    def _thread(self, work: Any, subject: Any) -> threading.Thread:
        thread = threading.Thread(target=work, args=(subject,), daemon=True)
        thread.start()
        return thread

    def _write(self, stream: BinaryIO) -> None:
        with suppress(OSError):
            while (data := self._to_write.get()) is not None:
                stream.write(data)
                stream.flush()
        with suppress(OSError):
            stream.close()

    def _read(self, stream: BinaryIO) -> None:
        """Never more than one answer of bearable size is taken in."""
        with stream:
            while line := stream.readline(_LONGEST_LINE):
                if not self._take(line):
                    self.kill("the process wrote what is no answer to where answers are expected")
                    return

    def _take(self, line: bytes) -> bool:
        try:
            reply = json.loads(line)
            number = int(reply["number"])
            fitting = number == _NUMBER_OF_LOAD or isinstance(reply["answer"], dict)
        except (ValueError, TypeError, KeyError, RecursionError):
            return False
        with self._lock:
            future = self._asked.pop(number, None) if fitting else None
        if future is not None:
            future.set_result(reply)
        return fitting and 0 <= number <= self._last_number

    def _listen(self, stream: BinaryIO) -> None:
        with stream:
            while data := os.read(stream.fileno(), 65_536):
                self._said = (self._said + data)[-_KEPT_OF_STDERR:]

    def _wait(self, threads: tuple[threading.Thread, ...]) -> None:
        """Until it has ended; then nobody waits for it any more, whoever else holds its pipes."""
        if sys.platform != "win32":
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()
        self._end_group()
        for thread in threads:
            thread.join(2)
        status = self._process.wait()
        self._to_write.put(None)
        said = [line.strip() for line in self._said.decode("utf-8", "replace").splitlines() if line.strip()]
        last = f"; the last it printed: {plain(without_keys(said[-1]))[:200]}" if said else ""
        why = self._why or why_ended(status) + last
        with self._lock:
            self._ended, self._why = True, why
            left, self._asked = list(self._asked.values()), {}
        for future in left:
            future.set_exception(ProcessEnded(why, len(left)))

    def _end_group(self) -> None:
        if sys.platform == "win32":
            self._process.kill()
        elif self._process.returncode is None:  # once it has been waited for, its number may be another's
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)


LOADING_S = 600.0
"""How long the import of the system's module may take."""
SIGN_OF_LIFE_S = 5.0
_STUCK = "the process did not respond any more"
PATIENCE = 10
"""After so many ends of processes in a row, each at one query and none with an answer between, no more are asked."""


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
        """Start, and give the digest of the system's code. Raises InputError where it cannot be imported or called."""
        with self._lock:
            self._shared, code = self._start()
        return code

    def ask(self, query: str, k: int | None = None) -> dict[str, Any]:
        """The fields of the answer; of a retriever, asked for `k`, its ranking or error. Raises NoAnswer."""
        try:
            answer = self._ask(query, k)
        except TookTooLong:
            raise NoAnswer(f"no answer within {self._timeout_s:g} s (timeout_s)") from None
        except InputError as error:
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
            with self._lock:
                self._under_way[process] -= 1
                done = process is not self._shared and not self._under_way[process]
            if done:
                self._end(process)
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
        """A process, and the digest of the system's code. Raises InputError where that cannot be imported or called."""
        process = AgentProcess()
        self._under_way[process] = 0
        if self._closed:
            process.kill("stopped")
        try:
            loaded = process.load(self._setup, LOADING_S)
        except TookTooLong:
            loaded = {"problem": f"{self._named} is not imported after {LOADING_S:g} s"}
        except ProcessEnded as error:
            loaded = {"problem": f"{self._named} cannot be imported ({error})"}
        if "problem" in loaded:
            self._end(process)
            file = Path(self._setup.corpus) / "experiment.toml"
            raise InputError(loaded["problem"], file=file, remedy=loaded.get("remedy"))
        return process, loaded["code"]

    def _end(self, process: AgentProcess) -> None:
        process.kill()
        process.join()
        self._under_way.pop(process, None)
