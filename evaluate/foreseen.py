"""How much the stages `judge` and `evaluate` will ask, foreseen from the corpus and the settings.

The shares and reply lengths are those of the first recorded run (benchmarks/tables/plan_accuracy.py knows it by its
replies, and prints beside the plan what that run or another took); a corpus whose retrievers agree more, or a terser
model, takes less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from ragassay.experiment.settings import Experiment
from ragassay.experiment.stage import (
    DISTINCT_ANSWERS,
    Load,
    count_queries,
    filled_tokens,
    foreseen_load,
    mean_passage_tokens,
)
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Found

from .judging.asked_again import waves_of
from .judging.catalog import experiment_evaluators
from .judging.found import in_batches
from .judging.games import Plan
from .judging.panel import Panel, as_second, panels_of, second_panel

_ANSWER_TOKENS = 115
_REASON_TOKENS = 45
_NEW_PASSAGES_PER_AGENT = 0.3
"""Of an agent's k passages, the share that no agent before it has brought into the pool."""
_DISTINCT_PAIRS = 0.9
"""The share of games whose two answers are not word for word the same, which is a tie without a call."""
_EVALUATOR_TOKENS = 600
"""An evaluator's instructions with question and answer."""
_RELEVANT = {1: 3.3, 2: 1.4}
"""Passages of a query with this label or a higher one, by the strict prompts of that run."""


def _distinct(experiment: Experiment, n_queries: float) -> float:
    return n_queries * len(experiment.answered_agents()) * DISTINCT_ANSWERS


def _pool_size(experiment: Experiment) -> float:
    """Passages that a query's agents bring together."""
    return experiment.retrieval.k * (1 + _NEW_PASSAGES_PER_AGENT * (len(experiment.agent_names()) - 1))


def of_judging(workspace: Workspace) -> list[Load]:
    """Of each model that judges, a load for relevance, one for each judge of answers, and one for games or lists."""
    experiment, n, passage = workspace.experiment, count_queries(workspace), mean_passage_tokens(workspace)
    again = n * (1 + experiment.judge.repeats * experiment.judge.repeat_share)
    loads = [load for panel in panels_of(workspace) for load in _by_panel(panel, workspace, again, passage)]
    if experiment.judge.second:
        asked = n * experiment.judge.second_share
        second = replace(workspace, experiment=as_second(experiment))
        loads += _by_panel(second_panel(workspace), second, asked, passage)
    return loads


def _by_panel(panel: Panel, workspace: Workspace, again: float, passage: float) -> list[Load]:
    """What one model is asked."""
    experiment = workspace.experiment
    answers = _distinct(experiment, again) + len(experiment.own_agents()) * again
    loads = [_relevance(panel, experiment, again, passage)]
    for judge in panel.pointwise:
        tokens: float = filled_tokens(judge.template) + _ANSWER_TOKENS
        tokens += _evidence(experiment, passage) if judge.needs_evidence else 0
        tokens += experiment.retrieval.k * passage if "passages" in judge.template.names else 0
        loads.append(foreseen_load(judge.batch_label, panel.judge, answers, tokens))
    if panel.lists:
        return [*loads, _lists(panel, workspace, again, passage)]
    return [*loads, _games(panel, experiment, again, passage)]


def _relevance(panel: Panel, experiment: Experiment, n_queries: float, passage: float) -> Load:
    """Of the pools of agents."""
    return _graded(panel, n_queries, _pool_size(experiment), passage)


def _graded(panel: Panel, n_queries: float, pool: float, passage: float) -> Load:
    """One by one, or in batches of nearly the same size."""
    model = panel.judge
    if panel.batch is None:
        tokens = filled_tokens(panel.relevance.template) + passage
        return foreseen_load(panel.relevance.batch_label, model, n_queries * pool, tokens)
    batches = ceil(pool / panel.batch.size)
    tokens = filled_tokens(panel.batch.template) + passage * pool / batches
    return foreseen_load(panel.batch.batch_label, model, n_queries * batches, tokens, pool / batches)


def _games(panel: Panel, experiment: Experiment, n_queries: float, passage: float) -> Load:
    """Games of two answers, in both orders."""
    tokens = filled_tokens(panel.games["a"].template) + _shown(experiment, passage) + 2 * _ANSWER_TOKENS
    return foreseen_load("games", panel.judge, _n_games(experiment, n_queries), tokens)


