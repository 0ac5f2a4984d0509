"""What labels leave open, what failed and where, and the figures with failures at the bottom."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from itertools import product
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scipy.stats import ttest_1samp
from support import results_folder
from support.results_folder import answer, game, judgment
from support.results_folder import scored as row
from support.scripted_judge import CRITERIA, Scripted, fair, workspace

from ragassay.evaluate.compare import compare
from ragassay.evaluate.figures.pool import ends, pool_by_judge, pool_by_people, verdicts_at_bottom
from ragassay.evaluate.inputs.findings import Material
from ragassay.evaluate.make_judgments import make_judgments
from ragassay.evaluate.measures.measure import by_query
from ragassay.evaluate.ratings.verdicts import Verdict
from ragassay.evaluate.report.page import read_results
from ragassay.evaluate.report.queries import query_views, read_evidence
from ragassay.evaluate.report.terminal import RankedTable
from ragassay.evaluate.results import Results
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.models.requests import Reply
from ragassay.records import Passage, Query
from ragassay.workbench.index.build import build
from ragassay.workbench.index.read import Index

MEASURES = ("RR(rel=2)@4", "RR(rel=1)@4", "nDCG@4")
PASSAGES = [f"p{i}" for i in range(7)]


labelled = st.fixed_dictionaries({p: st.integers(0, 2) for p in PASSAGES})
ranked = st.permutations(PASSAGES).map(lambda order: order[:5])


@given(labelled, ranked, st.sets(st.sampled_from(PASSAGES)))
def test_the_bounds_contain_the_truth_whatever_labels_are_lost(labels, ranking, lost):
    known = {"q": {p: label for p, label in labels.items() if p not in lost}}
    for measure in MEASURES:
        truth = by_query(measure, {"q": labels}, {"q": row(ranking[:4])}).get("q", 0.0)
        found = ends(measure, known, {"q": row(ranking)}, 4, {"q": sorted(lost)})
        assert found.low["q"] - 1e-9 <= truth <= found.high["q"] + 1e-9
        assert found.low["q"] <= found.not_relevant["q"] <= found.high["q"]
        if not lost:
            assert found.low["q"] == found.high["q"]


@given(labelled, ranked, st.sets(st.sampled_from(PASSAGES), max_size=4))
def test_the_bounds_are_reached_by_some_labelling(labels, ranking, lost):
    known = {p: label for p, label in labels.items() if p not in lost}
    gone = sorted(lost)
    every = [{**known, **dict(zip(gone, given_to, strict=True))} for given_to in product((0, 1, 2), repeat=len(gone))]
    for measure in MEASURES:
        values = [by_query(measure, {"q": one}, {"q": row(ranking[:4])}).get("q", 0.0) for one in every]
        found = ends(measure, {"q": known}, {"q": row(ranking)}, 4, {"q": gone})
        assert (found.low["q"], found.high["q"]) == pytest.approx((min(values), max(values)))


def test_two_unjudged_passages_by_hand():
    """Shown: label 1, then two without a label, which may be 0, 0 or 2, 2 or 0, 2, and so on."""
    last_is_best = (1 + 2 / 2) / (2 + 1 / log2(3))
    for measure, low, high in (("nDCG@3", last_is_best, 1.0), ("RR(rel=2)@3", 0.0, 0.5)):
        found = ends(measure, {"q": {"p0": 1}}, {"q": row(["p0", "p1", "p2"])}, 3)
        assert (found.low["q"], found.high["q"]) == pytest.approx((low, high))


def test_a_failed_retrieval_has_no_bounds_and_an_empty_one_scores_nothing():
    found = ends("nDCG@3", {"a": {"p0": 2}}, {"q": None, "a": []}, 3)
    assert (found.low["q"], found.high["q"]) == (None, None)
    assert (found.low["a"], found.high["a"]) == (0.0, 0.0)


def findings(qrels, people=None, **rankings):
    queries = sorted({q for ranking in rankings.values() for q in ranking})
    answers = {(q, a): answer(q, a, "…", *ranking[q]) for a, ranking in rankings.items() for q in queries}
    material = Material(tuple(Query(id=q, text="?") for q in queries), tuple(rankings), {}, answers)
    rows = {agent: {q: row(passages) for q, passages in ranking.items()} for agent, ranking in rankings.items()}
    return results_folder.findings(material, rankings=rows, qrels=qrels, people=people or {})


def test_leaving_an_agent_out_takes_away_what_it_alone_found():
    qrels = {"q": {"p0": 2, "p1": 0, "p2": 1}, "r": {"p0": 0, "p1": 2, "p2": 0}}
    found = findings(qrels, one={"q": ["p0", "p1"], "r": ["p1", "p0"]}, other={"q": ["p2", "p1"], "r": ["p1", "p2"]})
    pools = pool_by_judge(found, resamples(("q", "r"), 100, 7), 2)
    one = pools["one"]
    assert (one.judged.value, one.judged.n, one.n_unique) == (1.0, 4, 2)
    whole, without = one.bounds["RR(rel=2)@2"], one.left_out["RR(rel=2)@2"]
    assert whole.low.value == whole.high.value == 1.0
    assert (without.low.value, without.value.value, without.high.value) == (0.5, 0.5, 1.0)
    other = pools["other"].left_out["RR(rel=2)@2"]
    assert (other.low.value, other.high.value) == (0.5, 1.0)


def test_an_agent_that_brings_nothing_of_its_own_loses_nothing():
    qrels = {"q": {"p0": 2, "p1": 1, "p2": 0}}
    found = findings(qrels, one={"q": ["p0", "p1"]}, other={"q": ["p1", "p0"]}, third={"q": ["p2", "p0"]})
    pools = pool_by_judge(found, resamples(("q",), 100, 7), 2)
    for agent in ("one", "other"):
        assert pools[agent].n_unique == 0
        for measure, bounds in pools[agent].bounds.items():
            assert pools[agent].left_out[measure].value == bounds.low == bounds.high


def test_a_query_whose_retrieval_failed_is_counted_beside_the_passages_that_were_shown():
    found = findings({"q": {"p0": 2}}, one={"q": ["p0", "p1"], "r": []})
    found = replace(found, rankings={"one": {"q": row(["p0", "p1"]), "r": None}})
    judged = pool_by_judge(found, resamples(("q", "r"), 100, 7), 2)["one"].judged
    assert (judged.value, judged.n, judged.n_failed) == (0.5, 2, 1)


def test_people_judged_less_and_only_their_queries_count():
    people = {"q": {"p0": 2}}
    found = findings({}, people, one={"q": ["p0", "p1"], "r": ["p0", "p1"]})
    draws = resamples(("q", "r"), 100, 7)
    pool = pool_by_people(found, draws, 2)["one"]
    assert (pool.judged.value, pool.judged.n) == (0.5, 2)
    assert pool.bounds["nDCG@2"].low.n == 1
    assert pool_by_people(findings({}, one={"q": ["p0"]}), draws, 2) == {}
    unjudged = pool_by_judge(found, draws, 2)["one"]
    assert (unjudged.judged.value, unjudged.judged.n) == (0.0, 4)


QUERIES = tuple(f"q{i}" for i in range(10))


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Ten queries, three agents; `ours` has no answer to q3, and the judge fails on what theirs says of q5."""
    answers = [
        answer(query, agent, None if (query, agent) == ("q3", "ours") else f"{agent} of {query}", f"p{place}")
        for query in QUERIES
        for place, agent in enumerate(("bm25-rag", "ours", "theirs"), 1)
    ]
    space = workspace(tmp_path_factory.mktemp("run"), answers, queries=QUERIES)

    def said(label, text):
        failing = label in ("pointwise", "games-first-b") and "theirs of q5" in text and "ours of q5" not in text
        return Reply(error="HTTP 500") if failing else fair(label, text)

    outcome = make_judgments(space, Scripted(said))
    compare(space)
    return space, Results.model_validate(json.loads(space.figures.read_text())), outcome


