"""One table for every place: columns, rows and notes, as HTML, in a terminal, as Markdown and as a data frame.

Texts are untrusted: they name files, agents and what models said. HTML and Markdown escape them, and everywhere what
steers a terminal or turns the reading direction is made visible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from .records import Figure
from .text import listed, one_line

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import Console, ConsoleOptions, RenderResult

GAP = 3
"""Cells of a terminal between two columns."""

_LONGEST_UNBROKEN, _LEAST_FOLDED, _NARROWEST = 24, 12, 16
NUMBER = re.compile(r"(?:[~−-]|< )?[\d.,]+%?|–|")
_MARKS = re.compile(r"([\\`*_\[\]<>|~&#$])")
_PARTS = {"value": "", "ci_low": " low", "ci_high": " high", "n": " n", "n_failed": " failed"}
"""Of a figure: what of it a data frame has, and what is added to the column's name for it."""
NO_COLOUR = 11


@dataclass(frozen=True)
class Cell:
    """A figure in words. Where there is no value, `value` is a dash and `why` the reason. Others may be ''.

    more: further lines in small letters; help: what a pointer is told; css: classes of the cell in HTML; figure: what
    the words were made of, for `to_pandas`.
    """

    value: str
    interval: str = ""
    n: str = ""
    failed: str = ""
    why: str = ""
    more: tuple[str, ...] = ()
    help: str = ""
    css: str = ""
    figure: Figure | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """In one line, `0.41 [0.35, 0.47] n 36, 2 failed`."""
        counts = ", ".join(part for part in (self.n, self.failed) if part)
        return " ".join(part for part in (self.value, self.interval, counts, self.why, *self.more) if part)


class Agent(str):
    """An agent's name, which pages show in the agent's colour."""

    __slots__ = ()


@dataclass(frozen=True)
class Group:
    """A row of its own above the rows that it is about: a name, and what is said of it in smaller letters."""

    name: str
    about: str = ""


Content = Cell | str
Row = Sequence[Content] | Group
"""A cell for each column; the first names the row. `Markup` stands as it is in HTML, and its text elsewhere."""


@dataclass(frozen=True)
class Column:
    """A heading and what it means.

    numbers: whether the cells count as numbers though some are words. keep: which columns give way first in a terminal
    without room for all, those of the highest number; 0 stays. fold: characters at which a terminal breaks the first
    column's cells, 0 for a third of its width.
    """

    name: str
    help: str = ""
    numbers: bool = False
    keep: int = 0
    fold: int = 0


