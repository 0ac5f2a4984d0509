"""Written questions held against the section that they came from, beside people's by what is known of theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Passage, Query, Section
from ragassay.screening import VariantRun
from ragassay.trec import read_run

from ..figures.section_recall import section_recall, sources
from ..inputs.sections import source_clusters
from ..inputs.sources import writer
from .families import Measured


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
