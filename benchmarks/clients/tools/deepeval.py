"""DeepEval: its data sets in its three kinds of file, and our test cases read as its data set."""

from pathlib import Path
from typing import Any

FIELDS = "query answer contexts expected reference"


def _save(folder: Path, rows: list[dict[str, Any]], kind: str) -> None:
    from deepeval.dataset import EvaluationDataset
    from deepeval.test_case import LLMTestCase

    cases = [
        LLMTestCase(
            input=row["query"],
            actual_output=row["answer"],
            retrieval_context=row["contexts"],
            expected_output=row["expected"],
            context=row["reference"],
        )
        for row in rows
    ]
    data = EvaluationDataset()
    for one in cases:
        data.add_test_case(one)
    data.save_as(kind, str(folder), "cases", include_test_cases=True)


def write_csv(folder: Path, rows: list[dict[str, Any]]) -> None:
    _save(folder, rows, "csv")


def write_jsonl(folder: Path, rows: list[dict[str, Any]]) -> None:
    _save(folder, rows, "jsonl")


def write_json(folder: Path, rows: list[dict[str, Any]]) -> None:
    _save(folder, rows, "json")


def read_json(folder: Path) -> dict[str, Any]:
    from deepeval.dataset import EvaluationDataset

    found = {}
    for path in folder.glob("*.json"):
        data = EvaluationDataset()
        names = ("input", "actual_output", "expected_output", "context", "retrieval_context")
        data.add_test_cases_from_json_file(str(path), **{f"{name}_key_name": name for name in names})
        found[path.stem] = sorted(
            (
                {
                    "query": one.input,
                    "answer": one.actual_output,
                    "contexts": one.retrieval_context,
                    "expected": one.expected_output,
                    "reference": one.context or [],
                }
                for one in data.test_cases
            ),
            key=lambda row: row["query"],
        )
    return found


def write_turns(folder: Path, rows: list[dict[str, Any]]) -> None:
    from deepeval.dataset import EvaluationDataset
    from deepeval.test_case import ConversationalTestCase, Turn

    names = {"query": "user", "answer": "assistant"}
    turns = [Turn(role=role, content=row[name]) for row in rows for name, role in names.items()]
    data = EvaluationDataset()
    data.add_test_case(ConversationalTestCase(turns=turns, scenario="Timers."))
    data.save_as("json", str(folder), "theirs", include_test_cases=True)


def read_turns(folder: Path) -> dict[str, Any]:
    from deepeval.dataset import EvaluationDataset
    from deepeval.dataset.utils import convert_convo_goldens_to_convo_test_cases

    found = {}
    for path in folder.glob("*.json"):
        data = EvaluationDataset()
        data.add_goldens_from_json_file(str(path))
        (case,) = convert_convo_goldens_to_convo_test_cases(data.goldens)
        found[path.stem] = [[one.role, one.content] for one in case.turns]
    return found


write_turns_again = read_turns

WRITES = {
    **dict.fromkeys(("write_csv", "write_jsonl", "write_json"), ("deepeval", FIELDS)),
    "write_turns": ("deepeval-conversations", "said"),
}
READS = {"read_json": ("deepeval", FIELDS), "read_turns": ("deepeval-conversations", "said")}
TURNS = ("read_turns",)
