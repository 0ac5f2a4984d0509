"""Importing modules that lie in the user's own folder."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from ..errors import InputError
from ..keys import without_keys
from ..text import plain


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """The modules in `folder` can be imported inside, before any other of their names; the user's own code runs there.

    The path of modules and the working folder are as before when it ends.
    """
    before, home = list(sys.path), Path.cwd()
    sys.path.insert(0, str(folder.resolve()))
    try:
        yield
    finally:
        sys.path[:] = before
        os.chdir(home)


def import_own(name: str, folder: Path, whose: str, settings: Path) -> ModuleType:
    """The module `name`, inside `importable(folder)`. Raises InputError, which begins with `whose`."""
    _check_not_taken(name, folder, settings)
    importlib.invalidate_caches()
    home = Path.cwd()
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        problem = f"{whose}: the module {name} cannot be imported ({said(error)})"
        remedy = f"it is looked for in {folder} first, then in this environment"
        raise InputError(problem, file=settings, remedy=remedy) from error
    finally:
        os.chdir(home)


def _check_not_taken(module_name: str, folder: Path, settings: Path) -> None:
    """A module of this name that is loaded from elsewhere would hide the one in the user's folder."""
    top = module_name.partition(".")[0]
    if top not in sys.modules or not ((folder / f"{top}.py").exists() or (folder / top).is_dir()):
        return
    loaded = getattr(sys.modules[top], "__file__", None)
    if not loaded or not Path(loaded).resolve().is_relative_to(folder.resolve()):
        raise InputError(f"the module name '{top}' is taken by another module", file=settings, remedy="rename yours")


def said(error: BaseException) -> str:
    """The kind of an error and the first line of its message, at most 300 characters."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001 - the user's own error may fail to say itself
        lines = []
    return plain(without_keys(": ".join([type(error).__name__, *lines[:1]])[:3000]))[:300]
