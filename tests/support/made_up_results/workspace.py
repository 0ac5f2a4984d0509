"""A results folder as a run leaves it, made up: six agents, a few failures, and hostile texts.

Everything is written through the record models.
"""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from pathlib import Path

from support.made_up_results.figures import make_results
from support.made_up_results.texts import (
    AGENTS,
    ANSWER,
    CRITERIA,
    DOC,
    HOSTILE,
    JUDGE,
    PASSAGE,
    QUESTIONS,
    REASONS,
    REWRITES,
    STRENGTH,
    VOCABULARY,
    WRITERS,
)
from support.results_folder import answer, experiment, game, judgment, results_folder, write_values_of

from ragassay.experiment.workspace import Workspace
from ragassay.files import read_json, write_json
from ragassay.records import Answer, Game, Judgment, Passage, Query, Record, Usage

PASSAGE_WORDS, ANSWER_WORDS, REASON_WORDS = 150, 120, 60
"""How long texts are where they are to be as long as real ones."""


def make_workspace(
    root: Path, n_queries: int = 12, *, hostile: bool = True, failures: bool = True, long: bool = False
) -> Workspace:
    """Write `root/corpus` and `root/results` and return where they are: a copy of what was made for the first test.

    long: texts as long as real ones, no two of them alike, and four passages a query instead of 60 in all.
    """
    made = _made(n_queries, hostile, failures, long)
    shutil.copytree(made.results.parent, root, dirs_exist_ok=True)
    return Workspace(root / made.corpus.name, root / made.results.name, made.experiment)


