"""Sending passages to an index: bounded requests, again where the server was busy, each refused one on record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragassay.records import Record

from .client import Server
from .errors import is_full_disk, is_passing, reason_of, shown

MAX_ITEMS, MAX_BYTES = 500, 8_000_000
"""Of one request; a single passage may be longer."""

_CONFLICT = 409  # it is there already: an earlier sending of the same request arrived


class Rejection(Record):
    """A passage that the server would not take: HTTP status, kind and reason, in its words."""

    passage: str
    status: int
    kind: str
    reason: str


def send(server: Server, index: str, documents: Mapping[str, Mapping[str, Any]]) -> list[Rejection]:
    """Create documents by _id; one that is there already is left as it is.

    A request or an item that met a busy server (429, 503) is sent again. Returns what the server refused for good.
    Raises InputError where it would refuse everything (login, disk), or was busy to the last.
    """
    lines = {identifier: _lines(identifier, document) for identifier, document in documents.items()}
    return [rejection for batch in _batches(lines) for rejection in _send_batch(server, index, batch)]


def _send_batch(server: Server, index: str, batch: Mapping[str, str]) -> list[Rejection]:
    pending, rejected = dict(batch), list[Rejection]()
    for attempt in range(server.retries + 1):
        body = "".join(pending.values())
        reply = server.call(lambda client, body=body: client.bulk(body=body, index=index))  # type: ignore[misc]
        busy, refused = _sort(server, reply["items"])
        rejected += refused
        if not busy:
            return rejected
        if attempt == server.retries:
            raise server.refusal(*next(iter(busy.values())))
        pending = {identifier: pending[identifier] for identifier in busy}
        server.pause(attempt)
    raise AssertionError("the last attempt returns or raises")


def _sort(server: Server, items: Sequence[Mapping[str, Any]]) -> tuple[dict[str, tuple[int, str]], list[Rejection]]:
    """({_id: (status, reason)} of what is to be sent again, what is refused for good)."""
    busy, refused = dict[str, tuple[int, str]](), list[Rejection]()
    for item in items:
        (result,) = item.values()
        status = int(result["status"])
        if status < 300 or status == _CONFLICT:
            continue
        reason = reason_of(result)
        if status in {401, 403} or is_full_disk(reason):
            raise server.refusal(status, reason)
        if is_passing(status, reason):
            busy[result["_id"]] = (status, reason)
        else:
            kind = str(result["error"]["type"])
            refused.append(Rejection(passage=result["_id"], status=status, kind=kind, reason=shown(reason)))
    return busy, refused


def _lines(identifier: str, document: Mapping[str, Any]) -> str:
    return json.dumps({"create": {"_id": identifier}}) + "\n" + json.dumps(document, allow_nan=False) + "\n"


def _batches(lines: Mapping[str, str]) -> Iterator[dict[str, str]]:
    batch, size = dict[str, str](), 0
    for identifier, line in lines.items():
        if batch and (len(batch) == MAX_ITEMS or size + len(line) > MAX_BYTES):
            yield batch
            batch, size = {}, 0
        batch[identifier], size = line, size + len(line)
    if batch:
        yield batch
