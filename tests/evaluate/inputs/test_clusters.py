"""Which queries go together, and which of them models wrote."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.inputs.clusters import ALONE, Clusters, by_source, clusters_of_rows, source_clusters, writer
from ragassay.records import Query

SOME = Clusters.named(["q3", "q1", "q2"], ["section b", "section a", "section b"])


def test_numbers_are_in_the_order_of_the_names():
    assert SOME.names == ("section a", "section b")
    assert SOME.numbers.tolist() == [1, 0, 1] and SOME.sizes.tolist() == [1, 2]
    assert SOME.number("q2") == 1
    with pytest.raises(KeyError):
        SOME.number("q4")


def test_others_queries_have_the_same_clusters_and_an_unknown_one_its_own():
    found = SOME.of(["q2", "x", "q3"])
    assert found.queries == ("q2", "x", "q3") and found.names == ("query x", "section b")
    assert found.numbers.tolist() == [1, 0, 1]
    assert ALONE.of(["b", "a"]).sizes.tolist() == [1, 1] and not len(ALONE.of([]).numbers)


def test_some_of_the_queries_keep_the_numbers_of_their_clusters():
    found = SOME.where(np.array([True, False, True]))
    assert (found.queries, found.names) == (("q3", "q2"), SOME.names)
    assert found.sizes.tolist() == [0, 2]


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-1, 1)), max_size=40))
def test_sums_are_those_of_the_rows_of_each_name(rows):
    names, values = [f"s{name}" for name, _ in rows], np.array([value for _, value in rows])
    clusters = clusters_of_rows(names)
    found = clusters.sums(np.stack([values, -values]))
    assert found.shape == (2, len(set(names)))
    for number, name in enumerate(clusters.names):
        whole = sum(value for other, value in zip(names, values.tolist(), strict=True) if other == name)
        assert found[:, number].tolist() == pytest.approx([whole, -whole])
    assert clusters.sizes.sum() == len(rows)


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


def test_a_query_without_a_section_is_its_own():
    rows = [{"section": "s1", "doc": doc} for doc in "aab"] + [{}, {"doc": "a"}]
    found = source_clusters([Query(id=f"q{n}", text="?", metadata=metadata) for n, metadata in enumerate(rows)])
    assert len(found.names) == 4 and found.number("q0") == found.number("q1")


def test_queries_of_one_text_go_together_and_with_them_all_of_their_sections():
    rows = [("a", "s1"), ("b", "s1"), ("B ", "s2"), ("c", "s2"), ("d", None), ("  D", None), ("e", None), ("f", "s3")]
    queries = [
        Query(id=f"q{n}", text=text, metadata={"section": section} if section else {})
        for n, (text, section) in enumerate(rows)
    ]
    found = source_clusters(queries)
    together = [found.number(query.id) for query in queries]
    assert [together.index(number) for number in together] == [0, 0, 0, 0, 4, 4, 6, 7]
    assert len(source_clusters(queries, by_text=False).names) == 6
