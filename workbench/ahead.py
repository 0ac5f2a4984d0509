"""What views take long for when first looked at, worked out while the server starts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from threading import Event, Thread

from ragassay.errors import InputError

from .bench import Bench
from .compared.moved import moved
from .index.keeper import Keeper
from .index.read import Index
from .test_set import read_test_set

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
