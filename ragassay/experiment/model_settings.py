"""`[models."provider:name"]` of `experiment.toml`: how a model is reached, sampled and priced."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from .addresses import is_server, tells
from .table import Table

Price = Literal["input", "output", "cached_input", "cache_write", "search"]
"""What has a price: tokens, and the searches that a rerank server charges."""


NO_MODEL = "file:none"
"""Stands for the model where none is named, for what asks none."""

_KEYS_GO = "write it without (a key goes into OPENAI_API_KEY, ANTHROPIC_API_KEY or RERANK_API_KEY)"


class ModelSettings(Table):
    """`[models."provider:name"]`. What shapes the reply is in the cache key; the rest is not."""

    base_url: str | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = Field(None, ge=0)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    max_tokens: int | None = Field(None, ge=1)
    timeout_s: float = Field(120.0, gt=0)
    requests_per_minute: float | None = Field(None, gt=0)
    requests_per_file: int = Field(1000, ge=1)
    context_tokens: int = Field(8192, ge=256)
    threads: int | None = Field(None, ge=1)
    cache_ram_mib: int = Field(512, ge=0)
    prices_usd_per_million: dict[Price, Annotated[float, Field(ge=0)]] | None = None
    mode: Literal["direct", "batch"] = "direct"
    poll_s: float = Field(60.0, gt=0)

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is not None and not is_server(value):
            raise ValueError('an address is such as "http://127.0.0.1:8000/v1"')
        if value is not None and (told := tells(value)):
            raise ValueError(f"an address with {told} would be shown in records and errors; {_KEYS_GO}")
        return value

    def sampling(self, sample: int = 0) -> dict[str, float | int]:
        """What is set of how tokens are drawn beside the temperature, as OpenAI names it; each repeat has its seed."""
        given = {"top_p": self.top_p, "seed": self.seed, "presence_penalty": self.presence_penalty}
        known = {name: value for name, value in given.items() if value is not None}
        return known | ({"seed": self.seed + sample} if self.seed is not None else {})
