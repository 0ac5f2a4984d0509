"""What a stage depends on besides the files of stages before it: settings, and files of the user's own.

Each folder with stages says in its `dependencies` which these are. They stand by name in the stage's manifest, and a
stage runs again where one of them is not as it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import __version__
from .settings import Experiment
from .workspace import Workspace

SHAPING = {
    "base_url",
    "temperature",
    "top_p",
    "seed",
    "presence_penalty",
    "max_tokens",
    "prices_usd_per_million",
}
"""The settings of a model that shape a reply, or what it is said to cost; how it is reached does not."""


def tables(experiment: Experiment, *names: str, models: tuple[str, ...] = ()) -> dict[str, Any]:
    """The version, and every setting of the tables and models named: `TABLE.KEY` or `models.MODEL` to its value."""
    values: dict[str, Any] = {"ragassay": __version__}
    for name in names:
        for key, value in getattr(experiment, name).model_dump(mode="json").items():
            values[f"{name}.{key}"] = value
    for model in models:
        settings = experiment.settings_of(model)
        values[f"models.{model}"] = settings.model_dump(mode="json", include=SHAPING, exclude_none=True)
    return values


def own_files(workspace: Workspace, *names: str | None) -> list[Path]:
    """The files of the corpus folder that settings name; None where a setting names none."""
    return [workspace.corpus / name for name in names if name]


def own_modules(workspace: Workspace, *names: str) -> list[Path]:
    """The user's code that each `module:attribute` names: a file, or all files of a package in the corpus folder."""
    return [path for name in names for path in _module_files(workspace.corpus, name.partition(":")[0])]


def _module_files(corpus: Path, module: str) -> list[Path]:
    path, package = corpus / module.replace(".", "/"), corpus / module.partition(".")[0]
    inside = sorted(package.rglob("*.py")) if package.is_dir() else []
    return inside or [path.with_name(f"{path.name}.py")]
