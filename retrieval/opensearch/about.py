"""What an index of ours holds, its name, and its settings and mapping on the server.

BM25 is Lucene's over terms that our own analyzer made: the field `terms` holds them with spaces between, and the
server only splits at white space, so that both engines see the same terms whatever the language; k1 and b are the
embedded engine's. An analyzer of the server would have to be shown equal for every text, stop list and stemmer. Where
variants have settings of BM25, each is a field over the same terms (`Weighing`), which are sent once.

An index describes itself in one document (`ABOUT`), which a login that may only read can see, too.
"""

from __future__ import annotations

import re
from typing import Any

from ragassay.experiment.settings import OpenSearchSettings
from ragassay.files import digest_bytes, digest_json
from ragassay.records import Record

from ..rankers.bm25 import K1, AnalyzerName, B
from ..rankers.ranker import Fingerprint

FORMAT = 1
"""Part of every index's name; to be raised when the analysis, the fields or the way vectors are stored change."""

ABOUT = "ragassay about"
"""The _id of the document that describes an index; no passage's id holds white space."""

PREFIX = "ragassay-index-"
ALIAS_PREFIX = "ragassay-current-"

TERMS = "terms"
"""The field of the terms, which BM25 searches in an index without weighings."""

TERMS_OF: dict[AnalyzerName, str] = {"by-language": TERMS, "lucene-english": "terms_lucene_english"}
"""The field that holds the terms of an analyzer."""

_LONGEST_TOKEN = 1_048_576  # characters: the most that the whitespace tokenizer takes


class Weighing(Record):
    """How BM25 reads and weighs: its analyzer by name, k1 (0 or more) and b (0 to 1)."""

    analyzer: AnalyzerName = "by-language"
    k1: float = K1
    b: float = B


class About(Record):
    """What an index was made from. `embedding` and `dimension` are None where it holds no vectors.

    weighings: what BM25 can be searched by, a field each; None where that is k1 and b alone, over the field `terms`.
    complete: every passage is in it. corpus: SHA-256 of the passages. alias: what points to it when it is complete.
    """

    format: int = FORMAT
    corpus: str
    n_passages: int
    language: str
    k1: float = K1
    b: float = B
    embedding: str | None = None
    dimension: int | None = None
    knn_engine: str | None = None
    m: int | None = None
    ef_construction: int | None = None
    shards: int = 1
    alias: str
    complete: bool = False
    weighings: tuple[Weighing, ...] | None = None

    @property
    def index(self) -> str:
        """The index's name: language, model, the corpus's fingerprint, and a digest of what else shapes it."""
        left_out = {"corpus", "n_passages", "alias", "complete", "dimension"}
        settings = digest_json({key: value for key, value in self.dump().items() if key not in left_out})
        return f"{PREFIX}{_variant(self.language, self.embedding)}-{self.corpus[:12]}-{settings[:8]}"

    def dump(self) -> dict[str, Any]:
        """As it is kept on the server, without `weighings` where there are none."""
        return self.model_dump(mode="json", exclude={"weighings"} if self.weighings is None else None)

    def field_of(self, weighing: Weighing) -> str:
        """The field that BM25 searches by a weighing, which is one of the index's."""
        if self.weighings is None:
            return TERMS
        return f"{TERMS_OF[weighing.analyzer]}.{_similarity(self.weighings.index(weighing))}"

    @property
    def analyzers(self) -> tuple[AnalyzerName, ...]:
        """Whose terms the index holds."""
        return tuple(dict.fromkeys(weighing.analyzer for weighing in self.weighings or [Weighing()]))


def wanted(
    corpus: Fingerprint,
    language: str,
    embedding: str | None,
    settings: OpenSearchSettings,
    corpus_name: str,
    *,
    weighings: tuple[Weighing, ...] | None = None,
    alias: str | None = None,
) -> About:
    """The description of the index that a search needs; `embedding` is the model's identity, None for BM25 alone.

    The alias is the one given, the setting's, or made from the corpus folder's name, the language and the model.
    """
    vectors = embedding is not None
    return About(
        corpus=corpus.sha256,
        n_passages=corpus.n_passages,
        language=language,
        embedding=embedding,
        knn_engine=settings.knn_engine if vectors else None,
        m=settings.m if vectors else None,
        ef_construction=settings.ef_construction if vectors else None,
        shards=settings.shards,
        alias=alias or settings.alias or f"{ALIAS_PREFIX}{_slug(corpus_name)}-{_variant(language, embedding)}",
        weighings=weighings,
    )


