"""Every figure of a large experiment: the seconds and the memory of each section of `results.json`.

    python -m benchmarks.speed.compare [QUERIES] [AGENTS] [GAMES]       default: 10000 60 100000

The findings are made up in memory, five queries a section: every agent ranks 5 of a query's 20 judged passages,
answers, and has a label on four criteria. All pairs on all queries would be 17.7 million games; GAMES of them, drawn at
random, are played, each in both orders. Judgments, answers and games are bare rows here: as the checked records that
`compare` reads from files, 2.4 million of them take several times the room. Reading the files is not timed.

CPU seconds and memory are those of this process; what others do beside it is told below the table.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import chain
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from benchmarks.speed.aims import note, why
from ragassay.evaluate import compare
from ragassay.evaluate.inputs.findings import Findings
from ragassay.evaluate.inputs.material import Material
from ragassay.experiment.judge_settings import JudgeSettings
from ragassay.experiment.question_settings import QuestionsSettings
from ragassay.experiment.settings import AnswerSettings, Experiment
from ragassay.records import Query, Usage

SECONDS, GIGABYTES = 60, 2.0
K, POOL, PER_SECTION = 5, 20, 5
CRITERIA = ("relevance", "accuracy", "completeness", "precision")
SECTIONS = ("basis_of", "_boxes", "_ranking", "_answers", "_games", "_pool", "audit_of", "_comparisons", "_ratings")
"""The functions of `compare`, in the order in which they are called; `basis_of` waits for Bradley-Terry.

Other processes work beside all of them: `audit_of` waits for the control of length, `_comparisons` for its tests, and
`_ratings` for Elo.
"""


@dataclass(frozen=True, slots=True)
class Judged:
    """What `compare` reads of a `Judgment`."""

    query_id: str
    subject: str
    criterion: str
    label: float
    error: None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """What it reads of an `Answer`."""

    query_id: str
    agent: str
    answer: str
    passages: tuple[str, ...]
    usage: Usage
    latency_s: float
    error: None = None


@dataclass(frozen=True, slots=True)
class Played:
    """What it reads of a `Game`; agent_a sorts before agent_b."""

    query_id: str
    agent_a: str
    agent_b: str
    first: str
    winner: str
    judge: str = "file:judge"
    error: None = None
    reason: None = None
    probability: None = None
    presentation: None = None
    place_a: None = None
    place_b: None = None


def made_up(experiment: Experiment, n_queries: int, n_agents: int, n_games: int) -> Findings:
    """Agents of rising strength, seeded; the built-in ones are among them."""
    generator = np.random.default_rng(7)
    built_in = [name for name, _, _ in experiment.built_in_agents()]
    agents = tuple([*built_in, *(f"agent-{n:02d}" for n in range(n_agents - len(built_in)))][:n_agents])
    queries = tuple(
        Query(id=f"q{n:05d}", text="?", metadata={"doc": "d", "section": f"s{n // PER_SECTION}", "model": "file:one"})
        for n in range(n_queries)
    )
    pools = [[f"{query.id}-{n:02d}" for n in range(POOL)] for query in queries]
    labels = generator.choice([0, 1, 2], (n_queries, POOL), p=[0.6, 0.2, 0.2])
    ranked: dict[str, Any] = {agent: {} for agent in agents}
    answers: dict[tuple[str, str], Any] = {}
    texts, usage = ["x" * n for n in range(100, 900, 100)], Usage(input_tokens=900, output_tokens=90, cost_usd=0.01)
    for number, query in enumerate(queries):
        rows = [[(passage, -float(rank)) for rank in range(1, K + 1)] for passage in pools[number]]
        shown = np.argsort(generator.random((n_agents, POOL)) - 0.1 * labels[number], axis=1)[:, :K].tolist()
        for agent, places in zip(agents, shown, strict=True):
            ranked[agent][query.id] = [rows[place][rank] for rank, place in enumerate(places)]
            passages = tuple(pools[number][place] for place in places)
            text = texts[(number + places[0]) % len(texts)]
            answers[query.id, agent] = Answered(query.id, agent, text, passages, usage, 1.5)
    material = Material(queries, agents, {}, answers)
    return Findings(
        material=material,
        sections=(),
        rankings=ranked,
        relevance=_relevance(queries, pools, labels.tolist()),
        qrels={q.id: dict(zip(p, row, strict=True)) for q, p, row in zip(queries, pools, labels.tolist(), strict=True)},
        people={},
        pointwise=_pointwise(queries, agents, generator),
        games=_games(queries, agents, n_games, generator),
        ledger=(),
        notices=(),
        usage=(),
    )


def _relevance(queries: Sequence[Query], pools: Sequence[Sequence[str]], labels: Sequence[Sequence[int]]) -> Any:
    return tuple(
        Judged(query.id, passage, "relevance", float(label))
        for query, pool, row in zip(queries, pools, labels, strict=True)
        for passage, label in zip(pool, row, strict=True)
    )


def _pointwise(queries: Sequence[Query], agents: Sequence[str], generator: np.random.Generator) -> Any:
    strength = np.linspace(1.2, 0.6, len(agents))[:, None]
    labels = np.clip(np.round(strength + generator.normal(size=(len(queries), len(agents), len(CRITERIA)))), 0, 2)
    return tuple(
        Judged(query.id, agent, criterion, label)
        for query, of_query in zip(queries, labels.tolist(), strict=True)
        for agent, of_agent in zip(agents, of_query, strict=True)
        for criterion, label in zip(CRITERIA, of_agent, strict=True)
    )


def _games(queries: Sequence[Query], agents: Sequence[str], n_games: int, generator: np.random.Generator) -> Any:
    names = sorted(agents)
    pairs = len(names) * (len(names) - 1) // 2
    drawn = generator.choice(len(queries) * pairs, min(n_games, len(queries) * pairs), replace=False)
    first, second = np.triu_indices(len(names), 1)
    strength = np.linspace(1.0, 0.0, len(names))
    rows = []
    for cell in np.sort(drawn).tolist():
        a, b = int(first[cell % pairs]), int(second[cell % pairs])
        better = generator.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        for shown in ("a", "b"):
            winner = ("a" if better else "b") if generator.random() < 0.8 else "tie"
            rows.append(Played(queries[cell // pairs].id, names[a], names[b], shown, winner))
    return tuple(rows)


class Timed:
    """Prints seconds, those of CPU, and peak memory (GB, of the process so far) of each section as it is done."""

    def wrapped(self, name: str, section: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, on record."""

        @wraps(section)
        def timed(*arguments: Any, **named: Any) -> Any:
            start, busy = time.perf_counter(), time.process_time()
            made = section(*arguments, **named)
            took, of_cpu = time.perf_counter() - start, time.process_time() - busy
            print(f"| {name.lstrip('_')} | {took:.1f} | {of_cpu:.1f} | {peak():.2f} |", flush=True)
            return made

        return timed


