"""Repetitions told by meaning: made-up vectors, and the model that is installed with the tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ragassay.models.encoders import OFFLINE_MODEL, load_encoder
from ragassay.synth.questions.reject import ALIKE, UNRELATED, Asked, Meanings


def embed(texts: Sequence[str]) -> np.ndarray:
    """Unrelated questions at right angles to one another; "A…" and "B…" with a cosine of .8."""
    rows = {"A": np.eye(16)[0], "B": 0.8 * np.eye(16)[0] + 0.6 * np.eye(16)[1], "C": np.eye(16)[2]}
    unrelated = {text: 7.0 * np.eye(16)[number + 3] for number, text in enumerate(UNRELATED)}
    return np.array([unrelated[text] if text in unrelated else rows[text[0]] for text in texts])


def asked(*texts: str, meanings: Meanings) -> Asked:
    found = Asked("en", meanings)
    for number, text in enumerate(texts):
        found.add(f"q{number}", text)
    return found


def test_where_a_model_puts_unrelated_questions_moves_the_threshold() -> None:
    def narrow(texts: Sequence[str]) -> np.ndarray:
        """The same with something in common: every cosine c becomes (c + 3) / 4."""
        rows = embed(texts) / np.linalg.norm(embed(texts), axis=1, keepdims=True)
        return np.column_stack([rows, np.full(len(rows), 3**0.5)])

    assert Meanings.of(embed, ["A"]).threshold == pytest.approx(ALIKE)
    assert Meanings.of(narrow, ["A"]).threshold == pytest.approx((ALIKE + 3) / 4)


def test_the_nearest_by_meaning_is_named_with_its_cosine() -> None:
    texts = ["C red", "A green", "A blue", "A white", "B black"]
    meanings = Meanings.of(embed, texts)
    found = asked("C red", "A green", "A blue", meanings=meanings)
    assert found.repeated("A white") == "q1, in other words (cosine 1.00)", "the earliest of equals"
    assert found.repeated("B black") is None
    assert found.repeated("A green") == "q1", "by its words"


def test_questions_that_each_name_another_thing_are_apart() -> None:
    texts = ["A reset of UART0", "A restart for UART1", "A restart", "A broken thing with UART0 and UART1"]
    found = asked(texts[0], meanings=Meanings.of(embed, texts))
    assert found.repeated(texts[1]) is None
    assert found.repeated(texts[2]) and found.repeated(texts[3]), "one names nothing of its own"


def test_by_the_installed_model() -> None:
    """Questions written for the avr-libc manual: read and found to ask the same, or not."""
    pytest.importorskip("sentence_transformers")
    encoder = load_encoder(OFFLINE_MODEL)
    same = [
        ("What should main() do when all the work is done in interrupts?",
         "How should main() be structured when interrupts trigger most of the work?"),
        ("How do I move the malloc() heap to external RAM?", "How do I make malloc() use my external RAM?"),
    ]  # fmt: skip
    other = [
        ("How does time_t in avr-libc differ from Unix time?",
         "Up to what date does avr-libc's time_t work before it overflows?"),
        ("Which printf format do I use for a uint32_t?",
         "Does scanf() need a different format than printf() for a uint8_t?"),
    ]  # fmt: skip
    texts = [text for pair in same + other for text in pair]
    meanings = Meanings.of(
        lambda wanted: encoder.encode_query(list(wanted), prompt="", batch_size=32, show_progress_bar=False), texts
    )
    assert 0.84 < meanings.threshold < 0.86
    assert [bool(asked(one, meanings=meanings).repeated(two)) for one, two in same + other] == [True] * 2 + [False] * 2
