"""How much each stage will ask, foreseen from the corpus and the settings.

The shares and reply lengths are those of the first recorded run (benchmarks/tables/plan_accuracy.py knows it by its
replies, and prints beside the plan what that run or another took); a corpus whose retrievers agree more, or a terser
model, takes less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from ragassay.calls.served import ServerLedger
from ragassay.evaluate.judging.asked_again import waves_of
from ragassay.evaluate.judging.games import Plan
from ragassay.evaluate.judging.panel import Panel, as_second, panels_of, second_panel
from ragassay.experiment.settings import Experiment, is_served
from ragassay.experiment.variant_settings import OURS, SECTIONS
from ragassay.experiment.variants import TableAgent, Variant
from ragassay.experiment.workspace import Workspace, read_passages
from ragassay.files import read_records, read_text
from ragassay.models.endpoint import base_url_of
from ragassay.models.requests import Request
from ragassay.models.servers import served_identity
from ragassay.prompts import Prompt, count_tokens, passage_tokens, reply_tokens
from ragassay.records import Passage, Query, Section
from ragassay.retrieval.agents import ANSWER_PROMPT, REWRITE_PROMPT
from ragassay.retrieval.agents.rag import count_document_tokens, read_documents
from ragassay.retrieval.dependencies import answers_label
from ragassay.retrieval.rewriting.rewritings import (
    Rewriting,
    batch_label,
    of_rag_fusion,
    prompt_file,
    rewriting_of,
    rewritings_for,
)

QUESTION_TOKENS = 40
"""Of a query, where none is there yet."""


@dataclass(frozen=True)
class Load:
    """Calls with one label to one model, and the tokens of all of them together; searches: those of a rerank server."""

    label: str
    model: str
    calls: int
    from_cache: int
    input_tokens: int
    output_tokens: int
    searches: int = 0

    @property
    def kind(self) -> str:
        """What it asks, whichever time: the label up to its first hyphen (`questions`, `listwise`, …), or whole for an
        evaluator, a judge of answers and a rewriting."""
        label = self.label.split("-repeat-")[0]
        whole = label.startswith(("evaluate-", "pointwise-", "rewrites-"))
        return label if whole else label.split("-")[0]


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
    from ragassay.retrieval.rankers.embedding import LABEL

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
    from ragassay.retrieval.rankers.embedding import BATCH_TEXTS, BATCH_TOKENS

    return max(ceil(len(sizes) / BATCH_TEXTS), ceil(sum(sizes) / BATCH_TOKENS))


def _asked_before(workspace: Workspace, model: str) -> Iterator[Load]:
    """The calls of a server that the screening has made, which are not paid again."""
    for row in ServerLedger(workspace.server_calls).rows():
        if (row.stage, row.model) == ("screen", model):
            yield Load(row.label, model, 1, 1, row.input_tokens or 0, 0)


def _reranked(workspace: Workspace, passages: Passages, n_queries: int) -> Iterator[Load]:
    """Of each variant that has its passages reranked by asking, as though no reply were kept."""
    from ragassay.retrieval.rerankers.opening import foreseen
    from ragassay.retrieval.rerankers.rerankers import LABEL

    for one in workspace.experiment.variants.all:
        found = passages[_handed_over(one, workspace)]
        if (model := one.settings.rerank) and found:
            mean = sum(passage_tokens(passage) for passage in found) / len(found)
            asked = foreseen(model, n_queries, min(one.settings.depth, len(found)), mean, QUESTION_TOKENS)
            if asked.calls:
                yield Load(
                    LABEL, model, asked.calls, 0, asked.input_tokens, asked.output_tokens, searches=asked.searches
                )


STAGES_THAT_ASK = ("questions", "screen", "retrieve", "answer", "judge", "evaluate")

_ANSWER_TOKENS = 115
_REASON_TOKENS = 45
_NEW_PASSAGES_PER_AGENT = 0.3
"""Of an agent's k passages, the share that no agent before it has brought into the pool."""
_DISTINCT_ANSWERS = 0.99
"""The share of (query, agent) whose passages differ from every other agent's of that query."""
_DISTINCT_PAIRS = 0.9
"""The share of games whose two answers are not word for word the same, which is a tie without a call."""
_EVALUATOR_TOKENS = 600
"""An evaluator's instructions with question and answer."""
_RELEVANT = {1: 3.3, 2: 1.4}
"""Passages of a query with this label or a higher one, by the strict prompts of that run."""


