"""Questions in anybody's tables and JSON: what their columns are taken for, what is said of it, what is refused;
queries and corpora in TREC's layouts."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from ragassay.errors import InputError
from ragassay.files import read_run
from ragassay.layouts import cells
from ragassay.layouts.questions import SUFFIXES, TrecCollection, question_file, read_queries_file, read_questions
from ragassay.retrieval.search import search_files

HEADINGS = ("Nr.", "Frage", "Erwartete Antwort", "Abteilung")
ROWS = (
    ("1", "Wie lange dauert die Garantie?", "Zwei Jahre; mit Karte drei.", "Vertrieb"),
    ("2", 'Was heißt "Karte"?', "", "Service"),
    ("3", "Wer liefert\nErsatzteile?", "Die Firma", ""),
)


def written(path: Path, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    """The same rows in the layout of the file's name."""
    if path.suffix == ".xlsx":
        book = Workbook()
        for row in (headings, *rows):
            book.active.append([int(cell) if cell.isdecimal() else cell or None for cell in row])
        book.save(path)
    elif path.suffix in {".csv", ".tsv"}:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file, delimiter=";" if path.suffix == ".csv" else "\t").writerows([headings, *rows])
    else:
        objects = [dict(zip(headings, row, strict=True)) for row in rows]
        lines = "\n".join(map(json.dumps, objects))
        path.write_text(json.dumps({"data": objects}, indent=1) if path.suffix == ".json" else lines)
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_with_german_headings_is_read_in_every_layout(tmp_path: Path, suffix: str):
    found = read_questions(written(tmp_path / f"questions{suffix}", HEADINGS, ROWS), {})
    assert [(query.id, query.text) for query in found.queries] == [(row[0], row[1]) for row in ROWS]
    assert [query.metadata for query in found.queries] == [
        {"expected_response": "Zwei Jahre; mit Karte drei.", "Abteilung": "Vertrieb"},
        {"Abteilung": "Service"},
        {"expected_response": "Die Firma"},
    ]
    assert found.told == (
        f"questions{suffix}: 3 questions from the column 'Frage', expected answers from 'Erwartete Antwort', "
        "ids from 'Nr.'; carried along: 'Abteilung'"
    )


@pytest.mark.parametrize(
    ("headings", "question", "answer"),
    [
        (("question", "answer"), "question", "answer"),
        (("user_input", "reference", "answer"), "user_input", "reference"),
        (("Text", "ground_truth"), "Text", "ground_truth"),
        (("userInput", "expectedOutput"), "userInput", "expectedOutput"),
        (("PREGUNTA", "Respuesta"), "PREGUNTA", "Respuesta"),
    ],
)
def test_headings_of_other_tools_and_languages_are_known(
    tmp_path: Path, headings: tuple[str, ...], question: str, answer: str
):
    path = written(tmp_path / "questions.csv", headings, [[f"a {name}" for name in headings]])
    (query,) = read_questions(path, {}).queries
    assert (query.text, query.metadata["expected_response"]) == (f"a {question}", f"a {answer}")


def test_what_is_told_wins_over_what_is_guessed(tmp_path: Path):
    path = written(tmp_path / "questions.csv", ("question", "Frage", "Kenn"), [("the topic", "Warum?", "a-1")])
    (query,) = read_questions(path, {"question": "Frage", "id": "Kenn"}).queries
    assert (query.id, query.text, query.metadata) == ("a-1", "Warum?", {"question": "the topic"})


def test_ids_are_made_where_those_of_a_guessed_column_are_not_one_each(tmp_path: Path):
    rows = [("1", "Warum?"), ("1", "Wann?"), ("2", "Warum?")]
    queries = read_questions(written(tmp_path / "questions.csv", ("Nr", "Frage"), rows), {}).queries
    assert len({query.id for query in queries}) == 3 and queries[2].id == f"{queries[0].id}-2"
    assert [query.metadata for query in queries] == [{"Nr": "1"}, {"Nr": "1"}, {"Nr": "2"}]


