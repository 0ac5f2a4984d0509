"""Ranking measures: closed forms, what a failed judgment leaves open, and `score_files`."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import log2

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.evaluate.from_files.rate import missing_queries, score_files
from ragassay.evaluate.measures.by_labels import ideal_gains, label_rows
from ragassay.evaluate.measures.measure import Judged, by_query, from_labels, measure


def ranking(passages):
    return [(passage, -float(n)) for n, passage in enumerate(passages)]


def judged(spelling, labels, passages, failed=()):
    rows = None if passages is None else ranking(passages)
    return measure(spelling).values(Judged(["q"], {"q": labels}, {"q": rows}, {"q": list(failed)}))["q"]


NDCG = (1 / log2(3) + 2 / log2(4)) / (2 + 2 / log2(3) + 1 / log2(4))
"""Järvelin and Kekäläinen 2002, with trec_eval's gain (the label) and discount log2(rank + 1), over the best order."""


@pytest.mark.parametrize(
    ("spelling", "value"),
    [("RR(rel=2)@5", 1 / 3), ("RR@5", 1 / 2), ("P@5", 2 / 5), ("R@5", 2 / 3), ("RR@1", 0), ("nDCG@5", NDCG)],
)
def test_closed_forms(spelling, value):
    assert judged(spelling, {"a": 0, "b": 1, "c": 2, "d": 0, "x": 2}, "abcd") == pytest.approx(value)


some_labels = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([-1, 0, 1, 2, 3]), max_size=6)
some_ranking = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from([3.0, 2.0, 2.0, -1.0])),
    max_size=6,
    unique_by=lambda row: row[0],
)


@given(
    st.lists(st.tuples(some_labels, some_ranking), min_size=1, max_size=4), st.sampled_from([1, 2]), st.integers(1, 4)
)
def test_reciprocal_ranks_are_those_of_ms_marcos_evaluation(rows, rel, cutoff):
    qrels = {f"q{n}": labels for n, (labels, _) in enumerate(rows) if labels}
    rankings = {f"q{n}": row for n, (_, row) in enumerate(rows)}
    runs = {query: dict(row) for query, row in rankings.items()}
    theirs = (
        ir_measures.msmarco.iter_calc([ir_measures.parse_measure(f"RR(rel={rel})@{cutoff}")], qrels, runs)
        if qrels
        else []
    )
    ours = by_query(f"RR(rel={rel})@{cutoff}", qrels, rankings)
    assert ours == pytest.approx({metric.query_id: metric.value for metric in theirs})


def test_nothing_retrieved_is_0_and_a_failed_retrieval_is_not():
    assert judged("RR@5", {"a": 2}, "") == 0
    assert judged("RR@5", {"a": 2}, None) is None
    assert measure("RR@5").values(Judged(["q"], {"q": {"a": 2}}, {})) == {"q": 0}


@pytest.mark.parametrize(
    ("spelling", "labels", "value"),
    [
        ("RR(rel=1)@5", {"a": 2, "b": 0}, 1.0),  # settled above the failed c
        ("RR(rel=1)@5", {"a": 0, "b": 0}, None),  # c might be the first
        ("RR(rel=2)@5", {"a": 1, "b": 2}, 0.5),
        ("P@5", {"a": 1, "b": 2}, None),
        ("nDCG@5", {"a": 2, "b": 2}, None),
    ],
)
def test_a_failed_judgment_leaves_open_what_it_might_have_changed(spelling, labels, value):
    assert judged(spelling, labels, "abc", failed="c") == value


@pytest.mark.parametrize(
    ("labels", "failed", "value"),
    [
        ({"a": 2}, "bc", None),  # neither or both: 1; c alone: (1 + 2/3) / 2
        ({"b": 2}, "axy", None),  # none: 1/2; a, x and y: (1 + 1) / 4; a alone: 1
        ({"a": 2, "b": 0, "c": 0}, "x", None),  # 1 or 1/2
        ({"a": 0, "b": 0, "c": 0}, "xy", 0.0),
        ({"a": 2, "c": 0}, "b", 1.0),  # 1/1, or (1/1 + 2/2) / 2
    ],
)
def test_open_passages_may_raise_and_lower_ap(labels, failed, value):
    assert judged("AP(rel=2)@5", labels, "abc", failed=failed) == value


def test_a_failed_judgment_of_another_agents_passage_opens_ndcg_and_not_mrr():
    labels = {"a": 2, "b": 0}
    assert judged("nDCG@5", labels, "ab", failed="z") is None
    assert judged("RR(rel=2)@5", labels, "ab", failed="z") == 1
    full = dict.fromkeys("abcde", 2)
    assert judged("nDCG@5", full, "abcde", failed="z") == pytest.approx(1)  # the ideal has five 2s already


@given(
    st.sampled_from(["RR(rel=2)@5", "RR(rel=1)@5", "nDCG@5", "P(rel=2)@5", "AP(rel=2)@5"]),
    st.fixed_dictionaries(dict.fromkeys("abcdxy", st.integers(0, 2))),
    st.sets(st.sampled_from("abcdxy"), max_size=3),
    st.permutations("abcd"),
)
def test_a_value_stands_where_no_label_that_failed_could_change_it(spelling, labels, failed, order):
    """Every labelling of what failed is tried. A rank or a count is known wherever it is settled."""
    known = {passage: label for passage, label in labels.items() if passage not in failed}
    tried = [known | dict(zip(failed, each, strict=True)) for each in product((0, 1, 2), repeat=len(failed))]
    values = {round(judged(spelling, each, order), 9) for each in tried}
    found = judged(spelling, known, order, failed)
    assert found is None or [found] == pytest.approx(list(values))
    if spelling.startswith(("RR", "P")):
        assert found is not None or len(values) > 1


