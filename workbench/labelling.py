"""One sheet as one person works through it: which item is next, what it shows, and how many are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragassay.evaluate.human_labels.frame import Kind as Kind_of_people_say
from ragassay.evaluate.human_labels.sheet import (
    Drawn,
    Said,
    draw_into,
    key_of,
    labelled_by,
    last_of,
    read_items,
    read_said,
    standing,
    times_said,
)
from ragassay.evaluate.inputs.clusters import Clusters, source_clusters
from ragassay.evaluate.inputs.labels import GAME, Label, read_labels
from ragassay.evaluate.report.plots import axis_labels, scale, whisker
from ragassay.evaluate.report.tables import corrected_cell, kind_corrected, labels_needed
from ragassay.evaluate.report.wording import Kind, measure_help, measure_name, number
from ragassay.evaluate.results import AmongJudges, CorrectedFigure, Corrections
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Figure, Query
from ragassay.table import Cell

from .index.read import Index


@dataclass(frozen=True)
class AgentShown:
    """An agent on a measure. judged, corrected: plots; cell: the corrected figure in words. needed: how many labels a
    narrow interval takes. half: half the corrected interval's width in words, and half that of the labels before, which
    says whether it tightens; '' where there is none.
    """

    agent: str
    judged: Markup
    corrected: Markup
    cell: Cell
    n_labels: int
    needed: str
    half: str
    before: str


@dataclass(frozen=True)
class MeasureShown:
    """A measure, its agents, and the axis under them."""

    name: str
    help: str
    agents: tuple[AgentShown, ...]
    axis: Markup

    @property
    def told(self) -> bool:
        """Whether the labels correct it for any agent."""
        return any(not one.cell.why for one in self.agents)


def measures_shown(corrected: Corrections, before: Corrections | None) -> tuple[MeasureShown, ...]:
    """The means by measure, in the figures' order; before: what fewer labels said."""
    by_measure: dict[str, list[CorrectedFigure]] = {}
    for figure in corrected.figures:
        if figure.other is None:
            by_measure.setdefault(figure.measure, []).append(figure)
    old = {(f.measure, f.agent): f.corrected for f in (before.figures if before else ()) if f.other is None}
    made = []
    for name, figures in by_measure.items():
        axis = scale([each for figure in figures for each in (figure.judged, figure.corrected)])
        kind = kind_corrected(figures[0])
        agents = tuple(
            AgentShown(
                figure.agent,
                whisker(figure.judged, axis, 11, f"{figure.agent}, as judged", kind),
                whisker(figure.corrected, axis, 0, f"{figure.agent}, as corrected", kind),
                corrected_cell(figure),
                figure.n_labels,
                labels_needed(figure),
                _half(figure.corrected, kind),
                _half(old.get((name, figure.agent)), kind),
            )
            for figure in figures
        )
        made.append(MeasureShown(measure_name(name), measure_help(name), agents, axis_labels(axis, kind)))
    return tuple(made)


def _half(figure: Figure | None, kind: Kind) -> str:
    if figure is None or figure.ci_low is None or figure.ci_high is None:
        return ""
    return f"±{number((figure.ci_high - figure.ci_low) / 2, kind)}"


PASSAGE = ("not", "somewhat", "very")
ANSWER = ("not", "somewhat", "fully")
WHICH = (("1", "the first"), ("2", "the second"), ("0", "neither"))


@dataclass(frozen=True)
class Shown:
    """What a person sees of an item: neither agent nor judge. texts: one, or the two of a game.

    choices: (key, what it means) in the order of the buttons. part: which part of the sheet this is of.
    """

    item: str
    kind: str
    part: str
    asked: str
    question: str
    title: str
    texts: tuple[str, ...]
    choices: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Place:
    """How far a person is: of `n` items, `n_labelled` and `n_skipped`; last: whether any can be taken back."""

    n: int
    n_labelled: int
    n_skipped: int
    last: bool

    @property
    def n_left(self) -> int:
        """How many nothing was said of."""
        return self.n - self.n_labelled - self.n_skipped


@lru_cache(maxsize=16)
def _items(path: Path, size: int, time: int) -> tuple[Drawn, ...]:
    del size, time
    return read_items(path)


def items_of(workspace: Workspace, sheet: str) -> tuple[Drawn, ...]:
    """The items of a sheet there is, read once. Raises InputError."""
    path = workspace.label_samples / f"{sheet}.jsonl"
    there = path.stat()
    return _items(path, there.st_size, there.st_mtime_ns)


