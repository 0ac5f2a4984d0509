"""What the stage `report` depends on besides files of stages before it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragassay.experiment.reading import tables
from ragassay.experiment.settings import Experiment

from . import TEMPLATES


def report_settings(experiment: Experiment) -> dict[str, Any]:
    """Those that shape the page."""
    values = tables(experiment) | {"retrieval.k": experiment.retrieval.k}
    questions = experiment.questions
    return values | {"questions.kinds": questions.kinds} if questions.from_needs else values


def report_templates() -> list[Path]:
    """The page's templates and styles."""
    return sorted(path for path in TEMPLATES.rglob("*") if path.is_file())
