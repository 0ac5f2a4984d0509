"""The reranker that a name stands for, and whether it can be had.

`rerank:NAME` is a server's, `openai:…`, `anthropic:…`, `local:…` and `file:…` are chat models that order lists,
`python:module:name` is the user's own, and anything else a cross-encoder, by folder or hub name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ragassay.arrays import Floats
from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.plugins import check_own_object, is_own
from ragassay.experiment.tables import MODEL_PATTERN
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_text
from ragassay.models.encoders import check_pair_scorer
from ragassay.models.endpoint import check_model, providers
from ragassay.models.servers import (
    RERANK,
    TEXTS_PER_SEARCH,
    RerankServer,
    check_reachable,
    check_rerank_server,
    why_unreachable,
)
from ragassay.prompts import count_tokens, reply_tokens
from ragassay.text import plain

from ..rankers.embedding import model_identity
from ..rankers.ranker import Ranking
from .rerankers import (
    LABEL,
    PROMPT,
    CompressorReranker,
    CrossEncoderReranker,
    ListwiseReranker,
    Progress,
    Reranker,
    ScoreCache,
    ServerReranker,
    windows,
)

Kind = Literal["cross-encoder", "server", "listwise", "python"]


def kind_of(name: str) -> Kind:
    """What a reranker's name stands for. Raises InputError for a provider that does not exist."""
    if Path(name).is_dir() or not re.match(MODEL_PATTERN, name):
        return "cross-encoder"
    if name.startswith(RERANK):
        return "server"
    if is_own(name):
        return "python"
    if name.partition(":")[0] in providers():
        return "listwise"
    known = f"{RERANK}NAME, {':…, '.join(providers())}:…, python:module:name"
    raise InputError(f"'{plain(name)}' names no reranker", remedy=f"write {known}, or a cross-encoder's name")


def open_reranker(name: str, workspace: Workspace, caller: Caller, progress: Progress | None = None) -> Reranker:
    """The reranker of that name; nothing is loaded or asked yet. Raises InputError where there can be none."""
    kind = kind_of(name)
    if kind == "server":
        return ServerReranker(RerankServer(name, workspace.experiment.settings_of(name)), caller)
    if kind == "listwise":
        return ListwiseReranker(name, caller)
    if kind == "python":
        check_own_object(name, workspace.corpus)
        return CompressorReranker(name, workspace.corpus)
    return CrossEncoderReranker(name, ScoreCache(model_identity(name), workspace.rerank_scores), progress=progress)


def check_reranker(name: str, workspace: Workspace) -> None:
    """Raises InputError where it could not rerank: no model, no key, no server, no module. Nothing is loaded."""
    kind, settings = kind_of(name), workspace.experiment.settings_of(name)
    if kind == "server":
        check_rerank_server(name, settings)
        if why := why_unreachable(f"{str(settings.base_url).rstrip('/')}/models"):
            problem = f"{plain(name)}: nobody answers at {plain(str(settings.base_url))} ({why})"
            raise InputError(problem, remedy="start the server there, or correct its base_url")
    elif kind == "listwise":
        check_model(name, settings)
        check_reachable(name, settings)
    elif kind == "python":
        check_own_object(name, workspace.corpus)
    else:
        check_pair_scorer(name)


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


def mmr(ranking: Ranking, query: Floats, vectors: Mapping[str, Floats], lam: float, k: int | None = None) -> Ranking:
    """The `k` passages (all without one) by maximal marginal relevance (Carbonell and Goldstein 1998, SIGIR).

    Each time that passage is taken which has the largest lam * sim(passage, query) - (1 - lam) * max sim(passage, taken
    ones), sim being the cosine: of `query` (dimensions,) and `vectors`, by passage id. lam = 1 ranks by likeness to the
    query alone, lam = 0 by difference alone. The score of a passage is what it was taken for, -1 to 1, but never above
    that of one taken before; equal ones are taken in the order of `ranking`. Raises ValueError for lam outside 0 to 1,
    KeyError for a passage without a vector.
    """
    if not 0 <= lam <= 1:
        raise ValueError(f"lam is {lam}, which is not from 0 to 1")
    wanted = len(ranking) if k is None else min(k, len(ranking))
    if not wanted:
        return []
    rows = _units(np.array([vectors[passage] for passage, _ in ranking], np.float64))
    relevance, likeness = rows @ _units(np.asarray(query, np.float64)[None])[0], rows @ rows.T
    taken, nearest = list[tuple[int, float]](), np.zeros(len(ranking))
    for _ in range(wanted):
        worth = lam * relevance - (1 - lam) * nearest
        worth[[at for at, _ in taken]] = -np.inf
        best = int(np.argmax(np.round(worth, 9)))
        score = min(float(worth[best]), taken[-1][1]) if taken else float(worth[best])
        nearest = likeness[best] if not taken else np.maximum(nearest, likeness[best])
        taken.append((best, score))
    return [(ranking[at][0], score) for at, score in taken]


def _units(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), np.float64)


def above(ranking: Ranking, threshold: float) -> Ranking:
    """The passages whose score is at least `threshold`, which may be none."""
    return [(passage, score) for passage, score in ranking if score >= threshold]
