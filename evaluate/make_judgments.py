"""The judge stage: relevance of the pooled passages, each answer by itself, and games between the agents; `evaluate`'s
judgments; and how much both will ask, foreseen from the corpus and the settings.

Every record owed is listed first, as an error; a judgment takes its place. Two rounds of calls: relevance, and then, by
the passages judged relevant, pointwise and the games together. A pointwise prompt that does not show these is asked in
the first round. Files are written when all is there.

The shares and reply lengths of what is foreseen are those of the first recorded run
(benchmarks/tables/plan_accuracy.py knows it by its replies, and prints beside the plan what that run or another took);
a corpus whose retrievers agree more, or a terser model, takes less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import ceil
from pathlib import Path
from shutil import rmtree

from ragassay.calls.caller import Caller
from ragassay.experiment.settings import Experiment
from ragassay.experiment.stage import (
    DISTINCT_ANSWERS,
    Load,
    count_queries,
    filled_tokens,
    foreseen_load,
    mean_passage_tokens,
)
from ragassay.experiment.tables import OF_ITS_SECTION, JudgeSettings
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import read_records, write_qrels, write_records
from ragassay.records import Assessment, Found, Game, Judgment, KeptReplies, Record
from ragassay.text import plain

from .human_labels.corrections import ask_second, write_second
from .inputs.findings import Findings, Material, limited, originals_alone, read_material, read_rankings
from .inputs.labels import panel_labels
from .judging.asked_again import (
    NO_REPEATS,
    AskedOnce,
    agents_in,
    ask_once,
    assess_runs,
    cases_by_wave,
    graded_before,
    in_batches,
    judge_again,
    relevant_by_wave,
    said_of,
    waves_of,
    write_if_any,
    write_waves,
)
from .judging.catalog import experiment_evaluators
from .judging.engine.cases import NOT_JUDGED, QueryCase, cases_of, known_relevant, with_evidence
from .judging.engine.evaluator import unjudged
from .judging.engine.rounds import assess, complete, judged, units
from .judging.games import Plan, play_lists, play_pairs
from .judging.judges.relevance import qrels_of
from .judging.panel import Panel, as_second, by_criterion, outcome_of, panels_of, passed_over, second_panel


def evaluate_answers(workspace: Workspace, caller: Caller) -> StageOutcome:
    """Write `judgments.jsonl`; an empty one where `[evaluate]` names no evaluator.

    Raises InputError for unusable files or settings, and what the caller raises; nothing is written then.
    """
    settings = workspace.experiment.evaluate
    if not workspace.experiment.evaluates:
        write_records(workspace.judgments, [])
        workspace.judgment_runs.unlink(missing_ok=True)
        return StageOutcome()
    evaluators, every = experiment_evaluators(workspace), read_material(workspace)
    material = limited(every, settings.max_rows)
    cases = cases_of(material)
    kept: list[KeptReplies] | None = [] if settings.keep_replies else None
    rows = assess(evaluators, cases, caller, kept)
    again = assess_runs(workspace, evaluators, material, caller)
    write_records(workspace.judgments, rows)
    _write_kept(workspace.judgment_runs, again if workspace.experiment.judges_runs else None)
    _write_kept(workspace.judgment_replies, kept)
    judged, of = len(material.queries), len(every.queries)
    said = f"only the first {judged} of {of} queries are judged by evaluators (max_rows = {settings.max_rows})"
    return outcome_of(by_criterion([*rows, *again]), *([said] if judged < of else []), *passed_over(evaluators, cases))


def _write_kept(path: Path, rows: Sequence[Record] | None) -> None:
    """The file is there only where its rows are kept."""
    if rows is None:
        path.unlink(missing_ok=True)
    else:
        write_records(path, rows)


ONE_BY_ONE = "passages were graded one by one (judge.relevance_batch): a token is of one passage"

ByJudge = Mapping[str, Sequence[Judgment]]
"""The records of each model that judges, in the order of the settings."""

PLUMBING_MODELS = ("local:smollm2-135m",)
"""Models that are there to try the plumbing."""


def make_judgments(workspace: Workspace, caller: Caller) -> StageOutcome:
    """Write `relevance.jsonl`, `qrels.trec`, `pointwise.jsonl`, `games.jsonl` and `waves.json`, and where wished
    `lists.jsonl` and `repeats.jsonl`. Of a panel the first three are what it says as one, and what each judge says of
    passages and answers is under `judges/`; the others have the records of all.

    Raises InputError for unusable files or settings, and what the caller raises; nothing is written then.
    """
    settings, panels, material = workspace.experiment.judge, panels_of(workspace), read_material(workspace)
    material = replace(material, joined=waves_of(workspace, material.agents))
    once, known = graded_before(workspace, ask_once(cases_by_wave(material)), panels, caller)
    passages, graded = _judge_passages(once, material, panels, known, caller)
    relevance = panel_labels(passages)
    relevant = known_relevant(material, relevance, settings.relevant_from)
    shown = relevant_by_wave(material, relevant)
    waves = [with_evidence(cases, known) for cases, known in zip(once.waves, shown, strict=True)]
    answered = [answer for cases in waves for case in cases for answer in case.answers]
    late = [(judge, answered) for panel in panels for judge in panel.pointwise if judge.needs_evidence]
    play = play_lists if settings.listwise else play_pairs
    played = play(material, relevant, panels, settings, caller, late)
    answers = {
        panel.judge: _by_judge(panel, _owed_pointwise(material, panel), [*graded, *played.answers]) for panel in panels
    }
    pointwise = panel_labels(answers)
    asked = [
        [case for case in played.asked if material.wave_of(*agents_in(case)) == n] for n in range(len(material.waves))
    ]
    in_turn = [query.id for query in material.queries] if material.planned else ()
    repeats = judge_again(panels, settings, waves, asked, caller, in_turn)
    so_far = Findings(
        material,
        rankings=read_rankings(workspace, material),
        relevance=tuple(relevance),
        pointwise=tuple(pointwise),
        games=tuple(played.games),
    )
    second = ask_second(workspace, originals_alone(so_far), _whole(material, waves), relevant, caller)
    write_records(workspace.relevance, relevance)
    write_qrels(workspace.qrels, qrels_of(relevance))
    write_records(workspace.pointwise, pointwise)
    write_records(workspace.games, played.games)
    write_if_any(workspace.lists, played.lists)
    write_if_any(workspace.repeats, repeats)
    write_waves(workspace, material.waves)
    rmtree(workspace.judges, ignore_errors=True)  # what another panel said before
    for judge in settings.panel:
        write_records(workspace.judge_relevance(judge), passages[judge])
        write_records(workspace.judge_pointwise(judge), answers[judge])
    write_second(workspace, second)
    rows: dict[str, Sequence[Judgment | Game]] = {
        "relevance judgments": list(chain(*passages.values())),
        "answer judgments": list(chain(*answers.values())),
        "games": played.games,
        "repeats": repeats,
        "judgments of the second judge": second.judgments,
        "games of the second judge": second.games,
    }
    return outcome_of(rows, *_notes(panels, settings), *said_of(material.waves, settings))


def _judge_passages(
    once: AskedOnce, material: Material, panels: Sequence[Panel], known: ByJudge, caller: Caller
) -> tuple[ByJudge, list[Assessment]]:
    """The relevance of every passage by each model, and what the judges give that grade an answer without it.

    known: what was graded before, which is not asked about.
    """
    cases = [case for wave in once.waves for case in wave]
    early = [judge for panel in panels for judge in panel.pointwise if not judge.needs_evidence]
    asked = [*(panel.passages(cases) for panel in panels), *((judge, units(judge, cases)) for judge in early)]
    made = judged(asked, caller)
    found = {
        panel.judge: _by_judge(panel, _owed_relevance(material, panel), once.of_all([*passages, *known[panel.judge]]))
        for panel, passages in zip(panels, made, strict=False)
    }
    return found, [row for rows in made[len(panels) :] for row in rows]


def _whole(material: Material, waves: Sequence[Sequence[QueryCase]]) -> list[QueryCase]:
    """Every query with all its answers, each with what it was held against."""
    found = {(case.query.id, one.subject): one for cases in waves for case in cases for one in case.answers}
    return [
        replace(case, answers=tuple(found[case.query.id, one.subject] for one in case.answers))
        for case in cases_of(material)
    ]


def _by_judge(panel: Panel, owed: Sequence[Assessment], made: Sequence[Judgment]) -> list[Judgment]:
    """What one model owed, with its own records among `made` in their places."""
    given = [row.judgment() if isinstance(row, Assessment) else row for row in made if row.judge == panel.judge]
    return complete([row.judgment() for row in owed], given)


def _owed_relevance(material: Material, panel: Panel) -> list[Assessment]:
    """One for every passage of a query's pool, also for what the corpus lacks."""
    return [
        panel.relevance.fail(
            case, NOT_JUDGED if id in material.passages else f"passage '{plain(id)}' is not in the corpus", subject=id
        )
        for case in cases_of(material)
        for id in material.pool(case.query.id)
    ]


