"""Passages of whole pages."""

from __future__ import annotations

from ..cut_points import Stretch
from ..text import DocumentText, Span


def by_pages(text: DocumentText, size: int) -> list[Span]:
    """`size` pages each, counted from the first page with text of every stretch; pages without text make none."""
    return [span for stretch in text.stretches for span in _pages(text, stretch, size)]


def _pages(text: DocumentText, stretch: Stretch, size: int) -> list[Span]:
    found: dict[int, list[Span]] = {}
    first = text.page_at(stretch.spans[0][0])
    for word in stretch.spans:
        found.setdefault((text.page_at(word[0]) - first) // size, []).append(word)
    return [(words[0][0], words[-1][1]) for words in found.values()]
