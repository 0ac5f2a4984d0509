"""The stages `judge`, `evaluate`, `compare` and `report`; what runs one is imported when it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ragassay.errors import InputError
from ragassay.experiment.plugins import names_of
from ragassay.experiment.reading import own_files, own_modules, tables
from ragassay.experiment.settings import Experiment
from ragassay.experiment.stage import Check, Load, Means, Stage
from ragassay.experiment.variants import cross
from ragassay.experiment.workspace import StageOutcome, Workspace, says_not_asked
from ragassay.files import digest_json
from ragassay.records import Query

from .judging.judges import PROMPTS, STAGE_PROMPTS
from .report import TEMPLATES


def _draw(workspace: Workspace, means: Means) -> StageOutcome:
    from .looks import draw

    return draw(workspace)


def draw_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that make it another plan."""
    from .looks import planned_by

    run = tables(experiment, "run")
    names = ("until", "margin", "max_queries", "looks", "eliminate", "write_by_look")
    looked = {name: run[f"run.{name}"] for name in names if f"run.{name}" in run}
    return {"run": looked, "plan": digest_json(planned_by(experiment)), "questions.seed": experiment.questions.seed}


DRAW = Stage(
    "draw",
    needs=lambda w: [w.planned, w.passages, *([w.parts] if w.experiment.by_look else [])],
    uses=lambda w: [w.looks, w.own_labels, *sorted(w.label_samples.glob("*.jsonl"))],
    settings=draw_settings,
    makes=lambda w: [w.queries, w.look, *says_not_asked(w)],
    run=_draw,
    applies=lambda experiment: experiment.run.until is not None,
)
"""What is asked up to the next look, of a run that may end early."""


def judge_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape the judgments and games."""
    judge = experiment.judge
    values = tables(experiment, "judge", models=judge.all_models)
    if judge.second:
        return values | {"retrieval.k": experiment.retrieval.k}
    return {name: value for name, value in values.items() if name != "judge.second_share"}


def judge_prompts(workspace: Workspace) -> list[Path]:
    """Ours, and the user's own."""
    judge = workspace.experiment.judge
    return [*STAGE_PROMPTS, *own_files(workspace, *judge.own_prompts())]


def evaluate_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape what evaluators give, of which there may be none."""
    models = (experiment.evaluating_model,) if experiment.evaluates else ()
    values = tables(experiment, "evaluate", models=models)
    values.pop("evaluate.thresholds", None)
    if not experiment.evaluates:
        return values
    if likelihood := experiment.evaluate.likelihood_model:
        values |= tables(experiment, models=(likelihood,))
    own = {one.name for one in experiment.evaluate.custom}
    named = [name for name in experiment.evaluate.judges if name not in own]
    if set(names_of("judges")) & set(named):
        from .judging.catalog import packages_of

        packages = packages_of(named)
        values |= {f"evaluate.judges.{name}": package for name, package in packages.items()}
    return values | {
        "judge.model": experiment.evaluating_model,
        "retrieval.embedding": experiment.retrieval.embedding,
    }


def evaluate_prompts(workspace: Workspace) -> list[Path]:
    """Ours, and the user's own prompts and code; none where no evaluator is named."""
    settings = workspace.experiment.evaluate
    if not workspace.experiment.evaluates:
        return []
    searches = (str(table["search"]) for table in settings.settings.values() if table.get("search"))
    code = own_modules(workspace, *(name for name in settings.judges if ":" in name), *searches)
    rooms = sorted(PROMPTS.parent.glob("eval_studio/*/prompts/*.md"))
    built_in = [*sorted([*PROMPTS.glob("*.md"), *PROMPTS.glob("*.jsonl")]), *rooms]
    return [*built_in, *own_files(workspace, *settings.own_prompts()), *code]


def compare_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape the figures."""
    judge = experiment.judge
    values = {name: value for name, value in tables(experiment, "compare").items() if name != "compare.measures"}
    if experiment.compare.measures:
        from .figures.query_values import measures_brought

        values["compare.measures"] = measures_brought(experiment)
    values |= {"retrieval.k": experiment.retrieval.k, "judge.criteria": judge.criteria, "judge.mode": judge.mode}
    if judge.panel:
        values["judge.panel"] = judge.panel
    if judge.second:
        values["judge.second"] = judge.second
    if experiment.run.until and experiment.answer.repeats > 1:
        values["answer.repeats"] = experiment.answer.repeats
    if experiment.evaluates:
        values["evaluate"] = experiment.evaluate.shaping()
    if crossed := cross(experiment.answered_by()):
        values["models_by_prompts"] = [[*pair, agents] for pair, agents in crossed.items()]
    return values | {
        "corpus.note": experiment.corpus.note,
        "agent.writer": {agent.name: agent.writer for agent in experiment.own_agents()},
    }


def report_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape the page."""
    values = tables(experiment) | {"retrieval.k": experiment.retrieval.k}
    questions = experiment.questions
    return values | {"questions.kinds": questions.kinds} if questions.from_needs else values


