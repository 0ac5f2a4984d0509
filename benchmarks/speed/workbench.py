"""How soon the workbench answers over a large run: made-up results of six agents, looked at by HTTP.

    python -m benchmarks.speed.workbench [QUERIES]       default: 10000

The results are written through the record models: five passages and two labels an answer, fifteen games on every
tenth query, each in both orders; a pool half again as large as the test set, half as many rejected questions, a sheet
with two hundred labels, and the manual of `corpora/avr-libc`, whose pages the queries are about. A second run of the
same queries has other answers and labels; `compare` makes each run's results.json. `ragassay serve` is started on both;
"index" is from its start until the first run's file is there. Each view is asked for as a browser asks (gzip, one
connection); the first time of each counts too, the worst of all stands beside the median. "A page, for the first time"
is another page each time, of which the next are drawn ahead as far as there is time.
"""

from __future__ import annotations

import http.client
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import combinations, count
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from benchmarks.speed.aims import note, why
from ragassay.evaluate.compare import compare
from ragassay.evaluate.human_labels.sheet import Said, draw_into, read_items, say
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records, write_qrels, write_records, write_run
from ragassay.records import Answer, Game, Judgment, Passage, Query, Rejected
from ragassay.synth.ingest import ingest

FIRST_S, FURTHER_S, TIMES, PER_SECTION = 1.0, 0.3, 7, 5
MANUAL, PAGES = Path("corpora/avr-libc/avr-libc-user-manual.pdf"), 340
"""A document, and how many of its pages are asked about."""
LABELLED, PERSON = 200, "Ann"
KINDS = ("fact", "several", "reason")
REASONS = ("near-duplicate of q00001", "its text does not answer it", "too short: fewer than 3 words")
EXPERIMENT = """[ingest]
reader = "pdfium"
[questions]
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
    shutil.copy(MANUAL, corpus)
    workspace = Workspace(corpus, root / "results", load_experiment(corpus / "experiment.toml"))
    ingest(workspace)
    there = read_records(workspace.passages, Passage)
    queries = [asked(rng, f"q{n:05d}", n) for n in range(n_queries)]
    passages = [Passage(_id=f"p{n}", title=text(rng, 4), text=text(rng, 90)) for n in range(5 * n_queries)]
    write_records(workspace.queries, queries)
    write_records(workspace.passages, [*there, *passages])
    write_records(workspace.pool, [*queries, *(asked(rng, f"more{n:05d}", n) for n in range(n_queries // 2))])
    gone = [asked(rng, f"gone{n:05d}", n) for n in range(n_queries // 2)]
    write_records(
        workspace.rejected, [Rejected(text=q.text, metadata=q.metadata, reason=rng.choice(REASONS)) for q in gone]
    )
    answered(rng, workspace, queries, [one.id for one in passages])
    return workspace


def asked(rng: random.Random, name: str, n: int) -> Query:
    """A question about one of the manual's pages."""
    about = {
        "doc": MANUAL.name,
        "section": f"s{n // PER_SECTION}",
        "model": f"openai:writer-{n % 2}",
        "kind": KINDS[n % 3],
    }
    page = n % PAGES + 1
    return Query(_id=name, text=f"{text(rng, 12)} {name}?", metadata=about | {"first_page": page, "last_page": page})


def answered(rng: random.Random, workspace: Workspace, queries: list[Query], passages: list[str]) -> None:
    """What the stages from retrieval to the judge write; five passages a query are judged."""
    agents = workspace.experiment.agent_names()
    relevance = [
        judged(rng, query.id, one, "relevance")
        for place, query in enumerate(queries)
        for one in passages[5 * place : 5 * place + 5]
    ]
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


def second_run(first: Workspace) -> Workspace:
    """The same questions and passages, answered and judged otherwise."""
    other = Workspace(first.corpus, first.results.with_name("other"), first.experiment)
    other.results.mkdir()
    for path in (first.queries, first.passages, first.pages):
        shutil.copy(path, other.results / path.relative_to(first.results))
    passages = [one.id for one in read_records(first.passages, Passage) if one.id.startswith("p")]
    answered(random.Random(8), other, read_records(first.queries, Query), passages)
    return other


