"""Grades of the passages in which a question's evidence is looked for, and their second use in the stage `judge`.

They are asked for by the judge's own prompt of relevance, in batches. What was graded so is not asked about again while
model and prompt are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, Self

from ragassay.calls.caller import Caller
from ragassay.experiment.workspace import Workspace
from ragassay.files import digest_json, read_records
from ragassay.models.requests import Batch
from ragassay.prompts import Prompt
from ragassay.records import Found, Judgment, Passage, Query

from ..inputs.labels import panel_labels
from .asked_again import AskedOnce
from .engine.cases import QueryCase
from .engine.rounds import judged
from .judges import stage_prompt
from .judges.listwise import RelevanceBatch
from .panel import Panel, panels_of

ByJudge = dict[str, list[Judgment]]

Pool = tuple[Query, Sequence[Passage]]
"""A query with what was found for it."""


def grade_pools(workspace: Workspace, pools: Sequence[Pool], caller: Caller) -> tuple[list[Found], list[Judgment]]:
    """(a row for each judge and passage, without where it was found; what the judges say as one of each passage).

    A passage that a judge could not grade has an error in place of a label. Raises InputError, and what the caller
    raises.
    """
    cases = [QueryCase(query, tuple(passages), ()) for query, passages in pools]
    panels = [in_batches(workspace, panel) for panel in panels_of(workspace)]
    made = judged([panel.passages(cases) for panel in panels], caller)
    told = {panel.judge: [row.judgment() for row in rows] for panel, rows in zip(panels, made, strict=True)}
    asked = {panel.judge: _Asked.of(workspace, panel) for panel in panels}
    texts = {(query.id, one.id): (query, one) for query, passages in pools for one in passages}
    rows = [
        _row(judgment, asked[judge].digest(*texts[judgment.query_id, judgment.subject]))
        for judge, judgments in told.items()
        for judgment in judgments
    ]
    return rows, panel_labels(told)


def in_batches(workspace: Workspace, panel: Panel) -> Panel:
    """The panel as it grades pools: in batches, but for a judge of one token, or whose own prompt shows one passage."""
    settings = workspace.experiment.judge
    if panel.batch is None and (panel.mode == "probability" or settings.relevance_prompt):
        return panel
    ours = stage_prompt("relevance_batch", strict=settings.prompts == "ragassay", ending="")
    prompt = panel.batch.template if panel.batch else Prompt.load(ours)
    return replace(panel, batch=RelevanceBatch(panel.relevance, prompt, settings.pool_batch, settings.seed))


class _Asked(NamedTuple):
    """What a panel grades passages by; it makes of a question and a passage the digest of `found.jsonl`."""

    by: tuple[str, ...]

    @classmethod
    def of(cls, workspace: Workspace, panel: Panel) -> Self:
        batch, settings = in_batches(workspace, panel).batch, workspace.experiment.judge
        prompts = panel.relevance.template.digest, batch.template.digest if batch else ""
        return cls((*prompts, panel.mode, settings.relevance_question, str(settings.yes_threshold)))

    def digest(self, query: Query, passage: Passage) -> str:
        before = [[turn.dump() for turn in query.history]] if query.history else []
        return digest_json([*self.by, query.text, passage.title, passage.text, *before])[:16]


def _row(judgment: Judgment, asked: str) -> Found:
    return Found(
        query_id=judgment.query_id,
        passage=judgment.subject,
        found_by="",
        judge=judgment.judge,
        asked=asked,
        label=None if judgment.label is None else int(judgment.label),
        reason=judgment.reason,
        error=judgment.error,
    )


def graded_before(
    workspace: Workspace, once: AskedOnce, panels: Sequence[Panel], caller: Caller
) -> tuple[AskedOnce, ByJudge]:
    """The queries without the passages that `found.jsonl` or `found-deeper.jsonl` grades, and their grades by judge.

    Those count that every judge gave by the prompts, to the question and the passage that it would be asked about now.
    A query stays whole where all that would be asked about it was answered before, alone or in a recorded run: what was
    judged by those labels then stands.
    """
    known = _known(workspace, [case for wave in once.waves for case in wave], panels)
    taken: ByJudge = {panel.judge: [] for panel in panels}
    waves = []
    for wave in once.waves:
        cases = []
        for case in wave:
            mine = [one.id for one in case.passages if (case.query.id, one.id) in known]
            if mine and not _answered(case, panels, caller):
                for panel in panels:
                    taken[panel.judge] += [_judgment(known[case.query.id, id][panel.judge], panel) for id in mine]
                case = replace(case, passages=tuple(one for one in case.passages if one.id not in mine))
            cases.append(case)
        waves.append(tuple(cases))
    return replace(once, waves=tuple(waves)), taken


def _known(
    workspace: Workspace, cases: Sequence[QueryCase], panels: Sequence[Panel]
) -> Mapping[tuple[str, str], Mapping[str, Found]]:
    """(query, passage) to each judge's line, of those that all judges have."""
    asked = {panel.judge: _Asked.of(workspace, panel) for panel in panels}
    texts = {(case.query.id, one.id): (case.query, one) for case in cases for one in case.passages}
    known: dict[tuple[str, str], dict[str, Found]] = {}
    files = [path for path in (workspace.found, workspace.found_deeper) if path.exists()]
    for row in chain.from_iterable(read_records(path, Found) for path in files):
        key = row.query_id, row.passage
        mine = row.label is not None and row.judge in asked and key in texts
        if mine and asked[row.judge].digest(*texts[key]) == row.asked:
            known.setdefault(key, {})[row.judge] = row
    return {key: rows for key, rows in known.items() if len(rows) == len(panels)}


def _judgment(row: Found, panel: Panel) -> Judgment:
    return Judgment(
        query_id=row.query_id,
        subject=row.passage,
        judge=row.judge,
        criterion=panel.relevance.name,
        label=row.label,
        reason=row.reason,
    )


def _answered(case: QueryCase, panels: Sequence[Panel], caller: Caller) -> bool:
    """Whether all that the judges would be asked first about the query's passages has a reply."""
    batches = []
    for panel in panels:
        judge, cases = panel.passages([case])
        made: list[Any] = [judge.steps(one) for one in cases]
        asked = [request for steps in made for request in next(steps)]
        batches.append(Batch(judge.batch_label, panel.judge, tuple(asked)))
    return not caller.missing(batches)
