"""A provider's batch API on loopback, as its documentation says it behaves, with real HTTP.

OpenAI: https://platform.openai.com/docs/guides/batch and /docs/api-reference/batch. Anthropic:
https://docs.anthropic.com/en/docs/build-with-claude/batch-processing and /en/api/creating-message-batches.
"""

from __future__ import annotations

import json
import random
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

from support.loopback import anthropic_server, openai_server
from support.loopback.behaviours import Behaviour, reply

Outcome = Behaviour | Literal["expired", "cancelled", "missing"]
"""What becomes of one request: a reply (or a status that is not 200), or that it was never made."""

Answer = Callable[[int, dict[str, Any]], Outcome]
"""(how often this custom_id was handed in, body) to what becomes of it."""

Fate = Literal["completed", "expired", "token_limit_exceeded", "invalid_model"]
Fault = Literal["503", "429", "404", "405", "cut", "cut-after"]
"""What goes wrong with an HTTP request: cut-after does what was asked and then resets the connection."""

_STEPS = {"openai": ("validating", "in_progress", "finalizing"), "anthropic": ("in_progress", "in_progress")}
_CUSTOM_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


@dataclass
class HandedIn:
    """A batch: its requests by custom_id, and what became of them once it has ended."""

    id: str
    requests: dict[str, dict[str, Any]]
    input_file: str | None = None
    metadata: dict[str, str] | None = None
    created_at: float = field(default_factory=time.time)
    looks: int = 0
    state: str = ""
    outcomes: dict[str, Outcome] | None = None
    rows: dict[str, list[dict[str, Any]]] | None = None
    fate: Fate = "completed"
    cancelled: bool = False


class BatchServer:
    """OpenAI's or Anthropic's batch API on 127.0.0.1, from `with` to the end of its block.

    `answer` says what becomes of each request, `fates` of each batch in turn (then "completed"); `faults` holds, for a
    path's last word and method (`POST batches`), what goes wrong with the next such requests; `before_answering` is
    called with that word when the work is done and the answer not yet sent; `looks` is how often a batch is looked at
    before it ends. `batches`, `files`, `seen` keep what was received; what the documentation forbids is not answered.
    """

    def __init__(self, provider: Literal["openai", "anthropic"], answer: Answer | None = None, looks: int = 2) -> None:
        self.provider, self.looks = provider, looks
        self.answer: Answer = answer or (lambda times, body: reply({"reason": "it says so", "label": 2}))
        self.batches: dict[str, HandedIn] = {}
        self.files: dict[str, bytes] = {}
        self.fates: list[Fate] = []
        self.faults: dict[str, list[Fault]] = {}
        self.seen: list[str] = []
        self.forget = False
        self.before_answering: Callable[[str], None] = lambda what: None
        self.lock = threading.RLock()
        self._times: dict[str, int] = {}
        self._http = _Listener(self)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}" + ("/v1" if self.provider == "openai" else "")

    @property
    def handed_in(self) -> list[str]:
        """Every custom_id that was taken, as often as it was."""
        taken = [batch for batch in self.batches.values() if batch.fate in {"completed", "expired"}]
        return [key for batch in taken for key in batch.requests]

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()

    def take(self, requests: list[dict[str, Any]], **facts: Any) -> HandedIn:
        """Create a batch."""
        keys = [request["custom_id"] for request in requests]
        assert requests and len(set(keys)) == len(keys), "custom_id must be unique"
        number = len(self.batches) + 1
        prefix = "batch_" if self.provider == "openai" else "msgbatch_"
        batch = HandedIn(f"{prefix}{number:04d}", dict(zip(keys, requests, strict=True)), **facts)
        batch.fate = self.fates.pop(0) if self.fates else "completed"
        batch.state = _STEPS[self.provider][0]
        self.batches[batch.id] = batch
        return batch

    def look(self, batch: HandedIn) -> HandedIn:
        """One look further towards its end."""
        steps = _STEPS[self.provider]
        if batch.outcomes is None:
            batch.looks += 1
            batch.state = steps[min(batch.looks, len(steps) - 1)]
            if batch.fate in {"token_limit_exceeded", "invalid_model"}:
                batch.state, batch.outcomes = "failed", {}
            elif batch.cancelled or batch.looks >= self.looks:
                self._end(batch)
        return batch

    def cancel(self, batch: HandedIn) -> HandedIn:
        """Requests that are done keep their results; the others are cancelled."""
        if batch.outcomes is None:
            batch.cancelled = True
            batch.state = "cancelling" if self.provider == "openai" else "canceling"
        return batch

    def _end(self, batch: HandedIn) -> None:
        batch.outcomes = {key: self._outcome(batch, key, at) for at, key in enumerate(batch.requests)}
        ended = "cancelled" if batch.cancelled else batch.fate
        batch.state = ended if self.provider == "openai" else "ended"

    def _outcome(self, batch: HandedIn, key: str, at: int) -> Outcome:
        if batch.cancelled and at % 2:
            return "cancelled"
        if batch.fate == "expired" and at % 2 == 0:
            return "expired"
        self._times[key] = self._times.get(key, 0) + 1
        request = batch.requests[key]
        return self.answer(self._times[key], request.get("body") or request["params"])


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: BatchServer) -> None:
        self.owner = owner
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no news; anything else is."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        owner = self.server.owner
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, _, query = self.path.partition("?")
        words = [word for word in path.split("/") if word and word not in {"v1", "messages"}]
        what = f"{self.command} {words[-1] if words[-1] in {'content', 'results', 'cancel'} else words[0]}"
        what += "/ID" if len(words) == 2 and self.command == "GET" else ""
        with owner.lock:
            owner.seen.append(what)
            faults = owner.faults.get(what, [])
            fault = faults.pop(0) if faults else None
            if fault in {"503", "429", "404", "405"}:
                return self._send(int(fault), json.dumps(_provider(owner).error(int(fault))).encode())
            if fault != "cut":
                found = (
                    _openai(owner, words, data, self.headers, query)
                    if owner.provider == "openai"
                    else _anthropic(owner, words, data, query)
                )
        if fault is not None:
            self.close_connection = True
            return None
        owner.before_answering(what)
        if found is None:
            return self._send(404, json.dumps(_provider(owner).error(404)).encode())
        return self._send(200, found if isinstance(found, bytes) else json.dumps(found).encode())

    def _send(self, code: int, payload: bytes) -> None:
        self.send_response(code)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(payload)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)


