"""`screen.html`: the screening by itself, one self-contained page, before there are answers and games."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import first_problem, read_json, write_text

from ...screening.records import ScreenResults
from ..environment import environment
from .shown import screening_shown


def read_screen(path: Path) -> ScreenResults:
    """The screening of a run. Raises InputError, with what to do, where it is missing or of another layout."""
    if not path.is_file():
        raise InputError("there is no screening yet", file=path, remedy="run `ragassay screen` first")
    try:
        return ScreenResults.model_validate(read_json(path))
    except ValidationError as error:
        raise InputError(first_problem(error), file=path, remedy="run `ragassay screen` again") from None


def write_screen_page(workspace: Workspace) -> None:
    """Write `screen.html` from `screen.json`; without one there is no page. Raises InputError for another layout."""
    if not workspace.screen.exists():
        workspace.screen_page.unlink(missing_ok=True)
        return
    write_text(workspace.screen_page, screen_page(read_screen(workspace.screen), workspace.corpus.resolve().name))


def screen_page(results: ScreenResults, corpus: str) -> str:
    """The page. The same record gives the same bytes."""
    template = environment().get_template("screen.html.j2")
    return template.render(screening=screening_shown(results), corpus=corpus, colour={})
