"""The scale of labels: which there are, in what order, and which of them count as relevant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ragassay.arrays import Floats
from ragassay.errors import InputError
from ragassay.text import plain

from .confusion import spelt
from .label_tables import Label, Ratings

NO_ORDER = "the labels are words without an order; give it with --scale"
NO_NUMBERS = "the labels are words, not numbers"


@dataclass(frozen=True)
class Scale:
    """`labels` in order. A label that was seen and not declared keeps its own place, and is named in `outside`.

    positive: for each label whether it counts as relevant. relevant: the lowest that does (of words without an order,
    the only one), None where none was given or goes without saying: nothing is positive then. given: whether somebody
    named it.
    """

    labels: tuple[Label, ...]
    positive: tuple[bool, ...]
    numeric: bool
    ordered: bool
    relevant: Label | None
    declared: tuple[Label, ...]
    outside: tuple[Label, ...]
    given: bool = False

    @property
    def values(self) -> Floats:
        """(labels,): the labels as numbers; words are their places, 0, 1, …"""
        return np.array([x if isinstance(x, float) else i for i, x in enumerate(self.labels)], dtype=np.float64)

    def numbers(self, labels: Sequence[Label | None]) -> list[int | None]:
        """The place of each label on the scale, from 0; None for a missing label."""
        places = {label: place for place, label in enumerate(self.labels)}
        return [None if label is None else places[label] for label in labels]

    def of(self, seen: Collection[Label | None]) -> Scale:
        """The scale of these labels and those declared, as if there were no others."""
        held = {*self.declared, *seen}
        kept = [(label, flag) for label, flag in zip(self.labels, self.positive, strict=True) if label in held]
        labels, positive = tuple(label for label, _ in kept), tuple(flag for _, flag in kept)
        least = self.relevant
        if not self.given:
            least = _usual(self.declared or labels)
            positive = _positive(labels, least, self.ordered)
        outside = tuple(label for label in self.outside if label in held)
        return Scale(labels, positive, self.numeric, self.ordered, least, self.declared, outside, self.given)


def make_scale(ratings: Ratings, declared: Sequence[str] = (), relevant: str | None = None) -> Scale:
    """The scale of these ratings: the labels declared, and those seen.

    Numbers are in the order of numbers, words in that of `declared`, then by spelling. Without `relevant`, of two
    numbers the higher is relevant, of 0 and 1 it is 1, and on TREC's scales (-2 to 3) it is 2. Raises InputError for a
    label declared twice or of the other kind, and for a `relevant` that is no number or not on the scale.
    """
    seen = {label for column in ratings.labels for label in column if label is not None}
    own = tuple(_declared(text, ratings) for text in declared)
    if len(set(own)) < len(own):
        raise InputError("--scale names a label twice")
    outside = tuple(sorted(seen - set(own), key=_order)) if own else ()
    labels = tuple(sorted(seen | set(own), key=_order)) if ratings.numeric or not own else (*own, *outside)
    least = _relevant(relevant, labels, ratings) if relevant is not None else _usual(own or labels)
    ordered = ratings.numeric or bool(own)
    flags = _positive(labels, least, ordered)
    return Scale(labels, flags, ratings.numeric, ordered, least, own, outside, relevant is not None)


def _positive(labels: Sequence[Label], least: Label | None, ordered: bool) -> tuple[bool, ...]:
    if isinstance(least, float):
        return tuple(isinstance(label, float) and label >= least for label in labels)
    if least is None or not ordered:
        return tuple(label == least for label in labels)
    return tuple(place >= labels.index(least) for place, _ in enumerate(labels))


def _order(label: Label) -> tuple[float, str]:
    return (label, "") if isinstance(label, float) else (0.0, label)


def _declared(text: str, ratings: Ratings) -> Label:
    if not ratings.numeric:
        return text.strip()
    return _as_number(text, f"--scale has '{plain(text)}', and the labels of {ratings.file} are numbers")


def _relevant(text: str, labels: Sequence[Label], ratings: Ratings) -> Label:
    if ratings.numeric:
        return _as_number(text, f"--relevant is '{plain(text)}', and the labels of {ratings.file} are numbers")
    if text in labels:
        return text
    there = ", ".join(plain(spelt(label)) for label in labels[:20])
    problem = f"--relevant is '{plain(text)}', which is no label there"
    raise InputError(problem, file=ratings.file, remedy=f"labels that are words need one of them: {there}")


def _as_number(text: str, otherwise: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(otherwise) from None
    if not np.isfinite(value):
        raise InputError(otherwise)
    return value


def _usual(labels: Sequence[Label]) -> Label | None:
    numbers = sorted(label for label in labels if isinstance(label, float))
    if not numbers:
        return None
    if set(numbers) <= {0.0, 1.0}:
        return 1.0
    if len(numbers) == 2:
        return numbers[1]
    return 2.0 if set(numbers) <= {-2.0, -1.0, 0.0, 1.0, 2.0, 3.0} else None
