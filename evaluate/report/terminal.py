"""What is printed of a run and of a screening: who leads and how sure that is, and a table that fits the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from ragassay.records import Figure
from ragassay.table import Cell, Column, Table
from ragassay.text import listed, one_line

from ..results import Results
from .decision import lead_rows, told_lines
from .judge import orders_lines, panel_lines
from .plots import Scale
from .tables import agreement_lines, corrected_lines, of_measure, second_line
from .wording import (
    MISSING,
    STOPPED_EARLY,
    Kind,
    beside_the_verdict,
    confidence,
    kind_of,
    measure_name,
    overstated,
    shown,
    telling_criterion,
)

if TYPE_CHECKING:
    from ..screening.screened import ScreenResults

Part = tuple[str, Sequence[str], int]
"""A heading, a text for each row, and which columns give way first (`Column.keep`)."""


def _table(
    name: str, rows: Sequence[str], parts: Sequence[Part], notes: Sequence[str], elsewhere: str, fold: int = 0
) -> Table:
    columns = [Column(name, fold=fold), *(Column(heading, numbers=True, keep=keep) for heading, _, keep in parts)]
    texts = zip(rows, *(cells for _, cells, _ in parts), strict=True)
    return Table("", columns, [tuple(row) for row in texts], notes, elsewhere)


@dataclass(frozen=True)
class ScreenTable:
    """What `ragassay screen` prints, for rich; columns that do not fit give way, wide names are folded.

    Markup in names means nothing, and control characters are made visible.
    """

    results: ScreenResults

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from .screening import badges, sentences

        said = sentences(self.results)
        yield from (Text(one_line(one), "" if place else "bold") for place, one in enumerate(said))
        marks, notes = badges(self.results), [one_line(one.sentence) for one in self.results.effects if one.matters]
        others = [
            one_line(one.setting if one.among == "all" else f"{one.setting} of {one.among}")
            for one in self.results.effects
            if not one.matters
        ]
        notes += [f"nothing is told apart by {listed(others)}"] if others else []
        if self.results.finalists:
            names = [f"{name}{' (baseline)' if marks[name] == 'B' else ''}" for name in self.results.finalists]
            yield _table("Finalist", names, _of_finalists(self.results), notes, "screen.html")
        else:
            yield from (Text(line, style="dim") for line in notes)


def _of_finalists(results: ScreenResults) -> list[Part]:
    from .screening import AT_TOKENS, at_words, duration, measure_words, size

    by_name = {variant.name: variant for variant in results.variants}
    rows = [by_name[name] for name in results.finalists]

    def figures(measure: str) -> list[Figure | None]:
        return [getattr(row, measure, None) for row in rows]

    def values(measure: str, kind: Kind = "measure") -> list[str]:
        return [shown(figure, kind).value for figure in figures(measure)]

    quality = figures(results.quality)
    parts: list[Part] = [
        (measure_words(results.quality, results).removeprefix("evidence "), values(results.quality), 0),
        ("[95%]", [shown(figure, "measure").interval for figure in quality], 1),
    ]
    for measure, name, keep in (
        ("evidence_ndcg", "nDCG", 4),
        ("evidence_recall_at_tokens", f"recall {at_words(results)}", 3),
    ):
        if measure != results.quality:
            parts.append((name, values(measure), keep))
    left = "unjudged" + (AT_TOKENS if results.quality.endswith(AT_TOKENS) else "")
    if any(figure is not None for figure in figures(left)):
        parts.append(("unjudged", values(left), 2))
    return [
        *parts,
        ("tokens", values("tokens", "number"), 2),
        ("p50", [duration(row.latency_p50_s) for row in rows], 2),
        ("p95", [duration(row.latency_p95_s) for row in rows], 7),
        ("index", [size(row.index_bytes) for row in rows], 6),
        ("failed", [str(figure.n_failed) if figure else MISSING for figure in quality], 1),
    ]


_AGENT_WIDTH = 32


@dataclass(frozen=True)
class RankedTable:
    """What the command line prints, for rich: notices, the verdict, how sure it is, and the ranked table.

    Columns that do not fit give way, intervals first. Text is plain: markup in names means nothing, and control
    characters are made visible.
    """

    results: Results

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        results = self.results
        yield from (Text(f"! {one_line(notice)}", style="yellow") for notice in results.notices)
        yield Text(one_line(results.verdict.sentence), style="bold")
        if beside := beside_the_verdict(results.verdict):
            yield Text(one_line(beside))
        if early := overstated(results):
            yield Text(early)
        yield from (Text(line) for line in _picture(results, options.max_width))
        parts = _of_agents(results)
        yield _table("Agent", results.agents, parts, _below(results), "the report", _AGENT_WIDTH)
        yield from (Text(line) for line in told_lines(results))


def _of_agents(results: Results) -> list[Part]:
    agents = results.agents

    def part(name: str, figures: Mapping[str, Figure], kind: Kind, keep: int) -> Part:
        return name, [shown(figures.get(agent), kind).value for agent in agents], keep

    parts = [
        part("points", results.points, "points", 0),
        (f"[{confidence(results)}]", [shown(results.points.get(agent), "points").interval for agent in agents], 3),
        part("BT", results.bradley_terry, "rating", 1),
    ]
    keeps = {"RR(rel=2)": 4, "RR": 6, "nDCG": 9, "R(": 9}
    for key in dict.fromkeys(key for agent in agents for key in results.retrieval.get(agent, {})):
        keep = next((keep for start, keep in keeps.items() if key.startswith(start)), 10)
        parts.append(part(measure_name(key), of_measure(key, results.retrieval), kind_of(key), keep))
    if told := telling_criterion(results):
        parts.append(part(measure_name(told).removeprefix("answer "), of_measure(told, results.pointwise), "mean", 5))
    if results.refusals:
        parts.append(part("refusals", results.refusals, "share", 8))
    parts.append(part("answered", of_measure("answered", results.answers), "share", 8))
    failed = results.failures.answers if results.failures else {}
    return [*parts, ("failed", [f"{failed[agent]:,}" if agent in failed else MISSING for agent in agents], 2)]


_DRAWN, _LEAST_DRAWN = 30, 10
"""Characters of the picture, at most and at least."""


def _picture(results: Results, width: int) -> list[str]:
    """A row for each agent behind the leader: how far, drawn where there is room, whether it is told, and P(best)."""
    every = lead_rows(results)
    rows = [row for row in every if row.difference and row.difference.value is not None]
    if not rows:
        return []
    early = f", {STOPPED_EARLY}" if results.stopped_early else ""
    cells = [(f"behind the leader{early}", "points of 100", "", "P(best)")]
    for row in (every[0], *rows):
        behind = shown(row.difference, "points") if row.difference else Cell("")
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
        lead = "no agent leads" if low.leader is None else f"{one_line(low.leader)} leads"
        lines.append(f"answers that failed: {counts}; counted as the worst, {lead}")
    if found := results.failures:
        counted = ((found.judge_passages, "passage"), (found.judge_answers, "answer"), (found.judge_games, "game"))
        if on := [f"{n:,} {what}{'' if n == 1 else 's'}" for n, what in counted if n]:
            lines.append(f"the judge failed on {listed(on)}")
    leader = one_line(results.verdict.leader or "")
    early = [f"{STOPPED_EARLY}: what {leader} is ahead by is overstated"] if leader and results.stopped_early else []
    told = [*agreement_lines(results), *corrected_lines(results), *second_line(results)]
    return [*early, *panel_lines(results), *lines, *orders_lines(results), *told]
