"""The views: one file each, with what it shows, its routes and its place in the menu.

A file of this folder that defines a class under `View` is served, and so is what another package brings by an entry
point of the group `ragassay.views`, which names such a class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ragassay.errors import InputError
from ragassay.experiment.plugins import classes_in, plugins
from ragassay.text import plain

Route = tuple[str, Callable[..., Any], Sequence[str]]
"""An address below the results folder's name, what answers it (given a starlette `Request`), and the methods."""


class View:
    """What is served of every results folder. name: the first part of its addresses, which no other view has; title:
    what the menu calls it, '' for one that is not there; order: its place in the menu, from the left; templates: a
    folder of its own Jinja templates, which may extend `base.html.j2`; needs_corpus: whether it reads or writes the
    corpus folder, and is not there for a run of which that is not known."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    order: ClassVar[int] = 100
    routes: ClassVar[Sequence[Route]] = ()
    templates: ClassVar[Path | None] = None
    needs_corpus: ClassVar[bool] = False


def views() -> tuple[type[View], ...]:
    """All of them, in the order of the menu. Raises InputError where another package's cannot be used."""
    found = classes_in(__name__, View)
    for name, theirs in plugins("views", View).items():
        if any(theirs.name == one.name for one in found):
            problem = f"the view '{plain(name)}' has the name '{plain(theirs.name)}', which another view has"
            raise InputError(problem, remedy="uninstall its package")
        found.append(theirs)
    return tuple(sorted(found, key=lambda one: (one.order, one.name)))
