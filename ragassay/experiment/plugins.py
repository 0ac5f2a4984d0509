"""Code of others: what other packages bring by entry point, and modules that lie in the user's own folder.

An entry of the group `ragassay.judges`, `ragassay.measures`, … names a class (a judge, a measure, a retriever, a
layout); it is asked for by the entry's name, and looked for only where a name is not ours, so that nothing of another
package is loaded before somebody asks for it.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, TypeVar

from ..errors import InputError
from ..files import digest_file
from ..text import listed, plain, without_keys

T = TypeVar("T")


def classes_in(package: str, base: type[T]) -> list[type[T]]:
    """Ours: what the modules of a package and of those inside it define of a kind, in the order of the files."""
    found: list[type[T]] = []
    for module in walk_packages(importlib.import_module(package).__path__, f"{package}."):
        inside = vars(importlib.import_module(module.name)).values()
        kinds = [one for one in inside if isinstance(one, type) and one.__module__ == module.name]
        found += [one for one in kinds if issubclass(one, base) and one is not base]
    return found


def plugin(group: str, name: str, base: type[T]) -> type[T] | None:
    """The class that an installed package brings under this name, which subclasses `base`; None where none does.

    group: what it is, such as "judges". Raises InputError where two packages bring one of this name, where it cannot
    be imported, where it is no class of that kind, and where the class has another name than the entry.
    """
    if (entry := _entry(group, name)) is None:
        return None
    kind = _loaded(group, entry, base)
    told = getattr(kind, "name", "") if "name" in base.__annotations__ else name
    if told != name:
        problem = f"{_whose(group, entry)} has the name '{plain(str(told))}' in its class"
        raise InputError(problem, remedy="name it there as in its entry point")
    return kind


def plugins(group: str, base: type[T]) -> dict[str, type[T]]:
    """All that installed packages bring of a kind, by name, in the order of their names. Raises InputError likewise."""
    return {name: _loaded(group, entry, base) for name in names_of(group) if (entry := _entry(group, name))}


def names_of(group: str) -> list[str]:
    """The names under which installed packages bring something; nothing of theirs is loaded."""
    return sorted({entry.name for entry in entry_points(group=f"ragassay.{group}")})


def brought_by(group: str, name: str) -> str | None:
    """`package 1.0`, for the manifests of stages, which another version makes run again; None for what is ours."""
    entry = _entry(group, name)
    return None if entry is None else _package(entry)


def _entry(group: str, name: str) -> EntryPoint | None:
    found = {_package(entry): entry for entry in entry_points(group=f"ragassay.{group}", name=name)}
    if len(found) > 1:
        problem = f"{listed(sorted(found))} each bring {_kind(group)} named '{plain(name)}'"
        raise InputError(problem, remedy="uninstall one of them")
    return next(iter(found.values()), None)


def _loaded(group: str, entry: EntryPoint, base: type[T]) -> type[T]:
    whose = _whose(group, entry)
    try:
        kind = entry.load()
    except (Exception, SystemExit) as error:
        raise InputError(f"{whose} cannot be imported ({said(error)})", remedy="mend or uninstall it") from error
    if not isinstance(kind, type) or not issubclass(kind, base):
        problem = f"{whose}: {plain(entry.value)} is no subclass of {base.__name__}"
        raise InputError(problem, remedy="mend or uninstall it")
    return kind


def _whose(group: str, entry: EntryPoint) -> str:
    return f"{_kind(group)} '{plain(entry.name)}' of {_package(entry)}"


def _package(entry: EntryPoint) -> str:
    return plain(f"{entry.dist.name} {entry.dist.version}") if entry.dist else "a package"


def _kind(group: str) -> str:
    one = group.removesuffix("s")
    return f"{'an' if one[0] in 'aeiou' else 'a'} {one}"


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


def import_own(name: str, folder: Path, whose: str, settings: Path) -> Any:
    """What "module:name" names, inside `importable(folder)`; None where the module has nothing of that name.

    Raises InputError, which begins with `whose`, where it cannot be imported.
    """
    module, _, attribute = name.partition(":")
    top = module.partition(".")[0]
    if top in sys.modules and ((folder / f"{top}.py").exists() or (folder / top).is_dir()):
        # A module of this name that is loaded from elsewhere would hide the one in the user's folder.
        loaded = getattr(sys.modules[top], "__file__", None)
        if not loaded or not Path(loaded).resolve().is_relative_to(folder.resolve()):
            problem = f"the module name '{top}' is taken by another module"
            raise InputError(problem, file=settings, remedy="rename yours")
    importlib.invalidate_caches()
    home = Path.cwd()
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        problem = f"{whose}: the module {module} cannot be imported ({said(error)})"
        remedy = f"it is looked for in {folder} first, then in this environment"
        raise InputError(problem, file=settings, remedy=remedy) from error
    finally:
        os.chdir(home)
    return getattr(found, attribute, None)


OWN = "python:"
"""What stands before the "module:name" of an object of the user's own, where other models are named too."""


def is_own(name: str) -> bool:
    """Whether an object of the user's own code is named, `python:module:name`."""
    return name.startswith(OWN)


def load_own_object(name: str, folder: Path, method: str) -> Any:
    """What `python:module:name` names in the folder, which has this method; or what it gives when it is called.

    Raises InputError, one sentence, where there is none. The user's code runs here, in this process.
    """
    settings = folder / "experiment.toml"
    check_own_object(name, folder)
    with importable(folder):
        found = import_own(name.removeprefix(OWN), folder, plain(name), settings)
        if isinstance(found, type) or (callable(found) and not hasattr(found, method)):
            try:
                found = found()
            except (Exception, SystemExit) as error:
                raise InputError(f"{plain(name)} cannot be made ({said(error)})", file=settings) from error
    if not callable(getattr(found, method, None)):
        remedy = "name an object with it, a class or a function that makes one without arguments"
        raise InputError(f"{plain(name)} has no method {method}", file=settings, remedy=remedy)
    return found


def check_own_object(name: str, folder: Path) -> None:
    """Raises InputError where `python:module:name` is written otherwise, or no such module is there. Runs nothing."""
    settings = folder / "experiment.toml"
    module, _, attribute = name.removeprefix(OWN).partition(":")
    if not (is_own(name) and re.fullmatch(r"[A-Za-z_][\w.]*", module) and attribute.isidentifier()):
        raise InputError(f"'{plain(name)}' names no object", file=settings, remedy='write "python:module:name"')
    if own_source(name, folder) is None and find_spec(module.partition(".")[0]) is None:
        problem = f"{plain(name)}: there is no module {plain(module)}"
        raise InputError(problem, file=settings, remedy=f"it goes into {folder}")


def own_source(name: str, folder: Path) -> Path | None:
    """The file in the folder that holds the module of `python:module:name`, None where it lies elsewhere."""
    base = folder / name.removeprefix(OWN).partition(":")[0].replace(".", "/")
    return next((path for path in (base.with_name(f"{base.name}.py"), base / "__init__.py") if path.is_file()), None)


def own_identity(name: str, folder: Path) -> str:
    """What stands for `python:module:name` in a cache's keys: with the digest of its file, where that is the user's."""
    source = own_source(name, folder)
    return name if source is None else f"{name} sha256:{digest_file(source)}"


def said(error: BaseException) -> str:
    """The kind of an error and the first line of its message, at most 300 characters."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001 - the user's own error may fail to say itself
        lines = []
    return plain(without_keys(": ".join([type(error).__name__, *lines[:1]])[:3000]))[:300]
