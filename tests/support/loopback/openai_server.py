"""The bodies of an OpenAI-compatible server: chat completions, errors, models."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from support.loopback.behaviours import Behaviour

BASE_PATH = "/v1"
CHAT_PATH = "/v1/chat/completions"
ERROR_TYPES = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_exceeded"}


def models() -> dict[str, Any]:
    return {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "tests"}]}


def error(code: int) -> dict[str, Any]:
    kind = ERROR_TYPES.get(code, "server_error")
    return {"error": {"message": f"scripted status {code}", "type": kind, "param": None, "code": None}}


def completion(behaviour: Behaviour, body: Mapping[str, Any]) -> dict[str, Any]:
    """The chat completion for a request, in OpenAI's layout."""
    message, finish = _message(behaviour, body)
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", "scripted"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": _logprobs(behaviour, body)}],
        "usage": {
            "prompt_tokens": behaviour.input_tokens,
            "completion_tokens": behaviour.output_tokens,
            "total_tokens": behaviour.input_tokens + behaviour.output_tokens,
            "prompt_tokens_details": {"cached_tokens": behaviour.cached_tokens, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _message(behaviour: Behaviour, body: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    if behaviour.ending == "refusal":
        return message | {"refusal": str(behaviour.reply)}, "stop"
    if isinstance(behaviour.reply, str):
        return message | {"content": behaviour.reply}, behaviour.ending
    arguments = json.dumps(behaviour.reply)
    if not body.get("tools"):
        return message | {"content": arguments}, behaviour.ending
    function = {"name": body["tools"][0]["function"]["name"], "arguments": arguments}
    return message | {"tool_calls": [{"id": "call_1", "type": "function", "function": function}]}, "tool_calls"


def _logprobs(behaviour: Behaviour, body: Mapping[str, Any]) -> dict[str, Any] | None:
    if behaviour.probabilities is None or not body.get("logprobs"):
        return None
    ranked = sorted(behaviour.probabilities.items(), key=lambda pair: (-pair[1], pair[0]))
    entries = [_entry(token, probability) for token, probability in ranked]
    top = entries[: int(body.get("top_logprobs") or 0)]
    return {"content": [{**entries[0], "top_logprobs": top}], "refusal": None}


def _entry(token: str, probability: float) -> dict[str, Any]:
    logprob = math.log(probability) if probability > 0 else -9999.0
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}
