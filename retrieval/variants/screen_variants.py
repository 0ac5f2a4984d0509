"""The first half of the stage `screen`: every variant runs over every query, and what it found and took is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from ragassay.calls.caller import Caller
from ragassay.calls.served import ServerLedger
from ragassay.errors import InputError, NothingCame
from ragassay.experiment.settings import Experiment, is_served
from ragassay.experiment.stage import QUESTION_TOKENS, Load, count_queries, foreseen_load
from ragassay.experiment.variant_settings import SECTIONS, RetrieverSettings
from ragassay.experiment.variants import Variant
from ragassay.experiment.workspace import (
    StageOutcome,
    VariantRun,
    Workspace,
    chunking_of,
    count_by_chunking,
    limits_of,
    settings_of,
)
from ragassay.files import read_records, read_text, write_records, write_run
from ragassay.models.endpoint import base_url_of
from ragassay.models.servers import served_identity
from ragassay.prompts import count_tokens, passage_tokens
from ragassay.records import Passage, Query
from ragassay.text import plain

from ..agents.own_agents import source_problem
from ..agents.python_agent import PythonRanker
from ..dependencies import (
    batch_label,
    prompt_file,
    rewriting_of,
    rewritings_for,
    search_key,
    sections_returned,
)
from ..rank_queries import read_queries
from ..rankers.embedding import BATCH_TEXTS, BATCH_TOKENS
from ..rankers.embedding import LABEL as EMBEDDED
from ..rankers.embedding_cache import EmbeddingCache, Text
from ..rankers.ranker import OWN, indexed_text, kind_of_ranker
from ..rerankers.rerankers import check_reranker, foreseen
from ..retrievers import check_embedding
from .searching import RewrittenBy, VariantRankers


def variant_checks(workspace: Workspace, *, run_code: bool) -> Collection[Callable[[], None]]:
    """A check for each thing that a [[retriever]] needs; it raises InputError where that is not there.

    The user's modules are imported only where their code may `run_code`; without, what their source tells is checked.
    """
    default = workspace.experiment.retrieval.embedding
    checks: dict[tuple[str, str], Callable[[], None]] = {}
    tables = workspace.experiment.retriever
    kinds = {name: kind_of_ranker(name) for name in {one.kind for one in tables} - {OWN}}
    for one in tables:
        named, model = f"retriever '{one.name}'", one.embedding or default
        if one.rerank:
            checks["rerank", one.rerank] = partial(check_reranker, one.rerank, workspace)
        if one.kind == OWN:
            checks["own", str(one.callable)] = partial(_check_own, one, workspace, run_code)
        else:
            checks[one.kind, model] = partial(kinds[one.kind].check, model, named)
        if (one.kind in kinds and kinds[one.kind].embeds) or one.mmr is not None:
            checks["embedding", model] = partial(check_embedding, model, workspace, named)
    return checks.values()


def check_passages(workspace: Workspace) -> None:
    """Raises InputError where a variant hands over more passages than there are, or searches where there is none."""
    experiment, file = workspace.experiment, workspace.corpus / "experiment.toml"
    counts = count_by_chunking(workspace.passages)
    for variant in experiment.variants.all:
        handed_over, (k, _) = _handed_over(variant, experiment), limits_of(variant, experiment)
        n, unit = counts[handed_over], "sections" if handed_over == SECTIONS else "passages"
        named = f"retriever '{variant.name}'"
        if not counts[variant.chunking]:
            remedy = "run `ragassay ingest` if it is new; else see how it cuts, or what could be read of the documents"
            raise InputError(f"{named}: the chunking '{variant.chunking}' gives no passage", file=file, remedy=remedy)
        if k and k > n:
            problem = f"{named}: k is {k}, and the chunking '{variant.chunking}' has {n} {unit}"
            remedy = "lower it there, say how much by tokens, or add documents"
            raise InputError(problem, file=file, remedy=remedy)


def _check_own(one: RetrieverSettings, workspace: Workspace, run_code: bool) -> None:
    if run_code:
        PythonRanker(one.name, str(one.callable), workspace.corpus, frozenset(), at_once=1).close()
    elif problem := source_problem(str(one.callable), workspace.corpus, 2):
        file = workspace.corpus / "experiment.toml"
        remedy = "name a function from a query's text and k to ids of passages, or a LangChain retriever"
        raise InputError(f"retriever '{one.name}': {one.callable}: {problem}", file=file, remedy=remedy)


Passages = Mapping[str, Sequence[Passage]]
"""By chunking, in the order of the file."""


def screening_foreseen(workspace: Workspace) -> list[Load]:
    """What the screening asks chat models to write, and servers to embed and rerank.

    A load for each model that embeds on a server or reranks by asking, and one for what it was asked before.
    """
    experiment, n, loads = workspace.experiment, count_queries(workspace), list[Load]()
    for one in rewritings_for(experiment):
        tokens = count_tokens(read_text(prompt_file(workspace, one.way))) + QUESTION_TOKENS
        loads.append(foreseen_load(batch_label(one, experiment), one.model, n, tokens))
    variants = experiment.variants.all
    if any(one.settings.rerank or is_served(_embedding(one, experiment) or "") for one in variants):
        passages = defaultdict[str, list[Passage]](list)
        for passage in read_records(workspace.passages, Passage):
            passages[chunking_of(passage)].append(passage)
        loads += [*_embedded(workspace, passages, n), *_reranked(experiment, passages, n)]
    return loads


def _embedding(variant: Variant, experiment: Experiment) -> str | None:
    """The model by which a variant searches, or makes diverse what it found."""
    settings = variant.settings
    if settings.kind == "knn" or settings.mmr is not None:
        return settings.embedding or experiment.retrieval.embedding
    return None


def _handed_over(variant: Variant, experiment: Experiment) -> str:
    """The chunking whose passages a variant hands over: its own, or the sections."""
    return SECTIONS if variant.chunking in sections_returned(experiment) else variant.chunking


def _embedded(workspace: Workspace, passages: Passages, n_queries: int) -> Iterator[Load]:
    """Of each server's model: the calls that were made, which are not paid again, and those for texts whose vectors are
    not kept; of what is searched in place of queries as though none were."""
    experiment, variants = workspace.experiment, workspace.experiment.variants
    of = {one.name: _embedding(one, experiment) or "" for one in variants.all}
    for model in sorted(set(filter(is_served, of.values()))):
        users = [one for one in variants.all if of[one.name] == model]
        searched = {one.chunking for one in users if one.settings.kind == "knn"}
        diverse = {_handed_over(one, experiment) for one in users if one.settings.mmr is not None} - searched
        most = n_queries * max(one.settings.depth for one in users)
        wanted = [passages[name] for name in sorted(searched)] + [passages[name][:most] for name in sorted(diverse)]
        using = [one for one in variants.all if model in {of[part.name] for part in variants.needed([one.name])}]
        written = {rewriting for one in using if (rewriting := rewriting_of(one.settings, experiment))}
        in_place = [QUESTION_TOKENS] * (n_queries * sum(rewriting.n for rewriting in written))
        sizes = [*_missing(model, wanted, workspace, n_queries), in_place]
        for row in ServerLedger(workspace.server_calls).rows():
            if (row.stage, row.model) == ("screen", model):
                yield Load(row.label, model, 1, 1, row.input_tokens or 0, 0)
        calls = sum(max(ceil(len(one) / BATCH_TEXTS), ceil(sum(one) / BATCH_TOKENS)) for one in sizes)
        yield Load(EMBEDDED, model, calls, 0, sum(map(sum, sizes)), 0)


def _missing(
    model: str, wanted: Sequence[Sequence[Passage]], workspace: Workspace, n_queries: int
) -> Iterator[list[int]]:
    """The tokens of the texts that have no vector yet: of each sequence of passages, and of the queries."""
    identity = served_identity(model, base_url_of(model, workspace.experiment.settings_of(model)))
    cache = EmbeddingCache(identity, workspace.embeddings, read=[workspace.shipped_embeddings])
    rows = [[Text("passage", indexed_text(passage)) for passage in one] for one in wanted]
    if workspace.queries.exists():
        rows.append([Text("query", query.text) for query in read_records(workspace.queries, Query)])
    else:
        yield [QUESTION_TOKENS] * n_queries
    for row in rows:
        yield [count_tokens(text.text) for text in dict.fromkeys(row) if cache.key(text) not in cache.known()]


def _reranked(experiment: Experiment, passages: Passages, n_queries: int) -> Iterator[Load]:
    """Of each variant that has its passages reranked by asking, as though no reply were kept."""
    for one in experiment.variants.all:
        found = passages[_handed_over(one, experiment)]
        if one.settings.rerank and found:
            mean = sum(map(passage_tokens, found)) / len(found)
            load = foreseen(one.settings.rerank, n_queries, min(one.settings.depth, len(found)), mean, QUESTION_TOKENS)
            if load.calls:
                yield load


TIMED = 20
"""So many queries are searched for one at a time, spread evenly over the test set."""

TIMED_RERANKED = 5
"""The same where a cross-encoder reads every passage anew."""

DEEPEST = 200
"""Passages of a ranking that is written, at most, unless a variant hands over more."""

Progress = Callable[[int, int], None]


def screen_variants(
    workspace: Workspace,
    caller: Caller,
    progress: Progress | None = None,
    rewritten: RewrittenBy | None = None,
    embedding: Progress | None = None,
) -> StageOutcome:
    """Write `screening/VARIANT.trec` of every variant, and `screening.jsonl`.

    A query that failed stands in no ranking of that variant, and its error in the variant's line. `progress` is told of
    variants done, `embedding` of texts embedded. Raises InputError where a variant can never work: nothing that is
    there already is lost.
    """
    check_passages(workspace)
    passages, queries = read_records(workspace.passages, Passage), read_queries(workspace)
    experiment, variants = workspace.experiment, workspace.experiment.variants.all
    path, runs = workspace.screening_runs, list[VariantRun]()
    before = read_records(path, VariantRun) if path.exists() else []
    known = {run.key: run for run in before if run.key is not None and run.latency_p50_s is not None}
    with VariantRankers(workspace, passages, caller, embedding, rewritten) as rankers:
        rankers.check_embeddings(queries)
        depths = {name: _to_fill(rankers, name, workspace) for name in {one.chunking for one in variants}}
        for done, variant in enumerate(variants, 1):
            (k, tokens), key = limits_of(variant, experiment), search_key(workspace, variant.name)
            found = rankers.search(variant.name, queries, max(k or 1, depths[variant.chunking]))
            write_run(workspace.screening / f"{variant.name}.trec", found.rankings, variant.name)
            times = {name: getattr(known[key], name) for name in _TIMES} if key in known else None
            run = VariantRun(
                variant=variant.name,
                table=variant.table,
                settings=settings_of(variant, experiment),
                k=k,
                tokens=tokens,
                n=len(queries),
                n_failed=len(found.errors),
                errors=dict(found.errors),
                **(times or _measured(rankers, variant, queries)),
                n_passages=len(rankers.bases.passages(variant.chunking)),
                key=key,
            )
            runs.append(run)
            if progress:
                progress(done, len(variants))
    names = {f"{variant.name}.trec" for variant in variants}
    for ranking in workspace.screening.glob("*.trec"):
        if ranking.name not in names:  # of a variant that the tables make no more
            ranking.unlink()
    write_records(path, runs)
    return _outcome(runs)


def _to_fill(rankers: VariantRankers, chunking: str, workspace: Workspace) -> int:
    """How many passages of a chunking fill the context at which chunkings meet, with room to spare."""
    search, lengths = workspace.experiment.search_settings, list(map(passage_tokens, rankers.handed_over(chunking)))
    mean = sum(lengths) / max(1, len(lengths))
    return min(DEEPEST, ceil(2 * search.tokens / max(1.0, mean)) + 5)


_TIMES = ("n_timed", "latency_p50_s", "latency_p95_s", "index_s", "index_bytes")


def _measured(rankers: VariantRankers, variant: Variant, queries: Sequence[Query]) -> dict[str, Any]:
    """How long searching takes, and the index: of all bases together, None where one is not known."""
    bases = list({base.index or id(base): base for base in rankers.bases_of(variant)}.values())  # one server's is one
    n = TIMED_RERANKED if variant.settings.rerank else TIMED
    sample = [queries[place * len(queries) // n] for place in range(n)] if len(queries) > n else queries
    took = rankers.pipeline(variant.name).seconds([query.text for query in sample])
    known = bool(len(took)) and not np.isnan(took).any()
    index_s = [base.index_s for base in bases if base.index_s is not None]
    index_bytes = [base.index_bytes for base in bases if base.index_bytes is not None]
    return {
        "n_timed": len(took) if known else 0,
        "latency_p50_s": round(float(np.percentile(took, 50)), 6) if known else None,
        "latency_p95_s": round(float(np.percentile(took, 95)), 6) if known else None,
        "index_s": round(sum(index_s), 4) if len(index_s) == len(bases) else None,
        "index_bytes": sum(index_bytes) if len(index_bytes) == len(bases) else None,
    }


def _outcome(runs: Sequence[VariantRun]) -> StageOutcome:
    """`n_records` and `n_failed` count rankings: one for each variant and query."""
    notices = []
    if failed := [run for run in runs if run.n_failed]:
        first = failed[0]
        query, error = next(iter(first.errors.items()))
        notices.append(
            f"{len(failed)} of {len(runs)} variants have no ranking for some queries; the first, {first.variant}, for "
            f"{first.n_failed} of {first.n}: {plain(query)}: {plain(error)}"
        )
    n, n_failed = sum(run.n for run in runs), sum(run.n_failed for run in runs)
    status = NothingCame.exit_status if n and n == n_failed else 0
    return StageOutcome(tuple(notices), status, n_records=n, n_failed=n_failed)
