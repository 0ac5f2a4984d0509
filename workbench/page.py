"""How every page is made: the templates' environment, in which each text is untrusted, and a response from one."""

from __future__ import annotations

import json
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from starlette.requests import Request
from starlette.responses import HTMLResponse

from ragassay.evaluate.report import TEMPLATES
from ragassay.evaluate.report.environment import environment
from ragassay.evaluate.report.wording import dollars, measure_help, measure_name, only_alone

from .bench import Bench

HERE = Path(__file__).parent

WAITS, WAITING = "x-ragassay-waits", "waiting.html.j2"
"""The header with which a page that waits for the index asks whether it is there, and that page."""

VIEWS = (
    ("decision", "Decision"),
    ("queries", "Queries"),
    ("compare", "Compare runs"),
    ("test-set", "Test set"),
    ("labels", "Label"),
    ("progress", "Run"),
)
"""The last part of a view's address, and what the navigation calls it."""


@cache
def templates() -> Environment:
    """The report's environment with the workbench's templates before the report's."""
    made = environment()
    made.loader = FileSystemLoader([HERE / "templates", TEMPLATES])
    made.globals |= {"views": VIEWS, "measure_name": measure_name, "measure_help": measure_help}
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
    given = {
        "bench": bench,
        "benches": state.benches,
        "write": state.access.write,
        "path": request.url.path,
        "waits": WAITS,
    }
    text = templates().get_template(template).render(given | context)
    return HTMLResponse(text, status, headers={"vary": "HX-Request"})
