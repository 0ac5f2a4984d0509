"""What a judge's thresholds are worth: of an experiment, of a `labels.csv` beside files of judgments, of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Query
from ragassay.text import plain

from ..agreement import label_tables
from ..agreement.scored import Present, Scored, scored_records, scored_table
from ..inputs.clusters import Clusters, read_clusters, source_clusters
from ..inputs.labels import read_labels


def of_experiment(workspace: Workspace, relevant: float | None = None, threshold: float | None = None) -> list[Scored]:
    """The corpus folder's `labels.csv` and all that the experiment's judges gave; clusters are source sections.

    relevant, threshold: as in `scored_records`, `Present.given`. Raises InputError where there are no labels, or where
    they are of nothing that was judged.
    """
    if not workspace.own_labels.exists():
        remedy = "draw a sheet with `ragassay label-sheet`, fill it, and take it in with --take"
        raise InputError("there are no labels of people's", file=workspace.own_labels, remedy=remedy)
    files = [path for path in (workspace.relevance, workspace.pointwise, workspace.judgments) if path.exists()]
    judge = workspace.experiment.judge
    queries = read_records(workspace.queries, Query)
    present = Present(judge.relevant_from, judge.yes_threshold, threshold)
    return _of_records(workspace.own_labels, files, source_clusters(queries), relevant, present)


def of_files(
    labels: Path,
    judgments: Sequence[Path],
    *,
    sections: Path | None = None,
    relevant: float | None = None,
    threshold: float | None = None,
) -> list[Scored]:
    """The same of files; clusters are queries, or the sections that `sections` names (`read_clusters`)."""
    asked = sorted({label.query for label in read_labels(labels)}) if sections else []
    clusters = read_clusters(sections, asked, labels)
    return _of_records(labels, judgments, clusters, relevant, Present(given=threshold))


def of_table(
    labels: Path,
    human: str,
    judges: Sequence[str],
    *,
    by: str | None = None,
    relevant: str | None = None,
    threshold: float | None = None,
) -> list[Scored]:
    """A table with a column of people's labels and columns of judges' numbers; clusters are by column `by`."""
    table = label_tables.read_labels(labels)
    return scored_table(table, human, judges, by, relevant=relevant, threshold=threshold)


def _of_records(
    labels: Path, judgments: Sequence[Path], clusters: Clusters, relevant: float | None, present: Present
) -> list[Scored]:
    found = scored_records(read_labels(labels), judgments, clusters, relevant=relevant, present=present)
    if not found:
        named = ", ".join(plain(str(path)) for path in judgments) or "this experiment"
        remedy = "give the judge's relevance.jsonl, pointwise.jsonl or judgments.jsonl of the same test set"
        raise InputError(f"labels nothing that is judged in {named}", file=labels, remedy=remedy)
    return found
