"""Building the model that a name stands for: `openai:…`, `anthropic:…`, `local:…`, `file:…`, or another package's.

Keys are read from the environment here and nowhere else. Everything heavy is imported when a model is first called.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..errors import InputError
from ..experiment.mirror import tells
from ..experiment.plugins import names_of, plugin
from ..experiment.tables import ModelSettings
from ..text import plain
from .providers import HOOKS, anthropic_content, rate_limiter, staying_chat_anthropic
from .requests import TOP_LOGPROBS, Body, Request, body_of_completion, body_of_reply, json_schema, response_format

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_openai import ChatOpenAI

    from .likelihood import EchoServer
    from .local.model import LocalServer

PROVIDERS = ("openai", "anthropic", "local", "file")
_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_ADDRESSES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
_LOCAL_TOP_LOGPROBS = 1000
"""llama.cpp gives the probabilities from before the grammar: 20 of them hold 79% of a small model's mass, 1000 99%."""


class Provider:
    """A provider that a package brings, under the entry point of its name in the group `ragassay.providers`.

    key: the variable of the environment that holds its key, None where it needs none.
    """

    key: str | None = None

    def chat(self, name: str, settings: ModelSettings) -> BaseChatModel:
        """The LangChain chat model of a name, without retries of its own. What is heavy is imported in here."""
        raise NotImplementedError


def providers() -> list[str]:
    """The names of all providers, ours and those that packages bring."""
    return [*PROVIDERS, *names_of("providers")]


def _brought(provider: str) -> type[Provider] | None:
    return None if provider in PROVIDERS else plugin("providers", provider, Provider)


def provider_of(model: str) -> str:
    """The part before the colon. Raises InputError for a provider that does not exist, or without a name behind it."""
    provider, _, name = model.partition(":")
    known = provider in PROVIDERS or provider in providers()
    if not known or not name.strip():
        problem = "has no name behind its provider" if known else "has no known provider"
        raise InputError(f"'{plain(model)}' {problem}", remedy=f"a model is named {':…, '.join(providers())}:…")
    return provider


def base_url_of(model: str, settings: ModelSettings) -> str | None:
    """The address that shapes the reply: the user's own, None for the provider's usual one or a server of ours."""
    variable = _ADDRESSES.get(provider_of(model))
    return settings.base_url or (os.environ.get(variable) if variable else None) or None


def check_model(model: str, settings: ModelSettings) -> None:
    """Raise InputError where the model cannot be called: an unknown provider, a key or a file that is not there.

    Or where the environment's address holds a login or a query, which would come into records and errors.
    """
    provider = provider_of(model)
    if told := tells(base_url_of(model, settings) or ""):
        raise InputError(f"{_ADDRESSES[provider]} holds {told}", remedy="write the address without it")
    brought = _brought(provider)
    key = brought.key if brought else _KEYS.get(provider)
    if key and not settings.base_url and not os.environ.get(key):
        raise InputError(
            f"{model} needs a key and {key} is not set",
            remedy=f"export {key}=…, or name another model in experiment.toml",
        )
    if provider == "local":
        from .local.model import check_local

        check_local(model)


def gives_probabilities(model: str) -> bool:
    """Whether the model's replies can carry token log-probabilities."""
    return provider_of(model) in {"openai", "local"}


