"""Problems: agents whose mean is beyond a threshold, and answers without a word, which cannot be embedded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ragassay.records import Answer, Figure
from ragassay.text import one_line

from ...judging.engine.thresholds import good_enough
from ...results import Figures, Problem
from ...statistics.resamples import Resamples

_WORD = re.compile(r"\w\w|[^\W\d_a-zA-Z]")
"""Two letters or digits together, or one letter of a script that writes words in one sign."""


def problems(
    means: Figures,
    thresholds: Mapping[str, float],
    lower_is_better: Iterable[str],
    answers: Mapping[tuple[str, str], Answer],
    draws: Resamples,
) -> tuple[Problem, ...]:
    """Of each agent, in the order of `means`: by criterion, then what is too short.

    means: agent to criterion to the mean label. answers: by query id and agent.
    """
    lower = set(lower_is_better)
    found: list[Problem] = []
    for agent, named in means.items():
        rows = [(name, figure, thresholds[name]) for name, figure in named.items() if name in thresholds]
        found += [one for name, figure, least in rows for one in _beyond(agent, name, figure, least, name in lower)]
        found += _too_short(agent, [row for (_, other), row in answers.items() if other == agent], draws)
    return tuple(found)


def _beyond(agent: str, name: str, figure: Figure, threshold: float, lower: bool) -> Iterator[Problem]:
    if figure.value is None or good_enough(figure.value, threshold, lower_is_better=lower):
        return
    best = figure.ci_low if lower else figure.ci_high
    sure = best is not None and not good_enough(best, threshold, lower_is_better=lower)
    how = "beyond chance" if sure else "though by no more than chance may bring about"
    side, way = ("above", ", of which less is better,") if lower else ("below", "")
    n = f"n {figure.n}" + (f", {figure.n_failed} failed" if figure.n_failed else "")
    sentence = (
        f"{one_line(agent)}: the mean of {one_line(name)}{way} is {figure.value:.3g}, {side} its threshold of "
        f"{threshold:g}, {how} ({n})."
    )
    yield Problem(kind="beyond_threshold", agent=agent, criterion=name, figure=figure, sure=sure, sentence=sentence)


def _too_short(agent: str, rows: Sequence[Answer], draws: Resamples) -> list[Problem]:
    short = {row.query_id: None if row.answer is None else float(not _WORD.search(row.answer)) for row in rows}
    n = sum(value == 1 for value in short.values())
    if not n:
        return []
    said = "1 answer holds" if n == 1 else f"{n} answers hold"
    sentence = (
        f"{one_line(agent)}: {said} no word, too short to embed, of {sum(v is not None for v in short.values())}."
    )
    return [Problem(kind="too_short", agent=agent, figure=draws.figure(short, (0.0, 1.0)), sentence=sentence)]
