"""What OpenAI, Anthropic and servers like theirs have in common: clients that go no further than the address they are
given, how often a model may be asked, what a provider's errors mean, prices, and the prompt caches that make a shared
beginning cheaper.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..errors import InputError, ProviderError, RagassayError
from ..experiment.tables import ModelSettings
from ..prompts import Message
from ..text import plain, without_keys
from .requests import Request

if TYPE_CHECKING:
    from anthropic import Anthropic
    from httpx2 import Response
    from langchain_anthropic import ChatAnthropic
    from openai import OpenAI


class SentOn(InputError):
    """A server answered with the address of another."""


def stay(response: Response) -> None:
    """A hook for responses of httpx. Raises SentOn where one redirects to another scheme, host or port."""
    if response.has_redirect_location:
        here = response.request.url
        there = here.join(response.headers["location"])
        if (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port):
            raise SentOn(
                f"the server at {here.scheme}://{here.netloc.decode()} sends calls on to "
                f"{there.scheme}://{there.host}{f':{there.port}' if there.port else ''}, and nothing was sent there",
                remedy="write that address as base_url if it is the right one",
            )


HOOKS: dict[str, list[Callable[..., Any]]] = {"response": [stay]}


def openai_client(key: str, base_url: str | None, timeout_s: float) -> OpenAI:
    """OpenAI's client, without retries of its own, that follows no redirect to another host."""
    from openai import DefaultHttpxClient, OpenAI

    client = DefaultHttpxClient(event_hooks=HOOKS)
    return OpenAI(api_key=key, base_url=base_url, timeout=timeout_s, max_retries=0, http_client=client)


def anthropic_client(key: str, base_url: str | None, timeout_s: float) -> Anthropic:
    """The same of Anthropic."""
    from anthropic import Anthropic, DefaultHttpxClient

    client = DefaultHttpxClient(event_hooks=HOOKS)
    return Anthropic(api_key=key, base_url=base_url, timeout=timeout_s, max_retries=0, http_client=client)


def staying_chat_anthropic() -> type[ChatAnthropic]:
    """A `ChatAnthropic` that follows no redirect to another host; it takes no HTTP client as an argument."""
    from functools import cached_property

    from anthropic import Client, DefaultHttpxClient
    from langchain_anthropic import ChatAnthropic

    class StayingChatAnthropic(ChatAnthropic):
        @cached_property
        def _client(self) -> Client:
            return super()._client.with_options(http_client=DefaultHttpxClient(event_hooks=HOOKS))

    return StayingChatAnthropic


def rate_limiter(settings: ModelSettings) -> Any:
    """What keeps a model's requests_per_minute, for several threads; None where it is not set."""
    from langchain_core.rate_limiters import InMemoryRateLimiter

    if settings.requests_per_minute is None:
        return None
    per_second = settings.requests_per_minute / 60
    every_s = min(0.1, 0.5 / per_second)
    return InMemoryRateLimiter(requests_per_second=per_second, check_every_n_seconds=every_s, max_bucket_size=1)


class JsonServer:
    """POSTs to one address, without retries and no further than there; for several threads.

    `base_url`: None for OpenAI's own. The key (by default OPENAI_API_KEY) goes along as a bearer token: OpenAI, Cohere,
    Jina, vLLM, TEI take it so.
    """

    def __init__(self, base_url: str | None, settings: ModelSettings, key: str | None = None) -> None:
        self._base_url, self._settings = base_url, settings
        self._key = key or os.environ.get("OPENAI_API_KEY") or "none"
        self._lock = threading.Lock()
        self._client: OpenAI | None = None
        self._limiter: Any = None

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The reply to `body`, at most requests_per_minute. Raises what OpenAI's SDK raises, JSONDecodeError else."""
        with self._lock:
            if self._client is None:
                self._client = openai_client(self._key, self._base_url, self._settings.timeout_s)
                self._limiter = rate_limiter(self._settings)
        if self._limiter:
            self._limiter.acquire(blocking=True)
        reply = self._client.post(path, body=dict(body), cast_to=object)
        return json.loads(reply) if isinstance(reply, str) else reply


_RETRYABLE = {408, 409, 425, 429}


