"""The gate's verdict as Markdown, for a pull request. Names are untrusted: nothing in them can close a table's cell."""

from __future__ import annotations

import re

from ragassay.text import one_line

from ..report.wording import MISSING, measure_name
from .gate import Gate, Gated, failures

_HEADINGS = {
    "not worse": "Not worse than the baseline",
    "worse": "Worse than the baseline",
    "undecided": "Undecided against the baseline",
}
_SHOWN = 20
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|#~&!]|(?<!\w)@)")


def markdown(gate: Gate) -> str:
    """A heading with the verdict, what it means, a row an agent and measure, and what is lacking."""
    lines = [
        f"## ragassay gate: {_HEADINGS[gate.verdict]}",
        "",
        _meaning(gate),
        "",
        "| agent | measure | baseline | new | change [95%] | tolerated | n | verdict |",
        "|---|---|--:|--:|--:|--:|--:|---|",
        *(_row(row) for row in gate.rows),
        *_lacking(gate),
    ]
    return "\n".join(lines) + "\n"


def _meaning(gate: Gate) -> str:
    counts = {verdict: sum(row.verdict == verdict for row in gate.rows) for verdict in _HEADINGS}
    said = ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)
    return (
        f"{gate.n_queries} queries, the same in both runs; a drop of {gate.max_drop:.1%} of a measure's range is "
        f"tolerated. Of {len(gate.rows)} comparisons: {said}. Worse: the drop exceeds what is tolerated beyond noise "
        "(one-sided 2.5%, Holm over all rows). Undecided: its interval straddles it; more queries would tell."
    )


def _row(row: Gated) -> str:
    change = MISSING
    if row.unchanged:
        change = "on no query"
    elif row.drop.value is not None:
        change = _signed(-row.drop.value)
        if row.drop.ci_low is not None and row.drop.ci_high is not None:
            change += f" [{_signed(-row.drop.ci_high)}, {_signed(-row.drop.ci_low)}]"
    values = [MISSING if value is None else f"{value:.3f}" for value in (row.baseline, row.new)]
    lacking = f", {row.drop.n_failed} lacking" if row.drop.n_failed else ""
    cells = [escaped(row.agent), escaped(measure_name(row.measure)), *values, change]
    cells += [f"−{row.max_drop:.3f}", f"{row.drop.n}{lacking}"]
    cells.append(f"**{row.verdict}**" if row.verdict == "worse" else row.verdict)
    return f"| {' | '.join(cells)} |"


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
    return lines


def escaped(text: str) -> str:
    """One line in which Markdown's and HTML's signs stand for themselves."""
    return _MARKUP.sub(r"\\\1", one_line(text))
