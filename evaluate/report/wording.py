"""How the report and the terminal word what they show: figures, measures and labels."""

from __future__ import annotations

import re
from math import inf
from statistics import pstdev
from typing import Literal

from ragassay.records import Figure
from ragassay.table import Cell
from ragassay.text import one_line

from ..measures.by_labels import LEVELS
from ..measures.measure import named
from ..results import Choice, Results

CORRECTNESS = "answer_correctness"


def telling_criterion(results: Results) -> str | None:
    """`answer_correctness` where it was judged, else the criterion whose means differ most for the width of their
    intervals, of equals the first; None where nothing was judged."""
    named = dict.fromkeys(name for agent in results.agents for name in results.pointwise.get(agent, {}))
    judged = [name for name in named if any(value is not None for value, _ in _means(results, name))]
    if CORRECTNESS in judged:
        return CORRECTNESS
    return max(judged, key=lambda name: _spread(results, name), default=None)


def _spread(results: Results, name: str) -> float:
    """The standard deviation of the agents' means, over the mean width of their intervals."""
    known = [(value, width) for value, width in _means(results, name) if value is not None]
    spread, widths = pstdev(value for value, _ in known), [width for _, width in known if width is not None]
    if not spread or not widths:
        return 0.0
    width = sum(widths) / len(widths)
    return round(spread / width, 9) if width else inf


def _means(results: Results, name: str) -> list[tuple[float | None, float | None]]:
    """Of each agent, its mean and the width of the interval."""
    figures = [row[name] for agent in results.agents if name in (row := results.pointwise.get(agent, {}))]
    return [
        (one.value, None if one.ci_low is None or one.ci_high is None else one.ci_high - one.ci_low) for one in figures
    ]


Kind = Literal["share", "points", "measure", "mean", "rating", "seconds", "usd", "number"]
"""share: 0 to 1, shown in percent; points: 0 to 1, shown as of a hundred; measure: 0 to 1; mean: of labels 0 to 2;
rating: Elo points, which Bradley-Terry strengths are shown in too."""

MISSING = "–"
_DIGITS: dict[Kind, int] = {
    "share": 1,
    "points": 1,
    "measure": 3,
    "mean": 2,
    "rating": 0,
    "seconds": 1,
    "usd": 4,
    "number": 0,
}

_MEASURE = re.compile(r"(?P<name>[A-Za-z_]+)(?:\(rel=(?P<rel>\d)\))?(?:@(?P<k>\d+))?")


def number(value: float, kind: Kind) -> str:
    """A value as the report prints it: `62.5%`, `0.412`, `1,042`, `2.5 s`, `$0.0123`; never a minus zero."""
    digits = _DIGITS.get(kind, 0)
    if (kind == "usd" and abs(value) >= 1) or (kind == "number" and value != int(value) and abs(value) < 100):
        digits = 2
    scaled = round(value * 100 if kind in ("share", "points") else value, digits) + 0.0
    text = f"{abs(scaled):,.{digits}f}"
    text = {"share": f"{text}%", "seconds": f"{text} s", "usd": f"${text}"}.get(kind, text)
    return f"−{text}" if scaled < 0 else text


def dollars(usd: float) -> str:
    """A sum of money: `$0.38`, `$1,204.50`; below a cent as `number` has it."""
    return f"${usd:,.2f}" if usd >= 0.01 or usd == 0 else number(usd, "usd")


def points(share: float) -> str:
    """A share as points in a hundred: `1.2 points`; `less than 0.1 points`."""
    hundredths = round(100 * share, 1)
    if share > 0 and hundredths < 0.1:
        return "less than 0.1 points"
    return f"{hundredths:g} {'point' if hundredths == 1 else 'points'}"


def beside_the_verdict(verdict: Choice) -> str:
    """What choosing the leader is expected to lose, in a sentence; '' where none leads. Names stand as they are."""
    if verdict.leader is None or verdict.expected_loss is None:
        return ""
    anyway = "" if verdict.decided else " anyway"
    return f"Choosing {verdict.leader}{anyway} is expected to lose {points(verdict.expected_loss)} against the best."


STOPPED_EARLY = "stopped early"
"""What stands beside each figure of the leader's lead in a run that did."""


def overstated(results: Results) -> str:
    """What a reader of the leader's lead must know of a run that stopped early, in a sentence; '' of any other."""
    if not results.stopped_early:
        return ""
    last = results.looks[-1]
    asked = f"{last.queries:,} of {last.planned:,} planned queries"
    return f"{STOPPED_EARLY.capitalize()}, with {asked}: what the leader is ahead by is overstated."


def interval(figure: Figure, kind: Kind) -> str:
    """`[0.35, 0.47]`, without units, or '' where the figure has none."""
    if figure.value is None or figure.ci_low is None or figure.ci_high is None:
        return ""
    ends = (number(end, kind).replace("$", "").rstrip("% s") for end in (figure.ci_low, figure.ci_high))
    return f"[{', '.join(ends)}]"


def shown(figure: Figure | None, kind: Kind, absent: str = "") -> Cell:
    """A figure in words; `absent` is the reason to give where there is none."""
    if figure is None:
        return Cell(MISSING, why=absent or "not computed for this agent")
    n, failed = f"n {figure.n:,}", f"{figure.n_failed:,} failed" if figure.n_failed else ""
    if figure.value is None:
        return Cell(MISSING, "", n, failed, why_missing(figure, absent), figure=figure)
    return Cell(number(figure.value, kind), interval(figure, kind), n, failed, figure=figure)


