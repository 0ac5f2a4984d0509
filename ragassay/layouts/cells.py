"""What a cell or a field of other tools holds: a text, a list of texts, passages, a conversation, a number."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

Context = dict[str, Any]
"""A passage as it was handed over: `text`, and `id` or `doc` where they are given."""

_SAID = (
    *("query", "question", "input", "answer", "response", "output", "content", "text", "result", "generation"),
    *("user_input", "prompt", "returns", "value"),
)
_ID, _TEXT = ("passage_id", "id", "_id", "did", "chunk_id"), ("content", "text", "page_content", "document")
_DOC = ("doc_uri", "doc", "source", "url")


def text(value: Any) -> str:
    """A text as it is; a whole number as its digits. Raises ValueError."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ValueError("is not a text")


def as_list(value: Any) -> Sequence[Any]:
    """A list as it is, or as a cell of a table has it (JSON, or as Python writes it); anything else by itself."""
    if not isinstance(value, str):
        return value if isinstance(value, list) else [] if value is None else [value]
    if value.lstrip().startswith("["):
        for read in (json.loads, ast.literal_eval):
            try:
                found = read(value.strip())
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(found, list):
                return found
    return [value] if value else []


def texts(value: Any) -> list[str]:
    """A list of texts. Raises ValueError."""
    found = as_list(value)
    if not all(isinstance(one, str) for one in found):
        raise ValueError("is not a list of texts")
    return list(found)


def number(value: Any) -> float:
    """A number, or the text of one. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("is not a number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise ValueError("is not a number") from None


def contexts(value: Any) -> list[Context]:
    """Passages: texts, or objects that hold one (content, text, page_content) and perhaps ids. Raises ValueError."""
    return [_context(one) for one in as_list(value)]


def said(value: Any) -> str:
    """What was asked or answered: a text, a conversation's last message, or an object's one telling field.

    Raises ValueError where none of them is there.
    """
    found = _said(unpacked(value), 0)
    if found is None:
        raise ValueError("holds no text, no messages and no field such as query or answer")
    return found


def unpacked(value: Any) -> Any:
    """What a text that is JSON of an object or a list holds; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def first_of(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first of the fields that holds something; None where none does."""
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


def _context(value: Any) -> Context:
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, Mapping):
        raise ValueError("is not a list of passages, each a text or an object with its content")
    inner = value.get("document")
    given: Mapping[str, Any] = inner if isinstance(inner, Mapping) else value
    body, metadata = first_of(given, _TEXT), unpacked(given.get("metadata"))
    if not isinstance(body, str):
        raise ValueError("has a passage without its text (content)")
    known = metadata if isinstance(metadata, Mapping) else {}
    id, doc = first_of(given, _ID), first_of(given, _DOC) or first_of(known, _DOC)
    told = {"id": id if id is not None else first_of(known, _ID), "doc": doc}
    return {"text": body} | {name: text(one) for name, one in told.items() if one is not None}


def _said(value: Any, depth: int) -> str | None:
    if isinstance(value, str):
        return value
    if depth > 4:
        return None
    if isinstance(value, list):
        return _said(value[-1], depth + 1) if value else None
    if not isinstance(value, Mapping):
        return None
    for name in ("messages", "choices", "message", *_SAID, "kwargs", "inputs", "outputs", "data"):
        if value.get(name) and (found := _said(value[name], depth + 1)) is not None:
            return found
    return _said(next(iter(value.values())), depth + 1) if len(value) == 1 else None
