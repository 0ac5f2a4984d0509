"""People's labels as they are read, and the labels of several judges merged."""

from __future__ import annotations

from pathlib import Path
from statistics import median_low
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.results_folder import assessment, judgment

from ragassay.errors import InputError
from ragassay.evaluate.inputs.labels import by_item, merge_labels, read_labels, write_labels
from ragassay.records import Assessment, Judgment

HEADER = "who,when,query,subject,criterion,label\n"


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_several_people_and_a_game_told_from_either_side(tmp_path: Path) -> None:
    rows = "ann,2026-11-20,q1,p1,relevance,2\nbob,2026-11-20,q1,p1,relevance,1\n"
    games = "ann,2026-11-20,q1,b:a,game,1\nbob,,q1,a:b,game,0.5\n"
    found = by_item(read_labels(_file(tmp_path, HEADER + rows + games + rows)))
    assert found == {("q1", "p1", "relevance"): 1.5, ("q1", "a:b", "game"): 0.25}, "the same label twice counts once"


def test_columns_in_another_order_parted_by_semicolons_with_more_of_them(tmp_path: Path) -> None:
    text = "label;note;who;when;query;subject;criterion\r\n1;so so;ann;;q1;bm25-rag;accuracy\r\n\r\n"
    (label,) = read_labels(_file(tmp_path, text))
    assert (label.key, label.value, label.who) == (("q1", "bm25-rag", "accuracy"), 1.0, "ann")


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    text = HEADER + 'ann,2026-11-20,q1,"p,1",relevance,2\n'
    labels = read_labels(_file(tmp_path, text))
    write_labels(tmp_path / "labels.csv", labels)
    assert (tmp_path / "labels.csv").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", None, "empty"),
        ("who,when,query,subject,criterion\n", 1, "no column 'label'"),
        (HEADER + "ann,,q1,p1,relevance,good\n", 2, "'good' is not a number"),
        (HEADER + "ann,,q1,p1,relevance,nan\n", 2, "off the scale"),
        (HEADER + "ann,,q1,p1,relevance,3\n", 2, "off the scale"),
        (HEADER + "ann,,q1,p1,relevance,1\nann,,q1,p1,relevance,2\n", 3, "another label"),
        (HEADER + "ann,,q1,a:a,game,1\n", 2, "not a game between two agents"),
        (HEADER + "ann,,q1,a,game,1\n", 2, "not a game between two agents"),
        (HEADER + "ann,,q1,a:b,game,2\n", 2, "off the scale"),
        (HEADER + ",,q1,p1,relevance,1\n", 2, "empty 'who'"),
        (HEADER + "ann,,q1\n", 2, "has 3 cells"),
    ],
)
def test_bad_input_is_refused_with_its_line(tmp_path: Path, text: str, line: int | None, says: str) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(InputError, match=says) as raised:
        read_labels(path)
    assert (raised.value.file, raised.value.line) == (path, line)


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
