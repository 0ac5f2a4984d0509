"""The agents' colours: the same in every view, and those of the report."""

from __future__ import annotations

from collections.abc import Iterable

from ragassay.evaluate.report.plots import COLOURS


def colours_of(agents: Iterable[str]) -> dict[str, int]:
    """Agent to the number of its colour, in the order of their names; after the last comes the first again."""
    return {name: place % COLOURS for place, name in enumerate(sorted(agents))}
