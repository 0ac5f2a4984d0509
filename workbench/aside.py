"""Work that takes seconds, in processes of its own, so that no page waits for it: the last result is kept."""

from __future__ import annotations

import multiprocessing
import signal
import sqlite3
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Event, Thread
from typing import Any

from ragassay.cores import why_ended
from ragassay.errors import InputError, RagassayError

from .asked import Bench
from .index.build import Keeper
from .index.read import Index
from .moved import moved
from .views.test_set import read_test_set

_LOOKS_AGAIN_S = 1.0


class Ahead:
    """A thread that reads the test sets, and what moved between each folder and the one that Compare sets beside it.

    All of it is kept where the views find it; a fault is left for the view to say.
    """

    def __init__(self, benches: Mapping[str, Bench], keeper: Keeper) -> None:
        self._benches, self._keeper, self._closed = list(benches.values()), keeper, Event()
        self._thread = Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Stop before the next part, and wait until that is so: indexes are closed after it."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        for bench in self._benches:
            with suppress(InputError, OSError, sqlite3.Error):
                found = read_test_set(bench.workspace)
                _ = found.bars, found.strips, found.reasons
        first = self._benches[0]
        indexes = [(bench, self._index(bench)) for bench in (self._benches if len(self._benches) > 1 else ())]
        for bench, index in indexes:
            other = next((one for _, one in indexes[1:]), None) if bench is first else indexes[0][1]
            if index is not None and other is not None and not self._closed.is_set():
                with suppress(InputError, OSError, sqlite3.Error):
                    moved(index, other)

    def _index(self, bench: Bench) -> Index | None:
        """The folder's index once it is made; None where it cannot be, or the server ends."""
        while not self._keeper.is_made(bench):  # asking for it would keep pages waiting
            if self._closed.wait(_LOOKS_AGAIN_S):
                return None
        return self._keeper.index(bench)


@dataclass(frozen=True)
class Told:
    """What there is of some work: the last value and the one before it, why the last came to nothing, what it was of.

    busy: whether newer work is under way.
    """

    value: Any = None
    before: Any = None
    error: str | None = None
    stamp: str | None = None
    busy: bool = False


@dataclass
class _Work:
    told: Told = Told()
    process: SpawnProcess | None = None
    heard: Connection | None = None
    stamp: str = ""


class Aside:
    """Of each key one process at a time; what is asked for meanwhile is begun when that has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._works: dict[str, _Work] = {}

    def told(self, key: str, stamp: str | None = None, work: Callable[..., Any] | None = None, *given: Any) -> Told:
        """What there is of `key`; begins `work(*given)` where what there is was not of `stamp`. Never waits.

        work: a module's function; it, its arguments and its result must pickle.
        """
        with self._lock:
            one = self._works.setdefault(key, _Work())
            _take(one)
            if work is not None and stamp is not None and one.process is None and stamp != one.told.stamp:
                _begin(one, stamp, work, given)
            told = one.told
            return Told(told.value, told.before, told.error, told.stamp, one.process is not None)

    def close(self) -> None:
        """End what is under way."""
        with self._lock:
            for one in self._works.values():
                if one.process is not None:
                    one.process.kill()
                    one.process.join()
            self._works.clear()


def _begin(one: _Work, stamp: str, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    context = multiprocessing.get_context("spawn")
    one.heard, says = context.Pipe(duplex=False)
    one.process, one.stamp = context.Process(target=_do, args=(says, work, given)), stamp
    one.process.start()
    says.close()


def _take(one: _Work) -> None:
    """What the process has said, if it has."""
    if one.process is None or one.heard is None or not one.heard.poll():
        return
    try:
        value, error = one.heard.recv()
        one.process.join()
    except EOFError:
        one.process.join()
        value, error = None, why_ended(one.process.exitcode or 0)
    one.heard.close()
    kept = one.told.value
    one.told = Told(kept if error else value, one.told.before if error else kept, error, one.stamp)
    one.process = one.heard = None


def _do(says: Connection, work: Callable[..., Any], given: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; ours is ended by us
    try:
        says.send((work(*given), None))
    except RagassayError as error:
        says.send((None, str(error)))
    except Exception as error:  # noqa: BLE001 - whatever it is, the page says it
        says.send((None, f"{type(error).__name__}: {error}"))