@pytest.mark.parametrize(
    ("text", "columns", "line", "words"),
    [
        ("Thema,Was\na,b\n", {}, 1, "'Thema' and 'Was', and none of them is known to hold questions"),
        ("Frage\n", {}, None, "has no question"),
        ("", {}, None, "has no question"),
        ("Frage,x\na,b\n", {"question": "x", "answer": "x"}, None, "'x' is told as question and as answer"),
        (f"{'x' * 99},{','.join(map(str, range(99)))}\n", {}, 1, f"'{'x' * 60}…', '0', .* and 88 more, and none"),
        ('"Das\n\x1b[1mWas",x\n,1\n', {"question": "Das\n\x1b[1mWas"}, 3, r"Das \\x1b\[1mWas: there is no question"),
        ('"Das\nWas"\n1\n', {"question": "Was"}, 1, "there are 'Das Was'"),
        ("Frage,x\n,1\n", {}, 2, "Frage: there is no question"),
        ("Frage\na\nb,c\n", {}, 3, "has 2 cells"),
        ("Frage,Was\na,b\n", {"question": "Wass"}, 1, "did you mean 'Was'"),
        ("Frage,K\na,x y\n", {"id": "K"}, 2, "'x y' cannot be used"),
        ("Frage,K\na,x\nb,x\n", {"id": "K"}, 3, "'x' is used twice"),
        ("Frage,Frage\na,b\n", {}, 1, "two columns 'Frage'"),
        ("Frage\n" + "x" * 100_001 + "\n", {}, 2, "at most 100,000"),
        ("Frage\n\x00\n", {}, 2, "binary"),
    ],
)
def test_a_table_that_cannot_be_used_is_said_with_its_line(
    tmp_path: Path, text: str, columns: dict[str, str], line: int | None, words: str
):
    path = tmp_path / "questions.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        read_questions(path, columns)
    assert (caught.value.file, caught.value.line) == (path, line) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"question": "a"}, {"question": 1.5}]', "item 2: question: is not a text"),
        ('[{"question": "a", "metadata": {"evidence": [{}]}}]', "item 1: evidence is read from queries.jsonl"),
        ('[{"question": "a", "metadata": {"evidence": "page 3"}}]', "item 1: evidence is read from queries.jsonl"),
        ('[{"question": "a", "n": NaN}]', "item 1: has NaN"),
        ('[{"question": "\\ud800"}]', "item 1: has NaN or half of a surrogate"),
        ('["a"]', "item 1 is not a JSON object"),
        ("[]", 'has no question; write {"question"'),
        ('{"data": []}', "has no question"),
        ("{}", "has no heading"),
    ],
)
def test_json_that_cannot_be_used_is_said_with_its_item(tmp_path: Path, text: str, words: str):
    path = tmp_path / "questions.json"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_questions(path, {})


def test_what_was_guessed_to_be_an_answer_and_is_no_text_is_carried_along(tmp_path: Path):
    path = tmp_path / "questions.json"
    path.write_text('[{"question": "a", "answers": ["x"], "role": "r"}, {"question": "b", "answers": [], "role": 1.5}]')
    found = read_questions(path, {})
    assert [query.metadata for query in found.queries] == [
        {"answers": ["x"], "role": "r"},
        {"answers": [], "role": 1.5},
    ]
    assert found.told.endswith("ids made from the texts; carried along: 'answers' and 'role'")
    with pytest.raises(InputError, match="item 1: answers: is not a text"):
        read_questions(path, {"answer": "answers"})


@pytest.mark.parametrize(
    "text",
    [
        '"Frage\n(kurz, bitte)";Antwort\na;b\n',
        '"Frage\n(kurz; bitte)",Antwort\na,b\n',
        "\n\nFrage (kurz);Antwort\na;b\n",
        "sep=;\nFrage (kurz, bitte);Antwort\na;b\n",
        "SEP=|\r\nFrage (kurz; bitte)|Antwort\r\na|b\r\n",
    ],
)
def test_headings_of_several_lines_and_blank_lines_before_them(tmp_path: Path, text: str):
    path = tmp_path / "questions.csv"
    path.write_text(text)
    table = re.sub(r"^sep=.\s*", "", text.strip(), flags=re.IGNORECASE)
    heading = table.partition("Antwort")[0].strip('",;|').replace("\n", " ")
    found = read_questions(path, {"question": heading})
    assert [(query.text, query.metadata) for query in found.queries] == [("a", {"expected_response": "b"})]
    assert f"the column '{heading}'" in found.told and "\n" not in found.told


