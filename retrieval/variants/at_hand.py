"""Whether what the variants need is at hand: models, servers, the user's own code; told before anything is paid."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from ragassay.errors import InputError
from ragassay.experiment.corpus import count_by_chunking
from ragassay.experiment.variant_settings import SECTIONS, RetrieverSettings
from ragassay.experiment.workspace import Workspace
from ragassay.models.encoders import check_encoder
from ragassay.screening import limits_of

from ..agents.own_source import source_problem
from ..agents.python_ranker import PythonRanker
from ..rerankers.opening import check_reranker
from ..retrievers import check_embedding


def variant_checks(workspace: Workspace, *, run_code: bool) -> Collection[Callable[[], None]]:
    """A check for each thing that a [[retriever]] needs; it raises InputError where that is not there.

    The user's modules are imported only where their code may `run_code`; without, what their source tells is checked.
    """
    default = workspace.experiment.retrieval.embedding
    checks: dict[tuple[str, str], Callable[[], None]] = {}
    for one in workspace.experiment.retriever:
        named, model = f"retriever '{one.name}'", one.embedding or default
        if one.rerank:
            checks["rerank", one.rerank] = partial(check_reranker, one.rerank, workspace)
        if one.kind in ("sparse", "late-interaction"):
            checks["encoder", model] = partial(check_encoder, model, named)
        if one.kind == "knn" or one.mmr is not None:
            checks["embedding", model] = partial(check_embedding, model, workspace, named)
        if one.kind == "python":
            checks["own", str(one.callable)] = partial(_check_own, one, workspace, run_code)
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