def peak() -> float:
    """The most memory that the process has held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


class Together(Thread):
    """Looks, ten times a second, how much memory this process and those that it started hold together, in GB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0.0
        self._ended = Event()

    def run(self) -> None:
        while not self._ended.wait(0.1):
            started = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
            held = [_held(pid) for pid in (str(os.getpid()), *chain.from_iterable(started))]
            self.most = max(self.most, sum(held))

    def end(self) -> float:
        """The most there was."""
        self._ended.set()
        self.join()
        return self.most


def _held(pid: str) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / 1024**3
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return 0.0


def main() -> None:
    """Print a row for each section, and whether the aim is met."""
    given = [int(text) for text in sys.argv[1:4]]
    n_queries, n_agents, n_games = (*given, *(10_000, 60, 100_000)[len(given) :])
    experiment = Experiment(
        questions=QuestionsSettings(source="own"),
        answer=AnswerSettings(model="file:writer"),
        judge=JudgeSettings(model="file:judge", criteria=CRITERIA),
    )
    findings = made_up(experiment, n_queries, n_agents, n_games)
    held, timed = peak(), Timed()
    for name in SECTIONS:
        setattr(compare, name, timed.wrapped(name, getattr(compare, name)))
    print("| section | s | of CPU | peak, GB |\n|---|--:|--:|--:|")
    print(f"| what it is made from | | | {held:.2f} |", flush=True)
    together = Together()
    together.start()
    start, busy = time.perf_counter(), time.process_time()
    results, _ = compare.results_of(findings, experiment, "made up")
    seconds, cpu, most = time.perf_counter() - start, time.process_time() - busy, together.end()
    print(f"| all | {seconds:.1f} | {cpu:.1f} | {peak():.2f} |\n")
    print(f"{n_queries:,} queries, {n_agents} agents, {n_games:,} games, {len(results.comparisons):,} comparisons")
    used, load = resource.getrusage(resource.RUSAGE_CHILDREN), os.getloadavg()[0]
    theirs = used.ru_utime + used.ru_stime
    print(f"other processes: {theirs:.1f} s of CPU; all together held at most {most:.2f} GB; load {load:.1f}")
    if (n_queries, n_agents) == (10_000, 60):
        slow = f"{seconds:.0f} s at a load of {load:.1f}; {cpu + theirs:.0f} s of CPU, {cpu:.0f} of them in one process"
        missed = why((seconds > SECONDS, slow), (most > GIGABYTES, f"{most:.1f} GB"))
        what = f"every figure of 10,000 queries and 60 agents, with {n_games:,} games"
        figure = f"{seconds:.0f} s ({cpu + theirs:.0f} s of CPU on both cores), {most:.1f} GB"
        note(what, "under 60 s and 2 GB", figure, missed=missed, packages=("numpy",))


if __name__ == "__main__":
    main()
