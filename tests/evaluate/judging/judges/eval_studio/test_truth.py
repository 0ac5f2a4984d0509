"""Against the expected response: documented and published values, and what other libraries say."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support
from support import judge_bench, tiny_models
from support.item_replies import between, items, verdicts
from support.json_lines import write_lines
from support.judge_bench import Bench
from support.made_cases import HOSTILE, case_of, evaluator_of, judged, labels
from support.verdict_bench import asked, judge_one

from ragassay.cli import main
from ragassay.evaluate.figures.evaluator_values import classification_figures
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.judging.judges.eval_studio.truth import claims_f1
from ragassay.evaluate.statistics.resamples import resamples

pytestmark = pytest.mark.xdist_group("models")

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
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import cos_sim

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


def test_without_claims_to_hold_it_against_there_is_no_value(bench, monkeypatch):
    row = judge_one(bench, monkeypatch, NAME, REPLIES, *NO_SIMILARITY, answer=ANSWER, expected="Hello.")[NAME]
    assert (row.label, row.error) == (None, "no value: the expected response makes no claim")


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


CLASSES = ["negative", "neutral", "positive"]


@pytest.mark.parametrize(
    ("answer", "expected", "label"),
    [
        ("positive", "positive", 1),
        (' **"Positive".**\n', "positive", 1),
        ("The class is positive.", "positive", 0),
        ("negative", "positive", 0),
        ("gut", "positive\ngut", 1),
        ("正面。", "正面", 1),
    ],
)
def test_an_answer_names_the_class_or_does_not(answer, expected, label):
    assert labels(evaluator_of("classification"), case_of(answer, {"expected_response": expected})) == {
        "classification": label
    }


def test_an_expected_class_that_is_not_set_has_no_value():
    (row,) = judged(evaluator_of("classification", classes=("yes", "no")), case_of("yes", {"expected_response": "si"}))
    assert row.error == "no value: the expected response is none of the classes that are set"


def classes_of(seed: int, n: int):
    """Expected and given classes of a made-up run, in which some answers name no class."""
    generator = random.Random(seed)
    expected = [generator.choice(CLASSES) for _ in range(n)]
    given = [one if generator.random() < 0.6 else generator.choice([*CLASSES, "I cannot say"]) for one in expected]
    return expected, given


def run(seed: int, n: int):
    """The rows, and the classes."""
    expected, given = classes_of(seed, n)
    pairs = enumerate(zip(given, expected, strict=True))
    cases = [case_of(g, {"expected_response": e}, id=f"q{i}") for i, (g, e) in pairs]
    return judged(evaluator_of("classification"), *cases), expected, given


@pytest.mark.parametrize("seed", range(3))
def test_the_figures_of_a_run_are_scikit_learn_s(seed):
    rows, expected, given = run(seed, 40)
    found = classification_figures(rows, resamples([row.query_id for row in rows], 1, 0))["ours"]
    assert found["accuracy"].value == pytest.approx(accuracy_score(expected, given))
    options = {"labels": CLASSES, "zero_division": float("nan")}
    names = ("precision", "recall", "f1")
    macro = precision_recall_fscore_support(expected, given, average="macro", **options)[:3]
    each = precision_recall_fscore_support(expected, given, **options)[:3]
    for name, mean, values in zip(names, macro, each, strict=True):
        assert found[name].value == pytest.approx(mean) and found[name].n == 40
        assert [found[f"{name}({one})"].value for one in CLASSES] == pytest.approx(list(values))
        assert found[name].ci_low < found[name].value < found[name].ci_high


def test_a_class_that_nobody_named_has_no_precision_and_failed_answers_are_counted():
    cases = [case_of("a", {"expected_response": "a"}), case_of("a", {"expected_response": "b"}, id="q2")]
    cases.append(case_of("a", {"expected_response": "c"}, id="q3"))
    rows = judged(evaluator_of("classification", classes=("a", "b")), *cases)
    found = classification_figures(rows, resamples(["q1", "q2", "q3"], 1, 0))["ours"]
    assert (found["precision(b)"].value, found["recall(b)"].value, found["precision(a)"].value) == (None, 0, 0.5)
    assert found["precision"].value == 0.5  # of the one class that has one, as with zero_division=nan
    assert {figure.n_failed for figure in found.values()} == {1} and found["accuracy"].n == 2


def test_the_interval_of_the_macro_means_covers_the_truth_and_widens_with_clusters():
    # the truth by 8,000 answers of the same kind; of 40 runs some 38 hold it, and 33 or fewer in less than 1 of 100
    expected, given = classes_of(99, 8_000)
    truth = precision_recall_fscore_support(expected, given, labels=CLASSES, average="macro")[2]
    hits = 0
    for seed in range(40):
        some, *_ = run(1000 + seed, 60)
        f1 = classification_figures(some, resamples([row.query_id for row in some], 1, 0))["ours"]["f1"]
        hits += f1.ci_low <= truth <= f1.ci_high
    assert hits >= 34
    twice = [row.model_copy(update={"query_id": f"{row.query_id}-{copy}"}) for row in some for copy in (1, 2)]
    ids = [row.query_id for row in twice]
    together = Clusters.named(ids, [id.rsplit("-")[0] for id in ids])
    alone, kept = (classification_figures(twice, resamples(ids, 1, 0, c))["ours"]["f1"] for c in (Clusters(), together))
    assert kept.value == alone.value == f1.value
    assert kept.ci_high - kept.ci_low > 1.3 * (alone.ci_high - alone.ci_low)


def test_the_command_prints_the_figures_of_the_run(tmp_path, capsys):
    answers = [
        {"query_id": f"q{i}", "query": "?", "agent": "ours", "answer": answer, "expected_response": "yes"}
        for i, answer in enumerate(["yes", "Yes.", "no", "maybe"])
    ]
    write_lines(tmp_path / "a.jsonl", answers)
    out = tmp_path / "out.jsonl"
    files = ["--answers", str(tmp_path / "a.jsonl"), "--out", str(out), "--model", "openai:none"]
    assert main(["judge", *files, "--with", "classification"]) == 0
    printed = capsys.readouterr().out
    assert "recall(yes)" in printed and "0.500" in printed
    assert [json.loads(line)["label"] for line in out.read_text().splitlines()] == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("answer", "expected", "cosine"),
    [
        ("north", "north", 1.0),
        ("steep", "north", 0.6),
        ("north east", "north", 0.5**0.5),
        ("north", "east", 0.0),
        ("south", "north", -1.0),
    ],
)
def test_the_cosine_of_both_texts_whole(embedding, answer, expected, cosine) -> None:
    (row,) = embedding.judge("semantic_similarity", answer=answer, expected=expected)
    assert row.label == pytest.approx(cosine) and row.score == pytest.approx((1 + cosine) / 2)
    assert row.judge == embedding.model and row.criterion == "semantic_similarity"
    assert not embedding.bench.server.requests


def test_an_embedding_of_its_own_by_the_settings(embedding, tmp_path) -> None:
    other = tiny_models.static_model(tmp_path, {"north": (1.0, 0.0), "steep": (0.0, 1.0)})
    (row,) = embedding.judge("semantic_similarity", answer="steep", embedding=other)
    assert row.label == pytest.approx(0.0) and row.judge == other


@pytest.mark.parametrize(
    ("answer", "expected", "error"),
    [
        ("?!", "north", "no value: the answer holds no words"),
        ("north", "...", "no value: the expected response holds no words"),
        ("nowhere", "north", "no value: {model} gives no vector for 'nowhere'"),
    ],
)
def test_what_cannot_be_embedded_has_no_value(embedding, answer, expected, error) -> None:
    (row,) = embedding.judge("semantic_similarity", answer=answer, expected=expected)
    assert row.label is None and row.score is None and row.error == error.format(model=embedding.model)


def test_a_cross_encoder_in_place_of_the_embedding(embedding, tmp_path) -> None:
    from sentence_transformers import CrossEncoder

    folder = tiny_models.cross_encoder(tmp_path / "sts", ("score",))  # 64 tokens, 3 of them special

    def judged(answer, expected="it"):
        return embedding.judge("semantic_similarity", answer=answer, expected=expected, cross_encoder=folder)[0]

    row = judged("it waits busily", "a busy wait")
    expected = CrossEncoder(folder, device="cpu").predict([("a busy wait", "it waits busily")])[0]
    assert 0.01 < expected < 0.99
    assert row.label == row.score == pytest.approx(float(expected), abs=1e-6) and row.judge == folder
    assert judged(("wait " * 60).strip()).error is None
    said = f"no value: the two texts are longer than the 64 tokens that {folder} reads"
    assert judged(("wait " * 61).strip()).error == said, "a pair that would be cut off"


def test_a_cross_encoder_that_is_not_there_is_one_sentence(embedding, tmp_path, capsys) -> None:
    assert not embedding.judge("semantic_similarity", cross_encoder=str(tmp_path))
    said = capsys.readouterr().err
    assert embedding.bench.status == 2 and "cannot be loaded" in said
    assert "give a folder or a hub name as cross_encoder under [evaluate.settings.semantic_similarity]" in said


TWO_SENTENCES = "North lies here. East lies here."


def test_each_sentence_against_the_nearest_expected_one(embedding) -> None:
    mean, least = embedding.judge(
        "sentence_similarity", answer="North lies there [1]. Steep lies there.", expected=TWO_SENTENCES
    )
    assert mean.criterion == "sentence_similarity_mean" and mean.label == pytest.approx((1 + 0.8) / 2)
    assert least.criterion == "sentence_similarity_min" and least.label == pytest.approx(0.8)
    (detail,) = mean.details
    assert detail["sentence"] == "Steep lies there." and detail["nearest"] == "East lies here."
    assert detail["score"] == pytest.approx(0.8)


def test_a_sentence_that_stands_twice_counts_twice(embedding) -> None:
    mean, _ = embedding.judge("sentence_similarity", answer="Steep. Steep. East.", expected=TWO_SENTENCES)
    assert mean.label == pytest.approx((0.8 + 0.8 + 1) / 3)


def test_sentences_without_words_have_no_similarity(embedding) -> None:
    for answer, expected, said in (("--", TWO_SENTENCES, "the answer"), ("north", "?", "the expected response")):
        rows = embedding.judge("sentence_similarity", answer=answer, expected=expected)
        assert [f"no value: {said} is too short to embed" in row.error for row in rows] == [True] * 2


def settings(bench: Bench, embedding: str) -> tuple[str, str]:
    return bench.config("[retrieval]", f"embedding = {json.dumps(embedding)}")


@pytest.mark.parametrize(("name", "prompt"), [("tiny", ""), ("tiny-e5", "query: ")])
def test_the_cosine_of_answer_and_expected_response(bench, tmp_path, name: str, prompt: str) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import cos_sim

    folder = Path(tiny_models.sentence_model(tmp_path / "made")).rename(tmp_path / name)
    rows = bench.judge("golden_similarity", *settings(bench, str(folder)))
    model = SentenceTransformer(str(folder), device="cpu")
    texts = ["It is in util/delay.h [1].", "util/delay.h", "By sei() [1]. It is a macro.", "By calling sei()."]
    one, two, three, four = model.encode(texts, prompt=prompt)
    expected = [float(cos_sim(one, two)), float(cos_sim(three, four))]
    assert [row.label for row in rows] == pytest.approx(expected, abs=1e-5)
    assert [row.score for row in rows] == pytest.approx([(1 + value) / 2 for value in expected], abs=1e-5)
    assert {row.judge for row in rows} == {str(folder)} and not bench.server.requests


def test_a_golden_answer_has_cosine_1_however_long_it_is(bench, tmp_path, monkeypatch) -> None:
    folder = tiny_models.sentence_model(tmp_path)
    text = "the header waits busily " * 100
    answer = {"query_id": "mine", "query": "?", "expected_response": text, "agent": "ours", "answer": text}
    queries = [{"_id": "mine", "text": "?", "metadata": {"expected_response": text}}]
    monkeypatch.setattr(judge_bench, "QUERIES", queries)
    rows = bench.judge("golden_similarity", *settings(bench, folder), answers=[answer])
    assert [row.label for row in rows] == pytest.approx([1.0])


def test_the_end_of_a_long_answer_counts(bench, tmp_path) -> None:
    folder = tiny_models.sentence_model(tmp_path)
    long = " ".join(["busy"] * 70)
    answers = [
        {"query_id": "q1", "agent": "one", "answer": f"{long} sei"},
        {"query_id": "q1", "agent": "two", "answer": f"{long} processor"},
    ]
    one, two = bench.judge("golden_similarity", *settings(bench, folder), answers=answers)[:2]
    assert one.label != two.label


def test_an_embedding_that_cannot_be_loaded_is_one_sentence(bench, tmp_path, capsys) -> None:
    bench.judge("golden_similarity", *settings(bench, str(tmp_path)))
    assert bench.status == 2 and "cannot be loaded" in capsys.readouterr().err
