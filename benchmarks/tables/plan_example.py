"""What corpora/r would cost: the figures of `ragassay plan`, as it stands and with one model for everything.

    python -m benchmarks.tables.plan_example

Calls no model and needs no key. Prints the table and puts it into docs/cost.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.tables.readme_block import ROOT, fill

CORPUS = "corpora/r"
OTHERS = ("openai:gpt-4o", "anthropic:claude-haiku-4-5", "openai:gpt-4o-mini")


def planned(results: Path, *options: str) -> list[dict[str, Any]]:
    """The rows of `ragassay plan corpora/r --json`."""
    command = [sys.executable, "-m", "ragassay", "plan", CORPUS, "--results", str(results), "--json", *options]
    rows: list[dict[str, Any]] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return rows


def dollars(rows: list[dict[str, Any]]) -> str:
    """The sum, `not known` where a price is."""
    costs = [row["cost_usd"] for row in rows]
    return "not known" if None in costs else f"${sum(costs):.2f}"


def by_stage(rows: list[dict[str, Any]]) -> str:
    """A line for each stage and model, and the sum."""
    parts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault((row["stage"], row["model"]), []).append(row)
    lines = ["| stage | model | calls | US$ |", "|---|---|--:|--:|"]
    for (stage, model), part in parts.items():
        about = "about " if any(row["estimated"] for row in part) else ""
        lines.append(f"| {stage} | `{model}` | {about}{sum(row['calls'] for row in part):,} | {dollars(part)} |")
    return "\n".join([*lines, f"| **all** | | | **{dollars(rows)}** |"])


def main() -> None:
    """Print the table, and put it into docs/cost.md."""
    with tempfile.TemporaryDirectory() as folder:
        first = by_stage(planned(Path(folder)))
        totals = [f"`{model}` {dollars(planned(Path(folder), '--model', model))}" for model in OTHERS]
    second = f"With one model for everything: {', '.join(totals)}."
    print(f"{first}\n\n{second}")
    fill("plan-table", f"{first}\n\n{second}", ROOT / "docs" / "cost.md")


if __name__ == "__main__":
    main()
