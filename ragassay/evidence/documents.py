"""The documents' texts as evidence counts in them, from `pages.jsonl`: offsets, pages and quotes found in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..records import Page
from .quotes import Quotable
from .spans import Span


class Documents:
    """The text of each document: the texts of its pages, in the file's order, joined by newlines."""

    def __init__(self, pages: Iterable[Page]) -> None:
        texts: dict[str, list[str]] = {}
        self._pages: dict[str, dict[int, tuple[int, int]]] = {}
        lengths: dict[str, int] = {}
        for page in pages:
            start = lengths.get(page.doc, 0)
            texts.setdefault(page.doc, []).append(page.text)
            self._pages.setdefault(page.doc, {})[page.page] = (start, start + len(page.text))
            lengths[page.doc] = start + len(page.text) + 1
        self._texts: Mapping[str, Quotable] = {doc: Quotable("\n".join(parts)) for doc, parts in texts.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The documents, in the file's order."""
        return tuple(self._texts)

    def text(self, doc: str) -> str:
        """A document's text. Raises KeyError where it is not known."""
        return self._texts[doc].text

    def has_page(self, doc: str, page: int) -> bool:
        """Whether the document has a page of this number that was read and not left out."""
        return page in self._pages[doc]

    def of_pages(self, doc: str, first: int, last: int) -> Span:
        """From the beginning of one page to the end of another. Raises KeyError where it has not both."""
        pages = self._pages[doc]
        return Span(doc, pages[first][0], pages[last][1])

    def of_quote(self, doc: str, quote: str) -> Span | None:
        """The first place where the quote stands (`quotes.find_quote`); None where it does not."""
        found = self._texts[doc].find(quote)
        return Span(doc, *found) if found else None

    def has_twice(self, doc: str, quote: str) -> bool:
        """Whether the quote stands in several places of the document."""
        return self._texts[doc].has_twice(quote)

    def stripped(self, span: Span) -> Span | None:
        """The span without the white space at its ends; None where there is nothing else in it."""
        text = self.text(span.doc)[span.start : span.end]
        start = span.start + len(text) - len(text.lstrip())
        return Span(span.doc, start, start + len(text.strip())) if text.strip() else None
