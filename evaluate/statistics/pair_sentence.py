"""What is said of two agents on a measure, in a sentence."""

from __future__ import annotations

from ragassay.records import Figure

from ..results import NOT_DISTINGUISHABLE, PRACTICALLY_EQUAL, NeededQueries, PairVerdict


def pair_sentence(
    names: tuple[str, str, str],
    figure: Figure,
    n_sections: int,
    verdict: PairVerdict,
    least: float | None,
    needed: NeededQueries | None,
    matters: float | None,
    *,
    lower_is_better: bool = False,
) -> str:
    """names: the two agents and the measure. figure: their difference. least: the smallest that could be shown."""
    a, b, measure = names
    if figure.value is None:
        return f"{a} and {b} have no query in common on {measure}."
    queries = "this 1 query" if figure.n == 1 else f"these {figure.n} queries"
    if verdict == PRACTICALLY_EQUAL:
        return f"{a} and {b} are practically equal on {measure}: they differ by less than {matters:g} with {queries}."
    if verdict != NOT_DISTINGUISHABLE:
        way = " (lower is better)" if lower_is_better else ""
        return f"{a} is {verdict} than {b} on {measure}{way}, by {abs(figure.value):.3f} with {queries}."
    said = f"{a} and {b} are not distinguishable with {queries} on {measure}"
    if figure.n > 1 and n_sections == 1:
        said += ": they all come from one section, and stand for one"
    if least is not None:
        said += f": a difference below {least:.2g} could well have been missed"
    return said + _would_decide(figure.n, needed) + "."


def _would_decide(n: int, needed: NeededQueries | None) -> str:
    if needed is None:
        return ""
    end = f"to {needed.ci_high:,}" if needed.ci_high is not None else "and up, without end"
    if needed.value is None:
        return f"; no number of queries would decide a difference of 0 ({needed.ci_low:,} {end})"
    more = max(needed.value - n, 0)
    return f"; about {more:,} more queries would decide it ({needed.value:,} in all; 95%: {needed.ci_low:,} {end})"