@dataclass(frozen=True)
class Table:
    """caption: what it shows, for those who cannot see it. elsewhere: where columns stand that a terminal has no room
    for. Every row has a cell for each column. Raises ValueError where one has not."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    elsewhere: str = ""

    def __post_init__(self) -> None:
        """Check the rows."""
        for row in self.rows:
            if not isinstance(row, Group) and len(row) != len(self.columns):
                raise ValueError(f"{len(row)} cells in a row, and {len(self.columns)} columns")

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def cells(self, at: int) -> list[Content]:
        """Those of the column."""
        return [row[at] for row in self.rows if not isinstance(row, Group)]

    def _is_right(self, at: int) -> bool:
        """Whether a column holds figures or numbers, which stand right; of the first the column itself says it."""
        cells = self.cells(at)
        figures = any(isinstance(one, Cell) for one in cells)
        return self.columns[at].numbers or (at > 0 and (figures or all(map(NUMBER.fullmatch, map(str, cells)))))

    def _n(self, at: int) -> str:
        """How many values each figure of the column is taken over, where that is the same; else ''."""
        cells = (one for one in self.cells(at) if not isinstance(one, Cell) or one.value)
        given = {one.n if isinstance(one, Cell) else "" for one in cells}
        return given.pop() if len(given) == 1 else ""

    def _empty(self, at: int) -> str:
        """Why the column has no value, where that is the same for all and nothing failed; else ''."""
        reasons = {one.why if isinstance(one, Cell) and not one.failed else "" for one in self.cells(at)}
        return reasons.pop() if len(reasons) == 1 else ""

    def to_html(self, colours: Mapping[str, int] | None = None, css: str = "figures") -> Markup:
        """A table in a box that scrolls, with its notes below it. colours: agent to the number of its colour.

        Columns without any value are named below, with the reason; an n that all cells of a column share stands in the
        heading, one that all columns share below.
        """
        filled = [at for at in range(len(self.columns)) if at == 0 or not self._empty(at)]
        kept = filled if len(filled) > 1 else list(range(len(self.columns)))
        same = {self._n(at) for at in kept[1:]}
        n = same.pop() if len(same) == 1 else ""
        heads = []
        for at in kept:
            css_of = f' class="{"num" if self._is_right(at) else "words"}"' if at else ""
            small = f" <small>{_text(self._n(at))}</small>" if self._n(at) and not n else ""
            heads.append(f'<th scope="col"{css_of}>{html_of(self.columns[at].name, colours or {})}{small}</th>')
        body = "\n".join(f"<tr{self._html_of(row, kept, colours or {})}</tr>" for row in self.rows)
        parts = [
            f'<div class="scroll" tabindex="0" role="region" aria-label="{_text(self.caption)}">',
            f'<table class="{css}">\n<thead><tr>{"".join(heads)}</tr></thead>',
            f"<tbody>\n{body}\n</tbody>\n</table>\n</div>",
        ]
        if len(self.columns) > 4:
            parts.append('<p class="swipe">More columns: move the table sideways.</p>')
        notes = [f"{n} in every cell."] if n else []
        notes += [f"{self.columns[at].name}: {self._empty(at)}" for at in range(len(self.columns)) if at not in kept]
        parts += [f'<p class="hint">{_text(note)}</p>' for note in (*notes, *self.notes)]
        if any(column.help for column in self.columns):
            told = [one for one in self.columns if one.help]
            terms = "".join(f"<div><dt>{_text(one.name)}</dt><dd>{_text(one.help)}</dd></div>" for one in told)
            summary = "<summary>What the columns are</summary>"
            parts.append(f'<details class="more help">{summary}<dl>{terms}</dl></details>')
        return Markup("\n".join(parts))  # noqa: S704

    _repr_html_ = to_html

    def _html_of(self, row: Row, kept: Sequence[int], colours: Mapping[str, int]) -> str:
        """What stands between `<tr` and `</tr>`."""
        if isinstance(row, Group):
            about = f" <small>{_text(row.about)}</small>" if row.about else ""
            return f' class="board"><th scope="rowgroup" colspan="{len(kept)}">{_text(row.name)}{about}</th>'
        made = []
        for at in kept:
            cell, tag = row[at], "td" if at else 'th scope="row"'
            css = [cell.css] if isinstance(cell, Cell) and cell.css else []
            if at and isinstance(cell, Cell):
                css.insert(0, "fig")
            elif at and self._is_right(at):
                css += ["num"] if any(map(str.isdigit, str(cell))) else ["num", "no"]
            title = f' title="{_text(cell.help)}"' if isinstance(cell, Cell) and cell.help else ""
            given = f' class="{" ".join(css)}"' if css else ""
            made.append(f"<{tag}{given}{title}>{html_of(cell, colours, self._n(at), bare=not at)}</{tag[:2]}>")
        return ">" + "".join(made)

    def to_markdown(self) -> str:
        """With its caption above and its notes below; nothing in a cell is markup."""
        shared = {at: f" ({n})" for at in range(len(self.columns)) if (n := self._n(at))}
        heads = [_escaped(one.name + shared.get(at, "")) for at, one in enumerate(self.columns)]
        lines = [f"**{_escaped(self.caption)}**", ""] if self.caption else []
        lines += [_line(heads), _line("--:" if self._is_right(at) else ":--" for at in range(len(heads)))]
        lines += [_line(map(_escaped, texts)) for texts in self._texts()]
        for note in self.notes:
            lines += ["", _escaped(note)]
        return "\n".join(lines) + "\n"

    def to_pandas(self) -> DataFrame:
        """Figures as numbers, with their interval's ends, n and how many failed beside them; the rest as text."""
        from pandas import DataFrame

        found: dict[str, list[Any]] = {}
        for at, column in enumerate(self.columns):
            cells = self.cells(at)
            figures = [one.figure if isinstance(one, Cell) else None for one in cells]
            if not any(figures):
                found[column.name] = [_plain(one) for one in cells]
                continue
            for part, name in _PARTS.items():
                found[column.name + name] = [None if one is None else getattr(one, part) for one in figures]
        return DataFrame(found)

    def to_terminal(self, width: int = 80) -> str:
        """As text of so many columns, or of as many more as it takes that no number is cut off."""
        from io import StringIO

        from rich.console import Console

        stream = StringIO()
        Console(file=stream, width=max(width, self._least_width(_LEAST_FOLDED)), color_system=None).print(self)
        return stream.getvalue()

    def print(self, nothing: str = "there is nothing to show") -> None:
        """Print it with nothing cut off: a terminal folds long cells, elsewhere it is as wide as it needs to be.

        nothing: the sentence for a table without a row.
        """
        from rich.console import Console

        console = Console()
        if not self.rows:
            console.print(nothing, soft_wrap=True, markup=False, highlight=False)
            return
        wanted = self._least_width(_LEAST_FOLDED if console.is_terminal else None)
        Console(width=max(console.width, wanted)).print(self)

    def _texts(self) -> list[list[str]]:
        """Every row as texts; an n that a column's cells share is left to the heading."""
        n = [self._n(at) for at in range(len(self.columns))]
        return [
            [one_line(f"{row.name} {row.about}"), *[""] * (len(self.columns) - 1)]
            if isinstance(row, Group)
            else [_plain(cell, same) for cell, same in zip(row, n, strict=True)]
            for row in self.rows
        ]

    def _widths(self) -> list[int]:
        """The longest cell of each column, in cells of the terminal."""
        from rich.cells import cell_len

        rows = [[one_line(column.name) for column in self.columns], *self._texts()]
        return [max(cell_len(row[at]) for row in rows) for at in range(len(self.columns))]

    def _least_width(self, folded: int | None) -> int:
        """From which no number is cut off. folded: the width of a column that may be broken; None: none may."""
        if any(column.keep for column in self.columns):
            return 0
        return 1 + sum((n if n <= _LONGEST_UNBROKEN else folded or n) + GAP for n in self._widths())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich import box
        from rich.table import Table as Drawn
        from rich.text import Text

        widths, width, first = self._widths(), options.max_width, self.columns[0]
        fold = min(widths[0], first.fold or max(_NARROWEST, width // 3))
        givers = any(column.keep for column in self.columns)
        kept, room = list(range(1, len(self.columns))), width - fold
        while sum(widths[at] + GAP for at in kept) > room and any(self.columns[at].keep for at in kept):
            kept.remove(max(kept, key=lambda at: self.columns[at].keep))
        kept.insert(0, 0)
        table = Drawn(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
        for at in kept:
            right, whole = self._is_right(at), (at > 0 if givers else widths[at] <= _LONGEST_UNBROKEN)
            table.add_column(
                Text(one_line(self.columns[at].name)),
                justify="right" if right else "left",
                no_wrap=whole,
                overflow="fold",
                max_width=fold if givers and not at else None,
            )
        for texts in self._texts():
            table.add_row(*(Text(texts[at]) for at in kept))
        yield table
        if left := [one_line(column.name) for at, column in enumerate(self.columns) if at not in kept]:
            yield Text(f"left out for want of room, and in {self.elsewhere}: {listed(left)}", style="dim")
        yield from (Text(one_line(note), style="dim") for note in self.notes)


def html_of(content: Content, colours: Mapping[str, int], n: str = "", *, bare: bool = False) -> Markup:
    """What stands in a cell: the value, below it what belongs to it. n: what the heading says already; bare: the value
    in plain letters."""
    if isinstance(content, Markup):
        return content
    if isinstance(content, Agent):
        colour = colours.get(content, NO_COLOUR)
        return Markup(f'<span class="ag c{colour}">{_text(content)}</span>')  # noqa: S704
    if not isinstance(content, Cell):
        return Markup(_text(content))  # noqa: S704
    counts = [_text(content.n)] if content.n and content.n != n else []
    counts += [f"<em>{_text(content.failed)}</em>"] if content.failed else []
    small = [_text(content.interval)] if content.interval else []
    small += [" ".join(counts)] if counts else []
    below = "".join(f"<i>{line}</i>" for line in (*small, *map(_text, content.more)))
    return Markup((_text(content.value) if bare else str(value_of(content))) + below)  # noqa: S704


def value_of(cell: Cell) -> Markup:
    """The value, and why there is none."""
    why = f' <small class="wy">{_text(cell.why)}</small>' if cell.why else ""
    return Markup(f'<b class="v{" no" if cell.why else ""}">{_text(cell.value)}</b>{why}')  # noqa: S704


def _text(text: object) -> str:
    return str(escape(one_line(text)))


def _plain(content: Content, n: str = "") -> str:
    if isinstance(content, Cell) and content.n == n:
        content = Cell(content.value, content.interval, "", content.failed, content.why, content.more)
    return one_line(content.striptags() if isinstance(content, Markup) else content)


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", one_line(text))


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"
