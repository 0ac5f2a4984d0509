"""`screening.jsonl`: what running a variant over the queries took, beside `screening/VARIANT.trec`, what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field

from .experiment.settings import Experiment
from .experiment.variant_settings import OURS
from .experiment.variants import Variant
from .records import Id, Record
from .tokens import how_many_fit


class VariantRun(Record):
    """A variant that was run over all queries. Its ranking goes deeper than what it hands over.

    settings: by key, with what its chunking says under `chunking.KEY`. k: how many passages it hands over, None where
    `tokens` says how many tokens. n: queries; n_failed: of them without a ranking; errors: why, by query id.
    latency_p50_s, latency_p95_s: of a search, in seconds, over `n_timed` queries one at a time; None where it could not
    be timed on this machine. index_s: what making the index took, None where its vectors were at hand. key: the digest
    of the passages and settings that these times belong to; measured once, they are kept.
    """

    variant: Id
    table: str
    settings: dict[str, Any]
    k: int | None
    tokens: int | None
    n: int
    n_failed: int
    errors: dict[str, str] = Field(default_factory=dict)
    n_timed: int = 0
    latency_p50_s: float | None = None
    latency_p95_s: float | None = None
    index_s: float | None = None
    index_bytes: int | None = None
    n_passages: int
    key: str | None = None


def handed_over(ranking: Sequence[str], k: int | None, tokens: int | None, length: Callable[[str], int]) -> int:
    """How many of the first passages (ids) a variant hands over: `k`, or as many as have `tokens` together."""
    if tokens is not None:
        return how_many_fit(map(length, ranking), tokens)
    return len(ranking) if k is None else min(k, len(ranking))


def limits_of(variant: Variant, experiment: Experiment) -> tuple[int | None, int | None]:
    """(k, tokens) of a variant: one of the two, the experiment's k where its table says neither."""
    settings = variant.settings
    if settings.tokens is not None:
        return None, settings.tokens
    return settings.k or experiment.retrieval.k, None


def settings_of(variant: Variant, experiment: Experiment) -> dict[str, Any]:
    """Everything that makes a variant what it is, with the defaults of its kind; None where a setting is not used."""
    settings, default = variant.settings, experiment.retrieval
    said = settings.model_dump(mode="json", exclude={"name", "chunking"})
    k, tokens = limits_of(variant, experiment)
    found: dict[str, Any] = {"kind": settings.kind, "chunking": variant.chunking} | _chunking(variant, experiment)
    if settings.kind == "knn":
        said["embedding"] = settings.embedding or default.embedding
    if settings.kind == "hybrid":
        said |= {"fusion": settings.fused_by, "of": list(variant.of)}
        said["rrf_k"] = (settings.rrf_k or default.rrf_k) if settings.fused_by == "rrf" else None
    kept = {key: value for key, value in said.items() if value not in (None, [], ())}
    return found | kept | {"k": k, "tokens": tokens}


def _chunking(variant: Variant, experiment: Experiment) -> dict[str, Any]:
    if variant.chunking == OURS:
        words, overlap = experiment.ingest.passage_words, experiment.ingest.passage_overlap_words
        said: dict[str, Any] = {"by": "words", "size": words, "overlap": overlap, "returns": "passage"}
    else:
        own = next(one for one in experiment.chunkings if one.name == variant.chunking)
        said = {**own.model_dump(mode="json", exclude={"name"}), "size": own.words, "overlap": own.overlap or 0}
    return {f"chunking.{key}": value for key, value in said.items() if value is not None}
