"""Long texts as stretches that a model can take whole, so that nothing is cut off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ragassay.errors import InputError

Span = tuple[int, int]


def windows(text: str, tokenizer: Any, size: int, overlap: int = 0) -> list[str]:
    """`text` in stretches of at most `size` tokens, each beginning `overlap` tokens before the last one ends.

    They end and begin between words where a word is shorter than a stretch, and together hold every character but the
    space around them. A text that fits is one stretch; one without tokens is none. tokenizer: a fast one of
    transformers. Raises InputError where it cannot say where its tokens stand.
    """
    if not 0 <= overlap < size:
        raise ValueError("overlap must be at least 0 and smaller than size")
    spans = _spans(text, tokenizer)
    return [text[spans[low][0] : spans[high - 1][1]] for low, high in _cuts(text, spans, size, overlap)]


def n_tokens(text: str, tokenizer: Any) -> int:
    """How many tokens a text has, without those that a model puts around it."""
    return len(_spans(text, tokenizer))


def _spans(text: str, tokenizer: Any) -> list[Span]:
    """The place of each token; of tokens that stand for one character together, the whole character."""
    if not getattr(tokenizer, "is_fast", False):
        raise InputError("the model's tokenizer does not say where tokens stand", remedy="take a model with a fast one")
    found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)
    return [(low, high) for low, high in found["offset_mapping"] if high > low]


def _cuts(text: str, spans: Sequence[Span], size: int, overlap: int) -> Iterator[Span]:
    """(first, last + 1) token of each stretch."""
    low = 0
    while low < len(spans):
        high = min(low + size, len(spans))
        if high < len(spans):
            high = _word_edge(text, spans, high, low + 1)
        yield low, high
        if high == len(spans):
            return
        low = max(_word_edge(text, spans, max(high - overlap, low + 1), low + 1), low + 1)


def _word_edge(text: str, spans: Sequence[Span], place: int, lowest: int) -> int:
    """The nearest token at or before `place`, from `lowest`, that begins a word; `place` where there is none."""
    for index in range(place, lowest - 1, -1):
        start = spans[index][0]
        if text[start].isspace() or text[start - 1].isspace():
            return index
    return place
