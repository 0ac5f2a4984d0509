"""Pools of questions with traits and looks, made up for choosing among them."""

from __future__ import annotations

import numpy as np

from ragassay.experiment.tables import QuestionsSettings
from ragassay.records import Query
from ragassay.synth.looks import Features

A, B = "x:a", "x:b"
KINDS = {"fact": 0.5, "several": 0.25, "keyword": 0.25}
Traits = tuple[str, str, int, bool]
"""Model, kind, section, blind; three sections are a document."""


def query(number: int, traits: Traits) -> Query:
    model, kind, section, blind = traits
    place = {"doc": f"d{section // 3}", "section": f"s{section}"}
    return Query(id=f"q-{number:05}", text="?", metadata={"model": model, "kind": kind, "blind": blind, **place})


def settings(quota: dict[str, int], **table: object) -> QuestionsSettings:
    return QuestionsSettings.model_validate({"quota": quota, "kinds": KINDS} | table)


def looks(n: int, words: float, rng: np.random.Generator) -> list[Features]:
    """Questions of about so many words; in all else they are drawn from one distribution."""
    found = []
    for _ in range(n):
        length, form = rng.normal(words, 3.0), np.eye(4)[rng.choice(4, p=[0.7, 0.15, 0.1, 0.05])]
        shared, run = rng.beta(4, 3), rng.beta(1.5, 8)
        found.append(Features(length, 6 * length, shared, run, rng.poisson(1.0), *form, rng.random() < 0.2))
    return found
