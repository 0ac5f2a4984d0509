"""The package of `tests/data/plugin` on the path, as pip would install it, without pip."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from .places import DATA

PACKAGE = DATA / "plugin"
MODULE = "ragassay_example"
PROJECT = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


class Installed:
    """A folder on the path where packages stand with their metadata."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(PACKAGE / f"{MODULE}.py", folder)

    def install(self, name: str = PROJECT["name"], version: str = PROJECT["version"], **more: dict[str, str]) -> None:
        """Write the metadata of the package, in the place of what was there of this name.

        more: a group ("judges") to entries that are added to its own, name to `module:Class`.
        """
        for old in self.folder.glob(f"{name}-*.dist-info"):
            shutil.rmtree(old)
        info = self.folder / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
        groups = {group: dict(entries) for group, entries in PROJECT["entry-points"].items()}
        for group, entries in more.items():
            groups.setdefault(f"ragassay.{group}", {}).update(entries)
        lines = [
            line
            for group, entries in groups.items()
            for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def plugin(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installed]:
    """The package, installed."""
    made = Installed(tmp_path_factory.mktemp("site"))
    made.install()
    monkeypatch.syspath_prepend(made.folder)
    yield made
    sys.modules.pop(MODULE, None)
