"""Answers that are empty or made to break what reads them, through every evaluator here that asks nobody."""

from __future__ import annotations

import pytest
from support.answers_judged import judged
from support.hostile_answers import EMPTY, HOSTILE

NAMES = ("pii_leakage", "contact_information_found", "sensitive_data_leakage", "encoding_guardrail")


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_label(tmp_path, name: str) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in HOSTILE.values()]
    rows = judged(tmp_path, name, texts)
    found = {hostile for hostile, row in zip(HOSTILE, rows, strict=True) if row.label}
    assert found == ({"encoded twice"} if name == "encoding_guardrail" else set())
    assert [row.error is None for row in rows] == [any(map(str.isalnum, text)) for text in texts]
    assert all(len(row.details) <= 50 for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_without_a_word_has_no_value(tmp_path, name: str) -> None:
    rows = judged(tmp_path, name, EMPTY)
    assert all(row.label is None and row.error for row in rows)
