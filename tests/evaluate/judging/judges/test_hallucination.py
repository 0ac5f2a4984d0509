"""Hallucination: real cross-encoders of random weights, through the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support import tiny_models
from support.judge_bench import Bench

from ragassay.evaluate.judging.judges import factual

pytestmark = pytest.mark.xdist_group("models")

NLI = ("contradiction", "entailment", "neutral")


@pytest.fixture(scope="module")
def nli(tmp_path_factory) -> str:
    return tiny_models.cross_encoder(tmp_path_factory.mktemp("models") / "nli", NLI)


def settings(bench: Bench, **table: object) -> tuple[str, str]:
    """--config with these settings."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    return bench.config("[evaluate.settings.hallucination]", *lines)


def entailment(folder: str, premise: str, hypothesis: str, index: int = 1) -> float:
    """By transformers alone: the softmax of one pair's logits."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    inputs = AutoTokenizer.from_pretrained(folder)(premise, hypothesis, return_tensors="pt")
    with torch.no_grad():
        logits = AutoModelForSequenceClassification.from_pretrained(folder).eval()(**inputs).logits[0].double()
    return float(torch.softmax(logits, 0)[index]) if len(logits) > 1 else float(torch.sigmoid(logits[0]))


FIRST, SECOND = "It is in util/delay.h [1].", "By sei() [1]. It is a macro."
PREMISE = (
    "The header util/delay.h declares _delay_ms(), which waits busily.\n\nA busy wait keeps the processor occupied."
)
SEI = "Interrupts are enabled by sei()."


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-6)


def test_the_mean_over_sentences_of_what_transformers_gives_where_all_fits_one_window(bench, nli) -> None:
    first, second = bench.judge("hallucination", *settings(bench, model=nli))
    assert first.judge == second.judge == nli and not bench.server.requests
    assert first.label == near(entailment(nli, PREMISE, FIRST))
    parts = [entailment(nli, SEI, part) for part in ("By sei() [1].", "It is a macro.")]
    assert second.label == second.score == near(np.mean(parts))
    assert [(d["hypothesis"], d["score"]) for d in second.details] == [
        ("By sei() [1].", near(parts[0])),
        ("It is a macro.", near(parts[1])),
    ]


@pytest.mark.parametrize(
    ("hypothesis", "premises"),
    [("answer", [PREMISE]), ("whole", [PREMISE.replace("\n\n", " ")]), ("passage", PREMISE.split("\n\n"))],
)
def test_the_answer_whole_is_one_hypothesis_and_by_passage_the_highest_counts(bench, nli, hypothesis, premises) -> None:
    first, second = bench.judge("hallucination", *settings(bench, model=nli, hypothesis=hypothesis))
    assert first.label == near(max(entailment(nli, premise, FIRST) for premise in premises))
    assert second.label == near(entailment(nli, SEI, SECOND))
    assert first.details[0]["windows"] == len(premises)
    assert [(d["hypothesis"], d["window"], d["windows"]) for d in second.details] == [(SECOND, 1, 1)]


def test_the_whole_text_is_cut_off_after_8192_characters(bench, tmp_path, monkeypatch) -> None:
    from support import judge_bench

    monkeypatch.setattr(judge_bench, "PASSAGES", [*judge_bench.PASSAGES, {"_id": "huge", "text": "wait " * 4000}])
    folder = tiny_models.hhem(tmp_path / "hhem")
    seen: list[tuple[str, str]] = []
    from ragassay.evaluate.texts import by_model as cross_encoder

    scores = cross_encoder._Hhem.scores
    monkeypatch.setattr(cross_encoder._Hhem, "scores", lambda self, pairs: seen.extend(pairs) or scores(self, pairs))
    answer = {"query_id": "q1", "agent": "ours", "answer": "It waits.\n\nIt is sei.", "passages": ["p3", "huge"]}
    row, _ = bench.judge("hallucination", *settings(bench, model=folder, hypothesis="whole"), answers=[answer])
    premise = (f"{SEI} " + "wait " * 4000)[:8192]
    assert seen == [(premise, "It waits. It is sei.")] and row.error is None


def test_long_passages_are_read_to_their_end_in_windows(bench, nli) -> None:
    # 64 tokens, 3 of them special, 4 spare: 14 for the hypothesis, 43 for the premise, of which 10 overlap
    rows = bench.judge("hallucination", *settings(bench, model=nli, window_tokens=64), answers=LONG)
    windows = [" ".join(f"w{i}" for i in range(low, min(low + 43, 130))) for low in (0, 33, 66, 99)]
    scores = [entailment(nli, window.replace("w129", "sei"), "It is sei.") for window in windows]
    assert rows[0].details[0]["windows"] == 4
    assert rows[0].label == pytest.approx(max(scores), abs=1e-6)
    assert rows[0].details[0]["window"] == 1 + int(np.argmax(scores))


LONG = [{"query_id": "q1", "agent": "ours", "answer": "It is sei.", "passages": ["long"]}]


@pytest.fixture(autouse=True)
def long_passage(monkeypatch) -> None:
    from support import judge_bench

    text = " ".join(f"w{i}" for i in range(129)) + " sei"
    monkeypatch.setattr(judge_bench, "PASSAGES", [*judge_bench.PASSAGES, {"_id": "long", "text": text}])


def test_a_sentence_that_is_longer_than_its_share_is_scored_in_pieces(bench, nli) -> None:
    answer = {"query_id": "q1", "agent": "ours", "answer": " ".join(["wait"] * 33), "passages": ["p3"]}
    row = bench.judge("hallucination", *settings(bench, model=nli), answers=[answer])[0]
    assert [d["hypothesis"].count("wait") for d in row.details] == [14, 14, 5]


def test_no_passages_is_no_value(bench, nli) -> None:
    answer = {"query_id": "q1", "agent": "ours", "answer": "It is sei.", "passages": []}
    row = bench.judge("hallucination", *settings(bench, model=nli), answers=[answer])[0]
    assert row.label is None and row.error == "no value: the agent retrieved no passage"


def test_one_output_is_taken_through_the_logistic_function(bench, tmp_path) -> None:
    model = tiny_models.cross_encoder(tmp_path / "one", ("score",))
    row = bench.judge("hallucination", *settings(bench, model=model))[0]
    assert row.label == near(entailment(model, PREMISE, FIRST))


def test_the_class_can_be_set_and_must_be_where_the_model_does_not_say(bench, tmp_path, capsys) -> None:
    model = tiny_models.cross_encoder(tmp_path / "two", ("LABEL_0", "LABEL_1"))
    assert not bench.judge("hallucination", *settings(bench, model=model)) and bench.status == 2
    said = capsys.readouterr().err
    assert "does not say which class is entailment (LABEL_0, LABEL_1); set entailment under" in said
    row = bench.judge("hallucination", *settings(bench, model=model, entailment=1))[0]
    assert row.label == near(entailment(model, PREMISE, FIRST))
    assert not bench.judge("hallucination", *settings(bench, model=model, entailment=2)) or bench.status == 2
    assert "entailment = 2, but" in capsys.readouterr().err


def test_hhem_is_scored_as_its_own_code_does_and_that_code_is_not_run(bench, tmp_path) -> None:
    import torch
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoTokenizer, T5ForTokenClassification

    folder = tiny_models.hhem(tmp_path / "hhem")
    rows = bench.judge("hallucination", *settings(bench, model=folder))
    base = f"{folder}/foundation"
    model = T5ForTokenClassification(AutoConfig.from_pretrained(base)).eval()
    weights = {name.removeprefix("t5."): value for name, value in load_file(f"{folder}/model.safetensors").items()}
    weights["transformer.encoder.embed_tokens.weight"] = weights["transformer.shared.weight"]
    model.load_state_dict(weights)
    text = f"<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {PREMISE}\n\nHypothesis: {FIRST}"
    inputs = AutoTokenizer.from_pretrained(base)(text, return_tensors="pt")
    with torch.no_grad():
        expected = torch.softmax(model(**inputs).logits[:, 0, :], -1)[0, 1].item()
    assert 0.01 < expected < 0.99
    assert rows[0].label == pytest.approx(expected, abs=1e-6)


def test_a_model_with_code_of_its_own_is_refused_until_it_is_trusted(bench, tmp_path, capsys) -> None:
    folder = tiny_models.cross_encoder(tmp_path / "own", NLI)
    config = json.loads((tmp_path / "own/config.json").read_text())
    config |= {"auto_map": {"AutoModelForSequenceClassification": "own.Model"}, "model_type": "theirs"}
    (tmp_path / "own/config.json").write_text(json.dumps(config))
    capsys.readouterr()
    bench.judge("hallucination", *settings(bench, model=folder))
    said = capsys.readouterr().err
    assert bench.status == 2 and "set trust_remote_code = true and pin a revision under" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("model", "said"),
    [("nobody/no-such-model", "the hub cannot be reached"), ("./not here", "there is no such folder")],
)
def test_a_model_that_is_not_there_is_one_sentence(bench, monkeypatch, capsys, model: str, said: str) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert not bench.judge("hallucination", *settings(bench, model=model))
    assert bench.status == 2 and said in capsys.readouterr().err


def test_a_model_is_loaded_once_and_only_where_something_is_owed(bench, nli, monkeypatch) -> None:
    loaded, load = [], factual.load_cross_encoder
    monkeypatch.setattr(factual, "load_cross_encoder", lambda source: loaded.append(source) or load(source))
    bench.judge("hallucination", *settings(bench, model=nli))
    failed = [{"query_id": "q1", "agent": "ours", "answer": None, "error": "timed out"}]
    rows = bench.judge("hallucination", *settings(bench, model="not there"), answers=failed)
    assert len(loaded) == 1 and rows[0].error == "no answer to judge: timed out"
