"""Whether evidence of quotes orders variants of other chunkings as evidence of whole passages does.

    python -m benchmarks.questions.quotes SCIFACT [FOLDER]

A stand-in: there are no replies to the requests of `[questions] quotes` yet. But the writer's evidence step quoted the
words of its own text that answer, of 36 questions about the avr-libc manual (the demo with `evidence = "section"`) and
of the claims of `benchmarks.questions.write` about abstracts of SciFact (BEIR's folder). Of each question two kinds of
evidence are built: the passages of [ingest] that hold such a quote (of the manual those that the demo's recorded pools
grade 1 or 2, with the grade), and these quotes alone, with their passage's grade. Both are held against one ranking by
BM25 over the passages of every chunking, whole abstracts and passages of 200 words of [ingest] among them, in FOLDER
(results/benchmarks/quotes). Intervals resample whole sections; "halves" is the mean τ of the two orders that random
halves of the sections give by quotes, which says how near to 1 this many questions can come. A pair is decided with p
below 5% (`evaluate.validity.people.decisions`).
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.judges.take_replies import WORK, open_caller
from benchmarks.questions.write import questions, workspace, write
from benchmarks.tables.readme_block import ROOT
from ragassay.arrays import Floats
from ragassay.cli import main as ragassay
from ragassay.evaluate.screening.screen import AT_TOKENS, screened_by
from ragassay.evaluate.screening.screened import Screened
from ragassay.evaluate.statistics.orders import place, tau_b
from ragassay.evaluate.validity.people import decisions, shares
from ragassay.evaluate.validity.questions import Scores
from ragassay.evidence import Documents, Graded, Span, covered, place_of
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import VariantRun, Workspace, read_passages
from ragassay.files import read_records, write_records
from ragassay.records import Page, Passage, Query

DEMO = ROOT / "corpora" / "avr-libc"
MEASURES = {
    "evidence_ndcg": "nDCG@5",
    "evidence_recall" + AT_TOKENS: "recall at equal tokens",
    "evidence_mrr": "MRR@5",
}
SEED, RESAMPLES = 7, 1000
VARIANTS = """
[[chunking]]
name = "words"
by = "words"
size = {words}

[[chunking]]
name = "sentences"
by = "sentences"
size = {sentences}

[[retriever]]
name = "ingest"
kind = "bm25"
chunking = "ingest"
k1 = [0.9, 1.5]

[[retriever]]
name = "bm25"
kind = "bm25"
k1 = [0.9, 1.5]

[search]
tokens = {tokens}
"""
SCIFACT = """
[ingest]
kinds = ["text"]
passage_words = 2000

[questions]
source = "own"
evidence = "section"

[retrieval]
retrievers = ["bm25"]

[answer]
model = "file:nobody"

[judge]
model = "file:nobody"
"""


class Kinds(NamedTuple):
    """Query id to its evidence, of the queries that have both kinds."""

    passages: Mapping[str, Graded]
    quotes: Mapping[str, Graded]


def run(corpus: Path, results: Path, *stages: str) -> Workspace:
    """The folder with these stages run, without a model to ask. Raises SystemExit where one fails."""
    for stage in stages:
        with redirect_stdout(sys.stderr):
            status = ragassay([stage, str(corpus), "--results", str(results)])
        if status:
            raise SystemExit(status)
    return Workspace(corpus, results, load_experiment(corpus / "experiment.toml"))


def of_manual(folder: Path) -> tuple[Workspace, Sequence[Query], Kinds]:
    """The demo's corpus screened, with what the writers quoted and what the recorded pools grade."""
    ours = {}
    for name, more in (("graded", ""), ("quoted", 'evidence = "section"\n')):
        corpus = folder / name / "corpus"
        shutil.copytree(DEMO, corpus, dirs_exist_ok=True)
        toml = (DEMO / "experiment.toml").read_text(encoding="utf-8").replace("[questions]\n", f"[questions]\n{more}")
        table = VARIANTS.format(words=[40, 80, 160, 320], sentences=[60, 120], tokens=2500)
        (corpus / "experiment.toml").write_text(toml + (table if more else ""), encoding="utf-8")
        stages = ("ingest", "questions", "screen") if more else ("ingest", "questions")
        ours[name] = run(corpus, folder / name / "results", *stages)
    quoted = [query for query in read_records(ours["quoted"].queries, Query) if query.metadata.get("evidence")]
    grades = {
        query.id: {Span(one["doc"], one["start"], one["end"]): one["grade"] for one in query.metadata["evidence"]}
        for query in read_records(ours["graded"].test_set, Query)
        if query.metadata.get("evidence")
    }
    quotes = {query.id: [Span(*map(one.get, Span._fields)) for one in query.metadata["evidence"]] for query in quoted}
    return ours["quoted"], quoted, kinds(quotes, grades)


