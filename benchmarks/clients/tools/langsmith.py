"""LangSmith: runs as its SDK traces them and has them of its server, a data set, and ours as its objects; no server."""

import json
import os
from pathlib import Path
from typing import Any
from uuid import UUID


def write_runs(folder: Path, rows: list[dict[str, Any]]) -> None:
    os.environ["LANGSMITH_ENDPOINT"] = "http://127.0.0.1:9"
    from langsmith import traceable, tracing_context
    from langsmith.schemas import Run

    of = {row["query"]: row for row in rows}

    @traceable(run_type="retriever")
    def search(query: str) -> list[dict[str, Any]]:
        return [{"page_content": text, "type": "Document", "metadata": {}} for text in of[query]["contexts"]]

    @traceable(run_type="llm")
    def model(prompt: str) -> dict[str, Any]:
        used = {name: of[prompt][name] for name in ("input_tokens", "output_tokens")}
        return {"role": "assistant", "content": of[prompt]["answer"], "usage_metadata": {**used, "total_tokens": 0}}

    @traceable(run_type="chain")
    def rag(question: str) -> str:
        search(question)
        return str(model(question)["content"])

    made: list[Any] = []
    with tracing_context(enabled="local"):
        for row in rows:
            rag(row["query"], langsmith_extra={"on_end": made.append})
    runs = [Run(**one._get_dicts_safe()) for root in made for one in (root, *root.child_runs)]
    (folder / "theirs.jsonl").write_text("".join(f"{one.model_dump_json()}\n" for one in runs), encoding="utf-8")


def write_examples(folder: Path, rows: list[dict[str, Any]]) -> None:
    from langsmith.schemas import Example

    examples = [
        Example(
            id=UUID(int=number),
            dataset_id=UUID(int=0),
            inputs={"question": row["query"]},
            outputs={"answer": row["expected"]},
            metadata={"number": number},
        )
        for number, row in enumerate(rows, 1)
    ]
    text = "".join(f"{one.model_dump_json()}\n" for one in examples)
    (folder / "theirs.jsonl").write_text(text, encoding="utf-8")


def read_runs(folder: Path) -> dict[str, Any]:
    from langsmith.schemas import Run

    found = {}
    for path in (folder / "runs").glob("*.jsonl"):
        traces: dict[UUID, dict[str, Any]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            run = Run(**json.loads(line))
            row = traces.setdefault(run.trace_id, {"contexts": [], "input_tokens": None})
            if run.run_type == "chain":
                answer = run.outputs and run.outputs["answer"]
                row |= {"query": run.inputs["question"], "answer": answer, "latency_s": run.latency}
            elif run.run_type == "retriever":
                row["contexts"] = [one["page_content"] for one in (run.outputs or {})["documents"]]
            else:
                row["input_tokens"] = run.prompt_tokens
        found[path.stem] = sorted(traces.values(), key=lambda row: str(row["query"]))
    return found


def read_examples(folder: Path) -> list[Any]:
    from langsmith.schemas import Example

    lines = (folder / "examples.jsonl").read_text(encoding="utf-8").splitlines()
    examples = [Example(**json.loads(line), dataset_id=UUID(int=0)) for line in lines]
    return sorted([(one.inputs or {})["question"], (one.outputs or {}).get("answer", "")] for one in examples)


def queries(folder: Path) -> list[Any]:
    """What should be read."""
    from ragassay.evaluate.from_files.collections.collection import read_folder

    found = read_folder(folder).queries.values()
    return sorted([one.text, str(one.metadata.get("expected_response") or "")] for one in found)


WRITES = {
    "write_runs": ("langsmith", "query answer contexts input_tokens output_tokens"),
    "write_examples": ("langsmith", "query expected"),
}
READS = {
    "read_runs": ("langsmith", "query answer contexts latency_s input_tokens"),
    "read_examples": ("langsmith", "queries"),
}
