"""A scripted provider on loopback: real HTTP, and whatever misbehaviour a test asks for.

with ScriptedServer("openai", lambda number, body: reply("hello")) as server:
    ChatOpenAI(base_url=server.base_url, api_key="none", ...)
    server.requests[0].body["messages"]
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

from support.loopback import anthropic_server, openai_server
from support.loopback.behaviours import Behaviour

Script = Callable[[int, dict[str, Any]], Behaviour] | Sequence[Behaviour]
"""Request number (from 0) and parsed body to what happens; of a list, the last one serves all further requests."""

PROVIDERS = {"openai": openai_server, "anthropic": anthropic_server}


@dataclass(frozen=True)
class Received:
    """One POST: its number (from 0), path, headers (lower-case names) and parsed body."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class ScriptedServer:
    """An OpenAI- or Anthropic-compatible server on 127.0.0.1, from `with` to the end of its block.

    `requests` holds what was received, in order; `most_at_once` how many requests were being served together at most.
    `base_url` is what the provider's SDK takes (OpenAI's ends in /v1, Anthropic's does not). A script that raises
    is raised again when the block ends.
    """

    def __init__(self, provider: Literal["openai", "anthropic"], script: Script) -> None:
        self.provider = PROVIDERS[provider]
        self.script = script
        self.requests: list[Received] = []
        self.most_at_once = 0
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self._at_once = 0
        self._failure: BaseException | None = None
        self._http = _Listener(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.provider.BASE_PATH}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
        if self._failure and error is None:
            raise self._failure

    def close(self) -> None:
        """Stop listening and drop every connection, hanging ones too."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._http.drop_connections()

    def behaviour(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Behaviour:
        """Record a request and ask the script what to do with it."""
        with self.lock:
            number = len(self.requests)
            self.requests.append(Received(number, path, headers, body))
        try:
            if callable(self.script):
                return self.script(number, body)
            return self.script[min(number, len(self.script) - 1)]
        except Exception as error:
            self._failure = error
            raise

    def enter_request(self) -> None:
        with self.lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)

    def leave_request(self) -> None:
        with self.lock:
            self._at_once -= 1


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, owner: ScriptedServer) -> None:
        self.owner = owner
        self.connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self.owner.lock:
            self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self.owner.lock:
            self.connections.discard(request)
        super().shutdown_request(request)

    def drop_connections(self) -> None:
        with self.owner.lock:
            open_ones = list(self.connections)
        for connection in open_ones:
            _shut(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; a script that raised is kept by its server."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            self._send(200, json.dumps(self.server.owner.provider.models()).encode())
        else:
            self._send(404, b'{"error": {"message": "no such path"}}')

    def do_POST(self) -> None:
        owner = self.server.owner
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.split("?")[0] != owner.provider.CHAT_PATH:
            self._send(404, b'{"error": {"message": "no such path"}}')
            return
        body = json.loads(data)
        headers = {name.lower(): value for name, value in self.headers.items()}
        owner.enter_request()
        try:
            self._behave(owner.behaviour(self.path, headers, body), body)
        finally:
            owner.leave_request()

    def _behave(self, behaviour: Behaviour, body: dict[str, Any]) -> None:
        if behaviour.delay_s:
            time.sleep(behaviour.delay_s)
        payload = self._payload(behaviour, body)
        match behaviour.failure:
            case "hang":
                self.server.owner.closing.wait()
                self._reset()
            case "cut-before":
                self._reset()
            case "cut-headers":
                self._cut_amid(b"HTTP/1.1 200 OK\r\nContent-Type: applic")
            case "cut-body":
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(payload)}\r\n\r\n"
                self._cut_amid(head.encode() + payload[: len(payload) // 2])
            case "half-body":
                self._send(200, payload[: len(payload) // 2])
            case "not-json":
                self._send(200, b"<html><body>Please log in to the network.</body></html>", kind="text/html")
            case None:
                self._send(behaviour.status, payload, behaviour.headers)

    def _payload(self, behaviour: Behaviour, body: dict[str, Any]) -> bytes:
        provider = self.server.owner.provider
        if behaviour.status != 200:
            return json.dumps(provider.error(behaviour.status)).encode()
        return json.dumps(provider.completion(behaviour, body)).encode()

    def _send(
        self, code: int, payload: bytes, headers: Sequence[tuple[str, str]] = (), kind: str = "application/json"
    ) -> None:
        self.send_response(code)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(payload))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    def _cut_amid(self, sent: bytes) -> None:
        self.wfile.write(sent)
        self.wfile.flush()
        self.close_connection = True

    def _reset(self) -> None:
        """Close with a reset (RST), as a provider's crashed worker does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # already closed by its own thread
        return
