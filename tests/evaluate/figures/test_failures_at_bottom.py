"""What an agent failed at the bottom of its scale, and verdicts withheld where that changes them."""

from __future__ import annotations

import pytest
from scipy.stats import ttest_1samp
from support import results_folder
from support.results_folder import answer, game, judgment

from ragassay.errors import InputError
from ragassay.evaluate.compare import compare
from ragassay.evaluate.figures.pool import verdicts_at_bottom
from ragassay.evaluate.ratings.verdicts import Verdict
from ragassay.evaluate.report.page import read_results
from ragassay.records import Passage, Query

RAG, FUSION = "bm25-rag", "bm25-rag-fusion"
PASSAGE = Passage(id="p", text="…", metadata={"doc": "d.pdf", "first_page": 1, "last_page": 1, "start": 0, "end": 9})


def compared(tmp_path, n, fails, winner, judge_fails=frozenset(), matters=None, judges=()):
    """Two agents on `n` queries; `fails` are those on which RAG has no answer, `winner(i)` who wins the others."""
    figures = {"bootstrap": 100, "tournaments": 10} | ({"matters": matters} if matters else {})
    setup = results_folder.experiment(
        retrieval={"retrievers": ["bm25"]}, compare=figures, evaluate={"judges": list(judges)}
    )
    queries = [Query(id=f"q{i:03d}", text="?") for i in range(n)]
    answers, games, grades = [], [], []
    for i, query in enumerate(queries):
        failed = i in fails
        answers += [answer(query.id, RAG, None if failed else "Yes.", *([] if failed else ["p"]))]
        answers += [answer(query.id, FUSION, "No.", "p")]
        won = None if failed or i in judge_fails else winner(i)
        games += [game(query.id, RAG, FUSION, won, place) for place in ("a", "b")]
        grades += [judgment(query.id, RAG, name, None if failed else 2) for name in setup.judge.criteria]
        grades += [judgment(query.id, FUSION, name, 1) for name in setup.judge.criteria]
    ranks = {
        agent: {q.id: ["p"] for i, q in enumerate(queries) if not (agent == RAG and i in fails)}
        for agent in (RAG, FUSION)
    }
    relevance = [judgment(query.id, "p", "relevance", 2) for query in queries]
    workspace = results_folder.results_folder(
        tmp_path,
        setup,
        queries=queries,
        passages=[PASSAGE],
        answers=answers,
        rankings=ranks,
        relevance=relevance,
        pointwise=grades,
        games=games,
    )
    compare(workspace)
    return read_results(workspace.figures)


def ttest_p(won, lost):
    return ttest_1samp([1.0] * won + [-1.0] * lost, 0).pvalue


def verdict(winner, query="q"):
    return Verdict(query, "x", "y", "j", winner, None, None if winner else "failed", 2)


@pytest.mark.parametrize(
    ("failed", "winner", "now"),
    [
        ({"x": {"q"}}, None, "b"),
        ({"y": {"q"}}, None, "a"),
        ({"x": {"q"}, "y": {"q"}}, None, "tie"),
        ({"x": {"another"}}, None, None),
        ({}, None, None),
        ({"x": {"q"}}, "a", "a"),
    ],
)
def test_a_failed_answer_loses_what_it_owed(failed, winner, now):
    assert [one.winner for one in verdicts_at_bottom([verdict(winner)], failed)] == [now]


def test_where_nothing_failed_nothing_is_added_and_a_failed_judge_is_nobodys_fault(tmp_path):
    results = compared(tmp_path, 40, set(), lambda i: "a" if i % 5 else "b", judge_fails={3, 4})
    assert results.failures_at_bottom is None
    assert results.verdict.decided and results.win_rate[RAG].n_failed == 2


