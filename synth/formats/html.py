"""HTML as Markdown: its words, headings, lists, tables and code; no scripts, no addresses, nothing fetched."""

from __future__ import annotations

from typing import Any

from .paging import Converted, UnreadableDocument
from .plain import decoded, paged_markdown

LEFT_OUT = ["script", "style", "template", "noscript", "iframe", "object", "embed", "svg", "head"]


def convert_html(data: bytes) -> Converted:
    """Its text in Markdown. What is nested too deeply to be walked is taken without its form.

    The parser is Python's own: it knows no document type, so that entities, however they are declared, stand for
    nothing. Raises UnreadableDocument.
    """
    from bs4 import BeautifulSoup
    from bs4.exceptions import ParserRejectedMarkup
    from markdownify import MarkdownConverter

    try:
        soup = BeautifulSoup(_text_or_bytes(data), "html.parser")
    except (ParserRejectedMarkup, RecursionError) as error:
        raise UnreadableDocument(f"is no HTML that can be read ({type(error).__name__})") from error
    _clean(soup)
    converter = MarkdownConverter(
        heading_style="ATX", bullets="-", strip=["a"], escape_asterisks=False, escape_underscores=False
    )
    try:
        return paged_markdown(converter.convert_soup(soup))
    except RecursionError:
        return paged_markdown(soup.get_text("\n", strip=True))


def _text_or_bytes(data: bytes) -> str | bytes:
    """UTF-8 where it is that; else bytes, whose encoding is looked for in what the page says of itself."""
    try:
        return decoded(data)
    except UnreadableDocument:
        if b"\0" in data:
            raise
        return data


def _clean(soup: Any) -> None:
    """Without what is not read, and with the words of pictures in their places."""
    from bs4.element import PreformattedString

    for tag in soup(LEFT_OUT):
        tag.extract()
    for text in soup.find_all(string=lambda text: isinstance(text, PreformattedString)):
        text.extract()
    for picture in soup("img"):
        picture.replace_with(str(picture.get("alt") or ""))
