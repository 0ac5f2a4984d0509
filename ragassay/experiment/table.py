"""What every table of `experiment.toml` is, and how a model is named in them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MODEL_PATTERN = r"^[a-z]+:.+$"
ModelName = Annotated[str, Field(pattern=MODEL_PATTERN)]
"""`provider:model`, such as `openai:gpt-4o`."""


class Table(BaseModel):
    """A table: unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")
