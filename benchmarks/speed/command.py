"""How soon the command line answers: `ragassay --help`, and the whole demo again when nothing has changed.

    python -m benchmarks.speed.command

The demo runs into a folder of its own first, from its recorded replies, and is not timed. Processes are started anew;
the best of ten starts of --help counts and the best of three of the run.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from benchmarks.speed.aims import note, why

HELP_S, RERUN_S = 0.3, 2.0
STAGES = ("ingest", "questions", "retrieve", "answer", "judge", "evaluate", "compare", "report")


def seconds(*words: str) -> tuple[float, str]:
    """Wall time of `ragassay WORDS` and what it wrote to stderr. Raises CalledProcessError."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "ragassay", *words], capture_output=True, text=True, check=True)
    return time.perf_counter() - start, done.stderr


def _bare_start_s() -> float:
    """Wall time of a Python that does nothing."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", ""], check=True)
    return time.perf_counter() - start


def help_speed() -> None:
    """The first row."""
    best = min(seconds("--help")[0] for _ in range(10))
    bare = min(_bare_start_s() for _ in range(10))
    missed = why((best > HELP_S, f"{best:.2f} s, of which Python alone takes {bare:.2f} s"))
    note("`ragassay --help`", f"under {HELP_S} s", f"{best:.2f} s", missed=missed)


def rerun_speed(words: Sequence[str]) -> None:
    """The second row. A demo's models answer from files, so that a call would stop the run."""
    first_s, _ = seconds(*words)
    runs = [seconds(*words) for _ in range(3)]
    best, said = min(runs)
    stale = [stage for stage in STAGES if f"{stage}: up to date" not in said]
    missed = why(
        (best > RERUN_S, f"it took {best:.2f} s"),
        (bool(stale), f"{', '.join(stale)} ran again"),
    )
    figure = f"{best:.2f} s, {len(stale)} stages run, no call"
    print(f"the first run took {first_s:.1f} s, from recorded replies")
    note("the whole job again, nothing changed", f"under {RERUN_S:g} s, no call", figure, missed=missed)


if __name__ == "__main__":
    help_speed()
    with tempfile.TemporaryDirectory() as results:
        rerun_speed(["run", "corpora/avr-libc", "--results", results])
