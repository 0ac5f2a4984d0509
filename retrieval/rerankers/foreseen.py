"""What reranking will ask of a model, for a plan."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.files import read_text
from ragassay.models.rerank_server import TEXTS_PER_SEARCH
from ragassay.tokens import count_tokens, reply_tokens

from .listwise import LABEL, PROMPT, windows
from .opening import kind_of


@dataclass(frozen=True)
class Foreseen:
    """Calls with the label `rerank`, their tokens, and the searches that a server charges by."""

    calls: int
    input_tokens: int
    output_tokens: int
    searches: int


def foreseen(name: str, n_queries: int, depth: int, passage_tokens: float, query_tokens: float) -> Foreseen:
    """What `n_queries` queries take with `depth` passages each, as though no reply were kept; all 0 for what is asked
    nowhere. Raises InputError as `kind_of` does."""
    kind = kind_of(name)
    if kind == "server":
        tokens = n_queries * depth * (passage_tokens + query_tokens)
        return Foreseen(n_queries, round(tokens), 0, n_queries * -(-depth // TEXTS_PER_SEARCH))
    if kind == "listwise":
        sizes = [stop - start for start, stop in windows(depth)]
        told = count_tokens(read_text(PROMPT)) + query_tokens
        tokens = n_queries * sum(told + size * passage_tokens for size in sizes)
        written = n_queries * sum(reply_tokens(LABEL, size) for size in sizes)
        return Foreseen(n_queries * len(sizes), round(tokens), written, 0)
    return Foreseen(0, 0, 0, 0)