def variants_alias(
    settings: OpenSearchSettings,
    corpus_name: str,
    chunking: str | None,
    language: str,
    embedding: str | None,
    grid: bool,
) -> str:
    """What points to an index of variants: by the corpus, the chunking (None: [ingest]'s), language and model.

    grid: whether it has weighings, so that it takes no alias from an index that has none.
    """
    start, middle = settings.alias or f"{ALIAS_PREFIX}{_slug(corpus_name)}", ""
    if chunking:  # with a digest where the slug has lost something
        lost = "" if _slug(chunking) == chunking else f"-{digest_bytes(chunking.encode())[:6]}"
        middle = f"-{_slug(chunking)}{lost}"
    return f"{start}{middle}-{_variant(language, embedding)}{'-grid' if grid else ''}"


def index_body(about: About, replicas: int | None) -> dict[str, Any]:
    """Settings and mapping; without `replicas` there is one as soon as the cluster has a second node.

    The source of a passage is not kept on the server: the corpus file has its text.
    """
    copies = {"auto_expand_replicas": "0-1"} if replicas is None else {"number_of_replicas": replicas}
    knn = {"knn": True} if about.embedding else {}
    return {
        "settings": {
            "index": {"number_of_shards": about.shards, "refresh_interval": "-1", **copies, **knn, **_analysis(about)}
        },
        "mappings": {"dynamic": "strict", "_source": {"includes": ["about"]}, "properties": _fields(about)},
    }


def _analysis(about: About) -> dict[str, Any]:
    weighed = {"ragassay_bm25": (about.k1, about.b)}
    if about.weighings is not None:
        weighed = {_similarity(place): (one.k1, one.b) for place, one in enumerate(about.weighings)}
    return {
        "similarity": {name: {"type": "BM25", "k1": k1, "b": b} for name, (k1, b) in weighed.items()},
        "analysis": {
            "tokenizer": {"ragassay_spaces": {"type": "whitespace", "max_token_length": _LONGEST_TOKEN}},
            "analyzer": {"ragassay_terms": {"type": "custom", "tokenizer": "ragassay_spaces"}},
        },
    }


def _fields(about: About) -> dict[str, Any]:
    """Of the terms one for each analyzer, not searched itself, and under it one for each of its weighings."""
    fields: dict[str, Any] = {
        "id": {"type": "keyword"},
        "metadata": {"type": "keyword", "ignore_above": 1000},
        "about": {"type": "object", "enabled": False},
    }
    if about.weighings is None:
        fields[TERMS] = _searched("ragassay_bm25")
    else:
        for name in about.analyzers:
            fields[TERMS_OF[name]] = {"type": "text", "index": False, "norms": False, "fields": {}}
        for place, one in enumerate(about.weighings):
            fields[TERMS_OF[one.analyzer]]["fields"][_similarity(place)] = _searched(_similarity(place))
    if about.embedding:
        method = {
            "name": "hnsw",
            "engine": about.knn_engine,
            "space_type": "cosinesimil",
            "parameters": {"m": about.m, "ef_construction": about.ef_construction},
        }
        fields["vector"] = {"type": "knn_vector", "dimension": about.dimension, "method": method}
    return fields


def _searched(similarity: str) -> dict[str, Any]:
    return {"type": "text", "analyzer": "ragassay_terms", "similarity": similarity, "index_options": "freqs"}


def _similarity(place: int) -> str:
    return f"bm25_{place}"


def _variant(language: str, embedding: str | None) -> str:
    return f"{_slug(language)}-{_slug(embedding) if embedding else 'bm25'}"


def _slug(text: str) -> str:
    """`text` as part of an index's name: at most 60 of a-z, 0-9, dot, underscore and hyphen."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower())[:60].strip("-._") or "x"
