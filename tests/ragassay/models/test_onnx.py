"""A real, tiny transformer by torch and by ONNX Runtime: the same vectors, or said why not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tiny_models import sentence_model

from ragassay.errors import InputError, MissingExtra
from ragassay.models import onnx as module
from ragassay.models.encoders import load_encoder
from ragassay.models.onnx import Backend, OnnxNetwork, compiled, network_file
from ragassay.retrieval.rankers.embedding import Embedder, model_identity
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache, Text

pytestmark = pytest.mark.xdist_group("models")

# one word, many, more than the model reads (64 tokens), and none that it knows
TEXTS = ["delay", "the header util delay h declares ms", "busily a busy wait keeps the processor " * 20, "xyzzy", ""]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return sentence_model(tmp_path_factory.mktemp("tiny"))


def vectors(encoder, texts: list[str] = TEXTS):
    raw = encoder.encode_document(texts, prompt="", batch_size=2, show_progress_bar=False)
    return raw / np.linalg.norm(raw, axis=1, keepdims=True)


def runs_onnx(encoder) -> bool:
    return isinstance(encoder[0].model.forward, OnnxNetwork)


@pytest.mark.parametrize("backend", ["auto", "onnx"])
def test_float32_vectors_are_torchs_below_the_rounding_of_half_precision(tiny: str, backend: Backend) -> None:
    encoder = compiled(load_encoder(tiny), tiny, backend)
    assert runs_onnx(encoder)
    assert vectors(encoder) == pytest.approx(vectors(load_encoder(tiny)), abs=2**-14)


def test_torch_stays_torch(tiny: str) -> None:
    assert not runs_onnx(compiled(load_encoder(tiny), tiny, "torch"))


def test_eight_bit_vectors_are_near_and_do_not_depend_on_the_texts_beside(tiny: str) -> None:
    encoder = compiled(load_encoder(tiny), tiny, "onnx-int8")
    found, exact = vectors(encoder), vectors(load_encoder(tiny))
    assert 0.99 < (found * exact).sum(axis=1).min() < 0.99999
    assert np.concatenate([vectors(encoder, [text]) for text in TEXTS]) == pytest.approx(found, abs=1e-6)


def test_eight_bit_vectors_are_another_models_in_the_cache(tiny: str, tmp_path: Path) -> None:
    identities = {backend: model_identity(tiny, backend) for backend in ("auto", "torch", "onnx", "onnx-int8")}
    assert len(set(identities.values())) == 2 and identities["auto"] == identities["onnx"] == model_identity(tiny)
    made = {}
    for backend, identity in identities.items():
        embedder = Embedder(tiny, EmbeddingCache(identity, tmp_path), backend=backend)
        made[backend] = embedder.vectors([Text("passage", text) for text in TEXTS])
    assert (made["auto"] == made["torch"]).all() and (made["auto"] != made["onnx-int8"]).any()


def test_a_network_is_exported_once_and_whole(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = tmp_path / "ragassay" / "networks"
    with monkeypatch.context() as patch:
        patch.setattr("onnxruntime.transformers.optimizer.optimize_model", fails)
        with pytest.raises(InputError, match=r"tiny.*cannot run in ONNX Runtime: no room"):
            compiled(load_encoder(tiny), "tiny", "onnx")
    assert list(kept.iterdir()) == []
    compiled(load_encoder(tiny), tiny, "onnx")
    (file,) = kept.rglob("*.*")
    before = file.stat().st_mtime_ns
    compiled(load_encoder(tiny), tiny, "auto")
    assert [path.stat().st_mtime_ns for path in kept.rglob("*.*")] == [before]


def fails(*_: object, **__: object) -> None:
    raise OSError("no room")


def test_a_model_that_comes_out_otherwise_stays_with_torch_and_a_warning_says_so(
    tiny: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = OnnxNetwork.__call__

    def turned(self: OnnxNetwork, **given: Any) -> Any:
        made = run(self, **given)
        made.last_hidden_state = made.last_hidden_state.flip(-1)
        return made

    monkeypatch.setattr(OnnxNetwork, "__call__", turned)
    encoder = compiled(load_encoder(tiny), "tiny", "auto")
    assert not runs_onnx(encoder) and "it runs in torch" in caplog.text and "cosine" in caplog.text
    assert (vectors(encoder) == vectors(load_encoder(tiny))).all()
    with pytest.raises(InputError, match=r"its vectors are others there \(cosine"):
        compiled(load_encoder(tiny), "tiny", "onnx")


def test_without_onnx_runtime_auto_is_torch_and_its_name_needs_the_extra(tiny: str, monkeypatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert not runs_onnx(compiled(load_encoder(tiny), tiny, "auto"))
    with pytest.raises(MissingExtra, match="fast"):
        compiled(load_encoder(tiny), tiny, "onnx-int8")


def test_onnx_runtime_sends_nothing_and_keeps_no_mark_of_the_device(tiny: str, tmp_path: Path) -> None:
    """In a process of its own, as it would from the moment of the import; without torch, which takes seconds."""
    code = (
        "import sys; from pathlib import Path; from types import SimpleNamespace;"
        "sys.modules['torch'] = SimpleNamespace(get_num_threads=lambda: 1);"
        "from ragassay.models.onnx import OnnxNetwork; OnnxNetwork(Path(sys.argv[1]), alone=True)"
    )
    file = network_file(load_encoder(tiny), int8=False)
    places = {"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    environment = {**places, "PYTHONPATH": ":".join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code, file], env=environment, check=True)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
