"""The answers of further runs (answer.repeats), put in the places of the first ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragassay.calls.caller import Caller
from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Answer, AnswerRun, AssessmentRun
from ragassay.text import plain

from ..inputs.material import Material
from .engine.cases import cases_of
from .engine.evaluator import Evaluator
from .engine.rounds import assess


def repeated_agents(workspace: Workspace) -> tuple[str, ...]:
    """The agents that answer more than once: those that we answer for, where answer.repeats is above 1."""
    if workspace.experiment.answer.repeats == 1:
        return ()
    return workspace.experiment.answered_agents()


def further_runs(workspace: Workspace, material: Material) -> Iterator[tuple[int, Material]]:
    """(run, the material with that run's answers) from run 2; an answer that is not on record is one with an error.

    Agents that answer once have the same answer in every run. Raises InputError with file and line.
    """
    agents = repeated_agents(workspace)
    rows = {agent: _rows(workspace, agent) for agent in agents}
    for run in range(2, workspace.experiment.answer.repeats + 1):
        given: dict[tuple[str, str], Answer] = {
            (query.id, agent): rows[agent].get((run, query.id)) or _missing(query.id, agent)
            for query in material.queries
            for agent in agents
        }
        yield run, replace(material, answers={**material.answers, **given})


def _rows(workspace: Workspace, agent: str) -> dict[tuple[int, str], Answer]:
    path = workspace.answer_runs(agent)
    rows: dict[tuple[int, str], Answer] = {}
    for row in read_records(path, AnswerRun):
        if (row.run, row.query_id) in rows:
            raise InputError(f"has two answers of run {row.run} to query '{plain(row.query_id)}'", file=path)
        rows[row.run, row.query_id] = Answer(**row.model_dump(exclude={"run"}))
    return rows


def _missing(query_id: str, agent: str) -> Answer:
    return Answer(query_id=query_id, agent=agent, answer=None, error="the run has no answer")


def assess_runs(
    workspace: Workspace, evaluators: Sequence[Evaluator], material: Material, caller: Caller
) -> list[AssessmentRun]:
    """What the evaluators of answers give every further run; passages are the same in each and are not judged again."""
    agents = set(repeated_agents(workspace))
    judging = [evaluator for evaluator in evaluators if evaluator.unit != "passage"]
    return [
        AssessmentRun(**row.model_dump(), run=run)
        for run, repeated in (further_runs(workspace, material) if judging else ())
        for row in assess(judging, cases_of(repeated), caller)
        if row.subject in agents
    ]
