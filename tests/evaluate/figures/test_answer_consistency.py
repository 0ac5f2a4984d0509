"""Consistency: BERTScore and ROUGE by hand and by other libraries, spreads by hand, and the verb on files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import tiny_models
from support.json_lines import write_lines

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.evaluate.figures.answer_consistency import Runs, measure_consistency, spread
from ragassay.evaluate.texts.bert_score import TokenEncoder, bert_score
from ragassay.evaluate.texts.rouge import rouge

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def vectors(*rows: list[float]) -> np.ndarray:
    return np.array(rows, np.float32).reshape(len(rows), 2)


def test_bert_score_by_hand() -> None:
    # equations 1 to 3 of Zhang et al.: recall (1 + 0) / 2, precision 1, F1 2 * 0.5 / 1.5
    found = bert_score(vectors(EAST, NORTH), vectors(EAST))
    assert found == pytest.approx((1.0, 0.5, 2 / 3))
    assert bert_score(vectors(EAST), vectors(EAST, NORTH)) == pytest.approx((0.5, 1.0, 2 / 3))
    assert bert_score(vectors(), vectors(EAST)) is None
    assert bert_score(vectors(EAST), vectors(NORTH)).f1 is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_swapping_the_texts_swaps_precision_and_recall(one: list[float], other: list[float]) -> None:
    a, b = (vectors(*([np.cos(x), np.sin(x)] for x in angles)) for angles in (one, other))
    there, back = bert_score(a, b), bert_score(b, a)
    assert (there.precision, there.recall, there.f1) == pytest.approx((back.recall, back.precision, back.f1))
    assert bert_score(a, a).f1 == pytest.approx(1.0, abs=1e-6)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return tiny_models.sentence_model(tmp_path_factory.mktemp("models"))


def test_token_vectors_are_the_last_layer_without_the_tokens_around(model: str) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    texts = ["the header waits busily", "sei"]
    found = TokenEncoder(model).vectors([*texts, texts[0]])
    for text in texts:
        inputs = AutoTokenizer.from_pretrained(model)(text, return_tensors="pt")
        with torch.no_grad():
            states = AutoModel.from_pretrained(model).eval()(**inputs).last_hidden_state[0, 1:-1].numpy()
        expected = states / np.linalg.norm(states, axis=1, keepdims=True)
        assert found[text] == pytest.approx(expected, abs=1e-5)


def test_every_token_of_a_long_text_has_a_vector(model: str) -> None:
    assert len(TokenEncoder(model).vectors(["busy " * 200])["busy " * 200]) == 200


def test_a_model_without_token_vectors_is_refused(tmp_path: Path) -> None:
    import tokenizers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, "[UNK]"))
    module = StaticEmbedding(tokenizer, embedding_weights=np.ones((1, 4), np.float32))
    SentenceTransformer(modules=[module], device="cpu").save(str(tmp_path))
    with pytest.raises(InputError, match="has no vectors for tokens"):
        TokenEncoder(str(tmp_path)).vectors(["a"])


def test_rouge_by_hand() -> None:
    # two of three words, one of two pairs, the longest common subsequence "the cat"
    assert rouge("The cat sat.", "the cat ran") == pytest.approx({"rouge1": 2 / 3, "rouge2": 1 / 2, "rougeL": 2 / 3})
    assert rouge("a b c d", "d c b a")["rougeL"] == pytest.approx(1 / 4)
    assert rouge("größe ändern", "Größe ändern")["rouge2"] == 1.0
    assert rouge("yes", "yes") == {"rouge1": 1.0, "rouge2": None, "rougeL": 1.0}
    assert rouge("?", "!") == {"rouge1": None, "rouge2": None, "rougeL": None}


@given(st.text("ab cd_.1", max_size=20), st.text("ab cd_.1", max_size=20))
def test_on_plain_english_rouge_is_google_s_own(one: str, other: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    theirs = RougeScorer(["rouge1", "rouge2", "rougeL"]).score(one, other)
    for name, value in rouge(one, other).items():
        assert value is None or value == theirs[name].fmeasure


@pytest.mark.parametrize(
    ("values", "mean", "variance", "cv"),
    [
        ((0.2, 0.4, None), 0.3, 0.02, 0.02**0.5 / 0.3),
        ((1.0, 1.0, 1.0), 1.0, 0.0, 0.0),
        ((0.0, 0.0), 0.0, 0.0, None),
        ((-1.0, 1.0), 0.0, 2.0, None),
        ((0.5, None), 0.5, None, None),
        ((None, None), None, None, None),
    ],
)
def test_a_spread_by_hand(values, mean, variance, cv) -> None:
    found = spread(Runs("q", "a", ()), "m", "runs", values)
    assert (found.mean, found.variance, found.cv) == pytest.approx((mean, variance, cv))
    assert (found.n, found.n_failed) == (len(values) - values.count(None), values.count(None))


def test_an_agents_spread_is_over_its_queries() -> None:
    groups = [
        Runs("q1", "a", ("x y", "x y"), {"umbrela": (3.0, 1.0)}),
        Runs("q2", "a", ("x y", None), {"umbrela": (2.0, None)}),
    ]
    found = measure_consistency(
        groups, lambda texts: {text: vectors(EAST) for text in texts}, "m", {"umbrela": (0.0, 3.0)}
    )
    rouge1, grade = found.agents["a"]["rouge1"], found.agents["a"]["umbrela"]
    assert (rouge1.mean.value, rouge1.mean.n, rouge1.mean.n_failed) == (1.0, 1, 1)
    assert (rouge1.n_values, rouge1.n_values_failed) == (1, 1)
    assert (grade.mean.value, grade.variance.value, grade.variance.n_failed) == (2.0, 2.0, 1)
    assert grade.cv.value == pytest.approx(2**0.5 / 2)


def write(path: Path, *rows: dict[str, object]) -> str:
    return str(write_lines(path, rows))


def test_the_verb_on_three_runs(tmp_path: Path, model: str, capsys) -> None:
    runs = [
        write(tmp_path / "1.jsonl", {"query": "q?", "answer": "the busy header"}, {"query": "r?", "answer": "sei"}),
        write(tmp_path / "2.jsonl", {"query": "q?", "answer": "the busy wait"}, {"query": "r?", "answer": " "}),
        write(tmp_path / "3.jsonl", {"query": "q?", "answer": "the busy header"}),
    ]
    options = ["consistency", "--embedding", model, *(part for run in runs for part in ("--answers", run))]
    assert main([*options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    first = next(row for row in found["queries"] if (row["query_id"], row["measure"]) == ("q?", "rouge1"))
    assert first["values"] == pytest.approx([2 / 3, 1.0, 2 / 3]) and first["over"] == "pairs"
    assert first["variance"] == pytest.approx(np.var([2 / 3, 1.0, 2 / 3], ddof=1))
    second = next(row for row in found["queries"] if (row["query_id"], row["measure"]) == ("r?", "rouge1"))
    assert (second["n"], second["n_failed"], second["mean"]) == (0, 3, None)
    rouge1 = found["agents"]["answers"]["rouge1"]
    assert (rouge1["mean"]["n"], rouge1["mean"]["n_failed"]) == (1, 1)
    bert = next(row for row in found["queries"] if (row["query_id"], row["measure"]) == ("q?", "bert_score"))
    assert bert["values"][1] == pytest.approx(1.0, abs=1e-6) and bert["values"][0] == bert["values"][2] < 1
    assert main(options) == 0
    out = capsys.readouterr().out
    assert "rougeL" in out and "3 runs" in out


def test_lines_with_a_run_are_of_that_run(tmp_path: Path, model: str, capsys) -> None:
    rows = [{"query_id": "q", "agent": "a", "answer": "sei", "run": run} for run in (2, 3)]
    path = write(tmp_path / "runs.jsonl", *rows)
    assert main(["consistency", "--embedding", model, "--answers", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_runs"] == 2


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"query_id": "q", "answer": "x"}], "there is one run, consistency needs two or more"),
        ([{"query_id": "q", "answer": "x"}, {"query_id": "q", "answer": "y"}], "1.jsonl:2: a second answer of answers"),
        ([], "1.jsonl: holds no answer"),
        ([{"query_id": "q", "answer": 7}], "1.jsonl:1: answer: "),
        ([{"query_id": "q", "answer": "x", "run": "two"}], "1.jsonl:1: run is not a whole number"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(tmp_path: Path, capsys, rows, said: str) -> None:
    assert main(["consistency", "--answers", write(tmp_path / "1.jsonl", *rows)]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


def test_neither_or_both_is_one_sentence(capsys) -> None:
    assert main(["consistency"]) == 2
    assert "needs CORPUS, or --answers once for each run" in capsys.readouterr().err
