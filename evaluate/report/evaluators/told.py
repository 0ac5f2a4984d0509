"""Problems and insights, the surest first: all of them on the page, the first few lines in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.text import one_line

from ...results import Insight, Problem, Results

MOST = 12
"""Lines in the terminal, with the one that says how many more there are."""

_INSIGHTS_AT_LEAST = 4
"""So many of the lines are for insights, if there are as many."""


def problem_lines(results: Results) -> list[str]:
    """What is beyond chance, answers without a word, the others; agents with the same problem share a line."""
    same: dict[tuple[int, str], list[Problem]] = {}
    for place, one in enumerate(results.problems):
        alone = f"{place}" if one.kind != "beyond_threshold" else ""
        same.setdefault((_RANK[one.sure], alone or f"of {one.criterion}"), []).append(one)
    return [_together(results, some) for _, some in sorted(same.items(), key=lambda pair: pair[0][0])]


def insight_lines(results: Results) -> list[str]:
    """Agents told from all others, then what was not tested, then what chance may have brought about."""
    return [one_line(one.sentence) for one in sorted(results.insights, key=_rank)]


_RANK = {True: 0, None: 1, False: 2}


def _rank(one: Insight) -> int:
    return _RANK[one.told_apart]


def told_lines(results: Results) -> list[str]:
    """At most `MOST` lines for the terminal; none where there is neither problem nor insight."""
    problems = [f"problem: {line}" for line in problem_lines(results)]
    insights = [f"insight: {line}" for line in insight_lines(results)]
    if len(problems) + len(insights) <= MOST:
        return problems + insights
    room = MOST - 1
    some = problems[: room - min(len(insights), _INSIGHTS_AT_LEAST)]
    some += insights[: room - len(some)]
    n_problems = sum(line.startswith("problem") for line in some)
    left = len(problems) - n_problems, len(insights) - (len(some) - n_problems)
    more = [_counted(n, what) for n, what in zip(left, ("problem", "insight"), strict=True) if n]
    return [*some, f"and {' and '.join(more)} more: report.html, under Evaluators"]


def _together(results: Results, some: Sequence[Problem]) -> str:
    """Of several agents with one criterion, how many and which is the worst."""
    first = some[0]
    if len(some) == 1 or first.criterion is None:
        return one_line(first.sentence)
    lower = first.criterion in results.lower_is_better
    known = [one for one in some if one.figure.value is not None]
    worst = sorted(known, key=lambda one: (one.figure.value or 0.0) * (-1 if lower else 1))[0]
    side = "above" if lower else "below"
    limit = f" of {results.thresholds[first.criterion]:g}" if first.criterion in results.thresholds else ""
    how = "beyond chance" if first.sure else "though by no more than chance may bring about"
    return (
        f"{one_line(first.criterion)} is {side} its threshold{limit} for {len(some)} of {len(results.agents)} agents, "
        f"{how}; the worst is {one_line(worst.agent)}, {worst.figure.value:.3g} (n {worst.figure.n})."
    )


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
