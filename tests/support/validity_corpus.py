"""A corpus with a screened test set of made-up words, sound or with a fault planted, for `ragassay check validity`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from support.json_lines import write_lines

from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.validity.questions import Measured, Question

SECTIONS, PARTS, WORDS = 20, 4, 25
"""Sections of the document, passages of each, words of a passage."""
FAMILIES = {"bm25": 0.45, "knn": 0.5, "hybrid": 0.6}
"""Each with its chance to find the evidence of a question; a family has three variants."""
AUTHORS = ("openai:gpt-a", "openai:mistral-b")
DOC = "m.pdf"
Fault = Literal["leak", "realism", "favour", "overlap"]
_EXPERIMENT = """
[questions]
source = "both"
style = "passage"
quota = { "openai:gpt-a" = 40, "openai:mistral-b" = 40 }

[answer]
model = "openai:claude-c"

[judge]
model = "openai:gemini-d"

[[retriever]]
name = "bm25"
kind = "bm25"
"""


def make_validity_corpus(
    folder: Path, fault: Fault | None = None, *, seed: int = 7, per_section: int = 4, n_real: int = 30
) -> tuple[Path, Path]:
    """(corpus, results). n_real: of people's questions, in questions.txt and, with evidence, among the queries."""
    corpus, results = folder / "mine", folder / "results"
    corpus.mkdir(parents=True)
    (corpus / "experiment.toml").write_text(_EXPERIMENT)
    rng = np.random.default_rng(seed)
    passages = _passages(rng)
    text = " ".join(" ".join(passage) for passage in passages)
    ends = np.cumsum([len(" ".join(passage)) + 1 for passage in passages])
    places = [(int(end) - len(" ".join(p)) - 1, int(end) - 1) for p, end in zip(passages, ends, strict=True)]
    written = [at for section in range(SECTIONS) for at in range(section * PARTS, section * PARTS + per_section)]
    real = rng.integers(len(passages), size=n_real).tolist()
    shared = rng.integers(2, 7, size=len(written) + n_real)
    texts = [_question(passages[at], n, rng) for at, n in zip([*written, *real], shared, strict=True)]
    for place, at in enumerate(written):
        if fault == "leak":
            texts[place] = " ".join(passages[at][:10]) + "?"
        if fault == "realism":
            texts[place] = f"According to the manual {texts[place]}"
    queries = [
        {"_id": f"w{n:02}", "text": texts[n], "metadata": _written(n, at, places[at])} for n, at in enumerate(written)
    ]
    queries += [
        {"_id": f"r{n:02}", "text": texts[len(written) + n], "metadata": {"evidence": [_place(places[at])]}}
        for n, at in enumerate(real)
    ]
    if n_real:
        (corpus / "questions.txt").write_text("".join(f"{row['text']}\n" for row in queries[len(written) :]))
    write_lines(results / "queries.jsonl", queries)
    write_lines(results / "pages.jsonl", [{"doc": DOC, "page": 1, "text": text}])
    write_lines(results / "sections.jsonl", _sections(places, text))
    write_lines(results / "corpus.jsonl", [_passage(n, place, text) for n, place in enumerate(places)])
    _screen(results, queries, [*written, *real], shared, fault, rng)
    return corpus, results


def _passages(rng: np.random.Generator) -> list[list[str]]:
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = sorted({"".join(rng.choice(syllables, 3)) for _ in range(900)})
    return [rng.choice(words, WORDS).tolist() for _ in range(SECTIONS * PARTS)]


_BEGINNINGS = ("How do I", "What makes", "Why does my", "Can I", "Where is", "My board says", "Which of", "When should")


def _question(passage: Sequence[str], n_shared: int, rng: np.random.Generator) -> str:
    """A beginning, some words of the passage in any order, and words that stand nowhere."""
    words = [*rng.choice(passage, n_shared, replace=False), *(f"x{number}" for number in rng.integers(10_000, size=3))]
    return f"{rng.choice(_BEGINNINGS)} {' '.join(rng.permutation(words))}?"


def _written(number: int, at: int, place: tuple[int, int]) -> dict[str, Any]:
    section = f"s{at // PARTS:02}"
    return {"model": AUTHORS[number % 2], "section": section, "doc": DOC, "evidence": [_place(place)]}


def _place(place: tuple[int, int]) -> dict[str, Any]:
    return {"doc": DOC, "start": place[0], "end": place[1]}


def _sections(places: Sequence[tuple[int, int]], text: str) -> list[dict[str, Any]]:
    ends = [(places[n * PARTS][0], places[(n + 1) * PARTS - 1][1]) for n in range(SECTIONS)]
    pages = {"doc": DOC, "first_page": 1, "last_page": 1}
    return [{"_id": f"s{n:02}", **pages, "start": a, "end": b, "text": text[a:b]} for n, (a, b) in enumerate(ends)]


def _passage(number: int, place: tuple[int, int], text: str) -> dict[str, Any]:
    metadata = {"doc": DOC, "first_page": 1, "last_page": 1, "start": place[0], "end": place[1]}
    return {"_id": f"p{number:02}", "title": "", "text": text[place[0] : place[1]], "metadata": metadata}


def _screen(
    results: Path,
    queries: Sequence[dict[str, Any]],
    targets: Sequence[int],
    shared: np.ndarray,
    fault: Fault | None,
    rng: np.random.Generator,
) -> None:
    """Rankings of one passage each: the evidence, or one of another section."""
    rows = []
    for family, chance in FAMILIES.items():
        for number in range(3):
            name, lines = f"{family}-{number}", []
            for query, at, n_shared in zip(queries, targets, shared.tolist(), strict=True):
                p = chance + 0.06 * number
                if fault == "favour" and family == "bm25" and query["metadata"].get("model") == AUTHORS[0]:
                    p = 0.98
                if fault == "overlap" and family == "bm25":
                    p = 0.02 + 0.24 * (n_shared - 2)
                found = at if rng.random() < p else (at + 2 * PARTS) % (SECTIONS * PARTS)
                lines.append(f"{query['_id']} Q0 p{found:02} 1 1.0 {name}\n")
            (results / "screening").mkdir(exist_ok=True)
            (results / "screening" / f"{name}.trec").write_text("".join(lines))
            settings = {"kind": family, "number": number}
            counts = {"k": 5, "tokens": None, "n": len(queries), "n_failed": 0, "n_passages": SECTIONS * PARTS}
            rows.append({"variant": name, "table": family, "settings": settings, **counts})
    write_lines(results / "screening.jsonl", rows)


def measured(values: np.ndarray, sections: list[str] | None = None) -> Measured:
    n_variants, n = values.shape
    clusters = clusters_of_rows(sections or [f"{at:04}" for at in range(n)])
    names = tuple(f"v{at:03}" for at in range(n_variants))
    return Measured(names, tuple("ab"[at % 2] for at in range(n_variants)), values, clusters, "evidence_recall")


def question(at: int, author: str | None = "x:m") -> Question:
    return Question(str(at), f"q{at}", f"c{at}", author)
