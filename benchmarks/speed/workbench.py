"""How soon the workbench answers over a large run: made-up results of six agents, looked at by HTTP.

    python -m benchmarks.speed.workbench [QUERIES]       default: 10000

The results are written through the record models: five passages and two labels an answer, fifteen games on every
tenth query, each in both orders; `compare` makes results.json. `ragassay serve` is started on them; "index" is from its
start until the file is there. Each view is asked for as a browser asks (gzip, one connection); the first time of each
counts too, the worst of all stands beside the median.
"""

from __future__ import annotations

import http.client
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.speed.aims import note, why
from ragassay.evaluate.compare import compare
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import write_records
from ragassay.records import Answer, Game, Judgment, Passage, Query
from ragassay.trec import write_qrels, write_run

FIRST_S, FURTHER_S, TIMES, PER_SECTION = 1.0, 0.3, 7, 5
EXPERIMENT = """[questions]
source = "own"
[answer]
model = "file:writer"
[judge]
model = "file:judge"
criteria = ["accuracy", "completeness"]
"""
WORDS = (
    *("register", "timer", "interrupt", "flash", "memory", "section", "linker"),
    *("watchdog", "fuse", "compiler", "port", "buffer", "stack", "heap"),
)


def text(rng: random.Random, n: int) -> str:
    """So many words."""
    return " ".join(rng.choices(WORDS, k=n))


def made_up(root: Path, n_queries: int) -> Workspace:
    """`root/corpus` and `root/results` as the stages before `compare` leave them, seeded."""
    rng, corpus = random.Random(7), root / "corpus"
    corpus.mkdir()
    (corpus / "experiment.toml").write_text(EXPERIMENT, encoding="utf-8")
    workspace = Workspace(corpus, root / "results", load_experiment(corpus / "experiment.toml"))
    agents = workspace.experiment.agent_names()
    asked = [(f"q{n:05d}", {"doc": "a.pdf", "section": f"s{n // PER_SECTION}"}) for n in range(n_queries)]
    queries = [Query(_id=name, text=f"{text(rng, 12)} {name}?", metadata=about) for name, about in asked]
    passages = [Passage(_id=f"p{n}", title=text(rng, 4), text=text(rng, 90)) for n in range(5 * n_queries)]
    write_records(workspace.queries, queries)
    write_records(workspace.passages, passages)
    relevance = []
    for place, query in enumerate(queries):
        pool = passages[5 * place : 5 * place + 5]
        relevance += [judged(rng, query.id, one.id, "relevance") for one in pool]
    write_records(workspace.relevance, relevance)
    qrels: dict[str, dict[str, int]] = {}
    for row in relevance:
        qrels.setdefault(row.query_id, {})[row.subject] = int(row.label or 0)
    write_qrels(workspace.qrels, qrels)
    for agent in agents:
        shown = {name: rng.sample(list(labels), 5) for name, labels in qrels.items()}
        write_run(
            workspace.rankings(agent), {q: [(p, -float(n)) for n, p in enumerate(r)] for q, r in shown.items()}, agent
        )
        rows = (
            Answer(query_id=q, agent=agent, answer=text(rng, 60) + " [1]", passages=tuple(r)) for q, r in shown.items()
        )
        write_records(workspace.answers(agent), list(rows))
    criteria = workspace.experiment.judge.criteria
    write_records(workspace.pointwise, [judged(rng, q.id, a, c) for q in queries for a in agents for c in criteria])
    write_records(workspace.games, list(games(rng, queries[::10], sorted(agents))))
    return workspace


def judged(rng: random.Random, query: str, subject: str, criterion: str) -> Judgment:
    """A label from 0 to 2 with a reason."""
    row = {"query_id": query, "subject": subject, "criterion": criterion, "judge": "file:judge"}
    return Judgment.model_validate(row | {"label": rng.choice((0, 1, 2)), "reason": text(rng, 12)})


