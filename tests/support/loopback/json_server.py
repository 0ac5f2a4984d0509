"""A server on loopback that embeds and reranks: real HTTP, the layouts of OpenAI, Cohere, Jina, vLLM and TEI."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Sent:
    """What goes back: JSON with a status, or nothing at all (`drop`)."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False


Answer = Callable[[int, str, dict[str, Any]], Sent]
"""From the request's number (from 0), its path and its body."""


class JsonServer:
    """Answers POSTs by `answer`, from `with` to the end of its block; `requests` are (path, headers, body)."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.most_at_once, self._at_once, self._lock = 0, 0, threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

            def do_GET(self) -> None:
                self._send(Sent({"data": []}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                with owner._lock:
                    number = len(owner.requests)
                    owner.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                    owner._at_once += 1
                    owner.most_at_once = max(owner.most_at_once, owner._at_once)
                try:
                    self._send(answer(number, self.path, body))
                finally:
                    with owner._lock:
                        owner._at_once -= 1

            def _send(self, sent: Sent) -> None:
                if sent.drop:
                    self.close_connection = True
                    return
                data = json.dumps(sent.body).encode()
                self.send_response(sent.status)
                for name, value in {"Content-Type": "application/json", **sent.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads, self._http.block_on_close = True, False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()


def vector(text: str) -> list[float]:
    """Eight numbers from the text's digest."""
    return [float(byte) - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:8]]


def embeddings(body: dict[str, Any]) -> Sent:
    """OpenAI's reply, last vector first: `index` says which is whose. Five tokens a text."""
    rows = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(body["input"])]
    n = 5 * len(rows)
    return Sent({"object": "list", "data": rows[::-1], "usage": {"prompt_tokens": n, "total_tokens": n}})


def score(query: str, text: str) -> float:
    """The share of the query's words that the text has."""
    words = set(query.lower().split())
    return len(words & set(text.lower().split())) / len(words)


def _ranked(query: str, texts: list[str]) -> list[tuple[int, float]]:
    return sorted(((at, score(query, text)) for at, text in enumerate(texts)), key=lambda one: (-one[1], one[0]))


def cohere(body: dict[str, Any]) -> Sent:
    """Cohere's /v2/rerank, as its API reference shows it."""
    rows = _ranked(body["query"], body["documents"])[: body.get("top_n")]
    results = [{"index": at, "relevance_score": value} for at, value in rows]
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return Sent({"id": "07734bd2", "results": results, "meta": meta})


def vllm(body: dict[str, Any]) -> Sent:
    """vLLM's /rerank and Jina's /v1/rerank: the documents come back as well, and the tokens are told."""
    rows = _ranked(body["query"], body["documents"])
    results = [
        {"index": at, "document": {"text": body["documents"][at]}, "relevance_score": value} for at, value in rows
    ]
    return Sent({"id": "rerank-1", "model": body["model"], "usage": {"total_tokens": 56}, "results": results})


def tei(body: dict[str, Any]) -> Sent:
    """text-embeddings-inference's /rerank, with its refusals."""
    if "texts" not in body:
        said = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 90"
        return Sent({"error": said, "error_type": "Validation"}, 422)
    if len(body["texts"]) > 32:
        said = f"batch size {len(body['texts'])} > maximum allowed batch size 32"
        return Sent({"error": said, "error_type": "Validation"}, 422)
    return Sent([{"index": at, "score": value} for at, value in _ranked(body["query"], body["texts"])])
