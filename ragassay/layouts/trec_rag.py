"""Answers as TREC's RAG track takes them (2024): topic_id, references, answer[{text, citations}].

https://trec-rag.github.io, "TREC 2024 RAG: output format": citations are places in `references`, from 0. In our answers
they are numbers in brackets, from 1.
"""

from __future__ import annotations

from typing import Any

from .cells import as_list, text
from .layout import Column, Layout


def _references(value: Any) -> list[str]:
    return [text(one) for one in as_list(value)]


def _sentences(value: Any) -> str:
    """The sentences, each with its citations in brackets before its last stop."""
    said = []
    for one in as_list(value):
        if not isinstance(one, dict) or not isinstance(one.get("text"), str):
            raise ValueError("has a sentence without its text")
        numbers = one.get("citations") or []
        if not isinstance(numbers, list) or not all(type(n) is int and n >= 0 for n in numbers):
            raise ValueError("has citations that are no places in references, from 0")
        said.append(_with(one["text"].strip(), "".join(f"[{number + 1}]" for number in numbers)))
    return "".join(f"{_between(before, one)}{one}" for before, one in zip(["", *said], said, strict=False))


def _between(before: str, sentence: str) -> str:
    """A space; a line's end where either has lines of its own, as code has."""
    return "" if not before else "\n" if "\n" in before or "\n" in sentence else " "


def _with(sentence: str, marks: str) -> str:
    if not marks:
        return sentence
    bare = sentence.rstrip(".!?。！？")
    return f"{bare} {marks}{sentence[len(bare) :]}"


TREC_RAG = Layout(
    name="trec-rag",
    title="TREC RAG's: topic_id, topic, run_id, references, answer[{text, citations}]",
    needs=(frozenset(("topic_id", "answer")),),
    columns={
        "topic_id": Column("query_id", text),
        "topic": Column("query", text),
        "run_id": Column("agent", text),
        "references": Column("passages", _references),
        "answer": Column("answer", _sentences),
    },
)
