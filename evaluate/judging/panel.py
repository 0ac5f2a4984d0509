"""The panel of a model: the judges that an experiment's `[judge]` calls for, with their prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.experiment.tables import JudgeSettings
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.models.endpoint import gives_probabilities
from ragassay.prompts import Prompt
from ragassay.records import Assessment, Game, Judgment, for_want_of_an_answer
from ragassay.text import plain

from .engine.cases import ORDERS, Case, GameCase, Judge, ListCase, Order, PassagesCase, QueryCase, Setup
from .engine.evaluator import Evaluator
from .engine.question import Mode
from .engine.rounds import units
from .judges import pairwise, pointwise, relevance
from .judges import pointwise as answer_correctness
from .judges.pairwise import Pairwise, PairwiseByToken, Shown
from .judges.pointwise import (
    CORRECTNESS,
    AnswerCorrectness,
    AnswerJudge,
    CorrectnessByToken,
    Pointwise,
    PointwiseByToken,
    RefusalByToken,
)
from .judges.relevance import Relevance, RelevanceByToken, RelevanceByYes
from .together import listwise
from .together import listwise as relevance_batch
from .together.listwise import Listwise, RelevanceBatch


def mode_of(table: Literal["judge", "evaluate"], model: str, wished: Literal["auto", "label", "probability"]) -> Mode:
    """For probabilities where that is wished, and in "auto" of local models.

    A hosted model that gives probabilities is still asked for reasons and labels in "auto", since it judges well by
    them and the report shows the reasons. Raises InputError where the mode of `[table]` is not to be had of the model.
    """
    if wished == "label":
        return "label"
    gives = gives_probabilities(model)
    if wished == "probability" and not gives:
        raise InputError(
            f'{table}.mode is "probability", but {model} gives no token probabilities',
            remedy='set mode = "label" or "auto", or name another model',
        )
    return "probability" if gives and (wished == "probability" or model.startswith("local:")) else "label"


Rows = Mapping[str, Sequence[Judgment | Game]]
"""Records by what they are called."""

LONGEST_ERROR = 200


def outcome_of(rows: Rows, *notices: str) -> StageOutcome:
    """How many records there are and how many of them are errors, with `notices` before those on failures."""
    return StageOutcome(
        notices=(*notices, *failures(rows)),
        n_records=sum(len(some) for some in rows.values()),
        n_failed=sum(row.error is not None for some in rows.values() for row in some),
    )


def failures(rows: Rows) -> list[str]:
    """How many of each kind failed, and the commonest error (of equal ones the first in the alphabet).

    Apart from these, how many lack an answer to judge, which has failed before.
    """
    notices = []
    for kind, some in rows.items():
        errors = Counter(row.error for row in some if row.error and not for_want_of_an_answer(row.error))
        if unasked := sum(for_want_of_an_answer(row.error) for row in some):
            notices.append(f"{unasked} of {len(some)} {kind} are missing for want of an answer, which had failed")
        if errors:
            commonest, count = min(errors.items(), key=lambda item: (-item[1], item[0]))
            said = plain(commonest if len(commonest) <= LONGEST_ERROR else f"{commonest[:LONGEST_ERROR]}…")
            notices.append(
                f"{errors.total()} of {len(some)} {kind} failed; the commonest error ({count} times): {said}"
            )
    return notices


def by_criterion(rows: Sequence[Assessment]) -> dict[str, list[Assessment]]:
    """The assessments of each criterion, in the order of the rows."""
    found: dict[str, list[Assessment]] = {}
    for row in rows:
        found.setdefault(f"{row.criterion} judgments", []).append(row)
    return found


def passed_over(evaluators: Sequence[Evaluator], cases: Sequence[QueryCase]) -> list[str]:
    """A sentence for each evaluator that lacks ground truth for some or all queries."""
    notices = []
    for evaluator in evaluators:
        missing = [need for case in cases if (lacks := evaluator.lacks(case.query)) for need in lacks[:1]]
        if missing:
            what = f"metadata.{missing[0]} in queries.jsonl"
            number = "every query" if len(missing) == len(cases) else f"{len(missing)} of {len(cases)} queries"
            notices.append(f"{evaluator.name} passed over {number}: it needs {what}")
    return notices


@dataclass(frozen=True)
class Panel:
    """One judge of relevance, one or more of answers (which share the criteria out), and of games one for each order,
    or for each presentation of lists.

    batch: who grades several passages at once, where that is wished.
    """

    mode: Mode
    relevance: Relevance
    pointwise: tuple[AnswerJudge, ...]
    games: Mapping[Order, Pairwise]
    lists: Mapping[int, Listwise]
    batch: RelevanceBatch | None = None

    def passages(self, cases: Sequence[QueryCase]) -> tuple[Judge[Assessment], Sequence[Case | PassagesCase]]:
        """Who grades the passages of the queries, and what it is given at a time."""
        if self.batch is None:
            return self.relevance, units(self.relevance, cases)
        return self.batch, [each for case in cases for each in self.batch.batches(case)]

    @property
    def judge(self) -> str:
        """The model, as the records name it."""
        return self.relevance.judge

    @property
    def of_games(self) -> tuple[Pairwise | Listwise, ...]:
        """All judges of games."""
        return *self.games.values(), *self.lists.values()

    def judge_of(self, case: GameCase | ListCase) -> Pairwise | Listwise:
        """Who judges this order of a game, or this list."""
        return self.games[case.first] if isinstance(case, GameCase) else self.lists[case.presentation]


def judge_mode(experiment: Experiment, model: str) -> Mode:
    """How a model of `[judge]` is asked. Raises InputError where the model or the kind of games cannot be had so."""
    settings = experiment.judge
    mode = mode_of("judge", model, settings.mode)
    if settings.listwise and mode == "probability":
        raise InputError(
            f'judge.games is "{settings.games}", and {model} is asked for probabilities: a list is not one token',
            remedy='set mode = "label" or games = "all" under [judge]',
        )
    return mode


def panels_of(workspace: Workspace) -> tuple[Panel, ...]:
    """One for each model that judges, in the order of the settings. Raises InputError."""
    return tuple(panel_of(workspace, model) for model in workspace.experiment.judge.models)


def as_second(experiment: Experiment) -> Experiment:
    """The settings by which the second judge is asked: as the others, and about games in pairs whatever these were."""
    alone = {"model": experiment.judge.second, "panel": (), "second": None, "games": "all"}
    return experiment.model_copy(update={"judge": experiment.judge.model_copy(update=alone)})


def second_panel(workspace: Workspace) -> Panel:
    """The judges of `judge.second`. Raises InputError."""
    return panel_of(replace(workspace, experiment=as_second(workspace.experiment)))


def panel_of(workspace: Workspace, model: str | None = None) -> Panel:
    """The judges of one model (default: `judge.model`) with their prompts, the user's own where the settings name them.

    Raises InputError.
    """
    model = model or workspace.experiment.judge.model
    setup = Setup(model, judge_mode(workspace.experiment, model))
    return _token_panel(workspace, setup) if setup.mode == "probability" else _label_panel(workspace, setup)


def _label_panel(workspace: Workspace, setup: Setup) -> Panel:
    settings = workspace.experiment.judge
    games, lists = _games_and_lists(workspace, setup)
    labels = _prompt(workspace, settings.relevance_prompt, relevance.DEFAULT_PROMPT, relevance.STRICT_PROMPT)
    graded = Relevance(setup, labels)
    return Panel(
        setup.mode,
        graded,
        _label_pointwise(workspace, setup),
        games,
        lists,
        _relevance_batch(workspace, graded) if settings.relevance_batch > 1 else None,
    )


def _games_and_lists(workspace: Workspace, setup: Setup) -> tuple[dict[Order, Pairwise], dict[int, Listwise]]:
    settings = workspace.experiment.judge
    factors, shown = settings.factors, shown_in_games(settings)
    if settings.listwise:
        prompt = _prompt(workspace, settings.listwise_prompt, listwise.DEFAULT_PROMPT, None)
        numbers = range(1, settings.presentations + 1)
        return {}, {number: Listwise(setup, prompt, factors, number, shown) for number in numbers}
    prompt = _prompt(workspace, settings.games_prompt, pairwise.DEFAULT_PROMPT, pairwise.STRICT_PROMPT)
    return {first: Pairwise(setup, prompt, factors, first, shown) for first in ORDERS}, {}


def _relevance_batch(workspace: Workspace, one: Relevance) -> RelevanceBatch:
    settings = workspace.experiment.judge
    paper, strict = relevance_batch.RELEVANCE_BATCH_DEFAULT_PROMPT, relevance_batch.STRICT_PROMPT
    prompt = _prompt(workspace, settings.relevance_batch_prompt, paper, strict)
    return RelevanceBatch(one, prompt, settings.relevance_batch, settings.seed)


def _label_pointwise(workspace: Workspace, setup: Setup) -> tuple[AnswerJudge, ...]:
    """RAGElo's criteria in one request, with the intent only by its own prompt; correctness in another."""
    settings = workspace.experiment.judge
    judges: list[AnswerJudge] = []
    if names := _graded(settings):
        own = settings.pointwise_prompt
        prompt = _prompt(workspace, own, pointwise.DEFAULT_PROMPT, pointwise.STRICT_PROMPT)
        judges.append(Pointwise(setup, prompt, names, intent=not own and settings.prompts == "paper"))
    if CORRECTNESS in settings.criteria:
        prompt = _prompt(
            workspace, settings.correctness_prompt, answer_correctness.ANSWER_CORRECTNESS_DEFAULT_PROMPT, None
        )
        judges.append(AnswerCorrectness(setup, prompt))
    return tuple(judges)


