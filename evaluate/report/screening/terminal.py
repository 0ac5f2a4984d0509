"""The screening in the terminal: who leads and how sure that is, the finalists, and which settings matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ragassay.records import Figure
from ragassay.text import listed, one_line

from ...screening.records import ScreenResults, VariantFigures
from ..columns import Column, fitting
from ..wording import Kind, shown
from .picture import badges
from .shown import sentences
from .wording import at_words, duration, measure_words, size

_HEAD = "Finalist"
_NARROWEST = 16


@dataclass(frozen=True)
class ScreenTable:
    """A rich renderable of a screening; columns that do not fit give way, wide names are folded."""

    results: ScreenResults

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        results, names, columns = self.results, _names(self.results), _columns(self.results)
        styles = ("bold", *[""] * len(results.said))
        yield from (Text(one_line(said), style) for said, style in zip(sentences(results), styles, strict=False))
        width = min(max(map(cell_len, (_HEAD, *names))), max(_NARROWEST, options.max_width // 3))
        kept = fitting(columns, options.max_width - width)
        if names:
            yield _table(names, kept, width)
        if left := [column.name for column in columns if column not in kept]:
            yield Text(f"left out for want of room, and in screen.html: {listed(left)}", style="dim")
        yield from (Text(line, style="dim") for line in _settings(results))


def screen_table(results: ScreenResults) -> ScreenTable:
    """What `ragassay screen` prints. Markup in names means nothing, and control characters are made visible."""
    return ScreenTable(results)


def _names(results: ScreenResults) -> list[str]:
    marks = badges(results)
    return [f"{one_line(name)}{' (baseline)' if marks[name] == 'B' else ''}" for name in results.finalists]


def _table(names: Sequence[str], kept: Sequence[Column], width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
    table.add_column(_HEAD, overflow="fold", max_width=width)
    for column in kept:
        table.add_column(Text(column.name), justify="right", no_wrap=True)
    for row, name in enumerate(names):
        table.add_row(Text(name), *(Text(column.cells[row]) for column in kept))
    return table


def _columns(results: ScreenResults) -> list[Column]:
    by_name = {variant.name: variant for variant in results.variants}
    rows = [by_name[name] for name in results.finalists]
    quality, words = [_figure(row, results.quality) for row in rows], measure_words(results.quality, results)
    columns = [
        Column(words.removeprefix("evidence "), [shown(figure, "measure").value for figure in quality], 0),
        Column("[95%]", [shown(figure, "measure").interval for figure in quality], 1),
    ]
    measures = (("evidence_ndcg", "nDCG", 4), ("evidence_recall_at_tokens", f"recall {at_words(results)}", 3))
    for measure, name, keep in measures:
        if measure != results.quality:
            columns.append(Column(name, _values([_figure(row, measure) for row in rows], "measure"), keep))
    return [
        *columns,
        Column("tokens", _values([row.tokens for row in rows], "number"), 2),
        Column("p50", [duration(row.latency_p50_s) for row in rows], 2),
        Column("p95", [duration(row.latency_p95_s) for row in rows], 7),
        Column("index", [size(row.index_bytes) for row in rows], 6),
        Column("failed", [str(figure.n_failed) if figure else "–" for figure in quality], 1),
    ]


def _figure(variant: VariantFigures, measure: str) -> Figure | None:
    found: Figure | None = getattr(variant, measure, None)
    return found


def _values(figures: Sequence[Figure | None], kind: Kind) -> list[str]:
    return [shown(figure, kind).value for figure in figures]


def _settings(results: ScreenResults) -> list[str]:
    """A line for each setting that matters, and one for those of which nothing is told apart."""
    lines = [one_line(effect.sentence) for effect in results.effects if effect.matters]
    others = [
        one_line(effect.setting if effect.among == "all" else f"{effect.setting} of {effect.among}")
        for effect in results.effects
        if not effect.matters
    ]
    return [*lines, f"nothing is told apart by {listed(others)}"] if others else lines
