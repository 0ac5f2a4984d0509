"""The evaluators there are: ours by name or family, a user's class by `module:Class`, a user's prompt by its table."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from inspect import isabstract
from itertools import chain
from math import isinf
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.plugins import brought_by, classes_in, import_own, importable, names_of, plugin
from ragassay.experiment.settings import EvaluateSettings
from ragassay.experiment.tables import NO_MODEL
from ragassay.experiment.workspace import Workspace
from ragassay.files import first_problem
from ragassay.models.servers import LikelihoodModel
from ragassay.records import Record
from ragassay.text import did_you_mean, plain

from . import judges
from .engine.cases import Setup
from .engine.evaluator import NIST, OWN, SR_11_7, Evaluator, Options, check_thresholds, threshold_of
from .judges.pointwise import custom_judge
from .panel import mode_of

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SHOWN = "docs/your-own-judge.md shows one"
GROUP = "judges"
"""Of entry points, `ragassay.judges`."""


@cache
def built_in() -> dict[str, type[Evaluator]]:
    """Ours by name, in the order in which they are listed.

    They are the classes of the modules under `judges` that have a name and a family (whose method it is) of their own,
    family by family, each by its `place`, those that name none last.
    """
    there = classes_in(judges.__name__, Evaluator)  # type: ignore[type-abstract]
    kinds = [kind for kind in there if "name" in vars(kind) and kind.family != OWN and not isabstract(kind)]
    if twice := [name for name, number in Counter(kind.name for kind in kinds).items() if number > 1]:
        raise ValueError(f"two of our judges are named {twice[0]}")
    kinds.sort(key=lambda kind: kind.place)
    order = list(dict.fromkeys(kind.family for kind in kinds))
    return {kind.name: kind for kind in sorted(kinds, key=lambda kind: order.index(kind.family))}


@cache
def families() -> dict[str, tuple[str, ...]]:
    """What the name of a whole family stands for in a list of judges; `eval-studio` is all of its parts."""
    found: dict[str, tuple[str, ...]] = {}
    for name, kind in built_in().items():
        found[kind.family] = (*found.get(kind.family, ()), name)
    parts = (names for family, names in found.items() if family.startswith("eval-studio-"))
    return {**found, "eval-studio": tuple(chain.from_iterable(parts))}


def evaluators_of(settings: EvaluateSettings, setup: Setup, file: Path) -> list[Evaluator]:
    """The evaluators that `[evaluate]` names, each once, with their options; `file` is where errors are said to be.

    A judge of `[[evaluate.custom]]` takes part whether `judges` names it or not.

    Raises InputError for an unknown name, an option that does not fit, or a module that cannot be imported.
    """
    own = {one.name for one in settings.custom}
    names = dict.fromkeys(name for given in settings.judges for name in families().get(given, (given,)))
    made = [_make(type_of(name, setup.folder, file), name, settings, setup, file) for name in names if name not in own]
    made += [custom_judge(one, setup, _options(Options, one.name, settings, file)) for one in settings.custom]
    _check_names(made, settings, file)
    check_thresholds(made, settings.thresholds, file)
    return made


def type_of(name: str, folder: Path, file: Path) -> type[Evaluator]:
    """The class of an evaluator's name: ours, a class of the user's own, or what another package brings.

    Raises InputError.
    """
    if name in built_in():
        return built_in()[name]
    if ":" not in name:
        return _brought(name, file)
    with importable(folder):
        theirs = import_own(name, folder, f"judge '{plain(name)}'", file)
    if not isinstance(theirs, type) or not issubclass(theirs, Evaluator):
        raise InputError(f"{plain(name)} is not a subclass of Evaluator", file=file, remedy=_SHOWN)
    _check_class(theirs, plain(name), file)
    return theirs


def _brought(name: str, file: Path) -> type[Evaluator]:
    """The judge that another package registers in the group `ragassay.judges`. Raises InputError."""
    theirs = plugin(GROUP, name, Evaluator)  # type: ignore[type-abstract]
    if theirs is None:
        remedy = f"{did_you_mean(name, [*families(), *built_in(), *names_of(GROUP)])}`ragassay judge --list` lists them"
        raise InputError(f"there is no judge named '{plain(name)}'", file=file, remedy=remedy)
    told = f"judge '{plain(name)}' of {brought_by(GROUP, name)}"
    _check_class(theirs, told, file)
    return theirs


def _check_class(theirs: type[Evaluator], told: str, file: Path) -> None:
    if isabstract(theirs):
        raise InputError(f"{told} has no `steps`", file=file, remedy=_SHOWN)
    if not _NAME.fullmatch(str(getattr(theirs, "name", ""))):
        remedy = "letters, digits, dot, underscore and hyphen, as in docs/your-own-judge.md"
        raise InputError(f"{told} has no fitting `name`", file=file, remedy=remedy)


def packages_of(names: Iterable[str]) -> dict[str, str]:
    """Of the judges named, those that other packages bring, with `package 1.0`; what is not there is left out."""
    theirs = {name: brought_by(GROUP, name) for name in names if ":" not in name and name not in _ours()}
    return {name: package for name, package in theirs.items() if package is not None}


def _ours() -> set[str]:
    return {*families(), *built_in()}


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
        problem = f"evaluate.settings.{name}: {plain(first_problem(error).replace('Value error, ', ''))}"
        remedy = f"{did_you_mean(strange, kind.model_fields)}known here: {', '.join(kind.model_fields)}"
        raise InputError(problem, file=file, remedy=remedy) from None


def _check_names(evaluators: Sequence[Evaluator], settings: EvaluateSettings, file: Path) -> None:
    """Two of one name would share their records; settings of what does not judge are a misspelling."""
    names = [evaluator.name for evaluator in evaluators]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"two judges are named '{plain(twice[0])}'", file=file, remedy="rename one")
    if taken := sorted({one.name for one in settings.custom} & _ours()):
        raise InputError(f"'{plain(taken[0])}' is the name of a judge of ours", file=file, remedy="rename yours")
    criteria = [criterion for evaluator in evaluators for criterion in evaluator.criteria]
    if flat := next((one.name for one in criteria if not one.lowest < one.highest), None):
        raise InputError(f"the scale of '{plain(flat)}' does not rise", file=file, remedy="name the lowest label first")
    given = [criterion.name for criterion in criteria]
    if twice := sorted({name for name in given if given.count(name) > 1}):
        raise InputError(f"two judges give the criterion '{plain(twice[0])}'", file=file, remedy="rename yours")
    parts = [part.name for evaluator in evaluators for part in evaluator.made_of]
    if unused := sorted(set(settings.settings) - {*names, *parts}):
        problem = f"[evaluate.settings.{plain(unused[0])}] is of a judge that is not in evaluate.judges"
        raise InputError(problem, file=file)


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


class ListedCriterion(Record):
    """One number of an evaluator. highest, threshold: None where there is none."""

    name: str
    lowest: float
    highest: float | None
    lower_is_better: bool
    threshold: float | None


class Listed(Record):
    """One evaluator, as `ragassay judge --list --json` gives it."""

    name: str
    family: str
    about: str
    of: str
    reads: tuple[str, ...]
    needs: tuple[str, ...]
    asks: str
    calls: float
    criteria: tuple[ListedCriterion, ...]
    source: str
    tags: tuple[str, ...]


def listed_judges() -> list[Listed]:
    """Every built-in evaluator, in the catalog's order."""
    return [_listed(kind(Setup("openai:none"))) for kind in built_in().values()]


