"""The figures of the made-up run: simple means of its records, and ratings out of thin air; not `compare`'s."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import permutations
from math import sqrt

from support.made_up_results.texts import AGENTS, CRITERIA, DOC, HOSTILE, JUDGE, NOTE, SETTINGS, STRENGTH, TOLD, WRITERS

from ragassay.evaluate.results import Choice, Failures, PairedTest, Results
from ragassay.records import Answer, Figure, Game, Judgment, LedgerRow, Query, StageUsage


def _mean(values: Iterable[float | None], low: float = 0.0, high: float = 1.0) -> Figure:
    rows = list(values)
    known = [value for value in rows if value is not None]
    if not known:
        return Figure(value=None, n=0, n_failed=len(rows))
    mean = sum(known) / len(known)
    half = 1.96 * sqrt(sum((v - mean) ** 2 for v in known) / len(known) / len(known))
    ends = {"ci_low": round(max(mean - half, low), 6), "ci_high": round(min(mean + half, high), 6)}
    return Figure(value=round(mean, 6), n=len(known), n_failed=len(rows) - len(known), **ends)


def _verdicts(games: Sequence[Game]) -> dict[tuple[str, str], list[str | None]]:
    """(agent a, agent b) to the winner of each query's game: both orders must agree."""
    pairs: dict[tuple[str, str], list[str | None]] = {}
    for one, other in zip(games[::2], games[1::2], strict=True):
        failed = one.winner is None or other.winner is None
        verdict = None if failed else one.winner if one.winner == other.winner else "tie"
        pairs.setdefault((one.agent_a, one.agent_b), []).append(verdict)
    return pairs


def _share(verdicts: Sequence[str | None], side: str) -> Figure:
    return _mean(None if v is None else float(v == side) for v in verdicts)


def _wins(pairs: dict[tuple[str, str], list[str | None]]) -> dict[str, dict[str, Figure]]:
    table: dict[str, dict[str, Figure]] = {agent: {} for agent in AGENTS}
    for a, b in permutations(AGENTS, 2):
        table[a][b] = _share(pairs[a, b], "a") if (a, b) in pairs else _share(pairs[b, a], "b")
    return table


def _win_rate(pairs: dict[tuple[str, str], list[str | None]], agent: str) -> Figure:
    own = [("a" if agent == a else "b", vs) for (a, b), vs in pairs.items() if agent in (a, b)]
    return _mean(None if v is None else float(v == side) for side, vs in own for v in vs)


def _rating(agent: str, n: int, spread: float) -> Figure:
    value = 500 + 62 * (STRENGTH[agent] - 0.4) + spread
    return Figure(value=round(value, 3), n=n * 5, n_failed=2, ci_low=round(value - 31, 3), ci_high=round(value + 34, 3))


def _labels(rows: Iterable[Judgment]) -> dict[str, int]:
    counts = {"0": 0, "1": 0, "2": 0, "failed": 0}
    for row in rows:
        counts["failed" if row.label is None else f"{row.label:g}"] += 1
    return counts


def _tests() -> tuple[PairedTest, ...]:
    rows = []
    for i, retriever in enumerate(("bm25", "knn", "hybrid")):
        for j, measure in enumerate(("RR(rel=2)@5", *CRITERIA)):
            gap = -0.02 * (i + 1) * (j - 1)
            difference = Figure(value=gap, n=12, n_failed=i, ci_low=gap - 0.11, ci_high=gap + 0.12)
            same = (i, j) == (1, 0)
            t, p = (None, None) if same else (gap * 40, 0.0004 if (i, j) == (2, 4) else 0.21 + 0.03 * j)
            names = {"agent_a": f"{retriever}-rag", "agent_b": f"{retriever}-rag-fusion"}
            rows.append(PairedTest(measure=measure, difference=difference, t=t, df=11 - i, p=p, **names))
    return tuple(rows)


def _usage() -> tuple[StageUsage, ...]:
    def row(stage: str, model: str, calls: int, tokens: int | None, failed: int = 0) -> StageUsage:
        cost = None if tokens is None else tokens * 4.1e-6
        out = None if tokens is None else tokens // 9
        unmeasured = calls if tokens is None else 0
        return StageUsage(
            stage=stage,
            model=model,
            calls=calls,
            n_failed=failed,
            n_unmeasured=unmeasured,
            input_tokens=tokens,
            output_tokens=out,
            cost_usd=cost,
        )

    return (
        row("questions", WRITERS[0], 24, 51_204),
        row("questions", WRITERS[1], 24, 53_119, 1),
        row("answer", WRITERS[0], 84, 160_877, 2),
        row("judge", JUDGE, 756, 1_402_310, 9),
        row("judge", "file:colleague", 12, None),
    )


