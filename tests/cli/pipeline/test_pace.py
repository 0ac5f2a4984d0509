"""The time of a plan's calls, held against sums done by hand."""

from __future__ import annotations

import pytest

from ragassay.cli.pipeline.plan import Pace, in_words
from ragassay.experiment.settings import Experiment


def pace(model: str, measured: dict[str, float] | None = None, **settings: object) -> Pace:
    tables = {"answer": {"model": model}, "judge": {"model": model}, "questions": {"quota": {model: 1}}}
    return Pace(Experiment.model_validate({**tables, "models": {model: settings}}), measured or {})


@pytest.mark.parametrize(
    ("made", "model", "seconds"),
    [
        (pace("openai:m"), "openai:m", (64 * 1 + 6400 / 50) / 32),
        (pace("openai:m", {"openai:m": 4.0}), "openai:m", 64 * 4.0 / 32),
        (pace("openai:m", requests_per_minute=60), "openai:m", 64.0),
        (pace("local:a.gguf"), "local:a.gguf", 10_000 / 200 + 6400 / 20),
        (pace("openai:m", mode="batch"), "openai:m", None),
        (pace("file:m"), "file:m", None),
    ],
)
def test_what_64_calls_take(made: Pace, model: str, seconds: float | None):
    assert made.seconds(model, 64, 10_000, 6400) == (None if seconds is None else pytest.approx(seconds))
    assert made.seconds(model, 0, 0, 0) == 0.0


def test_what_it_rests_on_is_said_of_the_models_that_are_asked():
    both = pace("openai:m", {"openai:m": 2.34})
    assert both.basis(["openai:m"]).endswith("as it was before: openai:m 2.3 s a call")
    assert "assumed: 1 s a call and 50 tokens/s" in both.basis(["openai:other"])
    assert "one call at a time" in both.basis(["local:a.gguf"]) and "50 tokens/s" not in both.basis(["local:a.gguf"])


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0, "0 s"), (89.0, "89 s"), (150.0, "2 min"), (9000.0, "2.5 h"), (None, "unknown")]
)
def test_words(seconds: float | None, words: str):
    assert in_words(seconds) == words
