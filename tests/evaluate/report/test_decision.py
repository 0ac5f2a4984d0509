"""The decision sheet: who is worth weighing, what is open, what to do next, and the judge in brief."""

from __future__ import annotations

import pytest
from support.made_up_results.page import Page
from support.made_up_results.workspace import make_workspace

from ragassay.evaluate.report.decision import front, judge_in_brief, lead_axis, lead_rows, to_decide
from ragassay.evaluate.report.page import read_results, report, verdict_matrices
from ragassay.evaluate.results import (
    NOT_DISTINGUISHABLE,
    AgentPool,
    Audit,
    AuditFinding,
    Bounds,
    Choice,
    Comparison,
    FailedReplies,
    LeftOut,
    LengthControl,
    NeededQueries,
    Results,
)
from ragassay.records import Figure

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
    return Comparison(
        measure="points",
        agent_a=a,
        agent_b=b,
        difference=one(0.1),
        verdict=verdict,
        sentence="…",
        detectable=0.2,
        needed=needed,
        **level,
    )


def test_a_pair_whose_interval_leaves_out_0_and_that_is_not_told_apart_says_so_on_both_sides():
    alone = pair("a", "b", NOT_DISTINGUISHABLE)
    beyond = alone.model_copy(update={"difference": Figure(value=0.1, n=9, ci_low=0.01, ci_high=0.19)})
    better = beyond.model_copy(update={"agent_b": "c", "verdict": "better"})
    level = pair("b", "c", NOT_DISTINGUISHABLE)
    (matrix,) = verdict_matrices(made(SIX[:3], (3, 2, 1), comparisons=(beyond, better, level)))
    cells = {
        (a, b): cell for a, row in zip("abc", matrix.rows, strict=True) for b, cell in zip("abc", row, strict=True)
    }
    assert {key for key, cell in cells.items() if cell and cell.alone} == {("a", "b"), ("b", "a")}


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
    axis = lead_axis(rows)
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
    lines = {
        line.name: line
        for line in judge_in_brief(audit(flip_rate=one(0.25), own_answers=one(1.0), own_questions=one(0.4)))
    }
    assert lines["Winner changes with the order"].value.value == "25.0%"
    assert lines["Same verdict when asked again"].said == "not asked (judge.repeats)"
    assert lines["Its own model family"].said == "wrote all of the answers and 40.0% of the questions"
    assert lines["Failed replies"].said == "6 of 200 calls"
    assert judge_in_brief(None) == []


def test_the_page_opens_with_the_sheet_and_has_audit_and_pool(tmp_path):
    workspace = make_workspace(tmp_path)
    results = read_results(workspace.figures)
    bounds = Bounds(low=one(0.25), high=one(0.75))
    pool = AgentPool(
        judged=one(0.5),
        n_unique=3,
        bounds={"nDCG@5": bounds},
        left_out={"nDCG@5": LeftOut(low=one(0.1), high=one(0.9), value=one(0.2))},
    )
    warned = AuditFinding(
        key="longer_wins", figure=one(0.9), fair=0.5, p=0.0002, sentence="Said of length.", warning="Beware."
    )
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
