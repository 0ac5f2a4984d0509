"""`kind = "long-context"`: no retriever; the text of all documents goes into the prompt, before the question."""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.models.requests import Request
from ragassay.prompts import Prompt

from .documents import Document


def long_context_request(
    prompt: Prompt, question: str, documents: Sequence[Document], temperature: float | None = None
) -> Request:
    """The request for an answer from all documents."""
    return Request(prompt.render({"documents": list(documents), "question": question}), temperature=temperature)
