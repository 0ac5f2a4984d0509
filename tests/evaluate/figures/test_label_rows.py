"""Measures from rows of labels, against ir_measures."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.figures.measures import ideal_gains, judged_by_query, label_rows
from ragassay.evaluate.figures.query_values import ranking_measures

K = 3
PASSAGES = [f"p{n}" for n in range(6)]
labellings = st.dictionaries(st.sampled_from(PASSAGES), st.integers(-1, 2), max_size=6)
rankings = st.lists(st.tuples(st.sampled_from(PASSAGES), st.sampled_from([4.0, 3.0, 2.0, 1.0])), max_size=5)


def rows_of(labels, ranking, unsettled=()):
    qrels = {"q": labels}
    rows = label_rows(["q"], qrels, {"q": ranking}, K, ideal_gains(qrels, K))
    return rows.without({"q"} if unsettled else set())


@given(labellings, rankings)
def test_where_they_decide_they_are_ir_measures(labels, ranking):
    rows = rows_of(labels, ranking)
    for spelling in ranking_measures(K):
        measure = ir_measures.parse_measure(spelling)
        for value in rows.values(measure).values():
            (found,) = ir_measures.iter_calc([measure], {"q": labels or {"other": 0}}, {"q": dict(ranking[:K])})
            assert value == pytest.approx(found.value, abs=1e-12)


@given(labellings, rankings, st.sets(st.sampled_from(PASSAGES), max_size=2))
def test_judged_values_are_the_same_with_rows_at_hand(labels, ranking, failed):
    failed = failed - labels.keys()
    rows = rows_of(labels, ranking, failed)
    for spelling in (*ranking_measures(K), f"P@{K}"):
        asked = (spelling, ["q"], {"q": labels}, {"q": ranking}, {"q": failed}, K)
        assert judged_by_query(*asked, rows)["q"] == pytest.approx(judged_by_query(*asked)["q"], abs=1e-12)


def test_what_is_open_or_level_is_not_decided():
    labels = {"p0": 2, "p1": 0}
    falling = [("p0", 2.0), ("p1", 1.0)]
    assert rows_of(labels, falling).queries == ["q"]
    assert rows_of(labels, falling, ["p5"]).queries == []
    assert rows_of(labels, [*falling, ("p2", 0.5)]).queries == []
    assert rows_of(labels, [("p0", 1.0), ("p1", 1.0)]).queries == []
    assert rows_of(labels, [("p0", 1.0 + 1e-9), ("p1", 1.0)]).queries == [], "trec_eval has single precision"
    assert rows_of(labels, None).queries == []
