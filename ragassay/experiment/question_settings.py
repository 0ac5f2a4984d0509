"""`[questions]`: where the test set comes from, and how models write it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from ..text import did_you_mean
from .table import ModelName, Table

KINDS = {
    "fact": 0.5,
    "several": 0.15,
    "multi-hop": 0.1,
    "comparison": 0.1,
    "keyword": 0.1,
    "conversational": 0.05,
    "unanswerable": 0.0,
}
"""Kinds of questions, and the share of each unless `kinds` says otherwise."""


class QuestionsSettings(Table):
    """`[questions]`. kinds: share of the questions by kind; blind: share written from the need without the text.

    roles: who asks, or "corpus" where a model is to say it.
    """

    source: Literal["synthetic", "own", "both"] = "synthetic"
    style: Literal["need", "passage"] = "need"
    sections: int = Field(24, ge=1)
    per_section: int = Field(10, ge=1, le=50)
    few_shot: int = Field(3, ge=0)
    seed: int = 7
    quota: dict[ModelName, Annotated[int, Field(ge=1)]] = Field({})
    blind: float = Field(0.5, ge=0, le=1)
    kinds: dict[str, Annotated[float, Field(ge=0, le=1)]] = KINDS
    roles: tuple[Annotated[str, Field(min_length=1)], ...] | Literal["corpus"] = ()
    golden_answers: bool = False
    prompt: str | None = None
    need_prompt: str | None = None
    linked_prompt: str | None = None
    blind_prompt: str | None = None
    evidence_prompt: str | None = None

    @property
    def from_needs(self) -> bool:
        """Whether models write from needs, so that the test set is chosen out of many questions."""
        return self.style == "need" and self.source != "own"

    @field_validator("kinds")
    @classmethod
    def _shares_of_known_kinds(cls, value: dict[str, float]) -> dict[str, float]:
        if unknown := sorted(set(value) - set(KINDS)):
            raise ValueError(
                f"there is no kind '{unknown[0]}'; {did_you_mean(unknown[0], KINDS)}there are {', '.join(KINDS)}"
            )
        if abs(sum(value.values()) - 1) > 0.001:
            raise ValueError(f"the shares must add up to 1, and add up to {sum(value.values()):.4g}")
        return value

    @field_validator("roles", mode="before")
    @classmethod
    def _sentences_or_the_word(cls, value: object) -> object:
        sentences = isinstance(value, tuple | list) and all(isinstance(one, str) and one for one in value)
        if sentences or value == "corpus":
            return value
        raise ValueError('must be a list of sentences, none of them empty, or "corpus"')

    @model_validator(mode="after")
    def _prompts_of_its_style(self) -> QuestionsSettings:
        if self.style == "need" and self.prompt:
            raise ValueError('prompt goes with style = "passage"; with style = "need" there is need_prompt')
        if self.style == "passage" and self.roles == "corpus":
            raise ValueError('roles = "corpus" goes with style = "need"')
        for name in ("need_prompt", "linked_prompt", "blind_prompt", "evidence_prompt"):
            if self.style == "passage" and getattr(self, name):
                raise ValueError(f'{name} goes with style = "need"')
        return self
