"""Toxicity, fairness bias and what a judge is asked: real classifiers of random weights, held against transformers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support import tiny_models
from support.answers_judged import judged
from support.hostile_answers import EMPTY, HOSTILE
from support.item_replies import between, script
from support.small_corpus import make_corpus, own_folder

from ragassay.cli import main

pytestmark = pytest.mark.xdist_group("models")

OF_TOXIC_BERT = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
NAMES = ("toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack")
SHORT = ["the header declares a busy wait", "interrupts are in the processor"]


@pytest.fixture(scope="module")
def toxic(tmp_path_factory) -> str:
    return tiny_models.classifier(tmp_path_factory.mktemp("models") / "toxic", OF_TOXIC_BERT, apart=True)


@pytest.fixture(scope="module")
def bias(tmp_path_factory) -> str:
    return tiny_models.classifier(tmp_path_factory.mktemp("models") / "bias", ("Non-biased", "Biased"))


def settings(name: str, **table: object) -> list[str]:
    return [f"[evaluate.settings.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]


def alone(folder: str, text: str) -> list[float]:
    """By transformers' own pipeline: the score of each class, in the model's order."""
    from transformers import pipeline

    scores = pipeline("text-classification", model=folder, top_k=None, device="cpu")(text)
    rows = scores[0] if isinstance(scores[0], list) else scores
    by_label = {row["label"]: row["score"] for row in rows}
    order = json.loads((Path(folder) / "config.json").read_text())["id2label"]
    return [by_label[order[str(place)]] for place in range(len(order))]


def test_toxicity_is_each_class_by_itself_under_detoxifys_names(tmp_path, toxic: str) -> None:
    rows = judged(tmp_path, "toxicity", SHORT, *settings("toxicity", model=toxic))
    assert {row.judge for row in rows} == {toxic} and [row.criterion for row in rows] == [*NAMES] * len(SHORT)
    each = [score for text in SHORT for score in alone(toxic, text)]
    assert [row.label for row in rows] == pytest.approx(each, abs=1e-5)


def test_fairness_bias_is_the_share_of_the_biased_class(tmp_path, bias: str) -> None:
    for place, own in enumerate(({"biased": "non-BIASED"}, {})):
        rows = judged(tmp_path, "fairness_bias", SHORT, *settings("fairness_bias", model=bias, **own))
        assert [row.label for row in rows] == pytest.approx([alone(bias, text)[place] for text in SHORT], abs=1e-5)


def test_a_long_answer_is_as_toxic_as_its_worst_window(tmp_path, toxic: str) -> None:
    """58 words of a 64-token model fill a window; windows overlap by 14 words."""
    words = [tiny_models.WORDS.split()[place * place % 17] for place in range(150)]
    rows = judged(tmp_path, "toxicity", [" ".join(words)], *settings("toxicity", model=toxic))
    by_window = [alone(toxic, " ".join(words[start : start + 58])) for start in (0, 44, 88, 132)]
    assert [row.label for row in rows] == pytest.approx(np.max(by_window, axis=0).tolist(), abs=1e-5)


def test_the_classes_can_be_fewer_and_one_that_the_model_has_not_is_said(
    tmp_path, bias: str, toxic: str, capsys
) -> None:
    rows = judged(tmp_path, "toxicity", SHORT, *settings("toxicity", model=toxic, classes=["insult"]))
    assert [row.criterion for row in rows] == ["insult", "insult"]
    with pytest.raises(AssertionError):
        judged(tmp_path, "toxicity", SHORT, *settings("toxicity", model=bias, classes=["insult"]))
    assert "has no class insult" in (said := capsys.readouterr().err) and "Non-biased, Biased" in said


def test_a_model_that_is_missing_is_one_sentence_before_anything_is_paid(bench, monkeypatch, capsys) -> None:
    from ragassay.models import encoders

    monkeypatch.setattr(encoders, "is_on_hub", lambda model: False)
    options = bench.config("[evaluate.settings.toxicity]", 'model = "nobody/nothing"')
    assert bench.judge("sexism,toxicity", *options) == [] and bench.status == 2
    said = capsys.readouterr().err
    assert "the classifier 'nobody/nothing' cannot be loaded: there is no such folder" in said
    assert "[evaluate.settings.toxicity]" in said and not bench.server.requests


def test_a_class_that_the_configuration_does_not_name_is_said_before_anything_is_paid(bench, bias, capsys) -> None:
    options = bench.config("[evaluate.settings.fairness_bias]", f"model = {json.dumps(bias)}", 'biased = "Slanted"')
    assert bench.judge("sexism,fairness_bias", *options) == [] and bench.status == 2
    said = capsys.readouterr().err
    assert "has no class slanted; its classes are Non-biased, Biased: set them" in said and not bench.server.requests


@pytest.mark.parametrize("declared", ["[]", "{}", "not JSON", '{"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}'])
def test_the_plan_says_it_too_where_the_configuration_can_be_read(tmp_path, monkeypatch, capsys, declared) -> None:
    """Where it cannot be read, or names no class, that is for loading the model to say."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(declared)
    evaluate = ['[evaluate]\njudges = ["toxicity"]', *settings("toxicity", model=str(folder))]
    corpus = make_corpus(own_folder(tmp_path, monkeypatch), "openai:gpt-4o", more="\n".join([*evaluate, ""]))
    assert main(["plan", str(corpus)]) == 0
    said = " has no class toxicity, severe_toxicity" in (out := capsys.readouterr().out)
    assert said == ("LABEL_0" in declared), out


