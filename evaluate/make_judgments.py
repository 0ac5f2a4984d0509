"""The judge stage: relevance of the pooled passages, each answer by itself, and games between the agents.

Every record owed is listed first, as an error; a judgment takes its place. Two rounds of calls: relevance, and then, by
the passages judged relevant, pointwise and the games together. A pointwise prompt that does not show these is asked in
the first round. Files are written when all is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragassay.calls.caller import Caller
from ragassay.experiment.settings import JudgeSettings
from ragassay.experiment.workspace import StageOutcome, Workspace
from ragassay.files import write_records
from ragassay.records import Assessment, Game, Judgment
from ragassay.text import plain
from ragassay.trec import write_qrels

from .inputs.material import Material, read_material
from .judging.asked_again import NO_REPEATS, Asked, agents_in, judge_again, write_if_any
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
from .judging.waves import cases_by_wave, relevant_by_wave, said_of, waves_of, write_waves

ONE_BY_ONE = "passages were graded one by one (judge.relevance_batch): a token is of one passage"

PLUMBING_MODELS = ("local:smollm2-135m",)
"""Models that are there to try the plumbing."""


def make_judgments(workspace: Workspace, caller: Caller) -> StageOutcome:
    """Write `relevance.jsonl`, `qrels.trec`, `pointwise.jsonl`, `games.jsonl` and `waves.json`, and where wished
    `lists.jsonl` and `repeats.jsonl`.

    Raises InputError for unusable files or settings, and what the caller raises; nothing is written then.
    """
    settings, panel, material = workspace.experiment.judge, panel_of(workspace), read_material(workspace)
    material = replace(material, joined=waves_of(workspace, material.agents))
    waves = cases_by_wave(material)
    relevance, graded = _judge_passages(waves, material, panel, caller)
    relevant = known_relevant(material, relevance, settings.relevant_from)
    shown = relevant_by_wave(material, relevant)
    waves = [with_evidence(cases, known) for cases, known in zip(waves, shown, strict=True)]
    late = [(judge, _answers(waves)) for judge in panel.pointwise if judge.needs_evidence]
    play = play_lists if settings.listwise else play_pairs
    played = play(material, relevant, panel, settings, caller, late)
    made = complete(_owed_pointwise(material, panel), [*graded, *played.answers])
    pointwise = [row.judgment() for row in made]
    repeats = judge_again(panel, settings, waves, _by_wave(played.asked, material), caller)
    write_records(workspace.relevance, relevance)
    write_qrels(workspace.qrels, qrels_of(relevance))
    write_records(workspace.pointwise, pointwise)
    write_records(workspace.games, played.games)
    write_if_any(workspace.lists, played.lists)
    write_if_any(workspace.repeats, repeats)
    write_waves(workspace, material.waves)
    rows: dict[str, Sequence[Judgment | Game]]
    rows = {"relevance judgments": relevance, "answer judgments": pointwise, "games": played.games, "repeats": repeats}
    return outcome_of(rows, *_notes(panel, settings), *said_of(material.waves, settings))


def _judge_passages(
    waves: Sequence[Sequence[QueryCase]], material: Material, panel: Panel, caller: Caller
) -> tuple[list[Judgment], list[Assessment]]:
    """The relevance of every passage, and what the judges give that grade an answer without it."""
    cases = [case for wave in waves for case in wave]
    early = [judge for judge in panel.pointwise if not judge.needs_evidence]
    asked = [panel.passages(cases), *((judge, units(judge, cases)) for judge in early)]
    passages, *answers = judged(asked, caller)
    relevance = complete(_owed_relevance(material, panel), passages)
    return [row.judgment() for row in relevance], [row for rows in answers for row in rows]


def _answers(waves: Sequence[Sequence[QueryCase]]) -> list[AnswerCase]:
    return [answer for cases in waves for case in cases for answer in case.answers]


def _by_wave(asked: Sequence[Asked], material: Material) -> list[list[Asked]]:
    """What was asked of games by the wave that each was played with."""
    return [[case for case in asked if material.wave_of(*agents_in(case)) == n] for n, _ in enumerate(material.waves)]


def _owed_relevance(material: Material, panel: Panel) -> list[Assessment]:
    """One for every passage of a query's pool, also for what the corpus lacks."""
    return [
        panel.relevance.fail(case, NOT_JUDGED if id in material.passages else _unknown(id), subject=id)
        for case in cases_of(material)
        for id in material.pool(case.query.id)
    ]


def _unknown(passage_id: str) -> str:
    return f"passage '{plain(passage_id)}' is not in the corpus"


def _owed_pointwise(material: Material, panel: Panel) -> list[Assessment]:
    """By query, agent and criterion, whichever judge is asked about it."""
    return [
        row
        for case in cases_of(material)
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
