"""Labels by people: a sheet drawn or taken up again, one item at a time, and what the labels say so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ragassay.evaluate.human_labels.frame import KINDS
from ragassay.evaluate.human_labels.frame import Kind as KindOfLabel
from ragassay.evaluate.human_labels.sheet import (
    Drawn,
    Said,
    draw_into,
    known_sheets,
    labelled_by,
    last_of,
    read_items,
    read_said,
    say,
    settle,
    standing,
    times_said,
)
from ragassay.evaluate.inputs.clusters import Clusters, source_clusters
from ragassay.evaluate.inputs.labels import GAME, Label, read_labels
from ragassay.evaluate.report.plots import colours_of
from ragassay.evaluate.report.tables import corrected_differences
from ragassay.evaluate.report.wording import measure_name
from ragassay.evaluate.results import AmongJudges, CorrectedFigure, Corrections
from ragassay.experiment.workspace import Workspace
from ragassay.files import file_stamp, read_records, while_unchanged
from ragassay.records import Figure, Query

from ..asked import PERSON, Bench, bench_of, form_of, index_of, is_part, now, person_of, render, why_no_name
from ..index.read import Index
from . import View


def by_measure(found: Corrections | None) -> dict[str, dict[str, CorrectedFigure]]:
    """Measure and agent to the mean as judged and as corrected, in the figures' order."""
    figures: dict[str, dict[str, CorrectedFigure]] = {}
    for figure in found.figures if found else ():
        if figure.other is None:
            figures.setdefault(figure.measure, {})[figure.agent] = figure
    return figures


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


_items = while_unchanged(16)(read_items)


def items_of(workspace: Workspace, sheet: str) -> tuple[Drawn, ...]:
    """The items of a sheet there is, read once. Raises InputError."""
    return _items(workspace.label_samples / f"{sheet}.jsonl")


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

    def _labelled(self, item: Drawn) -> bool:
        said: Said | None = self._standing.get(item.item)
        return said.label is not None if said else item.key in self._known


def shown(item: Drawn, index: Index) -> Shown | None:
    """The item with its texts; None where the results no longer have them."""
    place = index.place_of(item.query)
    if place is None:
        return None
    (query,) = index.queries([place])
    title = ""
    if item.kind == "passages":
        passage: dict[str, Any] | None = index.passages([item.subject]).get(item.subject)
        if passage is None:
            return None
        title, texts = passage["title"] or "", [passage["text"]]
        part, asked = "Passage", "Does the text help to answer the question?"
    else:
        answers = {answer["name"]: answer["text"] for answer in index.answers(place)}
        texts = [answers.get(agent) for agent in item.subject.split(":")]
        if None in texts:
            return None
        if item.swapped:
            texts.reverse()
        part, asked = "Two answers", "Which answers the question better?"
        if item.kind == "answers":
            part = "Answer"
            asked = f"{item.criterion.replace('_', ' ').capitalize()} of the answer to the question?"
    words = enumerate(PASSAGE if item.kind == "passages" else ANSWER)
    choices = WHICH if item.kind == "games" else tuple((str(label), word) for label, word in words)
    return Shown(item.item, item.kind, part, asked, query["text"], title, tuple(texts), choices)


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
    return repr([file_stamp(path) for path in paths])


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
    workspace: Workspace, n: int, seed: int, kinds: Sequence[KindOfLabel], criteria: Sequence[str]
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


MOST = 5000
"""Labels of one sheet that are drawn here at most."""

YEAR_S = 365 * 86_400


def show_home(request: Request) -> Response:
    """The sheets there are, how far everybody is, a form for another sheet, and what the labels say."""
    bench, who = bench_of(request), person_of(request)
    drawing = request.app.state.aside.told(f"draw {bench.name}")
    sheets = [_sheet(bench, sheet) for sheet in known_sheets(bench.workspace)]
    given: dict[str, Any] = {
        "who": who,
        "drawing": drawing,
        "sheets": sheets,
        "kinds": KINDS,
        "criteria": bench.workspace.experiment.judge.criteria,
        "judged": bench.workspace.games.exists(),
    }
    return render(request, "labels.html.j2", bench, **given, **_figures(request, bench, sheets))


def show_figures(request: Request) -> Response:
    """The figures by themselves, where htmx asks again."""
    bench = bench_of(request)
    sheets = [_sheet(bench, sheet) for sheet in known_sheets(bench.workspace)]
    return render(request, "labels_figures.html.j2", bench, **_figures(request, bench, sheets))


async def take_name(request: Request) -> Response:
    """Keep who works here in this browser."""
    bench, name = bench_of(request), ((await form_of(request)).get("who") or [""])[0].strip()
    if said := why_no_name(name):
        return render(request, "said_here.html.j2", bench, status=422, said=said)
    answer = Response(status_code=204, headers={"hx-refresh": "true"})
    answer.set_cookie(PERSON, quote(name), max_age=YEAR_S, httponly=True, samesite="strict")
    return answer


async def draw_sheet(request: Request) -> Response:
    """Begin to draw a sheet; the page that is shown again says when it is there."""
    bench, form = bench_of(request), await form_of(request)
    given = (form.get("n") or [""])[0]
    if not (given.isdecimal() and len(given) < 6 and 1 <= int(given) <= MOST):
        return render(request, "said_here.html.j2", bench, status=422, said=f"Draw between 1 and {MOST:,} labels.")
    kinds = [kind for kind in KINDS if kind in form.get("kind", ())] or list(KINDS)
    criteria = [name for name in bench.workspace.experiment.judge.criteria if name in form.get("criterion", ())]
    seed = 7 + len(known_sheets(bench.workspace))
    stamp = repr((seed, given, kinds, criteria))
    work: tuple[Any, ...] = (draw, bench.workspace, int(given), seed, kinds, criteria)
    await run_in_threadpool(request.app.state.aside.told, f"draw {bench.name}", stamp, *work)
    return Response(status_code=204, headers={"hx-redirect": f"/{bench.name}/labels"})


