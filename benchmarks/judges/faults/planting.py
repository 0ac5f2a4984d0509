"""Putting a fault into a text, at a place and in a dress that a seed decides; and what the faults have in common."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping

Fault = Callable[[random.Random, str], str]
"""What is planted, for a seed and a language by its ISO 639 code."""

Faults = Mapping[str, Fault]
"""By kind."""

UNSPACED = frozenset({"ja", "zh"})
"""Languages whose sentences have no space between them."""

_ENDS = re.compile(r"(?<=[^\W\d_]{2}[.!?\u061f\u0964])\s+(?=\S)|(?<=[\u3002\uff01\uff1f])|\n+")


def planted(text: str, piece: str, chance: random.Random, language: str) -> str:
    """The text with the piece between two of its sentences, or behind the last."""
    places = [match.span() for match in _ENDS.finditer(text)] + [(len(text), len(text))]
    start, end = chance.choice(places)
    before, after = text[:start], text[end:]
    if language not in UNSPACED:
        return f"{before} {piece} {after}".strip()
    left = " " if before[-1:].isascii() else ""
    right = " " if after[:1].isascii() else ""
    return f"{before}{left}{piece}{right}{after}".strip()
