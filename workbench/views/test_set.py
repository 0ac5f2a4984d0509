"""The test set: what it asks about, what was turned away, and a person's decision about each question."""

from __future__ import annotations

import datetime
from typing import Any, cast

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ragassay.evaluate.human_labels.held import corpus_held
from ragassay.question_edits import Action, Edit, add_edit
from ragassay.text import one_line

from ..asked import bench_of, form_of, person_of
from ..page import is_part, render
from ..test_set import (
    AT_MOST,
    FACETS,
    WHICH,
    Question,
    TestSet,
    Which,
    found_in,
    read_decisions,
    read_test_set,
    with_decided,
)

AT_ONCE = 60
LONGEST = 2000
"""Characters of an edited question."""


def show(request: Request) -> Response:
    """The whole page, or the rows of the list from `from` on where htmx asks."""
    bench, params = bench_of(request), request.query_params
    if not bench.workspace.queries.exists():
        said = "There is no test set yet: the run has not come to the questions."
        return render(request, "said.html.j2", bench, said=said)
    edits = read_decisions(bench.workspace)
    read = read_test_set(bench.workspace)
    found = with_decided(read, edits)
    which = cast(Which, params["which"]) if params.get("which") in WHICH else "set"
    facets = {name: params[name] for name in FACETS if params.get(name)}
    rows = found_in(found.of[which], params.get("words", "")[:200], facets)
    first = int(params["from"]) if (params.get("from") or "").isdecimal() and len(params["from"]) < 9 else 0
    shown: dict[str, Any] = {
        "found": found,
        "which": which,
        "rows": rows[first : first + AT_ONCE],
        "n": len(rows),
        "first": first,
        "following": first + AT_ONCE if first + AT_ONCE < len(rows) else None,
        "edits": edits,
        "facets": read.bars,
        "strips": read.strips,
        "reasons": read.reasons,
        "at_most": AT_MOST,
        "params": params,
        "who": person_of(request),
        "waits": _waits(found, edits),
        "fault": None,
    }
    return render(request, "test_set_rows.html.j2" if is_part(request) else "test_set.html.j2", bench, **shown)


async def decide(request: Request) -> Response:
    """Write down a decision, and show the question with it."""
    return await run_in_threadpool(_decide, request, await form_of(request))


def _decide(request: Request, form: dict[str, list[str]]) -> Response:
    bench, who = bench_of(request), person_of(request)
    id, action, given = ((form.get(name) or [""])[0] for name in ("id", "action", "text"))
    edits = read_decisions(bench.workspace)
    found = with_decided(read_test_set(bench.workspace), edits)
    question = next((one for which in WHICH for one in found.of[which] if one.id == id), None)
    if question is None or action not in {"accept", "edit", "reject"}:
        raise HTTPException(404)
    text, fault = " ".join(given.split()), None
    if action == "edit":
        fault = _fault(text)
    elif action == "accept" and question.reason and _fault(" ".join(question.text.split())):
        fault = "No query can have this text. Edit it, and it is taken in with the text you give it."
    if fault is None:
        one = Edit(id=id, action=cast(Action, action), text=text if action == "edit" else None, was=question.text)
        one = one.model_copy(update={"person": who, "at": _now()})
        with corpus_held(bench.workspace):
            add_edit(bench.workspace.question_edits, one)
        edits = {**edits, id: one}
    return render(
        request, "test_set_row.html.j2", bench, 200 if fault is None else 422, row=question, edits=edits, fault=fault
    )


def _fault(text: str) -> str | None:
    """Why a question cannot have this text."""
    if not text:
        return "An edited question needs a text."
    if len(text) > LONGEST:
        return f"A question has at most {LONGEST:,} characters."
    return "There are control characters in the text." if one_line(text) != text else None


def _waits(found: TestSet, edits: dict[str, Edit]) -> int:
    """Decisions that the next run will honour: what is in the set or the pool and should not be so."""
    there = [*found.of["set"], *found.of["perturbed"], *found.of["pool"]]
    return sum(_is_open(one, edits[one.id]) for one in there if one.id in edits) + sum(
        edits[one.id].action != "reject" for one in found.of["rejected"] if one.id in edits
    )


def _is_open(question: Question, edit: Edit) -> bool:
    if edit.action == "reject":
        return True
    return question.text != edit.text if edit.action == "edit" else "edited_from" in question.metadata


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


ROUTES = (("/test-set", show, ["GET"]), ("/test-set/decide", decide, ["POST"]))
