"""Conversations, each with all its turns: Ragas' multi-turn samples, and DeepEval's conversational test cases.

https://docs.ragas.io, "Evaluation sample"; https://deepeval.com/docs/evaluation-multiturn-test-cases. A file an agent,
and one of what nobody answered. A conversation is written once, up to the last turn that was asked: behind it stands
the agent's answer, before it what was said, which these tools take for the agent's, too. A turn that was asked has its
query's id and metadata in its message's metadata, and what no agent said has `BY` there: `layouts.answers.turns_of`
knows them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ragassay.files import json_line, write_json, write_text
from ragassay.layouts.answers import calls_of
from ragassay.layouts.cells import BY, OUR_ID
from ragassay.records import Answer, Query, Turn

from .collection import Collection
from .format import (
    OF_AGENTS,
    OF_COST,
    OF_FAILURES,
    OF_PLACES,
    OF_TESTS,
    Format,
    Losses,
    answers_of,
    expected_text,
    labels,
    passages,
    titles,
    told_of_passages,
    unnamed_passages,
)
from .sheets import Pair, Row, files_of

Talk = Mapping[int, Pair]
"""The turns of a conversation that were asked, each by how many stand before it; the last has all of them before it."""


class Message(NamedTuple):
    """One of a conversation. said: the answer whose words it has, None of a person's and of what no agent said."""

    role: str
    text: str
    metadata: Mapping[str, Any]
    said: Answer | None = None


def talks_of(pairs: Sequence[Pair]) -> list[Talk]:
    """The conversations: a turn is in another's if it stands, after the same history, in what was said before that."""
    found: list[dict[int, Pair]] = []
    by_id: dict[str, list[dict[int, Pair]]] = {}
    for query, answer in sorted(pairs, key=lambda pair: -len(pair[0].history)):
        id, place = query.metadata.get("conversation"), len(query.history)
        others = by_id.setdefault(str(id), []) if id is not None else []
        talk = next((one for one in others if place not in one and _stands_in(query, one)), None)
        if talk is None:
            found.append(talk := {})
            others.append(talk)
        talk[place] = (query, answer)
    first = {query.id: number for number, (query, _) in enumerate(pairs)}
    return sorted(found, key=lambda talk: min(first[query.id] for query, _ in talk.values()))


def _stands_in(query: Query, talk: Talk) -> bool:
    whole, place = talk[max(talk)][0].history, len(query.history)
    said = whole[place] if place < len(whole) else None
    return whole[:place] == query.history and said is not None and (said.role, said.text) == ("user", str(query.text))


def messages_of(talk: Talk) -> Iterator[Message]:
    """All that was said, in its order."""
    last, answer = talk[max(talk)]
    for place, turn in enumerate((*last.history, Turn(role="user", text=str(last.text)))):
        told: dict[str, Any] = {BY: turn.by} if turn.by else {}
        said = _said_at(place, talk)
        if place in talk:
            told |= {**talk[place][0].metadata, OUR_ID: talk[place][0].id}
        elif turn.role == "assistant" and said is None:
            told[BY] = turn.by or "somebody"
        yield Message(turn.role, turn.text, told, said)
    if answer is not None:
        yield Message("assistant", answer.answer or "", {}, answer)


def _said_at(place: int, talk: Talk) -> Answer | None:
    """The agent's answer to the turn before, where the last one's history has it at this place."""
    answer = talk[place - 1][1] if place - 1 in talk else None
    here = talk[max(talk)][0].history[place : place + 1]
    same = answer and answer.answer and here == (Turn(role="assistant", text=answer.answer),)
    return answer if same else None


def fixed(collection: Collection) -> int:
    """Turns said before, in files of agents, that are no answers of theirs."""
    whole = [message for talk in _answered(collection) for message in messages_of(talk)]
    return sum(message.role == "assistant" and message.said is None for message in whole)


