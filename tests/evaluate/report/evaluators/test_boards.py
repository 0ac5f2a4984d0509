"""Leaderboards and what is told first: by direction, with what failed, and in a few lines."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from support.made_up_results.workspace import make_workspace

from ragassay.evaluate.report.decision import families
from ragassay.evaluate.report.page import read_results, render
from ragassay.evaluate.report.queries import read_evidence
from ragassay.evaluate.report.terminal import ranked_table
from ragassay.evaluate.results import Insight, Problem, Results, ThresholdShares
from ragassay.records import Figure

FAMILIES = {"looping": "eval-studio-form", "perplexity": "eval-studio-likelihood", "toxicity": "eval-studio-safety"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return make_workspace(tmp_path_factory.mktemp("run"), hostile=False)


def figure(value: float | None, n: int = 20, n_failed: int = 0) -> Figure:
    ends = (None, None) if value is None else (value - 0.1, value + 0.1)
    return Figure(value=value, n=n, n_failed=n_failed, ci_low=ends[0], ci_high=ends[1])


def problem(agent: str, name: str, *, sure: bool | None) -> Problem:
    said = f"{agent}: {name} is beyond its threshold."
    return Problem(kind="beyond_threshold", agent=agent, criterion=name, figure=figure(0.9), sure=sure, sentence=said)


def insight(at: int, *, told_apart: bool | None) -> Insight:
    said = f"Insight {at} ({told_apart})."
    return Insight(kind="best", subject="a", measure="m", figure=figure(0.5), told_apart=told_apart, sentence=said)


def with_evaluators(results: Results, **more: object) -> Results:
    """Toxicity from 0 to 1 with little good, perplexity without an end; the last agent has no value of either."""
    values = [0.5, 0.1, 0.5, *[0.2] * (len(results.agents) - 4), None]
    given = {
        agent: {
            "toxicity": figure(value, 0 if value is None else 17, 20 if value is None else 3),
            "perplexity": figure(None if value is None else 100 * value),
            "toxicity.P(rel=2)@5": figure(value),
        }
        for agent, value in zip(results.agents, values, strict=True)
    }
    passed = {agent: {"toxicity": ThresholdShares(passed=figure(0.75), failed=figure(0.25))} for agent in given}
    update: dict[str, object] = {
        "evaluations": given,
        "evaluation_scales": {"toxicity": (0.0, 1.0), "perplexity": (1.0, None), "toxicity.P(rel=2)@5": (0.0, 1.0)},
        "evaluators": {"toxicity": "toxicity", "perplexity": "perplexity", "toxicity.P(rel=2)@5": "toxicity"},
        "evaluator_families": FAMILIES,
        "lower_is_better": ("toxicity", "perplexity"),
        "thresholds": {"toxicity": 0.25},
        "threshold_shares": passed,
        "problems": (problem(results.agents[0], "toxicity", sure=True),),
    }
    return results.model_copy(update=update | more)


def test_agents_stand_in_the_order_of_their_means_by_direction_and_equals_share_a_place(workspace):
    results = with_evaluators(read_results(workspace.figures))
    toxicity = families(results)[0].boards[0]
    first, second, third, *others, last = results.agents
    assert [row.agent for row in toxicity.places] == [second, *others, first, third, last]
    two = str(2 + len(others))
    assert [row.place for row in toxicity.places] == ["1", *["2"] * len(others), two, two, "–"]
    assert toxicity.about == "0 to 1, lower is better; good enough up to 0.25"
    assert toxicity.places[0].mean.value == "0.100" and toxicity.places[0].mean.failed == "3 failed"
    assert [row.problem for row in toxicity.places if row.problem] == ["above its threshold, beyond chance"]
    assert toxicity.places[-1].mean.why == "no value: all 20 failed"


def test_a_board_a_criterion_in_families_and_none_of_what_is_worked_out_from_it(workspace):
    found = families(with_evaluators(read_results(workspace.figures)))
    assert [(one.name, [b.name for b in one.boards], one.n_problems) for one in found] == [
        ("eval-studio-safety", ["toxicity"], 1),
        ("eval-studio-likelihood", ["perplexity"], 0),
    ]
    perplexity = found[1].boards[0]
    assert perplexity.about == "1 and up, lower is better; no threshold"
    assert {row.passed.why for row in perplexity.places} == {"no threshold"}


@pytest.mark.parametrize(("n", "open_"), [(2, True), (40, False)])
def test_few_boards_stand_open_and_many_are_folded(workspace, n, open_):
    results = with_evaluators(read_results(workspace.figures))
    names = [f"criterion_{i}" for i in range(n)]
    results = results.model_copy(
        update={
            "evaluations": {agent: {name: figure(0.5) for name in names} for agent in results.agents},
            "evaluation_scales": dict.fromkeys(names, (0.0, 1.0)),
            "evaluators": {name: name for name in names},
        }
    )
    page = render(results, read_evidence(workspace, results.agents), 5)
    assert page.count('<details class="more boards" open>') == open_ and page.count('class="more boards"') == 1
    assert f"others: {n} criteria" in page


def told(results: Results) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=200).print(ranked_table(results))
    return [one.strip() for one in stream.getvalue().splitlines() if one.startswith(("problem:", "insight:", "and "))]


def test_the_terminal_tells_what_is_sure_first_in_twelve_lines_and_how_much_more_there_is(workspace):
    results = with_evaluators(
        read_results(workspace.figures),
        problems=tuple(problem("a1", f"c{i}", sure=i % 2 == 1) for i in range(10)),
        insights=tuple(insight(i, told_apart=(True, None, False)[i % 3]) for i in range(9)),
    )
    lines = told(results)
    assert len(lines) == 12
    assert lines[:7] == [f"problem: a1: c{i} is beyond its threshold." for i in (1, 3, 5, 7, 9, 0, 2)]
    kept = [(0, True), (3, True), (6, True), (1, None)]
    assert lines[7:11] == [f"insight: Insight {i} ({one})." for i, one in kept]
    assert lines[11] == "and 3 problems and 5 insights more: report.html, under Evaluators"


def test_agents_with_one_problem_share_a_line_that_names_the_worst(workspace):
    results = read_results(workspace.figures)
    some = [problem(agent, "toxicity", sure=True) for agent in results.agents[:3]]
    some[1] = some[1].model_copy(update={"figure": figure(0.95)})
    lines = told(with_evaluators(results, problems=(*some, problem(results.agents[3], "toxicity", sure=False))))
    assert lines == [
        f"problem: toxicity is above its threshold of 0.25 for 3 of {len(results.agents)} agents, beyond chance; the "
        f"worst is {results.agents[1]}, 0.95 (n 20).",
        f"problem: {results.agents[3]}: toxicity is beyond its threshold.",
    ]


def test_few_are_told_whole_and_none_of_them_nothing(workspace):
    results = read_results(workspace.figures)
    assert told(results) == []
    assert told(with_evaluators(results, insights=(insight(1, told_apart=None),))) == [
        f"problem: {results.agents[0]}: toxicity is beyond its threshold.",
        "insight: Insight 1 (None).",
    ]
