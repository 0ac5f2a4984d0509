"""22,000 judgments against a server that fails 30% of the time, killed with -9 at twenty random moments and run again.

    python -m benchmarks.speed.soak [PASSAGES] [KILLS]

20,000 passages are judged, pooled ten a query, and 2,000 answers. What runs is `ragassay judge FOLDER`, 32 calls at a
time, until it ends by itself. Then it is checked that every pair has exactly one record with a label or an error, that
no reply was sent twice but those in flight at a kill, and how much memory the process took. Exit status 1 where a check
fails. Ten minutes.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from benchmarks.servers.failing import SHARES, FailingServer
from benchmarks.speed.aims import note, why
from benchmarks.speed.ragelo_peer import passage, question
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_records, write_text
from ragassay.records import Answer, Judgment, Passage, Query

AT_ONCE, POOL, AGENT = 32, 10, "mine"
KEPT_KIB, AT_WORK_MIB = 4.0, 20.0
"""About what a reply that is kept takes as Python's own objects, and what the calls under way take together."""
EXPERIMENT = """\
[questions]
source = "own"

[answer]
model = "openai:judge"
agents = []

[[agent]]
name = "mine"
kind = "file"
path = "mine.jsonl"

[judge]
model = "openai:judge"
criteria = ["relevance"]

[run]
max_concurrency = {at_once}
max_cost_usd = 1000

[models."openai:judge"]
base_url = "{base_url}"
timeout_s = 2.0
"""


@dataclass(frozen=True)
class Segment:
    """One start of the process: when it was killed (monotonic seconds; None where it ended) and its memory.

    `sizes` are (replies billed so far, resident MiB), about ten a second.
    """

    killed: float | None
    status: int
    sizes: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Sent:
    """A line of the server's log."""

    at: float
    key: str
    kind: str


@dataclass
class Soak:
    """What came out of it. `in_flight`: replies sent again after each kill. `twice`: those sent again without one."""

    owed: int
    rows: list[Judgment]
    segments: list[Segment]
    replies: list[Sent]
    in_flight: list[int] = field(default_factory=list)
    twice: int = 0

    @property
    def labels(self) -> int:
        """Records with a label."""
        return sum(row.label is not None for row in self.rows)

    @property
    def sound(self) -> bool:
        """Whether every check holds."""
        pairs = Counter((row.query_id, row.subject, row.criterion) for row in self.rows)
        each_once = len(pairs) == len(self.rows) == self.owed
        ended = [segment.status for segment in self.segments][-1] == 0
        return each_once and ended and not self.twice and max(self.in_flight, default=0) <= AT_ONCE