def show_sheet(request: Request) -> Response:
    """The next item of a sheet; a name is asked for first."""
    bench, sheet = bench_of(request), _named(request)
    who = person_of(request)
    if not who:
        return render(request, "labels_name.html.j2", bench)
    settle(bench.workspace, sheet, items_of(bench.workspace, sheet))
    return _next(request, bench, sheet, who, again=request.query_params.get("again") == "1")


async def take_label(request: Request) -> Response:
    """Write down what was said of an item, and show the next."""
    return await run_in_threadpool(_take, request, await form_of(request))


def _take(request: Request, form: dict[str, list[str]]) -> Response:
    bench, sheet, who = bench_of(request), _named(request), person_of(request)
    item, label, before = ((form.get(name) or [""])[0] for name in ("item", "label", "said"))
    if not who or label not in {"0", "1", "2", "skip"}:
        raise HTTPException(422, "Say who you are, and one of the labels.")
    items = items_of(bench.workspace, sheet)
    if item not in {one.item for one in items}:
        raise HTTPException(422, "This is no item of the sheet. Reload the page.")
    said = Said(item=item, who=who, label=None if label == "skip" else label, skipped=label == "skip", at=now())
    n_before = int(before) if before.isdecimal() and len(before) < 9 else None
    kept = say(bench.workspace, sheet, items, said, n_before)
    return _next(request, bench, sheet, who, again=(form.get("again") or [""])[0] == "1", elsewhere=not kept)


def take_back(request: Request) -> Response:
    """Take back what was said last, and show that item."""
    bench, sheet, who = bench_of(request), _named(request), person_of(request)
    items = items_of(bench.workspace, sheet)
    last = Working(bench.workspace, sheet, who, items).last
    if last is not None:
        say(bench.workspace, sheet, items, Said(item=last, who=who, at=now()))
    return _next(request, bench, sheet, who, first=last)


def _next(
    request: Request,
    bench: Bench,
    sheet: str,
    who: str,
    *,
    again: bool = False,
    first: str | None = None,
    elsewhere: bool = False,
) -> Response:
    """The page, or the item alone. first: the item to show before others; elsewhere: whether what was said now was not
    kept, since the person had spoken of the item in another window."""
    index = index_of(request)
    working = Working(bench.workspace, sheet, who)
    named = [item for item in items_of(bench.workspace, sheet) if item.item == first]
    one, n_gone = None, 0
    for item in named + working.open_items(again=again):
        if (one := shown(item, index)) is not None:
            break
        n_gone += 1
    given: dict[str, Any] = {
        "sheet": sheet,
        "who": who,
        "place": working.place,
        "one": one,
        "n_said": working.times_said(one.item) if one else 0,
        "elsewhere": elsewhere,
        "n_gone": n_gone,
        "again": again,
    }
    return render(request, "labels_item.html.j2" if is_part(request) else "labels_sheet.html.j2", bench, **given)


def _named(request: Request) -> str:
    """The sheet of the address, which must be one that was drawn. Raises HTTPException (404)."""
    sheet: str = request.path_params["sheet"]
    if sheet not in known_sheets(bench_of(request).workspace):
        raise HTTPException(404)
    return sheet


def _sheet(bench: Bench, sheet: str) -> dict[str, Any]:
    """What the list says of a sheet: its kinds, and how far each person is."""
    items = items_of(bench.workspace, sheet)
    said = read_said(bench.workspace.label_journal(sheet))
    people = sorted({who for who, _ in standing(said)})
    places = {who: Working(bench.workspace, sheet, who, items).place for who in people}
    kinds = {kind: sum(item.kind == kind for item in items) for kind in KINDS}
    return {"id": sheet, "n": len(items), "kinds": {kind: n for kind, n in kinds.items() if n}, "places": places}


def _figures(request: Request, bench: Bench, sheets: list[dict[str, Any]]) -> dict[str, Any]:
    """What the labels say, of a moment before where newer is worked out. Agreement waits until all are through."""
    stamp = stamp_of(bench.workspace)
    work = (stamp, people_say, bench.workspace) if stamp else ()
    told = request.app.state.aside.told(f"say {bench.name}", *work)
    said = told.value if stamp else None
    corrected = said.corrected if said else None
    through = all(place.n_left == 0 for sheet in sheets for place in sheet["places"].values())
    figures = by_measure(corrected)
    bare = [name for name, row in figures.items() if all(one.corrected.value is None for one in row.values())]
    return {
        "say": said,
        "busy": told.busy,
        "error": told.error,
        "through": through,
        "measures": {name: row for name, row in figures.items() if name not in bare},
        "bare": [measure_name(name) for name in bare],
        "before": by_measure(told.before.corrected if told.before else None),
        "differences": corrected_differences(corrected) if corrected else (),
        "colour": colours_of(bench.workspace.experiment.agent_names()),
    }


class Labels(View):
    """Labels by people."""

    name, title, order = "labels", "Label", 50
    needs_corpus = True
    routes = (
        ("/labels", show_home, ["GET"]),
        ("/labels/figures", show_figures, ["GET"]),
        ("/labels/who", take_name, ["POST"]),
        ("/labels/draw", draw_sheet, ["POST"]),
        ("/labels/{sheet}", show_sheet, ["GET"]),
        ("/labels/{sheet}/say", take_label, ["POST"]),
        ("/labels/{sheet}/undo", take_back, ["POST"]),
    )
