"""Log-probabilities of a given text from an OpenAI-compatible `/completions` with `echo`, as vLLM has it.

The reply repeats the prompt, token by token, each with the natural logarithm of its probability after those before it.
llama.cpp's own server takes `echo` and does not heed it, as of 2026: what it gives is not the prompt's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ...experiment.model_settings import ModelSettings
from ...text import plain
from ..json_server import JsonServer
from ..requests import Body, usage_body, usage_of

REMEDY = 'name a server that has it, such as vLLM, or "transformers:NAME", as evaluate.likelihood_model'


class EchoServer:
    """The completions of `openai:NAME` at its base_url; for several threads."""

    def __init__(self, model: str, base_url: str | None, key: str, settings: ModelSettings) -> None:
        self.model, self._server = model, JsonServer(base_url, key, settings)
        self._tokens = 0

    def score(self, prompt: str, text: str) -> Body:
        """The reply, of which the log-probabilities of the tokens of `text` after `prompt` are kept.

        Raises what `JsonServer.post` does, and InputError where the server does not echo.
        """
        try:
            reply = self._ask(prompt + text)
        except Exception as error:
            if self._tokens or getattr(error, "status_code", None) not in {400, 422}:
                raise
            self._tokens = 1  # some servers want to write at least one token
            reply = self._ask(prompt + text)
        return _body(reply, self.model, prompt, text, self._tokens)

    def _ask(self, prompt: str) -> Any:
        name = self.model.split(":", 1)[1]
        wished = {"echo": True, "logprobs": 1, "max_tokens": self._tokens, "temperature": 0}
        return self._server.post("/completions", {"model": name, "prompt": prompt, **wished})


def _body(reply: Any, model: str, prompt: str, text: str, written: int) -> Body:
    """What is kept of a reply: an `error` in the place of log-probabilities that cannot be told apart or are none."""
    tokens, logprobs = _echoed(reply, model, prompt, text, written)
    given: dict[str, Any] = {}
    try:
        given["token_logprobs"] = of_text(tokens, logprobs, prompt, text)
    except ValueError as error:
        given["error"] = str(error)
    body: Body = {"object": "text_completion", "choices": [{"index": 0, "text": "", "logprobs": given}]}
    body["model"] = reply.get("model") or model
    if reply.get("usage"):
        body["usage"] = usage_body(usage_of(reply)._replace(written=0))
    return body


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


_ONE_TOKEN = 100
"""Characters that no vocabulary has in one token."""


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
        end = 0
        for at, token in enumerate(tokens):
            end += len(token)
            if end > len(prompt):
                return at
        return len(tokens)
    if not whole.endswith(text):
        raise ValueError("tokens that do not spell the text")
    left = 0
    for back, token in enumerate(reversed(tokens), 1):
        left += len(token)
        if left >= len(text):
            return len(tokens) - back
    raise AssertionError("unreachable")
