"""What a plan counts: calls with one label to one model."""

from __future__ import annotations

from dataclasses import dataclass

QUESTION_TOKENS = 40
"""Of a query, where none is there yet."""


@dataclass(frozen=True)
class Load:
    """Calls with one label to one model, and the tokens of all of them together; searches: those of a rerank server."""

    label: str
    model: str
    calls: int
    from_cache: int
    input_tokens: int
    output_tokens: int
    searches: int = 0

    @property
    def kind(self) -> str:
        """What it asks, whichever time: the label up to its first hyphen (`questions`, `listwise`, …), or whole for an
        evaluator, a judge of answers and a rewriting."""
        label = self.label.split("-repeat-")[0]
        whole = label.startswith(("evaluate-", "pointwise-", "rewrites-"))
        return label if whole else label.split("-")[0]
