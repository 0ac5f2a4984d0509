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


def write_turns(folder: Path, rows: list[dict[str, Any]]) -> None:
    from ragas import EvaluationDataset, MultiTurnSample
    from ragas.messages import AIMessage, HumanMessage

    said = [one for row in rows for one in (HumanMessage(content=row["query"]), AIMessage(content=row["answer"]))]
    sample = MultiTurnSample(user_input=said, reference=rows[-1]["expected"])
    EvaluationDataset(samples=[sample]).to_jsonl(folder / "theirs.jsonl")


def read_turns(folder: Path) -> dict[str, Any]:
    from ragas import EvaluationDataset

    roles, found = {"human": "user", "ai": "assistant"}, {}
    for path in sorted(folder.glob("*.jsonl")):
        data = EvaluationDataset.from_jsonl(path)
        (sample,) = data.samples
        assert data.is_multi_turn()
        found[path.stem] = [[roles[one.type], one.content] for one in sample.user_input]
    return found


write_turns_again = read_turns

WRITES = {
    **dict.fromkeys(("write_jsonl", "write_csv"), ("ragas", " ".join(NAMES))),
    "write_turns": ("ragas", "said"),
}
READS = {"read_jsonl": ("ragas", " ".join(NAMES)), "read_turns": ("ragas-conversations", "said")}
TURNS = ("read_turns",)