def _provider(owner: BatchServer) -> Any:
    return openai_server if owner.provider == "openai" else anthropic_server


def _openai(owner: BatchServer, words: list[str], data: bytes, headers: Any, query: str) -> Any:
    match words:
        case ["files"]:
            return _uploaded(owner, data, headers["Content-Type"])
        case ["files", file, "content"]:
            return owner.files.get(file)
        case ["batches"] if data:
            return _openai_batch(owner, _created(owner, json.loads(data)))
        case ["batches"]:
            newest = [_openai_batch(owner, batch) for batch in reversed(owner.batches.values())]
            return {"object": "list", "data": _page(newest, query), "has_more": False}
        case ["batches", batch, *more] if batch in owner.batches and not owner.forget:
            found = owner.batches[batch]
            return _openai_batch(owner, owner.cancel(found) if more == ["cancel"] else owner.look(found))
    return None


def _uploaded(owner: BatchServer, data: bytes, content_type: str) -> dict[str, Any]:
    boundary = content_type.split("boundary=")[1].strip('"').encode()
    parts = [part.partition(b"\r\n\r\n") for part in data.split(b"--" + boundary)[1:-1]]
    fields = {re.search(rb'name="(\w+)"', head)[1].decode(): body[:-2] for head, _, body in parts}  # type: ignore[index]
    assert fields["purpose"] == b"batch"
    file = f"file-in-{len(owner.files) + 1}"
    owner.files[file] = fields["file"]
    return {
        "id": file,
        "object": "file",
        "bytes": len(fields["file"]),
        "created_at": int(time.time()),
        "filename": "x.jsonl",
        "purpose": "batch",
        "status": "processed",
    }


def _created(owner: BatchServer, body: dict[str, Any]) -> HandedIn:
    assert (body["endpoint"], body["completion_window"]) == ("/v1/chat/completions", "24h")
    assert len(body["metadata"]) <= 16
    assert all(len(key) <= 64 and len(value) <= 512 for key, value in body["metadata"].items())
    data = owner.files[body["input_file_id"]]
    requests = [json.loads(line) for line in data.decode().splitlines()]
    assert len(requests) <= 50_000 and len(data) <= 200_000_000
    assert len({request["body"]["model"] for request in requests}) == 1, "a file holds requests to one model"
    for request in requests:
        assert (request["method"], request["url"]) == ("POST", body["endpoint"])
    return owner.take(requests, input_file=body["input_file_id"], metadata=body["metadata"])


