"""How a test set looks beside people's questions: what it shares with passages, and whether it can be told apart."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from ragassay.records import Figure, QuestionsCheck
from ragassay.text import same_words

from ..choosing.features import features_of
from ..choosing.told_apart import FEWEST, questions_check
from .copied import Overlap
from .corpus_text import CorpusText
from .findings import Overlaps, Spread

SEED = 7
RESAMPLES = 1000
MOST = 400
"""Questions of a set that are held against the experts', drawn at random of a larger one."""


def overlaps_of(found: Sequence[Overlap | None]) -> Overlaps:
    """The spread of both figures; questions for which no passage was found have failed."""
    known = [one for one in found if one is not None]
    n_failed = len(found) - len(known)
    return Overlaps(
        run=_spread([one.run for one in known], n_failed), shared=_spread([one.shared for one in known], n_failed)
    )


def _spread(values: Sequence[float], n_failed: int) -> Spread:
    """The mean with the percentile interval of 1,000 resamples of the questions, and the quartiles."""
    if not values:
        return Spread(mean=Figure(value=None, n=0, n_failed=n_failed), quartiles=None)
    row = np.array(values, float)
    rng = np.random.default_rng(SEED)
    means = [float(rng.choice(row, len(row)).mean()) for _ in range(RESAMPLES if len(row) > 1 else 0)]
    low, high = np.percentile(means, [2.5, 97.5]).tolist() if means else (None, None)
    first, median, third = np.percentile(row, [25, 50, 75]).tolist()
    mean = Figure(value=float(row.mean()), n=len(row), n_failed=n_failed, ci_low=low, ci_high=high)
    return Spread(mean=mean, quartiles=(first, median, third))


def realism(
    questions: Sequence[str], experts: Sequence[str], corpus: CorpusText
) -> tuple[QuestionsCheck | None, list[str]]:
    """The classifier two-sample test of a set's questions and the experts', and what is to be said of it.

    Questions of the set that are the experts' own are left out of it.
    """
    if not experts:
        return None, ["there are no experts' questions (questions.txt) to hold the set against: realism is not said"]
    known = {same_words(text) for text in experts}
    others = [text for text in questions if same_words(text) not in known]
    notes = []
    if len(others) < len(questions):
        notes.append(f"{len(questions) - len(others)} questions are the experts' own, and left out of realism")
    if len(others) < FEWEST or len(experts) < FEWEST:
        n = f"{len(experts)} experts' and {len(others)} other questions"
        return None, [*notes, f"realism is not said of {n}: it takes {FEWEST} of each"]
    if len(others) > MOST:
        others = random.Random(SEED).sample(others, MOST)
        notes.append(f"realism is of {MOST} of the questions, drawn at random")
    figures = ([features_of(text, corpus.search, corpus.language) for text in texts] for texts in (experts, others))
    of_experts, of_set = figures
    return questions_check(of_experts, of_set, distance=None, drawn=None, seed=SEED), notes
