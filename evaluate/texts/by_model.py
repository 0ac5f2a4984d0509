"""Texts by a model on this machine: their vectors, their tokens' vectors (BERTScore), and pairs (cross-encoders)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isinf
from typing import Any, NamedTuple, Protocol

import numpy as np

from ragassay.arrays import Floats, Singles
from ragassay.errors import InputError, needing
from ragassay.models.encoders import is_local_only, load_encoder, loading, prompt_for
from ragassay.text import plain

from .sentences import n_tokens, windows

OVERLAP_SHARE = 0.25
"""The part of a window of a long text that the next one has too."""

SPARE = 4
"""Tokens that a stretch may have more once it stands alone, at its two ends."""


class BertScore(NamedTuple):
    """Precision, recall and F1, each -1 to 1; swapping the texts swaps the first two. None: undefined.

    Zhang et al. 2020, ICLR (arXiv:1904.09675), section 3, equations 1 to 3. With x the tokens of one text, y those of
    the other, all of length 1 in the model's last layer,

        R = mean over x_i of max over y_j of x_i . y_j,   P = mean over y_j of max over x_i of x_i . y_j,
        F = 2PR / (P + R).

    No weights by rarity (idf) and no rescaling by a baseline. The tokens that a model puts around a text count for
    nothing. A value depends on the model: the paper's are those of RoBERTa-large, ours of the experiment's embedding.
    """

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


def _loaded(model: str, what: str) -> Any:
    with needing(what + " needs {}, which", "local"):
        return load_encoder(model)


class TokenEncoder:
    """A model of sentence-transformers that gives a vector for each token. Raises InputError where it has none.

    Texts longer than the model reads are taken in stretches, so that every token has a vector.
    """

    def __init__(self, model: str) -> None:
        self._model, self._encoder = model, _loaded(model, "BERTScore")
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

    evaluator, option, what: whose model it is, by which of its settings, and of which kind, for what is said where it
    cannot be used.
    """

    name: str
    revision: str | None = None
    trust_remote_code: bool = False
    entailment: int | None = None
    evaluator: str = "hallucination"
    option: str = "model"
    what: str = "cross-encoder"

    @property
    def told(self) -> str:
        """The name, with the revision where one is set."""
        return f"{self.name}@{self.revision}" if self.revision else self.name

    @property
    def table(self) -> str:
        """Where its settings stand."""
        return f"[evaluate.settings.{self.evaluator}]"

    def unusable(self, name: str, reason: str) -> InputError:
        """That a model of this name cannot be loaded."""
        remedy = f"give a folder or a hub name as {self.option} under {self.table}"
        return InputError(f"the {self.what} '{plain(name)}' cannot be loaded: {reason}", remedy=remedy)


def load_cross_encoder(source: Source) -> CrossEncoder:
    """The model, on the processor or the accelerator that torch finds.

    Raises InputError, one sentence with what to do, where there is none, it cannot be loaded, it needs code of its own
    that is not trusted, or does not say which class is entailment; MissingExtra without sentence-transformers.
    """
    with needing(source.evaluator + " needs a cross-encoder ({} is not installed), which", "local"):
        import sentence_transformers  # noqa: F401
        from transformers import PreTrainedConfig
    with loading(source.name, source.unusable) as local_only:
        options = {"revision": source.revision, "local_files_only": local_only}
        config: dict[str, Any] = PreTrainedConfig.get_config_dict(source.name, **options)[0]
        if config.get("model_type") == "HHEMv2":
            return _Hhem(source, config, local_only)
        if config.get("auto_map") and not source.trust_remote_code:
            remedy = "if you trust its authors, set trust_remote_code = true and pin a revision under"
            problem = f"'{plain(source.name)}' needs code of its own repository, which is not run unasked"
            raise InputError(f"the cross-encoder {problem}", remedy=f"{remedy} {source.table}")
        return _Sentence(source, local_only)


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
    """Whatever sentence-transformers' CrossEncoder loads: with one output its sigmoid, with several the softmax of the
    class that is entailment."""

    def __init__(self, source: Source, local_only: bool) -> None:
        from sentence_transformers import CrossEncoder as Loaded

        self._model = Loaded(
            source.name,
            revision=source.revision,
            trust_remote_code=source.trust_remote_code,
            local_files_only=local_only,
        )
        self.tokenizer = self._model.tokenizer
        self.limit = token_limit(self._model.config, self.tokenizer)
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
        if logits.shape[1] > 1:
            return _softmax(logits)[:, self._class]
        from scipy.special import expit

        found: Floats = expit(logits[:, 0])
        return found


class _Hhem:
    """Vectara's HHEM-2.1-Open: flan-t5's encoder and tokenizer (`foundation`), the weights of the repository.

    That brings code of its own; the code is short (a T5 encoder for token classification over a prompt, class 1 of the
    first token, `modeling_hhem_v2.py` in vectara/hallucination_evaluation_model) and does not load under transformers
    5, so the weights are put into transformers' own T5 here and nothing of the repository is run.
    """

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
        # HHEM's weights have `t5.` before their names; the embedding may stand under either of two.
        own = {name.removeprefix("t5."): value for name, value in load_file(str(path)).items()}
        missing, unknown = self._model.load_state_dict(own, strict=False)
        shared, embedding = "transformer.shared.weight", "transformer.encoder.embed_tokens.weight"
        if unknown or set(missing) - {shared, embedding} or {shared, embedding} <= set(missing):
            names = ", ".join([*unknown, *missing][:3])
            raise ValueError(f"its weights are not those of HHEM-2.1-Open ({names})")
        whole = self._model.transformer
        if shared in missing:
            whole.shared.weight = whole.encoder.embed_tokens.weight
        elif embedding in missing:
            whole.encoder.embed_tokens.weight = whole.shared.weight
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


