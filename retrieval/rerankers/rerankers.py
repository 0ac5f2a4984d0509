"""What scores the passages of a ranking anew: the user's own, a cross-encoder, a chat model or a server's `/rerank`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, create_model

from ragassay.calls.caller import Caller
from ragassay.calls.served import Failed as Failed
from ragassay.calls.served import ServerCall
from ragassay.experiment.plugins import load_own_object, said
from ragassay.files import digest_json
from ragassay.models.encoders import PairScorer, load_pair_scorer
from ragassay.models.requests import Batch, Reply, Request
from ragassay.models.servers import RerankServer, scores_of, searches_of
from ragassay.prompts import Prompt, count_tokens
from ragassay.records import Passage
from ragassay.text import plain, writable

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


def reranked(passages: Sequence[Passage], scores: Scores) -> Ranking:
    """(passage id, score) of those that were not left out, best first; equal scores by id."""
    scored = zip(passages, scores, strict=True)
    return in_order((passage.id, score) for passage, score in scored if score is not None)


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
        places = {at: place for place, at in enumerate(given, 1)}
        return [float(len(passages) - places[at]) if at in places else None for at in range(len(passages))]

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
    query, text = map(writable, pair)
    return query, text


LABEL = "rerank"
PROMPT = Path(__file__).with_name("prompts") / "rerank.md"
WINDOW, STEP = 20, 10


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


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
    return create_model("Ranking", __base__=_Strict, __doc__="The passages, most relevant first.", order=order)


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
            requests = tuple(self._request(asked[at], orders[at], steps[0]) for at, steps in due.items())
            replies = self._caller.ask([Batch(LABEL, self._model, requests)])[0]
            for (at, steps), reply in zip(due.items(), replies, strict=True):
                if reply.error is not None:
                    failed[at] = Failed(reply.error)
                else:
                    orders[at] = _ordered(orders[at], steps[0], reply)
            due = {at: steps[1:] for at, steps in due.items()}
        return [failed.get(at) or _scores(order) for at, order in enumerate(orders)]

    def _request(self, one: tuple[str, Sequence[Passage]], order: Sequence[int], window: tuple[int, int]) -> Request:
        query, passages = one
        shown = [indexed_text(passages[at]) for at in order[slice(*window)]]
        values = {"query": query, "passages": tuple(enumerate(shown, 1)), "n": len(shown)}
        return Request(self._prompt.render(values), order_schema(len(shown)), items=len(shown))


def _ordered(order: Sequence[int], window: tuple[int, int], reply: Reply) -> list[int]:
    """`order` with its window as the reply has it."""
    value: Any = reply.value
    start, stop = window
    return [*order[:start], *(order[start + number - 1] for number in value.order), *order[stop:]]


def _scores(order: Sequence[int]) -> Scores:
    places = {at: place for place, at in enumerate(order, 1)}
    return [float(len(order) - places[at]) for at in range(len(order))]


_KEY_VERSION = 1
"""Part of every key: raising it throws away every reply that was paid for."""


class ServerReranker:
    """The scores of `rerank:NAME`, as its server gives them, in the plan, the usage and the cost limit.

    A reply is kept for a query with all its passages: a server may score them by each other (Jina's third reranker).
    """

    def __init__(self, server: RerankServer, caller: Caller) -> None:
        self._server, self._caller = server, caller
        caller.uses_server(server.model)

    def rerank(self, asked: Asked) -> list[Scores | Failed]:
        """As `Reranker`. A reply with too few scores, two for a passage or none that is a number fails its query."""
        texts = [(writable(query), tuple(writable(indexed_text(p)) for p in passages)) for query, passages in asked]
        keys = [self._key(query, found) for query, found in texts]
        owed = {key: one for key, one in zip(keys, texts, strict=True) if one[1] and self._caller.kept(key) is None}
        failed: dict[str, Failed] = {}
        calls = [self._call(key, query, found) for key, (query, found) in owed.items()]
        for call, got in self._caller.serve(calls, len(calls)):
            if isinstance(got, Failed):
                failed[list(owed)[calls.index(call)]] = got
        return [failed.get(key) or self._kept(key, len(found)) for key, (_, found) in zip(keys, texts, strict=True)]

    def _key(self, query: str, texts: tuple[str, ...]) -> str:
        server = self._server
        named = {"model": server.model, "base_url": server.base_url, "query": query, "texts": list(texts)}
        return digest_json({"version": _KEY_VERSION, "kind": "rerank", **named})

    def _kept(self, key: str, n: int) -> Scores:
        body = self._caller.kept(key) if n else None
        return list(scores_of(body, n)) if body is not None else []

    def _call(self, key: str, query: str, texts: tuple[str, ...]) -> ServerCall[list[float]]:
        def keep(scores: list[float]) -> None:
            self._caller.keep(key, _body(scores))

        read = partial(scores_of, n=len(texts))
        tokens = len(texts) * count_tokens(query) + sum(map(count_tokens, texts))
        ask = partial(self._server.ask, query, texts)
        return ServerCall(
            LABEL, self._server.model, len(texts), tokens, ask, read, keep, partial(searches_of, n=len(texts))
        )


def _body(scores: list[float]) -> dict[str, Any]:
    """What is kept of a reply, in Cohere's layout."""
    return {"object": "rerank", "results": [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]}
