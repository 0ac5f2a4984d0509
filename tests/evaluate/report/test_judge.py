"""The report's section on written and real queries: what it says in words, and that names stay text."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.made_up_results.page import Page
from support.made_up_results.texts import AGENTS
from support.made_up_results.workspace import make_workspace

from ragassay.evaluate.report.judge import best_by_source, caution, orders_lines, orders_shown
from ragassay.evaluate.report.page import read_results, report
from ragassay.evaluate.results import POINTS, OrdersCompared, Results, WrittenAndReal
from ragassay.files import write_json
from ragassay.records import Figure

BAD = "<b>x</b>"


def figure(value, low=None, high=None, n=40, failed=0) -> Figure:
    return Figure(value=value, n=n, n_failed=failed, ci_low=low, ci_high=high)


def compared(**fields) -> OrdersCompared:
    """Three agents, the two better of which change places."""
    base = OrdersCompared(
        measure="RR(rel=2)@5",
        real={AGENTS[0]: figure(0.6), AGENTS[1]: figure(0.5), BAD: figure(0.2, failed=3)},
        written={AGENTS[1]: figure(0.7), AGENTS[0]: figure(0.6), BAD: figure(0.1)},
        figures={
            "tau_b": figure(1 / 3, -0.4, 1, n=3),
            "rho": figure(0.5, -0.5, 1, n=3),
            "loss": figure(0.1, 0, 0.2, n=3),
        },
        best_real=(AGENTS[0],),
        best_written=(AGENTS[1],),
        n_pairs=3,
        n_decided=3,
        n_same=1,
        n_open=1,
        contradicted=((AGENTS[0], BAD),),
    )
    return base.model_copy(update=fields)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return read_results(make_workspace(tmp_path, 4).figures)


def of(results: Results, *measures: OrdersCompared, n_real: int = 40, n_written: int = 60) -> Results:
    found = WrittenAndReal(n_real=n_real, n_written=n_written, measures=measures)
    return results.model_copy(update={"sources": found})


def test_a_sentence_says_who_leads_how_far_they_agree_and_which_pairs(results: Results):
    ((measure, said, table),) = orders_shown(of(results, compared()))
    assert measure == "MRR@5 very"
    assert said == (
        f"the real queries put {AGENTS[0]} first, the written ones {AGENTS[1]}; choosing by the written ones loses "
        "0.100 [0.000, 0.200] by the real ones; τ 0.33 [−0.40, 1.00] over 3 agents; of 3 pairs that the real ones "
        f"decide, the written ones decide 1 the same way, leave 1 open and contradict 1 ({AGENTS[0]} over {BAD})."
    )
    assert [(row[0], row[1].value, row[3].value) for row in table.rows] == [
        (AGENTS[0], "1", "2"),
        (AGENTS[1], "2", "1"),
        (BAD, "3", "3"),
    ]


def test_the_same_leader_no_decided_pair_and_no_order(results: Results):
    same = compared(best_written=(AGENTS[0],), n_decided=0, n_same=0, n_open=0, contradicted=())
    level = compared(
        figures={"tau_b": figure(None, n=3)}, undefined={"tau_b": "all agents are level on the real queries"}
    )
    few = OrdersCompared(
        measure="accuracy",
        real={AGENTS[0]: figure(None, n=0)},
        written={AGENTS[0]: figure(0.4)},
        figures={"tau_b": figure(None, n=0)},
        undefined={"tau_b": "fewer than two agents have a value on both kinds of queries"},
    )
    said = [words for _, words, _ in orders_shown(of(results, same, level, few))]
    assert said[0].startswith(f"the same agent leads, {AGENTS[0]}; τ 0.33")
    assert said[0].endswith("the real ones decide none of 3 pairs.")
    assert said[1].startswith("all agents are level on the real queries; of 3 pairs")
    assert said[2] == "no two orders to compare: fewer than two agents have a value on both kinds of queries."
    assert [cell.value for cell in orders_shown(of(results, few))[0][2].rows[0][1::2]] == ["–", "1"]
    lines = orders_lines(of(results, compared(), few))
    assert lines == [
        "of the pairs that the real queries decide, the written ones decide the same way: "
        f"{orders_shown(of(results, compared()))[0][0]} 1 of 3, 1 the other way; none decided by accuracy"
    ]


def test_few_queries_of_either_kind_bring_a_caution(results: Results):
    assert "With 12 real and 600 written queries" in caution(of(results, n_real=12, n_written=600))
    assert "With 600 real and 12 written queries" in caution(of(results, n_real=600, n_written=12))
    assert caution(of(results, n_real=50, n_written=50)) == caution(results) == ""
    assert orders_shown(results) == []


def test_who_has_most_points_by_each_kind_of_queries_is_said_with_n_and_whether_it_may_be_chance(results: Results):
    first, second = AGENTS[:2]
    kinds = f"By the 40 real queries alone {first} has most points, by the 60 written ones alone {second}"
    chance = "not both kinds tell them apart, so it may be chance."
    assert best_by_source(of(results, compared(measure=POINTS))) == f"{kinds}; {chance}"
    decided = compared(measure=POINTS, contradicted=((first, BAD), (first, second)))
    assert best_by_source(of(results, decided)) == f"{kinds}; each kind tells them apart."
    level = compared(measure=POINTS, best_real=(first, BAD), contradicted=((first, second),))
    assert best_by_source(of(results, level)).endswith(chance)
    same = best_by_source(of(results, compared(measure=POINTS, best_written=(first,))))
    assert same.startswith(f"The 40 real queries alone and the 60 written ones alone each put {first} first")
    assert best_by_source(of(results, compared())) == best_by_source(results) == ""


def test_names_stay_text_on_the_page(tmp_path: Path):
    workspace = make_workspace(tmp_path, 4)
    made = of(read_results(workspace.figures), compared())
    write_json(workspace.figures, made.dump())
    report(workspace)
    html = workspace.report.read_text(encoding="utf-8")
    page = Page(html)
    assert BAD in page.text and BAD not in html
    assert "4 queries (40 real, 60 written)" in page.text and "3 failed" in page.text
