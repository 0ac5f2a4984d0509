"""One document of a kind that is no PDF, converted within bounds: the file's size, and the memory that it may take."""

from __future__ import annotations

from pathlib import Path

from ..pdf.memory import memory_limited, too_much
from .paging import Converted, UnreadableDocument

MOST_BYTES = 50_000_000
MOST_MEMORY = 4_000_000_000
"""In bytes, while a document is converted."""


def convert(path: str, kind: str) -> Converted:
    """The pages and headings of the document. Raises UnreadableDocument."""
    try:
        if Path(path).stat().st_size > MOST_BYTES:
            raise UnreadableDocument(f"is larger than {MOST_BYTES / 1e6:.0f} MB; divide it")
        with memory_limited(MOST_MEMORY):
            return _convert(path, kind)
    except OSError as error:
        raise UnreadableDocument(f"cannot be opened ({error.strerror or error})") from error
    except MemoryError as error:
        raise UnreadableDocument(too_much(MOST_MEMORY)) from error


def _convert(path: str, kind: str) -> Converted:
    if kind == "docx":
        from .docx import convert_docx

        return convert_docx(path)
    data = Path(path).read_bytes()
    if kind == "html":
        from .html import convert_html

        return convert_html(data)
    from .plain import convert_markdown, convert_text

    return convert_markdown(data) if kind == "markdown" else convert_text(data)