def _owed_pointwise(material: Material, panel: Panel) -> list[Assessment]:
    """By query, agent and criterion, whichever judge is asked about it."""
    return [
        row
        for case in cases_of(material)
        for agent in material.asked(case.query.id)
        for judge in panel.pointwise
        for row in unjudged(judge, case, [material.answers[case.query.id, agent]])
    ]


def _notes(panels: Sequence[Panel], settings: JudgeSettings) -> list[str]:
    by_token = any(panel.mode == "probability" for panel in panels)
    return [
        *(
            f"{panel.judge} judged: it is there to try the plumbing, and its judgments are worthless"
            for panel in panels
            if panel.judge in PLUMBING_MODELS
        ),
        *([NO_REPEATS] if settings.repeats and by_token else []),
        *([ONE_BY_ONE] if settings.relevance_batch > 1 and by_token else []),
    ]


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


def _pool_size(experiment: Experiment) -> float:
    """Passages that a query's agents bring together."""
    return experiment.retrieval.k * (1 + _NEW_PASSAGES_PER_AGENT * (len(experiment.agent_names()) - 1))


def of_judging(workspace: Workspace) -> list[Load]:
    """Of each model that judges, a load for relevance, one for each judge of answers, and one for games or lists."""
    experiment, n, passage = workspace.experiment, count_queries(workspace), mean_passage_tokens(workspace)
    again = n * (1 + experiment.judge.repeats * experiment.judge.repeat_share)
    loads = [load for panel in panels_of(workspace) for load in _by_panel(panel, workspace, again, passage)]
    if experiment.judge.second:
        second, asked = replace(workspace, experiment=as_second(experiment)), n * experiment.judge.second_share
        loads += _by_panel(second_panel(workspace), second, asked, passage)
    return loads


