"""Reading PDFs over all cores, in worker processes that may die without taking anything else along.

A worker that crashes, is killed or exceeds its time is replaced; the pages it was at are asked for again, one by one,
so that only a page that brings workers down by itself is lost, and that page is recorded with its error.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synth.pdf_readers import OutlineEntry, ReaderName

PAGES_PER_CHUNK = 24
SECONDS_TO_OPEN = 60.0
SECONDS_PER_PAGE = 30.0
TRIES_OF_A_PAGE = 2


class WorkerDied(Exception):
    """The worker process ended, or had to be ended, while it was at a request."""


@dataclass(frozen=True)
class Probe:
    """What is known of a document before its pages are read; with `error` set it cannot be opened at all."""

    pages: int = 0
    outline: tuple[OutlineEntry, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class PageText:
    """The raw text of a page (1-based); exactly one of `text` and `error` is set."""

    page: int
    text: str | None = None
    error: str | None = None


@dataclass
class PdfPool:
    """Workers for one reader: `with PdfPool(reader, n) as pool`. They start when first needed."""

    reader: ReaderName
    n_workers: int = field(default_factory=lambda: usable_cores())

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(self.n_workers)
        self._closing = threading.Event()
        self._workers = [_Worker() for _ in range(self.n_workers)]
        self._idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
        for worker in self._workers:
            self._idle.put(worker)

    def __enter__(self) -> PdfPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            worker.stop()

    def probe(self, paths: Sequence[Path]) -> list[Probe]:
        """The number of pages and the outline of each document, in the order of `paths`."""
        return list(self._threads.map(self._probe, paths))

    def read(
        self, wanted: Sequence[tuple[Path, Sequence[int]]], progress: Callable[[int, int], None] | None = None
    ) -> list[list[PageText]]:
        """The wanted pages (1-based, ascending) of each document, in the order asked for.

        `progress` is called with (pages done, pages in all) from the calling thread.
        """
        results: list[list[PageText]] = [[] for _ in wanted]
        total, done = sum(len(pages) for _, pages in wanted), 0
        futures = {
            self._threads.submit(self._read, path, first, last): index
            for index, (path, pages) in enumerate(wanted)
            for first, last in _chunks(pages)
        }
        for future in as_completed(futures):
            texts = future.result()
            results[futures[future]].extend(texts)
            done += len(texts)
            if progress:
                progress(done, total)
        return [sorted(texts, key=lambda text: text.page) for texts in results]

    def _probe(self, path: Path) -> Probe:
        try:
            answer = self._ask({"path": str(path), "reader": self.reader}, SECONDS_TO_OPEN)
        except WorkerDied as error:
            return Probe(error=f"{self.reader} could not open it ({error})")
        if "error" in answer:
            return Probe(error=answer["error"])
        return Probe(answer["pages"], tuple(OutlineEntry(*entry) for entry in answer["outline"]))

    def _read(self, path: Path, first: int, last: int, tries: int = TRIES_OF_A_PAGE) -> list[PageText]:
        request = {"path": str(path), "reader": self.reader, "first": first, "last": last}
        pages = range(first, last + 1)
        try:
            answer = self._ask(request, SECONDS_TO_OPEN + SECONDS_PER_PAGE * len(pages))
        except WorkerDied as error:
            if self._closing.is_set() or (len(pages) == 1 and tries == 1):
                return [PageText(page, error=f"{self.reader} could not read it ({error})") for page in pages]
            left = TRIES_OF_A_PAGE if len(pages) > 1 else tries - 1
            return [text for page in pages for text in self._read(path, page, page, left)]
        if "error" in answer:
            return [PageText(page, error=answer["error"]) for page in pages]
        return [PageText(page, **text) for page, text in zip(pages, answer["texts"], strict=True)]

    def _ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        with self._worker() as worker:
            return worker.ask(request, timeout_s)

    @contextmanager
    def _worker(self) -> Iterator[_Worker]:
        worker = self._idle.get()
        try:
            yield worker
        finally:
            self._idle.put(worker)


def usable_cores() -> int:
    """The cores that this process may use, at least 1."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Worker:
    """One worker process, started at the first request and again after it died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """The worker's answer. Raises WorkerDied when it ends first or takes longer than `timeout_s`."""
        process = self._process = self._process or _start()
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
            raise WorkerDied(_why(process.returncode) if in_time else f"it took longer than {timeout_s:.0f} s")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def kill(self) -> None:
        """End the process at once; a thread that waits for its answer sees it end."""
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


def _why(status: int) -> str:
    return f"the process was ended by signal {-status}" if status < 0 else f"the process ended with status {status}"


def _start() -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    return subprocess.Popen(
        [sys.executable, "-m", "synth.pdf_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        encoding="ascii",
    )


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
