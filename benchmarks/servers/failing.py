"""A server that fails: 30% of its answers are errors, lost connections, cut or broken bodies, refusals, or none at all.

    python -m benchmarks.servers.failing LOG SEED

OpenAI-compatible, on loopback, 20 ms a reply. To LOG it appends a line for each whole reply it has sent, which a
provider would bill: `SECONDS KEY KIND`, with the monotonic clock and the SHA-256 of the request's body.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import random
import sys
import time
from pathlib import Path

from benchmarks.servers.latency import ServerProcess, body_of, request_body, response

LATENCY_S = 0.02
SHARES = {
    "429": 0.06,
    "500": 0.05,
    "503": 0.05,
    "time-out": 0.03,
    "cut body": 0.03,
    "half JSON": 0.03,
    "malformed": 0.03,
    "refusal": 0.02,
}
"""How often each failure happens, of all requests; 30% together. The last two are replies, and billed as such."""
BILLED = ("ok", "malformed", "refusal")


class FailingServer(ServerProcess):
    """A `with` block of it; `log` is the file of the replies sent, `base_url` the address."""

    def __init__(self, log: Path, seed: int = 7) -> None:
        log.touch()
        super().__init__(__name__, log, seed)
        self.log = log


def drawn(chance: random.Random) -> str:
    """What happens to a request: a key of SHARES, or "ok"."""
    kinds = [*SHARES, "ok"]
    return chance.choices(kinds, [*SHARES.values(), 1 - sum(SHARES.values())])[0]


def _reply(data: bytes, kind: str) -> bytes:
    """The whole of a reply that is billed."""
    body = json.loads(body_of(json.loads(data)))
    message = body["choices"][0]["message"]
    if kind == "malformed":
        message["content"] = message["content"][: len(message["content"]) // 2]
    if kind == "refusal":
        body["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I cannot judge this."}
    return response(200, json.dumps(body).encode())


def _failure(kind: str) -> bytes:
    if kind.isdigit():
        error = json.dumps({"error": {"message": f"status {kind}", "type": "server_error"}}).encode()
        return response(int(kind), error, *(["Retry-After: 0.05"] if kind == "429" else []))
    whole = response(200, body_of({"messages": [{"content": ""}]}))
    if kind == "half JSON":
        payload = whole.split(b"\r\n\r\n", 1)[1]
        return response(200, payload[: len(payload) // 2])
    return whole[: len(whole) - 40]


async def _serve(log: int, seed: int) -> None:
    chance = random.Random(seed)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (data := await request_body(reader)) is not None:
                if not data:  # a look whether anybody listens
                    writer.write(response(404, b"{}"))
                    continue
                await asyncio.sleep(LATENCY_S)
                kind = drawn(chance)
                if kind == "time-out":
                    await reader.read()
                    break
                writer.write(_reply(data, kind) if kind in BILLED else _failure(kind))
                await writer.drain()
                if kind in BILLED:
                    os.write(log, f"{time.monotonic():.4f} {hashlib.sha256(data).hexdigest()} {kind}\n".encode())
                if kind == "cut body":
                    break
        except ConnectionError:
            pass  # the client was killed
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND), int(sys.argv[2])))