def labelled(workspace: Workspace) -> str:
    """A sheet, of which a person has labelled the first; its id."""
    path, _ = draw_into(workspace, n=2 * LABELLED, seed=7, kinds=("answers",))
    sheet = path.stem.removeprefix("label-sheet-")
    items = read_items(workspace.label_samples / f"{sheet}.jsonl")
    for item in items[:LABELLED]:
        say(workspace, sheet, items, Said(item=item.item, who=PERSON, label="1", at="2026-01-01T00:00:00+00:00"))
    return sheet


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


def views(n_queries: int, sheet: str, passages: list[Passage]) -> dict[str, str]:
    """What is looked at, by what it is called; `{page}` is another page each time."""
    one = passages[40]
    on = {"passage": one.id, "query": "q00000"}
    return {
        "Decision, another measure": "/results/decision?measure=RR@5",
        "Decision, a slice": "/results/decision?length=short",
        "Queries": "/results/queries",
        "Queries, worst first": "/results/queries?sort=worth",
        "Queries, most disputed first": "/results/queries?sort=spread",
        "Queries, searched": "/results/queries?words=watchdog+interrupt",
        "Queries, the last rows": f"/results/queries?from={n_queries - 40}",
        "a query": f"/results/queries/q{n_queries // 2:05d}",
        "a page with a passage": f"/results/page/{MANUAL.name}/{one.metadata['first_page']}?{urlencode(on)}",
        "its picture": f"/results/picture/{one.metadata['first_page']}/{MANUAL.name}",
        "a page, for the first time": f"/results/page/{MANUAL.name}/{{page}}",
        "Compare": "/results/compare",
        "Compare, another measure and agent": "/results/compare?measure=RR@5&agent=knn-rag",
        "Compare, what was handed over": "/results/compare/handed?with=other&agent=knn-rag",
        "Test set": "/results/test-set",
        "Test set, rejected and searched": f"/results/test-set?which=rejected&words={quote(REASONS[0])}",
        "Test set, a document's": f"/results/test-set?doc={MANUAL.name}",
        "Label": "/results/labels",
        "an item to label": f"/results/labels/{sheet}",
        "Run": "/results/progress",
    }


def seconds(connection: http.client.HTTPConnection, path: str) -> tuple[float, bytes]:
    """Until the last byte is there. Raises RuntimeError for another status than 200."""
    start = time.perf_counter()
    connection.request("GET", path, headers={"Accept-Encoding": "gzip", "Cookie": f"ragassay-person={PERSON}"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status}")
    return time.perf_counter() - start, body


def measured(runs: list[Workspace], looked_at: dict[str, str]) -> tuple[float, dict[str, list[float]]]:
    """Seconds until there is an index, and of each view, asked for TIMES times; the first of "first page" is anew."""
    corpora, results = [str(run.corpus) for run in runs], [str(run.results) for run in runs]
    words = ["serve", *corpora, *(word for one in results for word in ("--results", one)), "--port", "0"]
    index, other = (run.workbench / "index.sqlite" for run in runs)
    numbers = count(100)
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
                while not index.exists():
                    time.sleep(0.1)
                indexed = indexed or time.perf_counter() - start
                while not other.exists():
                    time.sleep(0.1)
                seconds(connection, "/static/workbench.css")
                if again:
                    times.setdefault("first page", []).append(seconds(connection, "/results/decision")[0])
                if again == 2:
                    for name, path in looked_at.items():
                        asked = (path.replace("{page}", str(next(numbers))) for _ in range(TIMES))
                        times[name] = [seconds(connection, one)[0] for one in asked]
            finally:
                server.terminate()
    return indexed, times


def main() -> None:
    """Print a row for each view, and whether the aims are met."""
    n_queries = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        workspace = made_up(Path(folder), n_queries)
        runs = [workspace, second_run(workspace)]
        for run in runs:
            compare(run)
        n_agents, sheet = len(workspace.experiment.agent_names()), labelled(workspace)
        passages = [one for one in read_records(workspace.passages, Passage) if one.metadata.get("doc")]
        indexed, times = measured(runs, views(n_queries, sheet, passages))
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
    note(what, aim, f"{first:.2f} s, at most {1000 * further:.0f} ms", missed=missed)


if __name__ == "__main__":
    main()
