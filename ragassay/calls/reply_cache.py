"""The reply cache: every reply ever received, in the layout of OpenAI's Batch output, keyed by its request's content.

`results/NAME/replies/*.jsonl` is where replies are appended, whole lines at a time, and where a user puts the replies
to a `file:` model's requests (Anthropic's Message Batches results are read as well); `corpora/NAME/replies/*.jsonl.gz`
is a recorded run. All of it is read the same way.
"""

from __future__ import annotations

import gzip
import json
import os
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import append_whole, json_line
from ..models.requests import BATCH_TIER, Body, Tokens, usage_body
from ..text import without_keys, without_own_keys


@dataclass(frozen=True)
class Stored:
    """A reply from the cache: the body, or the error that a batch or a gateway reported instead."""

    body: Body | None
    error: str | None
    latency_s: float | None
    recorded: bool


class ReplyCache:
    """Replies by key, from any number of folders; new ones are appended to a file of `folder`.

    A last line without its newline is what a killed run left: it is dropped and written over. Any other line that
    cannot be read is an InputError, since it may hold a reply that was paid for.
    """

    def __init__(self, folder: Path, shipped: Iterable[Path] = ()) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._replies: dict[str, Stored] = {}
        self._mended: set[Path] = set()
        for place in shipped:
            self._load(place, recorded=True)
        self._load(folder, recorded=False)

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, key: str) -> Stored | None:
        """The reply to the request of that key, if it was ever received."""
        return self._replies.get(key)

    def put(self, key: str, body: Body, latency_s: float | None, file: str) -> None:
        """Keep a reply, on disk before anything else uses it; a key of ours that it repeats is blanked."""
        body, path = without_own_keys(body), self._folder / f"{file}.jsonl"
        with self._lock:
            append(path, output_line(key, body, latency_s), mend=path not in self._mended)
            self._mended.add(path)
            self._replies[key] = Stored(body, None, latency_s, recorded=False)

    def _load(self, folder: Path, *, recorded: bool) -> None:
        for path in _files(folder):
            for key, stored in read_replies(path, recorded=recorded):
                known = self._replies.get(key)
                if known is None or known.body is None or (stored.body is not None and not recorded):
                    self._replies[key] = stored


def any_reply(folders: Iterable[Path]) -> bool:
    """Whether a cache of these folders would hold one. Files are read up to the first; raises InputError as it does."""
    files = (path for folder in folders for path in _files(folder))
    return any(True for path in files for _ in read_replies(path))


def _files(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])


def output_line(key: str, body: Body, latency_s: float | None = None) -> dict[str, Any]:
    """One line of OpenAI's Batch output; `latency_s` stands beside it where it was measured."""
    line: dict[str, Any] = {
        "id": f"ragassay-{key[:16]}",
        "custom_id": key,
        "response": {"status_code": 200, "request_id": "", "body": body},
        "error": None,
    }
    return line if latency_s is None else {**line, "latency_s": latency_s}


def read_replies(path: Path, *, recorded: bool = False, whole: bool = False) -> Iterator[tuple[str, Stored]]:
    """(custom_id, reply) for each line of a Batch output file, gzipped or not. Raises InputError with the line.

    A last line that is cut off is passed over, or where the file should be `whole` refused.
    """
    for number, line in whole_lines(path, whole=whole):
        key, body, error, latency_s = _read_output_line(line, path, number)
        yield key, Stored(body, error, latency_s, recorded)