def _by_panel(panel: Panel, workspace: Workspace, n_queries: float, passage: float) -> list[Load]:
    """What one model is asked of so many queries."""
    experiment, judge, names = workspace.experiment, workspace.experiment.judge, workspace.experiment.agent_names()
    relevant = _RELEVANT[judge.relevant_from]
    answers = (
        n_queries * len(experiment.answered_agents()) * DISTINCT_ANSWERS + len(experiment.own_agents()) * n_queries
    )
    loads = [_graded(panel, n_queries, _pool_size(experiment), passage)]
    for one in panel.pointwise:
        tokens: float = filled_tokens(one.template) + _ANSWER_TOKENS
        tokens += relevant * (passage + _REASON_TOKENS) if one.needs_evidence else 0
        tokens += experiment.retrieval.k * passage if "passages" in one.template.names else 0
        loads.append(foreseen_load(one.batch_label, panel.judge, answers, tokens))
    # What a game or a list shows to be relevant.
    shown = relevant * (passage * judge.games_passages + _REASON_TOKENS * judge.games_notes)
    if not panel.lists:
        pairs = len(names) * (len(names) - 1) / 2 * (judge.adaptive_max_games if judge.games == "adaptive" else 1)
        tokens = filled_tokens(panel.games["a"].template) + shown + 2 * _ANSWER_TOKENS
        calls = n_queries * pairs * judge.orders * _DISTINCT_PAIRS
        return [*loads, foreseen_load("games", panel.judge, calls, tokens)]
    # The lists of a query in each presentation, of all waves.
    plan = Plan(waves_of(workspace, names), ["one"], judge.anchors, judge.seed)
    blocks = [block for block in plan.blocks("one") if block.pairs]
    seats = sum(len(block.agents) for block in blocks) / max(1, len(blocks))
    played = judge.adaptive_max_games if judge.games == "listwise-adaptive" else 1.0
    tokens = filled_tokens(panel.lists[1].template) + shown + seats * _ANSWER_TOKENS
    calls = played * n_queries * len(panel.lists) * len(blocks)
    return [*loads, foreseen_load("listwise", panel.judge, calls, tokens, seats)]


