"""Many answers are judged in processes beside ours, and few in ours: the records are the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.json_lines import write_lines

from ragassay.cli import main
from ragassay.evaluate.judging.catalog import built_in
from ragassay.files import read_records
from ragassay.records import Assessment

NAMES = [name for name, kind in built_in().items() if kind.asks == "nothing"]
TEXTS = [
    "Call sei() first. It sets the flag.",
    '{"flag": 1}',
    "Write to ann@example.org.",
    "الجواب هو نعم",
    "",
    "so so so ",
]


def _labels(folder: Path, n: int) -> dict[tuple[str, str], tuple[float | None, str | None]]:
    truth = {"expected_response": "sei sets the flag", "conditions": '"flag"', "expected_docs": ["d"]}
    queries = [{"_id": f"q{number}", "text": "What sets the flag?", "metadata": truth} for number in range(n)]
    given = [{"query_id": f"q{number}", "agent": "a", "answer": TEXTS[number % len(TEXTS)]} for number in range(n)]
    write_lines(folder / "queries.jsonl", queries)
    write_lines(folder / "answers.jsonl", [{**row, "passages": ["p"]} for row in given])
    write_lines(folder / "passages.jsonl", [{"_id": "p", "text": "sei() sets the flag.", "metadata": {"doc": "d"}}])
    files = [part for name in ("answers", "queries", "passages") for part in (f"--{name}", f"{folder}/{name}.jsonl")]
    assert main(["judge", *files, "--with", ",".join(NAMES), "--out", str(folder / "out.jsonl")]) == 0
    rows = read_records(folder / "out.jsonl", Assessment)
    return {(row.query_id, row.criterion): (row.label, row.error) for row in rows}


@pytest.mark.slow
def test_processes_beside_ours_give_the_same(tmp_path: Path) -> None:
    for name in ("few", "many"):
        (tmp_path / name).mkdir()
    few, many = _labels(tmp_path / "few", len(TEXTS)), _labels(tmp_path / "many", 90 * len(TEXTS))
    assert len(many) == 90 * len(few)
    assert all(found == few[f"q{int(query[1:]) % len(TEXTS)}", name] for (query, name), found in many.items())
