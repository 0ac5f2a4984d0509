"""The gate's verdict as Markdown, for a pull request. Names are untrusted: nothing in them can close a table's cell."""

from __future__ import annotations

import re

from ragassay.perturbed import left_out
from ragassay.text import one_line

from ..report.wording import MISSING, measure_name
from .gate import Gate, failures
from .gate_rows import TOLERATED, Gated

_HEADINGS = {
    "not worse": "Not worse than the baseline",
    "worse": "Worse than the baseline",
    "undecided": "Undecided against the baseline",
}
_LEGEND = (
    "Could pass: the smallest drop that, tolerated, a run without any change passes in 4 of 5 cases on that row alone. "
    "Would show: the smallest true drop that is called worse in 4 of 5."
)
_SHOWN = 20
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~&!]|(?<!\w)@)")


def markdown(gate: Gate) -> str:
    """A heading with the verdict, what it means, a row an agent and measure, and what is lacking."""
    lines = [
        f"## ragassay gate: {_HEADINGS[gate.verdict]}",
        "",
        _meaning(gate),
        "",
        "| agent | measure | baseline | new | change [95%] | tolerated | could pass | would show | n | verdict |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|---|",
        *(_row(row) for row in sorted(gate.rows, key=_place)),
        "",
        _LEGEND,
        *_lacking(gate),
    ]
    return "\n".join(lines) + "\n"


def sentence(gate: Gate) -> str:
    """The verdict and what it means, then a line for each comparison that is not as good, the worse first."""
    bad = sorted((row for row in gate.rows if row.verdict != "not worse"), key=_place)
    lines = [f"{_HEADINGS[gate.verdict]}. {_meaning(gate)}", *(_line(row) for row in bad)]
    return "\n".join(lines)


def _line(row: Gated) -> str:
    """`ours, accuracy: 1.412 to 1.102, change −0.310 [−0.402, −0.218], tolerated −0.100, n = 24: worse`."""
    said = [f"{name} {value}" for name, value in (("change", _change(row)), ("tolerated", _end(row, row.max_drop)))]
    values = " to ".join(MISSING if value is None else f"{value:.3f}" for value in (row.baseline, row.new))
    names = f"{one_line(row.agent)}, {one_line(measure_name(row.measure))}{_way(row)}"
    lacking = f", {row.drop.n_failed} lacking" if row.drop.n_failed else ""
    return f"{names}: {values}, {', '.join(said)}, n = {row.drop.n}{lacking}: {row.verdict}"


def _meaning(gate: Gate) -> str:
    counts = {verdict: sum(row.verdict == verdict for row in gate.rows) for verdict in _HEADINGS}
    said = ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)
    beyond = "the drop exceeds what is tolerated" if gate.max_drop is not None else "there is a drop"
    else_ = "" if gate.max_drop is not None else ", and is no drop altogether"
    return (
        f"{gate.n_queries} queries, the same in both runs. Of {len(gate.rows)} comparisons: {said}. {_tolerated(gate)} "
        f"Worse: {beyond} beyond noise (5% for a change either way, Holm over all rows). Not worse: else, the drop's "
        f"interval ends at or below what is tolerated{else_}. Undecided: neither."
        f"{_of_scales(gate)}{_needed(gate)}"
    )


def _of_scales(gate: Gate) -> str:
    """What a drop and what is tolerated are of measures of which little is good, or which have no end."""
    endless = dict.fromkeys(escaped(measure_name(row.measure)) for row in gate.rows if row.scale.width is None)
    said = " Where lower is better, a rise is the drop." if any(row.scale.lower_is_better for row in gate.rows) else ""
    if endless and gate.max_drop is None:
        said += f" Without an upper end a share is of the baseline's mean: {', '.join(endless)}."
    return said


def _tolerated(gate: Gate) -> str:
    if gate.max_drop is None:
        return f"Without --max-drop, {TOLERATED:.0%} of a measure's range is tolerated."
    return f"A drop of {gate.max_drop:g} is tolerated, in each measure's own unit."


def _needed(gate: Gate) -> str:
    """What would decide it, of each measure with an undecided row: of its rows the one that needs most."""
    said = []
    for measure in dict.fromkeys(row.measure for row in gate.rows if row.verdict == "undecided"):
        rows = [row for row in gate.rows if row.measure == measure and row.verdict == "undecided"]
        passes = [row.passes for row in rows if row.passes is not None]
        if passes:
            counts = [row.needed for row in rows if row.passes is not None]
            most = None if None in counts else max(filter(None, counts))
            queries = "no number of queries" if most is None else f"{most:,} queries"
            said.append(f"{escaped(measure_name(measure))} {max(passes):.3f} or {queries}")
    if not said:
        return ""
    return (
        " What a run without any change would pass in 4 of 5 cases, on the row that asks for most: as --max-drop here, "
        f"or as many queries with what is tolerated: {'; '.join(said)}."
    )


def _place(row: Gated) -> tuple[bool, int]:
    """Rows that changed come first, the worse before the undecided."""
    return row.unchanged, ("worse", "undecided", "not worse").index(row.verdict)


def _row(row: Gated) -> str:
    values = [MISSING if value is None else f"{value:.3f}" for value in (row.baseline, row.new)]
    lacking = f", {row.drop.n_failed} lacking" if row.drop.n_failed else ""
    cells = [escaped(row.agent), f"{escaped(measure_name(row.measure))}{_way(row)}", *values, _change(row)]
    cells += [_end(row, value) for value in (row.max_drop, row.passes, row.shows)]
    cells.append(f"{row.drop.n}{lacking}")
    cells.append(f"**{row.verdict}**" if row.verdict == "worse" else row.verdict)
    return f"| {' | '.join(cells)} |"


def _change(row: Gated) -> str:
    if row.unchanged:
        return "on no query"
    if row.drop.value is None:
        return MISSING
    if row.drop.ci_low is None or row.drop.ci_high is None:
        return _end(row, row.drop.value)
    ends = sorted(_change_of(row, end) for end in (row.drop.ci_low, row.drop.ci_high))
    return f"{_end(row, row.drop.value)} [{', '.join(map(_signed, ends))}]"


def _way(row: Gated) -> str:
    return " (lower is better)" if row.scale.lower_is_better else ""


def _change_of(row: Gated, drop: float) -> float:
    """New minus baseline: the drop turned round, or where little is good as it is."""
    return drop if row.scale.lower_is_better else -drop


def _end(row: Gated, drop: float | None) -> str:
    return MISSING if drop is None else _signed(_change_of(row, drop))


def _signed(value: float) -> str:
    text = f"{abs(value):.3f}"
    return text if float(text) == 0 else f"{'+' if value > 0 else '−'}{text}"


def _lacking(gate: Gate) -> list[str]:
    lines = []
    for run, queries in failures(gate.rows).items():
        if queries:
            more = f" and {len(queries) - _SHOWN} more" if len(queries) > _SHOWN else ""
            named = ", ".join(escaped(query) for query in queries[:_SHOWN])
            lines += ["", f"No value in the {run} run on {len(queries)} queries: {named}{more}."]
    for run, agents in (("new", gate.only_new), ("baseline", gate.only_baseline)):
        if agents:
            lines += ["", f"Only the {run} run has {', '.join(escaped(agent) for agent in agents)}."]
    for said in left_out(gate.n_perturbed):
        lines += ["", f"{said}."]
    return lines


def escaped(text: str) -> str:
    """One line in which Markdown's and HTML's signs stand for themselves."""
    return _MARKUP.sub(r"\\\1", one_line(text))
