"""Conversations as Ragas and DeepEval have them: written once with every turn, read again; what is lost is counted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.made_collections import SAID

from ragassay.cli import main
from ragassay.evaluate.from_files.answers import read_cases
from ragassay.evaluate.from_files.collections.collection import Collection, write_folder
from ragassay.evaluate.from_files.collections.format import formats, not_held
from ragassay.evaluate.from_files.collections.sheets import followed
from ragassay.layouts.cells import read_rows
from ragassay.records import Answer, Hop, Passage, Query, ToolCall, Turn

FORMATS = ("deepeval-conversations", "ragas-conversations")
CALL = ToolCall(name="look", arguments={"row": 1})


@st.composite
def talks(draw: st.DrawFn) -> Collection:
    """Conversations of which some turns are asked; two may say the same, and an agent's answers be its history."""
    queries: dict[str, Query] = {}
    answers: dict[str, dict[str, Answer]] = {"a": {}, "b": {}}
    written = st.sampled_from([None, "person", "model", "reference"])
    for talk in draw(st.lists(st.sampled_from(["t1", "t2", "t3"]), min_size=1, max_size=3, unique=True)):
        history: list[Turn] = []
        told = draw(st.fixed_dictionaries({}, optional={"move": SAID, "expected_response": SAID}))
        for number in range(1, 1 + draw(st.integers(1, 4))):
            text, said = draw(st.sampled_from(["Why?", "And then?"]) | SAID), draw(SAID)
            query = Query(
                id=f"{talk}-{number}",
                text=text,
                metadata={"conversation": talk, "turn": number, **told},
                history=tuple(history),
            )
            for agent in draw(st.sets(st.sampled_from(["a", "b", "nobody"]))):
                queries[query.id] = query
                own = {} if agent == "nobody" else answers[agent]
                answer = draw(st.sampled_from([said, None]) | SAID)
                error = None if answer is not None else "down"
                calls = draw(st.sampled_from([None, (), (CALL,)]))
                own[query.id] = Answer(query_id=query.id, agent=agent, answer=answer, error=error, calls=calls)
            history += [Turn(role="user", text=text), Turn(role="assistant", text=said, by=draw(written))]
            history += [Turn(role="assistant", text=one) for one in draw(st.sampled_from([(), ("Hm.",)]))]
    return Collection(queries, answers={agent: rows for agent, rows in answers.items() if rows})


@pytest.mark.parametrize("name", FORMATS)
@given(made=talks())
def test_every_turn_comes_back_and_each_answer_that_is_not_counted(name: str, made: Collection):
    one = formats()[name]
    with TemporaryDirectory() as place:
        one.write(made, Path(place) / "out")
        again = one.read([Path(place) / "out"]) if made.queries else made
        if name == "ragas-conversations" and made.queries:
            again = formats()["ragas"].read([Path(place) / "out"])
        n_written = sum(len(list(read_rows(path))) for path in (Path(place) / "out").glob("*"))
    assert again.queries == made.queries
    asked = [*made.answers.values(), made.queries.keys() - {id for own in made.answers.values() for id in own}]
    assert n_written == sum(len({id.split("-")[0] for id in ids}) for ids in asked)

    def rows(collection: Collection) -> dict[tuple[str, str], Answer]:
        lost = {"error": "lost"}
        whole = {(agent, id): one for agent, own in collection.answers.items() for id, one in own.items()}
        return {key: one if one.answer is not None else one.model_copy(update=lost) for key, one in whole.items()}

    before, after = rows(made), rows(again)
    assert after.items() <= before.items() and len(before) - len(after) == followed(made)
    for talk in {str(query.metadata["conversation"]) for query in made.queries.values()}:
        last = max((id for id in made.queries if id.startswith(talk)), key=lambda id: int(id.split("-")[1]))
        assert {key for key in before if key[1] == last} <= after.keys()


