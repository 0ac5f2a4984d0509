"""Labels: whole numbers, or words that count by their place from 0; as numbers, and as the type of a reply's field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator


def number_of(label: str, labels: Sequence[str]) -> float:
    """A whole number as it is, a word by its place from 0."""
    return float(label) if are_numbers(labels) else float(labels.index(label))


def are_numbers(labels: Sequence[str]) -> bool:
    """Whether labels are whole numbers, in plain digits (there are others, such as ²), and not words."""
    return all(label.isascii() and label.isdigit() for label in labels)


def whole(value: object) -> object:
    """Refuse what JSON or Python would quietly take for a whole number: true, 2.0, "2"."""
    if type(value) is not int:
        raise ValueError("the label must be a whole number on the scale")
    return value


def label_type(labels: tuple[str, ...]) -> Any:
    """The type of a schema's field that holds one of `labels`: whole numbers, or words."""
    if are_numbers(labels):
        return Annotated[Literal[tuple(int(label) for label in labels)], BeforeValidator(whole)]
    return Literal[labels]


LABELS = ("0", "1", "2")
"""The scale of relevance and of pointwise grades as single tokens: 0 not, 1 somewhat, 2 very (or fully)."""

Label = Annotated[Literal[0, 1, 2], BeforeValidator(whole)]
"""The same in a schema."""
