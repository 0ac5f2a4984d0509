"""The judge's audit and the pool, from the files: shares, leanings, lengths, bounds label by label, and the regression.

What rests on the regression's resamples, the exact p and the sentences are taken as they stand (`as_it_stands`): the
tests of the audit itself check those on made-up judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize
from support.recomputed.expected import Book, Near, Path, flat
from support.recomputed.files import Line, Run
from support.recomputed.games import Verdict, winner_of
from support.recomputed.ranking import Labels, Measure, ndcg, reciprocal_rank
from support.recomputed.ratings import POINTS

Rows = Sequence[tuple[str, float | None]]
"""Query and what is counted there; None is what failed."""


def audit(book: Book, run: Run, verdicts: Sequence[Verdict]) -> None:
    """The leaves of `audit` and `pool`."""
    _findings(book, run, verdicts)
    _length(book, run, verdicts)
    for number, row in enumerate(run.figures["usage"]):
        path: Path = ("audit", "failures", number)
        book.put((*path, "stage"), row["stage"])
        book.put((*path, "model"), row["model"])
        book.put((*path, "failed", "value"), row["n_failed"] / row["calls"] if row["calls"] else None)
        book.put((*path, "failed", "n"), row["calls"])
    _pool(book, run)
    _warnings(book, run)
    as_it_stands(book, run, "audit")
    as_it_stands(book, run, "pool")
    as_it_stands(book, run, "pool_people")


def _warnings(book: Book, run: Run) -> None:
    """What could have changed the winner stands among the notices, after the others."""
    warned = [row["warning"] for row in run.figures["audit"]["findings"] if row["warning"]]
    if warned:
        book.leaves.pop(("notices",), None)
    number = sum(path[0] == "notices" for path in book.leaves)
    for index, warning in enumerate(dict.fromkeys(warned)):
        book.put(("notices", number + index), warning)


def as_it_stands(book: Book, run: Run, part: str) -> None:
    """What is not expected yet of a part of the file is expected to be what it is."""
    for path, given in flat(run.figures[part], (part,)):
        if path not in book.leaves:
            book.leaves[path] = given


def _findings(book: Book, run: Run, verdicts: Sequence[Verdict]) -> None:
    games: dict[tuple[str, tuple[str, ...]], list[Line]] = {}
    for game in run.games:
        games.setdefault((game["query_id"], tuple(sorted((game["agent_a"], game["agent_b"])))), []).append(game)
    flipped = [(v, _towards_first(games[v.query, v.agents])) for v in verdicts if v.flipped]
    both_failed = sum(v.flipped is None for v in verdicts)
    lengths = _lengths(run)
    longer: list[tuple[str, float | None]] = []
    for v in verdicts:
        if not all((v.query, agent) in lengths for agent in v.agents):
            continue
        gap = lengths[v.query, v.agents[0]] - lengths[v.query, v.agents[1]]
        if v.winner is None:
            longer.append((v.query, None))
        elif v.winner and gap:
            longer.append((v.query, float((gap > 0) == (v.winner == v.agents[0]))))
    rows: dict[str, Rows] = {
        "flip_rate": [(v.query, v.flipped) for v in verdicts],
        "first_favoured": [*((v.query, float(first)) for v, first in flipped), *[("", None)] * both_failed],
        "longer_wins": longer,
        "failed_games": [(v.query, float(v.winner is None)) for v in verdicts],
    }
    for number, finding in enumerate(run.figures["audit"]["findings"]):
        if finding["key"] in rows:
            share(book, ("audit", "findings", number, "figure"), rows[finding["key"]])


def _towards_first(rows: Sequence[Line]) -> bool:
    """Of a pair whose winner flipped: whether the answer shown first won more often than it lost."""
    shown = {"a": "agent_a", "b": "agent_b"}
    decided = [winner_of(row) == row[shown[row["first"]]] for row in rows if winner_of(row)]
    return sum(decided) > len(decided) / 2


def share(book: Book, path: Path, rows: Rows) -> None:
    """The share of what holds, by query."""
    sums, ones = Counter[str](), Counter[str]()
    for query, value in rows:
        if value is not None:
            sums[query] += value  # type: ignore[assignment]
            ones[query] += 1
    failed = sum(value is None for _, value in rows)
    floats = [{query: float(count) for query, count in counter.items()} for counter in (sums, ones)]
    book.share(path, floats[0], floats[1], len(rows) - failed, failed)


def _lengths(run: Run) -> dict[tuple[str, str], int]:
    return {
        (query, agent): len(row["answer"])
        for agent in run.agents
        for query, row in run.answers[agent].items()
        if row["answer"] is not None
    }


def _length(book: Book, run: Run, verdicts: Sequence[Verdict]) -> None:
    lengths, agents = _lengths(run), run.agents
    for agent in agents:
        values = {q: lengths.get((q, agent)) for q in run.query_ids}
        known = {q: float(value) for q, value in values.items() if value is not None}
        ones = dict.fromkeys(known, 1.0)
        path: Path = ("audit", "length", "mean_length", agent)
        book.share(path, known, ones, len(known), len(values) - len(known), limits=None)
    held = [v for v in verdicts if v.winner is not None and all((v.query, a) in lengths for a in v.agents)]
    if not any(figure["value"] is not None for figure in run.figures["audit"]["length"]["plain"].values()):
        return
    at = np.array([[agents.index(agent) for agent in v.agents] for v in held])
    score = np.array([0.5 if v.winner == "" else float(v.winner == v.agents[0]) for v in held])
    gaps = np.array([lengths[v.query, v.agents[0]] - lengths[v.query, v.agents[1]] for v in held], dtype=float)
    for name, term in (("plain", np.zeros(len(gaps))), ("controlled", np.tanh(gaps / gaps.std()))):
        for agent, rating in zip(agents, _ratings(at, score, term, len(agents)), strict=True):
            near = Near(float(rating), 0.05, "another optimiser")
            book.put(("audit", "length", name, agent, "value"), near)


def _ratings(at: np.ndarray, score: np.ndarray, term: np.ndarray, n: int) -> np.ndarray:
    def loss(terms: np.ndarray) -> tuple[float, np.ndarray]:
        z = terms[at[:, 0]] - terms[at[:, 1]] + terms[n] * term
        off = 1 / (1 + np.exp(-z)) - score
        slope = np.zeros(n + 1)
        np.add.at(slope, at[:, 0], off)
        np.add.at(slope, at[:, 1], -off)
        slope[n] = (off * term).sum()
        return float(np.sum(np.logaddexp(0, z) - score * z)), slope

    found = minimize(loss, np.zeros(n + 1), jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 2000}).x[:n]
    ratings: np.ndarray = 500 + POINTS * (found - found.mean())
    return ratings


def _pool(book: Book, run: Run) -> None:
    k = run.k
    measures = {f"RR(rel=2)@{k}": reciprocal_rank(2), f"RR(rel=1)@{k}": reciprocal_rank(1), f"nDCG@{k}": ndcg(k)}
    brought = Counter(
        (query, passage) for rows in run.rankings.values() for query, row in rows.items() for passage in row or ()
    )
    for agent in run.agents:
        ranked, path = run.rankings[agent], ("pool", agent)
        shown = {q: row[:k] for q, row in ranked.items() if row is not None}
        labelled = {q: float(sum(p in run.qrels.get(q, {}) for p in row)) for q, row in shown.items()}
        counts = {q: float(len(row)) for q, row in shown.items()}
        n, failed = int(sum(counts.values())), len(ranked) - len(shown)
        book.share((*path, "judged"), labelled, counts, n, failed)
        alone = {q: {p for p in row or () if brought[q, p] == 1} for q, row in ranked.items()}
        book.put((*path, "n_unique"), sum(p in alone[q] for q, row in shown.items() for p in row))
        for part, lost in (("bounds", {}), ("left_out", alone)):
            for name, measure in measures.items():
                values = {
                    q: None if row is None else _values(run, q, row[:k], lost, measure) for q, row in ranked.items()
                }
                ends: dict[str, Any] = {"low": min, "high": max}
                for end, pick in ends.items():
                    book.mean((*path, part, name, end), {q: v and pick(v) for q, v in values.items()}, (0.0, 1.0))
                if part == "left_out":
                    book.mean((*path, part, name, "value"), {q: v and v[0] for q, v in values.items()}, (0.0, 1.0))


def _values(run: Run, query: str, row: Sequence[str], lost: Mapping[str, set[str]], measure: Measure) -> list[float]:
    """The measure for every labelling of what has no label; the first takes it as not relevant."""
    known = {p: label for p, label in run.qrels.get(query, {}).items() if p not in lost.get(query, set())}
    pool = {p for agent in run.agents for p in run.answers[agent][query]["passages"]} | set(row)
    missing = sorted(pool - set(known))
    choices = [(0, 1, 2) if passage in row else (0, 2) for passage in missing]
    every: list[Labels] = [{**known, **dict(zip(missing, given, strict=True))} for given in product(*choices)]
    return [measure(row, labels) for labels in every]
