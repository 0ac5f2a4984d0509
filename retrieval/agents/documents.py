"""The text of all documents, as an agent without a retriever is handed it, and how much of it there may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ragassay.errors import InputError
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Page
from ragassay.text import plain
from ragassay.tokens import count_tokens

MOST_TOKENS = 100_000
"""So many tokens may all documents have together, where the agent's table does not say."""


class Document(NamedTuple):
    """A document as the prompt shows it: its name, and its pages' texts joined by newlines."""

    name: str
    text: str


def read_documents(workspace: Workspace) -> list[Document]:
    """All documents, in the order of `pages.jsonl`. Raises InputError with the line."""
    pages: dict[str, list[str]] = {}
    for page in read_records(workspace.pages, Page):
        pages.setdefault(page.doc, []).append(page.text)
    return [Document(name, "\n".join(texts)) for name, texts in pages.items()]


def count_document_tokens(documents: Sequence[Document]) -> int:
    """Tokens of all documents and their names, as `ragassay.tokens` counts them."""
    return sum(count_tokens(document.name) + count_tokens(document.text) for document in documents)


def check_long_context(workspace: Workspace) -> None:
    """Raises InputError where the documents have more tokens than a long-context agent takes.

    Before there are documents' texts nothing is said.
    """
    agents = [agent for agent in workspace.experiment.table_agents() if agent.variant is None]
    if not agents or not workspace.pages.exists():
        return
    n_tokens = count_document_tokens(read_documents(workspace))
    for agent in agents:
        most = agent.tokens or MOST_TOKENS
        if n_tokens > most:
            problem = f"agent '{plain(agent.name)}': the documents have about {n_tokens:,} tokens, more than {most:,}"
            remedy = "raise its tokens, if its model reads so many, or give it a retriever"
            raise InputError(problem, file=workspace.corpus / "experiment.toml", remedy=remedy)
