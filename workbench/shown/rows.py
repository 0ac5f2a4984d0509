"""A row of the list: its question with the words looked for, and its agents' values as small marks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..index.read import Measure
from .listed import Values

BEFORE, BEHIND = 60, 120
"""Characters that are shown of an answer before and behind the first word that was looked for."""


@dataclass(frozen=True)
class Mark:
    """An agent's value for a query; share: where it lies between the ends of the measure's scale, 0 to 1, of one
    without an upper end between its lowest and the highest agent's; both are None where it has none."""

    agent: str
    value: float | None
    share: float | None


@dataclass(frozen=True)
class Row:
    """A query of the list. text: its question in parts, with whether each was looked for; found: of an answer, where
    only an answer has the words; mean, spread: of the marks' values, None without any."""

    query: Mapping[str, Any]
    text: Sequence[tuple[str, bool]]
    found: Sequence[tuple[str, bool]]
    marks: Sequence[Mark]
    mean: float | None
    spread: float | None


def row_of(
    query: Mapping[str, Any], answers: Iterable[str], words: str, measure: Measure | None, values: Values | None
) -> Row:
    """The row of one query. `answers` are looked at only where the question does not have the words."""
    text = marked(query["text"], words)
    found = () if not words or any(there for _, there in text) else _of_answers(answers, words)
    place = query["place"]
    if measure is None or values is None:
        return Row(query, text, found, (), None, None)
    given = {agent: float(column[place]) for agent, column in values.by_agent.items()}
    known = [value for value in given.values() if not math.isnan(value)]
    high = max(known, default=measure.low) if math.isinf(measure.high) else measure.high
    marks = [_mark(agent, value, measure.low, high) for agent, value in given.items()]
    return Row(query, text, found, marks, _there(values.mean[place]), _there(values.spread[place]))


def marked(text: str, words: str) -> list[tuple[str, bool]]:
    """The text in parts, with whether each begins as a word that was looked for, letter case aside."""
    wanted = [re.escape(word) for word in words.split()]
    if not wanted:
        return [(text, False)]
    parts = re.split(rf"(?<![^\W_])({'|'.join(sorted(wanted, key=len, reverse=True))})", text, flags=re.IGNORECASE)
    return [(part, index % 2 == 1) for index, part in enumerate(parts) if part]


def _of_answers(answers: Iterable[str], words: str) -> list[tuple[str, bool]]:
    for answer in answers:
        at = 0
        for part, there in marked(answer, words):
            if there:
                start, end = max(at - BEFORE, 0), at + BEHIND
                some = ("… " if start else "") + " ".join(answer[start:end].split()) + (" …" * (end < len(answer)))
                return marked(some, words)
            at += len(part)
    return []


def _mark(agent: str, value: float, low: float, high: float) -> Mark:
    there = _there(value)
    share = None if there is None or high <= low else min(max((there - low) / (high - low), 0.0), 1.0)
    return Mark(agent, there, share)


def _there(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
