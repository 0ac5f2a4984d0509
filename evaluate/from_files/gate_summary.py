"""The gate's verdict as Markdown, for a pull request. Names are untrusted: nothing in them can close a table's cell."""

from __future__ import annotations

import re

from ragassay.perturbed import left_out
from ragassay.text import one_line

from ..report.wording import MISSING, measure_name
from .gate import Gate, failures
from .gate_rows import MOST_TOLERATED, Gated

_HEADINGS = {
    "not worse": "Not worse than the baseline",
    "worse": "Worse than the baseline",
    "undecided": "Undecided against the baseline",
}
_LEGEND = (
    "Could pass: the smallest drop that, tolerated, an unchanged run passes in 4 of 5 cases on that row alone. "
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
    beyond = "the drop exceeds what is tolerated" if gate.max_drop is not None else "else, the drop is"
    return (
        f"{gate.n_queries} queries, the same in both runs. Of {len(gate.rows)} comparisons: {said}. {_tolerated(gate)} "
        f"Not worse: the drop's interval ends at or below what is tolerated. Worse: {beyond} beyond noise (one-sided "
        "2.5%, Holm over all rows). Undecided: neither; more queries would tell."
        f"{_of_scales(gate)}"
    )


def _of_scales(gate: Gate) -> str:
    """What a drop and a share are of measures of which little is good, or which have no end."""
    endless = dict.fromkeys(escaped(measure_name(row.measure)) for row in gate.rows if row.scale.width is None)
    said = " Where lower is better, a rise is the drop." if any(row.scale.lower_is_better for row in gate.rows) else ""
    if endless:
        said += f" Without an upper end a share is of the baseline's mean: {', '.join(endless)}."
    return said


def _tolerated(gate: Gate) -> str:
    shares = {measure: round(100 * share) for measure, share in gate.could_pass.items()}
    passes = ", ".join(f"{escaped(measure_name(measure))} {share}%" for measure, share in shares.items())
    if gate.max_drop is None:
        said = f"Without --max-drop, tolerated is what a run without any change would pass in 4 of 5 cases: {passes}."
        more = f" More than {MOST_TOLERATED:.0%} is not tolerated unasked: take more queries, or give --max-drop."
        return (said if passes else "") + (more if any(s > 100 * MOST_TOLERATED for s in shares.values()) else "")
    said = f"A drop of {gate.max_drop:.1%} of a measure's range is tolerated."
    if all(share <= 100 * gate.max_drop + 1e-9 for share in shares.values()):
        return said
    return f"{said} A run without any change would pass in 4 of 5 cases only where more is: {passes}."


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