def estimate(stage: str, workspace: Workspace) -> list[Load]:
    """What the stage will ask, by label and model; empty for one that asks nothing."""
    experiment = workspace.experiment
    if stage == "questions":
        return _later_steps(workspace)
    n_queries = _n_queries(workspace)
    passage = _passage_tokens(workspace)
    if stage == "screen":
        pass

        return [*_rewrites_of_variants(workspace, n_queries), *served_loads(workspace, n_queries)]
    if stage == "retrieve":
        return [*_rewrites(experiment, n_queries), *_embeddings(workspace, n_queries)]
    if stage == "answer":
        return _answers(workspace, n_queries, passage)
    if stage == "evaluate":
        return _evaluations(workspace, n_queries, passage)
    return _judgments(workspace, n_queries, passage)


def _later_steps(workspace: Workspace) -> list[Load]:
    """What is asked once the needs are there, blind questions and the evidence; before it the needs, for which roles
    that a model has still to write are wanted."""
    settings = workspace.experiment.questions
    if settings.source == "own" or settings.style == "passage":
        return []
    from ragassay.synth.questions.need_writer import NEAR, assignments_of, request_needs
    from ragassay.synth.questions.own import read_expert_questions
    from ragassay.synth.questions.sample import Sections, sample_sections
    from ragassay.synth.questions.slots import UNANSWERABLE, Setup

    sections = read_records(workspace.sections, Section)
    setup = Setup.load(workspace, read_expert_questions(workspace.expert_questions, needed=settings.few_shot > 0))
    drawn = sample_sections(sections, settings.sections, settings.seed)
    loads = []
    for one in assignments_of(setup, drawn, Sections(sections)):
        if settings.roles == "corpus":
            needs = request_needs(setup, one)
            loads.append(_load(needs.step, one.model, 1, _tokens_of(needs.request)))
        blind = sum(slot.blind for slot in one.slots)
        near = NEAR * sum(slot.kind == UNANSWERABLE for slot in one.slots)
        text = sum(count_tokens(section.text) for section in one.sections)
        told = _filled(setup.prompts["blind"]) + settings.few_shot * QUESTION_TOKENS + blind * QUESTION_TOKENS
        loads += [_load("blind", one.model, 1, told)] if blind else []
        shown = _filled(setup.prompts["evidence"]) + text + len(one.slots) * QUESTION_TOKENS
        loads.append(_load("evidence", one.model, 1 + near, shown))
    return loads


def _tokens_of(request: Request) -> int:
    return sum(count_tokens(message.content) for message in request.messages)