def test_an_agent_that_leads_by_failing_is_not_called_the_best(tmp_path):
    """Of 60 queries RAG wins 30 and fails on 30 that it would lose."""
    results = compared(tmp_path, 60, set(range(30)), lambda i: "a")
    assert results.verdict.leader == RAG and not results.verdict.decided
    undone = results.verdict.overturned_by
    assert results.verdict.sentence == (
        f"{RAG} leads, but is not told from {FUSION} with these 30 queries. Without the 30 failed games it would be "
        f"the choice; {undone} of them, lost, undo that: retry them first."
    )
    assert [ttest_p(30, lost) <= 0.045 for lost in (undone - 1, undone)] == [True, False]
    assert set(results.verdict.possible_best) == {RAG, FUSION}
    low = results.failures_at_bottom
    assert low.failed == {RAG: 30} and low.agrees, "30 won and 30 lost are level"
    assert results.failures.answers == results.failures.retrieval == {RAG: 30, FUSION: 0}
    assert (low.win_rate[RAG].value, low.win_rate[RAG].n, low.win_rate[RAG].n_failed) == (0.5, 60, 0)
    assert (results.win_rate[RAG].value, results.win_rate[RAG].n_failed) == (1.0, 30)
    assert (low.pointwise[RAG]["accuracy"].value, results.pointwise[RAG]["accuracy"].value) == (1.0, 2.0)
    assert low.retrieval[RAG]["RR(rel=2)@5"].value == 0.5 and results.retrieval[RAG]["RR(rel=2)@5"].value == 1.0
    rows = {row.measure: row for row in results.comparisons}
    assert rows["points"].verdict == "not distinguishable"
    assert rows["accuracy"].p_holm < 0.05 and rows["accuracy"].verdict == "not distinguishable"
    assert f"{RAG} failed on 30" in rows["accuracy"].sentence


def test_another_leader_where_failures_count_is_named(tmp_path):
    results = compared(tmp_path, 60, set(range(40)), lambda i: "a")
    assert results.failures_at_bottom.leader == FUSION
    assert results.verdict.sentence.endswith(
        f" Where failed answers count as lost, {FUSION} leads ({RAG} failed on 40 of 60 queries)."
    )


def test_a_verdict_that_holds_both_ways_stands(tmp_path):
    results = compared(tmp_path, 60, {1, 2}, lambda i: "a" if i % 6 else "b")
    assert results.verdict.decided and results.failures_at_bottom.agrees
    assert results.verdict.possible_best == (RAG,)
    worse = compared(tmp_path / "other", 60, {1, 2}, lambda i: "b" if i % 6 else "a")
    assert worse.verdict.leader == FUSION and worse.verdict.decided, "failing on top of losing changes nothing"


def test_practically_equal_is_said_of_the_leader_and_of_the_pair(tmp_path):
    results = compared(tmp_path, 400, set(), lambda i: ("a", "b", *["tie"] * 18)[i % 20], matters={"points": 0.05})
    row = next(row for row in results.comparisons if row.measure == "points")
    assert row.verdict == "practically equal"
    assert results.verdict.sentence.endswith("are equal for practice, within 5 points: take the cheaper.")
    assert results.verdict.claims.keys() == {"equal", "safe"} and not results.verdict.decided
    close = compared(tmp_path / "close", 400, set(), lambda i: ("a", "b")[i % 2], matters={"points": 0.05})
    assert next(row for row in close.comparisons if row.measure == "points").verdict == "not distinguishable"


def test_what_matters_of_a_measure_that_is_not_compared_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"compare\.matters names 'win-rate'") as refused:
        compared(tmp_path, 6, set(), lambda i: "a", matters={"win-rate": 0.05})
    assert "points" in str(refused.value.remedy) and "RR(rel=2)@5" in str(refused.value.remedy)


def test_what_matters_of_an_evaluator_that_gave_nothing_is_said(tmp_path):
    results = compared(tmp_path, 6, set(), lambda i: "a", matters={"safety": 0.1}, judges=["safety"])
    assert "compare.matters names 'safety', of which there is no value to compare" in results.notices
