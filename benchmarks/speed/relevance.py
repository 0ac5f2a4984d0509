"""Relevance judgments against a loopback server of 200 ms, 32 at a time: wall time beside the ideal, and CPU a call.

    python -m benchmarks.speed.relevance [JUDGMENTS]

2,000 by default, each of another passage of 150 words; the ideal is JUDGMENTS x 0.2 s / 32. In the same run RAGElo's
ReasonerEvaluator judges the same passages against the same server, where RAGELO_PYTHON names a Python that has it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.servers.latency import LatencyServer
from benchmarks.speed.aims import note, why
from benchmarks.speed.ragelo_peer import NOT_INSTALLED, cpu, passage, peer, question
from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.evaluate.judging.engine.cases import PassageCase
from ragassay.evaluate.judging.engine.judge import Setup
from ragassay.evaluate.judging.engine.rounds import judged
from ragassay.evaluate.judging.judges.relevance import DEFAULT_PROMPT, Relevance
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.models.requests import Batch, Request
from ragassay.prompts import Message, Prompt
from ragassay.records import Passage, Query

AIM_RATIO, AIM_CPU_MS = 1.1, 2.5
LATENCY_S, AT_ONCE, MODEL = 0.2, 32, "openai:judge"


@dataclass(frozen=True)
class Taken:
    """Seconds of wall time and of CPU (of all threads) for n judgments, of which `failed` have no label."""

    n: int
    failed: int
    wall_s: float
    cpu_s: float

    @property
    def ratio(self) -> float:
        """Wall time over the ideal."""
        return self.wall_s / (self.n * LATENCY_S / AT_ONCE)

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds a call."""
        return 1000 * self.cpu_s / self.n

    def row(self, name: str) -> str:
        """A line of the table."""
        return f"| {name} | {self.n} | {self.failed} | {self.wall_s:.2f} | {self.ratio:.2f} | {self.cpu_ms:.2f} |"


def ours(n: int, base_url: str) -> Taken:
    """The judge stage's own way: every prompt filled, every reply kept on disk, every record made."""
    os.environ["OPENAI_API_KEY"] = "none"
    experiment = Experiment.model_validate(
        {
            "questions": {"source": "own"},
            "answer": {"model": MODEL},
            "judge": {"model": MODEL},
            "run": {"max_concurrency": AT_ONCE},
            "models": {MODEL: {"base_url": base_url}},
        }
    )
    cases = [_case(number) for number in range(n)]
    judge = Relevance(Setup(MODEL), Prompt.load(DEFAULT_PROMPT))
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder), Path(folder) / "results", experiment)
        caller = Caller(workspace, "judge", ReplyCache(workspace.replies))
        caller.ask([Batch("warm-up", MODEL, (Request((Message("user", "Hello."),)),))])
        wall_s, cpu_s = time.monotonic(), cpu()
        (rows,) = judged([(judge, cases)], caller)
        return Taken(n, sum(r.label is None for r in rows), time.monotonic() - wall_s, cpu() - cpu_s)


def ragelo(n: int, base_url: str) -> tuple[str, Taken] | None:
    """RAGElo's version and what it took; None where it is not installed."""
    made = peer("judge", base_url, n, AT_ONCE)
    return made and (made["version"], Taken(n, n - made["records"], made["wall_s"], made["cpu_s"]))


def _case(number: int) -> PassageCase:
    query = Query(id=f"q{number // 10}", text=question(number))
    return PassageCase(query, Passage(id=f"p{number}", text=passage(number)))


def main() -> None:
    """Print a table of two lines."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| judge | judgments | without a label | wall s | over the ideal | CPU ms a call |")
    print("|---|---|---|---|---|---|")
    with LatencyServer(LATENCY_S) as server:
        mine = ours(n, server.base_url)
        print(mine.row("ours"), flush=True)
        theirs = ragelo(n, server.base_url)
    print(theirs[1].row(f"RAGElo {theirs[0]}, ReasonerEvaluator") if theirs else f"| RAGElo: {NOT_INSTALLED} |||||")
    print()
    rows(mine, theirs)


def rows(mine: Taken, theirs: tuple[str, Taken] | None) -> None:
    """The two rows of the speed table."""
    what = f"{mine.n:,} relevance judgments, server of 200 ms, {AT_ONCE} at a time"
    beside = f" (RAGElo {theirs[0]})" if theirs else NOT_INSTALLED
    busy = "other work on the machine held the processor when replies came in"
    note(
        "judging 1 wall",
        f"{what}: wall time",
        f"at most {AIM_RATIO} times the ideal",
        f"{mine.wall_s:.1f} s",
        peer=f"{theirs[1].wall_s:.1f} s{beside}" if theirs else beside,
        ratio=f"{mine.ratio:.2f} times the ideal" + (f" (RAGElo {theirs[1].ratio:.2f})" if theirs else ""),
        missed=why((mine.ratio > AIM_RATIO, busy)),
        packages=("langchain-openai", "openai"),
    )
    note(
        "judging 2 cpu",
        f"{what}: CPU a call",
        f"at most {AIM_CPU_MS} ms",
        f"{mine.cpu_ms:.2f} ms",
        peer=f"{theirs[1].cpu_ms:.2f} ms{beside}" if theirs else beside,
        ratio=f"{mine.cpu_ms / theirs[1].cpu_ms:.2f}" if theirs else "",
        missed=why((mine.cpu_ms > AIM_CPU_MS, f"half is LangChain's and OpenAI's packages; {busy}")),
        packages=("langchain-openai", "openai"),
    )


if __name__ == "__main__":
    main()
