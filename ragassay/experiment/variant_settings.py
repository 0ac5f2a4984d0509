"""`[[chunking]]`, `[[retriever]]` and `[[agent]]`: variants as tables, a list where one value stands being a grid."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, product
from math import prod
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from ..records import Id
from .tables import ModelName, Table

MOST = 5_000
"""Combinations that a grid may have, and variants that there may be in all."""

LISTS = frozenset({"of", "weights"})
"""Keys whose one value is a list: a grid of it is a list of lists."""

SINGLE = frozenset({"name"})
"""Keys that have one value."""


WITHOUT = frozenset({"rerank", "mmr", "threshold"})
"""Keys of which "none" says that there is to be none, beside others in a grid, since TOML has no such value."""


class Grids:
    """`Annotated[tuple[T, ...], Grids()]`: the tables of a file, with every combination of each grid in its place.

    What is wrong is located by the table's number, the combination's, and the key. Two tables with one name, and a
    grid of more than `MOST` combinations, are errors.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        table = core_schema.tuple_variable_schema(handler.generate_schema(get_args(source)[0]))
        one = core_schema.no_info_before_validator_function(combinations, table)
        return core_schema.no_info_after_validator_function(_joined, core_schema.tuple_variable_schema(one))


def combinations(table: Any) -> Any:
    """Every combination of a table's grids, the last key changing fastest. What is no table is left as it is."""
    if not isinstance(table, Mapping):
        return (table,)
    values = {key: _choices(key, value) for key, value in table.items()}
    if empty := [key for key, choices in values.items() if not choices]:
        raise ValueError(f"{empty[0]} is an empty list, of which there is no combination")
    if (n := prod(map(len, values.values()))) > MOST:
        raise ValueError(f"its lists make {n:,} combinations, and at most {MOST:,} can be run; shorten one")
    return tuple(
        {key: None if key in WITHOUT and value == "none" else value for key, value in zip(values, row, strict=True)}
        for row in product(*values.values())
    )


def _choices(key: str, value: Any) -> Sequence[Any]:
    if key in SINGLE or not isinstance(value, (list, tuple)):
        return (value,)
    if key in LISTS:
        return value if any(isinstance(part, (list, tuple)) for part in value) else (value,)
    try:
        return list(dict.fromkeys(value))
    except TypeError:  # a table or a list in it, which is refused where the value is
        return value


def _joined(tables: tuple[tuple[Any, ...], ...]) -> tuple[Any, ...]:
    names = [table[0].name for table in tables]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two tables are named '{twice}'")
    return tuple(chain.from_iterable(tables))


OURS = "ingest"
"""What [ingest] cuts, where a chunking is named."""

SECTIONS = "sections"
"""The chunking of sections, which small passages may be handed over as."""

Rewrite = Literal[
    "none", "fusion", "hyde", "decompose", "step-back", "rm3", "stand-alone", "whole-history", "given-stand-alone"
]

BY_MODEL = ("fusion", "hyde", "decompose", "step-back", "stand-alone")
"""Ways of rewriting a query that ask a chat model."""

MOST_WORDS = 1_000_000
"""A passage has no more."""

_CALLABLE = re.compile(r"[\w.]+:\w+")


