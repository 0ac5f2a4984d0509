"""The models that `ragassay new` writes into an experiment: those named, or those that can be reached from here."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.experiment.model_settings import ModelSettings
from ragassay.experiment.table import MODEL_PATTERN
from ragassay.files import first_problem
from ragassay.models.encoders import OFFLINE_MODEL, check_encoder
from ragassay.models.endpoint import PROVIDERS, provider_of
from ragassay.models.reachable import served_models, why_unreachable
from ragassay.text import listed, plain

OLLAMA = "http://127.0.0.1:11434"


@dataclass(frozen=True)
class Chosen:
    """The models that write, answer and judge, the address of all of them where they have one, and why these."""

    writers: tuple[str, ...]
    answer: str
    judge: str
    remark: str
    base_url: str | None = None


def choose_models(model: str | None, base_url: str | None) -> Chosen:
    """The model named for everything; or one that is served at `base_url`; or what keys and Ollama offer.

    Raises InputError where none is in reach, or what is named cannot be meant.
    """
    if base_url:
        _check_address(base_url)
    if model:
        return _named(model, base_url)
    if base_url:
        return _served(base_url)
    openai, anthropic = bool(os.environ.get("OPENAI_API_KEY")), bool(os.environ.get("ANTHROPIC_API_KEY"))
    if openai and anthropic:
        gpt, claude = "openai:gpt-4o", "anthropic:claude-sonnet-4-5"
        return Chosen((gpt, claude), gpt, claude, "both keys are in the environment")
    if openai:
        big, small = "openai:gpt-4o", "openai:gpt-4o-mini"
        return Chosen((big, small), small, big, "OPENAI_API_KEY is in the environment")
    if anthropic:
        big, small = "anthropic:claude-sonnet-4-5", "anthropic:claude-haiku-4-5"
        return Chosen((big, small), small, big, "ANTHROPIC_API_KEY is in the environment")
    if why_unreachable(f"{OLLAMA}/v1/models"):
        raise _none_in_reach()
    return _served(f"{OLLAMA}/v1")


def choose_retrievers(embedding: str) -> tuple[tuple[str, ...], str, str | None]:
    """(retrievers, embedding model, why not all) that can be used here; `embedding` is taken where it is to be had."""
    why = None
    for model in (embedding, OFFLINE_MODEL):
        try:
            check_encoder(model, "knn")
        except InputError as error:
            why = why or str(error)
        else:
            return ("bm25", "knn", "hybrid"), model, None
    return ("bm25",), embedding, why


def _check_address(base_url: str) -> None:
    try:
        ModelSettings.model_validate({"base_url": base_url})
    except ValidationError as error:
        problem = first_problem(error).replace("Value error, ", "").removeprefix("base_url: ")
        raise InputError(f"--base-url {plain(base_url)}: {problem}") from None


def _named(model: str, base_url: str | None) -> Chosen:
    """The model for everything; at an address a name without its provider is that of an OpenAI-compatible server."""
    name = f"openai:{model}" if base_url and model.partition(":")[0] not in PROVIDERS else model
    if provider_of(name) in {"local", "file"} and base_url:
        raise InputError(f"--base-url goes with openai: and anthropic:, not with {plain(name)}", remedy="leave it out")
    if not _is_name(name):
        raise InputError(f"--model {plain(name)}: a model is named provider:model, such as openai:gpt-4o")
    return Chosen((name,), name, name, "named with --model" + (f", at {plain(base_url)}" if base_url else ""), base_url)


def _served(base_url: str) -> Chosen:
    names = [f"openai:{name}" for name in served_models(base_url) if "embed" not in name.lower()]
    usable = [name for name in names if _is_name(name)]
    if not usable:
        raise InputError(f"{plain(base_url)} serves no model", remedy="load one there, or name it with --model")
    remark = f"the first of {len(usable)} at {plain(base_url)}: " if len(usable) > 1 else f"served at {plain(base_url)}"
    others = listed(usable[:8]) if len(usable) > 1 else ""
    return Chosen((usable[0],), usable[0], usable[0], remark + others, base_url)


def _is_name(name: str) -> bool:
    """Whether it can stand in experiment.toml."""
    return name.isprintable() and re.fullmatch(MODEL_PATTERN, name) is not None


def _none_in_reach() -> InputError:
    return InputError(
        f"no model is in reach: no key is in the environment, and nobody answers at {OLLAMA} (Ollama)",
        remedy="export OPENAI_API_KEY=… or ANTHROPIC_API_KEY=…, or start a server and give its --base-url, or name a "
        "model with --model: local:PATH.gguf on this machine, file:NAME to answer requests through files",
    )
