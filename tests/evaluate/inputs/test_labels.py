"""`labels.csv`: what is read, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.evaluate.inputs.labels import by_item, read_labels, write_labels

HEADER = "who,when,query,subject,criterion,label\n"


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_several_people_and_a_game_told_from_either_side(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        HEADER
        + "ann,2026-11-20,q1,p1,relevance,2\nbob,2026-11-20,q1,p1,relevance,1\n"
        + "ann,2026-11-20,q1,b:a,game,1\nbob,,q1,a:b,game,0.5\n",
    )
    assert by_item(read_labels(path)) == {("q1", "p1", "relevance"): 1.5, ("q1", "a:b", "game"): 0.25}


def test_columns_in_another_order_parted_by_semicolons_with_more_of_them(tmp_path: Path) -> None:
    text = "label;note;who;when;query;subject;criterion\r\n1;so so;ann;;q1;bm25-rag;accuracy\r\n\r\n"
    (label,) = read_labels(_file(tmp_path, text))
    assert (label.key, label.value, label.who) == (("q1", "bm25-rag", "accuracy"), 1.0, "ann")


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    text = HEADER + 'ann,2026-11-20,q1,"p,1",relevance,2\n'
    labels = read_labels(_file(tmp_path, text))
    write_labels(tmp_path / "labels.csv", labels)
    assert (tmp_path / "labels.csv").read_text(encoding="utf-8") == text


def test_the_same_label_twice_counts_once(tmp_path: Path) -> None:
    line = "ann,2026-11-20,q1,p1,relevance,2\n"
    assert len(read_labels(_file(tmp_path, HEADER + line + line))) == 1


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