def _lists(panel: Panel, workspace: Workspace, n_queries: float, passage: float) -> Load:
    """The lists of a query in each presentation, of all waves; what is relevant is shown once in each."""
    experiment = workspace.experiment
    judge, waves = experiment.judge, waves_of(workspace, experiment.agent_names())
    blocks = [block for block in Plan(waves, ["one"], judge.anchors, judge.seed).blocks("one") if block.pairs]
    seats = sum(len(block.agents) for block in blocks) / max(1, len(blocks))
    played = judge.adaptive_max_games if judge.games == "listwise-adaptive" else 1.0
    tokens = filled_tokens(panel.lists[1].template) + _shown(experiment, passage) + seats * _ANSWER_TOKENS
    return foreseen_load("listwise", panel.judge, played * n_queries * len(panel.lists) * len(blocks), tokens, seats)


def _shown(experiment: Experiment, passage: float) -> float:
    """The tokens of what a game or a list shows to be relevant."""
    judge = experiment.judge
    return _evidence(experiment, passage * judge.games_passages, _REASON_TOKENS * judge.games_notes)


def _evidence(experiment: Experiment, passage: float, note: float = _REASON_TOKENS) -> float:
    return _RELEVANT[experiment.judge.relevant_from] * (passage + note)


def _n_games(experiment: Experiment, n_queries: float) -> float:
    """How many orders of games are put to the judge."""
    names: Sequence[str] = experiment.agent_names()
    pairs = len(names) * (len(names) - 1) / 2
    if experiment.judge.games == "adaptive":
        pairs *= experiment.judge.adaptive_max_games
    return n_queries * pairs * experiment.judge.orders * _DISTINCT_PAIRS


def of_pools(workspace: Workspace, n_questions: int) -> list[Load]:
    """Of each model that judges, a load for the pools in which evidence of so many questions is looked for.

    On the high side: as if KNN, where there is one, found nothing that BM25 does, one passage of a question's own
    section came on top, and the hybrid brought nothing new.
    """
    experiment, passage = workspace.experiment, mean_passage_tokens(workspace)
    rankers = 2 if experiment.searches_vectors else 1
    pool = rankers * experiment.questions.pool_depth + 1
    panels = [in_batches(workspace, panel) for panel in panels_of(workspace)]
    return [_graded(panel, n_questions, pool, passage) for panel in panels]


def of_finalists(workspace: Workspace) -> list[Load]:
    """Of each model that judges, a load for what finalists of the screening hand over and nobody has judged.

    The most that it may be: a request a query where the judge grades in batches, else one for each of so many passages.
    A query that is known to have no pool of passages, its evidence being people's, is not asked about.
    """
    n, passage = count_queries(workspace), mean_passage_tokens(workspace)
    if workspace.found.exists():
        n = min(n, len({row.query_id for row in read_records(workspace.found, Found)}))
    panels = [in_batches(workspace, panel) for panel in panels_of(workspace)]
    return [_graded(panel, n, workspace.experiment.judge.pool_batch, passage) for panel in panels]


def of_evaluators(workspace: Workspace) -> list[Load]:
    """A load for each evaluator that asks the judge, of about as many calls as its class says.

    With `max_rows` the first queries alone are judged. One that says what it `reads`, and no context, is shown none.
    """
    if not workspace.experiment.evaluates:
        return []
    experiment, n, passage = workspace.experiment, count_queries(workspace), mean_passage_tokens(workspace)
    loads = []
    most = experiment.evaluate.max_rows
    if most is not None:
        n = min(n, max(1, most // max(1, len(experiment.agent_names()))))
    pool, answers = _pool_size(experiment), len(experiment.agent_names()) * DISTINCT_ANSWERS
    for evaluator in experiment_evaluators(workspace):
        of_passages = evaluator.unit == "passage"
        per_item = 0.0 if evaluator.asking == "nothing" else evaluator.n_calls
        calls = n * per_item * (pool if of_passages else answers * experiment.answer.repeats)
        shown = experiment.retrieval.k if "context" in (evaluator.reads or ("context",)) else 0
        tokens = _EVALUATOR_TOKENS + passage * (1 if of_passages else shown)
        loads += [foreseen_load(evaluator.batch_label, evaluator.setup.model, calls, tokens)] if calls else []
    return loads