def _openai_batch(owner: BatchServer, batch: HandedIn) -> dict[str, Any]:
    if batch.outcomes is not None and batch.rows is None:
        lines = list(_openai_lines(batch))
        random.Random(7).shuffle(lines)
        batch.rows = {
            "output_file_id": [line for line in lines if _is_good(line)],
            "error_file_id": [line for line in lines if not _is_good(line)],
        }
        for name, rows in batch.rows.items():
            owner.files[f"{name}-{batch.id}"] = "".join(json.dumps(row) + "\n" for row in rows).encode()
    rows_of = batch.rows or {"output_file_id": [], "error_file_id": []}
    done, failed = (len(rows) for rows in rows_of.values())
    refused = {
        "token_limit_exceeded": "Enqueued token limit reached for m in organization o. Limit: 90,000 enqueued tokens.",
        "invalid_model": "The provided model does not exist.",
    }
    errors = (
        [{"code": batch.fate, "message": refused[batch.fate], "line": None, "param": None}]
        if batch.fate in refused
        else []
    )
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "created_at": int(batch.created_at),
        "input_file_id": batch.input_file,
        "status": batch.state,
        "metadata": batch.metadata,
        "errors": {"object": "list", "data": errors} if errors and batch.state == "failed" else None,
        "request_counts": {"total": len(batch.requests), "completed": done, "failed": failed},
    } | {name: f"{name}-{batch.id}" if rows else None for name, rows in rows_of.items()}


def _is_good(line: dict[str, Any]) -> bool:
    return line["error"] is None and line["response"]["status_code"] == 200


def _openai_lines(batch: HandedIn) -> Iterator[dict[str, Any]]:
    never = {
        "expired": ("batch_expired", "This request could not be executed before the completion window expired."),
        "cancelled": ("batch_cancelled", "This request was cancelled."),
    }
    for key, outcome in (batch.outcomes or {}).items():
        line: dict[str, Any] = {"id": f"batch_req_{key[:8]}", "custom_id": key, "response": None, "error": None}
        if isinstance(outcome, Behaviour):
            sound = outcome.status == 200
            body = (
                openai_server.completion(outcome, batch.requests[key]["body"])
                if sound
                else openai_server.error(outcome.status)
            )
            yield line | {"response": {"status_code": outcome.status, "request_id": "r", "body": body}}
        elif outcome != "missing":
            code, message = never[outcome]
            yield line | {"error": {"code": code, "message": message}}


def _anthropic(owner: BatchServer, words: list[str], data: bytes, query: str) -> Any:
    match words:
        case ["batches"] if data:
            requests = json.loads(data)["requests"]
            assert len(requests) <= 100_000 and len(data) <= 256_000_000
            assert all(_CUSTOM_ID.match(request["custom_id"]) for request in requests)
            return _anthropic_batch(owner, owner.take(requests))
        case ["batches"]:
            newest = [_anthropic_batch(owner, batch) for batch in reversed(owner.batches.values())]
            return {"data": _page(newest, query), "has_more": False, "first_id": None, "last_id": None}
        case ["batches", batch, "results"] if batch in owner.batches:
            lines = [_anthropic_line(owner.batches[batch], key) for key in owner.batches[batch].requests]
            random.Random(7).shuffle(lines)
            return "".join(json.dumps(line) + "\n" for line in lines if line).encode()
        case ["batches", batch, *more] if batch in owner.batches and not owner.forget:
            found = owner.batches[batch]
            return _anthropic_batch(owner, owner.cancel(found) if more == ["cancel"] else owner.look(found))
    return None


def _anthropic_batch(owner: BatchServer, batch: HandedIn) -> dict[str, Any]:
    outcomes = list((batch.outcomes or {}).values())
    counts = {
        "processing": 0 if batch.outcomes is not None else len(batch.requests),
        "succeeded": sum(isinstance(one, Behaviour) and one.status == 200 for one in outcomes),
        "errored": sum(isinstance(one, Behaviour) and one.status != 200 for one in outcomes),
        "canceled": outcomes.count("cancelled"),
        "expired": outcomes.count("expired"),
    }
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(batch.created_at))
    url = f"{owner.base_url}/v1/messages/batches/{batch.id}/results" if batch.state == "ended" else None
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": batch.state,
        "request_counts": counts,
        "created_at": at,
        "expires_at": at,
        "ended_at": at if url else None,
        "cancel_initiated_at": at if batch.cancelled else None,
        "archived_at": None,
        "results_url": url,
    }


def _anthropic_line(batch: HandedIn, key: str) -> dict[str, Any] | None:
    outcome = (batch.outcomes or {})[key]
    if outcome == "missing":
        return None
    if not isinstance(outcome, Behaviour):
        return {"custom_id": key, "result": {"type": "canceled" if outcome == "cancelled" else outcome}}
    if outcome.status != 200:
        return {"custom_id": key, "result": {"type": "errored", "error": anthropic_server.error(outcome.status)}}
    message = anthropic_server.completion(outcome, batch.requests[key]["params"])
    message["usage"]["service_tier"] = "batch"
    return {"custom_id": key, "result": {"type": "succeeded", "message": message}}


def _page(newest: list[dict[str, Any]], query: str) -> list[dict[str, Any]]:
    limit = re.search(r"limit=(\d+)", query)
    return newest[: int(limit[1])] if limit else newest
