"""An HTML page read strictly: every tag that is opened is closed in its order, and tables come out as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import zip_longest

VOID = {"meta", "br", "hr", "img", "link", "input", "base", "source", "col", "area", "embed", "wbr"}
Attributes = list[tuple[str, str | None]]


@dataclass
class Row:
    """A table row: the section it is in, its cells' texts, and those of the headings above them."""

    section: str
    heads: list[str]
    cells: list[str] = field(default_factory=list)

    @property
    def said(self) -> list[str]:
        """Each cell's text with that of its heading, where n stands when it is the same for a whole column."""
        return [f"{cell} {head}" for cell, head in zip_longest(self.cells, self.heads, fillvalue="")]


class Page(HTMLParser):
    """`tags`: (name, attributes) in order; `text`: what a reader sees; `rows`: every table row."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[Row] = []
        self.ids: list[str] = []
        self._open: list[tuple[str, str]] = []
        self._parts: list[str] = []
        self._heads: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"never closed: {self._open}"
        self.text = "".join(self._parts)

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        given = dict(attrs)
        assert len(given) == len(attrs), f"an attribute of <{tag}> is there twice"
        self.tags.append((tag, given))
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag not in VOID:
            self._open.append((tag, str(given.get("id") or "")))
        if tag == "table":
            self._heads = []
        if tag == "tr":
            self.rows.append(Row(self._section(), [] if self._inside("thead") else self._heads))
        if tag in {"td", "th"}:
            self.rows[-1].cells.append("")

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1][0] == tag, f"</{tag}> closes {self._open[-1:]}"
        self._open.pop()
        if tag == "thead":
            self._heads = self.rows[-1].cells

    def handle_data(self, data: str) -> None:
        if self._inside("style"):
            return
        self._parts.append(data)
        if self._inside("td") or self._inside("th"):
            self.rows[-1].cells[-1] += data + " "

    def of(self, section: str, first: str) -> list[Row]:
        """The rows of a section whose first cell begins with this text."""
        return [row for row in self.rows if row.section == section and row.cells[0].strip().startswith(first)]

    def _inside(self, tag: str) -> bool:
        return any(name == tag for name, _ in self._open)

    def _section(self) -> str:
        return next((name for tag, name in reversed(self._open) if tag == "section" and name), "")
