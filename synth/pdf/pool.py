"""Reading documents over all cores, or over a cluster, in processes that may die without taking anything else along.

A process that crashes, is killed or exceeds its time is replaced; the pages it was at are asked for again, one by one,
so that only a page that brings processes down by itself is lost, and that page is recorded with its error.

On this machine joblib's threads wait for as many processes, each of which keeps its document open. On a cluster each
piece of work starts a process of its own, as nothing would end one that was kept.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from ragassay.cores import Cores
from ragassay.cores import usable_cores as usable_cores

from .process import MOST_MEMORY, Limits, Pages, PageText, PdfProcess, Probe, Whole
from .readers import ReaderName

R = TypeVar("R")
T = TypeVar("T")

PAGES_PER_CHUNK = 12
SECONDS_TO_OPEN = 60.0
SECONDS_PER_PAGE = 30.0

Lend = Callable[[], AbstractContextManager[PdfProcess]]
"""Gives a process for one piece of work."""


@dataclass
class PdfPool:
    """Processes that read, with `reader` unless told otherwise: `with PdfPool(reader, n) as pool`.

    They start when first needed.
    `n_workers` counts where `cores` are this machine's. A cluster must see the documents under the same paths.
    """

    reader: ReaderName
    n_workers: int = field(default_factory=usable_cores)
    cores: Cores = field(default_factory=Cores)

    def __post_init__(self) -> None:
        self._processes = [PdfProcess() for _ in range(self.n_workers)]
        self._idle: queue.LifoQueue[PdfProcess] = queue.LifoQueue()
        for process in self._processes:
            self._idle.put(process)

    def __enter__(self) -> PdfPool:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.stop()

    def probe(self, paths: Sequence[Path], reader: ReaderName | None = None) -> list[Probe]:
        """The number of pages and the outline of each document, in the order of `paths`."""
        documents = [Pages(str(path), reader or self.reader) for path in paths]
        work = partial(_probe, self._lend(), _limits())
        return [probe for _, probe in sorted(self._each(work, documents), key=lambda pair: pair[0])]

    def read(
        self,
        wanted: Sequence[tuple[Path, Sequence[int]]],
        progress: Callable[[int, int], None] | None = None,
        reader: ReaderName | None = None,
    ) -> list[list[PageText]]:
        """The wanted pages (1-based, ascending) of each document, in the order asked for.

        `progress` is called with (pages done, pages in all) from the calling thread.
        """
        results: list[list[PageText]] = [[] for _ in wanted]
        total, done = sum(len(pages) for _, pages in wanted), 0
        chunks = [
            (index, Pages(str(path), reader or self.reader, first, last))
            for index, (path, pages) in enumerate(wanted)
            for first, last in _chunks(pages)
        ]
        work = partial(_read, self._lend(), _limits())
        for number, texts in self._each(work, [chunk for _, chunk in chunks]):
            results[chunks[number][0]].extend(texts)
            done += len(texts)
            if progress:
                progress(done, total)
        return [sorted(texts, key=lambda text: text.page) for texts in results]

    def convert(self, documents: Sequence[tuple[Path, str]]) -> list[Whole]:
        """Each document that is no PDF, by its path and kind, in their order."""
        work = partial(_convert, self._lend(), SECONDS_TO_OPEN)
        items = [(str(path), kind) for path, kind in documents]
        return [whole for _, whole in sorted(self._each(work, items), key=lambda pair: pair[0])]

    def _each(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R]]:
        return self.cores.each(work, items, here="threads", n_jobs=self.n_workers)

    def _lend(self) -> Lend:
        return a_new_process if self.cores.elsewhere else self._one_of_ours

    @contextmanager
    def _one_of_ours(self) -> Iterator[PdfProcess]:
        process = self._idle.get()
        try:
            yield process
        finally:
            self._idle.put(process)


@contextmanager
def a_new_process() -> Iterator[PdfProcess]:
    """A process for one piece of work, on whichever machine that is done."""
    process = PdfProcess()
    try:
        yield process
    finally:
        process.stop()


def _probe(lend: Lend, limits: Limits, document: Pages) -> Probe:
    with lend() as process:
        return process.probe(document, limits)


def _read(lend: Lend, limits: Limits, pages: Pages) -> list[PageText]:
    with lend() as process:
        return process.read(pages, limits)


def _convert(lend: Lend, timeout_s: float, document: tuple[str, str]) -> Whole:
    with lend() as process:
        return process.convert(*document, timeout_s)


def _limits() -> Limits:
    return Limits(SECONDS_TO_OPEN, SECONDS_PER_PAGE, MOST_MEMORY)


def _chunks(pages: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of consecutive pages, at most PAGES_PER_CHUNK long, as (first, last)."""
    first = last = None
    for page in pages:
        if first is not None and last is not None and (page != last + 1 or page - first == PAGES_PER_CHUNK):
            yield first, last
            first = None
        first, last = (page if first is None else first), page
    if first is not None and last is not None:
        yield first, last
