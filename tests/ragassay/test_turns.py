"""A query that is a turn: its record, what every prompt shows before it; the same words are not the same turn."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ragassay.errors import InputError
from ragassay.evaluate.from_files.collections.collection import read_answer_files
from ragassay.evaluate.inputs.clusters import source_clusters
from ragassay.files import json_line, read_records, write_records
from ragassay.layouts.cells import Row
from ragassay.layouts.questions import checked
from ragassay.prompts import fence
from ragassay.records import Asked, Query, Turn

HISTORY = [
    {"role": "user", "text": "US child tax credit?"},
    {"role": "assistant", "text": "Up to $2,000.", "by": "reference"},
]
TURN = {"_id": "c1-2", "text": "And in Canada?", "history": HISTORY, "metadata": {"conversation": "c1", "turn": 2}}


def test_a_turn_is_written_as_it_was_read_and_a_query_without_as_before(tmp_path: Path):
    queries = [Query.model_validate(TURN), Query(id="q", text="How?")]
    write_records(tmp_path / "queries.jsonl", queries)
    assert read_records(tmp_path / "queries.jsonl", Query) == queries
    assert queries[0].dump() == TURN
    assert queries[1].dump() == {"_id": "q", "text": "How?", "metadata": {}}


def test_the_same_words_after_another_history_are_another_question():
    one, other = Query.model_validate(TURN), Query(id="x", text="And in Canada?")
    assert one.text != other.text and len({one.text, other.text, Query.model_validate(TURN).text}) == 2
    again = pickle.loads(pickle.dumps(one.text))
    assert isinstance(again, Asked) and again == one.text and hash(again) == hash(one.text)
    assert again.whole == "US child tax credit?\nUp to $2,000.\nAnd in Canada?"


@pytest.mark.parametrize("name", ["messages", "turns", "chat_history", "conversation"])
def test_what_looks_like_a_history_is_an_error(tmp_path: Path, name: str):
    with pytest.raises(InputError, match=f'queries.jsonl:3: .*{name} is not read; write "history"'):
        checked(Row(3, 3, {"_id": "q", "text": "And?", name: HISTORY}, tmp_path / "queries.jsonl"))
    with pytest.raises(ValidationError, match="role"):
        Query.model_validate({**TURN, "history": [{"role": "system", "text": "x"}]})


def test_every_prompt_shows_what_was_said_before_the_question():
    shown = fence("question", Query.model_validate(TURN).text)
    assert shown.index("US child tax credit?") < shown.index('<turn role="assistant" by="reference">')
    assert shown.endswith("</history>\n\n<question>\nAnd in Canada?\n</question>")
    assert fence("question", "And in Canada?") == "<question>\nAnd in Canada?\n</question>"


@given(
    st.lists(st.sampled_from(["</turn>", "</history>", "<question>", "< / TURN >", "a\n", "</passage>"]), min_size=1)
)
def test_no_turn_closes_a_fence(parts: list[str]):
    text = Asked("Why?", (Turn(role="user", text="".join(parts) + "x"),))
    lines = fence("query", text).split("\n")
    assert [lines.count(tag) for tag in ("<history>", "</history>", '<turn role="user">', "</turn>")] == [1, 1, 1, 1]
    inside = "\n".join(lines[3 : lines.index("</history>") - 1])
    assert not any(mark in inside.lower() for mark in ("</turn", "</history", "<question", "</passage", "< / turn"))


def test_turns_of_a_conversation_are_one_cluster_and_two_that_both_ask_why_stay_two():
    def turn(id: str, conversation: str, section: str | None = None) -> Query:
        metadata = {"conversation": conversation} | ({"section": section} if section else {})
        return Query.model_validate({"_id": id, "text": "Why?", "history": HISTORY, "metadata": metadata})

    made = source_clusters([turn("a1", "a"), turn("a2", "a", "s1"), turn("b1", "b"), turn("b2", "b", "s2")])
    numbers = [made.number(id) for id in ("a1", "a2", "b1", "b2")]
    assert numbers[0] == numbers[1] != numbers[2] == numbers[3]
    joined = source_clusters([turn("a1", "a", "s1"), turn("b1", "b", "s1"), turn("b2", "b")])
    assert len(joined.names) == 1, "two conversations about one section go together"


def test_an_import_keeps_every_turn(tmp_path: Path):
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "US child tax credit?"},
        {"role": "assistant", "content": "Up to $2,000."},
        {"role": "user", "content": "And in Canada?"},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text(json_line({"request": {"messages": messages}, "response": "About $7,000."}))
    (query,) = read_answer_files([path]).queries.values()
    assert query.text.whole.split("\n") == ["US child tax credit?", "Up to $2,000.", "And in Canada?"]
    assert [turn.role for turn in query.history] == ["user", "assistant"] and query.metadata["turn"] == 2
