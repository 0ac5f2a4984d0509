"""What the stages `judge`, `evaluate` and `compare` depend on besides files of stages before them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragassay.experiment.reading import own_files, own_modules, tables
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace

from .figures.query_values import cross, measures_brought, settings_say
from .judging.judges import PROMPTS, STAGE_PROMPTS


def judge_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape the judgments and games."""
    judge = experiment.judge
    values = tables(experiment, "judge", models=judge.all_models)
    unused = set() if judge.panel else {"judge.panel"}
    if judge.second:
        values["retrieval.k"] = experiment.retrieval.k
    else:
        unused |= {"judge.second", "judge.second_share"}
    return {name: value for name, value in values.items() if name not in unused}


def judge_prompts(workspace: Workspace) -> list[Path]:
    """Ours, and the user's own."""
    judge = workspace.experiment.judge
    return [*STAGE_PROMPTS, *own_files(workspace, *judge.own_prompts())]


def evaluate_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape what evaluators give, of which there may be none."""
    models = (experiment.evaluating_model,) if experiment.evaluates else ()
    shaping = {f"evaluate.{name}" for name in experiment.evaluate.shaping()} - {"evaluate.thresholds"}
    values = tables(experiment, "evaluate", models=models)
    values = {k: v for k, v in values.items() if not k.startswith("evaluate.") or k in shaping}
    if not experiment.evaluates:
        return values
    if likelihood := experiment.evaluate.likelihood_model:
        values |= tables(experiment, models=(likelihood,))
    from .judging.catalog import packages_of

    own = {one.name for one in experiment.evaluate.custom}
    packages = packages_of(name for name in experiment.evaluate.judges if name not in own)
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
        values["compare.measures"] = measures_brought(experiment)
    values |= {"retrieval.k": experiment.retrieval.k, "judge.criteria": judge.criteria, "judge.mode": judge.mode}
    if judge.panel:
        values["judge.panel"] = judge.panel
    if judge.second:
        values["judge.second"] = judge.second
    if experiment.evaluates:
        values["evaluate"] = experiment.evaluate.shaping()
    if crossed := cross(settings_say(experiment)):
        values["models_by_prompts"] = [[*pair, agents] for pair, agents in crossed.items()]
    return values | {
        "corpus.note": experiment.corpus.note,
        "agent.writer": {agent.name: agent.writer for agent in experiment.own_agents()},
    }
