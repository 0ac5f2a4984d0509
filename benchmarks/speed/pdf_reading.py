"""How PDFs are read: which reader each is given by `reader = "auto"`, which pages are named, and how fast it all is.

    python -m benchmarks.speed.pdf_reading [--language en] manual.pdf [more.pdf …]

Then pypdf, PDFium and "auto" on one core and on all of them. The time is that of a whole `PdfPool`, from starting its
workers to the last page; the best of `--repeat` runs counts. Pages/s a core are of CPU time, of all processes together.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.aims import note, why
from ragassay.cores import usable_cores
from ragassay.synth.pdf.choice import Reading, open_documents, read_documents
from ragassay.synth.pdf.process import PdfPool

READERS = ("auto", "pdfium", "pypdf")
AIM = 200
"""Pages/s a core."""


@dataclass(frozen=True)
class Run:
    """One reading of all documents: seconds on the clock, seconds of CPU, pages."""

    seconds: float
    cpu_s: float
    pages: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pdf", type=Path, nargs="+", help="PDFs to read")
    parser.add_argument("--language", default="en", help="of the documents, as in [corpus] (default: en)")
    parser.add_argument("--workers", type=int, default=usable_cores(), help="processes beside one (default: all cores)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the best counts")
    options = parser.parse_args()
    by_document(options.pdf, options.language)
    print(f"\n{'reader':8} {'workers':>7} {'pages':>6} {'seconds':>8} {'pages/s':>8} {'pages/s a core':>15}")
    best: dict[tuple[str, int], Run] = {}
    for reader in READERS:
        for workers in sorted({1, options.workers}):
            runs = [timed(options.pdf, reader, workers, options.language) for _ in range(options.repeat)]
            run = best[reader, workers] = min(runs, key=lambda run: run.seconds)
            row = f"{reader:8} {workers:7} {run.pages:6} {run.seconds:8.2f} {run.pages / run.seconds:8.0f}"
            print(f"{row} {run.pages / run.cpu_s:15.0f}", flush=True)
    by_default(best)
    if options.workers > 1:
        scaling({key: run.pages / run.seconds for key, run in best.items()}, options.workers, best["auto", 1].pages)


def by_document(paths: list[Path], language: str) -> None:
    """A line a document: which reader it is given, and what no reader gets right."""
    print(f"{'document':34} {'pages':>6} {'reader':8} {'pages/s a core':>15}  why; pages of the other; named")
    for path in paths:
        before = cpu_s()
        with PdfPool("pdfium", 1) as pool:
            readings = read_all(pool, [path], language)
        used = cpu_s() - before
        for reading in readings:
            n, named = len(reading.pages), [str(page.page) for page in reading.pages if page.error]
            line = f"{path.name:34} {n:6} {reading.reader:8} {n / used:15.0f}  {reading.why}; {reading.n_other}"
            print(f"{line}; {', '.join(named[:10]) or 'none'}{', …' if len(named) > 10 else ''}", flush=True)
        if not readings:
            print(f"{path.name:34} {'':6} cannot be opened", flush=True)


def by_default(best: dict[tuple[str, int], Run]) -> None:
    """The row of the speed table: what a core reads by default."""
    rates = {reader: best[reader, 1].pages / best[reader, 1].cpu_s for reader in READERS}
    note(
        f'reading {best["auto", 1].pages} PDF pages with reader = "auto", pages/s a core',
        f"at least {AIM}",
        f"{rates['auto']:.0f}",
        peer=f"{rates['pdfium']:.0f} (PDFium alone), {rates['pypdf']:.0f} (pypdf alone)",
        missed=why((rates["auto"] < AIM, "the table beside it says which documents take how long")),
        packages=("pypdf", "pypdfium2"),
    )


def scaling(rates: dict[tuple[str, int], float], workers: int, pages: int) -> None:
    """The row of the speed table: pypdf on all cores beside one, PDFium beside it."""
    ratio = rates["pypdf", workers] / rates["pypdf", 1]
    aim = 0.9 * workers
    note(
        f"reading {pages} PDF pages, pages/s",
        f"pypdf on {workers} cores at least {aim:.1f} times one core",
        f"{rates['pypdf', workers]:.0f}",
        peer=f"{rates['pypdf', 1]:.0f} (one core), {rates['pdfium', workers]:.0f} (PDFium, {workers} cores)",
        ratio=f"{ratio:.2f}",
        missed=why(
            (
                ratio < aim,
                f"{ratio:.2f} times; load average {os.getloadavg()[0]:.1f} on {usable_cores()} cores at the end",
            )
        ),
        packages=("pypdf", "pypdfium2"),
    )


def timed(paths: list[Path], reader: str, workers: int, language: str) -> Run:
    """One run over all documents."""
    begin, before = time.perf_counter(), cpu_s()
    with PdfPool("pypdf" if reader == "pypdf" else "pdfium", workers) as pool:
        if reader == "auto":
            pages = sum(len(reading.pages) for reading in read_all(pool, paths, language))
        else:
            counts = [probe.pages for probe in pool.probe(paths)]
            wanted = [(path, range(1, count + 1)) for path, count in zip(paths, counts, strict=True)]
            pages = sum(map(len, pool.read(wanted)))
    return Run(time.perf_counter() - begin, cpu_s() - before, pages)


def read_all(pool: PdfPool, paths: list[Path], language: str) -> list[Reading]:
    """Every page of each document that can be opened, as `reader = "auto"` reads it."""
    opened = dict(zip(paths, open_documents(pool, paths), strict=True))
    readable = {path: one for path, one in opened.items() if one.readable}
    wanted = [(path, range(1, one.probe.pages + 1)) for path, one in readable.items()]
    return read_documents(pool, list(readable.values()), wanted, language)


def cpu_s() -> float:
    """Seconds of CPU that this process and those it has seen end have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    main()
