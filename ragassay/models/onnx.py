"""Embedding models whose network runs in ONNX Runtime instead of torch: the same vectors sooner, or 8-bit ones.

Tokens, truncation, batches by length, pooling and normalisation stay those of sentence-transformers. In float32 the
vectors are torch's up to the rounding of the half precision in which they are kept (`docs/scale.md` has the largest
difference measured), so both are kept under one identity; 8-bit weights give others, under an identity of their own.

sentence-transformers reaches ONNX Runtime through optimum, which does not work with transformers 5; so the network is
exported by torch, its layers are fused by ONNX Runtime's own tool, and it takes the place of torch's forward pass.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Singles
from ..errors import InputError, MissingExtra
from ..experiment.settings import Backend
from ..files import digest_json, user_cache
from ..text import plain
from .encoders import Encoder

log = logging.getLogger(__name__)

FORMAT = 1
"""Part of the name under which a network is kept; to be raised when it is exported in another way."""

_TOKENS = 512  # of float32 texts run together: more of them do not fit the processor's cache and are slower
_FUSED = {"bert": "bert", "roberta": "bert", "xlm-roberta": "bert"}  # what ONNX Runtime's fusion is told

INT8: Backend = "onnx-int8"

LEAST_COSINE = {False: 0.99999, True: 0.9}
"""Of a probe's vector to torch's, for it to be the model's: in float32, and in 8 bits (True)."""

PROBE = ("What is malloc?", "The header declares functions that wait busily. " * 12)
"""Texts of two lengths, embedded by both in one batch, so that padding is tried as well."""

_PACKAGES = ("onnxruntime", "onnx")


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
    if why := _exchange(encoder, int8=backend == INT8):
        problem = f"embedding model '{plain(model)}' cannot run in ONNX Runtime: {why}"
        if backend != "auto":
            raise InputError(problem, remedy='use "auto"')
        log.warning("%s; it runs in torch", problem)
    return encoder


def check_backend(backend: Backend) -> None:
    """Raises MissingExtra where a backend that is asked for by name is not installed."""
    if backend in ("onnx", INT8) and not _installed():
        raise MissingExtra(f'the embedding backend "{backend}" needs {" and ".join(_PACKAGES)}, which', "fast")


def _installed() -> bool:
    return all(find_spec(package) for package in _PACKAGES)


def _exchange(encoder: Any, *, int8: bool) -> str | None:
    """Put ONNX Runtime in the place of the network's forward pass; why it cannot be, with nothing exchanged."""
    network = _network(encoder)
    if network is None:
        return "it is no transformer"
    try:
        encoder.to("cpu")
        expected = _probe(encoder)
        network.forward = OnnxNetwork(network_file(encoder, int8=int8), alone=int8)
        cosine = float((_probe(encoder) * expected).sum(axis=1).min())
    except Exception as error:  # noqa: BLE001 - a model's code and the export may fail in any way: torch runs it then
        vars(network).pop("forward", None)
        return plain(str(error).strip().split("\n")[0][:200]) or type(error).__name__
    if cosine >= LEAST_COSINE[int8]:
        return None
    del network.forward
    return f"its vectors are others there (cosine {cosine:.6f} to torch's)"


def _network(encoder: Any) -> Any:
    """The transformer in a SentenceTransformer; None where there is none, as in a model of static vectors."""
    return getattr(encoder[0], "model", None)


def _probe(encoder: Any) -> Singles:
    raw = np.asarray(encoder.encode(list(PROBE), prompt="", batch_size=len(PROBE), show_progress_bar=False))
    return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), dtype=np.float32)


