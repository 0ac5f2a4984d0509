"""Documents of made-up words with holes between their pages, for the ways of cutting them."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from ragassay.synth.documents.text import DocumentText
from ragassay.synth.pdf.readers import OutlineEntry

WORDS = ["the", "Pump", "valve.", "seals", "(x)", "0x1F;", "ends!", "}", "手册", "泵。"]
WORDS += ["• item", "\n", "\n\n", "2.1 Oil\n"]

lines = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
page_numbers = st.lists(st.integers(1, 12), max_size=8, unique=True).map(sorted)


@st.composite
def documents(draw: st.DrawFn) -> DocumentText:
    numbers = draw(page_numbers)
    pages = tuple((number, draw(lines).strip("\n")) for number in numbers)
    return DocumentText("a/b.pdf", pages, tuple(OutlineEntry(number, 1, f"Part {number}") for number in numbers[::2]))


def solid(text: str) -> str:
    return re.sub(r"\s+", "", text)
