"""Log-probabilities from a tiny GPT-2 of transformers, against its own logits."""

from __future__ import annotations

import pytest
from support import tiny_models

from ragassay.models.likelihood import load_causal, of_text

pytestmark = pytest.mark.xdist_group("models")


@pytest.fixture(scope="module")
def gpt(tmp_path_factory) -> str:
    return tiny_models.causal_model(tmp_path_factory.mktemp("models") / "gpt")


def test_what_is_longer_than_the_window_is_scored_whole_with_half_a_window_before_it(gpt) -> None:
    import torch

    model = load_causal(f"transformers:{gpt}")
    text = "".join(chr(97 + i * i % 26) for i in range(1100))
    found = model.logprobs("", text)
    assert len(found) == 1099
    network, ids = model._network, torch.tensor([list(model._tokenizer(text)["input_ids"])])
    with torch.no_grad():
        first = torch.log_softmax(network(ids[:, :512]).logits[0], -1)
        later = torch.log_softmax(network(ids[:, 256:768]).logits[0], -1)
    assert found[:511] == pytest.approx([float(first[at - 1, ids[0, at]]) for at in range(1, 512)], abs=1e-4)
    assert found[511:767] == pytest.approx([float(later[at - 257, ids[0, at]]) for at in range(512, 768)], abs=1e-4)


def test_a_models_own_marker_in_a_text_is_only_letters(gpt) -> None:
    assert len(load_causal(f"transformers:{gpt}").logprobs("", "a<|endoftext|>")) == len("<|endoftext|>")


def test_where_the_text_begins_among_tokens_that_are_not_spelt_as_they_stand() -> None:
    logprobs = [None, -1.0, -2.0, -3.0]
    assert of_text(["a", " b", " c", "d"], logprobs, "a b ", "cd") == [-2.0, -3.0]
    assert of_text(["<s>", "a ", "b", "c"], logprobs, "a ", "bc") == [-2.0, -3.0]
    assert of_text(["\ufffd", "\ufffd", " b", "c"], logprobs, "😀 ", "bc") == [-2.0, -3.0]
    with pytest.raises(ValueError, match="do not spell"):
        of_text(["\ufffd", "\ufffd", " b", "\ufffd"], logprobs, "😀 ", "b😀")


@pytest.mark.parametrize("one", [float("-inf"), float("nan"), None, True, "-1"])
def test_a_token_of_the_text_without_a_number_is_an_error(one: object) -> None:
    with pytest.raises(ValueError, match="a log-probability that is no number"):
        of_text(["a", " b", " c"], [None, -1.0, one], "a ", "b c")
