"""Answer correctness: the example of Ragas' documentation, sentence-transformers' cosine, and scikit-learn's F1."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import cos_sim
from sklearn.metrics import f1_score
from support import tiny_models
from support.item_replies import between, items, verdicts
from support.verdict_bench import asked, judge_one

from ragassay.evaluate.judging.judges.eval_studio.truth import claims_f1

NAME = "answer_correctness_claims"
ANSWER = "Einstein was born in 1879 in Spain."
EXPECTED = "Einstein was born in 1879 in Germany."
CLAIMS = {ANSWER: ["He was born in 1879.", "He was born in Spain."], EXPECTED: ["He was born in 1879.", "In Germany."]}


def entailed(text):
    return verdicts(["entailed" if "1879" in claim else "neutral" for claim in items("claim", text)])


REPLIES = {"claims": lambda text: {"claims": CLAIMS.get(between("answer", text), [])}, "items": entailed}
NO_SIMILARITY = (f"[evaluate.settings.{NAME}]", "weights = [1.0, 0.0]")


def test_the_documented_example_with_the_models_cosine(bench, monkeypatch, tmp_path):
    """docs.ragas.io, "Answer correctness": one claim of each kind, so F1 = 1 / (1 + 0.5 (1 + 1)) = 0.5."""
    folder = tiny_models.sentence_model(tmp_path)
    lines = ("[retrieval]", f"embedding = {json.dumps(folder)}")
    row = judge_one(bench, monkeypatch, NAME, REPLIES, *lines, answer=ANSWER, expected=EXPECTED)[NAME]
    one, two = SentenceTransformer(folder, device="cpu").encode([ANSWER, EXPECTED])
    assert row.details[0] == {"f1": 0.5, "similarity": pytest.approx(float(cos_sim(one, two)), abs=1e-5)}
    assert row.label == pytest.approx(0.75 * 0.5 + 0.25 * float(cos_sim(one, two)), abs=1e-5)
    assert [(d["of"], d["label"]) for d in row.details[1:]] == [
        (side, label) for side in ("answer", "expected_response") for label in ("entailed", "neutral")
    ]


def test_weights_are_settings_and_the_same_claims_are_paid_for_once(bench, monkeypatch):
    names = f"{NAME},factual_correctness,faithfulness"
    replies = REPLIES | {"items": lambda text: entailed(text) if "<document>" in text else verdicts(["yes", "no"])}
    rows = judge_one(bench, monkeypatch, names, replies, *NO_SIMILARITY, answer=ANSWER, expected=EXPECTED)
    assert (rows[NAME].label, rows["factual_f1"].label, rows["faithfulness"].label) == (0.5, 0.5, 0.5)
    assert len(asked(bench)) == 2 + 2 + 1


def test_a_refusal_has_no_true_claim_and_is_0(bench, monkeypatch):
    row = judge_one(bench, monkeypatch, NAME, REPLIES, *NO_SIMILARITY, answer="I cannot say.", expected=EXPECTED)[NAME]
    assert row.label == 0


@pytest.mark.parametrize(
    ("answer", "expected", "why"),
    [
        (" – ", EXPECTED, "the answer holds no words"),
        (ANSWER, "Hello.", "the expected response makes no claim"),
    ],
)
def test_without_claims_to_hold_it_against_there_is_no_value(bench, monkeypatch, answer, expected, why):
    row = judge_one(bench, monkeypatch, NAME, REPLIES, *NO_SIMILARITY, answer=answer, expected=expected)[NAME]
    assert (row.label, row.error) == (None, f"no value: {why}")


def test_weights_that_weigh_nothing_are_refused(bench, monkeypatch, capsys):
    judge_one(bench, monkeypatch, NAME, REPLIES, f"[evaluate.settings.{NAME}]", "weights = [0.0, 0.0]")
    assert bench.status == 2 and "weights are both 0" in capsys.readouterr().err


@given(st.integers(1, 9), st.integers(0, 9), st.integers(0, 9))
def test_f1_is_scikit_learns(true, false, missed):
    found = (
        [("answer", "entailed")] * true + [("answer", "neutral")] * false + [("expected_response", "neutral")] * missed
    )
    claims = [{"of": of, "label": label} for of, label in found]
    truth, said = [1] * true + [0] * false + [1] * missed, [1] * (true + false) + [0] * missed
    assert claims_f1(claims) == pytest.approx(f1_score(truth, said))
