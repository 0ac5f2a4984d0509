"""`ragassay compare` on the files of a large experiment: clock, CPU and memory of the verb.

    python -m benchmarks.speed.compare [QUERIES] [AGENTS] [GAMES]       default: 2000 20 380000, then 10000 60 100000

The files are made up, as the stages before write them: five queries a section, every agent answers with 5 of a query's
20 judged passages and has a label on four criteria, labels with a reason of 150 characters and answers of 100 to 800.
GAMES of all pairs on all queries (380,000 and 17.7 million), drawn at random, are played, each in both orders.

Memory is that of the verb and of the processes that it starts, all together, looked at ten times a second.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import machine
from benchmarks.speed.aims import note, why
from ragassay.files import json_line

SIZES = ((2_000, 20, 380_000, 60, 1.5), (10_000, 60, 100_000, 120, 2.0))
"""Queries, agents and games, and in how many seconds and GB."""
K, POOL, PER_SECTION = 5, 20, 5
CRITERIA = ("relevance", "accuracy", "completeness", "precision")
JUDGE = "file:judge"
REASON = (
    "It names the cause and the remedy, and all of it is in the passages; what the question asks besides is left out. "
)
EXPERIMENT = """\
[questions]
source = "own"
[answer]
model = "file:writer"
[judge]
model = "file:judge"
criteria = ["relevance", "accuracy", "completeness", "precision"]
"""
BUILT_IN = tuple(f"{one}-rag{two}" for one in ("bm25", "hybrid", "knn") for two in ("", "-fusion"))


@dataclass(frozen=True)
class Took:
    """Seconds of clock and of CPU, and the most GB that all processes held together."""

    clock: float
    cpu: float
    gigabytes: float


def write_files(folder: Path, n_queries: int, n_agents: int, n_games: int) -> tuple[Path, Path]:
    """A corpus and a results folder, seeded; agents of rising strength, the built-in ones among them."""
    generator = np.random.default_rng(7)
    agents = [*BUILT_IN, *(f"agent-{n:02d}" for n in range(n_agents - len(BUILT_IN)))]
    queries = [f"q{n:05d}" for n in range(n_queries)]
    corpus, results = folder / "corpus", folder / "results"
    for made in (corpus, results / "answers", results / "rankings"):
        made.mkdir(parents=True)
    tables = (f'[[agent]]\nname = "{name}"\nkind = "file"\npath = "{name}.jsonl"\n' for name in agents[len(BUILT_IN) :])
    (corpus / "experiment.toml").write_text(EXPERIMENT + "".join(tables), encoding="utf-8")
    labels = generator.choice([0.0, 1.0, 2.0], (n_queries, POOL), p=[0.6, 0.2, 0.2])
    _write(results / "queries.jsonl", (_query(id, n) for n, id in enumerate(queries)))
    pools = [[f"{id}-{n:02d}" for n in range(POOL)] for id in queries]
    _write(results / "corpus.jsonl", ({"_id": id, "text": "x" * 900} for pool in pools for id in pool))
    _write(results / "relevance.jsonl", _relevance(queries, pools, labels))
    with (results / "qrels.trec").open("w") as stream:
        for id, pool, row in zip(queries, pools, labels.tolist(), strict=True):
            stream.writelines(f"{id} 0 {passage} {label:.0f}\n" for passage, label in zip(pool, row, strict=True))
    for agent in agents:
        _write_agent(results, agent, queries, pools, np.argsort(generator.random(labels.shape) - 0.1 * labels, axis=1))
    _write(results / "pointwise.jsonl", _pointwise(queries, agents, generator))
    _write(results / "games.jsonl", _games(queries, agents, n_games, generator))
    (results / "judgments.jsonl").touch()
    return corpus, results


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(map(json_line, rows))


def _query(id: str, number: int) -> dict[str, Any]:
    return {
        "_id": id,
        "text": "?",
        "metadata": {"doc": "d", "section": f"s{number // PER_SECTION}", "model": "file:one"},
    }


def _said(number: int) -> dict[str, Any]:
    """What stands beside a label or a winner; no two reasons are the same."""
    return {"reason": f"{REASON}{number}", "error": None, "probability": None}


def _judged(query: str, subject: str, criterion: str, label: float, number: int) -> dict[str, Any]:
    what = {"query_id": query, "subject": subject, "judge": JUDGE, "criterion": criterion, "label": label}
    return {**what, **_said(number), "expected": None}


def _relevance(queries: Sequence[str], pools: Sequence[Sequence[str]], labels: Any) -> Iterator[dict[str, Any]]:
    for query, pool, row in zip(queries, pools, labels.tolist(), strict=True):
        for number, (passage, label) in enumerate(zip(pool, row, strict=True)):
            yield _judged(query, passage, "relevance", label, number)


def _write_agent(results: Path, agent: str, queries: Sequence[str], pools: Sequence[Sequence[str]], order: Any) -> None:
    shown = [[pool[at] for at in row[:K]] for pool, row in zip(pools, order.tolist(), strict=True)]
    usage = {"input_tokens": 900, "output_tokens": 90, "cost_usd": 0.01}
    _write(
        results / "answers" / f"{agent}.jsonl",
        (
            {"query_id": query, "agent": agent, "answer": f"{agent} {query} {'x' * (100 + 100 * int(row[0]) % 800)}"}
            | {"passages": passages, "queries": [], "usage": usage, "latency_s": 1.5, "error": None}
            for query, passages, row in zip(queries, shown, order, strict=True)
        ),
    )
    with (results / "rankings" / f"{agent}.trec").open("w") as stream:
        for query, passages in zip(queries, shown, strict=True):
            stream.writelines(f"{query} Q0 {id} {n} {-n} {agent}\n" for n, id in enumerate(passages, 1))


def _pointwise(
    queries: Sequence[str], agents: Sequence[str], generator: np.random.Generator
) -> Iterator[dict[str, Any]]:
    strength = np.linspace(1.2, 0.6, len(agents))[:, None]
    for number, query in enumerate(queries):
        labels = np.clip(np.round(strength + generator.normal(size=(len(agents), len(CRITERIA)))), 0, 2)
        for agent, row in zip(agents, labels.tolist(), strict=True):
            for criterion, label in zip(CRITERIA, row, strict=True):
                yield _judged(query, agent, criterion, label, number)


def _games(
    queries: Sequence[str], agents: Sequence[str], n_games: int, generator: np.random.Generator
) -> Iterator[dict[str, Any]]:
    names = sorted(agents)
    first, second = np.triu_indices(len(names), 1)
    pairs, strength = len(first), np.linspace(1.0, 0.0, len(names))
    drawn = generator.choice(len(queries) * pairs, min(n_games, len(queries) * pairs), replace=False)
    for cell in np.sort(drawn).tolist():
        a, b = int(first[cell % pairs]), int(second[cell % pairs])
        better = generator.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        for shown in ("a", "b"):
            winner = ("a" if better else "b") if generator.random() < 0.8 else "tie"
            who = {"query_id": queries[cell // pairs], "agent_a": names[a], "agent_b": names[b], "first": shown}
            yield {**who, "judge": JUDGE, "winner": winner, **_said(cell)}


def ragassay(*words: str) -> Took:
    """What a command took. Raises RuntimeError where it fails."""
    start, before, most = time.perf_counter(), _cpu(), 0.0
    with subprocess.Popen(
        [sys.executable, "-m", "ragassay", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while True:
            most = max(most, sum(map(_held, _family(process.pid))))
            try:
                _, said = process.communicate(timeout=0.1)
                break
            except subprocess.TimeoutExpired:
                pass
    if process.returncode:
        raise RuntimeError(f"ragassay {' '.join(words)} ended with {process.returncode}: {said[-2000:]}")
    return Took(time.perf_counter() - start, _cpu() - before, most)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _family(pid: int) -> Iterator[int]:
    """The process and all that it started."""
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            started = children.read_text().split()
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            continue
        for child in started:
            yield from _family(int(child))


def _held(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / 1024**3
    except (FileNotFoundError, ProcessLookupError):
        return 0.0


def measure(n_queries: int, n_agents: int, n_games: int, seconds: float, gigabytes: float) -> None:
    """Print what the verb took, beside the aim."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, results = write_files(Path(folder), n_queries, n_agents, n_games)
        size = sum(path.stat().st_size for path in results.rglob("*") if path.is_file()) / 1024**3
        load, took = os.getloadavg()[0], ragassay("compare", str(corpus), "--results", str(results))
    labels = n_queries * (n_agents * len(CRITERIA) + POOL)
    what = f"`compare` of {n_queries:,} queries and {n_agents} agents, {labels:,} labels and {n_games:,} games"
    print(f"{what}: files of {size:.1f} GB; load {load:.1f} before")
    slow = f"{took.clock:.0f} s at a load of {load:.1f} before; {took.cpu:.0f} s of CPU"
    missed = why((took.clock > seconds, slow), (took.gigabytes > gigabytes, f"{took.gigabytes:.1f} GB"))
    figure = f"{took.clock:.0f} s ({took.cpu:.0f} s of CPU on all cores), {took.gigabytes:.2f} GB"
    aim = f"under {seconds:.0f} s and {gigabytes:g} GB"
    note(what, aim, figure, missed=missed, packages=("numpy", "pydantic"))


if __name__ == "__main__":
    print(machine())
    if given := [int(text) for text in sys.argv[1:4]]:
        limits = SIZES[0] if given[0] <= SIZES[0][0] else SIZES[1]
        measure(*(*given, *limits[len(given) : 3]), *limits[3:])
    else:
        for each in SIZES:
            measure(*each)
