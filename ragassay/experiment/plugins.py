"""What other packages bring, by entry point: a judge, a measure, a retriever, a layout.

An entry of the group `ragassay.judges`, `ragassay.measures`, … names a class; it is asked for by the entry's name, and
looked for only where a name is not ours, so that nothing of another package is loaded before somebody asks for it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import walk_packages
from typing import TypeVar

from ..errors import InputError
from ..text import listed, plain
from .own_code import said

T = TypeVar("T")


def classes_in(package: str, base: type[T]) -> list[type[T]]:
    """Ours: what the modules of a package and of those inside it define of a kind, in the order of the files."""
    found: list[type[T]] = []
    for module in walk_packages(import_module(package).__path__, f"{package}."):
        inside = vars(import_module(module.name)).values()
        kinds = [one for one in inside if isinstance(one, type) and one.__module__ == module.name]
        found += [one for one in kinds if issubclass(one, base) and one is not base]
    return found


def plugin(group: str, name: str, base: type[T]) -> type[T] | None:
    """The class that an installed package brings under this name, which subclasses `base`; None where none does.

    group: what it is, such as "judges". Raises InputError where two packages bring one of this name, where it cannot
    be imported, and where it is no class of that kind.
    """
    entry = _entry(group, name)
    return None if entry is None else _loaded(group, entry, base)


def plugins(group: str, base: type[T]) -> dict[str, type[T]]:
    """All that installed packages bring of a kind, by name, in the order of their names. Raises InputError likewise."""
    names = sorted({entry.name for entry in entry_points(group=f"ragassay.{group}")})
    return {name: found for name in names if (found := plugin(group, name, base))}


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
    whose = f"{_kind(group)} '{plain(entry.name)}' of {_package(entry)}"
    try:
        kind = entry.load()
    except (Exception, SystemExit) as error:
        raise InputError(f"{whose} cannot be imported ({said(error)})", remedy="mend or uninstall it") from error
    if not isinstance(kind, type) or not issubclass(kind, base):
        raise InputError(
            f"{whose}: {plain(entry.value)} is no subclass of {base.__name__}", remedy="mend or uninstall it"
        )
    return kind


def _package(entry: EntryPoint) -> str:
    return plain(f"{entry.dist.name} {entry.dist.version}") if entry.dist else "a package"


def _kind(group: str) -> str:
    one = group.removesuffix("s")
    return f"{'an' if one[0] in 'aeiou' else 'a'} {one}"
