"""The two-sample test by looks and meaning: components are scikit-learn's; meaning alone can tell two sets apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.decomposition import PCA
from support.question_pool import looks

from ragassay.synth.choosing.features import Features
from ragassay.synth.choosing.told_apart import principal_components, told_apart_by_meaning

EXPERTS, WRITTEN = [f"e{i}" for i in range(30)], [f"w{i}" for i in range(30)]


def embedding(apart: float) -> Callable[[Sequence[str]], npt.NDArray[np.floating]]:
    """Twenty numbers a text, those of written ones `apart` standard deviations away along one direction."""

    def embed(texts: Sequence[str]) -> npt.NDArray[np.floating]:
        rows = np.random.default_rng(5).normal(size=(len(texts), 20))
        rows[:, 0] += [apart * text.startswith("w") for text in texts]
        return rows

    return embed


def look(text: str) -> Features:
    return looks(1, 10, np.random.default_rng(int(text[1:])))[0]


def test_components_are_scikit_learns_but_for_their_signs() -> None:
    rows = np.random.default_rng(3).normal(size=(40, 12))
    ours, theirs = principal_components(rows, 5), PCA(5).fit_transform(rows)
    assert np.allclose(np.abs(ours), np.abs(theirs))
    assert principal_components(np.ones((4, 3)), 5).shape == (4, 0)


@pytest.mark.parametrize(("apart", "told"), [(0.0, False), (6.0, True)])
def test_what_looks_alike_is_told_apart_by_its_meaning_alone(apart: float, told: bool) -> None:
    found = told_apart_by_meaning(EXPERTS, WRITTEN, look, embedding(apart), seed=1)
    assert found is not None and found.n == 60 and found.ci_low is not None
    assert (found.ci_low > 0.5) is told


def test_too_few_are_not_embedded() -> None:
    def never(texts: Sequence[str]) -> npt.NDArray[np.floating]:
        raise AssertionError(texts)

    assert told_apart_by_meaning(EXPERTS[:9], WRITTEN, look, never, seed=1) is None