def _ledger(hostile: bool) -> tuple[LedgerRow, ...]:
    """58, then 56 of 60 written; the rest failed or fell short."""
    rows = []
    for i, model in enumerate(WRITERS):
        counts = {
            "asked": 60,
            "written": 58 - 2 * i,
            "kept": 41,
            "rejected": 17 - 2 * i,
            "failed": 2 + i,
            "unwritten": i,
        }
        counts |= {"failed": 2 + i, "unwritten": i}
        for doc in (DOC, HOSTILE[0] if hostile else "NEORV32.pdf"):
            rows.append(LedgerRow.model_validate({"model": model, "doc": doc, "sampled": 3} | counts))
    return tuple(rows)


def _lead(place: int, n: int) -> Figure:
    """The leader's points less those of the agent at this place."""
    value = round(0.05 * place, 3)
    return Figure(value=value, n=n, ci_low=round(value - 0.06, 3), ci_high=round(value + 0.06, 3))


def make_results(
    queries: Sequence[Query],
    answers: dict[str, list[Answer]],
    relevance: Sequence[Judgment],
    pointwise: Sequence[Judgment],
    games: Sequence[Game],
    failures: bool,
    hostile: bool,
) -> Results:
    rng, n, pairs = random.Random("figures"), len(queries), _verdicts(games)

    def measure(agent: str, base: float, failed: int) -> Figure:
        value = base + 0.12 * STRENGTH[agent] + rng.gauss(0, 0.02)
        return Figure(
            value=round(value, 6),
            n=n - failed,
            n_failed=failed,
            ci_low=round(value - 0.11, 6),
            ci_high=round(value + 0.1, 6),
        )

    bases = {"RR(rel=2)@5": (0.55, 1), "RR@5": (0.7, 0), "nDCG@5": (0.6, 1), "R(section)@5": (0.7, 0)}
    retrieval = {a: {key: measure(a, *base) for key, base in bases.items()} for a in AGENTS}
    people = {a: {"RR@5": measure(a, 0.6, 0), "nDCG@5": measure(a, 0.5, 0)} for a in AGENTS}
    people["knn-rag"]["nDCG@5"] = Figure(value=None, n=0, n_failed=n)
    by = {(a, c): [j for j in pointwise if (j.subject, j.criterion) == (a, c)] for a in AGENTS for c in CRITERIA}
    verdicts = [(one, other) for one, other in zip(games[::2], games[1::2], strict=True)]
    strengths = {a: _rating(a, n, 4.0) for a in AGENTS}
    if failures:
        strengths["knn-rag"] = Figure(value=None, n=0, n_failed=n * 5)
    return Results(
        corpus="avr-libc",
        notices=TOLD if failures else (),
        settings=SETTINGS,
        agents=AGENTS,
        n_queries=n,
        verdict=Choice(
            leader=AGENTS[0],
            told=AGENTS[2:],
            untold=AGENTS[1:2],
            possible_best=AGENTS[:2],
            differences={a: _lead(at, n) for at, a in enumerate(AGENTS[1:], 1)},
            expected_loss=0.012,
            sentence=f"{AGENTS[0]} leads, but {n} queries do not settle it: {AGENTS[1]} came first in 24% of the "
            "resampled test sets.",
            p_best=dict(zip(AGENTS, (0.702, 0.241, 0.049, 0.008, 0.0, 0.0), strict=True)),
        ),
        retrieval=retrieval,
        retrieval_people=people,
        relevance_labels=_labels(relevance),
        n_relevance_failed=sum(j.label is None for j in relevance),
        pointwise={a: {c: _mean((j.label for j in by[a, c]), 0, 2) for c in CRITERIA} for a in AGENTS},
        pointwise_labels={a: {c: _labels(by[a, c]) for c in CRITERIA} for a in AGENTS},
        answers={
            a: {
                "answered": Figure(value=sum(r.answer is not None for r in answers[a]) / n, n=n),
                "latency_s": _mean((r.latency_s for r in answers[a]), 0, 99),
                "output_tokens": _mean((r.usage.output_tokens for r in answers[a]), 0, 9999),
                "cost_usd": _mean((r.usage.cost_usd for r in answers[a]), 0, 99),
            }
            for a in AGENTS
        },
        points={a: measure(a, 0.2, 0) for a in AGENTS},
        wins=_wins(pairs),
        win_rate={a: _win_rate(pairs, a) for a in AGENTS},
        flip_rate=_mean(None if None in (x.winner, y.winner) else float(x.winner != y.winner) for x, y in verdicts),
        first_shown_wins=_mean(float(g.winner == g.first) if g.winner else None for g in games if g.winner != "tie"),
        elo={a: _rating(a, n, 0.0) for a in AGENTS},
        bradley_terry=strengths,
        bradley_terry_note=NOTE if failures else None,
        tests=_tests(),
        usage=_usage(),
        ledger=_ledger(hostile),
        failures=Failures(
            answers={a: sum(r.answer is None for r in answers[a]) for a in AGENTS},
            retrieval=dict.fromkeys(AGENTS, 0),
            judge_passages=sum(j.label is None for j in relevance),
            judge_answers=0,
            judge_games=0,
        ),
    )