def p_words(p: float | None) -> str:
    """In three digits; a dash where it is not defined."""
    return MISSING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def only_alone(figure: Figure, told: bool, n_together: int, what: str = "pairs") -> str:
    """Joins an interval that leaves out 0 with a verdict that does not; '' where they say the same.

    told: whether the difference is told from 0 when it is corrected with all `n_together`, this one among them.
    """
    return "" if told or not leaves_out_0(figure) else f"beyond 0 by itself, not with all {n_together:,} {what}"


def leaves_out_0(figure: Figure) -> bool:
    """Whether the figure has an interval, and 0 is not in it."""
    low, high = figure.ci_low, figure.ci_high
    return low is not None and high is not None and not low <= 0 <= high


def why_missing(figure: Figure, known: str = "") -> str:
    """Why a figure has no value, as far as the figure itself or `known` tells."""
    if known:
        return known
    if figure.n == 0 and figure.n_failed:
        return f"no value: all {figure.n_failed:,} failed"
    return "no value: nothing to compute it from" if figure.n == 0 else "no value: not defined for these data"


def confidence(results: Results) -> str:
    """What the intervals hold, `95%` unless the settings say otherwise."""
    level = results.settings.get("confidence")
    return f"{100 * level:g}%" if isinstance(level, float) else "95%"


OF_STEPS_AND_CALLS = {
    "step_recall": "share of the evidence that all steps found",
    "evidence_lost": "recall of all steps less that of the passages that the answer was given",
    "wasted_steps": "share of the steps that found no new evidence though some was missing",
    "surplus_steps": "share of the steps after all evidence had been found",
    "repeated_steps": "share of the steps whose query had been asked before",
    "fresh_passages": "of a step's passages, the share that no step before had found",
    "failed_steps": "share of the steps that failed",
    "call_recall": "of the calls that should be made, the share that was",
    "writes_as_asked": "share of queries on which just those calls that change something were made that should be",
    "call_precision": "of the calls made, the share that should be",
    "call_names": "of the tools that should be called, the share that was, whatever the arguments",
    "call_arguments": "share of right arguments, calls paired as fits them best",
    "call_order": "longest common subsequence with the calls that should be made, by their number",
    "unwanted_calls": "of the calls made, the share that nobody asked for",
    "tool_call_accuracy": "ToolCallAccuracy as Ragas has it: 0 where the tools, in order, are not those asked for",
}
"""What the measures of searches and calls are."""


def kind_of(key: str) -> Kind:
    """How the figure spelled `key` is printed."""
    if key.endswith("_s"):
        return "seconds"
    if key.endswith("_usd"):
        return "usd"
    if key == "points":
        return "points"
    if key in {"answered", "win_rate", "flip_rate", *OF_STEPS_AND_CALLS} or key.endswith(("_rate", "_share")):
        return "share"
    if key in {"relevance", "accuracy", "completeness", "precision", "answer_correctness"}:
        return "mean"
    return "number" if key.endswith("_tokens") and key != "new_per_1000_tokens" else "measure"


def kind_of_difference(key: str) -> Kind:
    """How a difference of the figure spelled `key` is printed."""
    kind = kind_of(key)
    return kind if kind in ("points", "share") else "measure"


_NAMES = {"n_steps": "steps", "step_tokens": "tokens a step", "new_per_1000_tokens": "new per 1,000 tokens"}


def measure_name(key: str) -> str:
    """The heading for a figure's key: `RR(rel=2)@5` is `MRR@5 very`, `latency_s` is `latency`."""
    if kind := named(key):
        return one_line(kind.heading(key))
    if key in _NAMES or not (parts := _MEASURE.fullmatch(key)):
        return _NAMES.get(key, one_line(key))
    rel, k = parts["rel"], f"@{parts['k']}" if parts["k"] else ""
    words = re.sub(r"_(s|usd)$", "", parts["name"]).replace("_", " ")
    return f"{words}{f' {LEVELS.get(rel, rel)}' if rel else ''}{k}"


def measure_help(key: str) -> str:
    """What the figure means, in a sentence for its heading's title; '' where it says so itself."""
    if kind := named(key):
        return f"{key}: {kind.explained(key)}"
    for start, text in _HELP.items():
        if key.startswith(start):
            return f"{key}: {text}"
    return key


_HELP = {
    "points": "of a hundred games, each query's the mean over opponents: a win counts 1, a tie half, a loss nothing",
    "answered": "share of queries for which the agent gave an answer (failures count against it)",
    "answer_correctness": "mean label, 0 to 2: does the user get the right answer, to the point?",
    "relevance": "mean label, 0 to 2: does the answer address the question?",
    "accuracy": "mean label, 0 to 2: is what it says right, by the passages?",
    "completeness": "mean label, 0 to 2: does it answer every part?",
    "precision": "mean label, 0 to 2: does it speak of the right product, and only of what was asked?",
    "latency": "mean seconds for an answer",
    "cost": "US dollars",
    **OF_STEPS_AND_CALLS,
    "n_steps": "searches a query",
    "step_tokens": "read and written, a step",
    "new_per_1000_tokens": "pieces of evidence that no step before had found, all of them by all tokens",
}


def share_of(figure: Figure) -> str:
    """In percent, with its interval where there is one; a dash where there is no value."""
    if figure.value is None:
        return "–"
    if figure.ci_low is None or figure.ci_high is None:
        return f"{figure.value:.0%}"
    return f"{figure.value:.0%} ({figure.ci_low:.0%} to {figure.ci_high:.0%})"
