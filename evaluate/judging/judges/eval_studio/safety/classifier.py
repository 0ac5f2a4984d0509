"""Classifiers of texts from a folder or the Hugging Face hub: the probability of each of their classes.

Whatever transformers loads for sequence classification. Where a model's classes are each for themselves (its
`problem_type` is multi_label_classification, or it has one output) they are sigmoids, else a softmax. A text that is
longer than the model takes is read in windows that overlap by a quarter, and each class gets its highest probability.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ragassay.arrays import Floats
from ragassay.errors import InputError, MissingExtra
from ragassay.models.encoders import check_encoder, is_local_only, no_progress_bar
from ragassay.text import plain

from .....texts.windows import windows

BATCH = 16
OVERLAP_SHARE = 0.25

_DEFAULT_LIMIT = 512
_SPARE = 4
"""Tokens that a stretch may have more once it stands alone, at its two ends."""


@dataclass(frozen=True)
class Source:
    """A folder or a hub name, and the evaluator that it is for, as messages name it."""

    name: str
    judge: str
    revision: str | None = None

    def unusable(self, name: str, reason: str) -> InputError:
        """One sentence with what to do."""
        remedy = f"give a folder or a hub name as model under [evaluate.settings.{self.judge}]"
        return InputError(f"the classifier '{plain(name)}' cannot be loaded: {reason}", remedy=remedy)


def check_classifier(source: Source) -> None:
    """Raises InputError where there is no such model, MissingExtra without what loads it. Nothing is loaded."""
    try:
        check_encoder(source.name, source.judge)
    except MissingExtra:
        raise
    except InputError as error:
        raise source.unusable(source.name, str(error).partition("cannot be loaded: ")[2].partition(";")[0]) from error


def declared_labels(source: Source) -> tuple[str, ...] | None:
    """The classes that its configuration names, without loading the model; None where it cannot be read or names none.

    Of a model that is on the hub alone the configuration is fetched.
    """
    path = Path(source.name) / "config.json"
    try:
        if not path.parent.is_dir():
            from huggingface_hub import hf_hub_download

            path = Path(hf_hub_download(source.name, "config.json", revision=source.revision))
        named = json.loads(path.read_text("utf-8")).get("id2label")
    except (OSError, ValueError, AttributeError):  # what is wrong with it, loading it says
        return None
    return tuple(str(label) for label in named.values()) if isinstance(named, dict) and named else None


class Classifier:
    """A loaded model. labels: its classes, as it names them.

    Raises InputError where it cannot be loaded; code of its own repository is never run.
    """

    def __init__(self, source: Source) -> None:
        try:
            import transformers
        except ModuleNotFoundError as error:
            raise MissingExtra(f"{source.judge} needs {error.name}, which", "local") from None
        local_only = is_local_only(source.name, source.unusable)
        known: dict[str, Any] = {"revision": source.revision, "local_files_only": local_only}
        try:
            with no_progress_bar():
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(source.name, **known)
                self._model = transformers.AutoModelForSequenceClassification.from_pretrained(source.name, **known)
        except Exception as error:  # a model's files may fail in any way: all of them mean that it cannot be used
            raise source.unusable(source.name, _reason(source.name, error, local_only)) from error
        self._model.train(False)
        config = self._model.config
        self.labels = tuple(str(config.id2label[place]) for place in range(len(config.id2label)))
        self._apart = config.problem_type == "multi_label_classification" or len(self.labels) == 1

    def probabilities(self, texts: Sequence[str]) -> list[Floats]:
        """(classes,) for each text: the highest of its windows. A text without tokens raises ValueError."""
        parts = [(place, part) for place, text in enumerate(texts) for part in self._windows(text)]
        if missing := set(range(len(texts))) - {place for place, _ in parts}:
            raise ValueError(f"the classifier reads nothing in {len(missing)} texts")
        highest = [np.zeros(len(self.labels)) for _ in texts]
        order = sorted(range(len(parts)), key=lambda index: len(parts[index][1]))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            for index, row in zip(chosen, self._batch([parts[one][1] for one in chosen]), strict=True):
                place = parts[index][0]
                highest[place] = np.maximum(highest[place], row)
        return highest

    def _windows(self, text: str) -> list[str]:
        room = self._limit - self._tokenizer.num_special_tokens_to_add() - _SPARE
        return windows(text, self._tokenizer, max(room, 1), int(max(room, 1) * OVERLAP_SHARE))

    @property
    def _limit(self) -> int:
        """The most tokens of a window. A tokenizer without a limit gives a huge number."""
        config = self._model.config
        positions = getattr(config, "max_position_embeddings", None)
        if positions and "roberta" in str(config.model_type):
            positions -= (config.pad_token_id or 0) + 1  # its places are counted from behind the padding's
        given = [limit for limit in (positions, self._tokenizer.model_max_length) if limit and 0 < limit < 1_000_000]
        return int(min(given, default=_DEFAULT_LIMIT))

    def _batch(self, texts: list[str]) -> Floats:
        import torch

        with torch.inference_mode():
            inputs = self._tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=self._limit)
            logits = self._model(**inputs).logits.double()
        chances = torch.sigmoid(logits) if self._apart else torch.softmax(logits, 1)
        found: Floats = chances.numpy()
        if not np.isfinite(found).all():
            raise ValueError("the classifier gives no number")
        return found


def _reason(name: str, error: Exception, local_only: bool) -> str:
    folder = Path(name)
    only_tensorflow = (folder / "tf_model.h5").is_file() and not [*folder.glob("*.safetensors"), *folder.glob("*.bin")]
    if only_tensorflow or "TensorFlow weights" in str(error) or "tf_model.h5" in str(error):
        return "its weights are TensorFlow's alone, which transformers from version 5 does not read"
    first = plain(str(error).strip().split("\n")[0][:200])
    return "the hub cannot be reached and it is not in the local cache" if local_only else first
