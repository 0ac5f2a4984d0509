"""One label from several judges'."""

from __future__ import annotations

from statistics import median_low
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.results_folder import assessment, judgment

from ragassay.errors import InputError
from ragassay.evaluate.inputs.labels import merge_labels
from ragassay.records import Assessment, Judgment

PANEL = ("openai:a", "openai:b", "anthropic:c", "openai:d", "openai:e")


def rows(*labels: float | None, **more: Any) -> list[Judgment]:
    return [judgment("q", "d", "relevance", x, judge=j, **more) for j, x in zip(PANEL, labels, strict=False)]


def merged(labels: list[float | None], n: int) -> Assessment:
    (one,) = merge_labels(rows(*labels), PANEL[:n])
    return one


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, None]), min_size=1, max_size=5))
def test_the_label_is_the_low_median_of_those_given_by_more_than_half(labels: list[float | None]):
    one = merged(labels, len(labels))
    known = [label for label in labels if label is not None]
    assert one.judge == "panel" and (one.query_id, one.subject, one.criterion) == ("q", "d", "relevance")
    assert one.label == (median_low(known) if 2 * len(known) > len(labels) else None)
    assert (one.error is None) == (one.label is not None)
    assert [each["judge"] for each in one.details] == list(PANEL[: len(labels)])
    assert [each["label"] for each in one.details] == labels


@given(st.permutations([0.0, 1.0, 2.0, 2.0, 1.0]))
def test_the_order_of_records_does_not_matter(order: list[float]):
    said = dict(zip(PANEL, order, strict=True))
    one, other = (merge_labels(rows(*order)[::step], PANEL) for step in (1, -1))
    assert one == other and one[0].label == 1.0 and {d["judge"]: d["label"] for d in one[0].details} == said


def test_what_failed_is_named():
    one = merge_labels([*rows(2.0, None), judgment("q", "d", "relevance", None, judge="anthropic:c")], PANEL[:3])[0]
    assert one.label is None and one.error is not None
    assert "only 1 of 3 judges could say, and more than half must" in one.error
    assert "openai:b: refused; anthropic:c: refused" in one.error
    half = merge_labels(rows(2.0), PANEL[:2])[0]
    assert half.label is None and "openai:b: it was not asked" in (half.error or "")
    assert half.details[1] == {"judge": "openai:b", "label": None, "error": "it was not asked"}


def test_the_reason_is_of_a_judge_who_gave_that_label():
    given_reasons = [r.model_copy(update={"reason": f"because {r.judge}"}) for r in rows(0.0, 2.0, 2.0)]
    one = merge_labels(given_reasons, PANEL[:3])[0]
    assert (one.label, one.reason) == (2.0, "because openai:b")
    assert [each["reason"] for each in one.details] == [row.reason for row in given_reasons]


def test_an_evaluators_score_goes_with_its_label():
    said = [
        assessment("q", "d", "umbrela", x, judge=j, score=x / 3) for j, x in zip(PANEL, (1.0, 3.0, 2.0), strict=False)
    ]
    assert (merge_labels(said, PANEL[:3])[0].label, merge_labels(said, PANEL[:3])[0].score) == (2.0, 2 / 3)


def test_a_stranger_and_a_second_vote_are_refused():
    with pytest.raises(InputError, match="'openai:z', who judges 'd' for query 'q', relevance, is not of the panel"):
        merge_labels([judgment("q", "d", "relevance", 1.0, judge="openai:z")], PANEL)
    with pytest.raises(InputError, match="'openai:a' judges 'd' for query 'q', relevance twice"):
        merge_labels([*rows(1.0), *rows(1.0)], PANEL)
