"""The judge stage: relevance of the pooled passages, each answer by itself, and games between the agents.

Every record owed is listed first, as an error; a judgment takes its place. Two rounds of calls: relevance, and then, by
the passages judged relevant, pointwise and the games together. A pointwise prompt that does not show these is asked in
the first round. Files are written when all is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.calls.caller import Caller
from ragassay.experiment.settings import JudgeSettings
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import write_records
from ragassay.records import Assessment, Game, Judgment
from ragassay.text import plain
from ragassay.trec import write_qrels

from .inputs.material import Material, read_material
from .judging.asked_again import NO_REPEATS, judge_again, write_if_any
from .judging.engine.cases import AnswerCase, QueryCase, cases_of
from .judging.engine.evaluator import unjudged
from .judging.engine.judge import NOT_JUDGED
from .judging.engine.rounds import complete, judged, units
from .judging.evidence import known_relevant, with_evidence
from .judging.games.listed import play_lists
from .judging.games.played import play_pairs
from .judging.judges.relevance import qrels_of
from .judging.notices import outcome_of
from .judging.panel import Panel, panel_of

ONE_BY_ONE = "passages were graded one by one (judge.relevance_batch): a token is of one passage"

PLUMBING_MODELS = ("local:smollm2-135m",)
"""Models that are there to try the plumbing."""


def make_judgments(workspace: Workspace, caller: Caller) -> StageOutcome:
    """Write `relevance.jsonl`, `qrels.trec`, `pointwise.jsonl` and `games.jsonl`, and where wished `lists.jsonl`
    and `repeats.jsonl`.

    Raises InputError for unusable files or settings, and what the caller raises; nothing is written then.
    """
    settings, material, panel = workspace.experiment.judge, read_material(workspace), panel_of(workspace)
    cases = cases_of(material)
    relevance, graded = _judge_passages(cases, material, panel, caller)
    relevant = known_relevant(material, relevance, settings.relevant_from)
    cases = with_evidence(cases, relevant)
    late = [(judge, _answers(cases)) for judge in panel.pointwise if judge.needs_evidence]
    play = play_lists if settings.games == "listwise" else play_pairs
    played = play(material, relevant, panel, settings, caller, late)
    made = complete(_owed_pointwise(cases, material, panel), [*graded, *played.answers])
    pointwise = [row.judgment() for row in made]
    repeats = judge_again(panel, settings, cases, played.asked, caller)
    write_records(workspace.relevance, relevance)
    write_qrels(workspace.qrels, qrels_of(relevance))
    write_records(workspace.pointwise, pointwise)
    write_records(workspace.games, played.games)
    write_if_any(workspace.lists, played.lists)
    write_if_any(workspace.repeats, repeats)
    rows: dict[str, Sequence[Judgment | Game]]
    rows = {"relevance judgments": relevance, "answer judgments": pointwise, "games": played.games, "repeats": repeats}
    return outcome_of(rows, *_notes(panel, settings))


def _judge_passages(
    cases: Sequence[QueryCase], material: Material, panel: Panel, caller: Caller
) -> tuple[list[Judgment], list[Assessment]]:
    """The relevance of every passage, and what the judges give that grade an answer without it."""
    early = [judge for judge in panel.pointwise if not judge.needs_evidence]
    asked = [panel.passages(cases), *((judge, units(judge, cases)) for judge in early)]
    passages, *answers = judged(asked, caller)
    relevance = complete(_owed_relevance(cases, material, panel), passages)
    return [row.judgment() for row in relevance], [row for rows in answers for row in rows]


def _answers(cases: Sequence[QueryCase]) -> list[AnswerCase]:
    return [answer for case in cases for answer in case.answers]


def _owed_relevance(cases: Sequence[QueryCase], material: Material, panel: Panel) -> list[Assessment]:
    """One for every passage of a query's pool, also for what the corpus lacks."""
    return [
        panel.relevance.fail(case, NOT_JUDGED if id in material.passages else _unknown(id), subject=id)
        for case in cases
        for id in material.pool(case.query.id)
    ]


def _unknown(passage_id: str) -> str:
    return f"passage '{plain(passage_id)}' is not in the corpus"


def _owed_pointwise(cases: Sequence[QueryCase], material: Material, panel: Panel) -> list[Assessment]:
    """By query, agent and criterion, whichever judge is asked about it."""
    return [
        row
        for case in cases
        for agent in material.agents
        for judge in panel.pointwise
        for row in unjudged(judge, case, [material.answers[case.query.id, agent]])
    ]


def _notes(panel: Panel, settings: JudgeSettings) -> list[str]:
    notes = []
    if settings.model in PLUMBING_MODELS:
        notes.append(f"{settings.model} judged: it is there to try the plumbing, and its judgments are worthless")
    if settings.repeats and panel.mode == "probability":
        notes.append(NO_REPEATS)
    if settings.relevance_batch > 1 and panel.mode == "probability":
        notes.append(ONE_BY_ONE)
    return notes
