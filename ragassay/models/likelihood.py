"""How likely a given text is, token by token: of a model on this machine, or of a server that echoes (vLLM)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import accumulate
from typing import Any

from ..errors import InputError, MissingExtra
from ..experiment.tables import ModelSettings
from ..text import plain
from .encoders import check_found, loading
from .providers import JsonServer
from .requests import Body, usage_body, usage_of

PREFIX = "transformers:"
MOST_TOKENS = 16_384
"""Of a text that is scored: a longer one is some thousand seconds of one core, and no answer."""

LONGEST_WINDOW = 2048
"""Tokens: a model may read far more, at a memory of its vocabulary times these."""

_ONE_TOKEN = 100
"""Characters that no vocabulary has in one token."""


def check_causal(model: str) -> None:
    """Raises InputError or MissingExtra where `load_causal` would find nothing. Nothing is loaded."""
    for package in ("transformers", "torch"):
        if find_spec(package) is None:
            raise MissingExtra(f"{plain(model)} needs {package}, which", "local")
    check_found(model.removeprefix(PREFIX), lambda _, reason: _unusable(model, reason))


def load_causal(model: str) -> CausalModel:
    """The model of a name, `transformers:NAME`. Raises InputError where it cannot be loaded."""
    check_causal(model)
    name = model.removeprefix(PREFIX)
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with loading(name, lambda _, reason: _unusable(model, reason)) as local_only:
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local_only, split_special_tokens=True)
        network = AutoModelForCausalLM.from_pretrained(name, local_files_only=local_only)
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

        What is longer than the model reads goes by it in windows that overlap by half, each token counted once, in the
        first window that holds it, with all there is before it in that window: "Perplexity of fixed-length models" in
        the documentation of transformers, with a stride of half the window.
        Both are tokenized together, as one text. A token that nothing stands before (not even a marker of the
        beginning, which some tokenizers set) has no probability and is left out. Raises ValueError where one is no
        number, and for more than MOST_TOKENS.
        """
        made = self._tokenizer(prompt + text, return_offsets_mapping=True, verbose=False)
        ids, ends = made["input_ids"], [end for _, end in made["offset_mapping"]]
        wanted = [at > 0 and end > len(prompt) for at, end in enumerate(ends)]
        if sum(wanted) > MOST_TOKENS:
            raise ValueError(f"it has {sum(wanted):,} tokens, and {MOST_TOKENS:,} are scored at most")
        at = next((at for at, one in enumerate(wanted) if one), len(ids))
        found, size = list[float](), self.window
        while at < len(ids):
            begin = max(0, min(at - size // 2, len(ids) - size))
            end = min(len(ids), begin + size)
            values = self._scored(ids[begin:end], at - begin)
            found += [value for value, one in zip(values, wanted[at:end], strict=True) if one]
            at = end
        if not all(value > float("-inf") for value in found):  # NaN too
            raise ValueError(f"{self.model} gives no number")
        return found

    @property
    def window(self) -> int:
        """How many tokens it is shown at a time."""
        config = self._network.config
        limits = (getattr(config, name, None) for name in ("max_position_embeddings", "n_positions", "max_seq_len"))
        return min([LONGEST_WINDOW, *(limit for limit in limits if isinstance(limit, int) and limit > 1)])

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


REMEDY = 'name a server that has it, such as vLLM, or "transformers:NAME", as evaluate.likelihood_model'


class EchoServer:
    """The completions of `openai:NAME` at its base_url, with `echo`, as vLLM has it; for several threads.

    The reply repeats the prompt, token by token, each with the natural logarithm of its probability after those before
    it. llama.cpp's own server takes `echo` and does not heed it, as of 2026: what it gives is not the prompt's.
    """

    def __init__(self, model: str, base_url: str | None, settings: ModelSettings) -> None:
        self.model, self._server = model, JsonServer(base_url, settings)
        self._tokens = 0

    def score(self, prompt: str, text: str) -> Body:
        """The reply, of which the log-probabilities of the tokens of `text` after `prompt` are kept, or an `error` in
        their place where they cannot be told apart or are none.

        Raises what `JsonServer.post` does, and InputError where the server does not echo.
        """
        try:
            reply = self._ask(prompt + text)
        except Exception as error:
            if self._tokens or getattr(error, "status_code", None) not in {400, 422}:
                raise
            self._tokens = 1  # some servers want to write at least one token
            reply = self._ask(prompt + text)
        tokens, logprobs = _echoed(reply, self.model, prompt, text, self._tokens)
        given: dict[str, Any] = {}
        try:
            given["token_logprobs"] = of_text(tokens, logprobs, prompt, text)
        except ValueError as error:
            given["error"] = str(error)
        body: Body = {"object": "text_completion", "choices": [{"index": 0, "text": "", "logprobs": given}]}
        body["model"] = reply.get("model") or self.model
        if reply.get("usage"):
            body["usage"] = usage_body(usage_of(reply)._replace(written=0))
        return body

    def _ask(self, prompt: str) -> Any:
        name = self.model.split(":", 1)[1]
        wished = {"echo": True, "logprobs": 1, "max_tokens": self._tokens, "temperature": 0}
        return self._server.post("/completions", {"model": name, "prompt": prompt, **wished})


def _echoed(reply: Any, model: str, prompt: str, text: str, written: int) -> tuple[list[str], list[Any]]:
    """The prompt's tokens and their log-probabilities. Raises InputError where they are not there."""
    try:
        found = reply["choices"][0]["logprobs"]
        tokens, logprobs = found["tokens"], found["token_logprobs"]
        n = len(tokens) - min(usage_of(reply).output or 0, written)
        echoed = isinstance(tokens, list) and len(logprobs) == len(tokens) and all(isinstance(t, str) for t in tokens)
    except (KeyError, IndexError, TypeError, AttributeError):
        echoed = False
    if not echoed or (n < 2 and len(prompt + text) > _ONE_TOKEN):
        raise InputError(f"{plain(model)} gives no log-probabilities of a text it is given (echo)", remedy=REMEDY)
    return tokens[:n], logprobs[:n]


def of_text(tokens: Sequence[str], logprobs: Sequence[Any], prompt: str, text: str) -> list[float]:
    """The natural logarithms of the tokens that reach into `text`; the first of all has none and is left out.

    Where the text begins among the tokens is told by those before it, or else by those of the text itself: a token of
    half a letter is not spelt as it stands in the text, and a marker of the beginning is in neither.
    Raises ValueError, with a phrase, where neither are spelt as they were sent, or one has no number.
    """
    first = _first_of_text(tokens, prompt, text)
    found = [one for at, one in enumerate(logprobs) if at >= first and not (at == 0 and one is None)]
    if any(isinstance(one, bool) or not isinstance(one, int | float) or not math.isfinite(one) for one in found):
        raise ValueError("a log-probability that is no number")
    return [min(float(one), 0.0) for one in found]


def _first_of_text(tokens: Sequence[str], prompt: str, text: str) -> int:
    """The place of the first token that ends beyond the prompt."""
    whole = "".join(tokens)
    if whole.startswith(prompt):
        ends = accumulate(map(len, tokens))
        return next((at for at, end in enumerate(ends) if end > len(prompt)), len(tokens))
    if not whole.endswith(text):
        raise ValueError("tokens that do not spell the text")
    lengths = accumulate(map(len, reversed(tokens)))
    return len(tokens) - next(back for back, length in enumerate(lengths, 1) if length >= len(text))
