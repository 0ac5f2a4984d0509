"""How long a screening takes: 162 variants over a manual, with embeddings made and with embeddings kept.

    python -m benchmarks.speed.screening [A.pdf …]

The grid is `benchmarks/tables/screening.toml`: six chunkings, six settings of BM25, all-MiniLM-L6-v2, three weights,
RM3, MMR and small to big. A hundred questions are sentences of the text, whose evidence they are: they only stand for
as many.
Beside it each of four variants is screened in a process of its own, embeddings kept, as a loop over variants would do;
their mean times 162 is what that loop takes. Processes are counted with their children: clock, CPU and largest size.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.speed.aims import note, why
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import json_line, read_records, write_text
from ragassay.models.encoders import OFFLINE_MODEL
from ragassay.records import Page

GRID = Path(__file__).parents[1] / "tables" / "screening.toml"
HEAD = """\
[questions]
source = "own"
[retrieval]
embedding = "all-MiniLM-L6-v2"
[answer]
model = "openai:nobody"
agents = []
[judge]
model = "openai:nobody"

"""
MANUAL = "corpora/avr-libc/avr-libc-user-manual.pdf"
N_QUERIES, SEED = 100, 7
COLD_S, WARM_S, MOST_BYTES = 600, 60, 4_000_000_000
ALONE = 4
"""Variants that are screened one at a time."""


@dataclass(frozen=True)
class Took:
    """A process: seconds of clock and of CPU, and its largest size in bytes."""

    clock_s: float
    cpu_s: float
    most_bytes: int


def ragassay(*words: str) -> Took:
    """What a command took. Raises CalledProcessError."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "ragassay", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        said = process.stderr.read() if process.stderr else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"ragassay {' '.join(words)} ended with {process.returncode}: {said[-2000:]}")
    return Took(time.perf_counter() - start, used.ru_utime + used.ru_stime, _bytes(used))


def _bytes(used: resource.struct_rusage) -> int:
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def make_folder(folder: Path, pdfs: Sequence[Path]) -> Path:
    """A corpus folder of the PDFs with the grid."""
    corpus = folder / "corpus"
    corpus.mkdir()
    for pdf in pdfs:
        (corpus / pdf.name).symlink_to(pdf.resolve())
    (corpus / "experiment.toml").write_text(HEAD + GRID.read_text(encoding="utf-8"), encoding="utf-8")
    (corpus / "queries.jsonl").write_text('{"_id": "q0", "text": "none yet"}\n', encoding="utf-8")
    return corpus


def make_queries(corpus: Path, results: Path) -> None:
    """Sentences of the text, each its own evidence."""
    pages = read_records(results / "pages.jsonl", Page)
    sentences = [
        (page.doc, " ".join(found.split()))
        for page in pages
        for found in re.findall(r"(?<=\. )[A-Z][^.\n]{40,160}\.", page.text)
    ]
    drawn = random.Random(SEED).sample(sentences, N_QUERIES)
    rows = [
        {"_id": f"q{n}", "text": text, "metadata": {"evidence": [{"doc": doc, "quote": text}]}}
        for n, (doc, text) in enumerate(drawn)
    ]
    write_text(corpus / "queries.jsonl", "".join(map(json_line, rows)))


def alone(corpus: Path, results: Path, names: Sequence[str]) -> list[Took]:
    """Each of these variants in a process and results folder of its own, over the same passages and embeddings."""
    text, took = HEAD + GRID.read_text(encoding="utf-8"), []
    experiment = load_experiment(corpus / "experiment.toml")
    for name in names:
        variant = experiment.variants.by_name[name]
        own = results.with_name(f"alone-{name}")
        own.mkdir()
        for kept in ("pages.jsonl", "sections.jsonl", "corpus.jsonl", "queries.jsonl", "embeddings"):
            (own / kept).symlink_to((results / kept).resolve())
        folder = corpus.with_name(f"corpus-{name}")
        folder.mkdir()
        head = text.split("[[retriever]]")[0]
        settings = variant.settings.model_dump(include={"kind", "k1", "b", "embedding"})
        if variant.of:
            tables = [
                _table("bm25", variant.chunking, kind="bm25"),
                _table("knn", variant.chunking, kind="knn", embedding=OFFLINE_MODEL),
            ]
            tables.append('[[retriever]]\nname = "one"\nkind = "hybrid"\nof = ["bm25", "knn"]\nweights = [0.5, 0.5]\n')
        else:
            tables = [_table("one", variant.chunking, **settings)]
        (folder / "experiment.toml").write_text(head + "\n".join(tables), encoding="utf-8")
        took.append(ragassay("screen", str(folder), "--results", str(own)))
    return took


def _table(name: str, chunking: str, **settings: object) -> str:
    said = {"name": name, "chunking": chunking, **{key: value for key, value in settings.items() if value is not None}}
    return "[[retriever]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in said.items())


def measure(pdfs: Sequence[Path]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, results = make_folder(folder, pdfs), folder / "results"
        ragassay("ingest", str(corpus), "--results", str(results))
        make_queries(corpus, results)
        ragassay("questions", str(corpus), "--results", str(results))
        workspace = Workspace(corpus, results, load_experiment(corpus / "experiment.toml"))
        variants = [variant.name for variant in workspace.experiment.variants.all]
        n_passages = sum(1 for _ in workspace.passages.open(encoding="utf-8"))
        cold = ragassay("screen", str(corpus), "--results", str(results))
        workspace.screen.unlink()
        warm = ragassay("screen", str(corpus), "--results", str(results))
        chosen = random.Random(SEED).sample(variants, ALONE)
        each = alone(corpus, results, chosen)
    what = ", ".join(pdf.name for pdf in pdfs)
    print(f"{what}: {len(variants)} variants, {N_QUERIES} queries, {n_passages:,} passages of all chunkings")
    for label, took in (("embeddings made", cold), ("embeddings kept", warm)):
        print(f"{label}: {took.clock_s:.0f} s, {took.cpu_s:.0f} s of CPU, {took.most_bytes / 1e9:.2f} GB")
    loop_s = len(variants) * sum(took.clock_s for took in each) / len(each)
    print(f"one process a variant, embeddings kept: {loop_s / len(variants):.1f} s each, {loop_s:,.0f} s for all")
    for label, took, most in (("made", cold, COLD_S), ("kept", warm, WARM_S)):
        missed = why(
            (took.clock_s > most, f"it took {took.clock_s:.0f} s"),
            (took.most_bytes > MOST_BYTES, f"it held {took.most_bytes / 1e9:.1f} GB"),
        )
        note(
            f"screening {len(variants)} variants of {what}, embeddings {label}",
            f"under {most} s and {MOST_BYTES / 1e9:.0f} GB",
            f"{took.clock_s:.0f} s, {took.most_bytes / 1e9:.2f} GB",
            peer=f"one process a variant: {loop_s:,.0f} s" if label == "kept" else "",
            ratio=f"{took.clock_s / loop_s:.3f}" if label == "kept" else "",
            missed=missed,
            packages=("sentence-transformers", "bm25s", "onnxruntime"),
        )


if __name__ == "__main__":
    for given in sys.argv[1:] or [MANUAL]:
        measure([Path(given)])
