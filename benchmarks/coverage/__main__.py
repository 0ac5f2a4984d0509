"""`make coverage`: every coverage table, one after the other: `python -m benchmarks.coverage [N]`.

N is the number of simulated experiments a cell (2,000 unless given); with it, all take some hours on two cores.
Each table is kept in benchmarks/results/coverage/ with its command and machine.
"""

from __future__ import annotations

import sys

from benchmarks.runner import Benchmark, run

TABLES = (
    "comparisons",
    "corrected",
    "ratings",
    "verdict",
    "until",
    "agreement",
    "rank_p",
    "gate",
    "calibration",
    "second_judge",
    "listwise",
    "listwise_strengths",
    "sources",
    "told_apart",
    "screening",
    "validity",
)


def main(experiments: str = "2000") -> int:
    """Run all; 1 where one fails."""
    failed = [name for name in TABLES if not run(Benchmark(f"coverage.{name}", (experiments,)))]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
