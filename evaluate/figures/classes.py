"""Accuracy, precision, recall and F1 of the classes that answers name, over a whole run.

For a class: precision is TP / (TP + FP), recall TP / (TP + FN), F1 2 TP / (2 TP + FP + FN); the plain ones are their
means over the classes that have one (macro), as scikit-learn's with `zero_division=nan`. An answer that names no class
counts among the FN of the one expected. What is not defined, as the precision of a class that nobody named, is missing
and is no 0. Intervals are over queries, taken together by their clusters: of a class by the ratio's, of a macro mean by
its linear approximation (the delta method: each query's part in each class's ratio).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

from ragassay.records import Assessment, Figure

from ..judging.judges.eval_studio.truth.classification import Classification
from ..statistics.resamples import Resamples

Figures = dict[str, Figure]

CLASSIFICATION = Classification.name

MOST_CLASSES = 50
"""With more, there are no figures of each class by itself."""


class Named(NamedTuple):
    """The class that a query expects, and what the answer names; "" for none of the classes."""

    query: str
    expected: str
    given: str


def classification_figures(rows: Sequence[Assessment], draws: Resamples) -> dict[str, Figures]:
    """Agent to `accuracy`, `precision`, `recall`, `f1`, then `precision(CLASS)` and so on of each of up to 50 classes.

    rows: of any evaluators. n counts answers for the first four, for a class what its ratio is over; n_failed the
    answers without a record. Empty where `classification` gave nothing.
    """
    mine = [row for row in rows if row.criterion == CLASSIFICATION]
    classes = _classes(mine)
    return {agent: _of_agent([row for row in mine if row.subject == agent], classes, draws) for agent in _agents(mine)}


def _agents(rows: Sequence[Assessment]) -> list[str]:
    return list(dict.fromkeys(row.subject for row in rows))


def _classes(rows: Sequence[Assessment]) -> list[str]:
    """Those that are set, or else expected, of all agents: so that all have the same."""
    details = [row.details[0] for row in rows if row.label is not None]
    return sorted({str(name) for one in details for name in one["classes"] or [one["expected"]]})


def _of_agent(rows: Sequence[Assessment], classes: Sequence[str], draws: Resamples) -> Figures:
    names = set(classes)
    known = [_named(row, names) for row in rows if row.label is not None]
    failed = len(rows) - len(known)
    of_class: dict[str, list[Named]] = {one: [] for one in classes}
    for row in known:
        for one in {row.expected, row.given} - {""}:
            of_class[one].append(row)
    figures = {"accuracy": draws.figure({row.query_id: row.label for row in rows}, (0.0, 1.0))}
    for name in _PARTS:
        figures[name] = _macro(known, of_class, name, draws, failed)
    for one in classes if len(classes) <= MOST_CLASSES else ():
        figures |= {f"{name}({one})": _of_class(of_class[one], one, name, draws, failed) for name in _PARTS}
    return figures


def _named(row: Assessment, classes: Set[str]) -> Named:
    expected, given = (str(row.details[0][name]) for name in ("expected", "given"))
    return Named(row.query_id, expected, given if given in classes else "")


Part = Callable[[Named, str], tuple[float, float]]
"""What an answer adds to a class's ratio, above and below."""

_PARTS: dict[str, Part] = {
    "precision": lambda row, one: (float(row.expected == row.given), float(row.given == one)),
    "recall": lambda row, one: (float(row.expected == row.given), float(row.expected == one)),
    "f1": lambda row, one: (2.0 * (row.expected == row.given), float(row.expected == one) + (row.given == one)),
}
"""Of an answer that expects or names the class."""


def _of_class(rows: Sequence[Named], one: str, name: str, draws: Resamples, failed: int) -> Figure:
    parts = {row.query: _PARTS[name](row, one) for row in rows}
    above, below = ({query: part[at] for query, part in parts.items()} for at in (0, 1))
    n = sum(value > 0 for value in below.values())
    return draws.ratio(above, below, n=n, n_failed=failed, limits=(0.0, 1.0))


def _macro(
    rows: Sequence[Named], of_class: Mapping[str, Sequence[Named]], name: str, draws: Resamples, failed: int
) -> Figure:
    """Each answer's value is the mean plus its part in the ratios, so that the mean of these is the macro mean."""
    ratios, shares = [], dict.fromkeys((row.query for row in rows), 0.0)
    for one, some in of_class.items():
        parts = [_PARTS[name](row, one) for row in some]
        if below := sum(part[1] for part in parts):
            ratios.append(sum(part[0] for part in parts) / below)
            for row, (above, under) in zip(some, parts, strict=True):
                shares[row.query] += len(rows) * (above - ratios[-1] * under) / below
    if not ratios:
        return Figure(value=None, n=0, n_failed=failed)
    mean = sum(ratios) / len(ratios)
    return draws.mean([(query, mean + share / len(ratios)) for query, share in shares.items()], failed)
