"""The panel: the judges that an experiment's `[judge]` calls for, with their prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragassay.experiment.workspace import Workspace
from ragassay.prompts import Prompt

from .engine.cases import ORDERS, Order
from .engine.evaluator import Evaluator
from .engine.judge import Setup
from .engine.question import Mode
from .judges import pairwise, pointwise, relevance
from .judges.pairwise import Pairwise, PairwiseByToken
from .judges.pointwise import Pointwise, PointwiseByToken
from .judges.relevance import Relevance, RelevanceByToken, RelevanceByYes
from .mode import mode_of


@dataclass(frozen=True)
class Panel:
    """One judge of relevance, one or more of answers (which share the criteria out), one of games for each order."""

    mode: Mode
    relevance: Relevance
    pointwise: tuple[Evaluator, ...]
    games: Mapping[Order, Pairwise]


def panel_of(workspace: Workspace) -> Panel:
    """The judges with their prompts, the user's own where the settings name them. Raises InputError."""
    settings = workspace.experiment.judge
    setup = Setup(settings.model, mode_of("judge", settings.model, settings.mode))
    return _token_panel(workspace, setup) if setup.mode == "probability" else _label_panel(workspace, setup)


def _label_panel(workspace: Workspace, setup: Setup) -> Panel:
    settings = workspace.experiment.judge
    grades = _prompt(workspace, settings.pointwise_prompt, pointwise.DEFAULT_PROMPT)
    games = _prompt(workspace, settings.games_prompt, pairwise.DEFAULT_PROMPT)
    labels = _prompt(workspace, settings.relevance_prompt, relevance.DEFAULT_PROMPT)
    return Panel(
        setup.mode,
        Relevance(setup, labels),
        (Pointwise(setup, grades, settings.criteria),),
        {first: Pairwise(setup, games, settings.factors, first) for first in ORDERS},
    )


def _token_panel(workspace: Workspace, setup: Setup) -> Panel:
    settings = workspace.experiment.judge
    grades = _prompt(workspace, settings.pointwise_prompt, pointwise.TOKEN_PROMPT)
    games = _prompt(workspace, settings.games_prompt, pairwise.TOKEN_PROMPT)
    return Panel(
        setup.mode,
        _token_relevance(workspace, setup),
        tuple(PointwiseByToken(setup, grades, criterion) for criterion in settings.criteria),
        {first: PairwiseByToken(setup, games, settings.factors, first) for first in ORDERS},
    )


def _token_relevance(workspace: Workspace, setup: Setup) -> Relevance:
    settings = workspace.experiment.judge
    if settings.relevance_question == "yes-no":
        prompt = _prompt(workspace, settings.relevance_prompt, relevance.YES_NO_PROMPT)
        return RelevanceByYes(setup, prompt, settings.yes_threshold)
    return RelevanceByToken(setup, _prompt(workspace, settings.relevance_prompt, relevance.TOKEN_PROMPT))


def _prompt(workspace: Workspace, own: str | None, default: Path) -> Prompt:
    return Prompt.load(workspace.prompt_file(own, default))
