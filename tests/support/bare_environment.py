"""The packages that ragassay needs and none of its extras, linked out of the environment that runs the tests."""

from __future__ import annotations

import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.places import ROOT


def link_dependencies(folder: Path) -> Path:
    """Make the folder with a link to each package that `dependencies` of pyproject.toml and theirs name."""
    folder.mkdir(parents=True)
    named = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    for found in _needed([Requirement(text) for text in named]):
        site = Path(str(found.locate_file("")))
        for top in {file.parts[0] for file in found.files or () if ".." not in file.parts} - {"__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(site / top)
    return folder


def _needed(waiting: list[Requirement]) -> list[Distribution]:
    """The distributions of the requirements and of all that they require."""
    found: dict[tuple[str, ...], Distribution] = {}
    while waiting:
        wanted = waiting.pop()
        key = (canonicalize_name(wanted.name), *sorted(wanted.extras))
        if key not in found:
            found[key] = distribution(wanted.name)
            theirs = [Requirement(text) for text in found[key].requires or ()]
            waiting += [one for one in theirs if _applies(one, wanted.extras)]
    return list(found.values())


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))
