"""Problems and insights, the most important first: all of them on the page, the first few lines in the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from ragassay.text import one_line

from ...results import Results

MOST = 12
"""Lines in the terminal, with the one that says how many more there are."""


@dataclass(frozen=True)
class Told:
    """A problem or an insight in its sentence."""

    is_problem: bool
    sentence: str


def told_first(results: Results) -> list[Told]:
    """What is beyond chance: means beyond their thresholds, answers without a word, agents told from each other; then
    the hardest question and the least grounded sentence; then what chance may have brought about."""
    told = [(_PROBLEMS[one.sure], Told(True, one_line(one.sentence))) for one in results.problems]
    told += [(_INSIGHTS[one.told_apart], Told(False, one_line(one.sentence))) for one in results.insights]
    return [one for _, one in sorted(told, key=lambda ranked: ranked[0])]


_PROBLEMS = {True: 0, None: 1, False: 4}
_INSIGHTS = {True: 2, None: 3, False: 5}


def told_lines(results: Results) -> list[str]:
    """At most `MOST` lines for the terminal; none where there is neither problem nor insight."""
    told = told_first(results)
    lines = [f"{'problem' if one.is_problem else 'insight'}: {one.sentence}" for one in told]
    if len(lines) <= MOST:
        return lines
    left = told[MOST - 1 :]
    n_problems = sum(one.is_problem for one in left)
    more = [_counted(n_problems, "problem"), _counted(len(left) - n_problems, "insight")]
    return [*lines[: MOST - 1], f"and {' and '.join(filter(None, more))} more: report.html, under Evaluators"]


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}" if n else ""