@pytest.mark.parametrize("spelling", ["nDCG@10", "RR(rel=2)@5", "R(rel=1)@100", "P@5", "AP", "AP(rel=2)", "Success@5"])
def test_spellings_parse_back(spelling):
    assert measure(str(measure(spelling))).parsed == measure(spelling).parsed


@pytest.mark.parametrize(
    "spelling",
    [
        *("", "foo@3", "RR(rel=2)@", "nDCG@x", "RR@0", "P", "NumQ", "ERR@20", "RR(bad=2)", "__import__('os')"),
        *("ndcg_cut", "recall.", "ndcg_cut_ten", "num_rel"),
    ],
)
def test_what_is_not_a_measure_is_told_some_that_are(spelling):
    with pytest.raises(InputError, match=r"is not a measure known here; .*measures are such as nDCG@10.*ndcg_cut_10"):
        measure(spelling)


QRELS = "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t1\nq2\ta\t1\nq3\tc\t1\n"
RUN = "q1 Q0 b 1 9 x\nq1 Q0 a 2 8 x\nq2 Q0 z 1 5 x\nq2 Q0 a 2 4 x\nq9 Q0 a 1 1 x\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels.tsv").write_text(QRELS)
    (tmp_path / "run.trec").write_text(RUN)
    return tmp_path / "qrels.tsv", tmp_path / "run.trec"


def test_score_is_the_mean_over_all_queries_of_the_qrels(files):
    figures = score_files(*files, ["RR(rel=2)@5", "RR@5", "R(rel=1)@100"])
    values = {name: figure.value for name, figure in figures.items()}
    assert values == pytest.approx({"RR(rel=2)@5": 1 / 6, "RR@5": 1 / 2, "R(rel=1)@100": 2 / 3}, abs=1e-8)
    assert {(figure.n, figure.n_failed) for figure in figures.values()} == {(3, 0)}
    assert missing_queries(*files) == 1


def test_score_says_what_is_wrong(files, tmp_path):
    with pytest.raises(InputError, match="not a measure"):
        score_files(*files, ["nDCG@10", "mrr"])
    twice = "q1 Q0 a 1 2 x\nq1 Q0 a 2 1 x\n"
    runs = {"": "has no query", "q7 Q0 a 1 1 x\n": "shares no query", twice: "twice for query 'q1'"}
    for run, says in runs.items():
        (tmp_path / "run").write_text(run)
        with pytest.raises(InputError, match=says):
            score_files(files[0], tmp_path / "run", ["AP"])


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("ndcg_cut_10", "nDCG@10"), ("ndcg_cut.10", "nDCG@10"), ("recall_100", "R@100"), ("recall.100", "R@100"),
        ("map", "AP"), ("map_cut_10", "AP@10"), ("recip_rank", "RR"), ("P_5", "P@5"), ("P.5", "P@5"),
        ("success_5", "Success@5"), ("ndcg", "nDCG"), ("Rprec", "Rprec"), ("bpref", "Bpref"),
    ],
)  # fmt: skip
def test_trec_evals_names_are_the_same_measures(theirs: str, ours: str):
    qrels = {"q": {"a": 1, "b": 2, "c": 0, "d": 1}}
    rankings = {"q": [("c", 4.0), ("b", 3.0), ("x", 2.0), ("a", 1.0)]}
    assert by_query(theirs, qrels, rankings) == by_query(ours, qrels, rankings)


K = 3
PASSAGES = [f"p{n}" for n in range(6)]
labellings = st.dictionaries(st.sampled_from(PASSAGES), st.integers(-1, 2), max_size=6)
some_rankings = st.lists(st.tuples(st.sampled_from(PASSAGES), st.sampled_from([4.0, 3.0, 2.0, 1.0])), max_size=5)


def rows_of(labels, ranking, unsettled=()):
    qrels = {"q": labels}
    rows = label_rows(["q"], qrels, {"q": ranking}, K, ideal_gains(qrels, K))
    return rows.without({"q"} if unsettled else set())


@given(labellings, some_rankings)
def test_where_they_decide_they_are_ir_measures(labels, ranking):
    rows = rows_of(labels, ranking)
    for spelling in from_labels(K):
        for value in rows.values(spelling).values():
            (found,) = ir_measures.iter_calc(
                [ir_measures.parse_measure(spelling)], {"q": labels or {"other": 0}}, {"q": dict(ranking[:K])}
            )
            assert value == pytest.approx(found.value, abs=1e-12)


@given(labellings, some_rankings, st.sets(st.sampled_from(PASSAGES), max_size=2))
def test_judged_values_are_the_same_with_rows_at_hand(labels, ranking, failed):
    failed = failed - labels.keys()
    rows = rows_of(labels, ranking, failed)
    for spelling in (*from_labels(K), f"P@{K}"):
        asked = Judged(["q"], {"q": labels}, {"q": ranking}, {"q": failed})
        found = measure(spelling).values(replace(asked, rows=rows))["q"]
        assert found == pytest.approx(measure(spelling).values(asked)["q"], abs=1e-12)


def test_what_is_open_or_level_is_not_decided():
    labels, falling = {"p0": 2, "p1": 0}, [("p0", 2.0), ("p1", 1.0)]
    assert rows_of(labels, falling).queries == ["q"]
    assert rows_of(labels, falling, ["p5"]).queries == []
    single = [("p0", 1.0 + 1e-9), ("p1", 1.0)]  # as level as trec_eval, which has single precision, sees it
    for ranking in ([*falling, ("p2", 0.5)], [("p0", 1.0), ("p1", 1.0)], single, None):
        assert rows_of(labels, ranking).queries == []