def test_an_answer_that_failed_is_one_failure_and_none_of_its_opponents(compared):
    _, results, outcome = compared
    assert results.failures.answers == {"bm25-rag": 0, "ours": 1, "theirs": 0}
    assert set(results.failures.retrieval.values()) == {0}, "there is a ranking of every query"
    assert sum("for want of an answer" in notice for notice in outcome.notices) == 2
    console = Console(width=200, file=StringIO())
    console.print(RankedTable(results))
    rows = {line.split()[0]: line.split()[-1] for line in console.file.getvalue().splitlines() if line.split()}
    assert [rows[agent] for agent in ("bm25-rag", "ours", "theirs")] == ["0", "1", "0"]


def test_what_the_judge_failed_on_is_the_judges_alone(compared):
    _, results, _ = compared
    found = results.failures
    assert (found.judge_passages, found.judge_answers, found.judge_games) == (0, 1, 1)
    games = next(row for row in results.audit.findings if row.key == "failed_games")
    assert (games.figure.value, games.figure.n) == (pytest.approx(1 / 28, abs=1e-6), 28)
    assert games.sentence.endswith(" 2 more were not played, since an answer had failed.")
    assert (results.flip_rate.n, results.flip_rate.n_failed) == (27, 1)
    assert results.first_shown_wins.n_failed == 1


