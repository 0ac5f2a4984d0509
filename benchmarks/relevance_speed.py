"""2,000 relevance judgments against a loopback server of 200 ms, 32 at a time: wall time beside the ideal, CPU a call.

    python -m benchmarks.relevance_speed [JUDGMENTS]
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.latency_server import LatencyServer
from evaluate.judge import Docket, ask
from evaluate.relevance import DEFAULT_PROMPT, Pooled, relevance_judge
from ragassay.calls import Batch, Caller, Message, Request
from ragassay.config import Experiment
from ragassay.prompts import Prompt
from ragassay.records import Passage, Query
from ragassay.reply_cache import ReplyCache
from ragassay.workspace import Workspace

LATENCY_S, AT_ONCE = 0.2, 32


def pooled(n: int) -> list[Pooled]:
    rows = []
    for number in range(n):
        query = Query(id=f"q{number // 10}", text=f"How is timer {number // 10} set?")
        text = f"Timer {number} is set by register {number}. " + "It counts the clock of the board. " * 25
        rows.append(Pooled(query, Passage(id=f"p{number}", text=text)))
    return rows

def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    os.environ["OPENAI_API_KEY"] = "none"
    with LatencyServer(LATENCY_S) as server, tempfile.TemporaryDirectory() as folder:
        experiment = Experiment.model_validate(
            {
                "questions": {"source": "own"},
                "answer": {"model": "openai:judge"},
                "judge": {"model": "openai:judge"},
                "run": {"max_concurrency": AT_ONCE},
                "models": {"openai:judge": {"base_url": server.base_url}},
            }
        )
        workspace = Workspace(Path(folder), Path(folder) / "results", experiment)
        caller = Caller(workspace, "judge", ReplyCache(workspace.replies))
        judge = relevance_judge("openai:judge", Prompt.load(DEFAULT_PROMPT))
        caller.ask([Batch("warm-up", "openai:judge", (Request((Message("user", "Hello."),)),))])
        wall, cpu = time.monotonic(), _cpu_s()
        rows = ask(caller, [Docket(judge, pooled(n))])[0]
        wall, cpu = time.monotonic() - wall, _cpu_s() - cpu
    ideal = n * LATENCY_S / AT_ONCE
    print(len(rows), sum(r.error is not None for r in rows), f"wall {wall:.2f} ratio {wall / ideal:.3f} cpu {1000 * cpu / n:.2f} ms", os.getloadavg())


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
