"""The evaluators there are: ours by name or family, a user's class by `module:Class`, a user's prompt by its table."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from inspect import isabstract
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.model_settings import NO_MODEL
from ragassay.experiment.own_code import import_own, importable
from ragassay.experiment.settings import EvaluateSettings
from ragassay.experiment.workspace import Workspace
from ragassay.files import first_problem
from ragassay.models.likelihood.model import LikelihoodModel
from ragassay.text import did_you_mean, plain

from .engine.evaluator import Evaluator, Options
from .engine.judge import Setup
from .engine.thresholds import check_thresholds
from .judges.agent_evaluation import (
    AgentGroundedness,
    ChunkRelevance,
    ContextSufficiency,
    Correctness,
    RelevanceToQuery,
    Safety,
)
from .judges.answer_relevance import AnswerRelevance
from .judges.citations import Citations
from .judges.context_relevance import ContextRelevance
from .judges.custom import custom_judge
from .judges.document_recall import DocumentRecall
from .judges.eval_studio.context.listed import JUDGES as CONTEXT
from .judges.eval_studio.form.listed import JUDGES as FORM
from .judges.eval_studio.free.listed import JUDGES as FREE
from .judges.eval_studio.likelihood.listed import JUDGES as LIKELIHOOD
from .judges.eval_studio.passages.listed import JUDGES as PASSAGES
from .judges.eval_studio.question.listed import JUDGES as QUESTION
from .judges.eval_studio.safety.listed import JUDGES as SAFETY
from .judges.eval_studio.summaries.listed import JUDGES as SUMMARIES
from .judges.eval_studio.truth.listed import JUDGES as TRUTH
from .judges.factual_correctness import FactualCorrectness
from .judges.golden_similarity import GoldenSimilarity
from .judges.groundedness import Groundedness
from .judges.hallucination import Hallucination
from .judges.no_answer import NoAnswer
from .judges.nuggets import Nuggets
from .judges.umbrela import Umbrela
from .mode import mode_of

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SHOWN = "docs/your-own-judge.md shows one"

_KINDS: tuple[type[Evaluator], ...] = (
    ContextRelevance,
    Groundedness,
    AnswerRelevance,
    RelevanceToQuery,
    AgentGroundedness,
    Safety,
    Correctness,
    ChunkRelevance,
    ContextSufficiency,
    DocumentRecall,
    Umbrela,
    Nuggets,
    Citations,
    Hallucination,
    NoAnswer,
    GoldenSimilarity,
    FactualCorrectness,
    *TRUTH,
    *QUESTION,
    *CONTEXT,
    *PASSAGES,
    *SAFETY,
    *FORM,
    *SUMMARIES,
    *LIKELIHOOD,
    *FREE,
)

BUILT_IN: dict[str, type[Evaluator]] = {kind.name: kind for kind in _KINDS}
"""Name to class, in the order in which they are listed."""

FAMILIES = {
    family: tuple(name for name, kind in BUILT_IN.items() if kind.family == family)
    for family in dict.fromkeys(kind.family for kind in BUILT_IN.values())
} | {"eval-studio": tuple(name for name, kind in BUILT_IN.items() if kind.family.startswith("eval-studio-"))}
"""What the name of a whole family stands for in a list of judges; `eval-studio` is all of its parts."""


def evaluators_of(settings: EvaluateSettings, setup: Setup, file: Path) -> list[Evaluator]:
    """The evaluators that `[evaluate]` names, each once, with their options; `file` is where errors are said to be.

    A judge of `[[evaluate.custom]]` takes part whether `judges` names it or not.

    Raises InputError for an unknown name, an option that does not fit, or a module that cannot be imported.
    """
    own = {one.name for one in settings.custom}
    names = dict.fromkeys(name for given in settings.judges for name in FAMILIES.get(given, (given,)))
    made = [_make(type_of(name, setup.folder, file), name, settings, setup, file) for name in names if name not in own]
    made += [custom_judge(one, setup, _options(Options, one.name, settings, file)) for one in settings.custom]
    _check_names(made, settings, file)
    check_thresholds(made, settings.thresholds, file)
    return made


def type_of(name: str, folder: Path, file: Path) -> type[Evaluator]:
    """The class of an evaluator's name. Raises InputError."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        remedy = f"{did_you_mean(name, [*FAMILIES, *BUILT_IN])}`ragassay judges` lists them"
        raise InputError(f"there is no judge named '{plain(name)}'", file=file, remedy=remedy)
    with importable(folder):
        theirs = getattr(import_own(module, folder, f"judge '{plain(name)}'", file), attribute, None)
    if not isinstance(theirs, type) or not issubclass(theirs, Evaluator):
        raise InputError(f"{plain(name)} is not a subclass of Evaluator", file=file, remedy=_SHOWN)
    if isabstract(theirs):
        raise InputError(f"{plain(name)} has no `steps`", file=file, remedy=_SHOWN)
    if not _NAME.fullmatch(str(getattr(theirs, "name", ""))):
        remedy = "letters, digits, dot, underscore and hyphen, as in docs/your-own-judge.md"
        raise InputError(f"{plain(name)} has no fitting `name`", file=file, remedy=remedy)
    return theirs