def brought_judges(file: Path) -> list[Listed]:
    """Those that other packages bring, by name. Raises InputError for one that cannot be used or is named as ours."""
    if taken := sorted({*names_of(GROUP)} & _ours()):
        package = brought_by(GROUP, taken[0])
        problem = f"'{plain(taken[0])}', which {package} brings, is the name of a judge of ours"
        raise InputError(problem, file=file, remedy="uninstall it")
    kinds = {name: _brought(name, file) for name in names_of(GROUP)}
    return [_listed(kind(Setup("openai:none")), brought_by(GROUP, name) or "") for name, kind in kinds.items()]


def _listed(one: Evaluator, package: str = "") -> Listed:
    criteria = tuple(
        ListedCriterion(
            **vars(criterion)
            | {"highest": None if isinf(criterion.highest) else criterion.highest}
            | {"threshold": threshold_of(one, criterion)}
        )
        for criterion in one.criteria
    )
    same = ("name", "family", "about", "reads", "needs", "asks", "tags")
    return Listed(
        **{field: getattr(one, field) for field in same},
        of=one.unit,
        calls=one.calls if one.asks == "judge" else 0.0,
        criteria=criteria,
        source=one.source or package,
    )


def scale_of(one: ListedCriterion) -> str:
    """`0 to 3, good from 2`, `0 to 1, lower is better, good up to 0.25`, `0 and up, lower is better`."""
    scale = f"{one.lowest:g} and up" if one.highest is None else f"{one.lowest:g} to {one.highest:g}"
    way = ", lower is better" if one.lower_is_better else ""
    side = "up to" if one.lower_is_better else "from"
    return f"{scale}{way}" + ("" if one.threshold is None else f", good {side} {one.threshold:g}")


