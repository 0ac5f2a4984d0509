"""BLEU and ROUGE: what sacrebleu and rouge-score say, published values and hostile answers."""

from __future__ import annotations

import time

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from support.made_cases import HOSTILE, case_of, evaluator_of, judged, labels

WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "dog"]), min_size=1, max_size=12).map(" ".join)
TRUTH = {"expected_response": "the cat sat on the mat"}


@given(WORDS, WORDS, WORDS)
def test_bleu_is_sacrebleu_s_over_all_lines(answer, one, other):
    found = labels(evaluator_of("bleu"), case_of(answer, {"expected_response": f"{one}\n\n{other}"}))
    for order in (1, 2, 3, 4):
        metric = sacrebleu.BLEU(max_ngram_order=order, effective_order=True)
        assert found[f"bleu_{order}"] == pytest.approx(metric.sentence_score(answer, [one, other]).score / 100)


def test_bleu_of_papineni_s_example():
    # Papineni et al. 2002, example 2: "the" seven times against a reference that has it twice is 2/7.
    answer, truth = "the the the the the the the", {"expected_response": "the cat is on the mat"}
    assert labels(evaluator_of("bleu"), case_of(answer, truth))["bleu_1"] == pytest.approx(2 / 7)


def test_the_tokenizer_is_an_option():
    truth = {"expected_response": "看门狗重启处理器"}
    case = case_of("看门狗重启系统", truth)
    assert labels(evaluator_of("bleu"), case)["bleu_1"] == 0
    assert labels(evaluator_of("bleu", tokenize="char"), case)["bleu_1"] == pytest.approx(
        5 / 7 * 2.718281828 ** (-1 / 7)
    )


@given(WORDS, WORDS, WORDS)
def test_rouge_is_rouge_score_s_best_of_all_lines(answer, one, other):
    found = labels(evaluator_of("rouge"), case_of(answer, {"expected_response": f"{one}\n{other}"}))
    best = RougeScorer(["rouge1", "rouge2", "rougeL"]).score_multi([one, other], answer)
    for name, theirs in (("rouge_1", "rouge1"), ("rouge_l", "rougeL")):
        assert found[name] == pytest.approx(best[theirs].fmeasure)
    if found["rouge_2"] is not None:
        assert found["rouge_2"] == pytest.approx(best["rouge2"].fmeasure)


def test_an_answer_without_a_word_has_no_value():
    rows = judged(evaluator_of("rouge"), case_of("... !?", TRUTH))
    assert {row.error for row in rows} == {"no value: there are too few words"}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", ["bleu", "rouge", "classification"])
def test_hostile_answers(name, text):
    begun = time.process_time()
    for truth in (TRUTH, {"expected_response": text if text.strip() else "x"}):
        rows = judged(evaluator_of(name), case_of(text, truth))
        assert all((row.label is None) != (row.error is None) for row in rows)
        assert all(row.error is None or row.error.startswith("no value") for row in rows)
    assert time.process_time() - begun < 10, "it hangs"
