"""A results folder with chances of every kind, for `compare`: agents of known strength, and what failed."""

from __future__ import annotations

import json
import random
from itertools import combinations

from support import results_folder

from ragassay.evaluate.compare import compare
from ragassay.evaluate.results import Results
from ragassay.records import Passage, Query, Section, Usage

CRITERIA = ("relevance", "accuracy", "completeness", "precision", "answer_correctness")
STRENGTH = {"bm25-rag-fusion": 4, "bm25-rag": 3, "knn-rag-fusion": 1, "knn-rag": 0}
PLACE = {"doc": "d.pdf", "first_page": 1, "last_page": 2, "start": 0, "end": 1000}
"""Where the questions are from; without the name of a section each stands alone."""

SECTION = Section(id="s0", doc="d.pdf", first_page=1, last_page=2, start=0, end=1000, text="…")
PASSAGES = [
    Passage(
        id=f"p{n}",
        text="…",
        metadata={"doc": "d.pdf", "first_page": n, "last_page": n, "start": 400 * n, "end": 400 * n + 450},
    )
    for n in range(8)
]


def experiment(retrievers=("bm25", "knn"), **tables):
    figures = {"bootstrap": 200, "tournaments": 40}
    tables = {"judge": {"model": "openai:j"}, "compare": figures} | tables
    return results_folder.experiment(retrieval={"retrievers": retrievers}, **tables)


class Made:
    """A results folder as the stages before leave it: `n` queries, agents of known strength, `bad` says what failed."""

    def __init__(self, root, n=12, bad=lambda kind, *key: False, setup=None):
        self.workspace = results_folder.results_folder(root, setup or experiment())
        self.agents = self.workspace.experiment.agent_names()
        self.bad = bad
        rng = random.Random(11)
        self.queries = [Query(id=f"q{i:02d}", text="?", metadata=PLACE) for i in range(n)]
        self.ranked = {a: {q.id: rng.sample([p.id for p in PASSAGES], 5) for q in self.queries} for a in self.agents}
        self.labels = {q.id: {p.id: rng.choice([0, 0, 1, 2]) for p in PASSAGES} for q in self.queries}
        self.grades = {
            (q.id, a, c): min(2, max(0, STRENGTH.get(a, 2) // 2 + rng.choice([-1, 0, 1])))
            for q in self.queries
            for a in self.agents
            for c in CRITERIA
        }
        self.winners = {
            (q.id, a, b, first): rng.choice(
                "ab" if rng.random() < 0.3 else "aab" if STRENGTH[a] > STRENGTH[b] else "abb"
            )
            for q in self.queries
            for a, b in combinations(sorted(self.agents), 2)
            for first in "ab"
        }
        self.write()

    def write(self):
        labels = {(q, p): label for q, row in self.labels.items() for p, label in row.items()}
        results_folder.write(
            self.workspace,
            queries=self.queries,
            passages=PASSAGES,
            sections=[SECTION],
            rankings=self.ranked,
            answers=[self.answer(agent, q.id) for agent in self.agents for q in self.queries],
            relevance=[self.judged(("relevance", q, p), q, p, "relevance", label) for (q, p), label in labels.items()],
            pointwise=[self.judged(("pointwise", *key), *key, grade) for key, grade in self.grades.items()],
            games=[self.game(*key, winner) for key, winner in self.winners.items()],
        )

    def answer(self, agent, query):
        if self.bad("answer", agent, query):
            return results_folder.answer(query, agent, None)
        place = int(query[1:]) + len(agent)
        more = {"latency_s": 0.5 * place, "usage": Usage(output_tokens=place)}
        return results_folder.answer(query, agent, "…", *self.ranked[agent][query], **more)

    def judged(self, key, query, subject, criterion, label):
        return results_folder.judgment(query, subject, criterion, None if self.bad(*key) else label)

    def game(self, query, a, b, first, winner):
        return results_folder.game(query, a, b, None if self.bad("game", query, a, b, first) else winner, first)

    def compare(self):
        self.outcome = compare(self.workspace)
        return Results.model_validate(json.loads(self.workspace.figures.read_text()))


def quarter(kind, *key):
    return random.Random(f"{kind}:{key}").random() < 0.25
