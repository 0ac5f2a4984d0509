"""The panel: the judges that an experiment's settings call for, with their prompts."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.settings import JudgeSettings
from ragassay.experiment.workspace import Workspace
from ragassay.prompts import Prompt
from ragassay.records import Game, Judgment

from .engine.reply import Judge
from .judges import pairwise, pointwise, relevance
from .judges.pairwise import Pairing
from .judges.pointwise import Answered
from .judges.relevance import Pooled


@dataclass(frozen=True)
class Panel:
    """One judge of relevance, one or more of answers (which share the criteria out), one of games for each order."""

    relevance: Judge[Pooled, Judgment]
    pointwise: tuple[Judge[Answered, Judgment], ...]
    first_a: Judge[Pairing, Game]
    first_b: Judge[Pairing, Game]


def asks_probabilities(settings: JudgeSettings, caller: Caller) -> bool:
    """Whether the judge is asked for single tokens: always in mode "probability", in "auto" for local models.

    A hosted model that gives probabilities is still asked for reasons and labels in "auto", since it judges well by
    them and the report shows the reasons. Raises InputError where the mode is not to be had of the model.
    """
    if settings.mode == "label":
        return False
    gives = caller.gives_probabilities(settings.model)
    if settings.mode == "probability" and not gives:
        raise InputError(
            f'judge.mode is "probability", but {settings.model} gives no token probabilities',
            remedy='set mode = "label" or "auto", or name another judge',
        )
    return gives and (settings.mode == "probability" or settings.model.startswith("local:"))


def panel_of(workspace: Workspace, caller: Caller) -> Panel:
    """The judges with their prompts, the user's own where the settings name them. Raises InputError."""
    settings = workspace.experiment.judge
    if asks_probabilities(settings, caller):
        return _token_panel(workspace)
    grades = Prompt.load(workspace.prompt_file(settings.pointwise_prompt, pointwise.DEFAULT_PROMPT))
    games = Prompt.load(workspace.prompt_file(settings.games_prompt, pairwise.DEFAULT_PROMPT))
    labels = Prompt.load(workspace.prompt_file(settings.relevance_prompt, relevance.DEFAULT_PROMPT))
    return Panel(
        relevance=relevance.relevance_judge(settings.model, labels),
        pointwise=(pointwise.pointwise_judge(settings.model, grades, settings.criteria),),
        first_a=pairwise.pairwise_judge(settings.model, games, settings.factors, "a"),
        first_b=pairwise.pairwise_judge(settings.model, games, settings.factors, "b"),
    )


def _token_panel(workspace: Workspace) -> Panel:
    settings = workspace.experiment.judge
    grades = Prompt.load(workspace.prompt_file(settings.pointwise_prompt, pointwise.TOKEN_PROMPT))
    games = Prompt.load(workspace.prompt_file(settings.games_prompt, pairwise.TOKEN_PROMPT))
    model, factors = settings.model, settings.factors
    return Panel(
        relevance=_token_relevance(workspace),
        pointwise=tuple(pointwise.pointwise_token_judge(model, grades, name) for name in settings.criteria),
        first_a=pairwise.pairwise_token_judge(model, games, factors, "a"),
        first_b=pairwise.pairwise_token_judge(model, games, factors, "b"),
    )


def _token_relevance(workspace: Workspace) -> Judge[Pooled, Judgment]:
    settings = workspace.experiment.judge
    if settings.relevance_question == "yes-no":
        prompt = Prompt.load(workspace.prompt_file(settings.relevance_prompt, relevance.YES_NO_PROMPT))
        return relevance.relevance_yes_no_judge(settings.model, prompt, settings.yes_threshold)
    prompt = Prompt.load(workspace.prompt_file(settings.relevance_prompt, relevance.TOKEN_PROMPT))
    return relevance.relevance_token_judge(settings.model, prompt)
