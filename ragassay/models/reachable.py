"""Whether a server listens at an address, and which models it says it has, before anything is asked of a model."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Sequence
from email.message import Message
from typing import IO
from urllib.parse import urlsplit

from ..errors import InputError
from ..experiment.model_settings import ModelSettings
from ..text import plain
from .endpoint import base_url_of, provider_of

_WAIT_S = 5.0
_MOST_BYTES = 1_000_000


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: it is not followed to where it points."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


def check_reachable(model: str, settings: ModelSettings) -> None:
    """Raises InputError where nobody listens at the model's own address; nothing is asked of a provider's usual one."""
    address = base_url_of(model, settings)
    if address and (why := why_unreachable(_models_url(model, address))):
        problem = f"{model}: nobody answers at {plain(address)} ({why})"
        raise InputError(problem, remedy="start the server there, or correct its base_url")


def why_unreachable(url: str) -> str | None:
    """Why no connection can be made; None where one can, whatever comes back, or nothing within five seconds."""
    try:
        _get(url)
    except urllib.error.HTTPError:
        return None
    except urllib.error.URLError as error:
        return _why(error.reason)
    except (OSError, ValueError):
        return None
    return None


def served_models(base_url: str) -> list[str]:
    """The ids that an OpenAI-compatible server lists, sorted. Raises InputError where it gives no list."""
    url = f"{base_url.rstrip('/')}/models"
    remedy = "start the server there, correct --base-url, or name the model with --model"
    try:
        listed = json.loads(_get(url))["data"]
        return sorted({str(one["id"]) for one in listed})
    except urllib.error.HTTPError as error:
        problem = f"{plain(url)} gives no list of models (status {error.code})"
        raise InputError(problem, remedy="name the model with --model") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        why = _why(reason) or f"no list of models: {type(error).__name__}"
        raise InputError(f"no model is found at {plain(base_url)} ({why})", remedy=remedy) from None


def _models_url(model: str, address: str) -> str:
    path = "/v1/models" if provider_of(model) == "anthropic" else "/models"
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}{path}"


def _get(url: str) -> bytes:
    """What is there. No key is sent."""
    with urllib.request.build_opener(_NoRedirect()).open(url, timeout=_WAIT_S) as response:
        body: bytes = response.read(_MOST_BYTES)
    return body


def _why(reason: object) -> str | None:
    """Words for what keeps a connection from being made; None for what came later, or may pass by itself."""
    unmade: Sequence[type[BaseException]] = (ConnectionRefusedError, socket.gaierror)
    unreachable = isinstance(reason, OSError) and reason.strerror in {"No route to host", "Network is unreachable"}
    if unreachable or isinstance(reason, tuple(unmade)):
        return plain(str(getattr(reason, "strerror", None) or reason))
    return None
