"""How fast pages are read: pypdf and PDFium, on one core and on all of them.

    python -m benchmarks.speed.pdf_reading manual.pdf [more.pdf …]

The time is that of a whole `PdfPool`, from starting its workers to the last page; the best of `--repeat` runs counts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import get_args

from benchmarks.speed.aims import note, why
from ragassay.synth.pdf.pool import PdfPool, usable_cores
from ragassay.synth.pdf.readers import ReaderName


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pdf", type=Path, nargs="+", help="PDFs to read")
    parser.add_argument("--workers", type=int, default=usable_cores(), help="processes beside one (default: all cores)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the best counts")
    options = parser.parse_args()
    print(f"{'reader':8} {'workers':>7} {'pages':>6} {'seconds':>8} {'pages/s':>8}")
    rates: dict[tuple[str, int], float] = {}
    for reader in get_args(ReaderName):
        for workers in sorted({1, options.workers}):
            runs = [timed(options.pdf, reader, workers) for _ in range(options.repeat)]
            seconds, pages = min(runs)
            rates[reader, workers] = pages / seconds
            print(f"{reader:8} {workers:7} {pages:6} {seconds:8.2f} {pages / seconds:8.0f}", flush=True)
    if options.workers > 1:
        scaling(rates, options.workers, pages)


def scaling(rates: dict[tuple[str, int], float], workers: int, pages: int) -> None:
    """The row of the speed table: pypdf on all cores beside one, PDFium beside it."""
    ratio = rates["pypdf", workers] / rates["pypdf", 1]
    aim = 0.9 * workers
    note(
        "pdf",
        f"reading {pages} PDF pages, pages/s",
        f"pypdf on {workers} cores at least {aim:.1f} times one core",
        f"{rates['pypdf', workers]:.0f}",
        peer=f"{rates['pypdf', 1]:.0f} (one core), {rates['pdfium', workers]:.0f} (PDFium, {workers} cores)",
        ratio=f"{ratio:.2f}",
        missed=why(
            (
                ratio < aim,
                "each process opens the documents for itself (0.6 s for a long one), and "
                "other work on the machine takes more from two cores than from one",
            )
        ),
        packages=("pypdf", "pypdfium2"),
    )


def timed(paths: list[Path], reader: ReaderName, workers: int) -> tuple[float, int]:
    """(seconds, pages) of one run."""
    begin = time.perf_counter()
    with PdfPool(reader, workers) as pool:
        counts = [probe.pages for probe in pool.probe(paths)]
        texts = pool.read([(path, range(1, count + 1)) for path, count in zip(paths, counts, strict=True)])
    return time.perf_counter() - begin, sum(map(len, texts))


if __name__ == "__main__":
    main()