def games(rng: random.Random, queries: list[Query], agents: list[str]) -> Iterator[Game]:
    """All pairs, in both orders."""
    for query in queries:
        for a, b in combinations(agents, 2):
            for first in ("a", "b"):
                row = {"query_id": query.id, "agent_a": a, "agent_b": b, "first": first, "judge": "file:judge"}
                yield Game.model_validate(row | {"winner": rng.choice(("a", "b", "tie")), "reason": text(rng, 12)})


def views(n_queries: int) -> dict[str, str]:
    """What is looked at, by what it is called."""
    return {
        "Decision, another measure": "/results/decision?measure=RR@5",
        "Decision, a slice": "/results/decision?length=short",
        "Queries": "/results/queries",
        "Queries, worst first": "/results/queries?sort=worth",
        "Queries, most disputed first": "/results/queries?sort=spread",
        "Queries, searched": "/results/queries?words=watchdog+interrupt",
        "Queries, the last rows": f"/results/queries?from={n_queries - 40}",
        "a query": f"/results/queries/q{n_queries // 2:05d}",
        "Test set": "/results/test-set",
        "Label": "/results/labels",
        "Run": "/results/progress",
    }


def seconds(connection: http.client.HTTPConnection, path: str) -> tuple[float, bytes]:
    """Until the last byte is there. Raises RuntimeError for another status than 200."""
    start = time.perf_counter()
    connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status}")
    return time.perf_counter() - start, body


def measured(workspace: Workspace, n_queries: int) -> tuple[float, dict[str, list[float]]]:
    """Seconds until there is an index, and of each view, asked for TIMES times; the first of "first page" is anew."""
    words = ["serve", str(workspace.corpus), "--results", str(workspace.results), "--port", "0"]
    times: dict[str, list[float]] = {}
    command = [sys.executable, "-m", "ragassay", *words]
    indexed = 0.0
    for again in range(3):  # the first makes the index; first pages are those of servers just started
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://\S+", server.stdout.readline())
                assert found
                connection = http.client.HTTPConnection(urlsplit(found[0]).netloc, timeout=600)
                while again == 0 and not (workspace.workbench / "index.sqlite").exists():
                    time.sleep(0.1)
                indexed = indexed or time.perf_counter() - start
                seconds(connection, "/static/workbench.css")
                if again:
                    times.setdefault("first page", []).append(seconds(connection, "/results/decision")[0])
                if again == 2:
                    for name, path in views(n_queries).items():
                        times[name] = [seconds(connection, path)[0] for _ in range(TIMES)]
            finally:
                server.terminate()
    return indexed, times


def main() -> None:
    """Print a row for each view, and whether the aims are met."""
    n_queries = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        workspace = made_up(Path(folder), n_queries)
        compare(workspace)
        n_agents = len(workspace.experiment.agent_names())
        indexed, times = measured(workspace, n_queries)
    print("| view | median, ms | worst, ms |\n|---|--:|--:|")
    for name, row in times.items():
        print(f"| {name} | {1000 * statistics.median(row):.0f} | {1000 * max(row):.0f} |")
    print(f"\n{n_queries:,} queries, {n_queries * n_agents:,} answers; index made in {indexed:.1f} s", end="")
    print(f"; load {os.getloadavg()[0]:.1f}")
    first, (further, slowest) = max(times.pop("first page")), max((max(row), name) for name, row in times.items())
    missed = why(
        (first > FIRST_S, f"the first page took {first:.2f} s"),
        (further > FURTHER_S, f"{slowest} took {1000 * further:.0f} ms"),
    )
    what = f"the workbench over {n_queries:,} queries: the first page, every further view"
    aim = f"under {FIRST_S:g} s, under {1000 * FURTHER_S:.0f} ms"
    note("workbench", what, aim, f"{first:.2f} s, at most {1000 * further:.0f} ms", missed=missed)


if __name__ == "__main__":
    main()
