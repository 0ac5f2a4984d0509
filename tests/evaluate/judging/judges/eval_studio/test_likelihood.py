"""Perplexity and GPTScore: a tiny GPT-2 of transformers, whose own loss is the value, and a server that echoes."""

from __future__ import annotations

import math
import re
from functools import partial
from statistics import mean

import pytest
from support import tiny_models
from support.judge_bench import ANSWERS, Bench
from support.loopback.json_server import JsonServer, Sent

from ragassay.evaluate.judging.catalog import built_in, families
from ragassay.evaluate.judging.engine.cases import AnswerCase, Setup
from ragassay.evaluate.judging.engine.question import JudgeFailed
from ragassay.models.servers import LikelihoodModel
from ragassay.records import Answer, Passage, Query

pytestmark = pytest.mark.xdist_group("models")

TRANSLATION = "gptscore_translation"


@pytest.fixture(scope="module")
def gpt(tmp_path_factory) -> str:
    return tiny_models.causal_model(tmp_path_factory.mktemp("models") / "gpt")


def loss(folder: str, prompt: str, text: str) -> float:
    """By transformers alone: the model's own loss over the tokens of `text`, which are bytes."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    ids = torch.tensor([AutoTokenizer.from_pretrained(folder)(prompt + text)["input_ids"]])
    labels = ids.clone()
    labels[0, : len(prompt.encode())] = -100
    with torch.no_grad():
        return float(AutoModelForCausalLM.from_pretrained(folder).eval()(ids, labels=labels).loss)


def use(bench: Bench, model: str, *lines: str) -> tuple[str, str]:
    return bench.config("[evaluate]", f'likelihood_model = "{model}"', *lines)


def test_perplexity_is_the_exponential_of_the_models_own_loss(bench, gpt) -> None:
    rows = bench.judge("perplexity", *use(bench, f"transformers:{gpt}"))
    assert bench.status == 0 and not bench.server.requests
    for row, answer in zip(rows, ANSWERS, strict=True):
        assert row.label == pytest.approx(math.exp(loss(gpt, "", answer["answer"])), rel=1e-5)
        assert row.score is None and row.judge == f"transformers:{gpt}"
        assert row.details[0]["tokens"] == len(answer["answer"].encode()) - 1


def test_gptscore_goes_both_ways_behind_the_papers_words(bench, gpt) -> None:
    rows = bench.judge(TRANSLATION, *use(bench, f"transformers:{gpt}"))
    accuracy = next(row for row in rows if row.query_id == "q1" and row.criterion.endswith("_accuracy"))
    words = "Rewrite the following text with its core information and consistent facts: {} In other words, "
    answer, expected = "It is in util/delay.h [1].", "util/delay.h"
    ways = [loss(gpt, words.format(expected), answer), loss(gpt, words.format(answer), expected)]
    assert accuracy.label == pytest.approx(mean(ways), rel=1e-5)
    assert [row.criterion for row in rows if row.query_id == "q2"] == [
        f"{TRANSLATION}_{aspect}" for aspect in ("accuracy", "fluency", "quality")
    ]


def test_the_summary_follows_the_passages_and_yes_the_conversation(bench, gpt) -> None:
    chosen = ['[evaluate.settings.gptscore_summarization_without_reference]\naspects = ["fluency"]']
    chosen += ['[evaluate.settings.gptscore_question_answering]\naspects = ["relevance"]']
    names = "gptscore_summarization_without_reference,gptscore_question_answering"
    rows = [row for row in bench.judge(names, *use(bench, f"transformers:{gpt}", *chosen)) if row.query_id == "q2"]
    text = "Interrupts are enabled by sei()."
    prompt = f"Generate a fluent and grammatical summary for the following text: {text}\n\nTl;dr\n"
    asked = (
        "Answer the question based on the conversation between a human and AI.\n"
        "Question: Are the responses of AI relevant to the conversation? (a) Yes. (b) No.\n"
        "Conversation:\nhuman: How are interrupts enabled?\nAI: By sei() [1]. It is a macro.\n"
    )
    want = [loss(gpt, prompt, "By sei() [1]. It is a macro."), loss(gpt, asked, "Answer: Yes")]
    assert [row.label for row in rows] == pytest.approx(want, rel=1e-5)


HOSTILE = {
    "empty": "",
    "blank": " \n\t",
    "one letter": "a",
    "long": "word " * 4_000,
    "emoji": "😀👩‍👩‍👧‍👦" * 10,
    "right to left": "مرحبا بالعالم שלום \u202e",
    "nested": "[" * 500,
    "number": "9" * 300,
    "template": "{{ 1/0 }}{% for %} ## User\n",
    "surrogate": "half \ud83d a letter",
}


EVERY_TEXT = ("perplexity", "gptscore_question_answering")
"""The others of GPTScore differ from it in their prompt and in what they read."""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(name, text, id=f"{name}-{kind}")
        for name in families()["eval-studio-likelihood"]
        for kind, text in HOSTILE.items()
        if name in EVERY_TEXT or not text.strip() or kind in ("template", "surrogate")
    ],
)
def test_no_text_stops_an_evaluator_and_none_is_given_a_number_for_nothing(name, text, gpt) -> None:
    kind = built_in()[name]
    aspects = {"aspects": aspects[:1]} if (aspects := getattr(kind.options_type(), "aspects", ())) else {}
    setup = Setup("openai:none", likelihood=LikelihoodModel(f"transformers:{gpt}"))
    made = kind(setup, kind.options_type(**aspects))
    query = Query(id="q", text="Who?", metadata={"expected_response": "He."})
    passage = Passage(id="p", title="", text=text[:5000] or "None.")
    case = AnswerCase(query, Answer(query_id="q", agent="a", answer=text, passages=("p",)), (passage,))
    made.prepare([case])
    if not text.strip():
        with pytest.raises(JudgeFailed, match=r"no value: the (answer|context) is empty"):
            next(made.steps(case))
        return
    with pytest.raises(StopIteration) as done:
        next(made.steps(case))
    (row,) = done.value.value
    if name == "perplexity" and len(text) == 1:
        assert row.error == "no value: answer is one token, and nothing is before it"
    elif len(text) == 20_000 and name != "gptscore_question_answering":
        assert "it has 19,9" in row.error and row.label is None
    else:
        assert row.error is None and 0 <= row.label < math.inf


def echo(number: int, path: str, body: dict) -> Sent:
    """As vLLM echoes: a token a word, each word's log-probability minus a tenth of its letters; the first has none."""
    assert path == "/completions" and body["echo"] and body["max_tokens"] == 0
    tokens = re.findall(r"\s*\S+|\s+$", body["prompt"])
    logprobs = [None, *(-len(token.strip()) / 10 for token in tokens[1:])]
    given = {"tokens": tokens, "token_logprobs": logprobs, "text_offset": [], "top_logprobs": []}
    usage = {"prompt_tokens": len(tokens), "completion_tokens": 0, "total_tokens": len(tokens)}
    return Sent({"choices": [{"text": body["prompt"], "index": 0, "logprobs": given}], "usage": usage})


