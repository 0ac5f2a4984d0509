"""Unjudged passages: bounds contain the truth however labels are lost, are reached, and leaving out undoes a share."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import results_folder
from support.results_folder import answer
from support.results_folder import scored as row

from ragassay.evaluate.figures.pool import ends, pool_by_judge, pool_by_people
from ragassay.evaluate.inputs.findings import Material
from ragassay.evaluate.measures.measure import by_query
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Query

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
    found = ends("nDCG@3", {"q": {"p0": 1}}, {"q": row(["p0", "p1", "p2"])}, 3)
    last_is_best = (1 + 2 / 2) / (2 + 1 / log2(3))
    assert found.low["q"] == pytest.approx(last_is_best)
    assert found.high["q"] == 1.0
    first = ends("RR(rel=2)@3", {"q": {"p0": 1}}, {"q": row(["p0", "p1", "p2"])}, 3)
    assert (first.low["q"], first.high["q"]) == (0.0, 0.5)


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
