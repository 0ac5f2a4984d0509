"""Whose a query is, from what it carries."""

from __future__ import annotations

import pytest

from ragassay.evaluate.inputs.clusters import by_source, writer
from ragassay.records import Query


@pytest.mark.parametrize(
    ("metadata", "who"),
    [
        ({"model": "openai:m", "section": "s1", "doc": "d.pdf"}, "openai:m"),
        ({}, None),
        ({"model": "ATmega328P"}, None),
        ({"section": "s1"}, None),
        ({"model": "", "section": "s1"}, None),
        ({"model": ["openai:m"], "section": "s1"}, None),
    ],
)
def test_a_written_query_names_its_model_and_the_section(metadata, who):
    assert writer(Query(id="q", text="?", metadata=metadata)) == who


def test_the_test_set_in_two():
    queries = [Query(id=f"q{n}", text="?", metadata={"model": "m", "section": "s"} if n % 3 else {}) for n in range(5)]
    found = by_source(queries)
    assert found.real == ("q0", "q3") and found.written == ("q1", "q2", "q4") and found.both
    assert found.told() == "2 are real and 3 written"
    assert not by_source(queries[1:3]).both
