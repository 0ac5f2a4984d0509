"""Citations over HTTP: precision over citations, recall over sentences, and Open RAG Eval's, worked by hand."""

from __future__ import annotations

import pytest
from support.item_replies import between, items, script, verdicts
from support.loopback.behaviours import refusal

WHICH = "items"
SUPPORT = "reason,label"

ANSWER = (
    "Delays are in util/delay.h [1]. They wait busily and so keep the processor occupied [1][2]. It is fast. "
    "I found no more."
)


def answer(text, passages=("p1", "p2")):
    return [{"query_id": "q1", "agent": "ours", "answer": text, "passages": list(passages)}]


def which(text):
    return verdicts(["no" if "found no" in sentence else "yes" for sentence in items("sentence", text)])


def support(text):
    """The header by p1 fully; the wait by each passage in part, by both fully."""
    both = "declares _delay_ms()" in text and "keeps the processor" in text
    label = "full" if both or "util/delay.h" in between("sentence", text) else "partial"
    return {"reason": f"It is {label}.", "label": label}


def judge(bench, text, *more, passages=("p1", "p2"), label=support, told=which):
    bench.server.script = script({WHICH: told, SUPPORT: label})
    rows = bench.judge("citations", *more, answers=answer(text, passages))
    mine = [row for row in rows if row.query_id == "q1"]
    ours = {row.criterion.removeprefix("citation_"): row.label for row in mine if row.criterion.startswith("citation_")}
    return mine, ours


def theirs(rows):
    return [row.label for row in rows if row.criterion.startswith("weighted_")]


def supports(bench):
    return [r.body for r in bench.server.requests if r.body["messages"][1]["content"].count("<sentence>")]


def test_precision_recall_and_f1_by_hand(bench):
    """Three citations 1, 0.5, 0.5; three sentences that state something: 1, 1 (both together), 0 (no citation)."""
    rows, values = judge(bench, ANSWER)
    p, r = 2 / 3, 2 / 3
    assert values == pytest.approx({"precision": p, "recall": r, "f1": 2 * p * r / (p + r)})
    assert len(supports(bench)) == 4
    # p1 has 1 and 0.5, p2 has 0.5; four sentences: 1, the mean of two halves, and two without a citation
    precision, recall = (3 / 4 + 1 / 2) / 2, (1 + 1 / 2) / 4
    assert theirs(rows) == pytest.approx([precision, recall, 2 * precision * recall / (precision + recall)])
    assert rows[0].details[1] == {
        "sentence": "They wait busily and so keep the processor occupied.",
        "support": 1.0,
        "reason": "It is full.",
        "citations": [
            {"number": 1, "support": 0.5, "reason": "It is partial."},
            {"number": 2, "support": 0.5, "reason": "It is partial."},
        ],
    }
    assert [detail["sentence"] for detail in rows[0].details][2:] == ["It is fast."]


def test_a_number_beyond_the_passages_supports_nothing_and_is_not_asked(bench):
    rows, values = judge(bench, "It is in util/delay.h [1][7]. Or in util/delay.h [0].")
    assert values == pytest.approx({"precision": 1 / 3, "recall": 1 / 2, "f1": 2 / 5})
    assert theirs(rows) == [1, 1, 1], "what only cites a passage that is not there is passed over"
    assert len(supports(bench)) == 1
    assert rows[0].details[1]["citations"] == [{"number": 0, "support": 0, "reason": "there is no such passage"}]


def test_without_citations_recall_is_0_and_precision_has_no_value(bench):
    rows, values = judge(bench, "It is in util/delay.h. It waits.")
    assert values == {"precision": None, "recall": 0, "f1": 0}
    assert theirs(rows) == [0, 0, 0]
    assert rows[0].error == "no value: the answer cites nothing"
    assert not supports(bench)


@pytest.mark.parametrize(("text", "why"), [("I found no more [1].", "the answer states nothing"), ("…", "no sentence")])
def test_an_answer_that_states_nothing_has_no_value(bench, text, why):
    rows, values = judge(bench, text)
    assert values == dict.fromkeys(("precision", "recall", "f1"))
    assert all(row.error.startswith("no value: ") and why in row.error for row in rows[:3])
    assert theirs(rows) == ([0.5] * 3 if "[1]" in text else [None] * 3)


def test_theirs_is_open_rag_eval_s_own_computation(bench):
    """vectara/open-rag-eval, citation_metric.py: scores collected by citation and by part, averaged, then the mean."""
    text = "It waits [2]. In util/delay.h [1]. I found no more [3][2]. Not so [9][1]. It is in util/delay.h [2]. Fine."
    rows, _ = judge(bench, text, passages=("p1", "p2", "p3"))
    parts = [[("p2", 0.5)], [("p1", 1.0)], [("p3", 0.5), ("p2", 0.5)], [("p1", 0.5)], [("p2", 1.0)], []]
    scores = {}
    for passage, score in (pair for part in parts for pair in part):
        scores.setdefault(passage, []).append(score)
    precision = sum(sum(found) / len(found) for found in scores.values()) / len(scores)
    recall = sum(sum(score for _, score in part) / max(len(part), 1) for part in parts) / len(parts)
    assert theirs(rows) == pytest.approx([precision, recall, 2 * precision * recall / (precision + recall)])
    said = [detail["sentence"] for detail in rows[0].details]
    assert said == ["It waits.", "In util/delay.h.", "Not so.", "It is in util/delay.h.", "Fine."]


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        ({"label": lambda text: refusal() if text.count("<passage>") == 2 else support(text)}, "1 of 4 citations"),
        ({"told": lambda text: refusal()}, "4 of 4 sentences"),
    ],
)
def test_a_citation_that_could_not_be_judged_or_sentences_that_could_not_be_told_fail_the_answer(bench, replies, said):
    rows, values = judge(bench, ANSWER, **replies)
    assert set(values.values()) == {None}
    assert rows[0].error.startswith(f"{said} could not be judged: the model refused")


def test_the_weight_of_a_citation_by_its_probability(bench):
    bench.server.script = script({WHICH: which, "": lambda text: {"0": 0.2, "1": 0.5, "2": 0.3}})
    rows = bench.judge("citations", "--mode", "probability", answers=answer("It is in util/delay.h [1]."))
    assert [row.label for row in rows if row.query_id == "q1"] == [0.5] * 6
    assert rows[0].details[0]["citations"][0]["probability"] == pytest.approx(0.5)
