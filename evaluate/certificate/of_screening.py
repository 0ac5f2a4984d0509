"""The certificate of the screening's variants, by the measure of evidence that chose among them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragassay.errors import InputError
from ragassay.evidence.read import read_evidence
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_json
from ragassay.perturbed import left_out, originals
from ragassay.records import Query
from ragassay.screening import VariantRun

from ..inputs.sources import by_source
from ..screening.runs import read_runs
from ..screening.screen import screened_by
from .certify import Systems, certify
from .decided import LEVEL
from .records import Certificate


def certify_screening(workspace: Workspace, *, level: float = LEVEL, seed: int = 7) -> Certificate:
    """Write `certificate.json`. A variant's family is its kind of retriever.

    Raises InputError where nothing was screened, for evidence that is not in the documents, and where there are too few
    variants, real or written queries.
    """
    if not workspace.screening_runs.exists():
        raise InputError("is not there", file=workspace.screening_runs, remedy="run `ragassay screen` first")
    asked = read_records(workspace.queries, Query)
    queries = originals(asked)
    certificate = certify(
        _systems(workspace, queries, read_runs(workspace, asked)), workspace.queries, level=level, seed=seed
    )
    said = (*certificate.said, *left_out(len(asked) - len(queries)))
    certificate = certificate.model_copy(update={"said": said})
    write_json(workspace.certificate, certificate.dump())
    return certificate


def _systems(workspace: Workspace, asked: Sequence[Query], runs: Sequence[VariantRun]) -> Systems:
    evidence = read_evidence(workspace.queries, workspace.pages, workspace.passages, workspace.own_qrels)
    queries = [query for query in asked if query.id in evidence]
    screened, kinds = screened_by(workspace, runs, queries, evidence), by_source(queries)
    at = {query.id: place for place, query in enumerate(queries)}
    real, written = (np.array([at[query] for query in ids], dtype=np.intp) for ids in kinds)
    return Systems(
        names=screened.names,
        families={run.variant: str(run.settings.get("kind", "?")) for run in runs},
        measure=screened.quality,
        real=kinds.real,
        real_values=screened.values[:, real],
        written=kinds.written,
        written_values=screened.values[:, written],
        clusters=screened.clusters.of(kinds.written),
    )
