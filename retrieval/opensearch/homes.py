"""Which index of the server serves which variant: one a chunking and embedding, with every setting of BM25 it needs.

BM25 has an index a chunking, without vectors, so that another k1 costs no vectors. Where the server fuses, the BM25
that is fused stands in the index of the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ragassay.experiment.settings import OpenSearchSettings
from ragassay.experiment.variant_settings import RetrieverSettings
from ragassay.experiment.variants import Variant

from .about import Weighing
from .engine import fuses

MOST_FUSED = 5
"""Queries that a hybrid query of the server takes at most."""


@dataclass(frozen=True)
class Home:
    """An index: what it holds of which chunking. embedding: None where it holds no vectors."""

    chunking: str
    embedding: str | None = None


class Homes:
    """The indexes of `variants`, which are all of an experiment's, so that every stage finds the same ones.

    embedding: the model where a variant names none. returns_sections: whether a chunking's passages are handed over as
    sections, which the server knows nothing of.
    """

    def __init__(
        self,
        variants: Iterable[Variant],
        settings: OpenSearchSettings,
        embedding: str,
        returns_sections: Callable[[str], bool],
    ) -> None:
        self._embedding, self._returns_sections = embedding, returns_sections
        self._by_name = {variant.name: variant for variant in variants}
        self._weighings: dict[Home, set[Weighing]] = {}
        self._fused: dict[str, Home] = {}
        if fuses(settings, settings.shards):
            for variant in self._by_name.values():
                self._fuse(variant)
        for variant in self._by_name.values():
            if variant.settings.kind == "bm25":
                self._weighings.setdefault(self.of(variant), set()).add(weighing_of(variant.settings))

    def of(self, variant: Variant) -> Home:
        """The index that a variant of kind bm25 or knn searches."""
        if variant.settings.kind == "knn":
            return Home(variant.chunking, variant.settings.embedding or self._embedding)
        weighing = weighing_of(variant.settings)
        able = [home for home, known in self._weighings.items() if home.chunking == variant.chunking]
        return next((home for home in able if weighing in self._weighings[home]), Home(variant.chunking))

    def of_fused(self, variant: Variant) -> Home | None:
        """The index on which the server fuses a hybrid; None where it cannot, or is not to."""
        return self._fused.get(variant.name)

    def weighings(self, home: Home) -> tuple[Weighing, ...] | None:
        """BM25's settings in an index, in order; None where it needs no other than an index without variants has."""
        known = self._weighings.get(home, set())
        if known <= {Weighing()}:
            return None
        return tuple(sorted(known, key=lambda one: (one.analyzer, one.k1, one.b)))

    def members(self, variant: Variant) -> list[tuple[Variant, float]]:
        """What a hybrid is made of, each with its weight, without those of weight 0."""
        weights = variant.settings.weights or (1.0,) * len(variant.of)
        return [(self._by_name[name], weight) for name, weight in zip(variant.of, weights, strict=True) if weight > 0]

    def _fuse(self, variant: Variant) -> None:
        if not self._can_fuse(variant):
            return
        members = [member for member, _ in self.members(variant)]
        models = [self.of(member) for member in members if member.settings.kind == "knn"]
        home = models[0] if models else Home(variant.chunking)
        self._fused[variant.name] = home
        known = self._weighings.setdefault(home, set())
        known.update(weighing_of(member.settings) for member in members if member.settings.kind == "bm25")

    def _can_fuse(self, variant: Variant) -> bool:
        """OpenSearch 2.19 has RRF without weights, min-max with them, and no z-score."""
        settings = variant.settings
        if settings.kind != "hybrid" or self._returns_sections(variant.chunking):
            return False
        if settings.fused_by == "z-score" or (settings.fused_by == "rrf" and settings.weights):
            return False
        members = [member for member, _ in self.members(variant)]
        models = {member.settings.embedding or self._embedding for member in members if member.settings.kind == "knn"}
        return len(members) <= MOST_FUSED and len(models) <= 1 and all(_is_plain(one.settings) for one in members)


def weighing_of(settings: RetrieverSettings) -> Weighing:
    """How a retriever of kind bm25 reads and weighs, the defaults in place of None."""
    said = {"analyzer": settings.analyzer, "k1": settings.k1, "b": settings.b}
    return Weighing.model_validate({key: value for key, value in said.items() if value is not None})


def _is_plain(settings: RetrieverSettings) -> bool:
    """Whether what it finds is what the server finds for the query as it stands."""
    after = (settings.rerank, settings.mmr, settings.threshold)
    return settings.kind in ("bm25", "knn") and settings.rewrite == "none" and after == (None, None, None)
