"""`ragassay search`, `score` and `rate`: single steps on plain files, ours or anybody's."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragassay.errors import InputError
from ragassay.progress import StderrProgress, counter
from ragassay.records import Figure
from ragassay.text import plain

from .opensearch import server_settings

if TYPE_CHECKING:
    from ragassay.retrieval.opensearch.engine import Engine


def search(options: argparse.Namespace) -> int:
    """Rank a BEIR folder's passages for its queries into a TREC run."""
    from ragassay.retrieval.search import search_files

    engine = _engine(options)
    if options.k < 1:
        raise InputError(f"--k is {options.k}, it must be at least 1")
    n_queries = search_files(
        options.corpus,
        options.queries,
        options.retriever,
        embedding=options.embedding,
        k=options.k,
        out=options.out,
        language=options.language,
        bm25=options.bm25,
        rrf_k=options.rrf_k,
        cache=options.cache,
        progress=counter(StderrProgress(), "texts embedded" if engine is None else "passages indexed"),
        engine=engine,
    )
    print(f"{options.out}: {n_queries} queries")
    return 0


def _engine(options: argparse.Namespace) -> Engine | None:
    """The OpenSearch server that the options name; None for the embedded engine. Raises InputError."""
    from ragassay.retrieval.opensearch.engine import Engine

    if options.engine == "opensearch":
        _refuse(options, "--bm25 rank-bm25 is", options.bm25 == "rank-bm25", "embedded")
        rejected = options.out.with_name(f"{options.out.name}.rejected.jsonl")
        return Engine(options.url, server_settings(options), options.corpus.resolve().parent.name, rejected)
    for name in ("url", "index_name", "hybrid", "knn_engine", "ef_search", "filter", "aws_region"):
        option = "--" + name.removesuffix("_name").replace("_", "-")
        _refuse(options, f"{option} is", getattr(options, name) is not None, "opensearch")
    return None


def _refuse(options: argparse.Namespace, what: str, given: bool, engine: str) -> None:
    if given:
        raise InputError(f"{what} for --engine {engine}, and the engine is {options.engine}")


def score(options: argparse.Namespace) -> int:
    """Print each measure with its interval and n."""
    from ragassay.evaluate.from_files.score import missing_queries, score_files

    figures = score_files(options.qrels, options.run, options.measure, sections=options.sections)
    _print_figures(figures, {name: figure.dump() for name, figure in figures.items()}, as_json=options.json)
    if not options.json and (missing := missing_queries(options.qrels, options.run)):
        print(f"note: queries of the qrels that the run lacks, each scored 0: {missing:,}")
    return 0


def rate(options: argparse.Namespace) -> int:
    """Print each agent's rating with its interval and n; for Bradley-Terry also how sure the order is."""
    from ragassay.evaluate.from_files.rate import rate_file

    result = rate_file(
        options.games,
        options.method,
        k_factor=options.k_factor,
        initial=options.initial,
        tournaments=options.tournaments,
        seed=options.seed,
        bootstrap=options.bootstrap,
        ties=options.ties,
        sections=options.sections,
    )
    ratings = {name: Figure.model_validate(figure) for name, figure in result["ratings"].items()}
    _print_figures(ratings, result, _order(result), as_json=options.json)
    if options.json:
        return 0
    if result.get("triples"):
        print(f"{result['intransitive_triples']:,} of {result['triples']:,} triples of agents run in a circle")
    if result.get("note"):
        print(f"note: {plain(result['note'])}")
    return 0


def _order(result: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Columns on how sure the order is, agent to text; none for Elo."""
    if "p_best" not in result:
        return {}
    ranks = {agent: str(low) if low == high else f"{low} to {high}" for agent, (low, high) in result["ranks"].items()}
    return {"P(best)": {agent: f"{chance:.3f}" for agent, chance in result["p_best"].items()}, "rank": ranks}


def _print_figures(
    figures: Mapping[str, Figure],
    whole: Mapping[str, Any],
    more: Mapping[str, Mapping[str, str]] | None = None,
    *,
    as_json: bool,
) -> None:
    """A table of the figures, with the columns `more`; or `whole` as JSON."""
    if as_json:
        print(json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    columns = more or {}
    table = Table("", "value", "95% interval", "n", "failed", *columns)
    for name, figure in figures.items():
        interval = "–" if figure.ci_low is None else f"{figure.ci_low:.4g} to {figure.ci_high:.4g}"
        value = "–" if figure.value is None else f"{figure.value:.4f}"
        rest = [column.get(name, "–") for column in columns.values()]
        table.add_row(Text(plain(name)), value, interval, str(figure.n), str(figure.n_failed), *rest)
    Console().print(table)
