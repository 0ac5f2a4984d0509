"""Our nugget scores beside those that others computed for the 301 topics of the TREC 2024 RAG track, two runs.

    python -m benchmarks.judges.nugget_scores FOLDER

FOLDER holds the assignments and metrics of NamaWho/pyterrier-nuggetizer (@2b83580, data/assignments and data/metrics):
`assignments.RUN.jsonl` and `metrics.RUN.jsonl`. Some of their labels are none of the scheme's, as a model wrote them:
such an importance counts in "all" alone, such an assignment as no support. Exit status 1 where one value differs by
more than 1e-12.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from ragassay.evaluate.judging.judges.nuggets import SCORES, SUPPORT, Assigned, Assignment, nugget_scores

RUNS = {
    "GPT-4o": ("gpt4o_top20", "gpt_4o_top20"),
    "Llama-3.1-70B": ("l31_70b_instruct_top20", "l31_70b_instruct_top20"),
}
"""Run to how its two files are named."""

EXACT = 1e-12


def assigned(nugget: dict[str, Any]) -> Assigned:
    """A nugget of theirs as one of ours."""
    importance = nugget["importance"] if nugget["importance"] in {"vital", "okay"} else None
    known = nugget["assignment"] in SUPPORT
    return Assigned(importance, cast(Assignment, nugget["assignment"] if known else "not_support"))


def rows(folder: Path, kind: str, name: str) -> dict[str, dict[str, Any]]:
    """The lines of a file by topic."""
    path = folder / f"{kind}.baseline_rag24.test_{name}.jsonl"
    return {row["qid"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def compare(folder: Path, run: str) -> float:
    """Print a line for each score of a run and return the largest difference, means over topics among them."""
    ours_name, theirs_name = RUNS[run]
    topics, theirs = rows(folder, "assignments", ours_name), rows(folder, "metrics", theirs_name)
    if set(topics) | {"all"} != set(theirs):
        sys.exit(f"the two files of {run} are not of the same topics")
    ours = {qid: nugget_scores([assigned(nugget) for nugget in row["nuggets"]]) for qid, row in topics.items()}
    worst = 0.0
    for name in SCORES:
        values = {qid: scores[name] for qid, scores in ours.items()}
        if None in values.values():
            sys.exit(f"{run} has a topic without {name}")
        found = cast(dict[str, float], values)
        apart = max(abs(found[qid] - theirs[qid][f"{name}_score"]) for qid in topics)
        mean, published = fmean(found.values()), theirs["all"][f"{name}_score"]
        print(f"| {run} | {name} | {len(topics)} | {mean:.4f} | {published:.4f} | {apart:.1g} |")
        worst = max(worst, apart, abs(mean - published))
    return worst


def main(folder: Path) -> int:
    """Print the table; 1 where a value differs."""
    print("| run | score | topics | mean, ours | mean, published | largest difference of a topic |")
    print("|---|---|--:|--:|--:|--:|")
    worst = [compare(folder, run) for run in RUNS]
    return 1 if max(worst) > EXACT else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
