"""The first half of the stage `screen`: every variant runs over every query, and what it found and took is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from ragassay.calls.caller import Caller
from ragassay.errors import InputError, NothingCame
from ragassay.experiment.variant_settings import SECTIONS, RetrieverSettings
from ragassay.experiment.variants import Variant
from ragassay.experiment.workspace import StageOutcome, VariantRun, Workspace, count_by_chunking, limits_of, settings_of
from ragassay.files import read_records, write_records, write_run
from ragassay.prompts import passage_tokens
from ragassay.records import Passage, Query
from ragassay.text import plain

from ..agents.own_agents import source_problem
from ..agents.python_agent import PythonRanker
from ..dependencies import search_key
from ..rank_queries import VariantFound, read_queries
from ..rankers.ranker import OWN, kind_of_ranker
from ..rerankers.opening import check_reranker
from ..retrievers import check_embedding
from .bases import Base
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
    sections = {one.name for one in experiment.chunkings if one.returns == "section"}
    counts = count_by_chunking(workspace.passages)
    for variant in experiment.variants.all:
        unit = "sections" if variant.chunking in sections else "passages"
        n, (k, _) = counts[SECTIONS if unit == "sections" else variant.chunking], limits_of(variant, experiment)
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
    variants, runs, known = workspace.experiment.variants.all, list[VariantRun](), _known(workspace)
    with VariantRankers(workspace, passages, caller, embedding, rewritten) as rankers:
        rankers.check_embeddings(queries)
        depths = {name: _to_fill(rankers, name, workspace) for name in {one.chunking for one in variants}}
        for done, variant in enumerate(variants, 1):
            k, _ = limits_of(variant, workspace.experiment)
            found = rankers.search(variant.name, queries, max(k or 1, depths[variant.chunking]))
            write_run(workspace.screening / f"{variant.name}.trec", found.rankings, variant.name)
            runs.append(_run(rankers, variant, queries, found, workspace, known))
            if progress:
                progress(done, len(variants))
    _remove_others(workspace, variants)
    write_records(workspace.screening_runs, runs)
    return _outcome(runs)


def _to_fill(rankers: VariantRankers, chunking: str, workspace: Workspace) -> int:
    """How many passages of a chunking fill the context at which chunkings meet, with room to spare."""
    search, lengths = workspace.experiment.search_settings, list(map(passage_tokens, rankers.handed_over(chunking)))
    mean = sum(lengths) / max(1, len(lengths))
    return min(DEEPEST, ceil(2 * search.tokens / max(1.0, mean)) + 5)


def _run(
    rankers: VariantRankers,
    variant: Variant,
    queries: Sequence[Query],
    found: VariantFound,
    workspace: Workspace,
    known: Mapping[str | None, VariantRun],
) -> VariantRun:
    k, tokens = limits_of(variant, workspace.experiment)
    key = search_key(workspace, variant.name)
    return VariantRun(
        variant=variant.name,
        table=variant.table,
        settings=settings_of(variant, workspace.experiment),
        k=k,
        tokens=tokens,
        n=len(queries),
        n_failed=len(found.errors),
        errors=dict(found.errors),
        **(_times(known[key]) if key in known else _measured(rankers, variant, queries)),
        n_passages=len(rankers.bases.passages(variant.chunking)),
        key=key,
    )


_TIMES = ("n_timed", "latency_p50_s", "latency_p95_s", "index_s", "index_bytes")


def _times(run: VariantRun) -> dict[str, Any]:
    return {name: getattr(run, name) for name in _TIMES}


def _known(workspace: Workspace) -> dict[str | None, VariantRun]:
    """What was timed before, by its key."""
    path = workspace.screening_runs
    runs = read_records(path, VariantRun) if path.exists() else []
    return {run.key: run for run in runs if run.key is not None and run.latency_p50_s is not None}


def _measured(rankers: VariantRankers, variant: Variant, queries: Sequence[Query]) -> dict[str, Any]:
    """How long searching takes, and the index."""
    bases = _apart(rankers.bases_of(variant))
    n = TIMED_RERANKED if variant.settings.rerank else TIMED
    sample = [queries[place * len(queries) // n] for place in range(n)] if len(queries) > n else queries
    took = rankers.pipeline(variant.name).seconds([query.text for query in sample])
    known = bool(len(took)) and not np.isnan(took).any()
    return {
        "n_timed": len(took) if known else 0,
        "latency_p50_s": round(float(np.percentile(took, 50)), 6) if known else None,
        "latency_p95_s": round(float(np.percentile(took, 95)), 6) if known else None,
        "index_s": _index_s(bases),
        "index_bytes": _index_bytes(bases),
    }


def _apart(bases: Iterable[Base]) -> list[Base]:
    """Those with an index of their own: of several that share one on a server, one."""
    return list({base.index or id(base): base for base in bases}.values())


def _index_s(bases: Sequence[Base]) -> float | None:
    """Of all of them together; None where one is not known."""
    known = [base.index_s for base in bases if base.index_s is not None]
    return round(sum(known), 4) if len(known) == len(bases) else None


def _index_bytes(bases: Sequence[Base]) -> int | None:
    known = [base.index_bytes for base in bases if base.index_bytes is not None]
    return sum(known) if len(known) == len(bases) else None


def _remove_others(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Rankings of variants that the tables make no more."""
    names = {f"{variant.name}.trec" for variant in variants}
    for path in workspace.screening.glob("*.trec"):
        if path.name not in names:
            path.unlink()


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
