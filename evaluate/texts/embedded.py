"""Texts as vectors, each text once for all that compare texts in a run, in batches; long ones in stretches.

Every text gets the same prefix, since both of what is compared are texts of one kind: E5's "query: ", which its authors
give for symmetric tasks (Wang et al. 2022, arXiv:2212.03533, and the model card), or what the model declares for
passages, or none. What is longer than the model reads is embedded in stretches, whose vectors are averaged by their
length in tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import isinf
from typing import Any

import numpy as np

from ragassay.arrays import Floats
from ragassay.errors import MissingExtra
from ragassay.models.encoders import load_encoder, prompt_for
from ragassay.text import plain

from .windows import n_tokens, windows

BLOCK = 256
"""How many texts are held against all others at a time."""

_SHOWN = 60


class Embedded:
    """The vectors of one embedding model (a name, a folder or a hub name), which is loaded when first needed."""

    def __init__(self, model: str) -> None:
        self.name = model
        self._waiting: set[str] = set()
        self._rows: dict[str, list[tuple[int, Any]]] = {}

    @cached_property
    def model(self) -> Any:
        """The loaded model. Raises InputError, MissingExtra."""
        try:
            return load_encoder(self.name)
        except ModuleNotFoundError as error:
            raise MissingExtra(f"an embedding needs {error.name}, which", "local") from None

    def add(self, texts: Iterable[str]) -> None:
        """Texts whose vectors will be wanted: they are embedded together, when the first of them is."""
        self._waiting.update(text for text in texts if text not in self._rows)

    def vector(self, text: str) -> Floats:
        """(dimension,): the vector of a text, of any length. Raises InputError, and whatever the model does."""
        if text not in self._rows:
            waiting, self._waiting = sorted({*self._waiting, text}), set()
            self._embed(waiting)
        rows = self._rows[text]
        total: Floats = np.zeros(np.shape(rows[0][1])[-1])
        for weight, row in rows:
            values = np.asarray(row, dtype=np.float64)
            total += weight * values / (np.linalg.norm(values) or 1.0)
        return total

    def cosine(self, one: str, other: str) -> float:
        """How near two texts are, -1 to 1. Raises ValueError where one of them has no vector."""
        a, b = self.vector(one), self.vector(other)
        lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
        if not np.isfinite(lengths) or lengths == 0:
            raise ValueError(f"{self.name} gives no vector")
        return float(np.clip(a @ b / lengths, -1.0, 1.0))

    def nearest(self, texts: Sequence[str], others: Sequence[str]) -> tuple[Floats, list[str]]:
        """Of each text the highest cosine to one of the others, and the first of those that have it.

        (texts,) and as many texts. Raises ValueError where a text has no vector, or there are no others.
        """
        self.add([*texts, *others])
        distinct, against = list(dict.fromkeys(texts)), list(dict.fromkeys(others))
        columns = self._units(against).T
        found: dict[str, tuple[float, str]] = {}
        for start in range(0, len(distinct), BLOCK):
            block = distinct[start : start + BLOCK]
            near = np.clip(self._units(block) @ columns, -1.0, 1.0)
            best = near.argmax(axis=1)
            for text, row, place in zip(block, near, best, strict=True):
                found[text] = float(row[place]), against[place]
        return np.array([found[text][0] for text in texts]), [found[text][1] for text in texts]

    def _units(self, texts: Sequence[str]) -> Floats:
        """(texts, dimension): vectors of length 1."""
        vectors = np.stack([self.vector(text) for text in texts])
        lengths = np.linalg.norm(vectors, axis=1)
        for text, length in zip(texts, lengths, strict=True):
            if not np.isfinite(length) or length == 0:
                raise ValueError(f"{self.name} gives no vector for '{plain(text[:_SHOWN])}'")
        units: Floats = vectors / lengths[:, None]
        return units

    def _embed(self, texts: Sequence[str]) -> None:
        model, limit = self.model, _limit(self.model)
        prompt = prompt_for(self.name, model.prompts, "query")
        if prompt != "query: ":
            prompt = prompt_for(self.name, model.prompts, "passage")
        parts = [(text, part) for text in texts for part in self._parts(text, prompt, limit)]
        rows = model.encode([part for _, part in parts], prompt=prompt, batch_size=32, show_progress_bar=False)
        made: dict[str, list[tuple[int, Any]]] = {text: [] for text in texts}
        for (text, part), row in zip(parts, rows, strict=True):
            made[text].append((n_tokens(part, model.tokenizer) if limit else 1, row))
        self._rows |= made

    def _parts(self, text: str, prompt: str, limit: int | None) -> list[str]:
        """The text in stretches that the model reads whole, one for nearly every text."""
        if not limit:
            return [text]
        tokenizer = self.model.tokenizer
        room = limit - n_tokens(prompt, tokenizer) - tokenizer.num_special_tokens_to_add() - 2
        return windows(text, tokenizer, max(room, 1)) or [text]


class Embeddings:
    """The embedding models of a run, each once."""

    def __init__(self) -> None:
        self._models: dict[str, Embedded] = {}

    def of(self, model: str) -> Embedded:
        """The vectors of a model."""
        return self._models.setdefault(model, Embedded(model))


def _limit(model: Any) -> int | None:
    """How many tokens the model reads, None for any number (static embeddings)."""
    limit = model.max_seq_length
    return None if limit is None or isinf(limit) else int(limit)