class Endpoint:
    """A model that can be called: its LangChain chat model, made at the first call, and how it is asked."""

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self.model, self.settings, self.provider = model, settings, provider_of(model)
        self._lock = threading.Lock()
        self._chat: BaseChatModel | None = None
        self._server: LocalServer | None = None
        self._echo: EchoServer | None = None

    def call(self, request: Request, shared: int = 0) -> Body:
        """One call, without retries; raises whatever the provider's SDK raises.

        shared: how many characters of the first user message others begin with too, which Anthropic caches.
        """
        if request.continuation:
            from .likelihood import EchoServer

            with self._lock:
                if self._echo is None:
                    self._echo = EchoServer(self.model, base_url_of(self.model, self.settings), self.settings)
            return self._echo.score(request.messages[0].content, request.continuation)
        if self.provider == "anthropic" or self.provider not in PROVIDERS:
            return self._invoke(request, shared)
        messages = [(message.role, message.content) for message in request.messages]
        chat = cast("PlainChatOpenAI", self.chat())
        return body_of_completion(chat.completion(messages, self._options(request)), self.model, request.tokens)

    def _invoke(self, request: Request, shared: int) -> Body:
        """Ask as LangChain does, of whatever provider; only Anthropic's prompts are marked for its cache."""
        from langchain_core.messages import AIMessage

        chat: Any = self.chat()
        if request.schema:
            chat = chat.bind_tools([anthropic_tool(request)], tool_choice=request.schema.__name__)
        content: Any = [(message.role, message.content) for message in request.messages]
        if self.provider == "anthropic":
            content = anthropic_content(request.messages, shared)
        reply = chat.invoke(content, **_own_temperature(request))
        if not isinstance(reply, AIMessage):
            raise TypeError(f"the model gave a {type(reply).__name__}")
        return body_of_reply(reply, self.model)

    def chat(self) -> BaseChatModel:
        """The LangChain model; a `local:` one starts its server."""
        with self._lock:
            if self._chat is None:
                self._chat = self._build()
            return self._chat

    def close(self) -> None:
        """Stop the server of a `local:` model, if it was started."""
        if self._server is not None:
            self._server.stop()
            self._server = self._chat = None

    def _build(self) -> BaseChatModel:
        name = self.model.split(":", 1)[1]
        if self.provider == "anthropic":
            return _anthropic(name, self.settings, base_url_of(self.model, self.settings))
        if self.provider == "openai":
            return _openai(name, self.settings, base_url_of(self.model, self.settings))
        if self.provider == "local":
            from .local.model import start

            self._server = start(self.model, self.settings)
            return _openai(name, self.settings, self._server.base_url, key="none", max_tokens=1024)
        if brought := _brought(self.provider):
            return brought().chat(name, self.settings)
        raise InputError(f"{self.model} is answered through files, not called")

    def _options(self, request: Request) -> dict[str, Any]:
        """Of llama.cpp a strict grammar (its JSON schema allows endless white space) and a seed for each repeat."""
        options = _own_temperature(request)
        if request.tokens:
            options |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS, "max_tokens": 1}
        if self.provider == "local":
            from .local.model import grammar_for, grammar_for_tokens

            options |= {"seed": request.sample, "extra_body": {}}
            if request.tokens:
                options["top_logprobs"] = _LOCAL_TOP_LOGPROBS
                options["extra_body"] = {"grammar": grammar_for_tokens(request.tokens)}
            elif request.schema:
                options["extra_body"] = {"grammar": grammar_for(json_schema(request.schema))}
        elif request.schema:
            options["extra_body"] = {"response_format": response_format(request)}
        return options | (self.settings.sampling(request.sample) if self.provider in {"local", "openai"} else {})


def _own_temperature(request: Request) -> dict[str, Any]:
    return {} if request.temperature is None else {"temperature": request.temperature}


class PlainChatOpenAI(Protocol):
    """What `plain_chat_openai` makes, besides being a `ChatOpenAI`."""

    def completion(self, messages: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> dict[str, Any]: ...


@cache
def plain_chat_openai() -> type[ChatOpenAI]:
    """A `ChatOpenAI` that can also be asked for a reply's JSON, for less than half of the time that `invoke` takes.

    What is left out are LangChain's callbacks and messages and the SDK's fitting of request and reply to its types,
    which together take more than sending and receiving do. Request, connection, time limit and errors are the same.
    """
    from langchain_openai import ChatOpenAI

    class PlainChatOpenAI(ChatOpenAI):
        def completion(self, messages: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> dict[str, Any]:
            """The reply to (role, text) messages. Raises what the SDK raises, and ValueError where it is no object."""
            if self.rate_limiter:
                self.rate_limiter.acquire(blocking=True)
            payload = self._get_request_payload(list(messages), **options)
            body = payload | (payload.pop("extra_body", None) or {})
            reply = self.root_client.post("/chat/completions", body=body, cast_to=object)
            reply = json.loads(reply) if isinstance(reply, str) else reply  # not said to be JSON
            if not isinstance(reply, dict):
                raise ValueError(f"not an object but {type(reply).__name__}: {reply!r:.200}")
            if reply.get("error"):
                raise ValueError(reply["error"])
            return reply

    return PlainChatOpenAI


def _openai(
    name: str, settings: ModelSettings, base_url: str | None, key: str | None = None, max_tokens: int | None = None
) -> BaseChatModel:
    from openai import DefaultHttpxClient
    from pydantic import SecretStr

    return plain_chat_openai()(
        model=name,
        api_key=SecretStr(key or os.environ.get("OPENAI_API_KEY") or "none"),
        base_url=base_url,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens or max_tokens,
        timeout=settings.timeout_s,
        max_retries=0,
        rate_limiter=rate_limiter(settings),
        use_responses_api=False,
        http_client=DefaultHttpxClient(event_hooks=HOOKS),
    )


def _anthropic(name: str, settings: ModelSettings, base_url: str | None) -> BaseChatModel:
    from pydantic import SecretStr

    options: dict[str, Any] = {"max_tokens": settings.max_tokens} if settings.max_tokens else {}
    return staying_chat_anthropic()(
        model=name,
        api_key=SecretStr(os.environ.get("ANTHROPIC_API_KEY") or "none"),
        base_url=base_url,
        temperature=settings.temperature,
        top_p=settings.top_p,
        timeout=settings.timeout_s,
        max_retries=0,
        rate_limiter=rate_limiter(settings),
        **options,
    )


def anthropic_tool(request: Request) -> dict[str, Any]:
    """The tool that stands for the request's schema, which Anthropic's models are made to use."""
    if request.schema is None:
        raise ValueError("the request asks for free text")
    schema = json_schema(request.schema)
    return {"name": request.schema.__name__, "description": "Give the reply through this tool.", "input_schema": schema}
