"""What a provider's exceptions mean: try again, record an error, or stop because the user must mend something."""

from __future__ import annotations

import json

from ..errors import InputError, ProviderError, RagassayError
from ..keys import without_keys
from ..text import plain
from .redirects import SentOn

_RETRYABLE = {408, 409, 425, 429}


def explain(error: Exception, model: str) -> RagassayError | None:
    """The error of ours that stands for an SDK's exception, or None for one that is not a provider's doing.

    InputError (wrong key, unknown model, no quota left) ends the run, since every further call would fail alike;
    ProviderError is retried where that may help and else becomes a record's error.
    """
    root = _root(error)
    if isinstance(root, SentOn):
        return InputError(f"{model}: {root.problem}", remedy=root.remedy)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return of_status(status, _one_line(error), model, _retry_after(error))
    if isinstance(error, json.JSONDecodeError):
        return ProviderError("the body of the response is not whole JSON", retryable=True)
    name = type(error).__name__
    if "Timeout" in name:
        return ProviderError("no response within the time limit (timeout_s)", retryable=True, answered=False)
    package = type(error).__module__.split(".")[0]
    if package in {"httpx", "httpcore", "httpx2", "httpcore2"} or "Connection" in name or isinstance(error, OSError):
        said = plain(without_keys(str(root)) or type(error).__name__)[:200]
        return ProviderError(f"the connection failed ({said})", retryable=True, answered=False)
    if package in {"openai", "anthropic", "langchain_openai", "langchain_anthropic", "langchain_core", "pydantic"}:
        return ProviderError(f"the response cannot be used ({name}: {_one_line(error)})", retryable=_is_malformed(name))
    if isinstance(error, (TypeError, KeyError, AttributeError, ValueError, IndexError)):
        return ProviderError(f"the response is not laid out as expected ({name}: {_one_line(error)})", retryable=True)
    return None


def _root(error: BaseException) -> BaseException:
    """The error that the others were raised from: "Connection refused", not "Connection error."."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def of_status(status: int, said: str, model: str, retry_after_s: float | None = None) -> RagassayError:
    """The error of ours for an HTTP status, of a call or of one request in a batch, and what the provider said."""
    if status in {401, 403}:
        return InputError(f"{model}: the provider refused the key (status {status})", remedy="check the key")
    if status == 404:
        return InputError(f"{model}: the provider does not know this model or address (status 404: {said})")
    if status == 402 or "insufficient_quota" in said:
        return InputError(f"{model}: the account has no quota left (status {status})")
    retryable = status in _RETRYABLE or status >= 500
    return ProviderError(f"status {status}: {said}", retryable=retryable, retry_after_s=retry_after_s)


def _is_malformed(name: str) -> bool:
    return name in {"APIResponseValidationError", "ValidationError", "OutputParserException"}


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError, TypeError):
        return None


def _one_line(error: Exception) -> str:
    """What the error says; with the response's own words where OpenAI's SDK leaves them out."""
    said, response = str(error), getattr(error, "response", None)
    if said == f"Error code: {getattr(response, 'status_code', None)}":
        said = f"{said} - {getattr(response, 'text', '')}"
    return plain(without_keys(" ".join(said.split())))[:300]
