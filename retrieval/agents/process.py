"""One process that answers queries for a user's own system, which may hang, die or write without end."""

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
from typing import Any, BinaryIO

from ragassay.child_process import import_environment, why_ended
from ragassay.keys import without_keys
from ragassay.text import plain

from . import worker

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

    def load(self, load: worker.Load, timeout_s: float) -> dict[str, Any]:
        """The first thing to be asked: {code} or {problem, remedy}. Raises ProcessEnded and TookTooLong."""
        return self._ask({"load": asdict(load)}, timeout_s)

    def ask(self, query: str, timeout_s: float, k: int | None = None) -> dict[str, Any]:
        """The fields of the answer; with `k`, the ranking of so many passages or its error.

        Raises ProcessEnded and TookTooLong, after which the query may still be at work.
        """
        asked = {"query": query} if k is None else {"query": query, "k": k}
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
        self._finish(self._why or why_ended(status) + self._last_words())

    def _finish(self, why: str) -> None:
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

    def _last_words(self) -> str:
        lines = [line for line in self._said.decode("utf-8", "replace").splitlines() if line.strip()]
        return f"; the last it printed: {plain(without_keys(lines[-1].strip()))[:200]}" if lines else ""
