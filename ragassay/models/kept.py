"""What a provider replied as the body of an OpenAI chat completion, which is how replies of all of them are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .requests import Body, Tokens, usage_body, usage_of

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage
    from langchain_core.messages.ai import UsageMetadata

TOP_LOGPROBS = 20


def body_of_completion(reply: Mapping[str, Any], model: str, tokens: Sequence[str] = ()) -> Body:
    """What is kept of the JSON of a chat completion.

    Of the log-probabilities, those of `tokens` are kept and what is among the likeliest 20. Raises KeyError,
    IndexError, TypeError or AttributeError where it is not laid out as one.
    """
    given = reply["choices"][0]
    said, logprobs = given["message"], given.get("logprobs")
    body = _body(_joined(said.get("content")), said.get("refusal"), given.get("finish_reason"))
    if logprobs:
        body["choices"][0]["logprobs"] = {"content": [_kept(entry, tokens) for entry in logprobs["content"][:1]]}
    body["model"] = reply.get("model") or model
    if reply.get("usage"):
        body["usage"] = usage_body(usage_of(dict(reply))._replace(written=0))
    return body


def body_of_reply(reply: AIMessage, model: str) -> Body:
    """What is kept of a LangChain message."""
    metadata, text = reply.response_metadata, _text(reply)
    stop = metadata.get("stop_reason")
    body = _body(text, (text or "refused") if stop == "refusal" else None, stop)
    body["model"] = metadata.get("model_name") or model
    if reply.usage_metadata:
        body["usage"] = usage_body(_tokens(reply.usage_metadata))
    return body


def _body(text: str, refusal: str | None, stop: str | None) -> Body:
    message = {"role": "assistant", "content": text} | ({"refusal": str(refusal)} if refusal else {})
    finish = "length" if stop in {"length", "max_tokens"} else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"object": "chat.completion", "model": "", "choices": [choice]}


def _joined(content: object) -> str:
    """The text of a message: as it is, or the text of its parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise TypeError(f"the content is a {type(content).__name__}")
    return "".join(part if isinstance(part, str) else part.get("text") or "" for part in content)


def _kept(entry: Mapping[str, Any], tokens: Sequence[str]) -> dict[str, Any]:
    wanted = {token.casefold() for token in tokens}
    likeliest = [
        {"token": top["token"], "logprob": top["logprob"]}
        for rank, top in enumerate(entry.get("top_logprobs") or [])
        if rank < TOP_LOGPROBS or str(top["token"]).strip().casefold() in wanted
    ]
    return {"token": entry["token"], "logprob": entry["logprob"], "top_logprobs": likeliest}


def _text(reply: AIMessage) -> str:
    if reply.tool_calls:
        return json.dumps(reply.tool_calls[0]["args"], ensure_ascii=False)
    return str(reply.text)


def _tokens(usage: UsageMetadata) -> Tokens:
    details: Mapping[str, Any] = usage.get("input_token_details") or {}
    by_lifetime = [details.get(f"ephemeral_{lifetime}_input_tokens") or 0 for lifetime in ("5m", "1h")]
    written = sum(by_lifetime) or details.get("cache_creation") or 0
    return Tokens(usage["input_tokens"], usage["output_tokens"], details.get("cache_read") or 0, written)