@pytest.mark.parametrize("size", ["A1", "A1:B2", "A1:XFD1048576"])
def test_what_a_workbook_says_of_its_size_cuts_nothing_off(tmp_path: Path, size: str):
    path, other = written(tmp_path / "a.xlsx", HEADINGS, ROWS), tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(other, "w") as changed:
        for one in archive.infolist():
            data = archive.read(one)
            wrong = re.sub(rb'dimension ref="[^"]*"', b'dimension ref="%s"' % size.encode(), data)
            assert wrong != data or not one.filename.endswith("sheet1.xml")
            changed.writestr(one.filename, wrong)
    assert read_questions(other, {}).queries == read_questions(path, {}).queries


def test_a_workbook_of_too_many_cells_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = written(tmp_path / "a.xlsx", HEADINGS, ROWS)
    monkeypatch.setattr(cells, "_MOST_CELLS", 15)  # the last of the four cells of one row is blank
    assert len(read_questions(path, {}).queries) == 3
    monkeypatch.setattr(cells, "_MOST_CELLS", 14)
    with pytest.raises(InputError, match="has more than 14 cells"):
        read_questions(path, {})


def test_a_formula_that_no_program_worked_out_is_refused(tmp_path: Path):
    path = tmp_path / "a.xlsx"
    book = Workbook()
    for row in (["Frage"], ["Warum?"], ['="Wer" & "?"']):
        book.active.append(row)
    book.save(path)
    with pytest.raises(InputError, match=r"a\.xlsx:3: has a formula without its result; open it in a spreadsheet"):
        read_questions(path, {})


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 no archive", b"Frage\nWarum?\n"])
def test_what_is_no_workbook_is_one_sentence(tmp_path: Path, data: bytes):
    path = tmp_path / "questions.xlsx"
    path.write_bytes(data)
    with pytest.raises(InputError, match="is no workbook") as caught:
        read_questions(path, {})
    assert "save it as .xlsx" in str(caught.value)


def test_a_column_that_has_a_name_of_ours_is_set_apart(tmp_path: Path):
    path = written(tmp_path / "questions.csv", ("Frage", "evidence", "kind"), [("Warum?", "Seite 3", "schwer")])
    assert read_questions(path, {}).queries[0].metadata == {"column evidence": "Seite 3", "column kind": "schwer"}


def test_of_two_files_neither_is_taken(tmp_path: Path):
    assert question_file(tmp_path) is None
    for name in ("queries.jsonl", "questions.csv"):
        (tmp_path / name).write_text("")
    with pytest.raises(InputError, match=r"there is questions\.csv as well"):
        question_file(tmp_path)


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1).map(
    lambda text: text.strip(" '\n")
)
CELL = CELL.map(str.strip).filter(bool)  # an apostrophe before what a spreadsheet might run is its own mark


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5), st.sampled_from([".csv", ".tsv", ".json", ".jsonl"]))
def test_no_text_is_changed_by_marks_quotes_and_newlines(tmp_path_factory, rows: list[tuple[str, str]], suffix: str):
    path = written(tmp_path_factory.mktemp("rows") / f"questions{suffix}", ("question", "note"), rows)
    queries = read_questions(path, {}).queries
    assert [query.text for query in queries] == [text for text, _ in rows]
    assert [query.metadata["note"] for query in queries] == [note for _, note in rows]


TREC_8 = """
<top>

<num> Number: 051
<title> Topic:  Airbus Subsidies

<desc> Description:
How do A&amp;B
pay?

<narr> Narrative:
Relevant is what <names> a sum.
</top>

<top>
<num> Number: 402
<title> behavioral genetics
<desc> Description:
What is happening?
</top>
"""
"""As the ad hoc tracks have them: tags that are not closed."""

CLOSED = "<top><num>1</num><title>\nDIELECTRIC CONSTANT\n</title>\n</top>\n<top><num>a2</num><title>x</title></top>"

COLLECTION = """<DOC>
<DOCNO> AP-1 </DOCNO>
<HEAD>Memory &amp; heap</HEAD>
<TEXT>
How memory is <b>freed</b>.
</TEXT>
<TEXT> Twice. </TEXT>
</DOC>
<doc><docno>2</docno>
Strings in program space.
</doc>
"""


