"""Cross-encoders that say how far a premise entails a hypothesis, from a folder or the Hugging Face hub.

Two kinds. Whatever sentence-transformers' CrossEncoder loads: with one output its sigmoid, with several the softmax of
the class that is entailment. And Vectara's HHEM-2.1-Open, whose repository brings code of its own; that code is short
(a T5 encoder for token classification over a prompt, class 1 of the first token, `modeling_hhem_v2.py` in
vectara/hallucination_evaluation_model) and does not load under transformers 5, so its weights are put into
transformers' own T5 here and nothing of the repository is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ragassay.arrays import Floats
from ragassay.errors import InputError, MissingExtra
from ragassay.models.encoders import is_local_only, no_progress_bar
from ragassay.text import plain

Pair = tuple[str, str]

HHEM_PROMPT = "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}"
"""What HHEM-2.1-Open was trained with; used where the model's config.json does not say."""

BATCH = 16


class CrossEncoder(Protocol):
    """A loaded model. tokenizer: a fast one of transformers; limit: the most tokens a pair may have, None for any."""

    tokenizer: Any
    limit: int | None

    def overhead(self) -> int:
        """How many tokens a pair has beside its two texts."""

    def scores(self, pairs: Sequence[Pair]) -> Floats:
        """(pairs,): how far each (premise, hypothesis) is an entailment, 0 to 1."""


@dataclass(frozen=True)
class Source:
    """Where a model comes from. entailment: the index of its class, None where the model says it.

    evaluator, option: whose model it is, and by which of its settings, for what is said where it cannot be used.
    """

    name: str
    revision: str | None = None
    trust_remote_code: bool = False
    entailment: int | None = None
    evaluator: str = "hallucination"
    option: str = "model"

    @property
    def table(self) -> str:
        """Where its settings stand."""
        return f"[evaluate.settings.{self.evaluator}]"

    def unusable(self, name: str, reason: str) -> InputError:
        """That a model of this name cannot be loaded."""
        remedy = f"give a folder or a hub name as {self.option} under {self.table}"
        return InputError(f"the cross-encoder '{plain(name)}' cannot be loaded: {reason}", remedy=remedy)


def load_cross_encoder(source: Source) -> CrossEncoder:
    """The model, on the processor or the accelerator that torch finds.

    Raises InputError, one sentence with what to do, where there is none, it cannot be loaded, it needs code of its own
    that is not trusted, or does not say which class is entailment; MissingExtra without sentence-transformers.
    """
    try:
        import sentence_transformers  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{source.evaluator} needs a cross-encoder ({error.name} is not installed), which", "local"
        ) from None
    local_only = is_local_only(source.name, source.unusable)
    try:
        with no_progress_bar():
            config = _config(source, local_only)
            if config.get("model_type") == "HHEMv2":
                return _Hhem(source, config, local_only)
            _check_code(source, config)
            return _Sentence(source, local_only)
    except InputError:
        raise
    except Exception as error:  # a model's files may fail in any way: all of them mean that it cannot be used
        first = plain(str(error).strip().split("\n")[0][:200])
        reason = "the hub cannot be reached and it is not in the local cache" if local_only else first
        raise source.unusable(source.name, reason) from error


def _config(source: Source, local_only: bool) -> dict[str, Any]:
    from transformers import PreTrainedConfig

    options = {"revision": source.revision, "local_files_only": local_only}
    config: dict[str, Any] = PreTrainedConfig.get_config_dict(source.name, **options)[0]
    return config


def _check_code(source: Source, config: dict[str, Any]) -> None:
    if config.get("auto_map") and not source.trust_remote_code:
        raise InputError(
            f"the cross-encoder '{plain(source.name)}' needs code of its own repository, which is not run unasked",
            remedy=f"if you trust its authors, set trust_remote_code = true and pin a revision under {source.table}",
        )


def entailment_of(id2label: dict[int, str], source: Source) -> int:
    """The index of the class that is entailment: as set, or by its name. Raises InputError where neither says."""
    given, name = source.entailment, source.name
    wish = f"set entailment under {source.table} to the index of the class, from 0"
    if given is not None:
        if given not in id2label:
            raise InputError(f"entailment = {given}, but '{plain(name)}' has {len(id2label)} classes", remedy=wish)
        return given
    named = [i for i, label in id2label.items() if str(label).casefold() in {"entailment", "entail", "consistent"}]
    if len(named) == 1:
        return named[0]
    if len(id2label) == 1:
        return next(iter(id2label))
    labels = ", ".join(plain(str(label)) for label in id2label.values())
    raise InputError(f"'{plain(name)}' does not say which class is entailment ({labels})", remedy=wish)