def _graded(panel: Panel, n_queries: float, pool: float, passage: float) -> Load:
    """Passages one by one, or in batches of nearly the same size."""
    if panel.batch is None:
        tokens = filled_tokens(panel.relevance.template) + passage
        return foreseen_load(panel.relevance.batch_label, panel.judge, n_queries * pool, tokens)
    batches = ceil(pool / panel.batch.size)
    tokens = filled_tokens(panel.batch.template) + passage * pool / batches
    return foreseen_load(panel.batch.batch_label, panel.judge, n_queries * batches, tokens, pool / batches)


def of_pools(workspace: Workspace, n_questions: int) -> list[Load]:
    """Of each model that judges, a load for the pools in which evidence of so many questions is looked for.

    On the high side: as if those of a question's own section came on top, and KNN, where both are pooled, found nothing
    that BM25 does; beside the two the hybrid brings nothing new.
    """
    experiment = workspace.experiment
    rankers = min(2, len(set(experiment.questions.pool_by))) if experiment.searches_vectors else 1
    return _of_pool(workspace, n_questions, rankers * experiment.questions.pool_depth + OF_ITS_SECTION)


def of_finalists(workspace: Workspace) -> list[Load]:
    """Of each model that judges, a load for what finalists of the screening hand over and nobody has judged.

    The most that it may be: a request a query where the judge grades in batches, else one for each of so many passages.
    A query that is known to have no pool of passages, its evidence being people's, is not asked about.
    """
    n = count_queries(workspace)
    if workspace.found.exists():
        n = min(n, len({row.query_id for row in read_records(workspace.found, Found)}))
    return _of_pool(workspace, n, workspace.experiment.judge.pool_batch)


def _of_pool(workspace: Workspace, n_queries: int, pool: int) -> list[Load]:
    passage = mean_passage_tokens(workspace)
    return [_graded(in_batches(workspace, panel), n_queries, pool, passage) for panel in panels_of(workspace)]


def of_evaluators(workspace: Workspace) -> list[Load]:
    """A load for each evaluator that asks the judge, of about as many calls as its class says.

    With `max_rows` the first queries alone are judged. One that says what it `reads`, and no context, is shown none.
    """
    if not workspace.experiment.evaluates:
        return []
    experiment, n, passage = workspace.experiment, count_queries(workspace), mean_passage_tokens(workspace)
    agents, loads = len(experiment.agent_names()), []
    if (most := experiment.evaluate.max_rows) is not None:
        n = min(n, max(1, most // max(1, agents)))
    for one in experiment_evaluators(workspace):
        items, shown = agents * DISTINCT_ANSWERS * experiment.answer.repeats, experiment.retrieval.k
        if one.unit == "passage":
            items, shown = _pool_size(experiment), 1
        elif "context" not in (one.reads or ("context",)):
            shown = 0
        if one.asking != "nothing" and (calls := n * one.n_calls * items):
            tokens = _EVALUATOR_TOKENS + passage * shown
            loads.append(foreseen_load(one.batch_label, one.setup.model, calls, tokens))
    return loads
