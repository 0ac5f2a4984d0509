"""Twenty-six retrievers over one corpus, near enough to each other that their order is not obvious.

BM25 with seven settings, over four parts of the passages, with and without stemming; an embedding model over the same
parts; both fused by reciprocal rank, and by weight: a convex combination of scores that are brought to 0 to 1 by a
query's lowest and highest (Bruch, Gai and Ingber, ACM TOIS 42(1), 2023, section 3). What ranks every query just as an
earlier one does, as without titles or stems, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ragassay.evaluate.texts.sentences import sentences
from ragassay.records import Passage
from ragassay.retrieval.rankers.analysis import make_analyzer
from ragassay.retrieval.rankers.bm25 import K1, B, Bm25
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.hybrid import DEPTH as RRF_DEPTH
from ragassay.retrieval.rankers.knn import Knn
from ragassay.retrieval.rankers.ranker import Ranking, indexed_text
from ragassay.retrieval.rankers.rrf import rrf

DEPTH = 100
"""Passages of a ranking that fusions look at."""

SHOWN = 10
"""Passages of a ranking that are kept: the cutoff of the measure."""

SETTINGS = ((K1, B), (0.4, 0.4), (0.9, 0.4), (1.5, 0.75), (2.0, 0.75), (1.2, 0.0), (1.2, 1.0))
"""k1 and b of BM25: Lucene's, a low k1, Anserini's, rank-bm25's, a high k1, lengths ignored, lengths in full."""

WEIGHTS = (0.25, 0.5, 0.75)
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
    words, vectors = {}, {}
    for name, part, rankings in _bm25(search, language):
        words.setdefault(part, rankings)
        yield name, rankings
    if embedder is None:
        return
    for part, texts in search.parts.items():
        vectors[part] = Knn(search.ids, texts, embedder).search(search.queries, DEPTH)
        yield f"embedding, {part}", vectors[part]
    yield from _fused(words, vectors)


def _bm25(search: _Search, language: str) -> Iterator[tuple[str, str, Rankings]]:
    """(name, part, rankings); the first of a part is that of Lucene's setting with stems."""
    analyze = make_analyzer(language)
    for k1, b in SETTINGS:
        ranker = Bm25(search.ids, search.parts["all"], analyze, k1=k1, b=b)
        yield f"bm25, k1 {k1:g}, b {b:g}", "all", ranker.search(search.queries, DEPTH)
    for stem in (True, False):
        analyze = make_analyzer(language, stem=stem)
        for part, texts in search.parts.items():
            if not stem or part != "all":
                name = f"bm25, {part}{'' if stem else ', no stems'}"
                yield name, part, Bm25(search.ids, texts, analyze).search(search.queries, DEPTH)


def _fused(words: Mapping[str, Rankings], vectors: Mapping[str, Rankings]) -> Iterator[tuple[str, Rankings]]:
    for part in words:
        yield f"by rank, {part}", _by_rank(words[part], vectors[part])
    first, second = list(words)[:2]
    yield f"by rank, {first} and {second}", _by_rank(words[first], vectors[first], words[second], vectors[second])
    for weight in WEIGHTS:
        fused = [_by_weight(*row, weight) for row in zip(words[first], vectors[first], strict=True)]
        yield f"by weight {weight:g}, {first}", fused


def _by_rank(*several: Rankings) -> Rankings:
    return [rrf(_ids([ranking[:RRF_DEPTH] for ranking in row])) for row in zip(*several, strict=True)]


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
