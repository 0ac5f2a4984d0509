"""Queries and corpora in TREC's layouts."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.files import read_run
from ragassay.layouts.topics import TrecCollection, read_queries_file
from ragassay.retrieval.search import search_files

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
