"""Where a provider's server may send a call on to: no further than itself, as the prompt and the key would go along."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from anthropic import Anthropic
    from httpx2 import Response
    from langchain_anthropic import ChatAnthropic
    from openai import OpenAI


class SentOn(InputError):
    """A server answered with the address of another."""


def stay(response: Response) -> None:
    """A hook for responses of httpx. Raises SentOn where one redirects to another scheme, host or port."""
    if response.has_redirect_location:
        here = response.request.url
        there = here.join(response.headers["location"])
        if (here.scheme, here.host, here.port) != (there.scheme, there.host, there.port):
            raise SentOn(
                f"the server at {here.scheme}://{here.netloc.decode()} sends calls on to "
                f"{there.scheme}://{there.host}{f':{there.port}' if there.port else ''}, and nothing was sent there",
                remedy="write that address as base_url if it is the right one",
            )


HOOKS: dict[str, list[Callable[..., Any]]] = {"response": [stay]}


def openai_client(key: str, base_url: str | None, timeout_s: float) -> OpenAI:
    """OpenAI's client, without retries of its own, that follows no redirect to another host."""
    from openai import DefaultHttpxClient, OpenAI

    client = DefaultHttpxClient(event_hooks=HOOKS)
    return OpenAI(api_key=key, base_url=base_url, timeout=timeout_s, max_retries=0, http_client=client)


def anthropic_client(key: str, base_url: str | None, timeout_s: float) -> Anthropic:
    """The same of Anthropic."""
    from anthropic import Anthropic, DefaultHttpxClient

    client = DefaultHttpxClient(event_hooks=HOOKS)
    return Anthropic(api_key=key, base_url=base_url, timeout=timeout_s, max_retries=0, http_client=client)


def staying_chat_anthropic() -> type[ChatAnthropic]:
    """A `ChatAnthropic` that follows no redirect to another host; it takes no HTTP client as an argument."""
    from functools import cached_property

    from anthropic import Client, DefaultHttpxClient
    from langchain_anthropic import ChatAnthropic

    class StayingChatAnthropic(ChatAnthropic):
        @cached_property
        def _client(self) -> Client:
            return super()._client.with_options(http_client=DefaultHttpxClient(event_hooks=HOOKS))

    return StayingChatAnthropic
