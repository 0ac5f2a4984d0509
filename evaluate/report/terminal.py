"""The screening in the terminal: who leads and how sure that is, the finalists, and which settings matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ragassay.records import Figure
from ragassay.text import listed, one_line

from ..results import FailuresAtBottom, Results
from ..screening.screened import ScreenResults, VariantFigures
from .decision import lead_rows, told_lines
from .judge import orders_lines, panel_lines
from .plots import Scale
from .screening import at_words, badges, duration, measure_words, sentences, size
from .tables import agreement_lines, corrected_lines, second_line
from .wording import Kind, Shown, beside_the_verdict, confidence, kind_of, measure_name, shown, telling_criterion

_GAP = 3


@dataclass(frozen=True)
class Column:
    """A heading and one text a row; `keep` orders what gives way first where there is no room (0 stays)."""

    name: str
    cells: list[str]
    keep: int

    @property
    def width(self) -> int:
        """In cells of the terminal, with the gap to the next."""
        return max(cell_len(text) for text in (self.name, *self.cells)) + _GAP


def fitting(columns: list[Column], room: int) -> list[Column]:
    """The columns that fit into `room` cells, in their order; the highest `keep` goes first."""
    kept = list(columns)
    while kept and sum(column.width for column in kept) > room and max(column.keep for column in kept) > 0:
        kept.remove(max(kept, key=lambda column: column.keep))
    return kept


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


_AGENT_WIDTH = 32


@dataclass(frozen=True)
class RankedTable:
    """A rich renderable of the results; columns that do not fit give way, intervals first."""

    results: Results

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from (Text(f"! {one_line(notice)}", style="yellow") for notice in self.results.notices)
        yield Text(one_line(self.results.verdict.sentence), style="bold")
        if beside := beside_the_verdict(self.results.verdict):
            yield Text(one_line(beside))
        yield from (Text(line) for line in _picture(self.results, options.max_width))
        columns = _terminal_columns(self.results)
        kept = fitting(columns, options.max_width - _width_of_agents(self.results))
        yield _terminal_table(self.results, kept)
        if left := [column.name for column in columns if column not in kept]:
            yield Text(f"left out for want of room, and in the report: {listed(left)}", style="dim")
        yield from (Text(line, style="dim") for line in _below(self.results))
        yield from (Text(line) for line in told_lines(self.results))


def ranked_table(results: Results) -> RankedTable:
    """What the command line prints: notices, the verdict, how sure it is, and the ranked table with failed answers.

    Text is plain: markup in names means nothing, and control characters are made visible.
    """
    return RankedTable(results)


_DRAWN, _LEAST_DRAWN = 30, 10
"""Characters of the picture, at most and at least."""


def _picture(results: Results, width: int) -> list[str]:
    """A row for each agent behind the leader: how far, drawn where there is room, whether it is told, and P(best)."""
    every = lead_rows(results)
    rows = [row for row in every if row.difference and row.difference.value is not None]
    if not rows:
        return []
    cells = [("behind the leader", "points of 100", "", "P(best)")]
    for row in (every[0], *rows):
        behind = shown(row.difference, "points") if row.difference else Shown("", "", "", "")
        chance = "" if row.p_best is None else f"{row.p_best:.1%}"
        told = "leads" if row is every[0] else "told" if row.told else "not told"
        cells.append((one_line(row.agent)[:_AGENT_WIDTH], f"{behind.value} {behind.interval}".strip(), told, chance))
    widths = [max(cell_len(line[column]) for line in cells) for column in range(4)]
    ends = [
        end for row in rows if (f := row.difference) for end in (0.0, f.value, f.ci_low, f.ci_high) if end is not None
    ]
    drawn, axis = min(_DRAWN, width - sum(widths) - 2 * 4), Scale(min(ends), max(*ends, min(ends) + 0.01), ())
    pictures = ["", "", *(_drawn(row.difference, axis, row.told, drawn) for row in rows if row.difference)]
    lines = []
    for (name, value, told, chance), picture in zip(cells, pictures, strict=True):
        parts = [name + " " * (widths[0] - cell_len(name)), value.rjust(widths[1]), told.ljust(widths[2])]
        if drawn >= _LEAST_DRAWN:
            parts.insert(2, picture.ljust(drawn))
        lines.append("  ".join((*parts, chance.rjust(widths[3]))))
    return lines


def _drawn(figure: Figure, axis: Scale, told: bool, width: int) -> str:
    """`│──●──`: the interval around the value, the place of 0 where it is free; '' where there is no room."""
    if width < _LEAST_DRAWN:
        return ""

    def place(value: float) -> int:
        return round(axis.percent(value) / 100 * (width - 1))

    line = [" "] * width
    line[place(0.0)] = "│"
    value = figure.value or 0.0
    low, high = (value if end is None else end for end in (figure.ci_low, figure.ci_high))
    for at in range(place(low), place(high) + 1):
        line[at] = "┼" if line[at] == "│" else "─"
    line[place(value)] = "●" if told else "○"
    return "".join(line)


def _width_of_agents(results: Results) -> int:
    return min(max(map(cell_len, ("Agent", *map(one_line, results.agents)))), _AGENT_WIDTH)


def _terminal_table(results: Results, kept: Sequence[Column]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
    names = [one_line(agent) for agent in results.agents]
    table.add_column("Agent", overflow="fold", max_width=_AGENT_WIDTH)
    for column in kept:
        table.add_column(Text(column.name), justify="right", no_wrap=True)
    for row, name in enumerate(names):
        table.add_row(Text(name), *(Text(column.cells[row]) for column in kept))
    return table


def _terminal_columns(results: Results) -> list[Column]:
    agents = results.agents
    table = [
        _column("points", agents, results.points, "points", 0),
        _intervals(f"[{confidence(results)}]", agents, results.points, "points", 3),
        _column("BT", agents, results.bradley_terry, "rating", 1),
    ]
    retrieval = list(dict.fromkeys(key for agent in agents for key in results.retrieval.get(agent, {})))
    keeps = {"RR(rel=2)": 4, "RR": 6, "nDCG": 9, "R(": 9}
    for key in retrieval:
        keep = next((keep for start, keep in keeps.items() if key.startswith(start)), 10)
        table.append(_column(measure_name(key), agents, _by_agent(results.retrieval, key), kind_of(key), keep))
    if told := telling_criterion(results):
        name = measure_name(told).removeprefix("answer ")
        table.append(_column(name, agents, _by_agent(results.pointwise, told), "mean", 5))
    if results.refusals:
        table.append(_column("refusals", agents, results.refusals, "share", 8))
    table.append(_column("answered", agents, _by_agent(results.answers, "answered"), "share", 8))
    failed = results.failures.answers if results.failures else {}
    table.append(Column("failed", [f"{failed[agent]:,}" if agent in failed else "–" for agent in agents], 2))
    return table


def _column(name: str, agents: Iterable[str], figures: Mapping[str, Figure], kind: Kind, keep: int) -> Column:
    return Column(name, [shown(figures.get(agent), kind).value for agent in agents], keep)


def _intervals(name: str, agents: Iterable[str], figures: Mapping[str, Figure], kind: Kind, keep: int) -> Column:
    return Column(name, [shown(figures.get(agent), kind).interval for agent in agents], keep)


def _by_agent(figures: Mapping[str, Mapping[str, Figure]], key: str) -> dict[str, Figure]:
    return {agent: row[key] for agent, row in figures.items() if key in row}


def _lead(low: FailuresAtBottom) -> str:
    if low.leader is None:
        return "no agent leads"
    return f"{one_line(low.leader)} leads"


def _judge_failed(results: Results) -> list[str]:
    """On what the judge failed, in a line; none where it did not."""
    found = results.failures
    if found is None:
        return []
    on = [
        f"{n:,} {what if n == 1 else f'{what}s'}"
        for n, what in ((found.judge_passages, "passage"), (found.judge_answers, "answer"), (found.judge_games, "game"))
        if n
    ]
    return [f"the judge failed on {listed(on)}"] if on else []


def _below(results: Results) -> list[str]:
    lines = []
    if results.bradley_terry_note and f"Bradley-Terry: {results.bradley_terry_note}" not in results.notices:
        lines.append(one_line(results.bradley_terry_note))
    first = "shown earlier wins" if str(results.settings.get("games")).startswith("listwise") else "first shown wins"
    for name, figure in (("flip rate", results.flip_rate), (first, results.first_shown_wins)):
        words = shown(figure, "share")
        lines.append(" ".join(part for part in (name, words.value, words.interval, words.n, words.failed) if part))
    if results.audit and (n := results.audit.n_identical):
        lines[0] += f", {n:,} identical {'pair' if n == 1 else 'pairs'} left out"
    if low := results.failures_at_bottom:
        counts = listed([f"{one_line(agent)} {n:,}" for agent, n in low.failed.items()])
        lines.append(f"answers that failed: {counts}; counted as the worst, {_lead(low)}")
    lines += _judge_failed(results)
    told = [*agreement_lines(results), *corrected_lines(results), *second_line(results)]
    return [*panel_lines(results), *lines, *orders_lines(results), *told]
