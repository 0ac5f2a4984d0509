"""Whether experts' and written questions can be told apart by how they look and what they mean together.

The two-sample test of `told_apart` on Features and the first principal components of the questions' embeddings. The
components are those of both samples together, whichever is which, so that they favour neither, and few, since there are
a few dozen questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ragassay.records import Figure

from .features import Features
from .told_apart import FEWEST, area_told_apart

COMPONENTS = 10


def told_apart_by_meaning(
    experts: Sequence[str],
    written: Sequence[str],
    look: Callable[[str], Features],
    embed: Callable[[Sequence[str]], npt.NDArray[np.floating]],
    *,
    seed: int,
) -> Figure | None:
    """The area under the curve, with its interval; None where either has fewer than 10 questions.

    look: the features of a text. embed: texts to a row each; not called where there are too few.
    """
    if min(len(experts), len(written)) < FEWEST:
        return None
    texts = [*experts, *written]
    looks = np.array([look(text) for text in texts], float)
    meanings = principal_components(embed(texts), COMPONENTS)
    return area_told_apart(np.hstack([looks, meanings]), len(experts), seed=seed)


def principal_components(rows: npt.NDArray[np.floating], most: int) -> npt.NDArray[np.float64]:
    """Each row's scores on the first `most` principal components of all rows, fewer where they have fewer."""
    centred = np.asarray(rows, np.float64) - np.mean(rows, axis=0, dtype=np.float64)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    kept = min(most, int((sizes > 1e-9).sum()))
    return np.asarray(left[:, :kept] * sizes[:kept])