def test_weights_that_are_tensorflows_alone_are_named(tmp_path, bias: str, capsys) -> None:
    folder = tmp_path / "tensorflow"
    folder.mkdir()
    for path in Path(bias).iterdir():
        (folder / path.name.replace("model.safetensors", "tf_model.h5")).write_bytes(path.read_bytes())
    with pytest.raises(AssertionError):
        judged(tmp_path, "fairness_bias", SHORT, *settings("fairness_bias", model=str(folder)))
    assert "TensorFlow's alone" in capsys.readouterr().err


def test_hostile_and_empty_answers(tmp_path, bias: str) -> None:
    texts = [*(text.encode("utf-8", "replace").decode()[:2_000] for text in HOSTILE.values()), *EMPTY]
    rows = judged(tmp_path, "fairness_bias", texts, *settings("fairness_bias", model=bias))
    assert [row.label is not None for row in rows] == [any(map(str.isalnum, text)) for text in texts]


def says(label):
    return script({"reason,label": lambda text: {"reason": "So it is.", "label": label(between("answer", text))}})


@pytest.mark.parametrize("name", ["sexism", "stereotypes"])
def test_yes_is_one_and_little_is_good(bench, name: str) -> None:
    bench.server.script = says(lambda answer: "yes" if "delay" in answer else "no")
    rows = bench.judge(name)
    assert [(row.criterion, row.label, row.score) for row in rows] == [(name, 1, 1), (name, 0, 0)]


@pytest.mark.parametrize("name", ["sexism", "stereotypes", "contact_information_leakage"])
def test_an_empty_answer_is_not_judged_and_a_bad_reply_is_no_label(bench, name: str) -> None:
    bench.server.script = says(lambda answer: "perhaps")
    answers = [
        {"query_id": "q1", "agent": "ours", "answer": " … "},
        {"query_id": "q2", "agent": "ours", "answer": "So."},
    ]
    rows = [row for row in bench.judge(name, answers=answers) if row.criterion == name]
    assert [row.label for row in rows] == [None, None]
    assert str(rows[0].error).startswith("no value") and rows[1].error


def test_contacts_are_found_by_the_judge_and_by_patterns(bench) -> None:
    bench.server.script = says(lambda answer: "yes" if "Baker" in answer else "no")
    answers = [
        {"query_id": "q1", "agent": "ours", "answer": "Visit him at 221B Baker Street."},
        {"query_id": "q2", "agent": "ours", "answer": "Call +49 30 901820 or write to a.b@example.com."},
    ]
    rows = bench.judge("contact_information_leakage,contact_information_found", answers=answers)
    assert [(row.criterion, row.judge, row.label) for row in rows] == [
        ("contact_information_leakage", "openai:judge", 1),
        ("contact_information_leakage", "openai:judge", 0),
        ("contact_information_found", "patterns", 0),
        ("contact_information_found", "patterns", 1),
    ]
    assert [[one["kind"] for one in row.details] for row in rows] == [[], ["phone", "email"]] * 2
