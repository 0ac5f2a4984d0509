"""A label belongs to the text that it was given for: passages of one text under several ids are judged once."""

from __future__ import annotations

import pytest
from support.judged_together import fair_together, passages_in
from support.results_folder import answer, write
from support.scripted_judge import PASSAGES, Scripted, fair, workspace

from ragassay.evaluate.make_judgments import make_judgments
from ragassay.files import read_qrels, read_records, write_json
from ragassay.models.requests import Reply
from ragassay.records import Judgment, Passage

TEXTS = {"p1": PASSAGES["p1"], "p2": PASSAGES["p2"], "small.p1": PASSAGES["p1"], "small.p2": PASSAGES["p2"]}
TITLED = "titled.p1"


def bench(root, *, joined=None, **judge):
    """Three agents over passages of which p1 and p2 are there twice, and p1 once more under a title."""
    found = {"bm25-rag": ("p1", "p2"), "ours": ("small.p1", "small.p2"), "theirs": (TITLED, "p1")}
    answers = [answer("q1", agent, f"{agent} says so.", *passages) for agent, passages in found.items()]
    space = workspace(root, answers, queries=("q1",), **judge)
    titled = Passage(id=TITLED, title="Delays", text=PASSAGES["p1"])
    write(space, passages=[*(Passage(id=id, text=text) for id, text in TEXTS.items()), titled])
    if joined:
        write_json(space.waves, joined)
    return space


LABELS = {"p1": 2, "p2": 1, "small.p1": 2, "small.p2": 1, TITLED: 2}


@pytest.mark.parametrize("at_once", [1, 10])
@pytest.mark.parametrize("joined", [None, [["bm25-rag", "theirs"], ["ours"]]], ids=["one wave", "ours joins later"])
def test_each_text_is_asked_about_once_and_its_label_is_that_of_all(tmp_path, at_once, joined):
    caller, space = Scripted(fair_together), bench(tmp_path, joined=joined, relevance_batch=at_once)
    outcome = make_judgments(space, caller)
    together = [passages_in(request.messages[-1].content).values() for request in caller.asked("relevance-batch")]
    assert len(caller.asked("relevance")) == (3 if at_once == 1 else 0)
    once = sorted([PASSAGES["p1"], PASSAGES["p2"], f"Delays\n{PASSAGES['p1']}"])
    assert [sorted(texts) for texts in together] == ([] if at_once == 1 else [once])
    assert read_qrels(space.qrels) == {"q1": LABELS} and outcome.n_failed == 0
    assert [row.subject for row in read_records(space.relevance, Judgment)] == sorted(LABELS)


def test_what_is_relevant_is_shown_once_with_its_text(tmp_path):
    caller = Scripted(fair)
    make_judgments(bench(tmp_path), caller)
    for label in ("pointwise", "games-first-a"):
        for request in caller.asked(label):
            assert request.messages[-1].content.count(PASSAGES["p1"]) == 2, "by itself and under its title"


def test_where_it_fails_all_of_its_text_are_unjudged(tmp_path):
    def say(label, text):
        return Reply(error="HTTP 500") if label == "relevance" and PASSAGES["p2"] in text else fair(label, text)

    space = bench(tmp_path)
    outcome = make_judgments(space, Scripted(say))
    errors = {row.subject: row.error for row in read_records(space.relevance, Judgment) if row.error}
    assert errors == {"p2": "HTTP 500", "small.p2": "HTTP 500"} and outcome.n_failed == 2
    assert read_qrels(space.qrels)["q1"].keys() == LABELS.keys() - errors.keys()


def test_each_judge_of_a_panel_and_a_second_judge_are_asked_once_too(tmp_path):
    caller = Scripted(fair_together)
    panel = {"panel": ("openai:j", "openai:k", "openai:l"), "second": "openai:m", "second_share": 1.0}
    space = bench(tmp_path, relevance_batch=10, **panel)
    make_judgments(space, caller)
    batches = [batch for some in caller.rounds for batch in some if batch.label == "relevance-batch"]
    asked = [batch.model for batch in batches for _ in batch.requests]
    assert sorted(asked) == ["openai:j", "openai:k", "openai:l", "openai:m"] and not caller.asked("relevance")
    assert read_qrels(space.qrels) == {"q1": LABELS}
    shown = [passages_in(request.messages[-1].content) for batch in batches for request in batch.requests]
    assert [len(texts) for texts in shown] == [3] * 4
    second = {row.subject: row.label for row in read_records(space.second_relevance, Judgment)}
    assert second == LABELS
