"""Ragas' samples: user_input, response, retrieved_contexts and reference; before version 0.2 question to ground_truth.

https://docs.ragas.io, "Evaluation sample" (SingleTurnSample).
"""

from __future__ import annotations

from typing import Any

from .cells import as_list, contexts, text, texts
from .layout import Column, Layout


def _ids(value: Any) -> list[str]:
    return [text(one) for one in as_list(value)]


def _first(value: Any) -> str:
    found = texts(value)
    if not found:
        raise ValueError("is an empty list")
    return found[0]


RAGAS = Layout(
    name="ragas",
    title="Ragas': user_input, response, retrieved_contexts, reference",
    needs=(
        frozenset(("user_input", "response")),
        frozenset(("user_input", "reference")),
        frozenset(("user_input", "reference_contexts")),
        *(frozenset(("question", "answer", name)) for name in ("contexts", "ground_truth", "ground_truths")),
    ),
    columns={
        "user_input": Column("query", text),
        "question": Column("query", text),
        "response": Column("answer", text),
        "answer": Column("answer", text),
        "retrieved_contexts": Column("contexts", contexts),
        "contexts": Column("contexts", contexts),
        "retrieved_context_ids": Column("passages", _ids),
        "reference": Column("expected_response", text),
        "ground_truth": Column("expected_response", text),
        "ground_truths": Column("expected_response", _first),
        "reference_contexts": Column("reference_contexts", contexts),
        "reference_context_ids": Column("reference_passages", _ids),
        "agent": Column("agent", text),
    },
)
