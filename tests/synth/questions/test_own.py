"""Questions that people bring: those of experts, and a test set of one's own."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from support.results_folder import experiment, results_folder

from ragassay.errors import InputError
from ragassay.records import Query
from ragassay.synth.questions.own import (
    ExpertQuestion,
    read_expert_questions,
    read_own_queries,
    read_test_set,
    same_text,
)

# Lines of SciFact's queries.jsonl (BEIR), the second one's metadata shortened.
SCIFACT = """\
{"_id": "0", "text": "0-dimensional biomaterials lack inductive properties.", "metadata": {}}
{"_id": "2", "text": "1 in 5 million in UK have abnormal PrP positivity.", "metadata": {"13734012": [{"at": [4]}]}}
"""


def own(folder: Path, text: str) -> list[Query]:
    path = folder / "queries.jsonl"
    path.write_text(text)
    return read_own_queries(path)


def test_a_beir_file_is_the_test_set_as_it_is(tmp_path: Path) -> None:
    assert [query.dump() for query in own(tmp_path, SCIFACT)] == [json.loads(line) for line in SCIFACT.splitlines()]


def test_fields_of_others_are_carried_along_and_an_id_that_is_not_there_is_made_of_the_text(tmp_path: Path) -> None:
    [query] = own(tmp_path, '{"text": "Why?", "answer": "so", "metadata": {"n": 1}}\n')
    assert query.metadata == {"answer": "so", "n": 1}
    assert query.id == f"q-{hashlib.sha256(b'Why?').hexdigest()[:10]}"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "no query"),
        ('{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}', 2, "also that of line 1"),
        ('{"_id": "a b", "text": "x"}', 1, "'a b' cannot be used"),
        ('{"_id": "../x", "text": "x"}', 1, "cannot be used"),
        ('{"_id": "a\\n", "text": "x"}', 1, "cannot be used"),
        ('{"_id": "a", "text": " "}', 1, "blank"),
        ('{"_id": "a", "text": "x", "metadata": {"evidence": [{"page": 3}]}}', 1, "evidence 1: has 'page'"),
        ('{"_id": "a", "text": "x", "evidence": "page 3"}', 1, "evidence is not a list"),
        ('{"_id": "a", "text": ""}', 1, "text"),
        ('{"_id": "a", "text": "\\ud800"}', 1, "surrogate"),
        ('{"_id": "a", "text": "x", "metadata": {"n": "\\ud800"}}', 1, "surrogate"),
        ('{"_id": "a", "text": "x", "metadata": {"n": NaN}}', 1, "NaN"),
        ('{"_id": 7, "text": "x"}', 1, "_id"),
        ('\n{"query": "x"}', 2, "_id"),
        ('{"_id": "a", "text": "x"}\n{"_id": "b", "text": "' + "x" * 100_001 + '"}', 2, "the query is 100,001 cha"),
        ("[1]", 1, "not a JSON object"),
        ("{", 1, "not JSON"),
    ],
)
def test_a_query_that_cannot_be_used_is_said_with_its_line(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        own(tmp_path, text)
    assert (caught.value.line, caught.value.exit_status) == (line, 2)


def test_queries_of_one_text_are_named(tmp_path: Path) -> None:
    texts = {"a": "Why?", "b": "How?", "c": " why? ", "d": "WHY?", "e": "Where?", "f": "how?"}
    said = same_text(
        own(tmp_path, "".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in texts.items()))
    )
    assert said == ["5 queries have a text that another has too (a, c, d); in intervals and tests they count as 2"]
    assert same_text(own(tmp_path, SCIFACT)) == []


def test_no_file_is_an_error_that_says_the_ways_out(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"questions\.csv.*questions\.source"):
        read_test_set(results_folder(tmp_path, experiment()))


def test_the_test_set_is_the_file_that_is_there_or_the_experts_questions(tmp_path: Path) -> None:
    workspace = results_folder(tmp_path, experiment(questions={"columns": {"question": "Was"}}))
    workspace.expert_questions.write_text("rep\tWhat is R?\nWhy?\n")
    found = read_test_set(workspace)
    assert [(query.text, query.metadata) for query in found.queries] == [("What is R?", {"role": "rep"}), ("Why?", {})]
    (workspace.corpus / "questions.csv").write_text("Was,Frage\nWarum?,nein\n")
    assert [query.text for query in read_test_set(workspace).queries] == ["Warum?"]
    workspace.own_queries.write_text(SCIFACT)
    with pytest.raises(InputError, match="as well"):
        read_test_set(workspace)
    (workspace.corpus / "questions.csv").unlink()
    assert [query.id for query in read_test_set(workspace).queries] == ["0", "2"]


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
def test_what_is_no_experts_question_is_said_with_its_line(
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
