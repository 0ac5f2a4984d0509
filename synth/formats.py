"""The documents that are no PDFs, text, Markdown, HTML and DOCX: their kinds, and their text as pages and headings.

They are converted in a worker process, so that no more of ragassay is imported here than its errors and bounds.
"""

from __future__ import annotations

import codecs
import importlib.util
import re
import zipfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ragassay.cores import memory_limited, too_much
from ragassay.errors import MissingExtra

PAGE_CHARACTERS = 3000
"""About what a printed page holds."""

MOST_PAGES = 100_000


class UnreadableDocument(Exception):
    """A document that cannot be converted; the message says why and, where known, what to do."""


class Heading(NamedTuple):
    """A heading: where its line begins in the text, its depth (1 is the top) and its title."""

    start: int
    level: int
    title: str


class Converted(NamedTuple):
    """A document's pages, its headings as (page from 1, depth, title), and whether its pages are those of paper."""

    pages: list[str]
    outline: list[tuple[int, int, str]]
    printed: bool = False


def paged(text: str, headings: Sequence[Heading] = ()) -> Converted:
    """The text in pages of at most PAGE_CHARACTERS.

    Each is cut as late as may be before a heading in its second half, or else between paragraphs, lines or words there.
    Raises UnreadableDocument for more than MOST_PAGES.
    """
    starts, begins = [0], [heading.start for heading in headings]
    while len(text) - starts[-1] > PAGE_CHARACTERS:
        half, full = starts[-1] + PAGE_CHARACTERS // 2, starts[-1] + PAGE_CHARACTERS
        found = ((text.rfind(mark, half, full), len(mark)) for mark in ("\n\n", "\n", " "))
        start = next((place + length for place, length in found if place >= 0), full)
        before = bisect_right(begins, full)
        starts.append(begins[before - 1] if before and begins[before - 1] > half else start)
    pages = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    check_number(pages)
    outline = [(bisect_right(starts, one.start), one.level, one.title) for one in headings]
    return Converted(pages, outline)


def check_number(pages: Sequence[str]) -> None:
    """Raises UnreadableDocument for more than MOST_PAGES."""
    if len(pages) > MOST_PAGES:
        raise UnreadableDocument(f"has more than {MOST_PAGES:,} pages; divide it")


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


def paged_markdown(text: str) -> Converted:
    """The pages of a text in Markdown; the outline is the headings that CommonMark sees, not those in a front matter or
    in code."""
    from markdown_it import MarkdownIt

    front = _FRONT_MATTER.match(text)
    blank = re.sub(r"[^\n]", "", front[0]) + text[front.end() :] if front else text
    offset = len(text) - len(blank)
    starts = [0, *accumulate(len(line) + 1 for line in blank.split("\n"))]
    tokens = MarkdownIt("commonmark").disable(["inline", "text_join"], ignoreInvalid=True).parse(blank)
    headings = [
        Heading(starts[opened.map[0]] + offset, int(opened.tag[1:]), title)
        for opened, inline in pairwise(tokens)
        if opened.type == "heading_open" and opened.map and (title := _MARKS.sub("", inline.content).strip())
    ]
    return paged(text, headings)


MOST_MEMBERS = 10_000
MOST_UNPACKED_BYTES = 300_000_000
MOST_XML_BYTES = 60_000_000
"""Unpacked, of the whole and of one XML file in it: a tree takes some ten times as much memory."""

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_HEADING = re.compile(r"heading ([1-6])$", re.IGNORECASE)
_CONTENTS = re.compile(r"toc \d|table of figures", re.IGNORECASE)
_ITEM = re.compile(r"list( bullet| number| paragraph)?( \d)?$", re.IGNORECASE)


