"""Cross-encoders of sentence-transformers that score a passage for a query, from a folder or the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Protocol, cast

import numpy as np

from ..arrays import Singles
from ..errors import InputError, MissingExtra
from ..text import plain
from .encoders import check_found, is_local_only, no_progress_bar


class PairScorer(Protocol):
    """A loaded model."""

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Singles:
        """(pairs,): the logit of each (query, text). Raises InputError where one is no number."""
        ...


def load_pair_scorer(model: str) -> PairScorer:
    """The model of a name. Raises InputError where there is none, or it has not one output; MissingExtra without what
    loads it."""
    try:
        from sentence_transformers import CrossEncoder
    except ModuleNotFoundError as error:
        raise MissingExtra(f"reranking needs a cross-encoder ({error.name} is not installed), which", "local") from None
    local_only = is_local_only(model, _unusable)
    try:
        with no_progress_bar():
            loaded = CrossEncoder(model, local_files_only=local_only)
    except Exception as error:  # a model's files may fail in any way: all of them mean that it cannot be used
        first = plain(str(error).strip().split("\n")[0][:200])
        reason = "the hub cannot be reached and it is not in the local cache" if local_only else first
        raise _unusable(model, reason) from error
    if loaded.num_labels != 1:
        raise _unusable(model, f"it gives {loaded.num_labels} scores for a pair, and a reranker gives one")
    return _Scorer(model, loaded)


def check_pair_scorer(model: str) -> None:
    """Raises InputError or MissingExtra where `load_pair_scorer` would find nothing. Nothing is loaded."""
    if find_spec("sentence_transformers") is None:
        raise MissingExtra("reranking needs sentence_transformers, which", "local")
    try:
        check_found(model)
    except InputError as error:
        raise _unusable(model, error.problem.partition("cannot be loaded: ")[2]) from None


class _Scorer:
    """Logits rather than what the model makes of them: a sigmoid's single precision ends in many ones."""

    def __init__(self, model: str, loaded: Any) -> None:
        self._model, self._loaded = model, loaded

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Singles:
        import torch

        with torch.inference_mode():
            raw = self._loaded.predict(
                list(pairs), batch_size=32, show_progress_bar=False, activation_fn=torch.nn.Identity()
            )
        found = np.asarray(raw, dtype=np.float32).reshape(len(pairs))
        if not np.isfinite(found).all():
            query = pairs[int(np.flatnonzero(~np.isfinite(found))[0])][0]
            raise InputError(f"the cross-encoder '{plain(self._model)}' gives no score for '{plain(query[:60])}'")
        return cast(Singles, found)


def _unusable(model: str, reason: str) -> InputError:
    remedy = "give a folder or a hub name, such as cross-encoder/ms-marco-MiniLM-L6-v2"
    return InputError(f"the cross-encoder '{plain(model)}' cannot be loaded: {reason}", remedy=remedy)
