"""A results folder of two agents with queries asked again in changed words, and rows of a queries.jsonl so changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support import results_folder
from support.json_lines import records, write_lines

from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage, Query

AGENTS = ("bm25-rag", "knn-rag")
ORIGINALS = tuple(f"q{n}" for n in range(6))
KINDS = ("case", "typos")
LABELS = {"q0.typos": 0, "q1.typos": 1, "q1.case": 0, "q3.case": None}
"""Of bm25-rag's answers to perturbed queries, whose originals' are all 2 but q5's, 1: what is not 2."""


def folder(root: Path, queries: Sequence[str]) -> Workspace:
    """Results of these queries; one named ORIGINAL.KIND is perturbed."""

    def grade(query: str, agent: str) -> float | None:
        if agent == "knn-rag" or "." in query:
            return LABELS.get(query, 2) if agent == "bm25-rag" else 1
        return 1 if query == "q5" else 2

    settings = results_folder.experiment(
        retrieval={"retrievers": ["bm25"]},
        answer={"agents": ["rag"]},
        agent=[{"name": "knn-rag", "kind": "file", "path": "x.jsonl"}],
        judge={"criteria": ["accuracy"]},
        compare={"bootstrap": 100, "tournaments": 10},
    )
    links = {q: {"perturbed_from": q[:2], "perturbation": q[3:]} for q in queries if "." in q}
    return results_folder.results_folder(
        root,
        settings,
        queries=[Query(id=q, text=f"{q}?", metadata=links.get(q, {})) for q in queries],
        passages=[Passage(id="p0", text="…")],
        rankings={agent: {q: ["p0"] for q in queries} for agent in AGENTS},
        answers=[results_folder.answer(q, agent, "…", "p0") for agent in AGENTS for q in queries],
        relevance=[results_folder.judgment(q, "p0", "relevance", 1) for q in queries],
        pointwise=[results_folder.judgment(q, agent, "accuracy", grade(q, agent)) for q in queries for agent in AGENTS],
        games=[results_folder.game(q, *AGENTS, "a", first) for q in queries for first in ("a", "b")],
    )


def ask_again(path: Path) -> int:
    """Have each query of queries.jsonl asked again in capitals as well; how many."""
    rows = records(path)
    again = [_again(row) for row in rows]
    write_lines(path, [one for pair in zip(rows, again, strict=True) for one in pair])
    return len(again)


def _again(row: Mapping[str, Any]) -> dict[str, Any]:
    link = {"perturbed_from": row["_id"], "perturbation": "case"}
    return {**row, "_id": f"{row['_id']}.case", "text": row["text"].upper(), "metadata": row["metadata"] | link}
