"""Running one benchmark: what it prints is shown, and kept in benchmarks/results/ with its command and machine."""

from __future__ import annotations

import datetime
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.made_by import made_by
from benchmarks.speed.aims import RESULTS, write_table


@dataclass(frozen=True)
class Benchmark:
    """`python -m benchmarks.NAME ARGUMENTS`; `lacks` says what must be given before it can run, None where nothing.

    name: room and module, such as `speed.elo`; its results are in `results/speed/elo.md`.
    """

    name: str
    arguments: tuple[str, ...] = ()
    lacks: str | None = None

    @property
    def command(self) -> str:
        """As one would type it."""
        return shlex.join(["python", "-m", f"benchmarks.{self.name}", *self.arguments])

    @property
    def results(self) -> Path:
        """Where what it prints is kept."""
        return RESULTS.joinpath(*self.name.split(".")).with_suffix(".md")


def run(benchmark: Benchmark) -> bool:
    """Run one, showing what it prints, and keep that; False where it fails."""
    load, code, lines = os.getloadavg()[0], made_by(benchmark.name), []
    print(f"== {benchmark.command}", flush=True)
    command = [sys.executable, "-u", "-m", f"benchmarks.{benchmark.name}", *benchmark.arguments]
    benchmark.results.parent.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode == 0:
        benchmark.results.write_text(page(benchmark, "".join(lines), load, code), encoding="utf-8")
        write_table()
    return process.returncode == 0


def page(benchmark: Benchmark, output: str, load: float, code: str) -> str:
    """The results file: what was run, where, when, how busy the machine was just before, by which code (`made_by`), and
    what came out."""
    where = f"{machine()}, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}, load average {load:.1f} before it began"
    table = output.strip() if output.startswith("|") else f"```\n{output.strip()}\n```"
    return f"# {benchmark.name}\n\n`{benchmark.command}`\n\n{where}.\n\n{code}\n\n{table}\n"