def of_scifact(scifact: Path, folder: Path) -> tuple[Workspace, Sequence[Query], Kinds]:
    """SciFact's abstracts screened, a document each, with what the writer of the claims quoted."""
    home = workspace()
    written, _ = questions(write(scifact, home, open_caller(home)))
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    texts = {one.id: f"{one.title}\n{one.text}" for one in read_records(scifact / "corpus.jsonl", Passage)}
    for doc, text in texts.items():
        (corpus / f"{doc}.txt").write_text(text, encoding="utf-8")
    (corpus / "experiment.toml").write_text(
        SCIFACT + VARIANTS.format(words=[20, 40, 80, 160], sentences=[30, 60], tokens=600), encoding="utf-8"
    )
    asked = []
    for query in written:
        doc = query.metadata["passage"]
        said = [texts[doc][one["start"] : one["end"]] for one in query.metadata["evidence"]]
        pieces = [{"doc": f"{doc}.txt", "quote": quote} for quote in said]
        asked.append(Query(id=query.id, text=query.text, metadata={"section": doc, "doc": doc, "evidence": pieces}))
    write_records(corpus / "queries.jsonl", asked)
    home = run(corpus, folder / "results", "ingest", "questions", "screen")
    documents = Documents(read_records(home.pages, Page))
    quotes = {
        query.id: [span for one in query.metadata["evidence"] if (span := documents.of_quote(one["doc"], one["quote"]))]
        for query in asked
    }
    whole = {at.doc: at for one in read_passages(home.passages) if (at := place_of(one))}
    return home, asked, kinds(quotes, {query.id: {whole[f"{query.metadata['doc']}.txt"]: 2} for query in asked})


def kinds(quotes: Mapping[str, Sequence[Span]], grades: Mapping[str, Mapping[Span, int]]) -> Kinds:
    """Passages that hold a quote, and these quotes. grades: query id to the passages that are evidence, with grades."""
    by_passages, by_quotes = dict[str, Graded](), dict[str, Graded]()
    for query, spans in quotes.items():
        held = [
            (span, at, grade)
            for at, grade in grades.get(query, {}).items()
            for span in spans
            if covered(span, (at,)) == span.end - span.start
        ]
        passages = Graded.of([(at, grade) for _, at, grade in held])
        pieces = Graded.of([(span, max(g for one, _, g in held if one == span)) for span, _, _ in held])
        if passages and pieces:
            by_passages[query], by_quotes[query] = passages, pieces
    return Kinds(by_passages, by_quotes)


def lines(name: str, home: Workspace, asked: Sequence[Query], evidence: Kinds) -> Iterator[str]:
    """What the two kinds of evidence say of the variants."""
    runs = read_records(home.screening_runs, VariantRun)
    queries = [query for query in asked if query.id in evidence.quotes]
    by = {kind: screened_by(home, runs, queries, getattr(evidence, kind)) for kind in Kinds._fields}
    lengths = {
        kind: np.mean([sum(end - start for _, start, end in one.at_1) for one in getattr(evidence, kind).values()])
        for kind in Kinds._fields
    }
    clusters = by["quotes"].clusters
    yield f"**{name}**: {len(queries)} questions from {len(clusters.names)} sections, {len(runs)} variants;"
    yield f"evidence has {lengths['passages']:,.0f} characters as passages, {lengths['quotes']:,.0f} as quotes."
    yield ""
    heads = (
        "measure",
        "τ of the two orders",
        "halves",
        "decided by passages",
        "by quotes",
        "by both",
        "other way round",
    )
    yield f"| {' | '.join((*heads, 'best by passages', 'it stands by quotes at'))} |"
    yield "|---|--:|--:|--:|--:|--:|--:|---|--:|"
    rng = np.random.default_rng(SEED)
    for measure, heading in MEASURES.items():
        one, other = (_scores(by[kind], measure) for kind in Kinds._fields)
        drawn = rng.multinomial(one.n_clusters, [1 / one.n_clusters] * one.n_clusters, RESAMPLES)
        taus = tau_b(one.drawn_means(drawn), other.drawn_means(drawn))
        low, high = np.nanpercentile(taus, [2.5, 97.5])
        decided = [decisions(scores) for scores in (one, other)]
        same = shares(*decided)
        row = (
            heading,
            f"{tau_b(one.means, other.means):.2f} [{low:.2f}, {high:.2f}]",
            f"{_halves(other, rng):.2f}",
            f"{same[0]} of {len(decided[0])}",
            str(np.count_nonzero(decided[1])),
            str(same[1]),
            str(same[2]),
            f"`{by['passages'].names[int(np.argmax(one.means))]}`",
            f"{float(place(other.means, one.means)):g}",
        )
        yield f"| {' | '.join(row)} |"
    yield ""
    yield f"| variant | {' | '.join(f'{heading}, passages | quotes' for heading in MEASURES.values())} |"
    yield f"|---|{'--:|' * 2 * len(MEASURES)}"
    for at, variant in enumerate(by["quotes"].names):
        values = [f"{_scores(by[kind], measure).means[at]:.3f}" for measure in MEASURES for kind in Kinds._fields]
        yield f"| `{variant}` | {' | '.join(values)} |"
    yield ""


def _scores(screened: Screened, measure: str) -> Scores:
    return Scores(screened.measures[measure], screened.clusters)


def _halves(scores: Scores, rng: np.random.Generator) -> float:
    """The mean τ of the orders by two random halves of the sections."""
    found: list[Floats] = []
    for _ in range(RESAMPLES):
        half = np.zeros(scores.n_clusters)
        half[rng.permutation(scores.n_clusters)[: scores.n_clusters // 2]] = 1
        found.append(tau_b(*scores.drawn_means(np.stack([half, 1 - half]))))
    return float(np.nanmean(found))


def main(scifact: Path, folder: Path) -> None:
    """Print both tables."""
    print("\n".join(lines("avr-libc", *of_manual(folder / "avr-libc"))))
    print("\n".join(lines("SciFact", *of_scifact(scifact, folder / "scifact"))))


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) == 3 else WORK / "quotes")
