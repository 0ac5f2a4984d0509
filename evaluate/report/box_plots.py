"""`ragassay plot`: a box plot of every measure for every agent, of one run or of several side by side, as one page.

A box from the first to the third quartile with the median in it, whiskers and outliers (`figures/boxes.py`), and below
them the mean with its interval. The page loads nothing and runs nothing; every name in it is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from ragassay.errors import InputError
from ragassay.records import Figure
from ragassay.text import did_you_mean, one_line, plain

from ..results import Box, Results
from .page import read_results
from .plots import COLOURS, Scale, axis_labels, environment, line, percent, scale, svg
from .wording import MISSING, Kind, kind_of, measure_help, measure_name, number, shown


@dataclass(frozen=True)
class Run:
    """One results.json and what it is called on the page."""

    name: str
    results: Results


@dataclass(frozen=True)
class Row:
    """One agent's box in one run."""

    run: str
    agent: str
    box: Box
    plot: Markup
    mean: str
    interval: str
    median: str
    n: str
    failed: str


@dataclass(frozen=True)
class Panel:
    """One measure: its rows, all on one scale, run by run."""

    measure: str
    title: str
    help: str
    rows: tuple[Row, ...]
    axis: Markup


def read_runs(paths: Sequence[Path]) -> list[Run]:
    """The runs of results.json files or of the folders that hold them, named by their folders.

    Raises InputError where one cannot be read, has no box, or is given twice.
    """
    files = [path / "results.json" if path.is_dir() else path for path in paths]
    if len({file.resolve() for file in files}) < len(files):
        raise InputError("the same run is given twice", remedy="name each once")
    folders = [file.resolve().parent.name for file in files]
    names = folders if len(set(folders)) == len(folders) else [str(file) for file in files]
    runs = []
    for name, file in zip(names, files, strict=True):
        results = read_results(file)
        if not any(results.boxes.values()):
            raise InputError("has no spread of any measure", file=file, remedy="run `ragassay compare` again")
        runs.append(Run(name, results))
    return runs


def page(runs: Sequence[Run], measures: Sequence[str] = ()) -> str:
    """The page, with the measures named, or all in the order in which the runs have them.

    Raises InputError for a measure that no run has.
    """
    known = list(dict.fromkeys(m for run in runs for boxes in run.results.boxes.values() for m in boxes))
    if unknown := [measure for measure in measures if measure not in known]:
        have = ", ".join(plain(measure) for measure in known)
        raise InputError(
            f"no run has the measure '{plain(unknown[0])}'", remedy=f"{did_you_mean(unknown[0], known)}there are {have}"
        )
    panels = [_panel(runs, measure) for measure in (dict.fromkeys(measures) or known)]
    names = [one_line(run.name) for run in runs]
    return environment().get_template("plot.html.j2").render(panels=panels, runs=names, title=" · ".join(names))


def _panel(runs: Sequence[Run], measure: str) -> Panel:
    found = [
        (run, agent, boxes[measure]) for run in runs for agent, boxes in run.results.boxes.items() if measure in boxes
    ]
    axis, kind = _axis([box for _, _, box in found]), kind_of(measure)
    agents = sorted({agent for run in runs for agent in run.results.boxes})
    rows = tuple(_row(run, agent, box, axis, agents.index(agent), kind) for run, agent, box in found)
    return Panel(
        one_line(measure), measure_name(measure), one_line(measure_help(measure)), rows, axis_labels(axis, kind)
    )


def _axis(boxes: Sequence[Box]) -> Scale:
    """The measure's own scale, or one that holds every value."""
    ends = [end for box in boxes for end in (box.lowest, box.highest, box.minimum, box.maximum) if end is not None]
    ends += [end for box in boxes for end in (box.mean.ci_low, box.mean.ci_high) if end is not None]
    if not ends:
        return scale([])
    return scale([Figure(value=ends[0], n=1, ci_low=min(ends), ci_high=max(ends))])


def _row(run: Run, agent: str, box: Box, axis: Scale, colour: int, kind: Kind) -> Row:
    mean = shown(box.mean, kind)
    name = f"{one_line(run.name)}, {one_line(agent)}"
    return Row(
        run=one_line(run.name),
        agent=one_line(agent),
        box=box,
        plot=box_plot(box, axis, colour, name, kind),
        mean=mean.value,
        interval=mean.interval,
        median=MISSING if box.median is None else number(box.median, kind),
        n=f"{box.n:,}",
        failed=f"{box.n_failed:,} failed" if box.n_failed else "",
    )


def box_plot(box: Box, axis: Scale, colour: int, label: str, kind: Kind) -> Markup:
    """One row: box, median, whiskers and outliers above, the mean with its interval below; without values, ticks."""
    parts = [_line("zero" if tick == 0 else "grid", tick, tick, 0, 100, axis) for tick in axis.ticks]
    words = f"{label}: no value"
    if box.q1 is not None and box.q3 is not None and box.median is not None:
        words = (
            f"{label}: median {number(box.median, kind)}, quartiles {number(box.q1, kind)} to {number(box.q3, kind)}"
        )
        parts += _tukey(box, axis, kind)
    if box.mean.value is not None:
        words += f", mean {number(box.mean.value, kind)}"
        parts += _mean(box.mean, axis)
    return svg(f"plot c{colour % COLOURS}", words, parts)


def _tukey(box: Box, axis: Scale, kind: Kind) -> list[str]:
    assert box.q1 is not None and box.q3 is not None and box.median is not None
    assert box.low_whisker is not None and box.high_whisker is not None
    left, right = axis.percent(box.q1), axis.percent(box.q3)
    parts = [
        _line("wh", box.low_whisker, box.q1, 35, 35, axis),
        _line("wh", box.q3, box.high_whisker, 35, 35, axis),
        *(_line("wh", end, end, 22, 48, axis) for end in (box.low_whisker, box.high_whisker)),
        f'<rect class="box" x="{percent(left)}" y="12%" width="{percent(right - left)}" height="46%"/>',
        _line("median", box.median, box.median, 12, 58, axis),
    ]
    for value in box.outliers:
        title = f"<title>{escape(number(value, kind))}</title>"
        parts.append(f'<circle class="out" cx="{percent(axis.percent(value))}" cy="35%" r="3">{title}</circle>')
    return parts


def _mean(mean: Figure, axis: Scale) -> list[str]:
    parts = []
    if mean.ci_low is not None and mean.ci_high is not None:
        parts.append(_line("ci", mean.ci_low, mean.ci_high, 80, 80, axis))
        parts += [_line("ci", end, end, 72, 88, axis) for end in (mean.ci_low, mean.ci_high)]
    if mean.value is not None:
        parts.append(f'<circle class="mean" cx="{percent(axis.percent(mean.value))}" cy="80%" r="4"/>')
    return parts


def _line(css: str, one: float, other: float, y1: float, y2: float, axis: Scale) -> str:
    return line(css, axis.percent(one), axis.percent(other), y1, y2)
