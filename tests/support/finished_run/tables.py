"""What a results.json must hold: every table with all its agents and measures, and figures that answer for all owed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any

from support.finished_run.run import Line, Run

from ragassay.evaluate.results import Results

BY_AGENT = ("retrieval", "pointwise", "pointwise_labels", "boxes", "answers", "points", "wins", "win_rate", "elo")
NOT_EVALUATED = ("retrieval_people", "evaluations", "evaluation_scales", "evaluators", "pass_or_fail", "pool_people")


def check_tables(run: Run) -> None:
    """Raises AssertionError for a leaf that is not known or not there. For a run without people's labels."""
    figures, agents = run.figures, run.figures["agents"]
    assert Results.model_validate(figures).dump() == figures, "a field is not known, or not there"
    assert sorted(agents) == sorted(run.agents)
    for name in (*BY_AGENT, "bradley_terry", "pool"):
        assert list(figures[name]) == agents, name
    assert not any(figures[name] for name in NOT_EVALUATED)
    assert set(figures["audit"]["length"]["mean_length"]) == set(agents)
    assert list(figures["verdict"]["p_best"]) == (agents if figures["verdict"]["leader"] else [])
    ranked = [f"RR(rel=2)@{run.k}", f"RR(rel=1)@{run.k}", f"nDCG@{run.k}"]
    measures = [*ranked, f"R(section)@{run.k}"]
    for agent in agents:
        assert list(figures["retrieval"][agent]) == measures
        assert list(figures["pointwise"][agent]) == list(figures["pointwise_labels"][agent]) == run.criteria
        assert set(figures["boxes"][agent]) == {*measures, *run.criteria}
        assert set(figures["answers"][agent]) == {"answered", "latency_s", "output_tokens", "cost_usd"}
        assert set(figures["wins"][agent]) == {*agents} - {agent}
        assert set(figures["pool"][agent]["bounds"]) == set(figures["pool"][agent]["left_out"]) == set(ranked)
    compared = [*ranked[:2], *run.criteria, "points"]
    tested = [(f"{name}-rag", f"{name}-rag-fusion") for name in run.retrievers]
    assert _named(figures["tests"]) == [(measure, *pair) for pair in tested for measure in compared]
    assert _named(figures["comparisons"]) == [
        (measure, *pair) for measure in compared for pair in combinations(agents, 2)
    ]
    assert list(figures["refusals"]) == (agents if "answer_correctness" in run.criteria else [])
    assert figures["ledger"] == run.ledger
    assert [(row["stage"], row["model"]) for row in figures["audit"]["failures"]] == [
        (row["stage"], row["model"]) for row in figures["usage"]
    ]


def _named(rows: list[Line]) -> list[tuple[str, str, str]]:
    return [(row["measure"], row["agent_a"], row["agent_b"]) for row in rows]


def figures_of(part: Any, *place: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every figure below, and where it stands."""
    if isinstance(part, dict) and {"value", "n", "ci_low"} <= part.keys():
        yield place, part
    elif isinstance(part, dict | list):
        for key, below in part.items() if isinstance(part, dict) else enumerate(part):
            yield from figures_of(below, *place, str(key))


def check_owed(run: Run) -> None:
    """Raises AssertionError for a figure whose `n` and `n_failed` are not together all that was owed."""
    for where, figure, owed in _owed(run):
        assert figure["n"] + figure["n_failed"] == owed, where


def _owed(run: Run) -> Iterator[tuple[str, Line, int]]:
    figures, n, others = run.figures, len(run.query_ids), len(run.agents) - 1
    sourced = sum(query["metadata"].get("section") in run.sections for query in run.queries)
    for agent in run.agents:
        for name, figure in figures["retrieval"][agent].items():
            yield f"{agent} {name}", figure, sourced if name.startswith("R(section)") else n
        for name, figure in figures["pointwise"][agent].items():
            yield f"{agent} {name}", figure, n
        for name, box in figures["boxes"][agent].items():
            yield f"box of {agent} {name}", box, sourced if name.startswith("R(section)") else n
        for other, figure in figures["wins"][agent].items():
            yield f"{agent} against {other}", figure, n
        for name in ("win_rate", "elo", "bradley_terry"):
            yield f"{agent} {name}", figures[name][agent], n * others
        yield f"{agent} points", figures["points"][agent], n
        yield f"{agent} answered", figures["answers"][agent]["answered"], n
    for agent, figure in figures["refusals"].items():
        yield f"refusals of {agent}", figure, n
    for row in (*figures["tests"], *figures["comparisons"]):
        yield str(row), row["difference"], n
    no_pair = {_pair(game) for game in run.games if _no_pair(game)}
    yield "flip_rate", figures["flip_rate"], n * comb(others + 1, 2) - len(no_pair)


def _pair(game: Line) -> tuple[str, ...]:
    return game["query_id"], *sorted((game["agent_a"], game["agent_b"]))


def _no_pair(game: Line) -> bool:
    """Identical answers cannot flip, and of an answer that failed there is no pair."""
    said = game["reason"] or game["error"] or ""
    return said == "the two answers are identical" or said.startswith("no answer to judge: ")
