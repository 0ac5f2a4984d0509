"""Labelled sets as they are read, drawn from and shuffled."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.json_lines import write_lines

from ragassay.errors import InputError
from ragassay.evaluate.agreement.labelled_sets import deranged, read_relevance, read_rows, sample
from ragassay.evaluate.agreement.meta_eval import relevant_labels


def test_passages_without_a_label_from_a_run_count_as_not_relevant(tmp_path):
    passages = write_lines(tmp_path / "corpus.jsonl", [{"_id": f"p{n}", "text": f"Passage {n}."} for n in (1, 2, 3)])
    queries = write_lines(tmp_path / "queries.jsonl", [{"_id": "q1", "text": "What is in number 1?"}])
    qrels, run = tmp_path / "qrels.trec", tmp_path / "bm25.trec"
    qrels.write_text("q1 0 p1 3\n")
    run.write_text("q1 Q0 p1 1 3.0 bm25\nq1 Q0 p2 2 2.0 bm25\nq1 Q0 p3 3 1.0 bm25\n")
    labelled = read_relevance(qrels, passages, queries, negatives=run, depth=2)
    assert [(row.case.query.id, row.subject, row.label) for row in labelled.rows] == [("q1", "p1", 3), ("q1", "p2", 0)]
    assert labelled.notes == (f"1 passages without a label, from {run}, are taken as not relevant",)


def test_correctness_rows_carry_what_was_expected(tmp_path):
    rows = [
        {"question": "Where?", "answer": "Here.", "expected": ["Here", "There"], "label": "yes"},
        {"question": "When?", "answer": "Now.", "expected": "Later", "label": "no"},
    ]
    labelled = read_rows(write_lines(tmp_path / "rows.jsonl", rows))
    assert labelled.kind == "correctness"
    assert [row.label for row in labelled.rows] == [1, 0]
    expected = [row.case.query.metadata["expected_response"] for row in labelled.rows]
    assert expected == ["Here\nThere", "Later"]
    table = tmp_path / "rows.csv"
    table.write_text('question,answer,expected,label\nWhere?,Here.,"[""Here"", ""There""]",1\n')
    assert read_rows(table).rows[0].case.query.metadata["expected_response"] == expected[0]


def test_half_of_the_questions_get_the_answer_of_another(tmp_path):
    rows = [{"question": f"What is {n}?", "answer": f"It is {n}."} for n in range(20)]
    labelled = read_rows(write_lines(tmp_path / "pairs.jsonl", rows), seed=3)
    assert [row.label for row in labelled.rows].count(1) == 10
    for number, row in enumerate(labelled.rows):
        own = row.case.answers[0].text == f"It is {number}."
        assert own == (row.label == 1)
    assert read_rows(tmp_path / "pairs.jsonl", seed=3) == labelled
    assert read_rows(tmp_path / "pairs.jsonl", seed=4) != labelled


@given(st.lists(st.sampled_from(["yes", "Yes ", "no", "1990", "Paris"]), min_size=2, max_size=30), st.integers(0, 99))
def test_no_answer_stays_in_its_place_where_that_can_be(answers, seed):
    alike = [answer.strip().casefold() for answer in answers]
    if max(map(alike.count, alike)) * 2 > len(answers):
        with pytest.raises(InputError, match="more than half"):
            deranged(answers, random.Random(seed), Path("f"))
        return
    found = deranged(answers, random.Random(seed), Path("f"))
    assert sorted(found) == sorted(answers)
    assert all(a.strip().casefold() != b for a, b in zip(found, alike, strict=True))


def test_a_balanced_draw_takes_half_of_what_counts_and_evenly_of_the_rest(tmp_path):
    stances = ["completely-support"] * 30 + ["irrelevant"] * 100 + ["refute"] * 5 + ["partially-support"] * 20
    rows = [{"claim": f"Claim {n}", "document": "D", "label": stance} for n, stance in enumerate(stances)]
    labelled = read_rows(write_lines(tmp_path / "claims.jsonl", rows))
    drawn = sample(labelled, 40, 7, relevant_labels(labelled, ["completely-support"]).labels)
    counts = {stance: sum(row.label == stance for row in drawn.rows) for stance in set(stances)}
    assert counts == {"completely-support": 20, "irrelevant": 8, "partially-support": 7, "refute": 5}


def test_a_draw_over_all_grades_takes_as_many_of_each_and_is_the_same_again(tmp_path):
    grades = [0] * 60 + [1] * 25 + [2] * 10 + [3] * 5
    rows = [{"claim": f"Claim {n}", "document": "D", "label": grade} for n, grade in enumerate(grades)]
    labelled = read_rows(write_lines(tmp_path / "claims.jsonl", rows))
    for n, expected in ((20, [5, 5, 5, 5]), (22, [6, 6, 5, 5]), (40, [13, 12, 10, 5]), (200, [60, 25, 10, 5])):
        drawn = sample(labelled, n, 7, evenly=True)
        assert [sum(row.label == grade for row in drawn.rows) for grade in range(4)] == expected
        assert sample(labelled, n, 7, evenly=True) == drawn
    assert sample(labelled, 20, 8, evenly=True) != sample(labelled, 20, 7, evenly=True)
    assert sample(labelled, 20, 7).whole is None, "drawn in the shares of the set"
    assert sample(labelled, 100, 7, evenly=True).whole is None, "nothing was left out"
    assert sample(labelled, 20, 7, evenly=True).whole == {0: 60, 1: 25, 2: 10, 3: 5}


def test_a_draw_may_keep_rows_of_one_claim_apart(tmp_path):
    rows = [{"claim": f"Claim {n % 4}", "document": f"D{n}", "label": n % 2} for n in range(40)]
    drawn = sample(read_rows(write_lines(tmp_path / "claims.jsonl", rows)), 40, 7, apart=True)
    assert len(drawn.rows) == 4 and len({row.cluster for row in drawn.rows}) == 4


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"claim": "A", "document": "B", "label": ""}], "rows.jsonl:1: has no label"),
        ([{"claim": "A", "document": "B", "label": 1}, {"claim": "", "document": "B", "label": 1}], ":2: has no claim"),
        (
            [{"claim": "A", "document": "B", "label": 1}, {"claim": "A", "document": "B", "label": "so"}],
            ":2: labels are",
        ),
        ([{"text": "A"}], "of no kind"),
        ([], "no rows"),
    ],
)
def test_a_row_that_cannot_be_used_is_said_with_its_line(tmp_path, rows, said):
    with pytest.raises(InputError, match=said):
        read_rows(write_lines(tmp_path / "rows.jsonl", rows))


def test_labels_of_answers_are_not_left_out_unless_asked_for(tmp_path):
    path = write_lines(
        tmp_path / "a.jsonl", [{"question": f"q{n}?", "answer": f"a{n}", "label": n % 2} for n in range(4)]
    )
    with pytest.raises(InputError, match="labels answers, but says not what was expected"):
        read_rows(path)
    assert len(read_rows(path, "answers").rows) == 4
