"""Time and memory of `ragassay agree` with many judges against people.

    python -m benchmarks.speed.agree [JUDGES] [ROWS]

Labels 0 to 3 of 50 rows a query, made up: judges repeat people's label the more often the later they come, and guess
otherwise. The command runs in a process of its own, as typed; its own CPU time and its peak of memory are told.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.machine import machine
from benchmarks.speed.aims import note, why

JUDGES, ROWS, PER_QUERY = 33, 5000, 50
SECONDS, GIGABYTES = 60.0, 2.0


def write_table(path: Path, judges: int, rows: int) -> None:
    """`query_id,human,judge00,…`, seeded."""
    generator = np.random.default_rng(7)
    human = generator.choice(4, rows, p=[0.5, 0.2, 0.2, 0.1])
    columns = [[f"q{row // PER_QUERY}" for row in range(rows)], human.tolist()]
    for judge in range(judges):
        same = generator.random(rows) < 0.3 + 0.6 * judge / judges
        columns.append(np.where(same, human, generator.choice(4, rows)).tolist())
    header = ["query_id", "human", *(f"judge{judge:02d}" for judge in range(judges))]
    lines = [header, *zip(*columns, strict=True)]
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))


def main(judges: int, rows: int) -> None:
    """Print the row."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "labels.csv"
        write_table(table, judges, rows)
        start = time.perf_counter()
        words = ["agree", "--labels", str(table), "--human", "human", "--judge", "all"]
        subprocess.run([sys.executable, "-m", "ragassay", *words], check=True, capture_output=True)
        seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, most = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024**2
    print(machine())
    missed = why((seconds > SECONDS, f"{seconds:.0f} s, {cpu:.0f} s of CPU"), (most > GIGABYTES, f"{most:.1f} GB"))
    what = f"`agree` of {judges} judges with people on {rows:,} rows, 1,000 replicates"
    aim, figure = (
        f"under {SECONDS:.0f} s and {GIGABYTES:.0f} GB",
        f"{seconds:.0f} s ({cpu:.0f} s of CPU), {most:.2f} GB",
    )
    note(what, aim, figure, missed=missed, packages=("numpy", "scipy"))


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:3]]
    main(*(*given, *(JUDGES, ROWS)[len(given) :]))
