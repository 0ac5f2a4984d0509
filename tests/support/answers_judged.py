"""`ragassay judge` on answers alone: no model answers, so an evaluator that asks one gives errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from support.json_lines import write_lines

from ragassay.cli import main
from ragassay.files import read_records
from ragassay.records import Assessment

QUESTION = "What do we know about it, and who said so in the first place?"


def judged(
    folder: Path, names: str, answers: Sequence[str], *lines: str, questions: Sequence[str] = ()
) -> list[Assessment]:
    """The judgments of each answer to its question, in order; lines: of experiment.toml."""
    asked = list(questions) or [QUESTION] * len(answers)
    rows = [
        {"query_id": f"q{number:04}", "query": question, "agent": "ours", "answer": answer}
        for number, (question, answer) in enumerate(zip(asked, answers, strict=True))
    ]
    write_lines(folder / "answers.jsonl", rows)
    models = (f'[{table}]\nmodel = "openai:none"' for table in ("answer", "judge"))
    (folder / "experiment.toml").write_text("\n".join(['[questions]\nsource = "own"', *models, *lines, ""]))
    out = folder / "judgments.jsonl"
    options = ["--answers", str(folder / "answers.jsonl"), "--config", str(folder / "experiment.toml")]
    assert main(["judge", *options, "--model", "openai:none", "--with", names, "--out", str(out)]) == 0
    return read_records(out, Assessment)