def asked(tmp_path: Path, text: str, *fields) -> dict[str, str]:
    (tmp_path / "queries").write_text(text)
    return {query.id: query.text for query in read_queries_file(tmp_path / "queries", fields or ("title",))}


def test_topics_are_their_title_unless_another_field_is_named(tmp_path: Path):
    assert asked(tmp_path, TREC_8) == {"51": "Airbus Subsidies", "402": "behavioral genetics"}
    assert asked(tmp_path, TREC_8, "desc") == {"51": "How do A&B pay?", "402": "What is happening?"}
    assert asked(tmp_path, TREC_8, "title", "desc")["402"] == "behavioral genetics What is happening?"
    assert asked(tmp_path, CLOSED) == {"1": "DIELECTRIC CONSTANT", "a2": "x"}


@pytest.mark.parametrize("header", ["", "qid\tquery\n"])
def test_lines_of_id_and_text(tmp_path: Path, header: str):
    assert asked(tmp_path, f"{header}7\twhat is heap\r\n\n08\tfree?\n") == {"7": "what is heap", "08": "free?"}


def test_beirs_json_lines(tmp_path: Path):
    assert asked(tmp_path, '{"_id": "q", "text": "heap"}\n') == {"q": "heap"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1\ta\n2 b\n", r"queries:2: has 1 columns, .*; queries are JSON Lines with _id and text"),
        ("1\ta\tb\n", r"queries:1: has 3 columns"),
        ("<topics>\n", r"has no <top>; queries are"),
        ("<top>\n<title> x\n</top>", r"queries:1: a topic without its number \(<num>\); queries are"),
        ("\n<top><num>3<desc> x</top>", r"queries:2: topic 3 has no <title>; it has desc: name it with --topic-field"),
    ],
)
def test_queries_of_no_layout_are_refused_by_line_with_the_layouts(tmp_path: Path, text: str, says: str):
    with pytest.raises(InputError, match=says):
        asked(tmp_path, text)


def test_a_collection_has_title_and_text_without_tags_however_old(tmp_path: Path):
    path = tmp_path / "collection"
    path.write_bytes(COLLECTION.encode() + "<DOC><DOCNO>3</DOCNO>Größe</DOC>".encode("latin-1"))
    found = [(passage.id, passage.title, passage.text) for passage in TrecCollection(path)]
    assert found[0] == ("AP-1", "Memory & heap", "How memory is freed . Twice.")
    assert found[1:] == [("2", "", "Strings in program space."), ("3", "", "Größe")]
    assert found == [(passage.id, passage.title, passage.text) for passage in TrecCollection(path)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<DOC>\n<DOCNO>1</DOCNO>\nx", r"corpus:1: a document without </DOC>; a corpus is"),
        ("<DOC>\n<DOCNO>1</DOCNO></DOC>\nx", r"corpus:3: stands outside <DOC>"),
        ("<DOC>\n</DOC>\n\n<DOC><DOCNO>1</DOCNO></DOC>", r"corpus:1: a document without its <DOCNO>"),
        ("<DOC><DOCNO>1</DOCNO></DOC><DOC><DOCNO>1</DOCNO></DOC>", "two passages have the id '1'"),
        ("<xml>", r"corpus:1: stands outside <DOC>; a corpus is JSON Lines"),
    ],
)
def test_a_collection_that_cannot_be_read(tmp_path: Path, text: str, says: str):
    (tmp_path / "corpus").write_text(text)
    (tmp_path / "queries").write_text("1\tx\n")
    with pytest.raises(InputError, match=says):
        search_files(tmp_path / "corpus", tmp_path / "queries", "bm25", embedding="m", k=5, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_topics_over_a_collection_are_ranked(tmp_path: Path):
    (tmp_path / "corpus").write_text(COLLECTION)
    (tmp_path / "topics").write_text("<top><num> Number: 1<title> freeing heap</top><top><num>2<title>strings</top>")
    run = tmp_path / "run"
    assert search_files(tmp_path / "corpus", tmp_path / "topics", "bm25", embedding="m", k=5, out=run) == 2
    assert {query: [passage for passage, _ in row] for query, row in read_run(run).items()} == {
        "1": ["AP-1"],
        "2": ["2"],
    }
