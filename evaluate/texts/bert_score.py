"""BERTScore: how near two texts are, token by token, by contextual embeddings.

Zhang et al. 2020, ICLR (arXiv:1904.09675), section 3, equations 1 to 3. With x the tokens of one text, y those of the
other, all of length 1 in the model's last layer,

    R = mean over x_i of max over y_j of x_i . y_j,   P = mean over y_j of max over x_i of x_i . y_j,   F = 2PR/(P + R).

No weights by rarity (idf) and no rescaling by a baseline. The tokens that a model puts around a text count for nothing.
A value depends on the model: the paper's are those of RoBERTa-large, ours of the experiment's embedding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ragassay.arrays import Singles
from ragassay.errors import InputError, MissingExtra
from ragassay.models.encoders import load_encoder
from ragassay.text import plain

from .windows import windows


class BertScore(NamedTuple):
    """Precision, recall and F1, each -1 to 1; swapping the texts swaps the first two. None: undefined."""

    precision: float
    recall: float
    f1: float | None


def bert_score(reference: Singles, candidate: Singles) -> BertScore | None:
    """The score of two texts' token vectors, (tokens, dimension) each of length 1; None where one has no tokens."""
    if not len(reference) or not len(candidate):
        return None
    near = np.clip(reference.astype(np.float64) @ candidate.astype(np.float64).T, -1.0, 1.0)
    recall, precision = float(near.max(axis=1).mean()), float(near.max(axis=0).mean())
    total = precision + recall
    return BertScore(precision, recall, 2 * precision * recall / total if total > 0 else None)


def _loaded(model: str) -> Any:
    try:
        return load_encoder(model)
    except ModuleNotFoundError as error:
        raise MissingExtra(f"BERTScore needs {error.name}, which", "local") from None


class TokenEncoder:
    """A model of sentence-transformers that gives a vector for each token. Raises InputError where it has none.

    Texts longer than the model reads are taken in stretches, so that every token has a vector.
    """

    def __init__(self, model: str) -> None:
        self._model, self._encoder = model, _loaded(model)
        tokenizer: Any = getattr(self._encoder, "tokenizer", None)
        if not getattr(tokenizer, "is_fast", False) or not self._encoder.max_seq_length:
            raise self._unfit()
        names = ("cls_token_id", "sep_token_id", "bos_token_id", "eos_token_id")
        self._around = [id for name in names if (id := getattr(tokenizer, name, None)) is not None]
        self._tokenizer, special = tokenizer, tokenizer.num_special_tokens_to_add()
        self._room = max(1, self._encoder.max_seq_length - special - 2)

    def vectors(self, texts: Sequence[str]) -> Mapping[str, Singles]:
        """Text to (tokens, dimension), each row of length 1."""
        distinct = list(dict.fromkeys(texts))
        parts = [(text, part) for text in distinct for part in windows(text, self._tokenizer, self._room)]
        found: dict[str, list[Singles]] = {text: [] for text in distinct}
        if parts:
            rows = self._encoder.encode(
                [part for _, part in parts], prompt="", output_value=None, batch_size=32, show_progress_bar=False
            )
            for (text, _), row in zip(parts, rows, strict=True):
                found[text].append(self._tokens(row))
        return {text: np.concatenate(rows) if rows else np.zeros((0, 1), np.float32) for text, rows in found.items()}

    def _tokens(self, row: Mapping[str, Any]) -> Singles:
        if "token_embeddings" not in row:
            raise self._unfit()
        ids, mask = row["input_ids"].cpu().numpy(), row["attention_mask"].cpu().numpy().astype(bool)
        kept = mask & ~np.isin(ids, self._around)
        vectors: Singles = row["token_embeddings"].detach().float().cpu().numpy()[kept]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise InputError(f"embedding model '{plain(self._model)}' gives a token no vector")
        unit: Singles = vectors / lengths
        return unit

    def _unfit(self) -> InputError:
        remedy = "take a transformer such as all-MiniLM-L6-v2"
        return InputError(f"embedding model '{plain(self._model)}' has no vectors for tokens", remedy=remedy)
