"""Precision at the set's own share of what is to be found: Bayes' rule by hand, and what cannot be known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.json_lines import write_lines

from ragassay.evaluate.agreement.labelled_sets import read_rows, sample
from ragassay.evaluate.agreement.meta_eval import precision_at_set_share


def figure_of(rows, whole, relevant=frozenset({"yes"})):
    """rows: (label, judge's verdict, how often), each alone."""
    people = [label for label, _, count in rows for _ in range(count)]
    said = [verdict for _, verdict, count in rows for _ in range(count)]
    return precision_at_set_share(people, said, [str(place) for place, _ in enumerate(people)], relevant, whole)


def test_of_half_positive_rows_it_is_what_bayes_gives_for_the_set():
    # the sensitivity is 37/50, the false-positive rate 10/50; 21% of the set are yes
    found, why = figure_of(
        [("yes", True, 37), ("yes", False, 13), ("no", True, 10), ("no", False, 40)], {"yes": 210, "no": 790}
    )
    assert why is None
    assert found.value == pytest.approx(0.21 * 0.74 / (0.21 * 0.74 + 0.79 * 0.2), abs=1e-6)
    assert found.ci_low < 0.45 and found.ci_high > 0.55 and (found.n, found.n_failed) == (100, 0)


def test_each_label_has_the_weight_of_the_set():
    rows = [("yes", True, 8), ("yes", False, 2), ("half", True, 5), ("half", False, 5), ("no", True, 1)]
    found, _ = figure_of([*rows, ("no", False, 9)], {"yes": 100, "half": 50, "no": 1000})
    assert found.value == pytest.approx(80 / (80 + 25 + 100), abs=1e-6)
    found, _ = figure_of([*rows, ("no", False, 9)], {"yes": 100, "half": 50, "no": 1000}, {"yes", "half"})
    assert found.value == pytest.approx(105 / (80 + 25 + 100), abs=1e-6)


@given(st.integers(1, 20), st.integers(0, 20), st.integers(0, 20), st.integers(1, 20))
def test_where_the_set_has_the_shares_of_the_rows_it_is_their_precision(hits, missed, extra, right):
    rows = [("yes", True, hits), ("yes", False, missed), ("no", True, extra), ("no", False, right)]
    found, _ = figure_of(rows, {"yes": hits + missed, "no": extra + right})
    assert found.value == pytest.approx(hits / (hits + extra), abs=1e-6)
    assert 0 <= found.ci_low <= found.value <= found.ci_high <= 1


def test_a_judge_that_was_never_wrong_is_less_sure_where_little_is_to_be_found():
    rows = [("yes", True, 50), ("no", False, 50)]
    even, rare = (figure_of(rows, {"yes": share, "no": 100 - share})[0] for share in (50, 5))
    assert even.value == rare.value == even.ci_high == rare.ci_high == 1
    assert rare.ci_low < even.ci_low < 1


def test_what_was_not_judged_or_never_drawn_leaves_no_figure():
    found, why = figure_of([("yes", True, 5), ("no", None, 5)], {"yes": 5, "no": 50})
    assert found.value is None and (found.n, found.n_failed) == (5, 5)
    assert why == "no row that people labelled no was judged, and the set has such"
    assert figure_of([("yes", False, 5), ("no", False, 5)], {"yes": 5, "no": 5})[1] == (
        "the judge labelled nothing as relevant"
    )


def test_a_draw_in_the_shares_of_the_set_needs_none(tmp_path):
    rows = [{"claim": f"Claim {n}", "document": "D", "label": int(n < 10)} for n in range(50)]
    labelled = read_rows(write_lines(tmp_path / "claims.jsonl", rows))
    assert sample(labelled, 20, 7).whole is None
    assert sample(labelled, 50, 7, evenly=True).whole is None, "nothing was left out"
    assert sample(labelled, 10, 7, {1.0}).whole == {1.0: 10, 0.0: 40}
    assert sample(labelled, 10, 7, evenly=True).whole == {1.0: 10, 0.0: 40}