def convert_docx(path: str) -> Converted:
    """Its text in Markdown. Raises UnreadableDocument for what is no DOCX, is encrypted, or unpacks to too much.

    Deleted text of tracked changes is left out, inserted text and that of fields, controls and boxes is taken. Headers,
    feet, comments and pictures are not.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise UnreadableDocument("is no DOCX, or one with a password; save a DOCX without one") from error
    size = sum(one.file_size for one in members)
    largest = max((one.file_size for one in members if one.filename.endswith((".xml", ".rels"))), default=0)
    if len(members) > MOST_MEMBERS or size > MOST_UNPACKED_BYTES or largest > MOST_XML_BYTES:
        raise UnreadableDocument(f"unpacks to {size / 1e6:,.0f} MB in {len(members):,} files; divide it")
    from docx import Document
    from docx.opc.exceptions import PackageNotFoundError
    from lxml.etree import LxmlError

    try:
        document = Document(path)
        styles = {style.style_id: style.name or "" for style in document.styles}
        lines = [line for block in _blocks(document.element.body, styles) for line in (block, "")]
        lines += _notes(document.part)
    except (LxmlError, PackageNotFoundError, zipfile.BadZipFile, KeyError, ValueError, RecursionError) as error:
        raise UnreadableDocument(f"is broken or no DOCX ({type(error).__name__})") from error
    return paged_markdown("\n".join(lines))


def _blocks(parent: Any, styles: dict[str, str]) -> Iterator[str]:
    """Each paragraph and table below, in order; what only holds others, such as a content control, is walked into."""
    for element in parent:
        if element.tag == f"{_W}p":
            yield from filter(None, [_paragraph(element, styles)])
        elif element.tag == f"{_W}tbl":
            rows = [_of(row, "tc") for row in _of(element, "tr")]  # a cell's paragraphs stand behind one another
            cells = [[" ".join(_text(cell).split()).replace("|", "/") for cell in row] for row in rows]
            lines = [f"| {' | '.join(row)} |" for row in cells]
            yield "\n".join([*lines[:1], "|" + " --- |" * len(rows[0]), *lines[1:]]) if rows else ""
        elif element.tag not in {_FALLBACK, f"{_W}del", f"{_W}moveFrom"}:
            yield from _blocks(element, styles)


def _paragraph(element: Any, styles: dict[str, str]) -> str:
    text = _text(element).strip()
    named = element.find(f"{_W}pPr/{_W}pStyle")
    style = styles.get(named.get(f"{_W}val"), "") if named is not None else ""
    if not text or _CONTENTS.match(style):
        return ""
    if heading := _HEADING.match(style):
        return f"{'#' * int(heading[1])} {' '.join(text.split())}"
    if style.lower() == "title":
        return f"# {' '.join(text.split())}"
    numbered = element.find(f"{_W}pPr/{_W}numPr") is not None
    return f"- {text}" if numbered or (_ITEM.match(style) and style.lower() != "list paragraph") else text


def _text(element: Any) -> str:
    """The words of an element. Text boxes stand twice in a file, once for readers of old: those are passed over."""
    return "".join(_pieces(element))


def _pieces(element: Any) -> Iterator[str]:
    for child in element:
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in {f"{_W}tab", f"{_W}br", f"{_W}cr"}:
            yield " " if child.tag == f"{_W}tab" else "\n"
        elif child.tag in {f"{_W}footnoteReference", f"{_W}endnoteReference"}:
            yield f"[^{_mark(child)}]"
        elif child.tag not in {_FALLBACK, f"{_W}del", f"{_W}moveFrom", f"{_W}pPr", f"{_W}rPr"}:
            yield from _pieces(child)
            yield "\n" if child.tag == f"{_W}p" else ""


def _mark(element: Any) -> str:
    kind = "e" if "endnote" in element.tag else ""
    return f"{kind}{element.get(f'{_W}id')}"


def _of(element: Any, name: str) -> list[Any]:
    """Its rows or cells, those in controls too, but not those of a table within it."""
    return [one for one in element.iter(f"{_W}{name}") if next(one.iterancestors(element.tag)) is element]


def _notes(part: Any) -> Iterator[str]:
    """Footnotes and endnotes, behind everything."""
    from docx.oxml import parse_xml

    for relation in part.rels.values():
        if relation.is_external or relation.reltype not in {f"{_NOTES}footnotes", f"{_NOTES}endnotes"}:
            continue
        for note in parse_xml(relation.target_part.blob):
            text = " ".join(_text(note).split())
            if text and note.get(f"{_W}type") is None:
                yield from (f"[^{_mark(note)}]: {text}", "")


LEFT_OUT = ["script", "style", "template", "noscript", "iframe", "object", "embed", "svg", "head"]


def convert_html(data: bytes) -> Converted:
    """Its text in Markdown. What is nested too deeply to be walked is taken without its form.

    The parser is Python's own: it knows no document type, so that entities, however they are declared, stand for
    nothing. Raises UnreadableDocument.
    """
    from bs4 import BeautifulSoup
    from bs4.element import PreformattedString
    from bs4.exceptions import ParserRejectedMarkup
    from markdownify import MarkdownConverter

    text: str | bytes
    try:
        text = decoded(data)
    except UnreadableDocument:  # not UTF-8: the encoding is looked for in what the page says of itself
        if b"\0" in data:
            raise
        text = data
    try:
        soup = BeautifulSoup(text, "html.parser")
    except (ParserRejectedMarkup, RecursionError) as error:
        raise UnreadableDocument(f"is no HTML that can be read ({type(error).__name__})") from error
    for left_out in (*soup(LEFT_OUT), *soup.find_all(string=lambda text: isinstance(text, PreformattedString))):
        left_out.extract()
    for picture in soup("img"):
        picture.replace_with(str(picture.get("alt") or ""))
    converter = MarkdownConverter(
        heading_style="ATX", bullets="-", strip=["a"], escape_asterisks=False, escape_underscores=False
    )
    try:
        return paged_markdown(converter.convert_soup(soup))
    except RecursionError:
        return paged_markdown(soup.get_text("\n", strip=True))


MOST_FILE_BYTES = 50_000_000
MOST_MEMORY = 4_000_000_000
"""In bytes, while a document is converted."""


def convert(path: str, kind: str) -> Converted:
    """The pages and headings of the document. Raises UnreadableDocument."""
    try:
        if Path(path).stat().st_size > MOST_FILE_BYTES:
            raise UnreadableDocument(f"is larger than {MOST_FILE_BYTES / 1e6:.0f} MB; divide it")
        with memory_limited(MOST_MEMORY):
            if kind == "docx":
                return convert_docx(path)
            data = Path(path).read_bytes()
            if kind == "markdown":
                return paged_markdown(decoded(data))
            return convert_html(data) if kind == "html" else convert_text(data)
    except OSError as error:
        raise UnreadableDocument(f"cannot be opened ({error.strerror or error})") from error
    except MemoryError as error:
        raise UnreadableDocument(too_much(MOST_MEMORY)) from error


PDF = "pdf"

SUFFIXES = {".pdf": PDF, ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".docx": "docx"}
SUFFIXES |= dict.fromkeys((".html", ".htm", ".xhtml"), "html")

SETTINGS_TOO = frozenset({"markdown", "text"})
"""Kinds that prompts and notes beside the documents have as well."""

_NEEDS = {"html": ("markdownify", "bs4"), "docx": ("docx",)}


def kind_of(name: str) -> str | None:
    """The kind of a file, by its name; None for what is no document."""
    return SUFFIXES.get(Path(name).suffix.lower())


def check_packages(kinds: Iterable[str]) -> None:
    """Raises MissingExtra where a package that some of the kinds need is not installed."""
    needs = {kind: _NEEDS.get(kind, ()) for kind in set(kinds)}
    lacking = sorted(k for k, modules in needs.items() if any(importlib.util.find_spec(m) is None for m in modules))
    if lacking:
        raise MissingExtra(f"reading {' and '.join(lacking)}", "documents")