def token_limit(config: Any, tokenizer: Any) -> int | None:
    """The most tokens a model reads at once, None for any number. A tokenizer without a limit gives a huge number."""
    positions = getattr(config, "max_position_embeddings", None)
    if positions and "roberta" in str(config.model_type):
        positions -= (config.pad_token_id or 0) + 1  # its places are counted from behind the padding's
    known = [positions, getattr(tokenizer, "model_max_length", None)]
    limits = [int(limit) for limit in known if limit is not None and 0 < limit < 1_000_000]
    return min(limits) if limits else None


def _softmax(values: Floats) -> Floats:
    from scipy.special import softmax

    found: Floats = softmax(values, axis=1)
    return found


BLOCK = 256
"""How many texts are held against all others at a time."""

_SHOWN = 60


class Embedded:
    """The vectors of one embedding model (a name, a folder or a hub name), which is loaded when first needed.

    Each text is embedded once for all that compare texts in a run, in batches. Every text gets the same prefix, since
    both of what is compared are texts of one kind: E5's "query: ", which its authors give for symmetric tasks (Wang et
    al. 2022, arXiv:2212.03533, and the model card), or what the model declares for passages, or none. What is longer
    than the model reads is embedded in stretches, whose vectors are averaged by their length in tokens.
    """

    def __init__(self, model: str) -> None:
        self.name = model
        self._waiting: set[str] = set()
        self._rows: dict[str, list[tuple[int, Any]]] = {}

    @cached_property
    def model(self) -> Any:
        """The loaded model. Raises InputError, MissingExtra."""
        return _loaded(self.name, "an embedding")

    def add(self, texts: Iterable[str]) -> None:
        """Texts whose vectors will be wanted: they are embedded together, when the first of them is."""
        self._waiting.update(text for text in texts if text not in self._rows)

    def vector(self, text: str) -> Floats:
        """(dimension,): the vector of a text, of any length. Raises InputError, and whatever the model does."""
        if text not in self._rows:
            waiting, self._waiting = sorted({*self._waiting, text}), set()
            self._embed(waiting)
        rows = self._rows[text]
        total: Floats = np.zeros(np.shape(rows[0][1])[-1])
        for weight, row in rows:
            values = np.asarray(row, dtype=np.float64)
            total += weight * values / (np.linalg.norm(values) or 1.0)
        return total

    def cosine(self, one: str, other: str) -> float:
        """How near two texts are, -1 to 1. Raises ValueError where one of them has no vector."""
        a, b = self.vector(one), self.vector(other)
        lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
        if not np.isfinite(lengths) or lengths == 0:
            raise ValueError(f"{self.name} gives no vector")
        return float(np.clip(a @ b / lengths, -1.0, 1.0))

    def nearest(self, texts: Sequence[str], others: Sequence[str]) -> tuple[Floats, list[str]]:
        """Of each text the highest cosine to one of the others, and the first of those that have it.

        (texts,) and as many texts. Raises ValueError where a text has no vector, or there are no others.
        """
        self.add([*texts, *others])
        distinct, against = list(dict.fromkeys(texts)), list(dict.fromkeys(others))
        columns = self._units(against).T
        found: dict[str, tuple[float, str]] = {}
        for start in range(0, len(distinct), BLOCK):
            block = distinct[start : start + BLOCK]
            near = np.clip(self._units(block) @ columns, -1.0, 1.0)
            best = near.argmax(axis=1)
            for text, row, place in zip(block, near, best, strict=True):
                found[text] = float(row[place]), against[place]
        return np.array([found[text][0] for text in texts]), [found[text][1] for text in texts]

    def _units(self, texts: Sequence[str]) -> Floats:
        """(texts, dimension): vectors of length 1."""
        vectors = np.stack([self.vector(text) for text in texts])
        lengths = np.linalg.norm(vectors, axis=1)
        for text, length in zip(texts, lengths, strict=True):
            if not np.isfinite(length) or length == 0:
                raise ValueError(f"{self.name} gives no vector for '{plain(text[:_SHOWN])}'")
        units: Floats = vectors / lengths[:, None]
        return units

    def _embed(self, texts: Sequence[str]) -> None:
        model, most = self.model, self.model.max_seq_length
        limit = None if most is None or isinf(most) else int(most)  # None of static embeddings, which read any number
        prompt = prompt_for(self.name, model.prompts, "query")
        if prompt != "query: ":
            prompt = prompt_for(self.name, model.prompts, "passage")
        parts = [(text, text) for text in texts]
        if limit:  # in stretches that the model reads whole, one for nearly every text
            tokenizer = model.tokenizer
            room = max(limit - n_tokens(prompt, tokenizer) - tokenizer.num_special_tokens_to_add() - 2, 1)
            parts = [(text, part) for text in texts for part in windows(text, tokenizer, room) or [text]]
        rows = model.encode([part for _, part in parts], prompt=prompt, batch_size=32, show_progress_bar=False)
        made: dict[str, list[tuple[int, Any]]] = {text: [] for text in texts}
        for (text, part), row in zip(parts, rows, strict=True):
            made[text].append((n_tokens(part, model.tokenizer) if limit else 1, row))
        self._rows |= made
