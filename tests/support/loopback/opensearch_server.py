"""A scripted OpenSearch on loopback, for what a real one does only when it is in trouble.

with ScriptedOpenSearch(lambda request: (200, {"items": []})) as server:
    connect(server.url, settings)
    server.requests[0].path
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Received:
    """One request; `lines` are the JSON values of its body, one a line."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines() if line.strip()]


Reply = tuple[int, Any] | None
"""Status and what becomes JSON (bytes are sent as they are); None: the connection is reset."""


class ScriptedOpenSearch:
    """Answers each request with what `script` gives for it; `requests` holds them in order."""

    def __init__(self, script: Callable[[Received], Reply]) -> None:
        self.requests: list[Received] = []
        owner, self._script = self, script

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

            def serve(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                received = Received(self.command, self.path, headers, self.rfile.read(length))
                owner.requests.append(received)
                reply = owner._script(received)
                if reply is None:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                    return
                payload = reply[1] if isinstance(reply[1], bytes) else json.dumps(reply[1]).encode()
                self.send_response(reply[0])
                self.send_header("Content-Type", "text/html" if isinstance(reply[1], bytes) else "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(payload)

            do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = serve

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._closed = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening, once."""
        if not self._closed:
            self._closed = True
            self._http.shutdown()
            self._http.server_close()


def error(status: int, kind: str, reason: str) -> tuple[int, dict[str, Any]]:
    """An error as OpenSearch words it."""
    inner = {"type": kind, "reason": reason}
    return status, {"error": {**inner, "root_cause": [inner]}, "status": status}


def bulk_reply(received: Received, statuses: Mapping[str, tuple[int, str, str]] | None = None) -> tuple[int, Any]:
    """A bulk's reply: every item created but those in `statuses` (_id to status, type, reason)."""
    items = []
    for action in received.lines[::2]:
        identifier = action["create"]["_id"]
        status, kind, reason = (statuses or {}).get(identifier, (201, "", ""))
        error = {"error": {"type": kind, "reason": reason}} if kind else {}
        items.append({"create": {"_index": "i", "_id": identifier, "status": status, **error}})
    return 200, {"took": 1, "errors": bool(statuses), "items": items}