class OnnxNetwork:
    """The forward pass of a network. Texts are run without the padding of their batch, few or (int8) one at a time.

    In 8 bits the inputs of each layer are scaled by their largest value, so that a text run beside others would get
    another vector than alone.
    """

    def __init__(self, file: Path, *, alone: bool) -> None:
        import torch

        onnxruntime = _onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        self._names, self._alone = [node.name for node in self._session.get_inputs()], alone

    def __call__(self, **given: Any) -> Any:
        """transformers' output with `last_hidden_state` (texts × tokens × dimensions), zero where there is padding."""
        import torch
        from transformers.modeling_outputs import BaseModelOutput

        inputs = {name: given[name].numpy() for name in self._names}
        mask = inputs["attention_mask"]
        lengths = mask.shape[1] - np.argmax(mask[:, ::-1], axis=1)
        parts, start = [], 0
        while start < len(mask):
            together = 1 if self._alone else max(1, _TOKENS // int(lengths[start]))
            rows, n = slice(start, start + together), int(lengths[start : start + together].max())
            (found,) = self._session.run(None, {name: value[rows, :n] for name, value in inputs.items()})
            parts.append(np.pad(found, ((0, 0), (0, mask.shape[1] - n), (0, 0))))
            start += together
        return BaseModelOutput(last_hidden_state=torch.from_numpy(np.concatenate(parts)))


def _onnxruntime() -> Any:
    """ONNX Runtime, silent: its Linux wheels else send Microsoft what they run, from the moment of the import."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    return onnxruntime


def network_file(encoder: Any, *, int8: bool) -> Path:
    """The network of a SentenceTransformer as an ONNX file: that of an earlier run, or made now, whole or not at all.

    It is kept in the user's cache folder by the network's content and the versions that made it. With `int8` the
    weights of its linear layers have 8 bits (7 of them used, which is what processors without VNNI add up exactly),
    with one scale for each output.
    """
    network = encoder[0].model
    folder = user_cache() / "ragassay" / "networks" / _key(network, int8)
    file = folder / "network.onnx"
    if not file.is_file():
        _onnxruntime()
        with _whole_folder(folder) as made, _quiet():
            _export(encoder, network, made / "plain.onnx")
            _fuse(network, made / "plain.onnx", made / "network.onnx")
            if int8:
                _quantize(made / "network.onnx")
    return file


def _export(encoder: Any, network: Any, file: Path) -> None:
    import torch

    # what sentence-transformers hands to the network for two texts, as far as the network takes it
    taken, texts = inspect.signature(network.forward).parameters, ["one text", "another, longer text"]
    features = encoder.preprocess(texts).items()
    inputs = {name: value for name, value in features if name in taken and isinstance(value, torch.Tensor)}

    class LastLayer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, *given: Any) -> Any:
            return self.network(**dict(zip(inputs, given, strict=True)), return_dict=True).last_hidden_state

    axes = {name: {0: "texts", 1: "tokens"} for name in (*inputs, "last")}
    before = network.config._attn_implementation
    network.set_attn_implementation("eager")  # written out, as the fusion looks for it
    try:
        with torch.inference_mode():
            torch.onnx.export(
                LastLayer().eval(),
                tuple(inputs.values()),
                str(file),
                input_names=list(inputs),
                output_names=["last"],
                dynamic_axes=axes,
                dynamo=False,
            )
    finally:
        network.set_attn_implementation(before)


def _fuse(network: Any, source: Path, target: Path) -> None:
    """Attention, normalisation and activation as one operation each, where ONNX Runtime knows the architecture."""
    kind = _FUSED.get(network.config.model_type)
    if kind is None:
        source.rename(target)
        return
    from onnxruntime.transformers import optimizer

    heads, size = network.config.num_attention_heads, network.config.hidden_size
    fused = optimizer.optimize_model(str(source), model_type=kind, num_heads=heads, hidden_size=size, opt_level=1)
    fused.save_model_to_file(str(target))
    source.unlink()


def _quantize(file: Path) -> None:
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    kind = {"DefaultTensorType": onnx.TensorProto.FLOAT}  # the fused operations' outputs, whose type it cannot infer
    made = file.with_name("int8.onnx")
    quantize_dynamic(file, made, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8, extra_options=kind)
    made.replace(file)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings and logs of three libraries, of which none is the user's to heed."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextmanager
def _whole_folder(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder`, moved to its place at the end, unless another process was first."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
    try:
        yield made
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _key(network: Any, int8: bool) -> str:
    """The digest of a network's weights and configuration, and of the versions that export it."""
    from importlib.metadata import version

    import torch

    content = hashlib.sha256()
    for name, weights in network.state_dict().items():
        content.update(f"{name} {tuple(weights.shape)} {weights.dtype}".encode())
        content.update(weights.detach().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    versions = {name: version(name) for name in ("onnxruntime", "onnx", "torch", "transformers")}
    made = {"weights": content.hexdigest(), "config": repr(network.config.to_dict())}
    return digest_json({"format": FORMAT, "int8": int8} | made | versions)
