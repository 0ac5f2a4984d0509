"""Rows of the coverage table of comparisons: which bar each is held to, who meets those out of it, how they print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LOWEST, HIGHEST = 0.93, 0.97

MEAN, SKEWED_MEAN, STRONG_MEAN = "mean", "mean of a near-perfect agent", "mean, correlation 0.8"
CEILING_MEAN = "mean near the ceiling"
UNEQUAL_MEAN, UNEQUAL_DIFFERENCE = "mean, sections of unequal size", "difference, sections of unequal size"
UNEQUAL_VERDICT = "false verdict, 6 equal agents, sections of unequal size"
DIFFERENCE, ONE_WAY = "difference", "difference, few queries differ, the same way"
FALSE_VERDICT, NEEDED = "false verdict, 6 equal agents", "number of queries needed"

BETWEEN = "93% to 97%"
ABOVE, SHORT = "above the bar", "short of the bar"

MET = {
    (MEAN, ABOVE): "With six sections of five questions and labels near the top: the interval is wider than need be.",
    (SKEWED_MEAN, ABOVE): (
        "With up to 50 queries of an agent that is nearly always right: wider than need be. Only the end away from the "
        "limit can miss there, and each end is held to 2.5%."
    ),
    (CEILING_MEAN, ABOVE): "With few queries or sections of an agent that is nearly always right: wider than need be.",
    (SKEWED_MEAN, SHORT): "With an agent that is nearly always right and few sections that hold all of its failures.",
    (UNEQUAL_MEAN, ABOVE): (
        "With 50 or 100 queries of which a few sections have most, or a mean near the top: wider than need be."
    ),
    (UNEQUAL_MEAN, SHORT): (
        "With some large sections whose questions nearly stand or fall together, beside many of one question: the few "
        "large ones that fail are easily all missed."
    ),
    (UNEQUAL_DIFFERENCE, ABOVE): (
        "With a few large sections in which nothing is correlated: the degrees of freedom are for a correlation of .5."
    ),
    (STRONG_MEAN, ABOVE): "With six or ten sections whose questions nearly stand or fall together: wider than need be.",
    (STRONG_MEAN, SHORT): (
        "With ten or twenty sections whose questions nearly stand or fall together, and an agent that is nearly always "
        "right: the few sections that fail are easily all missed, and the interval is then too near the top."
    ),
    (ONE_WAY, ABOVE): (
        "With agents that answer nearly all queries alike, one never worse: wider than need be, since one or two "
        "queries that differ neither rule out 0 nor tell how many more there are."
    ),
    (ONE_WAY, SHORT): (
        "With agents that differ on a few sections only, whose questions stand or fall together, in a set where one "
        "query in a hundred points the other way."
    ),
    (FALSE_VERDICT, SHORT): "Equal agents are called different too often.",
    (NEEDED, SHORT): "The number of queries said to be needed is surer than it should be.",
}
"""When a user meets the cells of a kind that are out of their bar."""

ELSE = {ABOVE: "The interval is wider than need be.", SHORT: "The interval is too narrow."}
"""Of the other kinds."""


@dataclass(frozen=True)
class Cell:
    """One row: what was simulated, the share that came out so, the bar it is held to and whether it reaches it.

    per_section: how many queries a section has, or the kind of layout in `unequal_sections`.
    """

    kind: str
    what: str
    n_queries: int
    per_section: str
    correlation: float
    share: float
    bar: str
    reached: bool
    experiments: int


def between(kind: str, what: str, n: int, layout: str, correlation: float, share: float, experiments: int) -> Cell:
    """A row of an interval, held to `BETWEEN`."""
    reached = LOWEST <= share <= HIGHEST
    return Cell(kind, what, n, layout, correlation, share, BETWEEN, reached, experiments)


def summary(rows: Sequence[Cell]) -> Iterator[str]:
    """Lines of Markdown: a row for each kind of figure."""
    yield "| kind of figure | bar | cells | lowest | highest | out of the bar |"
    yield "|---|---|--:|--:|--:|--:|"
    for kind in dict.fromkeys(row.kind for row in rows):
        own = [row for row in rows if row.kind == kind]
        ends = f"{min(row.share for row in own):.1%} | {max(row.share for row in own):.1%}"
        out = sum(not row.reached for row in own)
        yield f"| {kind} | {own[0].bar} | {len(own)} | {ends} | {out or 'none'} |"


def missed(rows: Sequence[Cell]) -> Iterator[str]:
    """Lines of Markdown: the cells out of the bar by name, and when a user meets them."""
    for kind in dict.fromkeys(row.kind for row in rows):
        out = [row for row in rows if row.kind == kind and not row.reached]
        for side, own in (
            (ABOVE, [row for row in out if _above(row)]),
            (SHORT, [row for row in out if not _above(row)]),
        ):
            if own:
                yield f"\n{kind[0].upper()}{kind[1:]}, {side}. {MET.get((kind, side), ELSE[side])}\n"
                yield from _named(own)


def _above(row: Cell) -> bool:
    return row.bar == BETWEEN and row.share > HIGHEST


def _named(rows: Sequence[Cell]) -> Iterator[str]:
    """A line for the cells of each measure and number of queries."""
    for what, n in dict.fromkeys((row.what, row.n_queries) for row in rows):
        own = [row for row in rows if (row.what, row.n_queries) == (what, n)]
        layouts_there = ", ".join(f"{row.per_section} at {row.correlation:g}: {row.share:.1%}" for row in own)
        yield f"- {what}, {n} queries; a section and correlation {layouts_there}"


def whole(rows: Sequence[Cell]) -> Iterator[str]:
    """Lines of Markdown: every cell."""
    yield "| figure | what | queries | a section | correlation | share | bar | |"
    yield "|---|---|--:|--:|--:|--:|---|---|"
    for row in rows:
        place = f"{row.n_queries} | {row.per_section} | {row.correlation:g}"
        mark = "" if row.reached else "missed"
        yield f"| {row.kind} | {row.what} | {place} | {row.share:.1%} | {row.bar} | {mark} |"