class Chunking(Table):
    """`[[chunking]]`: a way of cutting documents into passages.

    size: words of a passage at about most, of `pages` how many of them; overlap: words. returns: whether what is found
    is handed over as it is or as the section that it lies in. breakpoint: for semantic, the percentile of the distances
    between neighbouring sentences above which it cuts.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    name: Id
    by: Literal["words", "sentences", "recursive", "headings", "pages", "semantic", "python"] = "words"
    size: int | None = Field(None, ge=1, le=MOST_WORDS)
    overlap: int | None = Field(None, ge=0)
    returns: Literal["passage", "section"] = "passage"
    embedding: str | None = Field(None, min_length=1)
    breakpoint: float | None = Field(None, gt=0, lt=100)
    callable: str | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Chunking:
        if self.name in (OURS, SECTIONS):
            raise ValueError(f"the name '{self.name}' is taken; give it another")
        if self.by == "words" and self.size is not None and self.size < 10:
            raise ValueError("size is below 10 words")
        if self.overlap and self.by not in ("words", "sentences", "recursive"):
            raise ValueError(f'overlap is for words, sentences and recursive, not for by = "{self.by}"')
        if self.overlap and self.overlap >= self.words:
            raise ValueError(f"overlap must be smaller than size, which is {self.words}")
        if (self.embedding or self.breakpoint) and self.by != "semantic":
            raise ValueError('embedding and breakpoint go with by = "semantic"')
        if self.embedding and self.embedding.startswith("openai:"):
            raise ValueError("embedding: what cuts passages runs on this machine, not on a server; name a model for it")
        _check_callable(self.by == "python", self.callable, 'by = "python"')
        return self

    @property
    def words(self) -> int:
        """The size, as it is where none is set."""
        return self.size if self.size is not None else 1 if self.by == "pages" else 200


_OF_KINDS: dict[str, tuple[str, ...]] = {
    "k1": ("bm25",),
    "b": ("bm25",),
    "analyzer": ("bm25",),
    "of": ("hybrid",),
    "fusion": ("hybrid",),
    "weights": ("hybrid",),
    "rrf_k": ("hybrid",),
    "callable": ("python",),
}
"""Keys that only some kinds have."""


def _pairs(given: Any) -> Any:
    """A table as (key, value) pairs, which can be hashed."""
    if not isinstance(given, Mapping):
        return given
    if wrong := next((key for key, value in given.items() if not isinstance(value, str | int | float)), None):
        raise ValueError(f"{wrong} is neither text, a number nor true or false")
    return tuple(given.items())


Pairs = Annotated[
    tuple[tuple[str, str | int | float], ...], BeforeValidator(_pairs), WithJsonSchema({"type": "object"})
]


class RetrieverSettings(Table):
    """`[[retriever]]`: a way of finding passages. What is None is the kind's default, or [retrieval]'s.

    of: names of retrievers; weights: one for each of them. rewrite_queries: how many a fusion or decomposition writes
    at most. depth: how many are reranked, made diverse or fused. mmr: lambda, from 0 (all diversity) to 1. threshold:
    the lowest score that is handed over. k: passages handed over; tokens: instead, as many as fit. kind: one of
    `retrieval/rankers`, of another package, or "python"; settings: those of its own, which such a kind may take.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    name: Id
    kind: str = Field(min_length=1)
    chunking: str | None = None
    k1: float | None = Field(None, ge=0)
    b: float | None = Field(None, ge=0, le=1)
    analyzer: Literal["by-language", "lucene-english"] | None = None
    embedding: str | None = Field(None, min_length=1)
    of: tuple[str, ...] = ()
    fusion: Literal["rrf", "min-max", "z-score"] | None = None
    weights: tuple[float, ...] = ()
    rrf_k: int | None = Field(None, ge=1)
    rewrite: Rewrite = "none"
    rewrite_model: ModelName | None = None
    rewrite_queries: int | None = Field(None, ge=1, le=20)
    rm3_passages: int | None = Field(None, ge=1)
    rm3_terms: int | None = Field(None, ge=1)
    rm3_weight: float | None = Field(None, ge=0, le=1)
    rerank: str | None = Field(None, min_length=1)
    depth: int = Field(50, ge=1, le=1000)
    mmr: float | None = Field(None, ge=0, le=1)
    threshold: float | None = None
    k: int | None = Field(None, ge=1)
    tokens: int | None = Field(None, ge=1)
    callable: str | None = None
    settings: Pairs = Field((), json_schema_extra={"default": {}})

    @model_serializer(mode="wrap")
    def _without_settings_of_none(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What depends on a table that gives none is what it was before there could be any."""
        said: dict[str, Any] = dump(self)
        if "settings" in said:
            said |= {"settings": dict(self.settings)}
        return said if self.settings else {key: value for key, value in said.items() if key != "settings"}

    @model_validator(mode="after")
    def _fits_its_kind(self) -> RetrieverSettings:
        for key, kinds in _OF_KINDS.items():
            if getattr(self, key) not in (None, ()) and self.kind not in kinds:
                raise ValueError(f'{key} goes with kind = "{kinds[0]}", and this is kind = "{self.kind}"')
        if self.chunking and self.kind == "hybrid":
            raise ValueError('chunking goes with kind = "bm25", and this is kind = "hybrid"')
        if self.embedding and self.kind in ("bm25", "hybrid", "python") and self.mmr is None:
            raise ValueError(f'embedding is not for kind = "{self.kind}" (but with mmr)')
        if self.kind in ("sparse", "late-interaction") and not self.embedding:
            raise ValueError(f'kind = "{self.kind}" needs embedding, the model')
        if self.kind in ("sparse", "late-interaction") and re.match(r"(openai|python):", str(self.embedding)):
            raise ValueError(f'kind = "{self.kind}" takes a model of sentence-transformers, by folder or hub name')
        if self.k is not None and self.tokens is not None:
            raise ValueError("k and tokens are two ways of saying how much is handed over; give one")
        if self.kind == "hybrid" and len(self.of) < 2:
            raise ValueError('kind = "hybrid" needs of, the names of two retrievers or more')
        if self.weights and len(self.weights) != len(self.of):
            raise ValueError(f"weights has {len(self.weights)} numbers for {len(self.of)} retrievers")
        if self.weights and (min(self.weights) < 0 or not sum(self.weights)):
            raise ValueError("weights are 0 or more, and not all of them 0")
        if self.rrf_k is not None and self.fused_by != "rrf":
            raise ValueError('rrf_k goes with fusion = "rrf"')
        if self.rewrite == "rm3" and self.kind != "bm25":
            raise ValueError('rewrite = "rm3" is for kind = "bm25" (a hybrid can be of one that has it)')
        if self.rewrite != "rm3" and {self.rm3_passages, self.rm3_terms, self.rm3_weight} != {None}:
            raise ValueError('rm3_passages, rm3_terms and rm3_weight go with rewrite = "rm3"')
        if self.rewrite not in BY_MODEL and self.rewrite_model:
            raise ValueError(f"rewrite_model goes with rewrite = one of {', '.join(BY_MODEL)}")
        if self.rewrite not in ("fusion", "decompose") and self.rewrite_queries:
            raise ValueError('rewrite_queries goes with rewrite = "fusion" or "decompose"')
        _check_callable(self.kind == "python", self.callable, 'kind = "python"')
        return self

    @property
    def fused_by(self) -> Literal["rrf", "min-max", "z-score"]:
        """How a hybrid fuses: by reciprocal ranks unless there are weights, then by scores from 0 to 1."""
        return self.fusion or ("min-max" if self.weights else "rrf")


class AgentSettings(Table):
    """`[[agent]]`: what answers, be it a retriever and a model, the whole corpus and a model, or a user's own system.

    tokens: of long-context, how many the documents may have.
    """

    name: Id
    kind: Literal["rag", "long-context", "file", "python"] = "rag"
    retriever: str | None = None
    model: ModelName | None = None
    prompt: str | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    tokens: int | None = Field(None, ge=1)
    path: str | None = None
    callable: str | None = None
    timeout_s: float = Field(300.0, gt=0)
    writer: ModelName | None = None

    @model_validator(mode="after")
    def _has_its_source(self) -> AgentSettings:
        if self.kind == "file" and not self.path:
            raise ValueError('kind = "file" needs path')
        _check_callable(self.kind == "python", self.callable, 'kind = "python"')
        if self.kind == "rag" and not self.retriever:
            raise ValueError("needs retriever, the name of a [[retriever]] (or another kind)")
        if self.retriever and self.kind != "rag":
            raise ValueError(f'retriever is not for kind = "{self.kind}"')
        if self.tokens and self.kind != "long-context":
            raise ValueError('tokens goes with kind = "long-context"; how much is retrieved, the retriever says')
        if self.is_own and (self.model or self.prompt or self.temperature is not None):
            raise ValueError(f'model, prompt and temperature are not for kind = "{self.kind}", which answers by itself')
        return self

    @property
    def is_own(self) -> bool:
        """Whether it is a system of the user's own, which is handed a query and no passages."""
        return self.kind in ("file", "python")


Quality = Literal["evidence_recall", "evidence_precision", "evidence_iou", "evidence_ndcg", "evidence_mrr"]


class SearchSettings(Table):
    """`[search]`: the screening of retrievers.

    finalists: how many go on to answers and games, where no [[agent]] names a retriever or this table stands there.
    baseline: a retriever that is always among them. tokens: the context at which chunkings meet. measure: the figure
    that is quality.
    """

    finalists: int = Field(6, ge=1, le=100)
    baseline: str | None = None
    tokens: int = Field(2500, ge=50)
    measure: Quality = "evidence_recall"
    at: Literal["k", "tokens"] = "k"


def _check_callable(wanted: bool, given: str | None, by: str) -> None:
    if wanted and not _CALLABLE.fullmatch(given or ""):
        raise ValueError(f'{by} needs callable = "module:name"')
    if given and not wanted:
        raise ValueError(f"callable goes with {by}")
