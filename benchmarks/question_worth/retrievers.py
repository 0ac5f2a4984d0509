"""Twenty-six retrievers over one corpus, near enough to each other that their order is not obvious.

Ten of words: BM25 with seven settings, without stems, over titles, over bodies. Four of vectors: an embedding model
over four parts of the passages. Twelve fusions: by reciprocal rank, and by weight, a convex combination of scores that
are brought to 0 to 1 by a query's lowest and highest (Bruch, Gai and Ingber, ACM TOIS 42(1), 2023, section 3). What
ranks every query just as an earlier one does, as BM25 without stems in a language that has none, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ragassay.evaluate.texts.sentences import sentences
from ragassay.records import Passage
from ragassay.retrieval.rankers.analysis import Analyzer, make_analyzer
from ragassay.retrieval.rankers.bm25 import K1, B, Bm25
from ragassay.retrieval.rankers.combined import HYBRID_DEPTH as RRF_DEPTH
from ragassay.retrieval.rankers.combined import rrf
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.knn import Knn
from ragassay.retrieval.rankers.ranker import Ranking, indexed_text

DEPTH = 100
"""Passages of a ranking that fusions look at."""

SHOWN = 10
"""Passages of a ranking that are kept: the cutoff of the measure."""

SETTINGS = ((K1, B), (0.4, 0.4), (0.9, 0.4), (1.5, 0.75), (2.0, 0.75), (1.2, 0.0), (1.2, 1.0))
"""k1 and b of BM25: Lucene's, a low k1, Anserini's, rank-bm25's, a high k1, lengths ignored, lengths in full."""

WEIGHTS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Of the embedding model in a fusion by weight."""

LEAD = 2
"""Sentences that are the beginning of a text."""

Rankings = list[Ranking]
"""One ranking a query."""

Progress = Callable[[str], None]
"""Called with the name of each retriever that is done."""


def parts(passages: Sequence[Passage]) -> dict[str, list[str]]:
    """Four texts of each passage: all of it, its title, its body, its first sentences.

    Where fewer than half have a title, the first and the second half of the text stand for title and body.
    """
    whole = [indexed_text(passage) for passage in passages]
    lead = [" ".join(sentences(passage.text)[:LEAD]) for passage in passages]
    if 2 * sum(bool(passage.title.strip()) for passage in passages) >= len(passages):
        titles, bodies = [passage.title for passage in passages], [passage.text for passage in passages]
        return {"all": whole, "title": titles, "body": bodies, "lead": lead}
    words = [text.split() for text in whole]
    first = [" ".join(row[: (len(row) + 1) // 2]) for row in words]
    second = [" ".join(row[(len(row) + 1) // 2 :]) for row in words]
    return {"all": whole, "first half": first, "second half": second, "lead": lead}


class _Search(NamedTuple):
    """The corpus and what is asked of it."""

    ids: list[str]
    parts: dict[str, list[str]]
    queries: list[str]


def rank(
    passages: Sequence[Passage],
    queries: Sequence[str],
    *,
    language: str,
    embedder: Embedder | None,
    progress: Progress | None = None,
) -> dict[str, dict[str, Ranking]]:
    """Retriever to query to the `SHOWN` best passages; those of words alone without an `embedder`. queries: distinct.

    Raises InputError for an unknown language and what `embedder` raises.
    """
    search = _Search([passage.id for passage in passages], parts(passages), list(queries))
    found: dict[str, dict[str, Ranking]] = {}
    seen = set()
    for name, rankings in _all(search, language, embedder):
        if progress:
            progress(name)
        best = [ranking[:SHOWN] for ranking in rankings]
        if (order := tuple(map(tuple, _ids(best)))) not in seen:
            seen.add(order)
            found[name] = dict(zip(queries, best, strict=True))
    return found


def _all(search: _Search, language: str, embedder: Embedder | None) -> Iterator[tuple[str, Rankings]]:
    whole, first, second, _ = search.parts
    stems, bare = make_analyzer(language), make_analyzer(language, stem=False)
    words = {part: _bm25(search, part, stems) for part in search.parts}
    plain = _bm25(search, whole, bare)
    for k1, b in SETTINGS:
        yield f"bm25, k1 {k1:g}, b {b:g}", _bm25(search, whole, stems, k1, b)
    yield "bm25, no stems", plain
    yield from ((f"bm25, {part}", words[part]) for part in (first, second))
    if embedder is None:
        return
    vectors = {
        part: Knn(search.ids, texts, embedder).search(search.queries, DEPTH) for part, texts in search.parts.items()
    }
    yield from ((f"embedding, {part}", rankings) for part, rankings in vectors.items())
    for one, other in (*((part, part) for part in search.parts), (whole, second), (second, whole)):
        yield f"by rank, {one} + {other}", _by_rank(words[one], vectors[other])
    yield f"by rank, no stems + {whole}", _by_rank(plain, vectors[whole])
    for weight in WEIGHTS:
        fused = [_by_weight(*row, weight) for row in zip(words[whole], vectors[whole], strict=True)]
        yield f"by weight {weight:g}", fused


def _bm25(search: _Search, part: str, analyze: Analyzer, k1: float = K1, b: float = B) -> Rankings:
    return Bm25(search.ids, search.parts[part], analyze, k1=k1, b=b).search(search.queries, DEPTH)


def _by_rank(words: Rankings, vectors: Rankings) -> Rankings:
    return [rrf(_ids([ranking[:RRF_DEPTH] for ranking in row])) for row in zip(words, vectors, strict=True)]


def _by_weight(words: Ranking, vectors: Ranking, weight: float) -> Ranking:
    """Best first, ties by id; a passage that a ranking lacks gets its lowest score, 0."""
    one, other = _to_one(words), _to_one(vectors)
    scores = {p: round((1 - weight) * one.get(p, 0.0) + weight * other.get(p, 0.0), 12) for p in one | other}
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def _to_one(ranking: Ranking) -> dict[str, float]:
    """Scores from 0, a ranking's lowest, to 1, its highest; 1 where all are the same."""
    if not ranking:
        return {}
    high, low = ranking[0][1], ranking[-1][1]
    return {passage: (score - low) / (high - low) if high > low else 1.0 for passage, score in ranking}


def _ids(rankings: Rankings) -> list[list[str]]:
    return [[passage for passage, _ in ranking] for ranking in rankings]
