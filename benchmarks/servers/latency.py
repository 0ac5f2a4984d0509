"""A server of a fixed latency in a process of its own, which answers every request with something that fits its schema.

with LatencyServer(0.2) as server: … server.base_url …
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Self

_NUMBERED = re.compile(r'<(?:sentence|nugget|claim) number="(\d+)">')
WORDS = ("timer", "register", "interrupt", "boot loader", "port", "stack", "fuse", "clock")


class ServerProcess:
    """`python -m MODULE ARGUMENTS` for a `with` block; it prints its port first, and `base_url` is its address."""

    def __init__(self, module: str, *arguments: object) -> None:
        self._command = [sys.executable, "-m", module, *map(str, arguments)]
        self.base_url = ""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.base_url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


class LatencyServer(ServerProcess):
    """OpenAI-compatible, on loopback."""

    def __init__(self, latency_s: float) -> None:
        super().__init__(__name__, latency_s)


def fitting(schema: dict[str, Any], definitions: dict[str, Any], chance: random.Random, items: Sequence[int]) -> Any:
    """A value that fits a JSON schema, as far as ours go; a list has a row for each numbered item."""
    if "$ref" in schema:
        return fitting(definitions[schema["$ref"].split("/")[-1]], definitions, chance, items)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "const" in schema:
        return schema["const"]
    if schema.get("type") == "object":
        return {name: fitting(part, definitions, chance, items) for name, part in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        rows = [fitting(schema["items"], definitions, chance, items) for _ in items or range(3)]
        for row, number in zip(rows, items, strict=False):
            if isinstance(row, dict) and "number" in row:
                row["number"] = number
        return rows
    if schema.get("type") == "integer":
        return schema.get("minimum", 1)
    if schema.get("type") == "boolean":
        return chance.random() < 0.5
    return f"The {chance.choice(WORDS)} sets the {chance.choice(WORDS)}."


def body_of(request: dict[str, Any]) -> bytes:
    """The reply to a chat completion request."""
    chance = random.Random(request["messages"][-1]["content"])
    wanted = (request.get("response_format") or {}).get("json_schema", {}).get("schema")
    items = [int(number) for number in _NUMBERED.findall(request["messages"][-1]["content"])]
    content = "By the timer [1]."
    if wanted is not None:
        content = json.dumps(fitting(wanted, wanted.get("$defs", {}), chance, items))
    reply = {
        "id": "bench",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model", ""),
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }
    return json.dumps(reply).encode()


async def _serve(latency_s: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (data := await request_body(reader)) is not None:
            if not data:  # a look whether anybody listens
                writer.write(response(404, b"{}"))
                continue
            ready = asyncio.get_running_loop().time() + latency_s
            payload = body_of(json.loads(data))
            await asyncio.sleep(max(0.0, ready - asyncio.get_running_loop().time()))
            writer.write(response(200, payload))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


def response(status: int, payload: bytes, *headers: str) -> bytes:
    """The bytes of an HTTP response of JSON."""
    lines = [f"HTTP/1.1 {status} -", "Content-Type: application/json", f"Content-Length: {len(payload)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + payload


async def request_body(reader: asyncio.StreamReader) -> bytes | None:
    """The body of the next request, b"" of one without; None when the client has gone."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        lengths = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        return await reader.readexactly(lengths[0] if lengths else 0)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