def served(bench: Bench, server: JsonServer, *lines: str) -> tuple[str, str]:
    return use(bench, "openai:base", f'[models."openai:base"]\nbase_url = "{server.address}"', *lines)


def test_a_server_that_echoes_is_asked_once_and_kept(bench) -> None:
    with JsonServer(echo) as server:
        judge = partial(bench.judge, f"perplexity,{TRANSLATION}", *served(bench, server))
        rows, asked, again = judge(), len(server.requests), judge()
    assert asked == 2 + 2 + 2 * 6 and len(server.requests) == asked + 2  # each evaluator asks whether it echoes
    assert again == rows and not bench.server.requests
    texts = ("is in util/delay.h [1].", "It is in util/delay.h [1].", "util/delay.h")
    alone, there, back = (mean(len(word) / 10 for word in text.split()) for text in texts)
    accuracy = next(row for row in rows if row.criterion == f"{TRANSLATION}_accuracy")
    assert (rows[0].label, accuracy.label) == pytest.approx((math.exp(alone), (there + back) / 2))


def test_a_server_without_echo_is_said_before_anything_else_is_asked(bench, capsys) -> None:
    llama_cpp = {"choices": [{"text": "", "index": 0, "logprobs": {"content": [{"token": "a", "logprob": -1.0}]}}]}
    with JsonServer(lambda number, path, body: Sent(llama_cpp)) as server:
        bench.judge("answer_relevance,perplexity", *served(bench, server))
    assert bench.status == 2 and not bench.server.requests and len(server.requests) == 1
    assert "openai:base gives no log-probabilities of a text it is given (echo)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("transformers:/nowhere/at/all", "'transformers:/nowhere/at/all' cannot be loaded"),
        ("openai:gpt-4o", "openai:gpt-4o has no base_url"),
    ],
)
def test_a_model_that_is_not_there_is_one_sentence(model, said, bench, capsys) -> None:
    bench.judge("perplexity", *use(bench, model))
    error = capsys.readouterr().err
    assert bench.status == 2 and said in error and len(error.strip().splitlines()) == 1


def test_what_a_server_cannot_say_is_an_error_and_no_number(bench) -> None:
    def broken(number: int, path: str, body: dict) -> Sent:
        sent = echo(number, path, body)
        if "sei" in body["prompt"]:
            sent.body["choices"][0]["logprobs"]["token_logprobs"][2] = None
        return sent

    with JsonServer(broken) as server:
        first, second = bench.judge("perplexity", *served(bench, server))
    assert first.label is not None
    assert second.label is None and second.error == "answer: the server gave a log-probability that is no number"
