"""The bodies of an Anthropic-compatible server: messages, errors, models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from support.loopback.behaviours import Behaviour

BASE_PATH = ""
CHAT_PATH = "/v1/messages"
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}


def models() -> dict[str, Any]:
    model = {"id": "scripted", "type": "model", "display_name": "scripted", "created_at": "2025-01-01T00:00:00Z"}
    return {"data": [model], "has_more": False, "first_id": "scripted", "last_id": "scripted"}


def error(code: int) -> dict[str, Any]:
    kind = ERROR_TYPES.get(code, "api_error")
    return {"type": "error", "error": {"type": kind, "message": f"scripted status {code}"}, "request_id": "req_1"}


def completion(behaviour: Behaviour, body: Mapping[str, Any]) -> dict[str, Any]:
    """The message for a request, in Anthropic's layout. `input_tokens` there does not count the cached ones."""
    content, stop_reason = _content(behaviour, body)
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": [content],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": behaviour.input_tokens - behaviour.cached_tokens,
            "output_tokens": behaviour.output_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": behaviour.cached_tokens,
        },
    }


def _content(behaviour: Behaviour, body: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    if isinstance(behaviour.reply, str):
        return {"type": "text", "text": behaviour.reply}, STOP_REASONS[behaviour.ending]
    if not body.get("tools"):
        return {"type": "text", "text": json.dumps(behaviour.reply)}, STOP_REASONS[behaviour.ending]
    name = body["tools"][0]["name"]
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": dict(behaviour.reply)}, "tool_use"
