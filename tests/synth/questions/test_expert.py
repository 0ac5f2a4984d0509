"""`questions.txt` as users write it, well and badly."""

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.synth.questions.own import ExpertQuestion, read_expert_questions


def _write(folder: Path, data: str | bytes) -> Path:
    path = folder / "questions.txt"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_roles_comments_blank_lines_and_windows_line_ends(tmp_path: Path) -> None:
    text = "\ufeff# help desk\r\n\r\nsales  rep\tWhat does  it cost?\t\r\nWie geht das?\r\n  # no\r\n\tWho asks?\r\n"
    assert read_expert_questions(_write(tmp_path, text)) == (
        ExpertQuestion("What does it cost?", "sales rep", 3),
        ExpertQuestion("Wie geht das?", "", 4),
        ExpertQuestion("Who asks?", "", 6),
    )


def test_a_question_that_is_there_twice_is_one_question(tmp_path: Path) -> None:
    assert len(read_expert_questions(_write(tmp_path, "What is R?\na\twhat is r?\n"))) == 1


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        ("", None, "no question"),
        ("\n# only a comment\n \n", None, "no question"),
        (b"What?\n\x00\x01\x02\n", 2, "binary"),
        ("What is it?\nÜber was?\n".encode("latin-1"), 2, "UTF-8"),
        ("What is it?\n" + "x" * 2001 + "\n", 2, "2001 characters"),
        ("What is it?\nrep\t \n", 2, "no question"),
        ("a\tb\tc\n", 1, "3 columns"),
    ],
)
def test_what_cannot_be_used_is_said_with_its_line(
    tmp_path: Path, data: str | bytes, line: int | None, words: str
) -> None:
    path = _write(tmp_path, data)
    with pytest.raises(InputError, match=words) as caught:
        read_expert_questions(path)
    assert (caught.value.file, caught.value.line, caught.value.exit_status) == (path, line, 2)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_an_error_only_where_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    assert read_expert_questions(path, needed=False) == ()
    with pytest.raises(InputError, match="few_shot = 0"):
        read_expert_questions(path)
