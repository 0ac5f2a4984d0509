"""`make bench`: run the benchmarks and keep what each prints, with its command and machine, in benchmarks/results/.

    python -m benchmarks [NAME …]

Without names, all that can be run here. scifact and bm25_speed read BEIR's SciFact, which is not in the repository:
SCIFACT=PATH names its folder. agreement reads nq301 and llmbar in DATA=PATH, nugget_scores rag24_nugget_llm there,
meta_evaluation factcheckgpt, scifact, nq301 and paper_tables. injection reads results/avr-libc (`make demo`).
opensearch_scifact also needs a server, OPENSEARCH_URL. million_passages runs where MILLION=1.
pdf_reading reads the PDFs of PDFS="a.pdf b.pdf", or else those of corpora/. RAGELO_PYTHON names a Python with RAGElo.
Those of the speed table also write benchmarks/results.md, from the last run of each.
Exit status 1 where a benchmark fails; what it printed before is then left as it was.
"""

from __future__ import annotations

import datetime
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.aims import RECORDING, STORE, write_table
from benchmarks.bm25_speed import machine

RESULTS = Path(__file__).with_name("results")
REPLIES = Path(__file__).with_name("replies")
MANUALS = ("corpora/avr-libc/avr-libc-user-manual.pdf", "corpora/r/R-admin.pdf", "corpora/r/R-intro.pdf")


@dataclass(frozen=True)
class Benchmark:
    """`python -m benchmarks.NAME ARGUMENTS`; `lacks` says what must be given before it can run, None where nothing."""

    name: str
    arguments: tuple[str, ...] = ()
    lacks: str | None = None

    @property
    def command(self) -> str:
        """As one would type it."""
        return shlex.join(["python", "-m", f"benchmarks.{self.name}", *self.arguments])


def benchmarks(scifact: str, pdfs: str, data: str = "") -> list[Benchmark]:
    """All of them; `scifact` and `data` are folders, `pdfs` paths as in a shell, each may be empty."""
    beir, lacks = ((scifact,), None) if scifact else ((), "SCIFACT=PATH (BEIR's folder)")
    nuggets = (f"{data.rstrip('/')}/rag24_nugget_llm",) if data else ()
    return [
        Benchmark("elo_speed"),
        Benchmark("ratings_speed"),
        Benchmark("judging_speed"),
        Benchmark("relevance_speed"),
        Benchmark("command_speed"),
        Benchmark("embedding_speed"),
        Benchmark("soak"),
        Benchmark("pdf_reading", tuple(shlex.split(pdfs)) or MANUALS),
        Benchmark("plan_example"),
        Benchmark("plan_accuracy"),
        Benchmark("bm25_speed", beir, lacks),
        Benchmark("scifact", beir, lacks),
        _opensearch(scifact),
        Benchmark(
            "million_passages", (), None if os.environ.get("MILLION") else "MILLION=1 (a quarter of an hour, 4 GB)"
        ),
        Benchmark("nugget_scores", nuggets, None if data else "DATA=PATH (the folder of rag24_nugget_llm)"),
        Benchmark("meta_evaluation", (data,) if data else (), _unrecorded("meta_evaluation", data)),
        Benchmark("injection", (), _unrecorded("injection")),
        Benchmark("agreement", (data,) if data else (), None if data else "DATA=PATH (the folder of nq301 and llmbar)"),
    ]


def _opensearch(scifact: str) -> Benchmark:
    url = os.environ.get("OPENSEARCH_URL", "")
    lacks = None if scifact and url else "SCIFACT=PATH (BEIR's folder) and OPENSEARCH_URL"
    return Benchmark("opensearch_scifact", (scifact, url) if lacks is None else (), lacks)


def _unrecorded(name: str, data: str | None = None) -> str | None:
    """What a benchmark of recorded replies lacks, None where nothing; `data` is the folder of its sets, if it has."""
    if data == "":
        return "DATA=PATH (the folder of factcheckgpt, scifact, nq301 and paper_tables)"
    if not (REPLIES / f"{name}.jsonl.gz").exists():
        return f"the replies to its requests, with `python -m benchmarks.take_replies {name} FILE`"
    return None


def run(benchmark: Benchmark) -> bool:
    """Run one, showing what it prints, and keep that; False where it fails."""
    load, lines = os.getloadavg()[0], []
    print(f"== {benchmark.command}", flush=True)
    command = [sys.executable, "-u", "-m", f"benchmarks.{benchmark.name}", *benchmark.arguments]
    RESULTS.mkdir(exist_ok=True)
    aims = {RECORDING: str(STORE), f"{RECORDING}_LOAD": f"{load:.2f}", f"{RECORDING}_COMMAND": benchmark.command}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **aims}) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode == 0:
        (RESULTS / f"{benchmark.name}.md").write_text(page(benchmark, "".join(lines), load), encoding="utf-8")
        write_table()
    return process.returncode == 0


def page(benchmark: Benchmark, output: str, load: float) -> str:
    """The results file: what was run, where, when, how busy the machine was just before, and what came out."""
    where = f"{machine()}, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}, load average {load:.1f} before it began"
    table = output.strip() if output.startswith("|") else f"```\n{output.strip()}\n```"
    return f"# {benchmark.name}\n\n`{benchmark.command}`\n\n{where}.\n\n{table}\n"


def main(names: list[str]) -> int:
    """Run those named, or all; 2 for a name that does not exist or a path that is not given."""
    given = [os.environ.get(name, "") for name in ("SCIFACT", "PDFS", "DATA")]
    known = {b.name: b for b in benchmarks(*given)}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"there is no benchmark '{unknown[0]}'; there are {', '.join(known)}")
    chosen = [known[name] for name in names or known]
    for benchmark in chosen:
        if benchmark.lacks:
            print(f"== {benchmark.name} is left out: give {benchmark.lacks}", flush=True)
    failed = [benchmark.name for benchmark in chosen if not benchmark.lacks and not run(benchmark)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 2 if names and any(benchmark.lacks for benchmark in chosen) else 0


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
