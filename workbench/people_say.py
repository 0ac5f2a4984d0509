"""What the labels so far say, worked out in a process of its own: the corrected figures, and people's agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from ragassay.evaluate.agreement.agree import agree
from ragassay.evaluate.agreement.among_judges import among_people
from ragassay.evaluate.agreement.joined import SCALE, WINNERS, whole
from ragassay.evaluate.agreement.label_tables import Ratings
from ragassay.evaluate.compare import corrected_so_far
from ragassay.evaluate.human_labels.frame import Kind
from ragassay.evaluate.human_labels.sheet import draw_into
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.inputs.labels import GAME, Label, read_labels
from ragassay.evaluate.inputs.sections import source_clusters
from ragassay.evaluate.results import AmongJudges, Corrections
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Figure, Query


@dataclass(frozen=True)
class Kappa:
    """Cohen's kappa of two people on one criterion; figure None where it has no value, for the reason `why`."""

    criterion: str
    one: str
    other: str
    figure: Figure | None
    why: str


@dataclass(frozen=True)
class PeopleSay:
    """corrected: the figures as the labels correct them, None without labels. among, kappas: of the people themselves,
    where there are several.
    """

    corrected: Corrections | None
    among: tuple[AmongJudges, ...]
    kappas: tuple[Kappa, ...]


def stamp_of(workspace: Workspace) -> str:
    """What tells whether the labels, or what they are held against, have changed; empty without labels."""
    paths = [workspace.own_labels, workspace.relevance, workspace.pointwise, workspace.games, workspace.queries]
    if not workspace.own_labels.exists():
        return ""
    seen = [path.stat() for path in paths if path.exists()]
    return repr([(one.st_size, one.st_mtime_ns) for one in seen])


def people_say(workspace: Workspace) -> PeopleSay:
    """Read all of it and work it out: seconds. Raises InputError."""
    labels = read_labels(workspace.own_labels) if workspace.own_labels.exists() else ()
    if len({label.who for label in labels}) < 2:
        return PeopleSay(corrected_so_far(workspace), (), ())
    there = read_records(workspace.queries, Query)
    queries = {query.id for query in there}
    ours = [label for label in labels if label.query in queries]
    clusters = source_clusters(there)
    return PeopleSay(corrected_so_far(workspace), among_people(ours, clusters), tuple(_kappas(ours, clusters)))


def draw(workspace: Workspace, n: int, seed: int, kinds: Sequence[Kind], criteria: Sequence[str]) -> tuple[str, int]:
    """Draw a sheet as `ragassay label-sheet` does; its file's name and how many things are on it. Raises InputError."""
    path, n_things = draw_into(workspace, n=n, seed=seed, kinds=kinds, criteria=criteria or None)
    return path.name, n_things


def _kappas(labels: Sequence[Label], clusters: Clusters) -> list[Kappa]:
    found = []
    for criterion in sorted({label.criterion for label in labels}):
        said: dict[str, dict[tuple[str, str, str], float]] = {}
        for label in labels:
            if label.criterion == criterion:
                said.setdefault(label.who, {})[label.key] = label.value
        for one, other in combinations(sorted(said), 2):
            if keys := sorted(said[one].keys() & said[other].keys()):
                known = clusters.of([query for query, _, _ in keys])
                sections = tuple(known.names[number] for number in known.numbers)
                columns = tuple(tuple(_told(said[who][key], criterion) for key in keys) for who in (one, other))
                ratings = Ratings("labels.csv", (one, other), columns, sections, criterion != GAME, "section")
                (pair,) = agree(ratings, scale=WINNERS if criterion == GAME else SCALE).pairs
                found.append(Kappa(criterion, one, other, pair.figures.get("kappa"), pair.undefined.get("kappa", "")))
    return found


def _told(value: float, criterion: str) -> float | str:
    return {0.0: "b", 0.5: "tie", 1.0: "a"}[value] if criterion == GAME else whole(value)
