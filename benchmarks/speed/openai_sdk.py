"""OpenAI's SDK by itself on the judge's requests: what judging would take with nothing of ours around the calls.

The same messages and schema go to the same server, as many at a time, and each reply is read into the same schema.
Nothing is kept on disk, nothing is tried again, no record is made.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.speed.ragelo_peer import cpu
from ragassay.models.requests import Request, response_format

Took = tuple[float, float]
"""Seconds of wall time and of CPU."""


def in_threads(requests: Sequence[Request], model: str, base_url: str, at_once: int) -> Took:
    """`OpenAI` in `at_once` threads, after one call that opens what is opened once."""
    from openai import OpenAI

    client = OpenAI(api_key="none", base_url=base_url, max_retries=0)

    def ask(request: Request) -> None:
        _read(request, client.chat.completions.create(**_arguments(request, model)))

    ask(requests[0])
    wall_s, cpu_s = time.monotonic(), cpu()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(ask, requests))
    return time.monotonic() - wall_s, cpu() - cpu_s


def in_one_loop(requests: Sequence[Request], model: str, base_url: str, at_once: int) -> Took:
    """`AsyncOpenAI` with `at_once` tasks in one thread, after one call."""
    return asyncio.run(_in_one_loop(requests, model, base_url, at_once))


async def _in_one_loop(requests: Sequence[Request], model: str, base_url: str, at_once: int) -> Took:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0) as client:

        async def ask(request: Request) -> None:
            _read(request, await client.chat.completions.create(**_arguments(request, model)))

        await ask(requests[0])
        wall_s, cpu_s = time.monotonic(), cpu()
        await _all(iter(requests), ask, at_once)
        return time.monotonic() - wall_s, cpu() - cpu_s


async def _all(left: Any, ask: Callable[[Request], Awaitable[None]], at_once: int) -> None:
    async def work() -> None:
        for request in left:
            await ask(request)

    await asyncio.gather(*(work() for _ in range(at_once)))


def _arguments(request: Request, model: str) -> dict[str, Any]:
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    return {"model": model, "messages": messages, "response_format": response_format(request)}


def _read(request: Request, reply: Any) -> None:
    assert request.schema is not None
    request.schema.model_validate_json(reply.choices[0].message.content)