def material(corpus: Path, results: Path, base_url: str, n: int) -> Workspace:
    """A corpus folder and what the stages before judging leave: n passages pooled, ten a query, one agent's answers."""
    text = EXPERIMENT.format(at_once=AT_ONCE, base_url=base_url)
    write_text(corpus / "experiment.toml", text)
    workspace = Workspace(corpus, results, load_experiment(corpus / "experiment.toml"))
    queries = [Query(id=f"q{number}", text=question(POOL * number)) for number in range(n // POOL)]
    write_records(workspace.queries, queries)
    write_records(workspace.passages, [Passage(id=f"p{number}", text=passage(number)) for number in range(n)])
    answers = [_answer(number) for number in range(n // POOL)]
    write_records(workspace.answers(AGENT), answers)
    return workspace


def _answer(number: int) -> Answer:
    pool = tuple(f"p{POOL * number + rank}" for rank in range(POOL))
    return Answer(query_id=f"q{number}", agent=AGENT, answer=f"By register {number}.", passages=pool)


def soak(folder: Path, n: int, kills: int, seed: int = 7, say: Callable[[str], None] = print) -> Soak:
    """Run it in `folder`: n passages, a multiple of ten, killed `kills` times at moments drawn with `seed`."""
    chance = random.Random(seed)
    moments = sorted(chance.uniform(0, n) for _ in range(kills))
    with FailingServer(folder / "sent.log", seed) as server:
        workspace = material(folder / "corpus", folder / "results", server.base_url, n)
        segments = []
        for moment in [*moments, None]:
            segments.append(_run(workspace, server.log, moment, chance.uniform(0, 1.0)))
            say(f"{_count(server.log):6} replies, process {len(segments)} {_ended(segments[-1])}")
            if segments[-1].killed is None:
                break
        rows = read_records(workspace.relevance, Judgment) + read_records(workspace.pointwise, Judgment)
        return _checked(Soak(n + n // POOL, rows, segments, _sent(server.log)))


def _run(workspace: Workspace, log: Path, moment: float | None, delay_s: float) -> Segment:
    """Start the process and wait for its end, or kill it `delay_s` after the server's reply number `moment`."""
    command = [sys.executable, "-m", "ragassay", "judge", str(workspace.corpus), "--results", str(workspace.results)]
    sizes: list[tuple[int, float]] = []
    due: float | None = None
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            count = _count(log)
            sizes.append((count, _resident_mib(process.pid)))
            if moment is not None and due is None and count >= moment:
                due = time.monotonic() + delay_s
            if due is not None and time.monotonic() >= due:
                killed = time.monotonic()
                process.kill()
                return Segment(killed, process.wait(), tuple(sizes))
            time.sleep(0.1 if due is None else 0.01)
        return Segment(None, process.returncode, tuple(sizes))


def _count(log: Path) -> int:
    with log.open("rb") as lines:
        return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b""))


def _sent(log: Path) -> list[Sent]:
    rows = (line.split(" ", 2) for line in log.read_text().splitlines())
    return [Sent(float(at), key, kind) for at, key, kind in rows]


def _checked(made: Soak) -> Soak:
    """Fill in what was sent twice: after a kill that found the first reply under way, or without one."""
    times: dict[str, list[float]] = {}
    for reply in made.replies:
        times.setdefault(reply.key, []).append(reply.at)
    kills = [segment.killed for segment in made.segments if segment.killed is not None]
    by_kill = Counter[float]()
    for moments in times.values():
        for first, _ in pairwise(moments):
            near = [kill for kill in kills if -0.5 <= kill - first <= 1.0]
            by_kill[near[0] if near else -1.0] += 1
    made.twice = by_kill.pop(-1.0, 0)
    made.in_flight = [by_kill[kill] for kill in kills]
    return made


def _resident_mib(pid: int) -> float:
    """Resident memory; 0 for a process that has just ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * resource.getpagesize() / 2**20


def _ended(segment: Segment) -> str:
    peak = max((mib for _, mib in segment.sizes), default=0.0)
    how = f"ended with status {segment.status}" if segment.killed is None else "was killed"
    return f"{how}, at most {peak:.0f} MiB"


def main() -> int:
    """Print what happened and a table of the checks."""
    n, kills = int((sys.argv[1:2] or ["20000"])[0]), int((sys.argv[2:3] or ["20"])[0])
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        made = soak(Path(folder), n, kills)
    kinds = Counter(reply.kind for reply in made.replies)
    print(f"{len(made.rows)} records of {made.owed} owed: {made.labels} labels, {len(made.rows) - made.labels} errors")
    print(f"{len(made.replies)} whole replies sent: {', '.join(f'{kinds[kind]} {kind}' for kind in sorted(kinds))}")
    print(f"sent again: {sum(made.in_flight)} in flight at {len(made.in_flight)} kills, {made.twice} others")
    first, last, most = memory(made.segments)
    each_kib = 1024 * (last - first) / len(made.replies)
    print(f"memory: {first:.0f} MiB at the first reply, {last:.0f} MiB at the last, at most {most:.0f} MiB at the end")
    note(
        f"{made.owed:,} judgments, {100 * sum(SHARES.values()):.0f}% failures, {len(made.in_flight)} kills with -9",
        f"one record a pair, nothing paid for twice but in flight at a kill, memory bounded: grown by at most "
        f"{AT_WORK_MIB:.0f} MiB and {KEPT_KIB:.0f} KiB a reply",
        f"{len(made.rows):,} records, {made.twice} replies twice ({sum(made.in_flight)} in flight), "
        f"{first:.0f} MiB at the first reply, {last:.0f} at the last ({each_kib:.1f} KiB for each reply, which is "
        f"kept), in {time.monotonic() - start:.0f} s",
        missed=why(
            (not made.sound, "a check failed: the output says which"),
            (
                last - first > AT_WORK_MIB + len(made.replies) * KEPT_KIB / 1024,
                "memory grew by more than the replies that are kept",
            ),
        ),
    )
    return 0 if made.sound else 1


def memory(segments: Sequence[Segment]) -> tuple[float, float, float]:
    """Resident MiB when the first reply had come, when the last had, and the most ever (records being written)."""
    before = segments[0].sizes[0][0]
    first = next((mib for count, mib in segments[0].sizes if count > before), 0.0)
    sizes = segments[-1].sizes
    last = next(mib for count, mib in sizes if count == sizes[-1][0])
    return first, last, max(mib for segment in segments for _, mib in segment.sizes)


if __name__ == "__main__":
    sys.exit(main())
