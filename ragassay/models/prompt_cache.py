"""What prompts have in common, marked for the provider's prompt cache.

OpenAI caches the beginning that prompts share by itself. Anthropic caches up to a mark, bills what it writes there at
1.25 times the input's price and what it reads at a tenth, and passes over a mark on less than 1,024 tokens (more for
some models): https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching. The mark is no part of what is asked,
so it is not in the reply cache's key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ..prompts import Message
from .requests import Request

SHARED_CHARACTERS = 4000
"""About 1,024 tokens: a shared beginning that is shorter is not cached."""

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
    if not shared:
        return None
    system, user = _opening(request)
    return f"{system}\n{user[:shared]}"


def in_turn(beginnings: Sequence[str | None], at_once: int) -> list[int]:
    """The order in which requests with these shared beginnings are made, `at_once` at a time: their indices.

    A beginning can be read from the cache only once its first request is answered, and for five minutes then: so the
    first requests of four times `at_once` beginnings go before the others of the same.
    """
    order: list[int] = []
    followers: list[int] = []
    seen: set[str] = set()
    n_first = 0
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
            content.append((message.role, [_block(text) | _MARK]))
        elif message.role == "user" and 0 < shared < len(text):
            content.append((message.role, [_block(text[:shared]) | _MARK, _block(text[shared:])]))
            shared = 0
        else:
            content.append((message.role, text))
    return content


def _block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


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