def _make(kind: type[Evaluator], given: str, settings: EvaluateSettings, setup: Setup, file: Path) -> Evaluator:
    name = kind.name if ":" in given else given
    options = _options(kind.options_type, name, settings, file)
    if not kind.made_of:
        return kind(setup, options)
    parts = [_make(part, part.name, settings, setup, file) for part in kind.made_of]
    return kind(setup, options, parts)  # type: ignore[call-arg]


def _options(kind: type[Options], name: str, settings: EvaluateSettings, file: Path) -> Options:
    given: dict[str, Any] = settings.settings.get(name, {})
    strange = next((key for key in given if key not in kind.model_fields), "")
    try:
        return kind.model_validate_json(json.dumps(given, default=str))
    except ValidationError as error:
        problem = plain(first_problem(error).replace("Value error, ", ""))
        known = ", ".join(kind.model_fields)
        raise InputError(
            f"evaluate.settings.{name}: {problem}",
            file=file,
            remedy=f"{did_you_mean(strange, kind.model_fields)}known here: {known}",
        ) from None


def _check_names(evaluators: Sequence[Evaluator], settings: EvaluateSettings, file: Path) -> None:
    """Two of one name would share their records; settings of what does not judge are a misspelling."""
    names = [evaluator.name for evaluator in evaluators]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"two judges are named '{plain(twice[0])}'", file=file, remedy="rename one")
    if taken := sorted({one.name for one in settings.custom} & {*FAMILIES, *BUILT_IN}):
        raise InputError(f"'{plain(taken[0])}' is the name of a judge of ours", file=file, remedy="rename yours")
    criteria = [criterion for evaluator in evaluators for criterion in evaluator.criteria]
    if flat := next((one.name for one in criteria if not one.lowest < one.highest), None):
        raise InputError(f"the scale of '{plain(flat)}' does not rise", file=file, remedy="name the lowest label first")
    given = [criterion.name for criterion in criteria]
    if twice := sorted({name for name in given if given.count(name) > 1}):
        raise InputError(f"two judges give the criterion '{plain(twice[0])}'", file=file, remedy="rename yours")
    parts = [part.name for evaluator in evaluators for part in evaluator.made_of]
    if unused := sorted(set(settings.settings) - {*names, *parts}):
        raise InputError(
            f"[evaluate.settings.{plain(unused[0])}] is of a judge that is not in evaluate.judges", file=file
        )


def experiment_evaluators(workspace: Workspace) -> list[Evaluator]:
    """The evaluators of an experiment. Raises InputError where a name, an option or the mode cannot be had."""
    experiment = workspace.experiment
    model = experiment.evaluating_model
    mode = mode_of("evaluate", model, experiment.evaluate.mode)
    name = experiment.likelihood_model
    likelihood = None if name == NO_MODEL else LikelihoodModel(name, experiment.settings_of(name))
    evaluate, embedding = experiment.evaluate, experiment.retrieval.embedding
    setup = Setup(model, mode, workspace.corpus, embedding, evaluate.prompts, likelihood)
    return evaluators_of(evaluate, setup, workspace.corpus / "experiment.toml")