def explain(error: Exception, model: str) -> RagassayError | None:
    """The error of ours that stands for an SDK's exception, or None for one that is not a provider's doing.

    InputError (wrong key, unknown model, no quota left) ends the run, since every further call would fail alike;
    ProviderError is retried where that may help and else becomes a record's error.
    """
    root: BaseException = error
    while root.__cause__ is not None:  # "Connection refused" rather than "Connection error."
        root = root.__cause__
    if isinstance(root, SentOn):
        return InputError(f"{model}: {root.problem}", remedy=root.remedy)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return of_status(status, _one_line(error), model, _retry_after(error))
    if isinstance(error, json.JSONDecodeError):
        return ProviderError("the body of the response is not whole JSON", retryable=True)
    name = type(error).__name__
    if "Timeout" in name:
        return ProviderError("no response within the time limit (timeout_s)", retryable=True, answered=False)
    package = type(error).__module__.split(".")[0]
    if package in {"httpx", "httpcore", "httpx2", "httpcore2"} or "Connection" in name or isinstance(error, OSError):
        said = plain(without_keys(str(root)) or type(error).__name__)[:200]
        return ProviderError(f"the connection failed ({said})", retryable=True, answered=False)
    if package in {"openai", "anthropic", "langchain_openai", "langchain_anthropic", "langchain_core", "pydantic"}:
        malformed = name in {"APIResponseValidationError", "ValidationError", "OutputParserException"}
        return ProviderError(f"the response cannot be used ({name}: {_one_line(error)})", retryable=malformed)
    if isinstance(error, (TypeError, KeyError, AttributeError, ValueError, IndexError)):
        return ProviderError(f"the response is not laid out as expected ({name}: {_one_line(error)})", retryable=True)
    return None


def of_status(status: int, said: str, model: str, retry_after_s: float | None = None) -> RagassayError:
    """The error of ours for an HTTP status, of a call or of one request in a batch, and what the provider said."""
    if status in {401, 403}:
        return InputError(f"{model}: the provider refused the key (status {status})", remedy="check the key")
    if status == 404:
        return InputError(f"{model}: the provider does not know this model or address (status 404: {said})")
    if status == 402 or "insufficient_quota" in said:
        return InputError(f"{model}: the account has no quota left (status {status})")
    retryable = status in _RETRYABLE or status >= 500
    return ProviderError(f"status {status}: {said}", retryable=retryable, retry_after_s=retry_after_s)


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError, TypeError):
        return None


def _one_line(error: Exception) -> str:
    """What the error says; with the response's own words where OpenAI's SDK leaves them out."""
    said, response = str(error), getattr(error, "response", None)
    if said == f"Error code: {getattr(response, 'status_code', None)}":
        said = f"{said} - {getattr(response, 'text', '')}"
    return short(said)


def short(said: object) -> str:
    """What a provider said as one line of bearable length, without keys."""
    return plain(without_keys(" ".join(str(said).split())))[:300]


BATCH_SHARE = 0.5
"""What a request in a batch costs of what a direct call does, at OpenAI and Anthropic."""


def cost_usd(
    model: str,
    settings: ModelSettings,
    input_tokens: int | None,
    output_tokens: int | None,
    cached_tokens: int = 0,
    written_tokens: int = 0,
    *,
    batch: bool = False,
) -> float | None:
    """US dollars for a call; 0.0 for a `local:` model, None for `file:`, an own server, or an unknown model.

    `cached_tokens` and `written_tokens`, both of `input_tokens`, were read from and written to the provider's prompt
    cache. `[models."…"] prices_usd_per_million = { input = …, output = … }` goes before the tables; its `cached_input`
    and `cache_write` are the input's where they are not given. A `batch` costs half.
    """
    if input_tokens is None or output_tokens is None:
        return None
    provider, name = model.split(":", 1)
    cost: float | None = None
    if prices := settings.prices_usd_per_million:
        of_input = prices.get("input", 0.0)
        of_cached, of_written = prices.get("cached_input", of_input), prices.get("cache_write", of_input)
        parts = (input_tokens - cached_tokens - written_tokens) * of_input + output_tokens * prices.get("output", 0.0)
        cost = (parts + cached_tokens * of_cached + written_tokens * of_written) / 1e6
    elif provider == "local":
        cost = 0.0
    elif provider in {"openai", "anthropic"} and not settings.base_url:
        cost = _listed(provider, name, input_tokens, output_tokens, cached_tokens, written_tokens)
    return cost * BATCH_SHARE if cost is not None and batch else cost


