"""How much each stage will ask, foreseen from the corpus and the settings.

The shares and reply lengths are those of the first recorded run (benchmarks/tables/plan_accuracy.py knows it by its
replies, and prints beside the plan what that run or another took); a corpus whose retrievers agree more, or a terser
model, takes less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path

from ragassay.evaluate.judging.games.blocks import Plan
from ragassay.evaluate.judging.panel import Panel, as_second, panels_of, second_panel
from ragassay.evaluate.judging.waves import waves_of
from ragassay.experiment.agents import TableAgent
from ragassay.experiment.corpus import read_passages
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, read_text
from ragassay.models.requests import Request
from ragassay.prompts import Prompt
from ragassay.records import Query, Section
from ragassay.retrieval.agents import ANSWER_PROMPT, REWRITE_PROMPT
from ragassay.retrieval.agents.documents import count_document_tokens, read_documents
from ragassay.retrieval.dependencies import answers_label
from ragassay.retrieval.rewriting.rewritings import batch_label, of_rag_fusion, prompt_file, rewritings_for
from ragassay.tokens import count_tokens, reply_tokens

from .load import QUESTION_TOKENS, Load

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
        from .screen_loads import served_loads

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
    from ragassay.synth.questions.expert import read_expert_questions
    from ragassay.synth.questions.linked import Sections
    from ragassay.synth.questions.need_writer import NEAR, assignments_of
    from ragassay.synth.questions.needs import request_needs
    from ragassay.synth.questions.sample import sample_sections
    from ragassay.synth.questions.setup import Setup
    from ragassay.synth.questions.slots import UNANSWERABLE

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
    from ragassay.retrieval.rankers.served_embedding import BATCH_TEXTS, LABEL

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
        loads.append(_load(label, agent.model, share, template + _handed_over(workspace, agent, passage)))
    return loads


def _handed_over(workspace: Workspace, agent: TableAgent, passage: float) -> float:
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
