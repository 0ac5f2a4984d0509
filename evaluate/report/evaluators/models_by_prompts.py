"""The heat map of models by prompts: a measure's mean in each cell, shaded from the worst of them to the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragassay.records import Figure
from ragassay.text import one_line

from ...results import ModelByPrompt, Results
from ..telling import telling_criterion
from ..wording import Shown, kind_of, measure_name, shown

LONGEST = 80
"""Characters of a prompt's name in a heading."""

STEPS = 5
"""Of colour, the last of the best cells."""


@dataclass(frozen=True)
class GridCell:
    """A mean in words, of the answers of `agents`.

    tone: from 0 (the worst of the cells) to `STEPS` - 1; None without a value.
    """

    mean: Shown
    tone: int | None
    agents: str


@dataclass(frozen=True)
class Grid:
    """One measure. rows: model to a cell for each of `prompts`; None where no agent answers so."""

    measure: str
    prompts: list[str]
    rows: list[tuple[str, list[GridCell | None]]]


def grids(results: Results) -> list[Grid]:
    """A grid of each measure, the one that tells agents apart first; none without two models and two prompts."""
    crossed = results.models_by_prompts
    names = list(dict.fromkeys(name for one in crossed for name in one.means))
    first = telling_criterion(results)
    names.sort(key=lambda name: name != first)
    return [
        grid(name, crossed, [one.means.get(name) for one in crossed], lower_is_better=name in results.lower_is_better)
        for name in names
    ]


def grid(
    measure: str, crossed: Sequence[ModelByPrompt], means: Sequence[Figure | None], *, lower_is_better: bool
) -> Grid:
    """means: of each of `crossed`, None where it has no values of the measure."""
    known = [one.value for one in means if one is not None and one.value is not None]
    ends = (min(known, default=0.0), max(known, default=0.0))
    cells: Mapping[tuple[str, str], GridCell] = {
        (one.model, one.prompt): GridCell(
            shown(mean, kind_of(measure)),
            _tone(mean.value if mean else None, ends, lower_is_better=lower_is_better),
            ", ".join(map(one_line, one.agents)),
        )
        for one, mean in zip(crossed, means, strict=True)
    }
    prompts = list(dict.fromkeys(one.prompt for one in crossed))
    models = list(dict.fromkeys(one.model for one in crossed))
    rows = [(one_line(model), [cells.get((model, prompt)) for prompt in prompts]) for model in models]
    return Grid(measure_name(measure), [_cut(prompt) for prompt in prompts], rows)


def _tone(value: float | None, ends: tuple[float, float], *, lower_is_better: bool) -> int | None:
    if value is None:
        return None
    low, high = ends
    share = (value - low) / (high - low) if high > low else 0.5
    return round((STEPS - 1) * (1 - share if lower_is_better else share))


def _cut(name: str) -> str:
    line = one_line(name)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