class _Sentence:
    """What sentence-transformers loads."""

    def __init__(self, source: Source, local_only: bool) -> None:
        from sentence_transformers import CrossEncoder as Loaded

        self._model = Loaded(
            source.name,
            revision=source.revision,
            trust_remote_code=source.trust_remote_code,
            local_files_only=local_only,
        )
        self.tokenizer = self._model.tokenizer
        self.limit = _limit(self._model.config, self.tokenizer)
        labels = {int(index): label for index, label in self._model.config.id2label.items()}
        self._class = entailment_of(labels, source)

    def overhead(self) -> int:
        return int(self.tokenizer.num_special_tokens_to_add(pair=True))

    def scores(self, pairs: Sequence[Pair]) -> Floats:
        import torch

        raw = self._model.predict(
            list(pairs), batch_size=BATCH, show_progress_bar=False, activation_fn=torch.nn.Identity()
        )
        logits = np.asarray(raw, dtype=np.float64).reshape(len(pairs), -1)
        return _sigmoid(logits[:, 0]) if logits.shape[1] == 1 else _softmax(logits)[:, self._class]


class _Hhem:
    """HHEM-2.1-Open: flan-t5's encoder and tokenizer (`foundation`), the weights of the repository."""

    limit: int | None = None

    def __init__(self, source: Source, config: dict[str, Any], local_only: bool) -> None:
        from safetensors.torch import load_file
        from transformers import AutoConfig, AutoTokenizer, T5ForTokenClassification
        from transformers.utils.hub import cached_file

        foundation = str(config.get("foundation") or "google/flan-t5-base")
        apart = is_local_only(foundation, source.unusable)
        self.tokenizer = AutoTokenizer.from_pretrained(foundation, local_files_only=apart)
        self._model = T5ForTokenClassification(AutoConfig.from_pretrained(foundation, local_files_only=apart))
        path = cached_file(source.name, "model.safetensors", revision=source.revision, local_files_only=local_only)
        _fill(self._model, load_file(str(path)))
        self._model.train(False)
        prompt = str(config.get("prompt") or HHEM_PROMPT)
        self._before, _, rest = prompt.partition("{text1}")
        self._between, _, self._after = rest.partition("{text2}")

    def overhead(self) -> int:
        return len(self.tokenizer(self._text(("", "")))["input_ids"])

    def scores(self, pairs: Sequence[Pair]) -> Floats:
        import torch

        found = []
        for start in range(0, len(pairs), BATCH):
            texts = [self._text(pair) for pair in pairs[start : start + BATCH]]
            with torch.inference_mode():
                logits = self._model(**self.tokenizer(texts, return_tensors="pt", padding=True)).logits[:, 0, :]
            found.append(_softmax(logits.double().numpy())[:, 1])
        return np.concatenate(found)

    def _text(self, pair: Pair) -> str:
        return self._before + pair[0] + self._between + pair[1] + self._after


def _fill(model: Any, weights: dict[str, Any]) -> None:
    """Put HHEM's weights (`t5.` before their names) into the model; the embedding may stand under either name."""
    own = {name.removeprefix("t5."): value for name, value in weights.items()}
    missing, unknown = model.load_state_dict(own, strict=False)
    tied = {"transformer.shared.weight", "transformer.encoder.embed_tokens.weight"}
    if unknown or set(missing) - tied or tied <= set(missing):
        names = ", ".join([*unknown, *missing][:3])
        raise ValueError(f"its weights are not those of HHEM-2.1-Open ({names})")
    if "transformer.shared.weight" in missing:
        model.transformer.shared.weight = model.transformer.encoder.embed_tokens.weight
    elif "transformer.encoder.embed_tokens.weight" in missing:
        model.transformer.encoder.embed_tokens.weight = model.transformer.shared.weight


def _limit(config: Any, tokenizer: Any) -> int | None:
    """The most tokens a pair may have. A tokenizer without a limit gives a huge number."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions and "roberta" in str(config.model_type):
        positions -= (config.pad_token_id or 0) + 1  # its places are counted from behind the padding's
    known = [positions, getattr(tokenizer, "model_max_length", None)]
    limits = [int(limit) for limit in known if limit is not None and 0 < limit < 1_000_000]
    return min(limits) if limits else None


def _sigmoid(values: Floats) -> Floats:
    from scipy.special import expit

    found: Floats = expit(values)
    return found


def _softmax(values: Floats) -> Floats:
    from scipy.special import softmax

    found: Floats = softmax(values, axis=1)
    return found
