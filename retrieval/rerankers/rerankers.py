"""What scores the passages of a ranking anew: the user's own, a cross-encoder, a chat model or a server's `/rerank`.

`rerank:NAME` is a server's, `openai:…`, `anthropic:…`, `local:…` and `file:…` are chat models that order lists,
`python:module:name` is the user's own, and anything else a cross-encoder, by folder or hub name.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, create_model

from ragassay.arrays import Floats
from ragassay.calls.caller import Caller
from ragassay.calls.served import Failed as Failed
from ragassay.calls.served import ServerCall
from ragassay.errors import InputError
from ragassay.experiment.plugins import check_own_object, is_own, load_own_object, said
from ragassay.experiment.stage import Load
from ragassay.experiment.tables import MODEL_PATTERN
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_json, read_text
from ragassay.models.encoders import PairScorer, check_pair_scorer, load_pair_scorer
from ragassay.models.endpoint import check_model, providers
from ragassay.models.requests import Batch, Request
from ragassay.models.servers import (
    RERANK,
    TEXTS_PER_SEARCH,
    RerankServer,
    check_reachable,
    check_rerank_server,
    scores_of,
    searches_of,
    why_unreachable,
)
from ragassay.prompts import Prompt, count_tokens, reply_tokens
from ragassay.records import Passage
from ragassay.text import plain, writable

from ..rankers.embedding import model_identity
from ..rankers.embedding_cache import read_archive, write_archive
from ..rankers.ranker import Ranking, in_order, indexed_text

Asked = Sequence[tuple[str, Sequence[Passage]]]
"""(query, the passages that were found for it, best first)."""

Scores = list[float | None]
"""One a passage, higher is better; None where the reranker leaves the passage out."""


class Reranker(Protocol):
    """Scores passages for queries anew."""

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """A score for each passage of each query, or why that query failed.

        Raises InputError where it can never work, BudgetSpent and RepliesMissing as `Caller` does.
        """
        ...


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


LABEL = "rerank"


def foreseen(name: str, n_queries: int, depth: int, passage_tokens: float, query_tokens: float) -> Load:
    """What `n_queries` queries take with `depth` passages each, as though no reply were kept; all 0 for what is asked
    nowhere. Raises InputError as `kind_of` does."""
    kind = kind_of(name)
    if kind == "server":
        tokens = n_queries * depth * (passage_tokens + query_tokens)
        return Load(LABEL, name, n_queries, 0, round(tokens), 0, n_queries * -(-depth // TEXTS_PER_SEARCH))
    if kind != "listwise":
        return Load(LABEL, name, 0, 0, 0, 0)
    sizes = [stop - start for start, stop in windows(depth)]
    told = count_tokens(read_text(PROMPT)) + query_tokens
    tokens = n_queries * sum(told + size * passage_tokens for size in sizes)
    written = n_queries * sum(reply_tokens(LABEL, size) for size in sizes)
    return Load(LABEL, name, n_queries * len(sizes), 0, round(tokens), written)


def reranked(passages: Sequence[Passage], scores: Scores) -> Ranking:
    """(passage id, score) of those that were not left out, best first; equal scores by id."""
    scored = zip(passages, scores, strict=True)
    return in_order((passage.id, score) for passage, score in scored if score is not None)


def _by_place(order: Sequence[int], n: int) -> Scores:
    """Of each of `n` passages how many places of them it stands above the end; None of one that is not in the order."""
    places = {at: place for place, at in enumerate(order, 1)}
    return [float(n - places[at]) if at in places else None for at in range(n)]


_AT = "ragassay_passage"


class CompressorReranker:
    """A LangChain `BaseDocumentCompressor` of the user's own, `python:module:name`, which orders the documents it gets.

    The score of a passage is how many places it stands above the end; one that does not come back is left out. It runs
    in this process: what it asks and pays is in no plan and no limit, and is kept nowhere.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self._name, self._folder = name, folder

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """As `Reranker`. What the user's code raises fails its query."""
        return [self._one(query, passages) if passages else [] for query, passages in asked]

    def _one(self, query: str, passages: Sequence[Passage]) -> Scores | Failed:
        from langchain_core.documents import Document

        own = self._own
        documents = [
            Document(indexed_text(passage), metadata={**passage.metadata, "_id": passage.id, _AT: at})
            for at, passage in enumerate(passages)
        ]
        known = set(range(len(passages)))
        try:
            given = [document.metadata.get(_AT) for document in own.compress_documents(documents, query)]
            fitting = len(set(given)) == len(given) and set(given) <= known
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's own code may raise anything
            return Failed(f"{plain(self._name)} failed ({said(error)})")
        if not fitting:
            return Failed(f"{plain(self._name)} gave documents that are none of those it got, or one twice")
        return _by_place(given, len(passages))

    @cached_property
    def _own(self) -> Any:
        return load_own_object(self._name, self._folder, "compress_documents")