def followed(collection: Collection) -> int:
    """Answers to turns that others follow, but for those that the others have before them."""
    n_held = sum(message.said is not None for talk in _answered(collection) for message in messages_of(talk))
    return sum(1 for _ in answers_of(collection)) - n_held


def _answered(collection: Collection) -> Iterator[Talk]:
    """Those of agents."""
    return (talk for _, pairs in files_of(collection) if pairs[0][1] for talk in talks_of(pairs))


_LOSES: Losses = {
    "labels": labels,
    "titles of passages": titles,
    "that turns said before are no answers of the agent": fixed,
    "answers to turns that others follow": followed,
    "steps of answers": lambda made: sum(bool(one.hops) for one in answers_of(made)),
    **OF_FAILURES,
    **OF_AGENTS,
    **OF_COST,
    **OF_TESTS,
}


class RagasConversations(Format):
    """Ragas' multi-turn samples."""

    name = "ragas-conversations"
    title = "Ragas' conversations"
    source = "ragas"
    keeps_turns = True
    loses: ClassVar[Losses] = {
        "passages": passages,
        "passages of answers": lambda made: sum(bool(one.passages) for one in answers_of(made)),
        **_LOSES,
    }

    def write(self, collection: Collection, folder: Path) -> None:
        """AGENT.jsonl, as `EvaluationDataset.from_jsonl` reads it; a failure is a message without words."""
        for name, pairs in files_of(collection):
            write_text(folder / f"{name}.jsonl", "".join(json_line(_ragas(talk)) for talk in talks_of(pairs)))


def _ragas(talk: Talk) -> Row:
    def message(one: Message) -> Row:
        made: Row = {"content": one.text, "type": "human" if one.role == "user" else "ai"}
        made |= {"metadata": one.metadata} if one.metadata else {}
        told = one.said.calls if one.said else None
        return made if told is None else {**made, "tool_calls": [{"name": o.name, "args": o.arguments} for o in told]}

    query, _ = talk[max(talk)]
    calls = [{"name": one["name"], "args": one["arguments"]} for one in calls_of(query.metadata.get("expected_calls"))]
    said = [message(one) for one in messages_of(talk)]
    return {"user_input": said, "reference": expected_text(query), "reference_tool_calls": calls or None}


class DeepEvalConversations(Format):
    """DeepEval's conversational goldens, whose fields its conversational test cases have, too."""

    name = "deepeval-conversations"
    title = "DeepEval's conversations"
    layouts = ("deepeval-conversations",)
    keeps_turns = True
    loses: ClassVar[Losses] = {
        "passages that no answer names": unnamed_passages,
        "ids of passages": passages,
        "metadata of passages": told_of_passages,
        **OF_PLACES,
        **_LOSES,
    }

    def write(self, collection: Collection, folder: Path) -> None:
        """AGENT.json, as `add_goldens_from_json_file` reads it; a failure is a turn without words."""
        for name, pairs in files_of(collection):
            write_json(folder / f"{name}.json", [_deepeval(talk, collection) for talk in talks_of(pairs)])


def _deepeval(talk: Talk, collection: Collection) -> Row:
    def turn(one: Message) -> Row:
        made: Row = {"role": one.role, "content": one.text}
        made |= {"metadata": one.metadata} if one.metadata else {}
        if one.said is None:
            return made
        known = [collection.passages[id].text for id in one.said.passages if id in collection.passages]
        made |= {"retrieval_context": known} if known else {}
        told = one.said.calls
        given = [{"name": o.name, "input_parameters": o.arguments} for o in told or ()]
        return made if told is None else {**made, "tools_called": given}

    query, _ = talk[max(talk)]
    scenario = query.metadata.get("stand_alone") or query.text
    told = {"name": str(query.metadata.get("conversation") or query.id), "scenario": str(scenario)}
    return {**told, "turns": [turn(one) for one in messages_of(talk)], "expected_outcome": expected_text(query)}
