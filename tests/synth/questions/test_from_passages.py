"""The words of graded passages that answer a question, and golden answers; the model's replies are written here."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from support.results_folder import experiment
from support.scripted_judge import Scripted

from ragassay.models.requests import Reply
from ragassay.records import Passage, Query
from ragassay.synth.questions.from_passages import Quoted, ask_quotes

DOCUMENT = "The clock runs. Write 31 to the reg-\nister, then wait. Write 93 to stop it. All registers wait."
PLACES = {"p1": (0, 50), "p2": (36, 76), "p3": (55, 90)}
PASSAGES = {
    id: Passage(_id=id, title="Clocks", text=DOCUMENT[a:b], metadata={"doc": "a.pdf", "start": a, "end": b})
    for id, (a, b) in PLACES.items()
}
FILE = Passage(_id="p4", text="Nobody knows where the words stand.")


def query(id: str, grades: dict[str, int], **metadata: object) -> tuple[Query, list[Passage]]:
    passages = [PASSAGES.get(name, FILE) for name in grades]
    places = [
        {"doc": "a.pdf", "start": PLACES[name][0], "end": PLACES[name][1]} if name in PLACES else {"passage": name}
        for name in grades
    ]
    evidence = [{**at, "grade": grade, "found_by": "bm25"} for at, grade in zip(places, grades.values(), strict=True)]
    return Query(_id=id, text=f"What is written for {id}?", metadata={"evidence": evidence, **metadata}), passages


def told(
    reply: object, *given: tuple[Query, list[Passage]], source: str = "own", **questions: object
) -> tuple[Quoted, Scripted]:
    caller = Scripted(lambda label, text: reply)
    settings = experiment("file:judge", questions={"source": source, "quota": {"file:writer": 4}} | questions)
    return ask_quotes(settings, given, caller), caller  # type: ignore[arg-type]


def quotes(*rows: tuple[int, list[str]], **more: str) -> dict[str, Any]:
    return {"passages": [{"number": n, "quotes": words} for n, words in rows], **more}


def texts(one: Query) -> list[tuple[str, int]]:
    return [(DOCUMENT[piece["start"] : piece["end"]], piece["grade"]) for piece in one.metadata["evidence"]]


def test_a_span_is_the_quote_where_it_stands_in_the_document_with_the_passage_s_grade():
    reply = quotes((1, ["Write 31 to the register"]), (2, ["then wait.", "Write 93 to stop it."]))
    found, caller = told(reply, query("q", {"p1": 2, "p2": 1}), quotes=True)
    (one,) = found.queries
    assert texts(one) == [
        ("Write 31 to the reg-\nister", 2),
        ("then wait.", 1),
        ("Write 93 to stop it.", 1),
    ], "white space and a hyphen at a line's end are no other words"
    assert {piece["found_by"] for piece in one.metadata["evidence"]} == {"bm25"} and found.notices() == []
    assert "expected_response" not in one.metadata
    (request,) = caller.asked("quotes-file-judge")
    shown = request.messages[1].content
    assert [shown.count(f'<passage number="{n}">') for n in (1, 2, 3)] == [1, 1, 0] and one.text in shown
    assert "`answer`" not in request.messages[0].content


def test_quotes_that_are_not_there_are_counted_and_their_passage_stays_whole():
    reply = quotes(
        (1, ["Write 32 to the register"]), (2, []), (3, ["wait.", "Write 93 to stop it."]), (7, ["Clocks run"])
    )
    found, _ = told(reply, query("q", {"p1": 2, "p2": 2, "p3": 1}), quotes=True)
    assert texts(found.queries[0]) == [
        (PASSAGES["p1"].text, 2),
        (PASSAGES["p2"].text, 2),
        ("Write 93 to stop it.", 1),
    ], "“wait.” is too short to be looked for"
    assert found.notices() == ["3 of 4 quotes do not stand in their passage; 2 of 3 passages stay evidence as a whole"]


def test_a_place_that_two_passages_share_is_one_span_of_the_better_grade():
    same = "Write 93 to stop it."
    found, _ = told(quotes((1, [same, same]), (2, [same])), query("q", {"p3": 2, "p2": 1}), quotes=True)
    assert texts(found.queries[0]) == [(same, 2)]


def test_a_passage_without_a_place_stays():
    found, _ = told(quotes((1, ["Nobody knows where"])), query("q", {"p4": 2}), quotes=True)
    assert found.queries[0].metadata["evidence"] == [{"passage": "p4", "grade": 2, "found_by": "bm25"}]
    assert (found.n_lost, found.n_whole) == (1, 1)


def test_who_is_asked_and_about_which_questions():
    bare = Query(_id="bare", text="What answers nothing?"), list[Passage]()
    written = query("written", {"p1": 1}, model="file:writer")
    found, caller = told(quotes(), bare, written, query("brought", {"p2": 1}), source="both", quotes=True)
    assert [one.id for one in found.queries] == ["bare", "written", "brought"] and found.n_asked == 2
    assert found.queries[0] == bare[0]
    labels = [batch.label for batches in caller.rounds for batch in batches]
    assert labels == ["quotes-file-writer", "quotes-file-judge"]


@pytest.mark.parametrize("wants_quotes", [False, True])
def test_golden_answers_where_a_passage_of_grade_2_was_found(wants_quotes: bool):
    def say(label: str, text: str) -> Any:
        answer = {"answer": " Write 31. "} if "answered" in text else {}
        return quotes((1, ["Write 31 to the register"])) | answer if wants_quotes else answer

    caller = Scripted(say)
    settings = experiment("file:judge", questions={"golden_answers": True, "quotes": wants_quotes})
    given = [
        query("answered", {"p1": 2}),
        query("partly", {"p1": 1}),
        query("with its own", {"p1": 2}, expected_response="31"),
    ]
    found = ask_quotes(settings, given, caller)  # type: ignore[arg-type]
    answers = [one.metadata.get("expected_response") for one in found.queries]
    assert answers == ["Write 31.", None, "31"] and not found.errors
    assert found.n_asked == (3 if wants_quotes else 1)
    first = caller.rounds[0][0].requests[0].messages[0].content
    assert "`answer`" in first and ("`passages`" in first) is wants_quotes
    if not wants_quotes:
        assert [one.metadata["evidence"] for one in found.queries] == [one.metadata["evidence"] for one, _ in given]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(error="lost"),
        {"passages": "all"},
        {"passages": [{"number": 1}]},
        {"passages": [{"number": 1, "quotes": ["Write 31 to the register"], "grade": 2}]},
        [],
        "I cannot.",
    ],
)
def test_a_reply_that_cannot_be_read_leaves_the_passages_and_is_counted(reply: object):
    given = query("q", {"p1": 2})
    found, _ = told(reply, given, quotes=True)
    assert list(found.queries) == [given[0]] and len(found.errors) == 1
    assert found.notices()[0].startswith("1 of 1 requests for quotes or golden answers failed, and passages stay")


def test_an_empty_answer_is_none():
    found, _ = told(quotes(answer=" "), query("q", {"p1": 2}), quotes=True, golden_answers=True)
    assert "expected_response" not in found.queries[0].metadata


def test_quotes_go_with_evidence_from_the_corpus():
    with pytest.raises(ValidationError, match='quotes goes with evidence = "corpus"'):
        experiment(questions={"evidence": "section", "quotes": True})
