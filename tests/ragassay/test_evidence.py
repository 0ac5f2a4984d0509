"""Quotes found again in the text: where they are as they were, and where copying changed what PDFs change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.json_lines import write_lines

from ragassay.errors import InputError
from ragassay.evidence import (
    Evidence,
    Graded,
    Quotable,
    Span,
    merged,
    read_evidence,
    read_graded,
    read_judged,
)

TEXT = (
    "The watchdog resets the con-\ntroller unless wdt_reset() is called.\n   A time-out of -1 means “never”; "
    "see fixed-\npoint numbers.\nPORTB0–PORTB7 are outputs,   PORTC0 is not."
)
words = st.text(alphabet="abcABZ019_-.é“” \n", min_size=1, max_size=80)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("wdt_reset() is called", "wdt_reset() is called"),
        ("  wdt_reset() is called.\n", "wdt_reset() is called."),
        ("resets the controller unless", "resets the con-\ntroller unless"),
        ("resets the con- troller unless", "resets the con-\ntroller unless"),
        ("see fixed-point numbers", "see fixed-\npoint numbers"),
        ('A timeout of -1 means "never"', "A time-out of -1 means “never”"),
        ("PORTB0-PORTB7 are outputs, PORTC0", "PORTB0–PORTB7 are outputs,   PORTC0"),
        ("A time-out of 1 means", None),
        ("a time-out of -1 means", None),
        ("PORTB0-PORTB6 are outputs", None),
        ("the watch … is called", None),
        ("is not", None),
        ("", None),
    ],
)
def test_a_quote_is_found_as_far_as_copying_changes_nothing_that_matters(quote: str, found: str | None):
    place = Quotable(TEXT).find(quote)
    assert (TEXT[place[0] : place[1]] if place else None) == found


@pytest.mark.parametrize(
    ("quote", "twice"), [("set it  high", True), ("set it high now", False), ("set it low", False), ("it", False)]
)
def test_a_quote_in_several_places_is_known(quote: str, twice: bool):
    assert Quotable("First set it\nhigh. Then set it high now.").has_twice(quote) is twice


@given(words, words.map("reset{}timer".format), words)
def test_whatever_was_copied_out_is_found_and_reads_the_same(before: str, quote: str, after: str):
    """A quote of at least eight letters that ends in no hyphen, which would join what is not quoted."""
    text = before + quote + after
    for copied in (quote, quote.replace(" ", "\n  "), quote.replace("\n", " "), quote.replace("“", '"')):
        place = Quotable(text).find(copied)
        assert place is not None
        start, end = place
        assert 0 <= start < end <= len(text)
        assert _letters(text[start:end]) == _letters(quote)


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum() or char in "_.")


PAGES = {
    ("avr.pdf", 1): "The watchdog resets the con-\ntroller.",
    ("avr.pdf", 2): "",
    ("avr.pdf", 3): "  Call wdt_reset() often. ",
    ("parts/uart.pdf", 1): "The UART has a baud rate.",
}
AVR = "The watchdog resets the con-\ntroller.\n\n  Call wdt_reset() often. "
"""The pages of avr.pdf joined by newlines."""


class Folder:
    """The three files evidence is read from."""

    def __init__(self, root: Path) -> None:
        self.queries, self.pages, self.corpus = root / "queries.jsonl", root / "pages.jsonl", root / "corpus.jsonl"
        self.qrels = root / "qrels.tsv"
        write_lines(self.pages, [{"doc": doc, "page": page, "text": text} for (doc, page), text in PAGES.items()])
        places = {"a-1": (0, 37), "a-2": (24, 50), "a-3": (40, 64), "b-1": None}
        rows = []
        for name, place in places.items():
            where = {"doc": "avr.pdf", "start": place[0], "end": place[1]} if place else {"doc": "avr.pdf"}
            rows.append({"_id": name, "text": "x", "metadata": where})
        write_lines(self.corpus, rows)

    def of(self, *given: Any, qrels: str | None = None) -> dict[str, tuple[Span, ...]]:
        """The evidence of queries q1, q2, … that give this."""
        lines = [
            {"_id": f"q{n}", "text": "Why?", "metadata": {} if one is None else {"evidence": one}}
            for n, one in enumerate(given, 1)
        ]
        write_lines(self.queries, lines)
        if qrels is not None:
            self.qrels.write_text(qrels)
        return read_evidence(self.queries, self.pages, self.corpus, self.qrels if qrels is not None else None)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.mark.parametrize(
    "piece",
    [
        {"doc": "avr.pdf", "start": 0, "end": 37},
        {"doc": "avr.pdf", "start": 0, "end": 38},
        {"doc": "avr.pdf", "quote": "The watchdog resets the controller."},
        {"doc": "avr.pdf", "quote": "The  watchdog\nresets the con-\ntroller. "},
        {"doc": "avr.pdf", "first_page": 1, "last_page": 1},
        {"doc": "avr.pdf", "first_page": 1, "last_page": 2},
        {"passage": "a-1"},
    ],
    ids=str,
)
def test_every_form_is_the_same_span(folder: Folder, piece: dict[str, Any]) -> None:
    assert folder.of([piece]) == {"q1": (Span("avr.pdf", 0, 37),)}


def test_pages_quotes_and_offsets_count_in_the_pages_joined_by_newlines(folder: Folder) -> None:
    call = AVR.index("Call")
    for piece in (
        {"doc": "avr.pdf", "first_page": 3, "last_page": 3},
        {"doc": "avr.pdf", "quote": "Call wdt_reset() often."},
        {"doc": "avr.pdf", "start": call, "end": len(AVR)},
    ):
        [span] = folder.of([piece])["q1"]
        assert AVR[span.start : span.end] == "Call wdt_reset() often."


def test_overlapping_pieces_are_one_and_others_stay_apart(folder: Folder) -> None:
    uart = {"doc": "parts/uart.pdf", "first_page": 1, "last_page": 1}
    found = folder.of(
        [uart, {"passage": "a-2"}, {"passage": "a-1"}, {"passage": "a-1"}],
        [{"doc": "avr.pdf", "start": 4, "end": 12}, {"doc": "avr.pdf", "start": 13, "end": 19}],
    )
    assert found["q1"] == (Span("avr.pdf", 0, 50), Span("parts/uart.pdf", 0, 25))
    assert found["q2"] == (Span("avr.pdf", 4, 12), Span("avr.pdf", 13, 19))
    assert len(merged([Span("a", 0, 5), Span("a", 5, 9)])) == 2, "they touch, and do not overlap"


def test_without_evidence_there_is_none_and_nothing_is_read(folder: Folder) -> None:
    folder.pages.unlink()
    folder.corpus.unlink()
    assert folder.of(None, []) == {}


def test_evidence_beside_the_metadata_counts_too(folder: Folder) -> None:
    piece = {"doc": "avr.pdf", "start": 4, "end": 12}
    write_lines(folder.queries, [{"_id": "q1", "text": "Why?", "evidence": [piece]}])
    assert read_evidence(folder.queries, folder.pages, folder.corpus) == {"q1": (Span("avr.pdf", 4, 12),)}


def test_labelled_passages_are_the_evidence_of_queries_that_bring_none(folder: Folder) -> None:
    labels = "query-id\tcorpus-id\tscore\nq1\ta-1\t1\nq1\ta-3\t0\nq2\ta-3\t2\nelsewhere\tx\t1\nq3\ta-3\t0\n"
    own = [{"doc": "avr.pdf", "start": 4, "end": 12}]
    assert folder.of(None, own, None, qrels=labels) == {
        "q1": (Span("avr.pdf", 0, 37),),
        "q2": (Span("avr.pdf", 4, 12),),
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("page 3", "evidence is not a list"),
        ({"doc": "avr.pdf", "start": 0, "end": 3}, "evidence is not a list"),
        (["avr.pdf"], "evidence 1: is not an object"),
        ([{}], "has no key"),
        ([{"doc": "avr.pdf"}], "has 'doc'; write"),
        ([{"doc": "avr.pdf", "start": 0, "end": 3, "quote": "watchdog"}], "each by itself"),
        ([{"doc": "avr.pdf", "start": 0}], "each by itself"),
        ([{"doc": "avr.pdf", "passage": "a-1"}], "each by itself"),
        ([{"doc": "avr.pdf", "start": "0", "end": 3}], "'start' is not a whole number"),
        ([{"doc": "avr.pdf", "start": 0.0, "end": 3}], "'start' is not a whole number"),
        ([{"doc": "avr.pdf", "start": False, "end": 3}], "'start' is not a whole number"),
        ([{"doc": 7, "start": 0, "end": 3}], "'doc' is not a text"),
        ([{"doc": "avr.pdf", "start": 3, "end": 3}], "start 3 is not before end 3"),
        ([{"doc": "avr.pdf", "start": -1, "end": 3}], "below 0"),
        ([{"doc": "avr.pdf", "start": 0, "end": 900}], "0 to 900 is outside the text of avr.pdf, which has 65"),
        ([{"doc": "avr.pdf", "start": 37, "end": 40}], "there is no text at 37 to 40"),
        ([{"doc": "avr.pdf", "start": 0, "end": 3}, {"doc": "avx.pdf", "start": 0, "end": 3}], "evidence 2: .*did you"),
        ([{"doc": "uart.pdf", "quote": "The UART has"}], "'uart.pdf', of which there is no text"),
        ([{"doc": "avr.pdf", "quote": "The UART has a baud rate."}], "“The UART has a baud rate.” does not stand in"),
        ([{"doc": "avr.pdf", "quote": "a \x1b[31m red one"}], r"\\x1b"),
        ([{"doc": "avr.pdf", "quote": "the"}], "too short"),
        ([{"doc": "avr.pdf", "first_page": 1, "last_page": 4}], "page 4 of avr.pdf is not in pages.jsonl"),
        ([{"doc": "avr.pdf", "first_page": 0, "last_page": 1}], "below 1"),
        ([{"doc": "avr.pdf", "first_page": 3, "last_page": 1}], "first_page 3 is after last_page 1"),
        ([{"doc": "avr.pdf", "first_page": 2, "last_page": 2}], "there is no text"),
        ([{"doc": "avr.pdf", "start": 0, "end": 3, "grade": 0}], "evidence 1: 'grade' is neither 1 nor 2; 2 answers"),
        ([{"doc": "avr.pdf", "quote": "The watchdog resets", "grade": 3}], "'grade' is neither 1 nor 2"),
        ([{"passage": "a-1", "grade": "2"}], "'grade' is neither 1 nor 2"),
        ([{"passage": "a-1", "grade": True}], "'grade' is neither 1 nor 2"),
        ([{"passage": "a-1", "grade": None}], "'grade' is neither 1 nor 2"),
        ([{"passage": "a-1", "found_by": 3}], "'found_by' is not a text"),
        ([{"grade": 2}], "has 'grade'; write"),
        ([{"passage": "a-9"}], "'a-9', which is not in corpus.jsonl; did you mean 'a-"),
        ([{"passage": "b-1"}], "does not say where it stands"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(folder: Folder, given: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        folder.of(None, given)
    assert (caught.value.file, caught.value.line, caught.value.exit_status) == (folder.queries, 2, 2)
    assert caught.value.remedy and "\x1b" not in str(caught.value)


@pytest.mark.parametrize("name", ["a-9", "b-1"])
def test_a_label_of_a_passage_without_a_place_is_said_with_its_line(folder: Folder, name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}'") as caught:
        folder.of(None, qrels=f"q1 0 a-1 1\nq1 0 {name} 1\n")
    assert (caught.value.file, caught.value.line) == (folder.qrels, 2)


def test_a_file_that_evidence_needs_and_is_not_there_is_named(folder: Folder) -> None:
    folder.corpus.unlink()
    with pytest.raises(InputError) as caught:
        folder.of([{"passage": "a-1"}])
    assert caught.value.file == folder.corpus
    folder.pages.unlink()
    with pytest.raises(InputError, match="run `ragassay ingest`") as caught:
        folder.of([{"passage": "a-1"}])
    assert caught.value.file == folder.pages


def test_a_piece_within_another_is_part_of_it():
    assert merged([Span("a", 10, 20), Span("a", 0, 50), Span("b", 5, 9)]) == (Span("a", 0, 50), Span("b", 5, 9))


A1, A2, A3 = Span("avr.pdf", 0, 37), Span("avr.pdf", 24, 50), Span("avr.pdf", 41, 64)


def graded(folder: Folder, *given: Any, qrels: str | None = None) -> dict[str, tuple[Evidence, ...]]:
    folder.of(*given, qrels=qrels)
    return by_grade(
        read_graded(folder.queries, folder.pages, folder.corpus, folder.qrels if qrels is not None else None)
    )


def by_grade(found: dict[str, Graded]) -> dict[str, tuple[Evidence, ...]]:
    """(what is relevant, what has grade 1 or 2) of each query."""
    return {query: one[:2] for query, one in found.items()}


def test_pieces_of_every_form_carry_a_grade_and_without_one_have_the_second(folder: Folder) -> None:
    found = graded(
        folder,
        [
            {"passage": "a-1", "grade": 1, "found_by": "bm25"},
            {"doc": "parts/uart.pdf", "first_page": 1, "last_page": 1},
        ],
        [{"doc": "avr.pdf", "quote": "The watchdog resets the controller.", "grade": 1}],
        [{"doc": "avr.pdf", "start": 4, "end": 12, "grade": 2}, {"passage": "a-1", "grade": 1}],
    )
    uart = Span("parts/uart.pdf", 0, 25)
    assert found["q1"] == ((uart,), (A1, uart))
    assert found["q2"] == ((A1,), (A1,)), "where nothing answers, what holds a part of the answer is relevant"
    assert found["q3"] == ((Span("avr.pdf", 4, 12),), (A1,))
    plain = read_evidence(folder.queries, folder.pages, folder.corpus)
    assert plain == {query: relevant for query, (relevant, _) in found.items()}


@pytest.mark.parametrize(
    ("labels", "relevant", "at_1"),
    [
        ("q1 0 a-1 1\nq1 0 a-3 0\n", (A1,), (A1,)),
        ("q1 0 a-1 1\nq1 0 a-3 2\n", (A3,), (A1, A3)),
        ("q1 0 a-1 1\nq1 0 a-3 4\n", (A3,), (A1, A3)),
        ("q1 0 a-1 1\nq1 0 a-3 1\nq9 0 a-2 2\n", (A1, A3), (A1, A3)),
    ],
)
def test_people_s_labels_are_grades_but_where_they_are_binary(
    folder: Folder, labels: str, relevant: Any, at_1: Any
) -> None:
    assert graded(folder, None, qrels=labels) == {"q1": (relevant, at_1)}


def test_what_people_say_wins_over_what_was_found_in_the_same_place(folder: Folder) -> None:
    one, two, three = (
        {"passage": f"a-{n}", "grade": grade, "found_by": "knn"} for n, grade in ((1, 2), (2, 1), (3, 2))
    )
    labels = "q1 0 a-1 0\nq1 0 gone 0\nq2 0 a-3 2\n"
    found = graded(
        folder, [one, three], [one, two], [three], [{"passage": "a-1", "grade": 1}, one, three], qrels=labels
    )
    assert found["q1"] == ((A3,), (A3,)), "people said that a-1 does not answer it"
    assert found["q2"] == ((A1, A3), (Span("avr.pdf", 0, 64),)), "a-2, of which less than half is a-3, stays"
    assert found["q3"] == ((A3,), (A3,)), "of this query people said nothing"
    assert found["q4"] == ((A3,), (A1, A3)), "their grade of a-1 stands"


def test_what_is_graded_since_joins_unless_it_holds_what_it_was_graded_by(folder: Folder) -> None:
    folder.of([{"passage": "a-2", "grade": 1, "found_by": "bm25"}], None, [{"passage": "a-1"}])
    whole, sides = Span("avr.pdf", 0, 64), [(A1, 2), (A3, 1)]
    deeper = {"q1": [(whole, 1)], "q2": [(whole, 2), *sides], "q3": [(whole, 2)]}
    found = by_grade(read_graded(folder.queries, folder.pages, folder.corpus, None, deeper))
    assert found["q1"] == ((A2,), (A2,)), "a-2 is why the whole has a part of the answer"
    assert found["q2"] == ((A1,), (A1, A3)), "and a-1 why it answers, whichever was graded first"
    assert found["q3"] == ((A1,), (A1,)), "people gave evidence there"
    better = read_graded(folder.queries, folder.pages, folder.corpus, None, {"q1": [(whole, 2)]})["q1"]
    assert better[:2] == ((whole,), (whole,)) and better.pieces == (whole, A2), "as they were given"


def test_what_was_judged_is_what_has_a_label_of_anybody(folder: Folder) -> None:
    found = folder.queries.parent / "found.jsonl"
    rows = [("q1", "a-1", 0, None), ("q1", "a-3", None, "the reply has no labels"), ("q2", "a-1", None, "timeout")]
    places = {"a-1": A1, "a-3": A3}
    same = {"found_by": "bm25", "judge": "relevance", "asked": "d"}
    write_lines(
        found,
        [
            {"query_id": query, "passage": name, **places[name]._asdict(), **same, "label": label, "error": error}
            for query, name, label, error in rows
        ],
    )
    assert read_judged(found, folder.corpus) == {"q1": (A1,), "q2": ()}
    folder.qrels.write_text("q1 0 a-3 0\nq3 0 a-2 1\nq3 0 b-1 1\n")
    assert read_judged(found, folder.corpus, folder.qrels) == {
        "q1": (A1, Span("avr.pdf", 40, 64)),
        "q2": (),
        "q3": (A2,),
    }
    assert read_judged(folder.corpus.with_name("none"), folder.corpus) == {}
