"""Labels by people: a sheet drawn or taken up again, one item at a time, and what the labels say so far."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ragassay.evaluate.human_labels.frame import KINDS
from ragassay.evaluate.human_labels.sheet import Said, known_sheets, read_said, say, settle, standing
from ragassay.evaluate.report.plots import colours_of
from ragassay.evaluate.report.tables import corrected_differences

from ..asked import PERSON, Bench, bench_of, form_of, index_of, is_part, now, person_of, render, waiting, why_no_name
from ..labelling import Working, draw, items_of, measures_shown, people_say, shown, stamp_of
from . import View

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


async def take_back(request: Request) -> Response:
    """Take back what was said last, and show that item."""
    return await run_in_threadpool(_take_back, request)


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


def _take_back(request: Request) -> Response:
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
    if index is None:
        return waiting(request, bench)
    working = Working(bench.workspace, sheet, who)
    open_items = working.open_items(again=again)
    named = working.named(first) if first else None
    one, n_gone = None, 0
    for item in ([named] if named else []) + open_items:
        one = shown(item, index)
        if one is not None:
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
    before = told.before.corrected if told.before and told.before.corrected else None
    return {
        "say": said,
        "busy": told.busy,
        "error": told.error,
        "through": through,
        "measures": measures_shown(corrected, before) if corrected else (),
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