def asks_of(one: Listed) -> str:
    """`nothing`, `a model of its own`, `the judge, about 2 calls`."""
    if one.asks != "judge":
        return {"model": "a model of its own"}.get(one.asks, one.asks)
    return f"the judge, about {one.calls:g} {'call' if one.calls == 1 else 'calls'}"


def markdown_list(judges: Iterable[Listed]) -> str:
    """The table of docs/evaluators.md, family by family; `ragassay judge --list` says the rest of each judge."""
    lines = ["| judge | gives | calls |", "|---|---|---|"]
    family = ""
    for one in judges:
        lines += [f"| **{one.family}** |"] * (one.family != family)
        family = one.family
        of = f" ({one.of})" * (one.of != "answer")
        needs = "".join("†" if name == "expected_response" else f", needs `{name}`" for name in one.needs)
        calls = {"judge": f"{one.calls:g}", "model": "own"}.get(one.asks, "none")
        lines.append(f"| `{one.name}`{needs}{of} | {_given(one)} | {calls} |")
    return "\n".join(lines) + "\n"


def _given(one: Listed) -> str:
    """`0 to 3, ≥ 2`; of several criteria their names before it, `_all` standing for `nuggets_all` of `nuggets`."""
    names = [criterion.name for criterion in one.criteria]
    cut = len(names) > 1 and all(name.startswith(f"{one.name}_") for name in names)
    by_scale: dict[str, list[str]] = {}
    for criterion in one.criteria:
        scale = scale_of(criterion).replace("good from", "≥")
        scale = scale.replace("lower is better, good up to", "≤").replace("lower is better", "less is good")
        by_scale.setdefault(scale, []).append(f"`{criterion.name.removeprefix(one.name) if cut else criterion.name}`")
    if names == [one.name]:
        return next(iter(by_scale))
    return "; ".join(f"{', '.join(some)}: {scale}" for scale, some in by_scale.items())


def coverage(judges: Sequence[Listed]) -> dict[str, list[str]]:
    """Each tag of the two frameworks to the judges that bear on it."""
    return {tag: [one.name for one in judges if tag in one.tags] for tag in (*NIST, *SR_11_7)}


def markdown_coverage(judges: Sequence[Listed]) -> str:
    """Which judges bear on which tag, as a table for a document."""
    lines = ["| framework | tag | judges |", "|---|---|---|"]
    for tag, names in coverage(judges).items():
        framework = "NIST AI RMF" if tag in NIST else "SR 11-7"
        lines.append(f"| {framework} | {tag} | {', '.join(f'`{name}`' for name in names) or 'none'} |")
    return "\n".join(lines) + "\n"
