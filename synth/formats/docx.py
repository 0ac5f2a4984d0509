"""Word's DOCX as Markdown: paragraphs, headings, lists, tables and notes, in the order of the document.

Deleted text of tracked changes is left out, inserted text and that of fields, controls and boxes is taken. Headers,
feet, comments and pictures are not.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import Any

from .paging import Converted, UnreadableDocument
from .plain import paged_markdown

MOST_MEMBERS = 10_000
MOST_BYTES = 300_000_000
MOST_XML_BYTES = 60_000_000
"""Unpacked, of the whole and of one XML file in it: a tree takes some ten times as much memory."""

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_NOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_HEADING = re.compile(r"heading ([1-6])$", re.IGNORECASE)
_CONTENTS = re.compile(r"toc \d|table of figures", re.IGNORECASE)
_ITEM = re.compile(r"list( bullet| number| paragraph)?( \d)?$", re.IGNORECASE)


def convert_docx(path: str) -> Converted:
    """Its text in Markdown. Raises UnreadableDocument for what is no DOCX, is encrypted, or unpacks to too much."""
    _check_size(path)
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


def _check_size(path: str) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise UnreadableDocument("is no DOCX, or one with a password; save a DOCX without one") from error
    sizes = [one.file_size for one in members]
    largest = max((one.file_size for one in members if one.filename.endswith((".xml", ".rels"))), default=0)
    if len(members) > MOST_MEMBERS or sum(sizes) > MOST_BYTES or largest > MOST_XML_BYTES:
        raise UnreadableDocument(f"unpacks to {sum(sizes) / 1e6:,.0f} MB in {len(members):,} files; divide it")


def _blocks(parent: Any, styles: dict[str, str]) -> Iterator[str]:
    """Each paragraph and table below, in order; what only holds others, such as a content control, is walked into."""
    for element in parent:
        if element.tag == f"{_W}p":
            yield from filter(None, [_paragraph(element, styles)])
        elif element.tag == f"{_W}tbl":
            yield _table(element)
        elif element.tag not in {_FALLBACK, f"{_W}del", f"{_W}moveFrom"}:
            yield from _blocks(element, styles)


def _paragraph(element: Any, styles: dict[str, str]) -> str:
    text = _text(element).strip()
    style = _style(element, styles)
    if not text or _CONTENTS.match(style):
        return ""
    if heading := _HEADING.match(style):
        return f"{'#' * int(heading[1])} {' '.join(text.split())}"
    if style.lower() == "title":
        return f"# {' '.join(text.split())}"
    numbered = element.find(f"{_W}pPr/{_W}numPr") is not None
    return f"- {text}" if numbered or (_ITEM.match(style) and style.lower() != "list paragraph") else text


def _style(element: Any, styles: dict[str, str]) -> str:
    named = element.find(f"{_W}pPr/{_W}pStyle")
    return styles.get(named.get(f"{_W}val"), "") if named is not None else ""


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


def _table(table: Any) -> str:
    """A line a row, as Markdown has it; a cell's paragraphs stand behind one another."""
    rows = [[" ".join(_text(cell).split()).replace("|", "/") for cell in _of(row, "tc")] for row in _of(table, "tr")]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines[:1], "|" + " --- |" * len(rows[0]), *lines[1:]]) if rows else ""


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
