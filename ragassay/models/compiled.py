"""Embedding models whose network runs in ONNX Runtime instead of torch: the same vectors sooner, or 8-bit ones.

Tokens, truncation, batches by length, pooling and normalisation stay those of sentence-transformers. In float32 the
vectors are torch's up to the rounding of the half precision in which they are kept (`docs/scale.md` has the largest
difference measured), so both are kept under one identity; 8-bit weights give others, under an identity of their own.
"""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from ..arrays import Singles
from ..errors import InputError, MissingExtra
from ..text import plain
from .encoders import Encoder
from .onnx_network import OnnxNetwork, network_file

Backend = Literal["auto", "torch", "onnx", "onnx-int8"]
"""What runs an embedding model's network. auto: ONNX Runtime where it is installed, the model is right in it and no
GPU is there, and else torch. onnx: ONNX Runtime or an error. onnx-int8: the same with 8-bit weights."""

INT8: Backend = "onnx-int8"

LEAST_COSINE = {False: 0.99999, True: 0.9}
"""Of a probe's vector to torch's, for it to be the model's: in float32, and in 8 bits (True)."""

PROBE = ("What is malloc?", "The header declares functions that wait busily. " * 12)
"""Texts of two lengths, embedded by both in one batch, so that padding is tried as well."""

_PACKAGES = ("onnxruntime", "onnx")

log = logging.getLogger(__name__)


def compiled(encoder: Encoder, model: str, backend: Backend) -> Encoder:
    """The same encoder, its network run by `backend`; what is no SentenceTransformer is left as it is.

    `model` is its name, for messages. Raises InputError where a backend that is asked for by name cannot run the
    model, MissingExtra where it is not installed. With auto a model that ONNX Runtime cannot run, or gives other
    vectors for, stays with torch, and a warning says so.
    """
    if backend == "torch" or not hasattr(encoder, "device"):
        return encoder
    check_backend(backend)
    if backend == "auto" and not (_installed() and encoder.device.type == "cpu" and _network(encoder)):
        return encoder
    try:
        _exchange(encoder, model, int8=backend == INT8)
    except InputError as error:
        if backend != "auto":
            raise
        log.warning("%s; it runs in torch", error.problem)
    return encoder


def check_backend(backend: Backend) -> None:
    """Raises MissingExtra where a backend that is asked for by name is not installed."""
    if backend in ("onnx", INT8) and not _installed():
        raise MissingExtra(f'the embedding backend "{backend}" needs {" and ".join(_PACKAGES)}, which', "fast")


def _installed() -> bool:
    return all(find_spec(package) for package in _PACKAGES)


def _exchange(encoder: Any, model: str, *, int8: bool) -> None:
    """Put ONNX Runtime in the place of the network's forward pass. Raises InputError, with nothing exchanged."""
    network = _network(encoder)
    if network is None:
        raise _cannot(model, "it is no transformer")
    try:
        encoder.to("cpu")
        expected = _probe(encoder)
        network.forward = OnnxNetwork(network_file(encoder, int8=int8), alone=int8)
        cosine = float((_probe(encoder) * expected).sum(axis=1).min())
    except Exception as error:  # a model's code and the export may fail in any way: all mean that torch has to run it
        vars(network).pop("forward", None)
        raise _cannot(model, plain(str(error).strip().split("\n")[0][:200]) or type(error).__name__) from error
    if not cosine >= LEAST_COSINE[int8]:
        del network.forward
        raise _cannot(model, f"its vectors are others there (cosine {cosine:.6f} to torch's)")


def _cannot(model: str, why: str) -> InputError:
    return InputError(f"embedding model '{plain(model)}' cannot run in ONNX Runtime: {why}", remedy='use "auto"')


def _network(encoder: Any) -> Any:
    """The transformer in a SentenceTransformer; None where there is none, as in a model of static vectors."""
    return getattr(encoder[0], "model", None)


def _probe(encoder: Any) -> Singles:
    raw = np.asarray(encoder.encode(list(PROBE), prompt="", batch_size=len(PROBE), show_progress_bar=False))
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), dtype=np.float32)
