"""What is asked of a model, what comes back, and the key that names the one by the other's content."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from ..experiment.tables import ModelSettings
from ..files import digest_json, first_problem
from ..prompts import Message
from ..records import Usage

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

T = TypeVar("T")


def in_parts(items: Iterable[T], size: Callable[[T], int], most: int, n: int | None = None) -> Iterator[list[T]]:
    """The items in their order, in parts of at most `n` (None: any number) whose sizes are at most `most` together, as
    one request or file may hold them; one that is larger stands by itself."""
    part: list[T] = []
    together = 0
    for item in items:
        more = size(item)
        if part and (len(part) == n or together + more > most):
            yield part
            part, together = [], 0
        part.append(item)
        together += more
    if part:
        yield part


KEY_VERSION = 1
"""Changing this, or anything that enters a key, throws away every reply that was paid for."""

REFUSED = "the model refused"
"""How the error of a refused reply begins."""

Body = dict[str, Any]
"""A reply as OpenAI's chat completions lay it out, which is how replies of every provider are kept."""


@dataclass(frozen=True)
class Request:
    """One question to a model.

    `schema` is the structured reply that is asked for; without it the reply is free text. With `tokens` the reply is
    one of these single tokens, and what is wanted is their probabilities. `sample` tells repeats apart. `items`: about
    how many things it asks, of which the length of its reply is foreseen; it has no part in the key. `temperature`:
    None is the model's own. `continuation`: where it is given, nothing is written: what is wanted are the
    log-probabilities of its tokens after the one message.
    """

    messages: tuple[Message, ...]
    schema: type[BaseModel] | None = None
    tokens: tuple[str, ...] = ()
    sample: int = 0
    items: int = 1
    temperature: float | None = None
    continuation: str = ""

    def temperature_by(self, settings: ModelSettings) -> float | None:
        """The temperature of its reply: its own or else the model's; None is the provider's default."""
        return settings.temperature if self.temperature is None else self.temperature


@dataclass(frozen=True)
class Batch:
    """Requests to one model that may be written to the same request file, `requests/LABEL-0001.jsonl`."""

    label: str
    model: str
    requests: tuple[Request, ...]


@dataclass(frozen=True)
class Reply:
    """What came back: `error`, or else `value` (a schema was asked for), `probabilities` (tokens) or `text`.

    logprobs: of each token of a continuation, natural logarithms.
    """

    value: BaseModel | None = None
    text: str | None = None
    probabilities: dict[str, float] | None = None
    logprobs: tuple[float, ...] | None = None
    usage: Usage = Usage()
    latency_s: float | None = None
    error: str | None = None


def request_key(model: str, base_url: str | None, settings: ModelSettings, request: Request) -> str:
    """SHA-256 over everything that shapes the reply, by name, and nothing else.

    In: model, address, temperature, max_tokens, messages, schema, tokens, sample, and where they are set top_p, seed,
    presence_penalty and the continuation. Out: retries, time-outs, rate limits, concurrency, threads, file sizes,
    prices.
    """
    return digest_json(
        {
            "version": KEY_VERSION,
            "model": model,
            "base_url": base_url,
            "temperature": request.temperature_by(settings),
            "max_tokens": settings.max_tokens,
            "messages": [list(message) for message in request.messages],
            "schema": json_schema(request.schema) if request.schema else None,
            "tokens": list(request.tokens),
            "sample": request.sample,
        }
        | settings.sampling()
        | ({"continuation": request.continuation} if request.continuation else {})
    )


@lru_cache(maxsize=256)
def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """A reply's JSON schema, made once for each class; not to be changed by whoever gets it."""
    return schema.model_json_schema()


def ask_again(request: Request, body: Body, problem: str) -> Request:
    """The second and last try after a reply that did not fit: the same conversation, with what was wrong said."""
    said = _content(body)[:4000] or "(nothing)"
    wish = "one JSON object that fits the schema and nothing else" if request.schema else "the answer as plain text"
    return replace(
        request,
        messages=(
            *request.messages,
            Message("assistant", said),
            Message("user", f"That reply cannot be used: {problem}. Reply again, with {wish}."),
        ),
    )


def read_reply(request: Request, body: Body) -> Reply:
    """The reply in `body`, checked against what was asked; what does not fit is a Reply with its `error`."""
    if request.tokens:
        return _read_probabilities(request.tokens, body)
    if request.continuation:
        given = _table(_choice(body).get("logprobs"))
        logprobs = given.get("token_logprobs")
        if not isinstance(logprobs, list) or not all(isinstance(one, int | float) for one in logprobs):
            return Reply(error=f"the server gave {given.get('error') or 'no log-probabilities'}")
        return Reply(logprobs=tuple(map(float, logprobs)))
    refusal = _message(body).get("refusal")
    if refusal:
        return Reply(error=f"{REFUSED}: {str(refusal)[:200]}")
    text = _content(body).strip()
    if not text:
        return Reply(error="the reply is empty")
    if request.schema is None:
        return Reply(text=text)
    if _choice(body).get("finish_reason") == "length":
        return Reply(error="the reply was cut off at max_tokens")
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        text = text[text.index("\n") : -3]
    try:
        return Reply(value=request.schema.model_validate_json(text, strict=True))
    except ValidationError as error:
        return Reply(error=f"the reply does not fit the schema: {first_problem(error)}")