def _read_output_line(line: str, path: Path, number: int) -> tuple[str, Body | None, str | None, float | None]:
    """(custom_id, body, error, latency_s) of one line of Batch output, or of Anthropic's Message Batches.

    Raises InputError with file and line.
    """
    try:
        data = json.loads(line)
        key = data["custom_id"]
        if isinstance(key, str) and "result" in data:
            result = data["result"]  # succeeded with a message, or errored, canceled, expired
            kind, error = result.get("type"), without_keys(json.dumps(result.get("error")))
            if kind != "succeeded":
                return key, None, f"{kind}: {error[:300]}", None
            return key, body_of_message(result["message"]), None, None
        response = data.get("response") or {}
        status, body, error = response.get("status_code", 200), response.get("body"), data.get("error")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InputError("is not a line of Batch output", file=path, line=number, remedy=_LAYOUT) from None
    if not isinstance(key, str):
        raise InputError("custom_id is not text", file=path, line=number, remedy=_LAYOUT)
    if error or status != 200:
        return key, None, f"status {status}: {without_keys(json.dumps(error or body))[:300]}", None
    if not isinstance(body, dict):
        raise InputError("response.body is missing", file=path, line=number, remedy=_LAYOUT)
    latency_s = data.get("latency_s")
    if latency_s is None:
        return key, body, None, None
    if isinstance(latency_s, bool) or not isinstance(latency_s, int | float) or not 0 <= latency_s < float("inf"):
        raise InputError("latency_s is not a number of seconds", file=path, line=number)
    return key, body, None, float(latency_s)


def body_of_message(message: dict[str, Any]) -> Body:
    """A message of Anthropic's as the body of an OpenAI chat completion, which is how replies are kept."""
    usage, blocks = message.get("usage") or {}, message["content"]
    called = [json.dumps(block["input"], ensure_ascii=False) for block in blocks if block["type"] == "tool_use"]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    reply: dict[str, Any] = {"role": "assistant", "content": called[0] if called else text}
    if message.get("stop_reason") == "refusal":
        reply["refusal"] = reply["content"] or "refused"
    finish = "length" if message.get("stop_reason") == "max_tokens" else "stop"
    body: Body = {"object": "chat.completion", "choices": [{"index": 0, "message": reply, "finish_reason": finish}]}
    if "model" in message:
        body["model"] = message["model"]
    if "input_tokens" in usage:
        cached, written = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
        read = usage["input_tokens"] + cached + written
        body["usage"] = usage_body(Tokens(read, usage.get("output_tokens"), cached, written))
    return body | BATCH_TIER if usage.get("service_tier") == "batch" else body


_LAYOUT = 'a line is {"custom_id": …, "response": {"status_code": 200, "body": {"choices": […]}}, "error": null}'


def whole_lines(path: Path, *, whole: bool = False) -> Iterator[tuple[int, str]]:
    """(line number, text) of a JSON Lines file, gzipped or not; what a kill left of a last line is passed over.

    Raises InputError where it cannot be read, or should be `whole` and is not.
    """
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = data.decode("utf-8", "surrogatepass").removeprefix("\ufeff")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise InputError(f"cannot be read ({error})", file=path) from None
    lines = text.split("\n")
    torn = lines.pop()
    if torn and _is_json(torn):
        lines.append(torn)
    elif torn.strip() and whole:
        raise InputError("is cut off", file=path, line=len(lines) + 1, remedy="fetch the file again")
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, line


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def append(path: Path, value: Mapping[str, Any], *, mend: bool = True, sync: bool = False) -> None:
    """Add a line to a JSON Lines file, whole and on disk; `sync`: also where the machine itself stops then.

    mend: whether what a kill left of a last line may be there, which is cut off.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as stream:
        if mend:
            _drop_torn_line(path)
        append_whole(stream, json_line(value).encode("utf-8", "surrogatepass"))
        if sync:
            os.fsync(stream.fileno())


def _drop_torn_line(path: Path) -> None:
    """Cut off what a kill left of a last line; a whole line without its newline gets one."""
    data_length = path.stat().st_size
    if not data_length:
        return
    with path.open("rb+") as stream:
        stream.seek(data_length - 1)
        if stream.read(1) == b"\n":
            return
        stream.seek(0)
        data = stream.read()
        last = data.rsplit(b"\n", 1)[-1]
        if _is_json(last.decode("utf-8", "replace")):
            stream.write(b"\n")
        else:
            stream.truncate(data_length - len(last))
