"""`ragassay search` and `opensearch`: the passages of a BEIR folder or a TREC collection ranked, and the indexes that a
server holds of ours.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ragassay.errors import InputError
from ragassay.text import plain

from ..terminal import add, add_shared, path_of

if TYPE_CHECKING:
    from ragassay.experiment.settings import OpenSearchSettings
    from ragassay.retrieval.search import Engine


def server_settings(options: argparse.Namespace) -> OpenSearchSettings:
    """The settings that the options of a verb give, the rest by default. Raises InputError."""
    from pydantic import ValidationError

    from ragassay.experiment.settings import OpenSearchSettings
    from ragassay.files import first_problem

    pairs = [pair.partition("=") for pair in getattr(options, "filter", None) or []]
    if wrong := [key for key, sign, _ in pairs if not sign]:
        raise InputError(f"--filter '{plain(wrong[0])}' is not KEY=VALUE")
    given = {name: getattr(options, name, None) for name in ("hybrid", "knn_engine", "ef_search", "aws_region")}
    given |= {"index": getattr(options, "index_name", None), "filter": {key: value for key, _, value in pairs}}
    try:
        return OpenSearchSettings.model_validate({key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        raise InputError(first_problem(error).replace("_", "-"), remedy="correct the option of that name") from None


def add_opensearch(verb: argparse.ArgumentParser) -> None:
    add(verb, "action", "what to do", choices=["list", "remove"])
    add(verb, "--index NAME", "with remove: which; repeatable", action="append", default=[])
    add(verb, "--old", "with remove: each that another index took the alias from", action="store_true")
    add_shared(verb, "--url", "--aws-region")


def run_opensearch(options: argparse.Namespace) -> int:
    """List the indexes of ours on a server, or remove those named and, with --old, those without an alias."""
    from ragassay.retrieval.search import connect, kept_indexes, remove_indexes

    server = connect(options.url, server_settings(options))
    if options.action == "list":
        if options.index or options.old:
            raise InputError("`ragassay opensearch list` takes no --index and no --old")
        for entry in kept_indexes(server):
            print(plain(entry.told))
        return 0
    if not options.index and not options.old:
        raise InputError("nothing to remove", remedy="give --index NAME (see `ragassay opensearch list`) or --old")
    for name in remove_indexes(server, options.index, old=options.old):
        print(f"removed {plain(name)}")
    return 0


_LEXICAL = ("analyzer", "stop_words", "k1", "b")
_OF_ENGINE = {
    "embedded": _LEXICAL,
    "opensearch": ("url", "index_name", "hybrid", "knn_engine", "ef_search", "filter", "aws_region"),
}


def add_search(verb: argparse.ArgumentParser) -> None:
    add(verb, "--corpus FILE", "corpus.jsonl (BEIR), or a TREC collection (<DOC>)", type=path_of, required=True)
    add(
        verb,
        "--queries FILE",
        "queries.jsonl (BEIR), lines of id, tab and text, or TREC topics (<top>)",
        type=path_of,
        required=True,
    )
    add(
        verb,
        "--topic-field",
        "what of a TREC topic is asked; may be repeated; default: title",
        action="append",
        choices=["title", "desc", "narr"],
    )
    add(
        verb,
        "--retriever NAME",
        "bm25, knn, hybrid, sparse, late-interaction, or another kind, a package's too",
        default="bm25",
    )
    add(verb, "--embedding MODEL", default="all-MiniLM-L6-v2")
    add(
        verb,
        "--embedding-backend",
        "what runs the embedding model; default: auto, ONNX Runtime on a processor where it is installed",
        choices=["auto", "torch", "onnx", "onnx-int8"],
        default="auto",
    )
    add(
        verb,
        "--bm25",
        "lucene: bm25s with lengths rounded as in Lucene's index",
        choices=["bm25s", "lucene", "rank-bm25"],
        default="bm25s",
    )
    add(verb, "--k1 X", "of BM25; default: 1.2", type=float)
    add(verb, "--b X", "of BM25; default: 0.75", type=float)
    add(verb, "--language", "of stop words and stemming", default="en")
    add(
        verb,
        "--analyzer",
        "of BM25: ours, or Lucene's EnglishAnalyzer to the letter; default: by-language",
        choices=["by-language", "lucene-english"],
    )
    add(verb, "--stop-words FILE", "of BM25: these, one a line, in place of its own", type=path_of)
    add(verb, "--rrf-k N", "of the hybrid's fusion", type=int, default=60)
    add(verb, "--k N", "passages a query", type=int, default=100)
    add(verb, "--cache DIR", "where embeddings are kept; default: embeddings beside the run", type=path_of)
    add(verb, "--no-cache", "keep no embeddings", action="store_true")
    add(verb, "--out RUN", "the TREC run to write", type=path_of, required=True)
    add(verb, "--engine", choices=["embedded", "opensearch"], default="embedded")
    server = verb.add_argument_group("with --engine opensearch")
    add_shared(server, "--url", "--aws-region")
    add(server, "--index NAME", "search this one; nothing is indexed", dest="index_name")
    add(server, "--hybrid", "who fuses; default: ours", choices=["ours", "server"])
    add(server, "--knn-engine", "of a new index; default: lucene", choices=["lucene", "faiss"])
    add(server, "--ef-search N", "candidates of HNSW; default: 100", type=int)
    add(server, "--filter KEY=VALUE", "only passages with this metadata; may be repeated", action="append")


def run_search(options: argparse.Namespace) -> int:
    """Rank a BEIR folder's passages for its queries into a TREC run."""
    from ragassay.progress import StderrProgress, counter
    from ragassay.retrieval.rankers.bm25 import Lexical
    from ragassay.retrieval.search import search_files

    engine = _engine(options)
    if options.k < 1:
        raise InputError(f"--k is {options.k}, it must be at least 1")
    lexical = {name: value for name in _LEXICAL if (value := getattr(options, name)) is not None}
    if options.no_cache and options.cache:
        raise InputError("--no-cache goes without --cache")
    cache = Path(options.cache or options.out.parent / "embeddings")
    kept = not options.no_cache and (options.cache or not options.out.exists() or options.out.is_file())
    n_queries = search_files(
        options.corpus,
        options.queries,
        options.retriever,
        embedding=options.embedding,
        backend=options.embedding_backend,
        k=options.k,
        out=options.out,
        language=options.language,
        bm25=options.bm25,
        rrf_k=options.rrf_k,
        lexical=Lexical(**lexical),
        topic_fields=options.topic_field or ["title"],
        cache=cache if kept else None,
        progress=counter(StderrProgress(), "texts embedded" if engine is None else "passages indexed"),
        engine=engine,
    )
    print(f"{options.out}: {n_queries} queries")
    return 0


def _engine(options: argparse.Namespace) -> Engine | None:
    """The OpenSearch server that the options name; None for the embedded engine. Raises InputError."""
    from ragassay.retrieval.search import Engine

    for engine, names in _OF_ENGINE.items():
        named = [name.removesuffix("_name") for name in names if getattr(options, name) is not None]
        given = [f"--bm25 {options.bm25}"] if engine == "embedded" and options.bm25 != "bm25s" else []
        given += [f"--{name.replace('_', '-')}" for name in named]
        if given and options.engine != engine:
            raise InputError(f"{given[0]} is for --engine {engine}, and the engine is {options.engine}")
    if options.engine == "embedded":
        return None
    rejected = options.out.with_name(f"{options.out.name}.rejected.jsonl")
    return Engine(options.url, server_settings(options), options.corpus.resolve().parent.name, rejected)