def _evaluations(workspace: Workspace, n_queries: int, passage: float) -> list[Load]:
    """A load for each evaluator that asks the judge, of about as many calls as its class says.

    With `max_rows` the first queries alone are judged.
    """
    if not workspace.experiment.evaluates:
        return []
    from ragassay.evaluate.judging.catalog import experiment_evaluators

    experiment, loads = workspace.experiment, []
    most = experiment.evaluate.max_rows
    if most is not None:
        n_queries = min(n_queries, max(1, most // max(1, len(experiment.agent_names()))))
    pool, answers = _pool_size(experiment), len(experiment.agent_names()) * _DISTINCT_ANSWERS
    for evaluator in experiment_evaluators(workspace):
        of_passages = evaluator.unit == "passage"
        per_item = 0.0 if evaluator.asking == "nothing" else evaluator.n_calls
        calls = n_queries * per_item * (pool if of_passages else answers * experiment.answer.repeats)
        tokens = _EVALUATOR_TOKENS + passage * (1 if of_passages else experiment.retrieval.k)
        loads += [_load(evaluator.batch_label, evaluator.setup.model, calls, tokens)] if calls else []
    return loads


def _n_queries(workspace: Workspace) -> int:
    questions = workspace.experiment.questions
    if workspace.queries.exists():
        return len(read_records(workspace.queries, Query))
    own = len(read_records(workspace.own_queries, Query)) if workspace.own_queries.exists() else 0
    written = sum(questions.quota.values())
    return {"own": own, "synthetic": written, "both": own + written}[questions.source]


def _passage_tokens(workspace: Workspace) -> float:
    passages = read_passages(workspace.passages)
    return sum(count_tokens(passage.title + passage.text) for passage in passages) / max(1, len(passages))


def _template(prompt: Path) -> int:
    return count_tokens(read_text(prompt))


def _load(label: str, model: str, calls: float, input_tokens: float, items: float = 1) -> Load:
    n = round(calls)
    return Load(label, model, n, 0, round(n * input_tokens), n * reply_tokens(label, round(items)))


def _rewrites(experiment: Experiment, n_queries: int) -> list[Load]:
    """RAG-Fusion's, unless a variant asks for the same, which is foreseen with the screening."""
    own = of_rag_fusion(experiment)
    if "rag-fusion" not in experiment.answer.agents or own in rewritings_for(experiment):
        return []
    return [_load("rewrites", own.model, n_queries, _template(REWRITE_PROMPT) + QUESTION_TOKENS)]


def _rewrites_of_variants(workspace: Workspace, n_queries: int) -> list[Load]:
    """What the screening asks chat models to write."""
    return [
        _load(
            batch_label(one, workspace.experiment),
            one.model,
            n_queries,
            _template(prompt_file(workspace, one.way)) + QUESTION_TOKENS,
        )
        for one in rewritings_for(workspace.experiment)
    ]


def _embeddings(workspace: Workspace, n_queries: int) -> list[Load]:
    """The passages and queries that a server embeds, rewritten ones too, as though none were kept."""
    experiment = workspace.experiment
    model, kinds = experiment.retrieval.embedding, {kind for _, _, kind in experiment.built_in_agents()}
    if model not in experiment.servers() or not any(name != "bm25" for _, name, _ in experiment.built_in_agents()):
        return []
    from ragassay.retrieval.rankers.embedding import BATCH_TEXTS, LABEL

    passages = [count_tokens(passage.title + passage.text) for passage in read_passages(workspace.passages)]
    queries = n_queries * (1 + experiment.answer.fusion_queries * ("rag-fusion" in kinds))
    calls = ceil(len(passages) / BATCH_TEXTS) + ceil(queries / BATCH_TEXTS)
    return [Load(LABEL, model, calls, 0, sum(passages) + queries * QUESTION_TOKENS, 0)]


def _distinct(experiment: Experiment, n_queries: float) -> float:
    return n_queries * len(experiment.answered_agents()) * _DISTINCT_ANSWERS


def _answers(workspace: Workspace, n_queries: int, passage: float) -> list[Load]:
    """Of each model that answers; what agents retrieve, and where one is handed all documents, these."""
    experiment = workspace.experiment
    settings, template = experiment.answer, _template(ANSWER_PROMPT) + QUESTION_TOKENS
    share = n_queries * _DISTINCT_ANSWERS * settings.repeats
    built_in = share * len(experiment.built_in_agents())
    loads = (
        [_load("answers", settings.model, built_in, template + experiment.retrieval.k * passage)] if built_in else []
    )
    for agent in experiment.table_agents():
        label = answers_label(agent.model, experiment)
        loads.append(_load(label, agent.model, share, template + _loads_handed_over(workspace, agent, passage)))
    return loads


def _loads_handed_over(workspace: Workspace, agent: TableAgent, passage: float) -> float:
    """Tokens of what an agent answers from; a passage is taken to be as long as [ingest]'s."""
    if agent.variant is None:
        return count_document_tokens(read_documents(workspace))
    settings = agent.variant.settings
    return settings.tokens or (settings.k or workspace.experiment.retrieval.k) * passage


def _pool_size(experiment: Experiment) -> float:
    """Passages that a query's agents bring together."""
    return experiment.retrieval.k * (1 + _NEW_PASSAGES_PER_AGENT * (len(experiment.agent_names()) - 1))


def _judgments(workspace: Workspace, n_queries: int, passage: float) -> list[Load]:
    """Of each model that judges, a load for relevance, one for each judge of answers, and one for games or lists."""
    experiment = workspace.experiment
    again = n_queries * (1 + experiment.judge.repeats * experiment.judge.repeat_share)
    loads = [load for panel in panels_of(workspace) for load in _by_panel(panel, workspace, again, passage)]
    if experiment.judge.second:
        asked = n_queries * experiment.judge.second_share
        second = replace(workspace, experiment=as_second(experiment))
        loads += _by_panel(second_panel(workspace), second, asked, passage)
    return loads


def _by_panel(panel: Panel, workspace: Workspace, again: float, passage: float) -> list[Load]:
    """What one model is asked."""
    experiment = workspace.experiment
    answers = _distinct(experiment, again) + len(experiment.own_agents()) * again
    loads = [_relevance(panel, experiment, again, passage)]
    for judge in panel.pointwise:
        tokens = _filled(judge.template) + _ANSWER_TOKENS
        tokens += _evidence(experiment, passage) if judge.needs_evidence else 0
        tokens += experiment.retrieval.k * passage if "passages" in judge.template.names else 0
        loads.append(_load(judge.batch_label, panel.judge, answers, tokens))
    if panel.lists:
        return [*loads, _lists(panel, workspace, again, passage)]
    return [*loads, _games(panel, experiment, again, passage)]


def _relevance(panel: Panel, experiment: Experiment, n_queries: float, passage: float) -> Load:
    """One by one, or in batches of nearly the same size."""
    pool, model = _pool_size(experiment), panel.judge
    if panel.batch is None:
        tokens = _filled(panel.relevance.template) + passage
        return _load(panel.relevance.batch_label, model, n_queries * pool, tokens)
    batches = ceil(pool / panel.batch.size)
    tokens = _filled(panel.batch.template) + passage * pool / batches
    return _load(panel.batch.batch_label, model, n_queries * batches, tokens, pool / batches)


def _games(panel: Panel, experiment: Experiment, n_queries: float, passage: float) -> Load:
    """Games of two answers, in both orders."""
    tokens = _filled(panel.games["a"].template) + _shown(experiment, passage) + 2 * _ANSWER_TOKENS
    return _load("games", panel.judge, _n_games(experiment, n_queries), tokens)


def _lists(panel: Panel, workspace: Workspace, n_queries: float, passage: float) -> Load:
    """The lists of a query in each presentation, of all waves; what is relevant is shown once in each."""
    experiment = workspace.experiment
    judge, waves = experiment.judge, waves_of(workspace, experiment.agent_names())
    blocks = [block for block in Plan(waves, ["one"], judge.anchors, judge.seed).blocks("one") if block.pairs]
    seats = sum(len(block.agents) for block in blocks) / max(1, len(blocks))
    played = judge.adaptive_max_games if judge.games == "listwise-adaptive" else 1.0
    tokens = _filled(panel.lists[1].template) + _shown(experiment, passage) + seats * _ANSWER_TOKENS
    return _load("listwise", panel.judge, played * n_queries * len(panel.lists) * len(blocks), tokens, seats)


def _shown(experiment: Experiment, passage: float) -> float:
    """The tokens of what a game or a list shows to be relevant."""
    judge = experiment.judge
    return _evidence(experiment, passage * judge.games_passages, _REASON_TOKENS * judge.games_notes)


def _filled(prompt: Prompt) -> float:
    """The tokens of a prompt with the question in it."""
    return count_tokens(prompt.system) + count_tokens(prompt.user) + QUESTION_TOKENS


def _evidence(experiment: Experiment, passage: float, note: float = _REASON_TOKENS) -> float:
    return _RELEVANT[experiment.judge.relevant_from] * (passage + note)


def _n_games(experiment: Experiment, n_queries: float) -> float:
    """How many orders of games are put to the judge."""
    names: Sequence[str] = experiment.agent_names()
    pairs = len(names) * (len(names) - 1) / 2
    if experiment.judge.games == "adaptive":
        pairs *= experiment.judge.adaptive_max_games
    return n_queries * pairs * experiment.judge.orders * _DISTINCT_PAIRS
