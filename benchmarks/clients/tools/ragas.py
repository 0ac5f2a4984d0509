"""Ragas: its data sets as JSON Lines and CSV, and ours as its data set."""

from pathlib import Path
from typing import Any

NAMES = {
    "query": "user_input",
    "answer": "response",
    "contexts": "retrieved_contexts",
    "expected": "reference",
    "reference": "reference_contexts",
}


def _made(rows: list[dict[str, Any]]) -> Any:
    from ragas import EvaluationDataset

    return EvaluationDataset.from_list([{name: row[ours] for ours, name in NAMES.items()} for row in rows])


def write_jsonl(folder: Path, rows: list[dict[str, Any]]) -> None:
    _made(rows).to_jsonl(folder / "theirs.jsonl")


def write_csv(folder: Path, rows: list[dict[str, Any]]) -> None:
    _made(rows).to_csv(folder / "theirs.csv")


def read_jsonl(folder: Path) -> dict[str, Any]:
    from ragas import EvaluationDataset

    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        rows = [
            {ours: getattr(one, name) for ours, name in NAMES.items()} for one in EvaluationDataset.from_jsonl(path)
        ]
        whole = [{**row, "reference": row["reference"] or []} for row in rows]
        found[path.stem] = sorted(whole, key=lambda row: str(row["query"]))
    return found


WRITES = {"write_jsonl": ("ragas", " ".join(NAMES)), "write_csv": ("ragas", " ".join(NAMES))}
READS = {"read_jsonl": ("ragas", " ".join(NAMES))}
