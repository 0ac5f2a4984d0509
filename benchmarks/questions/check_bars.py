"""What the bars of `ragassay check` pass and find, on real questions, passages and claims.

    python -m benchmarks.questions.check_bars SCIFACT

SCIFACT is BEIR's folder. Copies: its 1,109 claims by people among its abstracts, and the 36 questions of the avr-libc
manual's FAQ among the manual's pages without the FAQ. Evidence: passages of the manual as pypdf reads it, looked up in
the manual as PDFium reads it, and as many abstracts, which are not in it. Answers: the claims that an abstract is
labelled to support, against that abstract, and against one drawn at random (seed 7).
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Passage, Query
from ragassay.synth.checking.answer_held import not_held
from ragassay.synth.checking.corpus_text import THERE, CorpusText, open_corpus
from ragassay.synth.checking.wording import overlap
from ragassay.synth.ingest import ingest
from ragassay.synth.questions.own import read_expert_questions

MANUAL = Path(__file__).parents[2] / "corpora" / "avr-libc"
SEED = 7


def manual(reader: str, folder: Path) -> CorpusText:
    """The avr-libc manual as `reader` reads it, without the pages that its experiment leaves out."""
    experiment = load_experiment(MANUAL / "experiment.toml")
    settings = experiment.ingest.model_copy(update={"reader": reader})
    ingest(Workspace(MANUAL, folder / reader, experiment.model_copy(update={"ingest": settings})))
    return open_corpus(folder / reader, "en")


def copies(name: str, questions: Sequence[str], corpus: CorpusText) -> str:
    """A row: how many of people's questions pass a bar for copies, of those that share a word with a passage."""
    best = [(text, found[1]) for text in questions if (found := corpus.best_passage(text))]
    return _row(name, sum(overlap(text, passage, "en").copied for text, passage in best), len(best))


def evidence(name: str, texts: Sequence[str], corpus: CorpusText) -> str:
    """A row: how many texts are said to be missing, and the hundredth part with the lowest share found."""
    shares = sorted(map(corpus.share_of, texts))
    low, high = shares[len(shares) // 100], shares[-1 - len(shares) // 100]
    return _row(f"{name} (1% below {low:.2f}, 1% above {high:.2f})", sum(one < THERE for one in shares), len(shares))


def answers(name: str, pairs: Sequence[tuple[str, str]]) -> str:
    """A row: how many claims are said not to be held."""
    return _row(name, sum(not_held(claim, text, "", "en") is not None for claim, text in pairs), len(pairs))


def _row(name: str, found: int, n: int) -> str:
    """With Wilson's (1927) 95% interval."""
    z, share = 1.959963984540054, found / n
    middle, width = share + z**2 / (2 * n), z * sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = ((middle + sign * width) / (1 + z**2 / n) for sign in (-1, 1))
    return f"| {name} | {found} | {n} | {share:.3f} | {low:.3f} to {high:.3f} |"


def main(scifact: Path) -> int:
    """Print the table."""
    corpus, queries = open_corpus(scifact / "corpus.jsonl", "en"), read_records(scifact / "queries.jsonl", Query)
    texts = {one.id: f"{one.title}. {one.text}" for one in read_records(scifact / "corpus.jsonl", Passage)}
    held = [
        (query.text, texts[doc])
        for query in queries
        for doc, labels in query.metadata.items()
        if labels[0]["label"] == "SUPPORT"
    ]
    rng, known = random.Random(SEED), list(texts.values())
    with tempfile.TemporaryDirectory() as folder:
        pypdf, pdfium = manual("pypdf", Path(folder)), manual("pdfium", Path(folder))
    passages = [passage.text for passage in pypdf.passages.values()]
    faq = [expert.text for expert in read_expert_questions(MANUAL / "questions.txt")]
    print("| what | found | n | share | 95% interval |\n|---|--:|--:|--:|--:|")
    print(copies("copies: people's claims (SciFact)", [query.text for query in queries], corpus))
    print(copies("copies: people's questions (FAQ of the avr-libc manual)", faq, pypdf))
    print(evidence("evidence missing: the manual's passages by another reader", passages, pdfium))
    print(evidence("evidence missing: abstracts, in the manual", rng.sample(known, len(passages)), pdfium))
    print(answers("answer not held: claims, by an abstract that supports them", held))
    print(
        answers(
            "answer not held: claims, by an abstract drawn at random", [(one, rng.choice(known)) for one, _ in held]
        )
    )
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