def _answers(workspace: Workspace) -> list[Path]:
    return [workspace.answers(name) for name in workspace.experiment.agent_names()]


def _of_judges(workspace: Workspace) -> list[Path]:
    """What each judge of a panel says by itself, and what a second judge says."""
    w, judge = workspace, workspace.experiment.judge
    paths = [path(name) for name in judge.panel for path in (w.judge_relevance, w.judge_pointwise)]
    return paths + ([w.second_drawn, w.second_relevance, w.second_pointwise, w.second_games] if judge.second else [])


def _judging_foreseen(workspace: Workspace) -> list[Load]:
    from .make_judgments import of_judging

    return of_judging(workspace)


def _judge(workspace: Workspace, means: Means) -> StageOutcome:
    from .make_judgments import make_judgments

    return make_judgments(workspace, means.caller)


JUDGE = Stage(
    "judge",
    needs=lambda w: [w.passages, w.queries, *_answers(w)],
    uses=lambda w: [
        *judge_prompts(w),
        # By these a second judge's passages are drawn.
        *(w.rankings(name) for name in w.experiment.agent_names() if w.experiment.judge.second),
        *says_not_asked(w),
    ],
    settings=judge_settings,
    makes=lambda w: [w.relevance, w.qrels, w.pointwise, w.games, w.lists, w.repeats, *_of_judges(w)],
    run=_judge,
    models=lambda e: e.judge.all_models,
    foreseen=_judging_foreseen,
)


def _check_evaluators(workspace: Workspace) -> Iterator[Check]:
    if workspace.experiment.evaluates:
        from ragassay.prompts import Prompt

        from .judging.catalog import experiment_evaluators

        yield partial(experiment_evaluators, workspace)
        for name in workspace.experiment.evaluate.own_prompts():
            yield partial(Prompt.load, workspace.corpus / name)


def check_what_evaluators_load(workspace: Workspace, own_queries: Sequence[Query]) -> None:
    """Raises InputError where an evaluator has not what it loads, or cannot judge one of the user's queries."""
    from .judging.catalog import experiment_evaluators

    try:
        evaluators = experiment_evaluators(workspace)
    except InputError:  # said by another check
        return
    for evaluator in evaluators:
        evaluator.check_at_hand()
    for query in own_queries:
        for evaluator in evaluators:
            if not evaluator.lacks(query):
                evaluator.check_query(query)


def _evaluations_foreseen(workspace: Workspace) -> list[Load]:
    from .make_judgments import of_evaluators

    return of_evaluators(workspace)


def _evaluate(workspace: Workspace, means: Means) -> StageOutcome:
    from .make_judgments import evaluate_answers

    return evaluate_answers(workspace, means.caller)


EVALUATE = Stage(
    "evaluate",
    needs=lambda w: [
        *(w.passages, w.queries, *_answers(w)),
        *(w.answer_runs(name) for name in w.experiment.answered_agents() if w.experiment.judges_runs),
    ],
    uses=lambda w: [*evaluate_prompts(w), *says_not_asked(w)],
    settings=evaluate_settings,
    makes=lambda w: [
        w.judgments,
        *([w.judgment_runs] if w.experiment.judges_runs else []),
        *([w.judgment_replies] if w.experiment.evaluates and w.experiment.evaluate.keep_replies else []),
    ],
    run=_evaluate,
    models=lambda e: [e.evaluating_model] if e.evaluates else [],
    foreseen=_evaluations_foreseen,
    files=_check_evaluators,
)


def _compare(workspace: Workspace, means: Means) -> StageOutcome:
    from .compare import compare

    return compare(workspace)


COMPARE = Stage(
    "compare",
    needs=lambda w: [w.queries, w.relevance, w.pointwise, w.games, w.judgments, *_answers(w)],
    uses=lambda w: [
        *(w.sections, w.passages, w.ledger, w.own_qrels, w.own_labels),
        *sorted(w.label_samples.glob("*.jsonl")),
        *(w.repeats, w.lists),
        *([w.look, *says_not_asked(w)] if w.experiment.run.until else []),
        *_of_judges(w),
        *(w.rankings(name) for name in w.experiment.agent_names()),
        *(w.manifests / f"{name}.json" for name in ("ingest", "questions", "retrieve", "answer", "judge", "evaluate")),
    ],
    settings=compare_settings,
    makes=lambda w: [w.figures, w.values],
    run=_compare,
)


def _report(workspace: Workspace, means: Means) -> StageOutcome:
    from .report.page import report

    return report(workspace)


REPORT = Stage(
    "report",
    needs=lambda w: [w.figures, w.queries, w.passages, w.relevance, w.pointwise, w.games, *_answers(w)],
    uses=lambda w: [
        *(w.rewrites, w.unreadable, w.suspicious_pages, w.lists),
        *([w.screen] if w.experiment.retriever else []),
        *([w.questions_check] if w.experiment.questions.from_needs else []),
        *([w.validity] if w.validity.exists() else []),
        *sorted(path for path in TEMPLATES.rglob("*") if path.is_file()),
    ],
    settings=report_settings,
    makes=lambda w: [w.report],
    run=_report,
)
