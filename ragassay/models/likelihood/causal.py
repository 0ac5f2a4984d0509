"""Log-probabilities of a given text from a causal language model of transformers, a folder's or the hub's, here.

What is longer than the model reads goes by it in windows that overlap by half, each token counted once, in the first
window that holds it, with all there is before it in that window: "Perplexity of fixed-length models" in the
documentation of transformers, with a stride of half the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from ...errors import InputError, MissingExtra
from ...text import plain
from ..encoders import check_found, is_local_only, no_progress_bar

PREFIX = "transformers:"
MOST_TOKENS = 16_384
"""Of a text that is scored: a longer one is some thousand seconds of one core, and no answer."""

LONGEST_WINDOW = 2048
"""Tokens: a model may read far more, at a memory of its vocabulary times these."""


def check_causal(model: str) -> None:
    """Raises InputError or MissingExtra where `load_causal` would find nothing. Nothing is loaded."""
    for package in ("transformers", "torch"):
        if find_spec(package) is None:
            raise MissingExtra(f"{plain(model)} needs {package}, which", "local")
    try:
        check_found(model.removeprefix(PREFIX))
    except InputError as error:
        raise _unusable(model, error.problem.partition("cannot be loaded: ")[2]) from None


def load_causal(model: str) -> CausalModel:
    """The model of a name, `transformers:NAME`. Raises InputError where it cannot be loaded."""
    check_causal(model)
    name = model.removeprefix(PREFIX)
    local_only = is_local_only(name, _unusable)
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        with no_progress_bar():
            tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local_only, split_special_tokens=True)
            network = AutoModelForCausalLM.from_pretrained(name, local_files_only=local_only)
    except Exception as error:  # a model's files may fail in any way: all of them mean that it cannot be used
        first = plain(str(error).strip().split("\n")[0][:200])
        reason = "the hub cannot be reached and it is not in the local cache" if local_only else first
        raise _unusable(model, reason) from error
    if not tokenizer.is_fast:
        raise _unusable(model, "its tokenizer does not say where in a text a token stands (it is no fast one)")
    network.train(False).to("cuda" if torch.cuda.is_available() else "cpu")
    return CausalModel(model, tokenizer, network)


class CausalModel:
    """A loaded model with its tokenizer, which takes no word of a text for one of its own markers."""

    def __init__(self, model: str, tokenizer: Any, network: Any) -> None:
        self.model, self._tokenizer, self._network = model, tokenizer, network

    def logprobs(self, prompt: str, text: str) -> list[float]:
        """The natural logarithm of the probability of each token that reaches into `text`, after all before it.

        Both are tokenized together, as one text. A token that nothing stands before (not even a marker of the
        beginning, which some tokenizers set) has no probability and is left out. Raises ValueError where one is no
        number, and for more than MOST_TOKENS.
        """
        made = self._tokenizer(prompt + text, return_offsets_mapping=True, verbose=False)
        ids, ends = made["input_ids"], [end for _, end in made["offset_mapping"]]
        wanted = [at > 0 and end > len(prompt) for at, end in enumerate(ends)]
        if sum(wanted) > MOST_TOKENS:
            raise ValueError(f"it has {sum(wanted):,} tokens, and {MOST_TOKENS:,} are scored at most")
        first = next((at for at, one in enumerate(wanted) if one), len(ids))
        found: list[float] = []
        for begin, at, end in self._windows(first, len(ids)):
            found += [
                value
                for value, one in zip(self._scored(ids[begin:end], at - begin), wanted[at:end], strict=True)
                if one
            ]
        if not all(value > float("-inf") for value in found):  # NaN too
            raise ValueError(f"{self.model} gives no number")
        return found

    @property
    def window(self) -> int:
        """How many tokens it is shown at a time."""
        config = self._network.config
        limits = (getattr(config, name, None) for name in ("max_position_embeddings", "n_positions", "max_seq_len"))
        return min([LONGEST_WINDOW, *(limit for limit in limits if isinstance(limit, int) and limit > 1)])

    def _windows(self, first: int, n: int) -> Iterator[tuple[int, int, int]]:
        """(begin, first token counted, end) of each window, for the tokens from `first` (at least 1) to `n`."""
        size, at = self.window, first
        while at < n:
            begin = max(0, min(at - size // 2, n - size))
            end = min(n, begin + size)
            yield begin, at, end
            at = end

    def _scored(self, ids: list[int], first: int) -> list[float]:
        """The log-probabilities of the tokens from `first` on."""
        import torch

        with torch.inference_mode():
            given = torch.tensor([ids], device=self._network.device)
            logits = self._network(given).logits[0, first - 1 : -1].float()
            wanted = given[0, first:]
            picked = logits.gather(1, wanted[:, None])[:, 0] - torch.logsumexp(logits, 1)
            return [float(value) for value in picked.cpu()]


def _unusable(model: str, reason: str) -> InputError:
    remedy = 'give a folder or a hub name behind "transformers:", such as transformers:gpt2'
    return InputError(f"the language model '{plain(model)}' cannot be loaded: {reason}", remedy=remedy)
