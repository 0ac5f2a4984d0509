"""Processes that read documents for us, each of which may crash, hang or be killed without taking anything else along.

A process that crashes, is killed or exceeds its time is replaced; the pages it was at are asked for again, one by one,
so that only a page that brings processes down by itself is lost, and that page is recorded with its error. On this
machine threads wait for as many processes, each of which keeps its document open. On a cluster each piece of work
starts a process of its own, as nothing would end one that was kept.
"""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from ragassay.cores import Cores, import_environment, too_much, usable_cores, why_ended

from . import worker
from .readers import OutlineEntry, ReaderName

TRIES_OF_A_PAGE = 2
MOST_MEMORY = 2_000_000_000
"""Bytes that reading a PDF may take. Manuals of some hundred pages take a twentieth of it."""


class WorkerDied(Exception):
    """The process ended, or had to be ended, while it was at a request."""


@dataclass(frozen=True)
class Limits:
    """Seconds that a process may take to open a PDF, and then for each page, and bytes of memory for all of it."""

    to_open_s: float
    a_page_s: float
    memory: int = MOST_MEMORY


@dataclass(frozen=True)
class Probe:
    """What is known of a document before its pages are read; with `error` set it cannot be opened at all."""

    pages: int = 0
    outline: tuple[OutlineEntry, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class PageText:
    """The raw text of a page (1-based); exactly one of `text` and `error` is set. `downwards`: set in columns."""

    page: int
    text: str | None = None
    error: str | None = None
    downwards: bool = False


@dataclass(frozen=True)
class Pages:
    """The pages `first` to `last` (1-based) of the document at `path`, to be read by `reader`."""

    path: str
    reader: ReaderName
    first: int = 1
    last: int = 1


@dataclass(frozen=True)
class Whole:
    """A document that is converted as a whole; `printed` where its pages are those of paper, with heads and feet."""

    probe: Probe
    pages: tuple[PageText, ...] = ()
    printed: bool = False


class PdfProcess:
    """One process, started at the first request and again after it died. After `kill` it dies for good.

    module: what it runs, which answers one JSON request a line with one JSON line.
    """

    def __init__(self, module: str = worker.__name__) -> None:
        self._module = module
        self._process: subprocess.Popen[str] | None = None
        self._closing = threading.Event()

    def probe(self, document: Pages, limits: Limits) -> Probe:
        """The number of pages and the outline of the document, or why it cannot be opened."""
        asked = {"path": document.path, "reader": document.reader, "memory": limits.memory}
        answer = self._told(asked, limits.to_open_s, f"{document.reader} could not open it")
        return _probe(answer, answer.get("pages", 0))

    def read(self, wanted: Pages, limits: Limits, tries: int = TRIES_OF_A_PAGE) -> list[PageText]:
        """Each page's text or error. Pages that bring the process down are asked for one by one, each `tries` times."""
        request = {"path": wanted.path, "reader": wanted.reader, "memory": limits.memory}
        request |= {"first": wanted.first, "last": wanted.last}
        pages = range(wanted.first, wanted.last + 1)
        try:
            answer = self.ask(request, limits.to_open_s + limits.a_page_s * len(pages))
        except WorkerDied as error:
            if self._closing.is_set() or (len(pages) == 1 and tries == 1):
                return [PageText(page, error=f"{wanted.reader} could not read it ({error})") for page in pages]
            left = TRIES_OF_A_PAGE if len(pages) > 1 else tries - 1
            single = (Pages(wanted.path, wanted.reader, page, page) for page in pages)
            return [text for page in single for text in self.read(page, limits, left)]
        if "error" in answer:
            return [PageText(page, error=answer["error"]) for page in pages]
        return [PageText(page, **text) for page, text in zip(pages, answer["texts"], strict=True)]

    def convert(self, document: tuple[str, str], timeout_s: float) -> Whole:
        """All pages of a document that is no PDF, by its path and kind, or why it cannot be converted."""
        path, kind = document
        answer = self._told({"path": path, "convert": kind}, timeout_s, f"could not be converted from {kind}")
        pages = tuple(PageText(number, text) for number, text in enumerate(answer.get("pages", ()), 1))
        return Whole(_probe(answer, len(pages)), pages, answer.get("printed", False))

    def _told(self, request: dict[str, Any], timeout_s: float, failed: str) -> dict[str, Any]:
        """The answer, or as an error why there is none."""
        try:
            return self.ask(request, timeout_s)
        except WorkerDied as error:
            return {"error": f"{failed} ({error})"}

    def kill(self) -> None:
        """End the process at once, and for good; a thread that waits for its answer sees it end."""
        self._closing.set()
        if process := self._process:
            process.kill()

    def stop(self, patience_s: float = 0.0) -> None:
        """Wait for the process to end by itself, at most `patience_s`, then end it, and close its pipes."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
        process.kill()
        process.communicate()

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """The process's answer. Raises WorkerDied when it ends first or takes longer than `timeout_s`."""
        process = self._process = self._process or subprocess.Popen(  # noqa: S603  (our own module)
            [sys.executable, "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=import_environment(),
            encoding="ascii",
        )
        assert process.stdin and process.stdout
        timer = threading.Timer(timeout_s, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = ""
        finally:
            in_time = timer.is_alive()
            timer.cancel()
        if not line.endswith("\n"):
            self.stop(patience_s=5.0)
            why = why_ended(process.returncode)
            if "memory" in request and process.returncode == -signal.SIGABRT:
                # PDFium ends so where it is given no more memory, and does not say so
                why += f", as one is that {too_much(request['memory'])}"
            raise WorkerDied(why if in_time else f"it took longer than {timeout_s:.0f} s")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _probe(answer: Mapping[str, Any], n_pages: int) -> Probe:
    return Probe(n_pages, tuple(OutlineEntry(*entry) for entry in answer.get("outline", ())), answer.get("error"))


B = TypeVar("B")
R = TypeVar("R")
T = TypeVar("T")

PAGES_PER_CHUNK = 12
PAGES_OF_A_PROCESS = 120
"""A document of at least twice as many is shared out, to so many processes that each reads this much of it: each opens
the document, which takes pypdf longer the more pages it has."""
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
        found = dict(self._each(PdfProcess.probe, _limits(), documents))
        return [found[number] for number in range(len(documents))]

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
        n = min(self.n_workers, sum(max(1, len(pages) // PAGES_OF_A_PROCESS) for _, pages in wanted))
        for number, texts in self._each(PdfProcess.read, _limits(), [chunk for _, chunk in chunks], n):
            results[chunks[number][0]].extend(texts)
            done += len(texts)
            if progress:
                progress(done, total)
        return [sorted(texts, key=lambda text: text.page) for texts in results]

    def convert(self, documents: Sequence[tuple[Path, str]]) -> list[Whole]:
        """Each document that is no PDF, by its path and kind, in their order."""
        items = [(str(path), kind) for path, kind in documents]
        found = dict(self._each(PdfProcess.convert, SECONDS_TO_OPEN, items))
        return [found[number] for number in range(len(items))]

    def _each(
        self, ask: Callable[[PdfProcess, T, B], R], bounds: B, items: Sequence[T], n: int | None = None
    ) -> Iterator[tuple[int, R]]:
        """n: how many of our processes work at it, all of them where it is not said."""
        lend = a_new_process if self.cores.elsewhere else self._one_of_ours
        return self.cores.each(partial(_asked, lend, ask, bounds), items, here="threads", n_jobs=n or self.n_workers)

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


def _asked(lend: Lend, ask: Callable[[PdfProcess, T, B], R], bounds: B, item: T) -> R:
    with lend() as process:
        return ask(process, item, bounds)


def _limits() -> Limits:
    return Limits(SECONDS_TO_OPEN, SECONDS_PER_PAGE, MOST_MEMORY)


def _chunks(pages: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of consecutive pages, at most PAGES_PER_CHUNK long, as (first, last)."""
    for _, run in groupby(enumerate(pages), key=lambda place: place[1] - place[0]):
        numbers = [page for _, page in run]
        for at in range(0, len(numbers), PAGES_PER_CHUNK):
            yield numbers[at], numbers[at : at + PAGES_PER_CHUNK][-1]
