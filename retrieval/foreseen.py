"""How much the stages `screen`, `retrieve` and `answer` will ask, foreseen from the corpus and the settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path

from ragassay.calls.served import ServerLedger
from ragassay.experiment.settings import is_served
from ragassay.experiment.stage import (
    DISTINCT_ANSWERS,
    QUESTION_TOKENS,
    Load,
    count_queries,
    foreseen_load,
    mean_passage_tokens,
)
from ragassay.experiment.variant_settings import OURS, SECTIONS
from ragassay.experiment.variants import TableAgent, Variant
from ragassay.experiment.workspace import Workspace, read_passages
from ragassay.files import read_records, read_text
from ragassay.models.endpoint import base_url_of
from ragassay.models.servers import served_identity
from ragassay.prompts import count_tokens, passage_tokens
from ragassay.records import Passage, Query

from .agents import ANSWER_PROMPT, REWRITE_PROMPT
from .agents.rag import count_document_tokens, read_documents
from .dependencies import answers_label
from .rankers.embedding import BATCH_TEXTS, BATCH_TOKENS
from .rankers.embedding import LABEL as EMBEDDED
from .rankers.embedding_cache import EmbeddingCache, Text
from .rankers.ranker import indexed_text
from .rerankers.opening import foreseen
from .rerankers.rerankers import LABEL as RERANKED
from .rewriting import Rewriting, batch_label, of_rag_fusion, prompt_file, rewriting_of, rewritings_for


def of_screening(workspace: Workspace) -> list[Load]:
    """What the screening asks chat models to write, and servers to embed and rerank."""
    n = count_queries(workspace)
    rewritten = [
        foreseen_load(
            batch_label(one, workspace.experiment),
            one.model,
            n,
            _tokens_of(prompt_file(workspace, one.way)) + QUESTION_TOKENS,
        )
        for one in rewritings_for(workspace.experiment)
    ]
    return [*rewritten, *_served(workspace, n)]


def of_rankings(workspace: Workspace) -> list[Load]:
    """RAG-Fusion's rewriting, unless a variant asks for the same, and what a server embeds."""
    n, experiment, own = count_queries(workspace), workspace.experiment, of_rag_fusion(workspace.experiment)
    if "rag-fusion" not in experiment.answer.agents or own in rewritings_for(experiment):
        return _embeddings(workspace, n)
    rewritten = foreseen_load("rewrites", own.model, n, _tokens_of(REWRITE_PROMPT) + QUESTION_TOKENS)
    return [rewritten, *_embeddings(workspace, n)]


def _tokens_of(prompt: Path) -> int:
    return count_tokens(read_text(prompt))


Passages = dict[str, list[Passage]]
"""By chunking, in the order of the file."""


def _served(workspace: Workspace, n_queries: int) -> list[Load]:
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
    variants = workspace.experiment.variants.all
    for model in sorted({model for one in variants if is_served(model := _embedding(one, workspace) or "")}):
        users = [one for one in variants if _embedding(one, workspace) == model]
        searched = {one.chunking for one in users if one.settings.kind == "knn"}
        diverse = {_handed_over(one, workspace) for one in users if one.settings.mmr is not None} - searched
        most = n_queries * max(one.settings.depth for one in users)
        wanted = [passages[name] for name in sorted(searched)] + [passages[name][:most] for name in sorted(diverse)]
        sizes = [*_missing(model, wanted, workspace, n_queries), _rewritten(model, workspace, n_queries)]
        yield from _asked_before(workspace, model)
        yield Load(EMBEDDED, model, sum(map(_calls, sizes)), 0, sum(map(sum, sizes)), 0)


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


def _rewritten(model: str, workspace: Workspace, n_queries: int) -> list[int]:
    """The tokens of the texts that are searched by the model in place of queries, as though none were kept."""
    experiment, found = workspace.experiment, set[Rewriting]()
    for one in experiment.variants.all:
        parts = {_embedding(part, workspace) for part in experiment.variants.needed([one.name])}
        if model in parts and (rewriting := rewriting_of(one.settings, experiment)):
            found.add(rewriting)
    return [QUESTION_TOKENS] * (n_queries * sum(rewriting.n for rewriting in found))


def _calls(sizes: Sequence[int]) -> int:
    return max(ceil(len(sizes) / BATCH_TEXTS), ceil(sum(sizes) / BATCH_TOKENS))


def _asked_before(workspace: Workspace, model: str) -> Iterator[Load]:
    """The calls of a server that the screening has made, which are not paid again."""
    for row in ServerLedger(workspace.server_calls).rows():
        if (row.stage, row.model) == ("screen", model):
            yield Load(row.label, model, 1, 1, row.input_tokens or 0, 0)


def _reranked(workspace: Workspace, passages: Passages, n_queries: int) -> Iterator[Load]:
    """Of each variant that has its passages reranked by asking, as though no reply were kept."""
    for one in workspace.experiment.variants.all:
        found = passages[_handed_over(one, workspace)]
        if (model := one.settings.rerank) and found:
            mean = sum(passage_tokens(passage) for passage in found) / len(found)
            asked = foreseen(model, n_queries, min(one.settings.depth, len(found)), mean, QUESTION_TOKENS)
            if asked.calls:
                tokens = asked.input_tokens, asked.output_tokens
                yield Load(RERANKED, model, asked.calls, 0, *tokens, searches=asked.searches)


def _embeddings(workspace: Workspace, n_queries: int) -> list[Load]:
    """The passages and queries that a server embeds, rewritten ones too, as though none were kept."""
    experiment = workspace.experiment
    model, kinds = experiment.retrieval.embedding, {kind for _, _, kind in experiment.built_in_agents()}
    if model not in experiment.servers() or not any(name != "bm25" for _, name, _ in experiment.built_in_agents()):
        return []
    passages = [count_tokens(passage.title + passage.text) for passage in read_passages(workspace.passages)]
    queries = n_queries * (1 + experiment.answer.fusion_queries * ("rag-fusion" in kinds))
    calls = ceil(len(passages) / BATCH_TEXTS) + ceil(queries / BATCH_TEXTS)
    return [Load(EMBEDDED, model, calls, 0, sum(passages) + queries * QUESTION_TOKENS, 0)]


def of_answers(workspace: Workspace) -> list[Load]:
    """Of each model that answers; what agents retrieve, and where one is handed all documents, these."""
    experiment, passage = workspace.experiment, mean_passage_tokens(workspace)
    settings, template = experiment.answer, _tokens_of(ANSWER_PROMPT) + QUESTION_TOKENS
    share = count_queries(workspace) * DISTINCT_ANSWERS * settings.repeats
    built_in = share * len(experiment.built_in_agents())
    loads = (
        [foreseen_load("answers", settings.model, built_in, template + experiment.retrieval.k * passage)]
        if built_in
        else []
    )
    for agent in experiment.table_agents():
        label = answers_label(agent.model, experiment)
        loads.append(
            foreseen_load(label, agent.model, share, template + _handed_over_tokens(workspace, agent, passage))
        )
    return loads


def _handed_over_tokens(workspace: Workspace, agent: TableAgent, passage: float) -> float:
    """Tokens of what an agent answers from; a passage is taken to be as long as [ingest]'s."""
    if agent.variant is None:
        return count_document_tokens(read_documents(workspace))
    settings = agent.variant.settings
    return settings.tokens or (settings.k or workspace.experiment.retrieval.k) * passage
