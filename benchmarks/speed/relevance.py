"""Relevance judgments against a loopback server of 200 ms, 32 at a time: wall time beside the ideal, and CPU a call.

    python -m benchmarks.speed.relevance [JUDGMENTS] [ROUNDS]

2,000 by default, each of another passage of 150 words; the ideal is JUDGMENTS x 0.2 s / 32. OpenAI's SDK by itself
sends the same requests, once in threads and once in one loop, in turn with ours for ROUNDS (3) rounds, of which the
medians count. RAGElo's ReasonerEvaluator judges the same passages where RAGELO_PYTHON names a Python that has it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.servers.latency import LatencyServer
from benchmarks.speed.aims import note, why
from benchmarks.speed.openai_sdk import in_one_loop, in_threads
from benchmarks.speed.ragelo_peer import NOT_INSTALLED, cpu, passage, peer, question
from ragassay.calls.caller import Caller
from ragassay.calls.reply_cache import ReplyCache
from ragassay.evaluate.judging.engine.cases import PassageCase, Setup
from ragassay.evaluate.judging.engine.rounds import judged
from ragassay.evaluate.judging.judges import PROMPTS
from ragassay.evaluate.judging.judges.relevance import Relevance
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace
from ragassay.models.requests import Batch, Request
from ragassay.prompts import Message, Prompt
from ragassay.records import Passage, Query

AIM_RATIO, AIM_CPU_MS, AIM_BESIDE = 1.1, 2.5, 1.1
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
    judge = Relevance(Setup(MODEL), Prompt.load(PROMPTS / "relevance.md"))
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
    """Print a table of what each took, and the rows of the speed table."""
    n, n_rounds = int((sys.argv[1:2] or ["2000"])[0]), int((sys.argv[2:3] or ["3"])[0])
    requests = [
        Relevance(Setup(MODEL), Prompt.load(PROMPTS / "relevance.md")).request(_case(number)) for number in range(n)
    ]
    name = MODEL.split(":")[1]
    mine, threads, loop = list[Taken](), list[Taken](), list[Taken]()
    with LatencyServer(LATENCY_S) as server:
        for _ in range(n_rounds):
            mine.append(ours(n, server.base_url))
            threads.append(Taken(n, 0, *in_threads(requests, name, server.base_url, AT_ONCE)))
            loop.append(Taken(n, 0, *in_one_loop(requests, name, server.base_url, AT_ONCE)))
        theirs = ragelo(n, server.base_url)
    print("| judge | judgments | without a label | wall s | over the ideal | CPU ms a call |")
    print("|---|---|---|---|---|---|")
    print(middle(mine).row("ours"))
    print(middle(threads).row("openai SDK, OpenAI in 32 threads"))
    print(middle(loop).row("openai SDK, AsyncOpenAI in one loop"))
    print(theirs[1].row(f"RAGElo {theirs[0]}, ReasonerEvaluator") if theirs else f"| RAGElo: {NOT_INSTALLED} |||||")
    print(f"\nmedians of {n_rounds} rounds; load average {os.getloadavg()[0]:.1f} at the end\n")
    rows(middle(mine), middle(threads), middle(loop), theirs)


def middle(rounds: Sequence[Taken]) -> Taken:
    """The medians of wall time and of CPU, each by itself, and every failure."""
    failed = sum(taken.failed for taken in rounds)
    return Taken(rounds[0].n, failed, median(t.wall_s for t in rounds), median(t.cpu_s for t in rounds))


def rows(mine: Taken, threads: Taken, loop: Taken, theirs: tuple[str, Taken] | None) -> None:
    """The rows of the speed table."""
    what = f"{mine.n:,} relevance judgments, server of 200 ms, {AT_ONCE} at a time"
    sdk_s, sdk_ms = min(threads.wall_s, loop.wall_s), min(threads.cpu_ms, loop.cpu_ms)
    beside = f", {theirs[1].wall_s:.1f} s (RAGElo {theirs[0]})" if theirs else f", RAGElo {NOT_INSTALLED}"
    beside_ms = f", {theirs[1].cpu_ms:.2f} ms (RAGElo {theirs[0]})" if theirs else f", RAGElo {NOT_INSTALLED}"
    in_aim = mine.ratio <= AIM_RATIO, mine.wall_s <= AIM_BESIDE * sdk_s
    note(
        f"{what}: wall time",
        f"at most {AIM_RATIO} times the ideal, and {AIM_BESIDE} times the openai SDK by itself",
        f"{mine.wall_s:.1f} s",
        peer=f"{threads.wall_s:.1f} s (SDK in threads), {loop.wall_s:.1f} s (SDK in one loop){beside}",
        ratio=f"{mine.ratio:.2f} times the ideal, {mine.wall_s / sdk_s:.2f} times the SDK",
        missed=why(
            (not in_aim[0], f"the SDK by itself took {sdk_s / (mine.n * LATENCY_S / AT_ONCE):.2f} times the ideal"),
            (not in_aim[1], f"{mine.wall_s / sdk_s:.2f} times the SDK by itself"),
        ),
        packages=("langchain-openai", "openai"),
    )
    note(
        f"{what}: CPU a call",
        f"at most {AIM_CPU_MS} ms, and {AIM_BESIDE} times the openai SDK by itself",
        f"{mine.cpu_ms:.2f} ms",
        peer=f"{threads.cpu_ms:.2f} ms (SDK in threads), {loop.cpu_ms:.2f} ms (SDK in one loop){beside_ms}",
        ratio=f"{mine.cpu_ms / sdk_ms:.2f} times the SDK",
        missed=why(
            (mine.cpu_ms > AIM_CPU_MS, f"the SDK by itself took {sdk_ms:.2f} ms"),
            (mine.cpu_ms > AIM_BESIDE * sdk_ms, f"{mine.cpu_ms / sdk_ms:.2f} times the SDK by itself"),
        ),
        packages=("langchain-openai", "openai"),
    )


if __name__ == "__main__":
    main()