@cache
def _made(n_queries: int, hostile: bool, failures: bool, long: bool) -> Workspace:
    root = Path(tempfile.mkdtemp(prefix="made-up-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    rng = random.Random(f"report:{n_queries}")
    quota = {WRITERS[0]: 8, WRITERS[1]: 6}
    judge, questions = {"model": JUDGE, "criteria": CRITERIA}, {"source": "synthetic", "quota": quota}
    settings = experiment(WRITERS[0], judge=judge, questions=questions)
    n_passages = 4 * n_queries if long else 60
    queries, passages = _queries(n_queries, hostile), _passages(n_passages, hostile)
    rankings = {a: {q.id: _ranking(i, n_passages, rng) for i, q in enumerate(queries)} for a in AGENTS}
    answers = {a: [_answer(a, i, q, rankings[a][q.id], failures) for i, q in enumerate(queries)] for a in AGENTS}
    relevance = _relevance(queries, rankings, failures, hostile, rng)
    pointwise, games = _pointwise(queries, failures, hostile, rng), _games(queries, failures, hostile, rng)
    if long:
        _lengthen(random.Random("long"), passages, *answers.values(), relevance, pointwise, games)
    workspace = results_folder(
        root,
        settings,
        queries=queries,
        passages=passages,
        rankings=rankings,
        answers=[row for rows in answers.values() for row in rows],
        relevance=relevance,
        pointwise=pointwise,
        games=games,
        rewrites=[_rewrite(i, q, failures) for i, q in enumerate(queries)],
        **({"unreadable": [_Unreadable(doc="scan <b>3</b>.pdf", error="has no text")]} if failures else {}),
    )
    results = make_results(queries, answers, relevance, pointwise, games, failures, hostile)
    write_json(workspace.figures, results.dump())
    write_values_of(workspace)
    return workspace


def write_values_again(run: Path) -> None:
    """`values.jsonl` of a run of `make_workspace`, or of a copy of one, whose records were changed."""
    write_values_of(Workspace(run, run, experiment(WRITERS[0], judge={"criteria": CRITERIA})))


def stop_early(run: Path, queries: int, planned: int) -> None:
    """Make it one that stopped with so many of its planned queries, at the first of two looks."""
    figures = read_json(run / "results.json")
    agents, rest = figures["agents"], {"lead": None, "bound": 0.0, "decided": True, "safe": True, "goes_on": False}
    look = {"plan": "p", "look": 1, "looks": 2, "queries": queries, "planned": planned, "leader": agents[0], **rest}
    look |= {"told": agents[1:], "untold": []}
    write_json(run / "results.json", figures | {"stopped_early": True, "looks": [look]})


def _lengthen(rng: random.Random, passages: list[Passage], *rows: list[Answer] | list[Judgment] | list[Game]) -> None:
    """Gives every text its own words, as many as real ones have; what failed stays as it is."""

    def words(n: int) -> str:
        return " ".join(rng.choices(VOCABULARY, k=n)).capitalize() + "."

    passages[:] = [one.model_copy(update={"text": words(PASSAGE_WORDS)}) for one in passages]
    for records in rows:
        for at, row in enumerate(records):
            name, n = ("answer", ANSWER_WORDS) if isinstance(row, Answer) else ("reason", REASON_WORDS)
            if getattr(row, name) is not None:
                records[at] = row.model_copy(update={name: words(n)})  # type: ignore[call-overload]


class _Rewrite(Record):
    query_id: str
    queries: tuple[str, ...]
    usage: Usage
    latency_s: float | None
    error: str | None


class _Unreadable(Record):
    doc: str
    error: str


def _queries(n: int, hostile: bool) -> list[Query]:
    rows = []
    for i in range(n):
        text = QUESTIONS[i % len(QUESTIONS)] + (f" {HOSTILE[i]}" if hostile and i in {0, 2, 4} else "")
        text += f" ({i})" if i >= len(QUESTIONS) else ""
        where = {"doc": DOC, "first_page": 20 + 7 * i, "last_page": 24 + 7 * i}
        rows.append(
            Query(_id=f"q{i + 1:03}", text=text, metadata={"model": WRITERS[i % 2], "section": f"s{i}"} | where)
        )
    return rows


def _passages(n: int, hostile: bool) -> list[Passage]:
    rows = []
    for i in range(n):
        extra = " " + HOSTILE[i % len(HOSTILE)] if hostile and i < 12 else ""
        place = {
            "doc": DOC,
            "first_page": i + 10,
            "last_page": i + 10 + i % 2,
            "start": 0,
            "end": 9,
        }
        rows.append(
            Passage(
                _id=f"p{i}", title=f"{i // 7 + 3}.{i % 7} Data in program space", text=PASSAGE + extra, metadata=place
            )
        )
    return rows


def _ranking(query: int, n_passages: int, rng: random.Random) -> list[str]:
    near = [f"p{(query * 4 + j) % n_passages}" for j in range(9)]
    rng.shuffle(near)
    return near[:8]


def _answer(agent: str, i: int, query: Query, ranking: Sequence[str], failures: bool) -> Answer:
    usage = Usage(input_tokens=1800, output_tokens=160, cost_usd=0.0061)
    if failures and (agent, i) in {("knn-rag", 3), ("bm25-rag", 5)}:
        return answer(query.id, agent, None, error="the provider answered 503 five times <b>")
    if failures and agent == "hybrid-rag" and i == 1:
        return answer(query.id, agent, HOSTILE[0] + HOSTILE[2] + HOSTILE[3], *ranking[:5])
    return answer(query.id, agent, ANSWER, *ranking[:5], usage=usage, latency_s=2.4)


def _rewrite(i: int, query: Query, failures: bool) -> _Rewrite:
    failed = failures and i == 6
    error = "the reply did not fit the schema" if failed else None
    return _Rewrite(query_id=query.id, queries=() if failed else REWRITES, usage=Usage(), latency_s=None, error=error)


def _label(score: float, rng: random.Random) -> int:
    return min(max(round(rng.gauss(1.1 + 0.45 * score, 0.6)), 0), 2)


def _reason(label: int, hostile: bool, rng: random.Random) -> str:
    return REASONS[2 - label] + (" " + rng.choice(HOSTILE) if hostile and rng.random() < 0.03 else "")


def _relevance(
    queries: Sequence[Query],
    rankings: dict[str, dict[str, list[str]]],
    failures: bool,
    hostile: bool,
    rng: random.Random,
) -> list[Judgment]:
    rows = []
    for i, query in enumerate(queries):
        pool = sorted({pid for agent in AGENTS for pid in rankings[agent][query.id][:5]})
        for j, pid in enumerate(pool):
            failed, label = failures and (i, j) in {(2, 1), (7, 3)}, _label(-0.4, rng)
            rows.append(_judgment(query.id, pid, "relevance", None if failed else label, _reason(label, hostile, rng)))
    return rows


def _pointwise(queries: Sequence[Query], failures: bool, hostile: bool, rng: random.Random) -> list[Judgment]:
    rows = []
    for i, query in enumerate(queries):
        for agent, criterion in ((a, c) for a in AGENTS for c in CRITERIA):
            failed = failures and ((agent, i) in {("knn-rag", 3), ("bm25-rag", 5)} or rng.random() < 0.02)
            label = _label(STRENGTH[agent], rng)
            rows.append(_judgment(query.id, agent, criterion, None if failed else label, _reason(label, hostile, rng)))
    return rows


def _judgment(query_id: str, subject: str, criterion: str, label: int | None, reason: str) -> Judgment:
    said = {"error": "no reply <i>after</i> 5 tries"} if label is None else {"reason": reason}
    return judgment(query_id, subject, criterion, label, judge=JUDGE, **said)


def _games(queries: Sequence[Query], failures: bool, hostile: bool, rng: random.Random) -> list[Game]:
    rows = []
    for query in queries:
        for a, b in combinations(AGENTS, 2):
            gap = STRENGTH[a] - STRENGTH[b] + rng.gauss(0, 1)
            for first in ("a", "b"):
                lean = gap + (0.3 if first == "a" else -0.3)
                winner = "a" if lean > 0.15 else "b" if lean < -0.15 else "tie"
                failed = failures and rng.random() < 0.02
                reason = None if failed else _reason(2, hostile, rng)
                rows.append(game(query.id, a, b, None if failed else winner, first, judge=JUDGE, reason=reason))
    return rows