def test_a_query_counts_what_failed_by_itself_in_the_report_and_the_workbench(compared, tmp_path):
    space, results, _ = compared
    views = query_views(read_evidence(space, results.agents), results.agents, 5)
    expected = {"q3": 1, "q5": len(CRITERIA) + 1}
    assert {view.query.id: view.n_failed for view in views if view.n_failed} == expected
    build(space, tmp_path / "index.sqlite")
    index = Index(tmp_path / "index.sqlite")
    assert {row["id"]: row["failed"] for row in index.rows("SELECT id, failed FROM queries WHERE failed")} == expected
    index.close()


RAG, FUSION = "bm25-rag", "bm25-rag-fusion"
PASSAGE = Passage(id="p", text="…", metadata={"doc": "d.pdf", "first_page": 1, "last_page": 1, "start": 0, "end": 9})


def at_the_bottom(tmp_path, n, fails, winner, judge_fails=frozenset(), matters=None, judges=()):
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
    files = {"queries": queries, "passages": [PASSAGE], "answers": answers, "rankings": ranks, "relevance": relevance}
    workspace = results_folder.results_folder(tmp_path, setup, **files, pointwise=grades, games=games)
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
    results = at_the_bottom(tmp_path, 40, set(), lambda i: "a" if i % 5 else "b", judge_fails={3, 4})
    assert results.failures_at_bottom is None
    assert results.verdict.decided and results.win_rate[RAG].n_failed == 2


def test_an_agent_that_leads_by_failing_is_not_called_the_best(tmp_path):
    """Of 60 queries RAG wins 30 and fails on 30 that it would lose."""
    results = at_the_bottom(tmp_path, 60, set(range(30)), lambda i: "a")
    assert results.verdict.leader == RAG and not results.verdict.decided
    undone = results.verdict.overturned_by
    assert f"Without the 30 failed games it would be the choice; {undone} of them, lost," in results.verdict.sentence
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
    results = at_the_bottom(tmp_path, 60, set(range(40)), lambda i: "a")
    assert results.failures_at_bottom.leader == FUSION
    assert f"count as lost, {FUSION} leads ({RAG} failed on 40 of 60 queries)" in results.verdict.sentence


def test_a_verdict_that_holds_both_ways_stands(tmp_path):
    results = at_the_bottom(tmp_path, 60, {1, 2}, lambda i: "a" if i % 6 else "b")
    assert results.verdict.decided and results.failures_at_bottom.agrees
    assert results.verdict.possible_best == (RAG,)
    worse = at_the_bottom(tmp_path / "other", 60, {1, 2}, lambda i: "b" if i % 6 else "a")
    assert worse.verdict.leader == FUSION and worse.verdict.decided, "failing on top of losing changes nothing"


def test_practically_equal_is_said_of_the_leader_and_of_the_pair(tmp_path):
    results = at_the_bottom(tmp_path, 400, set(), lambda i: ("a", "b", *["tie"] * 18)[i % 20], matters={"points": 0.05})
    row = next(row for row in results.comparisons if row.measure == "points")
    assert row.verdict == "practically equal"
    assert results.verdict.sentence.endswith("are equal for practice, within 5 points: take the cheaper.")
    assert results.verdict.claims.keys() == {"equal", "safe"} and not results.verdict.decided
    close = at_the_bottom(tmp_path / "close", 400, set(), lambda i: ("a", "b")[i % 2], matters={"points": 0.05})
    assert next(row for row in close.comparisons if row.measure == "points").verdict == "not distinguishable"


def test_what_matters_of_an_evaluator_that_gave_nothing_is_said(tmp_path):
    results = at_the_bottom(tmp_path, 6, set(), lambda i: "a", matters={"safety": 0.1}, judges=["safety"])
    assert "compare.matters names 'safety', of which there is no value to compare" in results.notices