class Tokens(NamedTuple):
    """Tokens of a call as measured, None where its reply says nothing; `cached` and `written` are parts of `input`.

    `cached` were read from the provider's prompt cache, `written` were put into it (Anthropic bills these apart).
    """

    input: int | None
    output: int | None
    cached: int = 0
    written: int = 0


def usage_of(body: Body) -> Tokens:
    """The tokens that the reply says it took."""
    usage = _table(body.get("usage"))
    details = _table(usage.get("prompt_tokens_details"))
    cached, written = _count(details.get("cached_tokens")) or 0, _count(details.get("cache_write_tokens")) or 0
    return Tokens(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), cached, written)


def usage_body(tokens: Tokens) -> dict[str, Any]:
    """The `usage` of a kept body, which `usage_of` reads."""
    details = {"cached_tokens": tokens.cached} | ({"cache_write_tokens": tokens.written} if tokens.written else {})
    return {"prompt_tokens": tokens.input, "completion_tokens": tokens.output, "prompt_tokens_details": details}


BATCH_TIER = {"service_tier": "batch"}
"""What a kept body holds where it came through a batch API, at half the price."""


def came_by_batch(body: Body) -> bool:
    """Whether the reply came through a batch API."""
    return body.get("service_tier") == BATCH_TIER["service_tier"]


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _read_probabilities(tokens: tuple[str, ...], body: Body) -> Reply:
    content = (_choice(body).get("logprobs") or {}).get("content") or []
    if not content:
        return Reply(error="the reply carries no log-probabilities")
    mass = dict.fromkeys(tokens, 0.0)
    named = {token.strip().casefold(): token for token in tokens}
    for entry in content[0].get("top_logprobs") or []:
        if (token := named.get(str(entry["token"]).strip().casefold())) is not None:
            mass[token] += math.exp(entry["logprob"])
    total = sum(mass.values())
    if not total > 0:
        return Reply(error=f"none of {', '.join(tokens)} is among the likeliest tokens")
    return Reply(probabilities={token: value / total for token, value in mass.items()})


def _choice(body: Body) -> dict[str, Any]:
    choices = body.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _message(body: Body) -> dict[str, Any]:
    return _table(_choice(body).get("message"))


def _content(body: Body) -> str:
    content = _message(body).get("content")
    return content if isinstance(content, str) else "" if content is None else json.dumps(content)


def response_format(request: Request) -> dict[str, Any]:
    """OpenAI's `response_format` for the request's schema, strict."""
    if request.schema is None:
        raise ValueError("the request asks for free text")
    schema = json_schema(request.schema)
    return {"type": "json_schema", "json_schema": {"name": request.schema.__name__, "strict": True, "schema": schema}}


TOP_LOGPROBS = 20
"""How many of the likeliest tokens are asked for and kept."""


def body_of_completion(reply: Mapping[str, Any], model: str, tokens: Sequence[str] = ()) -> Body:
    """What is kept of the JSON of a chat completion.

    Of the log-probabilities, those of `tokens` are kept and what is among the likeliest 20. Raises KeyError,
    IndexError, TypeError or AttributeError where it is not laid out as one.
    """
    given = reply["choices"][0]
    said, logprobs = given["message"], given.get("logprobs")
    content = said.get("content")
    if not isinstance(content, str | list | None):
        raise TypeError(f"the content is a {type(content).__name__}")
    parts = content if isinstance(content, list) else [content or ""]
    text = "".join(part if isinstance(part, str) else part.get("text") or "" for part in parts)
    body = _body(text, said.get("refusal"), given.get("finish_reason"))
    if logprobs:
        body["choices"][0]["logprobs"] = {"content": [_kept(entry, tokens) for entry in logprobs["content"][:1]]}
    body["model"] = reply.get("model") or model
    if reply.get("usage"):
        body["usage"] = usage_body(usage_of(dict(reply))._replace(written=0))
    return body


def body_of_reply(reply: AIMessage, model: str) -> Body:
    """What is kept of a LangChain message."""
    metadata, called = reply.response_metadata, reply.tool_calls
    text = json.dumps(called[0]["args"], ensure_ascii=False) if called else str(reply.text)
    stop = metadata.get("stop_reason") or metadata.get("finish_reason")
    body = _body(text, (text or "refused") if stop == "refusal" else None, stop)
    body["model"] = metadata.get("model_name") or model
    if usage := reply.usage_metadata:
        details: Mapping[str, Any] = usage.get("input_token_details") or {}
        written = sum(details.get(f"ephemeral_{lifetime}_input_tokens") or 0 for lifetime in ("5m", "1h"))
        written, cached = written or details.get("cache_creation") or 0, details.get("cache_read") or 0
        body["usage"] = usage_body(Tokens(usage["input_tokens"], usage["output_tokens"], cached, written))
    return body


def _body(text: str, refusal: str | None, stop: str | None) -> Body:
    message = {"role": "assistant", "content": text} | ({"refusal": str(refusal)} if refusal else {})
    finish = "length" if stop in {"length", "max_tokens"} else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"object": "chat.completion", "model": "", "choices": [choice]}


def _kept(entry: Mapping[str, Any], tokens: Sequence[str]) -> dict[str, Any]:
    wanted = {token.casefold() for token in tokens}
    likeliest = [
        {"token": top["token"], "logprob": top["logprob"]}
        for rank, top in enumerate(entry.get("top_logprobs") or [])
        if rank < TOP_LOGPROBS or str(top["token"]).strip().casefold() in wanted
    ]
    return {"token": entry["token"], "logprob": entry["logprob"], "top_logprobs": likeliest}
