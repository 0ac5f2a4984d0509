"""Inspect: its log as JSON, and our data set read by it."""

from pathlib import Path
from typing import Any


def write_log(folder: Path, rows: list[dict[str, Any]]) -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage
    from inspect_ai.scorer import match
    from inspect_ai.solver import solver

    samples = [
        Sample(input=row["query"], target=row["expected"], metadata={"retrieved_contexts": row["contexts"]}, id=n)
        for n, row in enumerate(rows)
    ]

    @solver
    def answer() -> Any:
        async def solve(state: Any, _: Any) -> Any:
            row = rows[state.sample_id]
            used = {name: row[name] for name in ("input_tokens", "output_tokens")}
            state.output = ModelOutput.from_content("mockllm/model", row["answer"])
            state.output.usage = ModelUsage(**used, total_tokens=sum(used.values()))
            return state

        return solve

    task = Task(dataset=MemoryDataset(samples), solver=answer(), scorer=match(), name="demo")
    eval(task, model="mockllm/model", log_dir=str(folder), log_format="json", display="none")


def read_dataset(folder: Path) -> list[list[str]]:
    from inspect_ai.dataset import json_dataset

    return [[str(one.id), str(one.input), str(one.target)] for one in json_dataset(str(folder / "dataset.jsonl"))]


def queries(folder: Path) -> list[list[str]]:
    from ragassay.evaluate.from_files.collections.collection import read_folder

    found = read_folder(folder).queries.values()
    return [[one.id, one.text, str(one.metadata.get("expected_response") or "")] for one in found]


WRITES = {"write_log": ("inspect", "query answer contexts expected input_tokens output_tokens")}
READS = {"read_dataset": ("inspect", "queries")}
