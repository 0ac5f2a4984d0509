"""What the page is made from, read from the files of an experiment: questions, their evidence, the screening."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.evidence import Documents, Evidence, Span, merged, place_of, read_evidence
from ragassay.experiment.workspace import VariantRun, Workspace
from ragassay.files import first_problem, read_json, read_qrels, read_records, read_run
from ragassay.queries import originals
from ragassay.records import Page, Passage, Query, QuestionsCheck, Section

from ..inputs.clusters import source_clusters, writer
from ..measures.by_place import section_recall, sources
from ..screening.screen import screened_by
from ..screening.screened import read_runs
from .people import Basis
from .questions import Measured, Question
from .realism import Corpus


def by_section(
    workspace: Workspace, runs: Sequence[VariantRun], queries: Sequence[Query], beside: Measured
) -> Measured | None:
    """R(section)@k of the written questions that have a source section, and people's values of `beside`.

    k is the variant's own, or the experiment's. None where no written question, or none of people's in `beside`, is
    left. A question on which a variant failed, or of which the place of what was found is not known, is NaN.
    """
    sections = read_records(workspace.sections, Section) if workspace.sections.exists() else []
    found = sources([query for query in queries if writer(query) is not None], sections)
    real = beside.only([query.id for query in queries if writer(query) is None])
    if not found or not real.clusters.queries:
        return None
    passages = {passage.id: passage for passage in read_records(workspace.passages, Passage)}
    by_name = {run.variant: run for run in runs}
    values = np.full((len(beside.names), len(found)), np.nan)
    for row, name in enumerate(beside.names):
        run, rankings = by_name[name], read_run(workspace.screening / f"{name}.trec")
        tried = {query: None if query in run.errors else rankings.get(query, ()) for query in found}
        recalled = section_recall(found, passages, tried, run.k or workspace.experiment.retrieval.k)
        values[row] = [np.nan if value is None else value for value in recalled.values()]
    clusters = source_clusters(queries).of([*real.clusters.queries, *found])
    return Measured(beside.names, beside.families, np.hstack([real.values, values]), clusters, beside.quality)


ANSWERS = 2
"""The lowest of the judge's labels of a passage that answers the query ("very relevant")."""


class Material(NamedTuple):
    """questions: without perturbed ones, of which there are n_perturbed. evidence: by query id. measured: quality by
    what it is held against; empty without a screening.
    """

    questions: tuple[Question, ...]
    evidence: Mapping[str, Evidence]
    corpus: Corpus
    check: QuestionsCheck | None
    measured: Mapping[Basis, Measured]
    n_perturbed: int = 0


def read_material(workspace: Workspace) -> Material:
    """Raises InputError where there are no questions, or a file is not as it should be."""
    if not workspace.queries.exists():
        remedy = f"run `ragassay questions {workspace.corpus}` first"
        raise InputError("there are no questions yet", file=workspace.queries, remedy=remedy)
    there = read_records(workspace.queries, Query)
    queries = originals(there)
    if not queries:
        raise InputError("has no question of its own", file=workspace.queries, remedy="run `ragassay questions` again")
    evidence = read_evidence(workspace.queries, workspace.pages, workspace.passages, workspace.own_qrels)
    pages = read_records(workspace.pages, Page) if workspace.pages.exists() else []
    documents = Documents(pages)
    runs = read_runs(workspace, there) if workspace.screening_runs.exists() else []
    sections = read_records(workspace.sections, Section) if workspace.sections.exists() else []
    return Material(
        _questions(queries, evidence, documents),
        evidence,
        Corpus(
            {one.id: Span(one.doc, one.start, one.end) for one in sections},
            {(page.doc, page.page): documents.of_pages(page.doc, page.page, page.page) for page in pages},
        ),
        _check(workspace),
        _measured(workspace, queries, evidence, runs),
        len(there) - len(queries),
    )


def _questions(queries: list[Query], evidence: Mapping[str, Evidence], documents: Documents) -> tuple[Question, ...]:
    clusters = source_clusters(queries)

    def said(query: Query, key: str) -> str:
        value = query.metadata.get(key)
        return value if isinstance(value, str) else ""

    return tuple(
        Question(
            id=query.id,
            text=query.text,
            cluster=clusters.names[clusters.number(query.id)],
            author=writer(query),
            **{key: said(query, key) for key in ("kind", "role", "doc", "section")},
            evidence="\n".join(documents.text(doc)[start:end] for doc, start, end in evidence.get(query.id, ())),
        )
        for query in queries
    )


def _check(workspace: Workspace) -> QuestionsCheck | None:
    path = workspace.questions_check
    if not path.exists():
        return None
    try:
        return QuestionsCheck.model_validate(read_json(path))
    except ValidationError as error:
        remedy = "run `ragassay questions` again"
        raise InputError(first_problem(error), file=path, remedy=remedy) from None


def _measured(
    workspace: Workspace, queries: list[Query], evidence: Mapping[str, Evidence], runs: Sequence[VariantRun]
) -> dict[Basis, Measured]:
    """By the evidence, by the passages that the judge found to answer, where it was asked, and by source section beside
    the first of these that people's questions have."""
    if not runs:
        return {}
    bases: dict[Basis, Mapping[str, Evidence]] = {"evidence": evidence, "judge": _by_judge(workspace)}
    found: dict[Basis, Measured] = {}
    for basis, pieces in bases.items():
        held = [query for query in queries if query.id in pieces]
        if held:
            found[basis] = Measured.of(screened_by(workspace, runs, held, pieces))
    for beside in found.values():
        if by_source := by_section(workspace, runs, queries, beside):
            return found | {"section": by_source}
    return found


def _by_judge(workspace: Workspace) -> dict[str, Evidence]:
    """Where the passages stand that the judge labelled as answering, by query; without `qrels.trec` nowhere."""
    if not workspace.qrels.exists():
        return {}
    places = {passage.id: place_of(passage) for passage in read_records(workspace.passages, Passage)}
    found = {}
    for query, labels in read_qrels(workspace.qrels).items():
        spans = [span for name, label in labels.items() if label >= ANSWERS and (span := places.get(name))]
        if spans:
            found[query] = merged(spans)
    return found