FORMAT = 1
"""Part of every key; to be raised when the way pairs are scored changes."""

log = logging.getLogger(__name__)


class ScoreCache:
    """The scores of one model (`model`: its identity) in a folder, which need not exist: archives with `scores` (n,).

    A file that is damaged is warned of and left out, so that its pairs are scored again.
    """

    def __init__(self, model: str, folder: Path) -> None:
        self._model, self._folder = model, folder
        self._found: dict[bytes, float] | None = None

    def key(self, query: str, text: str) -> bytes:
        """What the score of a pair is kept under: 32 bytes."""
        return bytes.fromhex(digest_json({"format": FORMAT, "model": self._model, "query": query, "text": text}))

    def known(self) -> dict[bytes, float]:
        """Every score by key; the folder is read at the first call."""
        if self._found is None:
            self._found = {}
            for path in sorted(self._folder.glob("*.npz")):
                model, keys, (scores,) = read_archive(path, "scores") or (self._model, [], [np.zeros(1)])
                if scores.shape != (len(keys),) or not np.isfinite(scores).all():
                    log.warning("%s is damaged or not a file of scores; its pairs are scored again", path)
                elif model == self._model:
                    self._found.update(zip(keys, map(float, scores), strict=True))
        return self._found

    def add(self, scores: Mapping[bytes, float]) -> None:
        """Remember scores and write them, as one file that is there whole or not at all."""
        values = np.fromiter(scores.values(), np.float32, len(scores))
        write_archive(self._folder, self._model, list(scores), scores=values)
        self.known().update(zip(scores, values.tolist(), strict=True))


CHUNK = 512
"""Pairs scored between two writes to the cache."""

Progress = Callable[[int, int], None]
"""Called with (pairs scored, pairs to score) now and then."""


class CrossEncoderReranker:
    """The logits of a cross-encoder, which reads query and passage together (Nogueira and Cho 2019, arXiv:1901.04085).

    They are from the cache or made; the model is loaded once, when a pair needs it.
    """

    def __init__(
        self,
        model: str,
        cache: ScoreCache,
        load: Callable[[str], PairScorer] = load_pair_scorer,
        progress: Progress | None = None,
    ) -> None:
        self._model, self._cache, self._load, self._progress = model, cache, load, progress

    @cached_property
    def _scorer(self) -> PairScorer:
        return self._load(self._model)

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """As `Reranker`; no query fails by itself. Raises InputError where the model cannot be used."""
        pairs = [[(query, indexed_text(passage)) for passage in passages] for query, passages in asked]
        keys = {pair: self._cache.key(*pair) for row in pairs for pair in row}
        known = self._cache.known()
        self._make({key: pair for pair, key in keys.items() if key not in known})
        return [[known[keys[pair]] for pair in row] for row in pairs]

    def seconds(self, query: str, passages: Sequence[Passage]) -> float:
        """How long scoring these passages takes, whatever is kept. Raises InputError."""
        pairs, scorer = [_text((query, indexed_text(passage))) for passage in passages], self._scorer
        started = time.perf_counter()
        if pairs:
            scorer.scores(pairs)
        return time.perf_counter() - started

    def _make(self, missing: dict[bytes, tuple[str, str]]) -> None:
        """Score the pairs, those of about the same length together, so that little is padded."""
        ordered = sorted(missing, key=lambda key: -sum(map(len, missing[key])))
        for start in range(0, len(ordered), CHUNK):
            chunk = ordered[start : start + CHUNK]
            scores = self._scorer.scores([_text(missing[key]) for key in chunk])
            self._cache.add(dict(zip(chunk, scores.tolist(), strict=True)))
            if self._progress:
                self._progress(start + len(chunk), len(ordered))


def _text(pair: tuple[str, str]) -> tuple[str, str]:
    query, text = map(writable, pair)
    return query, text


PROMPT = Path(__file__).with_name("prompts") / "rerank.md"
WINDOW, STEP = 20, 10


def windows(n: int) -> list[tuple[int, int]]:
    """(start, stop) of the windows over `n` passages, the last passages first; none where there is nothing to order."""
    if n < 2:
        return []
    stops = range(n, WINDOW, -STEP)
    found = [(max(0, stop - WINDOW), stop) for stop in stops]
    return found if found and found[-1][0] == 0 else [*found, (0, min(n, WINDOW))]