def served_cost_usd(
    model: str, settings: ModelSettings, input_tokens: int | None, searches: int | None
) -> float | None:
    """US dollars for a call of a server that embeds or reranks, by its tokens, its searches, or both; None as above."""
    prices = settings.prices_usd_per_million or {}
    if "search" not in prices:
        return cost_usd(model, settings, input_tokens, 0)
    if searches is None or ("input" in prices and input_tokens is None):
        return None
    return (searches * prices["search"] + (input_tokens or 0) * prices.get("input", 0.0)) / 1e6


def _listed(provider: str, name: str, inputs: int, outputs: int, cached: int, written: int) -> float | None:
    from genai_prices import Usage, calc_price

    counts = {"input_tokens": inputs, "output_tokens": outputs, "cache_read_tokens": cached}
    usage = Usage(**counts, cache_write_tokens=written or None)
    try:
        return float(calc_price(usage, model_ref=name, provider_id=provider).total_price)
    except (LookupError, ValueError):
        return None


SHARED_CHARACTERS = 4000
"""About 1,024 tokens: a shared beginning that is shorter is not cached.

OpenAI caches the beginning that prompts share by itself. Anthropic caches up to a mark, bills what it writes there at
1.25 times the input's price and what it reads at a tenth, and passes over a mark on less than 1,024 tokens (more for
some models): https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching. The mark is no part of what is
asked, so it is not in the reply cache's key.
"""

_MARK = {"cache_control": {"type": "ephemeral"}}


def shared_beginnings(requests: Sequence[Request]) -> list[int]:
    """For each request, how many characters of its first user message another request begins with too; 0: none.

    Only whole lines count, and only a beginning of at least SHARED_CHARACTERS behind equal system messages that at
    least two requests are cut at alike.
    """
    openings = [_opening(request) for request in requests]
    order = sorted(range(len(openings)), key=lambda at: openings[at])
    shared = [0] * len(openings)
    for one, other in pairwise(order):
        length = _common(openings[one], openings[other])
        shared[one], shared[other] = max(shared[one], length), max(shared[other], length)
    parts = [(system, text[:length]) for (system, text), length in zip(openings, shared, strict=True)]
    times = Counter(parts)
    return [length if times[part] > 1 else 0 for part, length in zip(parts, shared, strict=True)]


def beginning_of(request: Request, shared: int) -> str | None:
    """What the request shares with others, or None where that is nothing."""
    system, user = _opening(request)
    return f"{system}\n{user[:shared]}" if shared else None


def in_turn(beginnings: Sequence[str | None], at_once: int) -> list[int]:
    """The order in which requests with these shared beginnings are made, `at_once` at a time: their indices.

    A beginning can be read from the cache only once its first request is answered, and for five minutes then: so the
    first requests of four times `at_once` beginnings go before the others of the same.
    """
    order, followers, seen, n_first = list[int](), list[int](), set[str](), 0
    for at, beginning in enumerate(beginnings):
        if beginning is not None and beginning in seen:
            followers.append(at)
            continue
        if n_first == 4 * at_once:
            order, followers, n_first = order + followers, [], 0
        if beginning is not None:
            seen.add(beginning)
            n_first += 1
        order.append(at)
    return order + followers


def anthropic_content(messages: Sequence[Message], shared: int = 0) -> list[tuple[str, str | list[dict[str, Any]]]]:
    """(role, content) of each message, marked behind the system's and behind `shared` characters of the first user's.

    The texts are as they were, in one block or two.
    """
    content: list[tuple[str, str | list[dict[str, Any]]]] = []
    for message in messages:
        text = message.content
        if message.role == "system" and text.strip():
            content.append((message.role, [{"type": "text", "text": text} | _MARK]))
        elif message.role == "user" and 0 < shared < len(text):
            marked = {"type": "text", "text": text[:shared]} | _MARK
            content.append((message.role, [marked, {"type": "text", "text": text[shared:]}]))
            shared = 0
        else:
            content.append((message.role, text))
    return content


def _opening(request: Request) -> tuple[str, str]:
    """The system message and the first of the user's."""
    system = "".join(message.content for message in request.messages if message.role == "system")
    user = next((message.content for message in request.messages if message.role == "user"), "")
    return system, user


def _common(one: tuple[str, str], other: tuple[str, str]) -> int:
    (system, text), (other_system, other_text) = one, other
    if system != other_system or text[:SHARED_CHARACTERS] != other_text[:SHARED_CHARACTERS]:
        return 0
    low, high = 0, max(0, min(len(text), len(other_text)) - 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text[:middle] == other_text[:middle] else (low, middle - 1)
    length = text.rfind("\n", 0, low) + 1
    return length if length >= SHARED_CHARACTERS else 0
