"""sentence-transformers' sparse and multi-vector encoders by name; what was not trained to be one is refused.

The library makes either of any model, with layers of random weights where it lacks them. Their numbers mean nothing,
and nothing would say so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from ..errors import InputError
from ..text import plain
from .encoders import OFFLINE_MODEL, load_as

_SPARSE = {"SparseEncoder"}
_MULTI_VECTOR = {"MultiVectorEncoder", "ColBERT"}  # the latter is PyLate's


class RowEncoder(Protocol):
    """The part of SparseEncoder and MultiVectorEncoder that is used: what they return differs."""

    encode_query: Callable[..., Any]
    encode_document: Callable[..., Any]


def load_sparse_encoder(model: str) -> RowEncoder:
    """A SparseEncoder, or a masked language model with SPLADE's pooling, by hub name or folder.

    Raises InputError for any other, and what `load_encoder` does.
    """
    encoder = load_as("SparseEncoder", model)
    made_up = any(type(module).__name__ == "SparseAutoEncoder" for module in encoder.modules())
    if made_up and _declared(model).get("model_type") not in _SPARSE:
        raise _refused(model, "sparse", "it is no SparseEncoder and no masked language model")
    return encoder  # type: ignore[no-any-return]


def load_multi_vector_encoder(model: str) -> RowEncoder:
    """A MultiVectorEncoder by hub name or folder: its own, PyLate's, Stanford's ColBERT or a `…ForRetrieval` model.

    Raises InputError for any other, and what `load_encoder` does.
    """
    encoder = load_as("MultiVectorEncoder", model)
    declared, architectures = _declared(model), _json(model, "config.json").get("architectures") or []
    trained = declared.get("model_type") in _MULTI_VECTOR or "query_prefix" in declared
    if not trained and not any(name == "HF_ColBERT" or name.endswith("ForRetrieval") for name in architectures):
        raise _refused(model, "late-interaction", "it has no vectors for single tokens (a ColBERT model has)")
    return encoder  # type: ignore[no-any-return]


def _declared(model: str) -> dict[str, Any]:
    return _json(model, "config_sentence_transformers.json")


def _json(model: str, name: str) -> dict[str, Any]:
    """That file of a model that was loaded; nothing where it has none."""
    if model == OFFLINE_MODEL:
        return {}
    if Path(model).is_dir():
        path = Path(model) / name
    else:
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(model, name)
        path = Path(found) if isinstance(found, str) else Path(model) / name
    content = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return content if isinstance(content, dict) else {}


def _refused(model: str, kind: str, why: str) -> InputError:
    return InputError(f"model '{plain(model)}' is not for {kind}: {why}", remedy=f"name a model trained for {kind}")