@lru_cache(maxsize=WINDOW)
def order_schema(n: int) -> type[BaseModel]:
    """The reply on `n` passages: their numbers from 1, the most relevant first, each exactly once."""
    numbers = tuple(range(1, n + 1))

    def once(order: list[int]) -> list[int]:
        if missing := sorted(set(numbers) - set(order)):
            raise ValueError(f"{missing[0]} is missing")
        if len(order) > n:
            raise ValueError(f"{len(order)} numbers for {n} passages")
        return order

    order: Any = (Annotated[list[Literal[numbers]], AfterValidator(once)], ...)  # type: ignore[valid-type]
    config = ConfigDict(extra="forbid", strict=True, frozen=True)
    return create_model("Ranking", __config__=config, __doc__="The passages, most relevant first.", order=order)


class ListwiseReranker:
    """Orders of `model`, any that chats; the score of a passage is how many stand behind it.

    Windows of 20 passages are ordered from the last of the ranking to its first, each ten further up, so that what is
    put first in one is seen in the next (RankGPT; Sun et al. 2023, arXiv:2304.09542). What differs from the
    paper: one prompt (ours) in place of a conversation that has the model acknowledge each passage; passages whole and
    fenced, not cut after 300 words; and a schema, so that an order that misses a passage or names one twice is asked
    for again and then fails its query, where the paper mends it.
    """

    def __init__(self, model: str, caller: Caller, prompt: Path = PROMPT) -> None:
        self._model, self._caller, self._prompt = model, caller, Prompt.load(prompt)

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """As `Reranker`. The windows of all queries are asked together, one after the other of each."""
        orders = [list(range(len(passages))) for _, passages in asked]
        failed: dict[int, Failed] = {}
        due = {at: windows(len(passages)) for at, (_, passages) in enumerate(asked)}
        while due := {at: steps for at, steps in due.items() if steps and at not in failed}:
            requests = tuple(self._request(asked[at], orders[at][slice(*steps[0])]) for at, steps in due.items())
            replies = self._caller.ask([Batch(LABEL, self._model, requests)])[0]
            for (at, steps), reply in zip(due.items(), replies, strict=True):
                value: Any = reply.value
                if reply.error is not None:
                    failed[at] = Failed(reply.error)
                else:
                    shown = orders[at][slice(*steps[0])]
                    orders[at][slice(*steps[0])] = [shown[number - 1] for number in value.order]
            due = {at: steps[1:] for at, steps in due.items()}
        return [failed.get(at) or _by_place(order, len(order)) for at, order in enumerate(orders)]

    def _request(self, one: tuple[str, Sequence[Passage]], shown: Sequence[int]) -> Request:
        query, passages = one
        texts = [indexed_text(passages[at]) for at in shown]
        values = {"query": query, "passages": tuple(enumerate(texts, 1)), "n": len(texts)}
        return Request(self._prompt.render(values), order_schema(len(texts)), items=len(texts))


_KEY_VERSION = 1
"""Part of every key: raising it throws away every reply that was paid for."""


class ServerReranker:
    """The scores of `rerank:NAME`, as its server gives them, in the plan, the usage and the cost limit.

    A reply is kept for a query with all its passages: a server may score them by each other (Jina's third reranker).
    """

    def __init__(self, server: RerankServer, caller: Caller) -> None:
        self._server, self._caller, self._register = server, caller, caller.register
        caller.uses_server(server.model)

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """As `Reranker`. A reply with too few scores, two for a passage or none that is a number fails its query."""
        texts = [(writable(query), tuple(writable(indexed_text(p)) for p in passages)) for query, passages in asked]
        keys = [self._key(query, found) for query, found in texts]
        owed = {key: one for key, one in zip(keys, texts, strict=True) if one[1] and self._register.body(key) is None}
        calls = {self._call(key, query, found): key for key, (query, found) in owed.items()}
        served = self._caller.serve(list(calls), len(calls))
        failed = {calls[call]: got for call, got in served if isinstance(got, Failed)}
        done: list[Scores | Failed] = []
        for key, (_, found) in zip(keys, texts, strict=True):
            body = self._register.body(key) if found else None
            done.append(failed.get(key) or ([] if body is None else [*scores_of(body, len(found))]))
        return done

    def _key(self, query: str, texts: tuple[str, ...]) -> str:
        server = self._server
        named = {"model": server.model, "base_url": server.base_url, "query": query, "texts": list(texts)}
        return digest_json({"version": _KEY_VERSION, "kind": "rerank", **named})

    def _call(self, key: str, query: str, texts: tuple[str, ...]) -> ServerCall[list[float]]:
        def keep(scores: list[float]) -> None:
            """In Cohere's layout."""
            results = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
            self._register.keep(key, {"object": "rerank", "results": results}, None)

        n, ask = len(texts), partial(self._server.ask, query, texts)
        tokens = n * count_tokens(query) + sum(map(count_tokens, texts))
        read, searches = partial(scores_of, n=n), partial(searches_of, n=n)
        return ServerCall(LABEL, self._server.model, n, tokens, ask, read, keep, searches)


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
