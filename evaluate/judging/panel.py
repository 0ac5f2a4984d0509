"""The panel of a model: the judges that an experiment's `[judge]` calls for, with their prompts; and what a run says of
judgments that failed or were passed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from ragassay.errors import InputError
from ragassay.experiment.settings import Experiment
from ragassay.experiment.tables import JudgeSettings
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.models.endpoint import gives_probabilities
from ragassay.prompts import Prompt
from ragassay.records import Assessment, Game, Judgment, for_want_of_an_answer, grouped
from ragassay.text import plain

from .engine.cases import ORDERS, Case, GameCase, Judge, ListCase, Order, PassagesCase, QueryCase, Setup
from .engine.evaluator import Evaluator
from .engine.question import Mode
from .engine.rounds import units
from .judges import stage_prompt
from .judges.games import Listwise, Pairwise, PairwiseByToken, Shown
from .judges.pointwise import (
    CORRECTNESS,
    AnswerCorrectness,
    AnswerJudge,
    CorrectnessByToken,
    Pointwise,
    PointwiseByToken,
    RefusalByToken,
)
from .judges.relevance import Relevance, RelevanceBatch, RelevanceByToken, RelevanceByYes


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
    settings = workspace.experiment.judge
    model = model or settings.model
    setup = Setup(model, judge_mode(workspace.experiment, model))
    by_token, shown = setup.mode == "probability", shown_in_games(settings)
    prompt = partial(_prompt, workspace, "_token" if by_token else "")
    relevance: Relevance
    if not by_token:
        relevance = Relevance(setup, prompt("relevance", settings.relevance_prompt))
    elif settings.relevance_question == "yes-no":  # one prompt, whichever of the two sets the others are of
        asked = _prompt(workspace, "", "relevance_yes_no", settings.relevance_prompt)
        relevance = RelevanceByYes(setup, asked, settings.yes_threshold)
    else:
        relevance = RelevanceByToken(setup, prompt("relevance", settings.relevance_prompt))
    batch = None
    if settings.relevance_batch > 1 and not by_token:
        batched = prompt("relevance_batch", settings.relevance_batch_prompt)
        batch = RelevanceBatch(relevance, batched, settings.relevance_batch, settings.seed)
    games: dict[Order, Pairwise] = {}
    lists: dict[int, Listwise] = {}
    if settings.listwise:
        ranked = prompt("listwise", settings.listwise_prompt)
        for number in range(1, settings.presentations + 1):
            lists[number] = Listwise(setup, ranked, settings.factors, number, shown)
    else:
        kind, played = PairwiseByToken if by_token else Pairwise, prompt("pairwise", settings.games_prompt)
        games = {first: kind(setup, played, settings.factors, first, shown) for first in ORDERS}
    return Panel(setup.mode, relevance, _answer_judges(settings, setup, prompt), games, lists, batch)


def _answer_judges(
    settings: JudgeSettings, setup: Setup, prompt: Callable[[str, str | None], Prompt]
) -> tuple[AnswerJudge, ...]:
    """RAGElo's criteria in one request, with the intent only by its own prompt, or one by one as tokens; correctness in
    another."""
    by_token = setup.mode == "probability"
    judges: list[AnswerJudge] = []
    if names := tuple(name for name in settings.criteria if name != CORRECTNESS):
        graded, own = prompt("pointwise", settings.pointwise_prompt), settings.pointwise_prompt
        if by_token:
            judges += [PointwiseByToken(setup, graded, name) for name in names]
        else:
            judges += [Pointwise(setup, graded, names, intent=not own and settings.prompts == "paper")]
    if CORRECTNESS in settings.criteria:
        right = prompt("answer_correctness", settings.correctness_prompt)
        if by_token:
            judges += [CorrectnessByToken(setup, right), RefusalByToken(setup, right)]
        else:
            judges += [AnswerCorrectness(setup, right)]
    return tuple(judges)


def _prompt(workspace: Workspace, ending: str, name: str, own: str | None) -> Prompt:
    """The user's own, or ours, in the strict wording where that is wished for and there is one."""
    ours = stage_prompt(name, strict=workspace.experiment.judge.prompts == "ragassay", ending=ending)
    return Prompt.load(workspace.prompt_file(own, ours))


def shown_in_games(settings: JudgeSettings) -> Shown:
    """The switches of `[judge]` on what the judge of a game sees."""
    return Shown(settings.games_passages, settings.games_notes, settings.games_citations, settings.relevant_from)


def judge_mode(experiment: Experiment, model: str) -> Mode:
    """How a model of `[judge]` is asked. Raises InputError where the model or the kind of games cannot be had so."""
    settings = experiment.judge
    mode = mode_of("judge", model, settings.mode)
    if settings.listwise and mode == "probability":
        problem = f'judge.games is "{settings.games}", and {model} is asked for probabilities: a list is not one token'
        raise InputError(problem, remedy='set mode = "label" or games = "all" under [judge]')
    return mode


def mode_of(table: Literal["judge", "evaluate"], model: str, wished: Literal["auto", "label", "probability"]) -> Mode:
    """For probabilities where that is wished, and in "auto" of local models.

    A hosted model that gives probabilities is still asked for reasons and labels in "auto", since it judges well by
    them and the report shows the reasons. Raises InputError where the mode of `[table]` is not to be had of the model.
    """
    if wished == "label":
        return "label"
    gives = gives_probabilities(model)
    if wished == "probability" and not gives:
        problem = f'{table}.mode is "probability", but {model} gives no token probabilities'
        raise InputError(problem, remedy='set mode = "label" or "auto", or name another model')
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
            failed = f"{errors.total()} of {len(some)} {kind} failed"
            notices.append(f"{failed}; the commonest error ({count} times): {said}")
    return notices


def by_criterion(rows: Sequence[Assessment]) -> dict[str, list[Assessment]]:
    """The assessments of each criterion, in the order of the rows."""
    return grouped((f"{row.criterion} judgments", row) for row in rows)


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
