"""What people's questions look like: those of the experts, and, where these are few, those of other people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from .energy_distance import Array, Sample
from .features import Features

DEFAULTS = "defaults.json"
"""Figures of people's questions from two collections; `python -m benchmarks.questions.people SCIFACT` makes it."""
WEIGHT = 20
"""How many questions the defaults weigh as: n experts weigh n / (n + WEIGHT)."""


def default_points() -> Array:
    """The questions of `defaults.json`, a row of Features each."""
    text = files("ragassay").joinpath("synth", "choosing", DEFAULTS).read_text(encoding="utf-8")
    value = json.loads(text)
    if tuple(value["features"]) != Features._fields:
        raise ValueError(f"{DEFAULTS} has other features; make it again")
    return np.array([row for collection in value["collections"] for row in collection["rows"]], float)


def people(experts: Sequence[Features]) -> Sample:
    """What questions are chosen to look like: n experts' weigh n / (n + 20), the defaults the rest."""
    points = np.array(experts, float).reshape(-1, len(Features._fields))
    return Sample.mixed(points, default_points(), len(experts) / (len(experts) + WEIGHT))
