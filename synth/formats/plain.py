"""Markdown and plain text: the encoding, front matter, headings, and the pages that form feeds make."""

from __future__ import annotations

import codecs
import re
from itertools import accumulate, pairwise

from .paging import Converted, Heading, UnreadableDocument, check_number, paged

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^(?:---|\.\.\.)[ \t]*\n", re.DOTALL | re.MULTILINE)
_MARKS = re.compile(r"[*`]+|\s#+$")


def decoded(data: bytes) -> str:
    """The text, with "\\n" at the ends of its lines. Raises UnreadableDocument for what is not UTF-8 or UTF-16 text."""
    utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if utf_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        where = f"byte {error.start + 1}" if utf_16 else f"line {line}"
        raise UnreadableDocument(f"is not UTF-8 text ({where}); save it as UTF-8") from None
    if "\0" in text:
        raise UnreadableDocument("is not a text: it holds zero bytes")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def convert_text(data: bytes) -> Converted:
    """Plain text; form feeds, where there are some, end its pages. Raises UnreadableDocument."""
    text = decoded(data)
    if "\f" not in text:
        return paged(text)
    pages = text.removesuffix("\f").split("\f")
    check_number(pages)
    return Converted(pages, [], printed=True)


def convert_markdown(data: bytes) -> Converted:
    """Markdown as it stands; its headings are the outline. Raises UnreadableDocument."""
    return paged_markdown(decoded(data))


def paged_markdown(text: str) -> Converted:
    """The pages of a text in Markdown, with its headings as the outline."""
    return paged(text, _headings(text))


def _headings(text: str) -> list[Heading]:
    """The headings that CommonMark sees, not those in a front matter or in code."""
    from markdown_it import MarkdownIt

    front = _FRONT_MATTER.match(text)
    blank = re.sub(r"[^\n]", "", front[0]) + text[front.end() :] if front else text
    offset = len(text) - len(blank)
    starts = [0, *accumulate(len(line) + 1 for line in blank.split("\n"))]
    parser = MarkdownIt("commonmark").disable(["inline", "text_join"], ignoreInvalid=True)
    tokens = parser.parse(blank)
    return [
        Heading(starts[opened.map[0]] + offset, int(opened.tag[1:]), title)
        for opened, inline in pairwise(tokens)
        if opened.type == "heading_open" and opened.map and (title := _MARKS.sub("", inline.content).strip())
    ]
