"""What is kept for its evidence, and what is written down of it; the judge's grades are made up."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.records import Found, Judgment, Passage, Query, Section
from ragassay.synth.questions.find import Evidence, Finder, shared_words

TEXTS = {"p1": "Write 31 to the register.", "p2": "The clock runs.", "p3": "Registers wait."}
PASSAGES = [
    Passage(_id=id, text=text, metadata={"doc": "a.pdf", "start": 100 * n, "end": 100 * n + len(text)})
    for n, (id, text) in enumerate(TEXTS.items())
]
QUERY = Query(_id="q", text="What writes 31 to the register?", metadata={"section": "s"})
SECTION = Section(id="s", doc="a.pdf", first_page=1, last_page=1, start=90, end=150, text="The clock runs.")


def finder(grades: Mapping[str, int | None]) -> Finder:
    def pool(passages, texts, own):
        del passages, texts
        return [[("p1", "bm25"), ("p3", "hybrid"), *((id, "section") for id in mine)] for mine in own]

    def grade(pools):
        said = [
            Judgment(
                query_id=query.id,
                subject=one.id,
                judge="m",
                criterion="relevance",
                label=grades[one.id],
                error="no reply" if grades[one.id] is None else None,
            )
            for query, passages in pools
            for one in passages
        ]
        rows = [
            Found(
                query_id=a.query_id, passage=a.subject, found_by="", judge="m", asked="x", label=a.label, error=a.error
            )
            for a in said
        ]
        return rows, said

    return Finder(PASSAGES, pool, grade, "en")


def test_graded_spans_stand_best_first_with_who_found_them():
    made = finder({"p1": 1, "p2": 2, "p3": 0})
    rows, found = made.find([QUERY], [SECTION])
    query = made.with_evidence(QUERY, found["q"])
    assert query.metadata["evidence"] == [
        {"doc": "a.pdf", "start": 100, "end": 115, "grade": 2, "found_by": "section"},
        {"doc": "a.pdf", "start": 0, "end": 25, "grade": 1, "found_by": "bm25"},
    ]
    assert query.metadata["shared_words"] == 0.0, "the best passage shares no content word"
    assert [(row.passage, row.start, row.found_by) for row in rows] == [
        ("p1", 0, "bm25"),
        ("p3", 200, "hybrid"),
        ("p2", 100, "section"),
    ]


def test_what_people_brought_stays():
    brought = QUERY.model_copy(update={"metadata": {"evidence": [{"doc": "a.pdf", "quote": "The clock runs."}]}})
    made = finder({"p1": 2, "p3": 2})
    _, found = made.find([brought], [])
    assert made.with_evidence(brought, found["q"]).metadata["evidence"] == brought.metadata["evidence"]


@pytest.mark.parametrize(
    ("grades", "kind", "fault"),
    [
        ({"p1": 2}, "fact", None),
        ({"p1": 1, "p3": 1}, "fact", "nothing that was found answers it"),
        ({"p1": 1, "p3": 1}, "multi-hop", None),
        ({"p1": 1, "p3": 0}, "multi-hop", "nothing that was found answers it"),
        ({}, "fact", "nothing that was found answers it"),
        ({"p1": 1, "p3": 0}, "unanswerable", None),
        ({"p1": 0, "p3": 2}, "unanswerable", "it is answered after all: by passage p3"),
    ],
)
def test_a_question_is_kept_where_anything_answers_it(grades: dict[str, int], kind: str, fault: str | None):
    assert Evidence(grades).fault(kind) == fault


@given(st.dictionaries(st.sampled_from(sorted(TEXTS)), st.none() | st.integers(0, 2), min_size=3))
def test_what_failed_is_no_grade(grades: dict[str, int | None]):
    _, found = finder(grades).find([QUERY], [SECTION])
    assert found["q"].grades == {id: grade for id, grade in grades.items() if grade is not None}
    assert len(found["q"].errors) == sum(grade is None for grade in grades.values())
    if not found["q"].grades:
        assert (found["q"].fault("fact") or "").startswith("what was found could not be graded: no reply")


def test_shared_words_are_stems_without_stop_words() -> None:
    """read, byte and flash, of which the passage has the first two, one in another form."""
    passage = "Call pgm_read_byte to read bytes from program memory."
    assert shared_words("How do I read a byte from flash?", passage, "en") == 2 / 3
    assert shared_words("How do I read a byte from flash?", "", "en") == 0
    assert shared_words("", passage, "en") == 0
