"""Tool calls of gpt-4o on tau-bench's airline tasks, by the product's measures, beside the figures of their SOURCE.md.

    python -m benchmarks.retrieval.tool_calls PATH

PATH is a folder with calls.jsonl.gz: 200 trajectories (50 tasks, 4 trials), with reward, calls asked for and calls
made. Beside each mean stands how well it tells trajectories with reward from those without (the area under the ROC
curve); the calls asked for also decide the reward, so that agreement is partly built in. Exit status 1 where a figure
is another one.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import rankdata

from benchmarks.machine import machine
from ragassay.evaluate.measures.by_step import CallValues, call_values, pass_hat
from ragassay.records import ToolCall

WRITES = ("book_*", "cancel_*", "update_*", "send_*", "transfer_*")
PUBLISHED = {"recall": "0.500", "order": "0.499", "writes": "0.190"}
PASS = ("0.420", "0.273", "0.220", "0.200")


def auc(values: list[float], success: list[bool]) -> float:
    """Mann and Whitney's: the chance that a success has the higher value, ties by half."""
    ranks, n = rankdata(values), sum(success)
    return (sum(rank for rank, good in zip(ranks, success, strict=True) if good) - n * (n + 1) / 2) / (
        n * (len(success) - n)
    )


def called(rows: list[dict[str, Any]]) -> list[ToolCall]:
    """Without what else a row says."""
    return [ToolCall(name=row["name"], arguments=row["arguments"]) for row in rows]


def main(folder: Path) -> int:
    """Print the table; 1 where a figure differs from SOURCE.md's."""
    with gzip.open(folder / "calls.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    values = [call_values(called(row["reference"]), called(row["calls"]), WRITES) for row in rows]
    success = [row["reward"] == 1 for row in rows]
    print("| measure | n | mean | SOURCE.md | tells success (AUC) |\n|---|--:|--:|--:|--:|")
    wrong = 0
    for name in CallValues._fields:
        known = [(v, good) for one, good in zip(values, success, strict=True) if (v := getattr(one, name)) is not None]
        mean = f"{fmean(value for value, _ in known):.3f}"
        wrong += PUBLISHED.get(name, mean) != mean
        tells = auc(*map(list, zip(*known, strict=True)))
        print(f"| {name} | {len(known)} | {mean} | {PUBLISHED.get(name, '')} | {tells:.3f} |")
    trials = defaultdict(list)
    for row, good in zip(rows, success, strict=True):
        trials[row["task"]].append(good)
    for k, published in enumerate(PASS, 1):
        mean = f"{fmean(pass_hat(sum(done), len(done), k) for done in trials.values()):.3f}"
        wrong += mean != published
        print(f"| pass^{k} | {len(trials)} | {mean} | {published} | |")
    print(f"\n{machine()}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
