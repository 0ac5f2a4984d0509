"""What a screening will ask of models that embed and rerank, foreseen from the tables and what is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import ceil

from ragassay.calls.server_ledger import ServerLedger
from ragassay.experiment.settings import is_served
from ragassay.experiment.variant_settings import OURS, SECTIONS
from ragassay.experiment.variants import Variant
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.models.embedding_server import served_identity
from ragassay.models.endpoint import base_url_of
from ragassay.records import Passage, Query
from ragassay.retrieval.rewriting.rewritings import Rewriting, rewriting_of
from ragassay.tokens import count_tokens, passage_tokens

from .load import QUESTION_TOKENS, Load

Passages = dict[str, list[Passage]]
"""By chunking, in the order of the file."""


def served_loads(workspace: Workspace, n_queries: int) -> list[Load]:
    """A load for each model that embeds on a server or reranks by asking, and one for what it was asked before."""
    if not any(
        one.settings.rerank or is_served(_embedding(one, workspace) or "") for one in workspace.experiment.variants.all
    ):
        return []
    passages: Passages = defaultdict(list)
    for passage in read_records(workspace.passages, Passage):
        passages[passage.metadata.get("chunking") or OURS].append(passage)
    return [*_embedded(workspace, passages, n_queries), *_reranked(workspace, passages, n_queries)]


def _embedding(variant: Variant, workspace: Workspace) -> str | None:
    """The model by which a variant searches, or makes diverse what it found."""
    settings = variant.settings
    if settings.kind == "knn" or settings.mmr is not None:
        return settings.embedding or workspace.experiment.retrieval.embedding
    return None


def _handed_over(variant: Variant, workspace: Workspace) -> str:
    """The chunking whose passages a variant hands over: its own, or the sections."""
    tables = {one.name: one for one in workspace.experiment.chunkings}
    own = tables.get(variant.chunking)
    return SECTIONS if own and own.returns == "section" else variant.chunking


def _embedded(workspace: Workspace, passages: Passages, n_queries: int) -> Iterator[Load]:
    """Of each server's model: the calls that were made, and those for texts whose vectors are not kept."""
    from ragassay.retrieval.rankers.served_embedding import LABEL

    variants = workspace.experiment.variants.all
    for model in sorted({model for one in variants if is_served(model := _embedding(one, workspace) or "")}):
        users = [one for one in variants if _embedding(one, workspace) == model]
        searched = {one.chunking for one in users if one.settings.kind == "knn"}
        diverse = {_handed_over(one, workspace) for one in users if one.settings.mmr is not None} - searched
        most = n_queries * max(one.settings.depth for one in users)
        wanted = [passages[name] for name in sorted(searched)] + [passages[name][:most] for name in sorted(diverse)]
        sizes = [*_missing(model, wanted, workspace, n_queries), _rewritten(model, workspace, n_queries)]
        yield from _asked_before(workspace, model)
        yield Load(LABEL, model, sum(map(_calls, sizes)), 0, sum(map(sum, sizes)), 0)


def _missing(
    model: str, wanted: Sequence[Sequence[Passage]], workspace: Workspace, n_queries: int
) -> Iterator[list[int]]:
    """The tokens of the texts that have no vector yet: of each sequence of passages, and of the queries."""
    from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache, Text
    from ragassay.retrieval.rankers.ranker import indexed_text

    identity = served_identity(model, base_url_of(model, workspace.experiment.settings_of(model)))
    cache = EmbeddingCache(identity, workspace.embeddings, read=[workspace.shipped_embeddings])
    rows = [[Text("passage", indexed_text(passage)) for passage in one] for one in wanted]
    if workspace.queries.exists():
        rows.append([Text("query", query.text) for query in read_records(workspace.queries, Query)])
    else:
        yield [QUESTION_TOKENS] * n_queries
    for row in rows:
        yield [count_tokens(text.text) for text in dict.fromkeys(row) if cache.key(text) not in cache.known()]


def _rewritten(model: str, workspace: Workspace, n_queries: int) -> list[int]:
    """The tokens of the texts that are searched by the model in place of queries, as though none were kept."""
    experiment, found = workspace.experiment, set[Rewriting]()
    for one in experiment.variants.all:
        parts = {_embedding(part, workspace) for part in experiment.variants.needed([one.name])}
        if model in parts and (rewriting := rewriting_of(one.settings, experiment)):
            found.add(rewriting)
    return [QUESTION_TOKENS] * (n_queries * sum(rewriting.n for rewriting in found))


def _calls(sizes: Sequence[int]) -> int:
    from ragassay.retrieval.rankers.served_embedding import BATCH_TEXTS, BATCH_TOKENS

    return max(ceil(len(sizes) / BATCH_TEXTS), ceil(sum(sizes) / BATCH_TOKENS))


def _asked_before(workspace: Workspace, model: str) -> Iterator[Load]:
    """The calls of a server that the screening has made, which are not paid again."""
    for row in ServerLedger(workspace.server_calls).rows():
        if (row.stage, row.model) == ("screen", model):
            yield Load(row.label, model, 1, 1, row.input_tokens or 0, 0)


def _reranked(workspace: Workspace, passages: Passages, n_queries: int) -> Iterator[Load]:
    """Of each variant that has its passages reranked by asking, as though no reply were kept."""
    from ragassay.retrieval.rerankers.foreseen import foreseen
    from ragassay.retrieval.rerankers.listwise import LABEL

    for one in workspace.experiment.variants.all:
        found = passages[_handed_over(one, workspace)]
        if (model := one.settings.rerank) and found:
            mean = sum(passage_tokens(passage) for passage in found) / len(found)
            asked = foreseen(model, n_queries, min(one.settings.depth, len(found)), mean, QUESTION_TOKENS)
            if asked.calls:
                yield Load(
                    LABEL, model, asked.calls, 0, asked.input_tokens, asked.output_tokens, searches=asked.searches
                )