class Working:
    """A person at a sheet, as the files say at this moment."""

    def __init__(self, workspace: Workspace, sheet: str, who: str, items: Sequence[Drawn] | None = None) -> None:
        self._items = items if items is not None else items_of(workspace, sheet)
        self._said = read_said(workspace.label_journal(sheet))
        spoken = standing(self._said)
        self._who, self._standing = who, {item: one for (person, item), one in spoken.items() if person == who}
        self._known = labelled_by(workspace, who)

    @property
    def place(self) -> Place:
        """How far the person is."""
        skipped = sum(one.skipped for one in self._standing.values())
        labelled = sum(self._labelled(item) for item in self._items)
        return Place(len(self._items), labelled, skipped, self.last is not None)

    @property
    def last(self) -> str | None:
        """The item that they spoke of last."""
        return last_of(self._said, self._who)

    def open_items(self, *, again: bool = False) -> list[Drawn]:
        """What nothing was said of; again: what was skipped."""
        if again:
            return [item for item in self._items if (one := self._standing.get(item.item)) and one.skipped]
        return [item for item in self._items if item.item not in self._standing and not self._labelled(item)]

    def times_said(self, item: str) -> int:
        """How often they have spoken of an item."""
        return times_said(self._said, self._who, item)

    def named(self, item: str) -> Drawn | None:
        """An item by its id."""
        return next((one for one in self._items if one.item == item), None)

    def _labelled(self, item: Drawn) -> bool:
        said: Said | None = self._standing.get(item.item)
        return said.label is not None if said else key_of(item) in self._known


def shown(item: Drawn, index: Index) -> Shown | None:
    """The item with its texts; None where the results no longer have them."""
    place = index.place_of(item.query)
    texts = None if place is None else _texts(item, index, place)
    if place is None or texts is None:
        return None
    (query,) = index.queries([place])
    title, *found = texts
    part = {"passages": "Passage", "answers": "Answer", "games": "Two answers"}[item.kind]
    words = enumerate(PASSAGE if item.kind == "passages" else ANSWER)
    choices = WHICH if item.kind == "games" else tuple((str(label), word) for label, word in words)
    return Shown(item.item, item.kind, part, _asked(item), query["text"], title, tuple(found), choices)


def _texts(item: Drawn, index: Index, place: int) -> tuple[str, ...] | None:
    """A title, then the text or texts."""
    if item.kind == "passages":
        passage: dict[str, Any] | None = index.passages([item.subject]).get(item.subject)
        return None if passage is None else (passage["title"] or "", passage["text"])
    answers = {answer["name"]: answer["text"] for answer in index.answers(place)}
    agents = item.subject.split(":")
    if any(answers.get(agent) is None for agent in agents):
        return None
    found = [answers[agent] for agent in agents]
    return ("", *(reversed(found) if item.swapped else found))


def _asked(item: Drawn) -> str:
    if item.kind == "passages":
        return "Does the text help to answer the question?"
    if item.kind == "games":
        return "Which answers the question better?"
    return f"{item.criterion.replace('_', ' ').capitalize()} of the answer to the question?"


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
    from ragassay.evaluate.audit.judge_audit import among_people
    from ragassay.evaluate.compare import corrected_so_far

    labels = read_labels(workspace.own_labels) if workspace.own_labels.exists() else ()
    if len({label.who for label in labels}) < 2:
        return PeopleSay(corrected_so_far(workspace), (), ())
    there = read_records(workspace.queries, Query)
    queries = {query.id for query in there}
    ours = [label for label in labels if label.query in queries]
    clusters = source_clusters(there)
    return PeopleSay(corrected_so_far(workspace), among_people(ours, clusters), tuple(_kappas(ours, clusters)))


def draw(
    workspace: Workspace, n: int, seed: int, kinds: Sequence[Kind_of_people_say], criteria: Sequence[str]
) -> tuple[str, int]:
    """Draw a sheet as `ragassay label-sheet` does; its file's name and how many things are on it. Raises InputError."""
    path, n_things = draw_into(workspace, n=n, seed=seed, kinds=kinds, criteria=criteria or None)
    return path.name, n_things


def _kappas(labels: Sequence[Label], clusters: Clusters) -> list[Kappa]:
    from ragassay.evaluate.agreement.agree import SCALE, WINNERS, agree, whole
    from ragassay.evaluate.agreement.label_tables import Ratings

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
                winners = {0.0: "b", 0.5: "tie", 1.0: "a"}
                values = ([said[who][key] for key in keys] for who in (one, other))
                columns = tuple(tuple(winners[v] if criterion == GAME else whole(v) for v in row) for row in values)
                ratings = Ratings("labels.csv", (one, other), columns, sections, criterion != GAME, "section")
                (pair,) = agree(ratings, scale=WINNERS if criterion == GAME else SCALE).pairs
                found.append(Kappa(criterion, one, other, pair.figures.get("kappa"), pair.undefined.get("kappa", "")))
    return found
