"""Reading over several worker processes, and going on when one of them dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support.pdf_maker import break_page, make_bomb, make_pdf

from ragassay.synth.pdf import process as pdf_pool
from ragassay.synth.pdf.process import Limits, Pages, PdfPool, PdfProcess, WorkerDied

PAGES = [f"This is page {n} of a long document.\nIt has a second line." for n in range(1, 121)]


@pytest.mark.parametrize(("reader", "workers"), [("pypdf", 1), ("pdfium", 3)])
def test_pages_come_back_in_order_from_any_number_of_workers(tmp_path: Path, reader: str, workers: int) -> None:
    a, b = make_pdf(tmp_path / "a.pdf", PAGES), make_pdf(tmp_path / "b.pdf", PAGES[:3])
    wanted = [(a, [n for n in range(1, 121) if n % 50]), (b, [1, 3])]
    with PdfPool(reader, workers) as pool:  # type: ignore[arg-type]
        assert [probe.pages for probe in pool.probe([a, b])] == [120, 3]
        results = pool.read(wanted)
    for (_, numbers), texts in zip(wanted, results, strict=True):
        assert [text.page for text in texts] == list(numbers)
        assert all(f"page {text.page} of" in (text.text or "") for text in texts)


def test_a_broken_page_does_not_lose_its_neighbours(tmp_path: Path) -> None:
    path = break_page(make_pdf(tmp_path / "a.pdf", PAGES[:5]), 3)
    with PdfPool("pypdf", 2) as pool:
        (texts,) = pool.read([(path, range(1, 6))])
    assert [text.page for text in texts if text.error] == [3]
    assert all((text.text is None) != (text.error is None) for text in texts)


def test_killed_workers_lose_nothing(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", PAGES * 4)
    stop = threading.Event()
    killed: list[int] = []

    def kill_some() -> None:
        while not stop.is_set() and len(killed) < 2:
            for child in _children():
                if child not in killed:
                    os.kill(child, signal.SIGKILL)
                    killed.append(child)
            time.sleep(0.02)

    with PdfPool("pypdf", 2) as pool:
        pool.probe([path])
        killer = threading.Thread(target=kill_some)
        killer.start()
        (texts,) = pool.read([(path, range(1, 481))])
        stop.set()
        killer.join()
    assert killed
    assert [text.page for text in texts] == list(range(1, 481)) and not any(text.error for text in texts)


def test_pages_of_a_run_that_died_are_each_asked_for_twice() -> None:
    asked: list[tuple[int, int]] = []

    class Dies(PdfProcess):
        """At every run of pages, at the first time for each page, and at page 3 always."""

        def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
            pages = request["first"], request["last"]
            asked.append(pages)
            if pages[0] != pages[1] or pages == (3, 3) or asked.count(pages) == 1:
                raise WorkerDied("it ended")
            return {"texts": [{"text": f"page {pages[0]}"}]}

    texts = Dies().read(Pages("a.pdf", "pypdf", 1, 4), Limits(1.0, 1.0))
    assert [text.text for text in texts] == ["page 1", "page 2", None, "page 4"]
    assert texts[2].error == "pypdf could not read it (it ended)"
    assert asked == [(1, 4), *((page, page) for page in (1, 1, 2, 2, 3, 3, 4, 4))]


def test_a_worker_that_takes_too_long_is_ended_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "never.pdf"
    os.mkfifo(pipe)
    good = make_pdf(tmp_path / "a.pdf", PAGES[:2])
    with PdfPool("pypdf", 1) as pool:
        with monkeypatch.context() as short:
            short.setattr(pdf_pool, "SECONDS_TO_OPEN", 1.5)
            begun = time.monotonic()
            (stuck,) = pool.probe([pipe])
            assert time.monotonic() - begun < 60
        (fine,) = pool.probe([good])
    assert stuck.error and "longer than" in stuck.error and fine.pages == 2


@pytest.mark.parametrize("reader", ["pypdf", "pdfium"])
def test_a_page_that_takes_too_much_memory_is_said_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    """A page of 80 MB in a file of 0.1 MB, and a limit that the other pages are far from."""
    monkeypatch.setattr(pdf_pool, "MOST_MEMORY", 150_000_000)
    bomb = make_bomb(tmp_path / "bomb.pdf", 80)
    assert bomb.stat().st_size < 100_000
    good = make_pdf(tmp_path / "a.pdf", PAGES[:5])
    with PdfPool(reader, 1) as pool:  # type: ignore[arg-type]
        (bad,), texts = pool.read([(bomb, [1]), (good, range(1, 6))])
    assert bad.text is None
    assert "takes more than 0.15 GB of memory; divide it" in (bad.error or "")
    assert not any(text.error for text in texts)


def test_what_a_reader_remembers_of_the_pages_before_takes_no_page_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page is 2 MB, of which pypdf keeps every one: two are more than it may take, and one is not."""
    monkeypatch.setattr(pdf_pool, "MOST_MEMORY", 30_000_000)
    path = make_bomb(tmp_path / "a.pdf", 2, n_pages=4)
    with PdfPool("pypdf", 1) as pool:
        (texts,) = pool.read([(path, range(1, 5))])
    assert [text.error for text in texts] == [None] * 4


def _children() -> list[int]:
    """The worker processes of this test process."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            stat, command = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"ragassay.synth.pdf.worker" in command and int(stat.rpartition(")")[2].split()[1]) == os.getpid():
            found.append(int(entry.name))
    return found
