"""What every table of `experiment.toml` is, and how a model is named in them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MODEL_PATTERN = r"^[a-z]+:.+$"
ModelName = Annotated[str, Field(pattern=MODEL_PATTERN)]
"""`provider:model`, such as `openai:gpt-4o`."""


def file_name(model: str) -> str:
    """What a model is called among files: letters, digits, dot, underscore and hyphen."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model)


class TableError(ValueError):
    """What is wrong with a table among several of a kind (`[[retriever]]`), for which its name tells the line."""

    def __init__(self, problem: str, kind: str, name: str) -> None:
        super().__init__(problem)
        self.kind, self.name = kind, name


class Table(BaseModel):
    """A table: unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")