def _token_panel(workspace: Workspace, setup: Setup) -> Panel:
    settings = workspace.experiment.judge
    games = _prompt(workspace, settings.games_prompt, pairwise.TOKEN_PROMPT, pairwise.STRICT_TOKEN_PROMPT)
    return Panel(
        setup.mode,
        _token_relevance(workspace, setup),
        _token_pointwise(workspace, setup),
        {first: PairwiseByToken(setup, games, settings.factors, first, shown_in_games(settings)) for first in ORDERS},
        {},
    )


def _token_relevance(workspace: Workspace, setup: Setup) -> Relevance:
    """Yes or No is asked by one prompt, whichever of the two sets the others are of."""
    settings = workspace.experiment.judge
    if settings.relevance_question == "yes-no":
        prompt = _prompt(workspace, settings.relevance_prompt, relevance.YES_NO_PROMPT, None)
        return RelevanceByYes(setup, prompt, settings.yes_threshold)
    prompt = _prompt(workspace, settings.relevance_prompt, relevance.TOKEN_PROMPT, relevance.STRICT_TOKEN_PROMPT)
    return RelevanceByToken(setup, prompt)


def _token_pointwise(workspace: Workspace, setup: Setup) -> tuple[AnswerJudge, ...]:
    settings = workspace.experiment.judge
    judges: list[AnswerJudge] = []
    if names := _graded(settings):
        prompt = _prompt(workspace, settings.pointwise_prompt, pointwise.TOKEN_PROMPT, pointwise.STRICT_TOKEN_PROMPT)
        judges += [PointwiseByToken(setup, prompt, name) for name in names]
    if CORRECTNESS in settings.criteria:
        prompt = _prompt(
            workspace, settings.correctness_prompt, answer_correctness.ANSWER_CORRECTNESS_TOKEN_PROMPT, None
        )
        judges += [CorrectnessByToken(setup, prompt), RefusalByToken(setup, prompt)]
    return tuple(judges)


def shown_in_games(settings: JudgeSettings) -> Shown:
    """The switches of `[judge]` on what the judge of a game sees."""
    return Shown(settings.games_passages, settings.games_notes, settings.games_citations, settings.relevant_from)


def _graded(settings: JudgeSettings) -> tuple[str, ...]:
    """The criteria that are asked for together."""
    return tuple(name for name in settings.criteria if name != CORRECTNESS)


def _prompt(workspace: Workspace, own: str | None, paper: Path, strict: Path | None) -> Prompt:
    """The user's own, or the one of the set that is wished for; `strict` is None where both sets have the same."""
    default = strict if strict and workspace.experiment.judge.prompts == "ragassay" else paper
    return Prompt.load(workspace.prompt_file(own, default))
