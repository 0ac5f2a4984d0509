"""What a request asks for, each part checked, and the page that answers it."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from jinja2 import Environment, FileSystemLoader
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse

from ragassay.evaluate.report import TEMPLATES
from ragassay.evaluate.report.page import environment_of_figures
from ragassay.evaluate.report.wording import dollars, only_alone
from ragassay.experiment.workspace import Workspace
from ragassay.text import one_line, safe_cell

from .index.read import Index


@dataclass(frozen=True)
class Bench:
    """name: its part of every address, of letters, digits, dot, underscore and hyphen; unique among those served.

    corpus_known: whether the corpus folder is; where it is not, it is the results folder, and no view writes to it."""

    name: str
    workspace: Workspace
    corpus_known: bool = True

    @property
    def title(self) -> str:
        """The corpus folder's name, which is untrusted text."""
        return self.workspace.corpus.resolve().name


def benches_of(workspaces: Sequence[Workspace]) -> dict[str, Bench]:
    """By name, in the order given; a name that is taken gets a number."""
    benches: dict[str, Bench] = {}
    for workspace in workspaces:
        name = name_of(workspace.results.resolve(), benches)
        benches[name] = Bench(name, workspace)
    return benches


def name_of(folder: Path, taken: Collection[str]) -> str:
    """The folder's name as a part of an address, with a number where that is taken."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name).strip("-.") or "results"
    return next(name for name in (stem, *(f"{stem}-{i}" for i in range(2, len(taken) + 3))) if name not in taken)


LARGEST_FORM = 64_000
LONGEST_NAME = 60
PERSON = "ragassay-person"
"""The cookie with the name of who works here, percent-encoded."""


def bench_of(request: Request) -> Bench:
    """The folder of the address. Raises HTTPException (404), also where the view needs a corpus folder it has not."""
    bench: Bench | None = request.app.state.benches.get(request.path_params["bench"])
    if bench is None:
        raise HTTPException(404)
    view = request.url.path.split("/")[2]
    if not bench.corpus_known and any(view == one.name and one.needs_corpus for one in request.app.state.views):
        raise HTTPException(404)
    return bench


class NoIndexYet(Exception):
    """The index of `bench` is being made, or cannot be: the application answers with the page that waits for it."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench.name)
        self.bench = bench


def index_of(request: Request, bench: Bench | None = None) -> Index:
    """The index of the address's folder, or of another. Raises NoIndexYet while it is made."""
    bench = bench or bench_of(request)
    found: Index | None = request.app.state.keeper.index(bench)
    if found is None:
        raise NoIndexYet(bench)
    return found


def start_of(request: Request) -> int:
    """From which row on a list is wanted, `from` in the address; 0 where it says nothing that can be."""
    given = request.query_params.get("from", "")
    return int(given) if given.isdecimal() and len(given) < 10 else 0


async def form_of(request: Request) -> dict[str, list[str]]:
    """Field to its values, of a form that htmx sends. Raises HTTPException: 413 for one that is too large, 400 for one
    whose end never came."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_FORM:
                raise HTTPException(413, "That is more than a form may have.")
    except ClientDisconnect:
        raise HTTPException(400, "The end of that did not come.") from None
    return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)


def person_of(request: Request) -> str:
    """Who works here, by the name that was given once in this browser; empty where none was. Untrusted text."""
    name = unquote(request.cookies.get(PERSON, ""))
    return name if why_no_name(name) is None else ""


def why_no_name(name: str) -> str | None:
    """Why somebody cannot be called that; None where they can."""
    if not name or name != name.strip():
        return "Say who you are: a name or initials."
    if len(name) > LONGEST_NAME:
        return f"A name has at most {LONGEST_NAME} characters."
    if one_line(name) != name or safe_cell(name) != name:
        return "A name has letters, digits and spaces, and begins with none of = + - @."
    return None


def now() -> str:
    """The moment, as the files that people fill have it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


HERE = Path(__file__).parent

WAITS, WAITING = "x-ragassay-waits", "waiting.html.j2"
"""The header with which a page that waits for the index asks whether it is there, and that page."""


def templates_of(theirs: Sequence[Path] = ()) -> Environment:
    """The report's environment with the workbench's templates before the report's, and other packages' after them."""
    made = environment_of_figures()
    made.loader = FileSystemLoader([HERE / "templates", TEMPLATES, *theirs])
    made.globals |= {"only_alone": only_alone, "dollars": dollars}
    made.globals |= {"from_json": json.loads, "to_text": partial(json.dumps, ensure_ascii=False)}
    return made


def is_part(request: Request) -> bool:
    """Whether htmx asks for a part of a page and not for a page: not where it restores one from the history."""
    return "hx-request" in request.headers and "hx-history-restore-request" not in request.headers


def render(
    request: Request, template: str, bench: Bench | None = None, status: int = 200, **context: Any
) -> HTMLResponse:
    """A page, or the part of one that `template` makes; to a page that waits only whether it is to be loaded anew."""
    if WAITS in request.headers:
        ready = template != WAITING or context.get("error")
        return HTMLResponse(status_code=204, headers={"hx-refresh": "true"} if ready else {})
    state = request.app.state
    alone = bench is not None and not bench.corpus_known
    given = {
        "bench": bench,
        "views": [one for one in state.views if one.title and not (alone and one.needs_corpus)],
        "write": state.access.write,
        "path": request.url.path,
        "waits": WAITS,
    }
    text = state.templates.get_template(template).render(given | context)
    return HTMLResponse(text, status, headers={"vary": "HX-Request"})


def waiting(request: Request, error: Exception) -> HTMLResponse:
    """The page that waits for the index of a NoIndexYet; it says why there is none where it cannot be made."""
    assert isinstance(error, NoIndexYet)
    return render(request, WAITING, bench_of(request), error=request.app.state.keeper.error(error.bench))


MOST = 2000
"""Places that an address may name; browsers and servers cut longer ones."""

_PART = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def written(places: Iterable[int]) -> str:
    """The places, runs of consecutive ones as `first-last`."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][1] + 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in runs)


def read(text: str) -> list[int]:
    """The places that `text` names, each once and at most `MOST`; what is not of the form is passed over."""
    found: dict[int, None] = {}
    for part in text.split(","):
        if match := _PART.fullmatch(part):
            first = int(match[1])
            last = min(int(match[2] or first), first + MOST)
            found |= dict.fromkeys(range(first, last + 1))
        if len(found) >= MOST:
            break
    return list(found)[:MOST]
