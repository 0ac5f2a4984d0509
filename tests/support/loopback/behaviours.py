"""What a scripted server does with one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Behaviour:
    """One answer, or one way of failing to give it. Made by the functions below.

    `reply` is text, or an object that goes out as a tool's arguments where the request has tools and as JSON text
    otherwise. `probabilities` are those of the first token, for requests that ask for log-probabilities.
    """

    reply: str | Mapping[str, Any] = ""
    ending: Literal["stop", "length", "refusal"] = "stop"
    probabilities: Mapping[str, float] | None = None
    input_tokens: int = 11
    output_tokens: int = 7
    cached_tokens: int = 0
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    failure: Literal["cut-before", "cut-headers", "cut-body", "half-body", "not-json", "hang"] | None = None


def reply(
    text_or_object: str | Mapping[str, Any],
    *,
    delay_s: float = 0.0,
    input_tokens: int = 11,
    output_tokens: int = 7,
    cached_tokens: int = 0,
) -> Behaviour:
    """A sound reply, after `delay_s` seconds."""
    return Behaviour(
        text_or_object,
        delay_s=delay_s,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cached_tokens=cached_tokens,
    )


def token_probabilities(probabilities: Mapping[str, float]) -> Behaviour:
    """A reply of one token, the likeliest, with these probabilities (0 to 1) as its top log-probabilities."""
    best = max(sorted(probabilities), key=lambda token: probabilities[token])
    return Behaviour(best, probabilities=dict(probabilities), output_tokens=1)


def status(code: int, *, retry_after_s: float | None = None) -> Behaviour:
    """An error of HTTP, with the provider's own error body, and Retry-After where given."""
    headers = () if retry_after_s is None else (("Retry-After", f"{retry_after_s:g}"),)
    return Behaviour(status=code, headers=headers)


def cut(where: Literal["before", "headers", "body"]) -> Behaviour:
    """The connection is reset before anything is sent, amid the headers, or amid the body."""
    if where == "before":
        return Behaviour(failure="cut-before")
    return Behaviour("cut", failure="cut-headers" if where == "headers" else "cut-body")


def half_body() -> Behaviour:
    """Status 200 and half of the JSON, with a Content-Length that agrees with the half."""
    return Behaviour("half", failure="half-body")


def not_json() -> Behaviour:
    """Status 200 and an HTML page, as a captive portal or a proxy gives."""
    return Behaviour(failure="not-json")


def hang() -> Behaviour:
    """No answer until the server is closed."""
    return Behaviour(failure="hang")


def prose() -> Behaviour:
    """Friendly text where JSON was asked for."""
    return Behaviour("Sure! I would say that the passage is rather relevant, all things considered.")


def refusal() -> Behaviour:
    """The model declines: OpenAI's `message.refusal`, Anthropic's `stop_reason: refusal`."""
    return Behaviour("I'm sorry, I can't help with that.", ending="refusal")


def truncated(text: str = '{"reason": "It is relevant beca') -> Behaviour:
    """The reply ran into its token limit."""
    return Behaviour(text, ending="length")
