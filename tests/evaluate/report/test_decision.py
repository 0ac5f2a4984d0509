"""The decision sheet: who is worth weighing, what is open, what to do next, and the judge in brief."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from support.made_up_results.page import Page
from support.made_up_results.workspace import make_workspace

from ragassay.evaluate.report.decision import families, front, judge_in_brief, lead_rows, to_decide
from ragassay.evaluate.report.page import read_results, render, report, verdict_matrices
from ragassay.evaluate.report.plots import around_0
from ragassay.evaluate.report.queries import read_evidence
from ragassay.evaluate.report.terminal import RankedTable
from ragassay.evaluate.results import (
    NOT_DISTINGUISHABLE,
    AgentPool,
    Audit,
    AuditFinding,
    Bounds,
    Choice,
    Comparison,
    FailedReplies,
    Insight,
    LeftOut,
    LengthControl,
    NeededQueries,
    Problem,
    Results,
    ThresholdShares,
)
from ragassay.records import Figure
from ragassay.table import Group

SIX = ("a", "b", "c", "d", "e", "f")


def one(value, **more):
    return Figure(value=value, n=10, **more)


def made(agents, ratings, costs=None, seconds=None, **changes):
    """Results with these ratings, and cost and latency where they are given (None: not measured)."""
    answers = {agent: {} for agent in agents}
    for key, values in (("cost_usd", costs), ("latency_s", seconds)):
        for agent, value in zip(agents, values or [None] * len(agents), strict=True):
            answers[agent][key] = Figure(value=value, n=10 if value is not None else 0)
    empty = {"note": "", "settings": {}, "relevance_labels": {}, "n_relevance_failed": 0, "pointwise": {}}
    fields = {
        "corpus": "made",
        "agents": tuple(agents),
        "n_queries": 10,
        "verdict": Choice(leader=agents[0], told=tuple(agents[1:]), decided=True, sentence="So."),
        "retrieval": {},
        "pointwise_labels": {},
        "answers": answers,
        "points": {agent: one(value) for agent, value in zip(agents, ratings, strict=True)},
        "wins": {},
        "win_rate": {},
        "flip_rate": one(0.1),
        "first_shown_wins": one(0.5),
        "elo": {agent: one(value) for agent, value in zip(agents, ratings, strict=True)},
        "bradley_terry": {agent: one(value) for agent, value in zip(agents, ratings, strict=True)},
    }
    return Results(**{**empty, **fields, **changes})


def on_front(results):
    return [row.agent for row in front(results).rows if row.beaten_by is None]


def test_the_front_is_those_that_no_other_beats_in_every_respect():
    results = made(SIX[:4], (700, 600, 550, 500), costs=(0.04, 0.02, 0.03, 0.02), seconds=(9, 5, 4, 6))
    assert on_front(results) == ["a", "b", "c"]
    assert {row.agent: row.beaten_by for row in front(results).rows}["d"] == "b"
    assert "Worth weighing are a, b and c" in front(results).said


def test_agents_that_are_alike_in_every_respect_do_not_beat_each_other():
    assert on_front(made(SIX[:2], (600, 600), costs=(0.01, 0.01), seconds=(2, 2))) == ["a", "b"]


def test_what_was_not_measured_of_every_agent_is_left_out_and_said():
    results = made(SIX[:2], (600, 500), costs=(None, 0.01), seconds=(5, 4))
    assert front(results).measured == ["latency"]
    assert on_front(results) == ["a", "b"]
    assert "Cost was not measured for every agent and left out." in front(results).said
    nothing = front(made(SIX[:2], (600, 500)))
    assert nothing.measured == []
    assert nothing.said == "Cost and latency were not measured for every agent, so quality alone decides."


def pair(a, b, verdict, needed=None):
    level = {"n_sections": 9, "effect_size": None, "p_t": 0.2, "p_wilcoxon": None, "p_sign_flip": None, "p_holm": 0.4}
    said = {"measure": "points", "agent_a": a, "agent_b": b, "verdict": verdict, "sentence": "…", "needed": needed}
    return Comparison(difference=one(0.1), detectable=0.2, **said, **level)


def test_a_pair_whose_interval_leaves_out_0_and_that_is_not_told_apart_says_so_on_both_sides():
    alone = pair("a", "b", NOT_DISTINGUISHABLE)
    beyond = alone.model_copy(update={"difference": Figure(value=0.1, n=9, ci_low=0.01, ci_high=0.19)})
    better = beyond.model_copy(update={"agent_b": "c", "verdict": "better"})
    level = pair("b", "c", NOT_DISTINGUISHABLE)
    (matrix,) = verdict_matrices(made(SIX[:3], (3, 2, 1), comparisons=(beyond, better, level)))
    rows = zip("abc", matrix.table.rows, strict=True)
    cells = {(a, b): cell for a, row in rows for b, cell in zip("abc", row[1:], strict=True)}
    assert {key for key, cell in cells.items() if "only by itself" in cell.more} == {("a", "b"), ("b", "a")}
    assert cells["a", "c"].value[0] == "▲" and cells["c", "a"].value[:2] == "▼ "


def leading(**more):
    """a leads b, c and d; it is told from c and d."""
    ends = {name: one(0.1 * at, ci_low=0.0, ci_high=0.3) for at, name in enumerate("bcd", 1)}
    chances = {"a": 0.6, "b": 0.3, "c": 0.07, "d": 0.03}
    fields = {"leader": "a", "told": ("c", "d"), "untold": ("b",), "possible_best": ("a", "b"), "sentence": "a leads."}
    return Choice(**{**fields, "differences": ends, "p_best": chances, **more})


def test_the_leader_and_each_other_stand_in_one_picture_best_first():
    rows = lead_rows(made(SIX[:4], (4, 3, 2, 1), verdict=leading()))
    assert [(row.agent, row.said, row.p_best) for row in rows] == [
        ("a", "leads", 0.6),
        ("b", "may be the best", 0.3),
        ("c", "told", 0.07),
        ("d", "told", 0.03),
    ]
    axis = around_0(row.difference for row in rows)
    assert axis.low <= 0 <= axis.high and axis.high >= 0.3
    assert lead_rows(made(SIX[:2], (2, 1), verdict=Choice(leader=None, sentence="Nothing."))) == []


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Choice(leader=None, sentence="Nothing."), "Get games that have a verdict of a judge"),
        (leading(overturned_by=3), "Find out why games or answers failed"),
        (leading(untold=(), possible_best=("a",), decided=True), "The first place is settled"),
        (leading(equal=True, safe=True), "By cost, that is b: $0.0100 an answer."),
        (leading(safe=True), "a may be taken"),
        (leading(), "About 45 queries in all (now 10) would likely settle it"),
    ],
)
def test_what_to_do_next(verdict, words):
    pairs = (
        pair("c", "b", NOT_DISTINGUISHABLE, NeededQueries(value=900, ci_low=40, ci_high=None)),
        pair("b", "a", NOT_DISTINGUISHABLE, NeededQueries(value=45, ci_low=20, ci_high=300)),
        pair("a", "c", "better"),
    )
    results = made(SIX[:4], (4, 3, 2, 1), costs=(0.02, 0.01, 0.03, 0.04), verdict=verdict, comparisons=pairs)
    assert to_decide(results).startswith(words)


@pytest.mark.parametrize("needed", [NeededQueries(value=101, ci_low=20, ci_high=300), None])
def test_where_ten_times_as_many_queries_would_hardly_do_no_number_is_named(needed):
    pairs = (pair("a", "b", NOT_DISTINGUISHABLE, needed),)
    results = made(SIX[:4], (4, 3, 2, 1), verdict=leading(), comparisons=pairs)
    assert to_decide(results).startswith("Even ten times as many queries would hardly settle it.")
    assert "agents that are not told apart may change places" in front(results).said


def audit(**figures):
    findings = [AuditFinding(key=key, figure=figure, sentence=f"About {key}.") for key, figure in figures.items()]
    failed = FailedReplies(
        stage="judge", model="m", failed=Figure(value=0.03, n=200, ci_low=0.0, ci_high=0.1), n_refused=2
    )
    return Audit(findings=tuple(findings), length=LengthControl(note="all alike"), failures=(failed,))


def test_the_judge_in_brief():
    found = judge_in_brief(audit(flip_rate=one(0.25), own_answers=one(1.0), own_questions=one(0.4)))
    lines = {line.name: line for line in found}
    assert lines["Winner changes with the order"].value.value == "25.0%"
    assert lines["Same verdict when asked again"].said == "not asked (judge.repeats)"
    assert lines["Its own model family"].said == "wrote all of the answers and 40.0% of the questions"
    assert lines["Failed replies"].said == "6 of 200 calls"
    assert judge_in_brief(None) == []


def test_the_page_opens_with_the_sheet_and_has_audit_and_pool(tmp_path):
    workspace = make_workspace(tmp_path)
    results = read_results(workspace.figures)
    bounds = {"nDCG@5": Bounds(low=one(0.25), high=one(0.75))}
    without = {"nDCG@5": LeftOut(low=one(0.1), high=one(0.9), value=one(0.2))}
    pool = AgentPool(judged=one(0.5), n_unique=3, bounds=bounds, left_out=without)
    said = {"sentence": "Said of length.", "warning": "Beware."}
    warned = AuditFinding(key="longer_wins", figure=one(0.9), fair=0.5, p=0.0002, **said)
    judged = audit(flip_rate=one(0.25))
    judged = judged.model_copy(update={"findings": (*judged.findings, warned)})
    results = results.model_copy(update={"audit": judged, "pool": {results.agents[0]: pool}})
    workspace.figures.write_text(results.model_dump_json(by_alias=True), encoding="utf-8")
    report(workspace)
    page = Page(workspace.report.read_text(encoding="utf-8"))
    assert page.text.index("Quality, cost, latency") < page.text.index("The judge, audited")
    row = page.of("audit", "Longer answer wins")[0]
    assert [cell.strip() for cell in row.cells[2:]] == ["50.0%", "< 0.001", "Said of length."]
    assert "0.250 to 0.750" in page.text
    assert "without it 0.100 to 0.900" in page.text
    assert page.of("audit", "judge")[0].cells[-1].strip() == "2"


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
    head, *rows = families(results)[0].table.rows
    first, second, third, *others, last = results.agents
    assert [row[0] for row in rows] == [second, *others, first, third, last]
    two = str(2 + len(others))
    assert [row[1] for row in rows] == ["1", *["2"] * len(others), two, two, "–"]
    assert head == Group("toxicity", "0 to 1, lower is better; good enough up to 0.25")
    assert rows[0][2].value == "0.100" and rows[0][2].failed == "3 failed"
    assert [row[4] for row in rows if row[4]] == ["above its threshold, beyond chance"]
    assert rows[-1][2].why == "no value: all 20 failed"


def test_a_board_a_criterion_in_families_and_none_of_what_is_worked_out_from_it(workspace):
    found = families(with_evaluators(read_results(workspace.figures)))
    assert [(one.name, one.table.rows[0].name, one.n_boards, one.n_problems) for one in found] == [
        ("eval-studio-safety", "toxicity", 1, 1),
        ("eval-studio-likelihood", "perplexity", 1, 0),
    ]
    head, *rows = found[1].table.rows
    assert head.about == "1 and up, lower is better; no threshold"
    assert {row[3].why for row in rows} == {"no threshold"}


@pytest.mark.parametrize(("n", "open_"), [(2, True), (40, False)])
def test_few_boards_stand_open_and_many_are_folded(workspace, n, open_):
    results = with_evaluators(read_results(workspace.figures))
    names = [f"criterion_{i}" for i in range(n)]
    update = {"evaluations": {agent: {name: figure(0.5) for name in names} for agent in results.agents}}
    update |= {"evaluation_scales": dict.fromkeys(names, (0.0, 1.0)), "evaluators": {name: name for name in names}}
    results = results.model_copy(update=update)
    page = render(results, read_evidence(workspace, results.agents), 5)
    assert page.count('<details class="more boards" open>') == open_ and page.count('class="more boards"') == 1
    assert f"others: {n} criteria" in page


def told(results: Results) -> list[str]:
    stream = io.StringIO()
    Console(file=stream, width=200).print(RankedTable(results))
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
    assert told(results) == []
    some = [problem(agent, "toxicity", sure=True) for agent in results.agents[:3]]
    some[1] = some[1].model_copy(update={"figure": figure(0.95)})
    lines = told(with_evaluators(results, problems=(*some, problem(results.agents[3], "toxicity", sure=False))))
    assert lines == [
        f"problem: toxicity is above its threshold of 0.25 for 3 of {len(results.agents)} agents, beyond chance; the "
        f"worst is {results.agents[1]}, 0.95 (n 20).",
        f"problem: {results.agents[3]}: toxicity is beyond its threshold.",
    ]
