"""Whether a question repeats one that was asked before: in nearly the same words, or in others with the same meaning.

Meaning is held against meaning by the cosine of embeddings. Models differ in how near unrelated texts stand, so the
cosine that counts as a repetition lies at the same part of the way from there to 1 for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .near_duplicates import Seen, Shape, shape_of

ALIKE = 0.84
"""Part of the way from unrelated questions to equal ones at which two ask the same (docs/questions.md)."""

UNRELATED = (
    "What time does the museum open on Sundays?",
    "How do I make sourdough bread rise better?",
    "Which vaccine is given against measles?",
    "Why does my car make a noise when braking?",
    "Who won the election of 1912?",
    "How can I reset my password?",
    "What is the capital gains tax on shares?",
    "Does aspirin thin the blood?",
    "How tall can a maple tree grow?",
    "Why was the flight cancelled?",
    "How do I connect a printer without a cable?",
    "Is a contract binding without a signature?",
)
"""Questions that have nothing to do with one another; the mean cosine of each two is where a model puts such."""

Embed = Callable[[Sequence[str]], npt.NDArray[np.floating]]
"""Questions to a row each, of any length but zero."""


@dataclass(frozen=True)
class Meanings:
    """rows: a vector of length 1 for each text. threshold: the cosine from which on two texts ask the same."""

    rows: Mapping[str, npt.NDArray[np.float32]]
    threshold: float

    @classmethod
    def of(cls, embed: Embed, texts: Iterable[str]) -> Meanings:
        """The meanings of those texts. Raises what `embed` does."""
        wanted = list(dict.fromkeys([*UNRELATED, *texts]))
        vectors = embed(wanted).astype(np.float32)
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        apart = vectors[: len(UNRELATED)] @ vectors[: len(UNRELATED)].T
        unrelated = float(apart[np.triu_indices(len(UNRELATED), 1)].mean())
        return cls(dict(zip(wanted, vectors, strict=True)), unrelated + ALIKE * (1 - unrelated))


class Asked:
    """Questions asked so far, with a name for each, to hold a new one against. meanings: None for words alone."""

    def __init__(self, language: str, meanings: Meanings | None = None) -> None:
        self._language, self._meanings, self._words = language, meanings, Seen(language)
        self._names: list[tuple[str, Shape]] = []
        self._rows: list[npt.NDArray[np.float32]] = []

    def add(self, name: str, text: str) -> None:
        """Remember a question under a name. With meanings, its text must be among them."""
        self._words.add(name, text)
        if self._meanings:
            self._names.append((name, shape_of(text, self._language)))
            self._rows.append(self._meanings.rows[text])

    def repeated(self, text: str) -> str | None:
        """The name of the question that this one repeats, and how where not by its words; None where it is new.

        By meaning it is the nearest one at or above the threshold, the earliest of equals; two questions of which each
        names a thing that the other does not (`UART0`, `UART1`) never repeat one another.
        """
        return self._words.nearest(text) or self._by_meaning(text)

    def _by_meaning(self, text: str) -> str | None:
        if not self._meanings or not self._rows:
            return None
        cosines = np.round(np.stack(self._rows) @ self._meanings.rows[text], 4)
        shape = shape_of(text, self._language)
        near = [index for index in np.flatnonzero(cosines >= self._meanings.threshold) if self._may(shape, int(index))]
        best = min(near, key=lambda index: (-cosines[index], index), default=None)
        return None if best is None else f"{self._names[best][0]}, in other words (cosine {cosines[best]:.2f})"

    def _may(self, shape: Shape, index: int) -> bool:
        other = self._names[index][1]
        return shape.names <= other.words or other.names <= shape.words
