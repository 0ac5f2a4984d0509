"""Reranking by a cross-encoder (Nogueira and Cho 2019, arXiv:1901.04085), which reads query and passage together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ragassay.models.cross_encoders import PairScorer, load_pair_scorer
from ragassay.records import Passage

from ..rankers.ranker import indexed_text
from .reranker import Asked, Failed, Scores
from .score_cache import ScoreCache

CHUNK = 512
"""Pairs scored between two writes to the cache."""

Progress = Callable[[int, int], None]
"""Called with (pairs scored, pairs to score) now and then."""


class CrossEncoderReranker:
    """The logits of a cross-encoder, from the cache or made; the model is loaded once, when a pair needs it."""

    def __init__(
        self,
        model: str,
        cache: ScoreCache,
        load: Callable[[str], PairScorer] = load_pair_scorer,
        progress: Progress | None = None,
    ) -> None:
        self._model, self._cache, self._load, self._progress = model, cache, load, progress
        self._scorer: PairScorer | None = None

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """As `Reranker`; no query fails by itself. Raises InputError where the model cannot be used."""
        pairs = [[(query, indexed_text(passage)) for passage in passages] for query, passages in asked]
        keys = [[self._cache.key(*pair) for pair in row] for row in pairs]
        known = self._cache.known()
        every = {key: pair for row, ids in zip(pairs, keys, strict=True) for pair, key in zip(row, ids, strict=True)}
        self._make({key: pair for key, pair in every.items() if key not in known})
        return [[known[key] for key in row] for row in keys]

    def seconds(self, query: str, passages: Sequence[Passage]) -> float:
        """How long scoring these passages takes, whatever is kept. Raises InputError."""
        pairs = [_text((query, indexed_text(passage))) for passage in passages]
        scorer = self._ready()
        started = time.perf_counter()
        if pairs:
            scorer.scores(pairs)
        return time.perf_counter() - started

    def _ready(self) -> PairScorer:
        if self._scorer is None:
            self._scorer = self._load(self._model)
        return self._scorer

    def _make(self, missing: dict[bytes, tuple[str, str]]) -> None:
        """Score the pairs, those of about the same length together, so that little is padded."""
        if not missing:
            return
        scorer = self._ready()
        ordered = sorted(missing, key=lambda key: -sum(map(len, missing[key])))
        done = 0
        for start in range(0, len(ordered), CHUNK):
            chunk = ordered[start : start + CHUNK]
            scores = scorer.scores([_text(missing[key]) for key in chunk])
            self._cache.add(dict(zip(chunk, scores.tolist(), strict=True)))
            done += len(chunk)
            if self._progress:
                self._progress(done, len(ordered))


def _text(pair: tuple[str, str]) -> tuple[str, str]:
    """Without lone surrogates, which are not text."""
    query, text = (part.encode("utf-8", "replace").decode() for part in pair)
    return query, text