SAYS = (Turn(role="user", text="US?"), Turn(role="assistant", text="2000", by="reference"))
FIXED = Collection(
    {
        "c-1": Query(id="c-1", text="US?", metadata={"conversation": "c", "turn": 1}),
        "c-2": Query(
            **{"id": "c-2", "text": "And in Canada?", "history": SAYS},
            metadata={"conversation": "c", "turn": 2, "stand_alone": "Canada?", "expected_response": "7000"},
        ),
    },
    {"p": Passage(id="p", text="It is 7000.")},
    answers={
        "a": {
            "c-1": Answer(query_id="c-1", agent="a", answer="2001", passages=("p",)),
            "c-2": Answer(
                **{"query_id": "c-2", "agent": "a", "answer": "So.", "passages": ("p",)},
                hops=(Hop(query="x"),),
                calls=(CALL,),
            ),
        }
    },
)


@pytest.mark.parametrize("name", FORMATS)
def test_a_conversation_is_written_once_and_what_it_cannot_hold_is_named(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write_folder(FIXED, tmp_path / "results")
    assert main(["export", str(tmp_path / "results"), "--to", name, "--out", str(tmp_path / "made")]) == 0
    said = "".join(capsys.readouterr())
    for part in ("no answers of the agent (1)", "answers to turns that others follow (1)", "steps of answers (1)"):
        assert part in said
    assert "what was said before" not in said
    (path,) = (tmp_path / "made").iterdir()
    (row,) = json.loads(path.read_text()) if path.suffix == ".json" else [json.loads(path.read_text())]
    turns = row["turns" if path.suffix == ".json" else "user_input"]
    assert [one["content"] for one in turns] == ["US?", "2000", "And in Canada?", "So."]
    assert [one.get("metadata", {}).get("ragassay_query_id") for one in turns] == ["c-1", None, "c-2", None]
    if name == "ragas-conversations":
        assert row["reference"] == "7000" and turns[-1]["tool_calls"] == [{"name": "look", "args": {"row": 1}}]
    else:
        assert (row["name"], row["scenario"], row["expected_outcome"]) == ("c", "Canada?", "7000")
        assert turns[-1]["retrieval_context"] == ["It is 7000."]
        assert turns[-1]["tools_called"] == [{"name": "look", "input_parameters": {"row": 1}}]


def test_turns_that_do_not_follow_each_other_are_conversations_of_their_own(tmp_path: Path):
    other = (Turn(role="user", text="UK?"), SAYS[1])
    longer = (*other, Turn(role="user", text="And in Canada?"), SAYS[1])
    apart = Query(id="c-3", text="Why?", metadata={"conversation": "c", "turn": 3}, history=longer)
    twice = FIXED.queries["c-1"].model_copy(update={"id": "c-4"})
    third = Query(
        **{"id": "c-5", "text": "Why?", "metadata": {"conversation": "c", "turn": 3}},
        history=(*SAYS, Turn(role="user", text="And in Canada?"), SAYS[1]),
    )
    made = Collection({**FIXED.queries, "c-3": apart, "c-4": twice, "c-5": third})
    formats()["deepeval-conversations"].write(made, tmp_path)
    rows = json.loads((tmp_path / "testset.json").read_text())
    assert [len(row["turns"]) for row in rows] == [5, 5, 1]
    assert not_held("X", formats()["deepeval-conversations"].loses, made) == []
    assert formats()["deepeval-conversations"].read([tmp_path]).queries == made.queries


def test_conversations_of_others_come_in_with_their_answers(tmp_path: Path):
    said = [("human", "US?"), ("ai", "2000"), ("human", "And in Canada?")]
    row = {"user_input": [{"type": type, "content": text} for type, text in said], "reference": "7000"}
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(row))
    found = formats()["ragas"].read([path])
    assert {id: one.answer for id, one in found.answers["mine"].items()} == {"q1": "2000"}
    assert [str(query.text) for query in found.queries.values()] == ["US?", "And in Canada?"]
    formats()["ragas-conversations"].write(replace(found, qrels={}), tmp_path / "out")
    (case,) = read_cases([path], None, None).cases
    assert [one.text for one in case.answers] == ["2000"]
    assert replace(formats()["ragas"].read([tmp_path / "out"]), notes=()).queries == found.queries
