"""Which questions tell systems apart: difficulty and discrimination of each, and the fewest that keep the order.

Classical test theory (Lord and Novick, Statistical Theories of Mental Test Scores, 1968, chapter 15), with variants for
persons and questions for items: difficulty is the mean over variants, discrimination the item-rest correlation. A 2PL
model would add a scale that values between 0 and 1 do not call for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ragassay.arrays import Floats, Truths
from ragassay.records import Figure

from ..screening.mean_figures import mean_figures
from ..statistics.resamples import rounded
from .families import Measured
from .questions import Question, written
from .records import Difficulty, QuestionDifficulty
from .subset import FEWEST_VARIANTS, KEPT, smallest_subset
from .told import FEWEST, NO_SCREENING, shown

PASSED, FAILED = 0.99, 0.01
_NO_SUBSET = f"No smaller set is looked for: that takes {FEWEST} questions and {FEWEST_VARIANTS} variants, not level."
_Z = 1.959963984540054


def difficulty(questions: Sequence[Question], measured: Measured | None, seed: int) -> Difficulty:
    """Everything the page says of it, by the written questions that every variant has a value on."""
    if measured is None:
        return Difficulty(abstained=NO_SCREENING)
    asked = measured.only([question.id for question in written(questions)])
    part = asked.complete()
    n, n_variants = len(part.clusters.queries), len(part.names)
    if n < 2 or n_variants < 2:
        has = f"{n} written {'question has' if n == 1 else 'questions have'} a value of each of {n_variants} variants"
        return Difficulty(abstained=f"{has}; difficulty and discrimination take two of each.")
    figures = _figures(part, len(asked.clusters.queries) - n)
    enough = n >= FEWEST and n_variants >= FEWEST_VARIANTS
    subset = smallest_subset(part, seed) if enough else None
    found = Difficulty(
        figures=figures,
        questions=tuple(_by_question(part)),
        subset=subset,
        abstained=None if subset else _NO_SUBSET,
    )
    return found.model_copy(update={"said": tuple(_said(found, n))})


def _by_question(part: Measured) -> Iterator[QuestionDifficulty]:
    means = part.values.mean(axis=0)
    for at, query in enumerate(part.clusters.queries):
        column, rest = part.values[:, at], np.delete(part.values, at, axis=1).mean(axis=1)
        yield QuestionDifficulty(
            id=query,
            difficulty=rounded(float(means[at]), len(column), 0, None, None),
            discrimination=_correlation(column, rest),
        )


def _correlation(one: Floats, other: Floats) -> Figure:
    """Pearson's r with Fisher's interval, as if variants were drawn independently, which those of one grid are not."""
    n = len(one)
    if np.ptp(one) < 1e-9 or np.ptp(other) < 1e-9:
        return Figure(value=None, n=n)
    r = float(np.clip(np.corrcoef(one, other)[0, 1], -1, 1))
    if n < 4 or abs(r) > 1 - 1e-9:
        return rounded(r, n, 0, None, None)
    low, high = np.tanh(np.arctanh(r) + np.array([-1, 1]) * _Z / np.sqrt(n - 3))
    return rounded(r, n, 0, float(low), float(high))


def _figures(part: Measured, n_failed: int) -> dict[str, Figure]:
    values = part.values
    alike = np.ptp(values, axis=0) < 1e-9
    against = [one.discrimination.ci_high is not None and one.discrimination.ci_high < 0 for one in _by_question(part)]
    shares: dict[str, Truths] = {
        "all_pass": np.asarray((values >= PASSED).all(axis=0)),
        "all_fail": np.asarray((values <= FAILED).all(axis=0)),
        "alike": alike,
        "against": np.array(against),
    }
    table = np.array([row.astype(np.float64) for row in shares.values()])
    found = mean_figures(table, part.clusters)
    return {name: one.model_copy(update={"n_failed": n_failed}) for name, one in zip(shares, found, strict=True)}


def _said(found: Difficulty, n: int) -> Iterator[str]:
    figures = found.figures
    yield (
        f"Of the written questions every variant passes {shown(figures['all_pass'])} and fails "
        f"{shown(figures['all_fail'])}; {shown(figures['against'])} tell variants apart the wrong way round."
    )
    subset = found.subset
    if subset and len(subset.questions) == n:
        yield f"No smaller set keeps the order: on variants that did not choose it, none reaches a τ-b of {KEPT}."
    elif subset:
        yield (
            f"{len(subset.questions)} of {n} questions keep the order of variants: τ-b with the whole is "
            f"{shown(subset.tau_b)} on variants that had no part in choosing them, and of as many drawn at random "
            f"{shown(subset.tau_b_random)}."
        )
