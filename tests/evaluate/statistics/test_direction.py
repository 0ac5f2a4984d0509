"""Which way is good: a measure of which little is good has its verdicts turned, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.statistics.paired_comparison import compare_pairs

OTHER = {"better": "worse", "worse": "better"}
values = st.lists(st.floats(0, 1), min_size=6, max_size=12)


@given(values, values)
def test_verdicts_turn_and_figures_stay(one, other):
    n = min(len(one), len(other))
    table = {name: {f"q{i}": row[i] for i in range(n)} for name, row in (("a", one), ("b", other))}
    (up,) = compare_pairs("toxicity", table)
    (down,) = compare_pairs("toxicity", table, lower_is_better=True)
    assert down.verdict == OTHER.get(up.verdict, up.verdict)
    assert (down.difference, down.p_t, down.p_holm, down.needed) == (up.difference, up.p_t, up.p_holm, up.needed)


def test_the_sentence_says_so():
    table = {"clean": {f"q{i}": 0.01 * i for i in range(9)}, "rude": {f"q{i}": 0.8 + 0.01 * (i % 4) for i in range(9)}}
    (row,) = compare_pairs("toxicity", table, lower_is_better=True)
    assert row.sentence.startswith("clean is better than rude on toxicity (lower is better), by 0.7")
