"""What is asked again word for word, what is asked once for several ids, and agents that join later."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.judged_together import LABELS, answers_in, fair_together, passages_in
from support.results_folder import answer, experiment, results_folder, write
from support.scripted_judge import CORRECTNESS, CRITERIA, PASSAGES, Scripted, all_answers, fair, workspace

from ragassay.errors import InputError
from ragassay.evaluate.audit.judge_audit import audit_repeats
from ragassay.evaluate.inputs.clusters import ALONE
from ragassay.evaluate.judging.asked_again import drawn
from ragassay.evaluate.make_judgments import make_judgments
from ragassay.experiment.tables import JudgeSettings
from ragassay.files import read_json, read_qrels, read_records, write_json
from ragassay.models.requests import Reply
from ragassay.records import Game, Judgment, Passage, Query, RankedList, Repeat

ASKED = ("relevance", "pointwise", CORRECTNESS, "games-first-a", "games-first-b")


def same_words(label, text):
    return fair(label.split("-repeat")[0], text)


def judged(space, say=same_words):
    caller = Scripted(say)
    return make_judgments(space, caller), caller


def test_nothing_is_asked_again_unless_the_settings_say_so(tmp_path):
    space = workspace(tmp_path, all_answers())
    space.repeats.parent.mkdir(parents=True, exist_ok=True)
    space.repeats.write_text("left by an earlier run\n", encoding="utf-8")
    _, caller = judged(space)
    assert not space.repeats.exists()
    assert sorted(batch.label for batches in caller.rounds for batch in batches) == sorted(ASKED)


def test_a_part_is_asked_again_word_for_word_in_batches_of_its_own(tmp_path):
    space = workspace(tmp_path, all_answers(), repeats=2, repeat_share=0.5)
    outcome, caller = judged(space)
    again = caller.rounds[-1]
    assert [batch.label for batch in again] == [f"{kind}-repeat-{sample}" for sample in (1, 2) for kind in ASKED]
    for batch in again:
        kind, _, sample = batch.label.partition("-repeat-")
        assert len(batch.requests) == 3 and {request.sample for request in batch.requests} == {int(sample)}
        words = {request.messages for request in batch.requests}
        assert words <= {request.messages for request in caller.asked(kind)}
        assert words == {request.messages for request in caller.asked(f"{kind}-repeat-1")}
    rows = read_records(space.repeats, Repeat)
    assert Counter(row.sample for row in rows) == {1: 3 + 18 + 6, 2: 3 + 18 + 6}
    assert outcome.n_records == 6 + 36 + 12 + len(rows)


def test_a_repeat_that_failed_is_an_error_record(tmp_path):
    def say(label, text):
        return Reply(error="timed out") if "repeat" in label else fair(label, text)

    space = workspace(tmp_path, all_answers(), repeats=1, repeat_share=1.0)
    outcome, _ = judged(space, say)
    rows = read_records(space.repeats, Repeat)
    assert {(row.label, row.error) for row in rows} == {(None, "timed out")}
    assert outcome.n_failed == len(rows)


def test_probabilities_are_not_asked_for_twice(tmp_path):
    def say(label, text):
        names = ("A", "B") if label.startswith("games") else ("Yes", "No") if label.endswith("refusal") else "012"
        return Reply(probabilities={name: 1 / len(names) for name in names})

    space = workspace(tmp_path, all_answers(), repeats=2, mode="probability")
    outcome, caller = judged(space, say)
    assert not any("repeat" in batch.label for batches in caller.rounds for batch in batches)
    assert any("judge.repeats" in notice for notice in outcome.notices)
    assert not space.repeats.exists()


@pytest.mark.parametrize(("turned", "steady"), [(False, 1.0), (True, 0.0)])
def test_a_judge_that_turns_round_when_asked_again_is_found_out(tmp_path, turned, steady):
    def say(label, text):
        value = same_words(label, text)
        if turned and "repeat" in label and "verdict" in value:
            value["verdict"] = {"A": "B", "B": "C", "C": "A"}[value["verdict"]]
        return value

    space = workspace(tmp_path, all_answers(), repeats=1, repeat_share=1.0)
    judged(space, say)
    kinds = {"repeats": Repeat, "relevance": Judgment, "pointwise": Judgment, "games": Game}
    rows = (read_records(getattr(space, name), kind) for name, kind in kinds.items())
    found = {row.subject: row.figure.value for row in audit_repeats(*rows, ALONE.of(["q1", "q2"]))}
    assert found == {"passages": 1.0, "answers": 1.0, "games": steady}


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


LABELS_ONCE = {"p1": 2, "p2": 1, "small.p1": 2, "small.p2": 1, TITLED: 2}


@pytest.mark.parametrize("at_once", [1, 10])
@pytest.mark.parametrize("joined", [None, [["bm25-rag", "theirs"], ["ours"]]], ids=["one wave", "ours joins later"])
def test_each_text_is_asked_about_once_and_its_label_is_that_of_all(tmp_path, at_once, joined):
    caller, space = Scripted(fair_together), bench(tmp_path, joined=joined, relevance_batch=at_once)
    outcome = make_judgments(space, caller)
    together = [passages_in(request.messages[-1].content).values() for request in caller.asked("relevance-batch")]
    assert len(caller.asked("relevance")) == (3 if at_once == 1 else 0)
    once = sorted([PASSAGES["p1"], PASSAGES["p2"], f"Delays\n{PASSAGES['p1']}"])
    assert [sorted(texts) for texts in together] == ([] if at_once == 1 else [once])
    assert read_qrels(space.qrels) == {"q1": LABELS_ONCE} and outcome.n_failed == 0
    assert [row.subject for row in read_records(space.relevance, Judgment)] == sorted(LABELS_ONCE)


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
    assert read_qrels(space.qrels)["q1"].keys() == LABELS_ONCE.keys() - errors.keys()


def test_each_judge_of_a_panel_and_a_second_judge_are_asked_once_too(tmp_path):
    caller = Scripted(fair_together)
    panel = {"panel": ("openai:j", "openai:k", "openai:l"), "second": "openai:m", "second_share": 1.0}
    space = bench(tmp_path, relevance_batch=10, **panel)
    make_judgments(space, caller)
    batches = [batch for some in caller.rounds for batch in some if batch.label == "relevance-batch"]
    asked = [batch.model for batch in batches for _ in batch.requests]
    assert sorted(asked) == ["openai:j", "openai:k", "openai:l", "openai:m"] and not caller.asked("relevance")
    assert read_qrels(space.qrels) == {"q1": LABELS_ONCE}
    shown = [passages_in(request.messages[-1].content) for batch in batches for request in batch.requests]
    assert [len(texts) for texts in shown] == [3] * 4
    second = {row.subject: row.label for row in read_records(space.second_relevance, Judgment)}
    assert second == LABELS_ONCE


SIX = ("amber", "beryl", "coral", "diamond", "emerald", "flint")
QUERIES = tuple(f"q{n}" for n in range(1, 7))
PASSAGES_WAVES = {
    "p1": "The header util/delay.h declares _delay_ms().",
    "p2": "A busy wait keeps the processor occupied.",
    "p3": "The header util/delay.h declares _delay_us().",
    "p4": "Interrupts are enabled by sei().",
    "p5": "The header util/delay.h is busy.",
}
BROUGHT = {"garnet": ("p1", "p3", "p4", "p5"), "hematite": ("p2", "p4")}
"""By who joins later; those of the six are p1 and p2."""


def right(agent):
    """Whether it names the header: every second of them."""
    return ord(agent[0]) % 2 == 1


def grades(text):
    shown = passages_in(text).items()
    labels = [{"number": n, "reason": "As it says.", "label": 2 if "delay.h" in one else 0} for n, one in shown]
    return {"grades": labels}


def said(label, text):
    """Whatever names the header is very relevant."""
    if label == "relevance-batch":
        return grades(text)
    return (
        {"reason": "As it says.", "label": 2 * ("delay.h" in text)}
        if label == "relevance"
        else fair_together(label, text)
    )


class Remembering(Scripted):
    """Asks what it was not asked before, as the stored replies have it; `new` is that, by label."""

    def __init__(self):
        super().__init__(said)
        self.had, self.new = set(), {}

    def _reply(self, batch, request):
        label = LABELS[request.schema.__name__]
        asked = label, request.messages, request.sample
        if asked not in self.had:
            self.had.add(asked)
            self.new.setdefault(label, []).append(request.messages[1].content)
        return super()._reply(replace(batch, label=label), request)


class Folder:
    """A results folder that agents join, and a judge that counts what it is asked."""

    def __init__(self, root, **judge):
        self.root, self.judge, self.caller = root, judge, Remembering()

    def judged(self, *agents, failed=()):
        """What is asked in this run alone, by label, of a run with these agents."""
        settings = experiment(
            answer={"agents": []},
            agent=[{"name": name, "kind": "file", "path": "x.jsonl"} for name in agents],
            judge={"model": "openai:j", "criteria": CRITERIA, **self.judge},
        )
        text = {name: f"{'util/delay.h' if right(name) else 'unknown'}, says {name}" for name in agents}
        answers = [
            answer(query, name, None if (query, name) in failed else text[name], *BROUGHT.get(name, ("p1", "p2")))
            for query in QUERIES
            for name in agents
        ]
        queries = [Query(_id=query, text=f"Which header ({query})?") for query in QUERIES]
        passages = [Passage(_id=id, text=text) for id, text in PASSAGES_WAVES.items()]
        self.space = results_folder(self.root, settings, queries=queries, passages=passages, answers=answers)
        self.caller.new = {}
        self.outcome = make_judgments(self.space, self.caller)
        return self.caller.new

    def games(self):
        return read_records(self.space.games, Game)

    def lists(self):
        return read_records(self.space.lists, RankedList)


TOGETHER = {"games": "listwise", "relevance_batch": 10}


def counted(found):
    return {label: len(texts) for label, texts in found.items()}


def test_of_a_seventh_agent_its_passages_its_answers_and_its_lists_are_asked_about_and_nothing_else(tmp_path):
    folder = Folder(tmp_path, **TOGETHER, repeats=1, repeat_share=0.5)
    n = len(QUERIES)
    first = folder.judged(*SIX)
    assert counted(first) == {"relevance-batch": n + n // 2, "pointwise": 9 * n, "listwise": 3 * n}
    rows, lists = folder.games(), folder.lists()
    second = folder.judged(*SIX[:2], "garnet", *SIX[2:])
    assert counted(second) == {"relevance-batch": n + n // 2, "pointwise": n + n // 2, "listwise": 3 * n}
    assert all(passages_in(text).keys() == {1, 2, 3} for text in second["relevance-batch"])
    assert all("says garnet" in text for label in ("pointwise", "listwise") for text in second[label])
    assert all(len(answers_in(text)) == 5 for text in second["listwise"])
    assert read_json(folder.space.waves) == [[*SIX], ["garnet"]]
    assert [row for row in folder.games() if "garnet" not in (row.agent_a, row.agent_b)] == rows
    assert [row.shown for row in folder.lists() if row.block == 1] == [row.shown for row in lists]
    assert "garnet joined later: on each query ranked against 4 of the 6 agents before" in folder.outcome.notices
    assert folder.judged(*SIX[:2], "garnet", *SIX[2:]) == {}


def test_who_joined_is_held_against_what_was_known_then_and_meets_each_as_often(tmp_path):
    folder = Folder(tmp_path, **TOGETHER)
    assert all(PASSAGES_WAVES["p3"] not in text for text in folder.judged(*SIX)["listwise"])
    second = folder.judged(*SIX, "garnet")
    assert all(
        PASSAGES_WAVES["p1"] in text and PASSAGES_WAVES["p3"] in text
        for text in second["listwise"] + second["pointwise"]
    )
    met = Counter(row.agent_b if row.agent_a == "garnet" else row.agent_a for row in folder.games() if garnet(row))
    assert met == dict.fromkeys(SIX, 2 * 4 * len(QUERIES) // 6)
    third = folder.judged(*SIX, "garnet", "hematite")
    assert counted(third) == {"pointwise": len(QUERIES), "listwise": 2 * len(QUERIES)}, "its passages are known"
    assert read_json(folder.space.waves) == [[*SIX], ["garnet"], ["hematite"]]
    labels = {row.subject: row.label for row in read_records(folder.space.relevance, Judgment)}
    assert labels == {"p1": 2, "p2": 0, "p3": 2, "p4": 0, "p5": 2}


def garnet(row):
    return "garnet" in (row.agent_a, row.agent_b)


@pytest.mark.parametrize("batch", [1, 10])
def test_of_pairs_only_those_with_who_joined_are_asked_about(tmp_path, batch):
    folder = Folder(tmp_path, games="all", relevance_batch=batch)
    folder.judged(*SIX)
    rows = folder.games()
    second, n = folder.judged(*SIX, "garnet"), len(QUERIES)
    passages = {"relevance-batch": n} if batch > 1 else {"relevance": 3 * n}
    assert counted(second) == {**passages, "pointwise": n, "games": 12 * n}
    assert all("says garnet" in text and PASSAGES_WAVES["p5"] in text for text in second["games"])
    assert [row for row in folder.games() if not garnet(row)] == rows
    assert not any("joined later" in notice for notice in folder.outcome.notices)


def test_without_the_file_or_without_one_of_the_first_or_without_anchors_all_are_one_wave(tmp_path):
    folder = Folder(tmp_path, **TOGETHER)
    folder.judged(*SIX)
    folder.judged(*SIX, "garnet")
    folder.judged(*SIX[1:], "garnet")
    assert read_json(folder.space.waves) == [[*SIX[1:], "garnet"]]
    assert {row.block for row in folder.lists()} == {None} and len(folder.lists()) == 2 * len(QUERIES)
    folder.judged(*SIX[1:], "garnet", "hematite")
    folder.judged(*SIX[1:], "garnet")
    assert read_json(folder.space.waves) == [[*SIX[1:], "garnet"]], "who joined later may go"
    folder.space.waves.unlink()
    assert folder.judged(*SIX[1:], "garnet", "hematite")["listwise"][0].count("<answer") == 7
    folder.judge["anchors"] = 0
    folder.judged(*SIX, "garnet", "hematite")
    assert len(read_json(folder.space.waves)) == 1


def test_a_newcomer_that_failed_asks_for_no_list_of_anchors_alone(tmp_path):
    folder = Folder(tmp_path, **TOGETHER)
    folder.judged(*SIX)
    second = folder.judged(*SIX, "garnet", failed={("q1", "garnet")})
    assert len(second["listwise"]) == 2 * (len(QUERIES) - 1)
    failed = [row for row in folder.games() if row.error]
    assert len(failed) == 2 * 4 and all(garnet(row) and row.query_id == "q1" and not row.place_a for row in failed)


def test_more_than_eight_agents_are_ranked_in_blocks_and_each_pair_counts_once_a_presentation(tmp_path):
    twelve = [f"{name}-{n}" for name in SIX for n in (1, 2)]
    folder = Folder(tmp_path, **TOGETHER, repeats=1, repeat_share=1.0)
    asked = folder.judged(*twelve)
    assert (
        len(asked["listwise"]) == 2 * 2 * 3 * len(QUERIES) and max(len(answers_in(t)) for t in asked["listwise"]) == 8
    )
    times = Counter((row.query_id, row.presentation, row.agent_a, row.agent_b) for row in folder.games())
    assert set(times.values()) == {1} and len(times) == 2 * 66 * len(QUERIES)
    assert Counter(row.block for row in folder.lists()) == dict.fromkeys((1, 2, 3), 2 * len(QUERIES))
    winners = {(r.agent_a, r.agent_b): r.winner for r in folder.games()}
    assert all(won == ("tie" if right(a) == right(b) else "a" if right(a) else "b") for (a, b), won in winners.items())
    assert folder.outcome.n_failed == 0


@pytest.mark.parametrize("text", ['{"a": 1}', '["a"]', '[["a"], ["a"]]', "[[1]]", "[["])
def test_a_file_that_is_no_list_of_waves_is_refused(tmp_path, text):
    folder = Folder(tmp_path, **TOGETHER)
    folder.judged(*SIX)
    folder.space.waves.write_text(text)
    with pytest.raises(InputError, match=r"waves\.json"):
        folder.judged(*SIX)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20), st.floats(0.01, 1.0), st.integers(0, 9))
def test_what_is_drawn_of_the_first_queries_stays_when_others_follow(sizes, share, seed):
    """Of a run that may end early; the share is kept, rounded up, after each query."""
    settings = JudgeSettings(model="openai:j", repeats=1, repeat_share=share, seed=seed)
    queries = [f"q{at}" for at in range(len(sizes))]
    of = [query for query, size in zip(queries, sizes, strict=True) for _ in range(size)]
    cases = [(query, place) for place, query in enumerate(of)]
    found = drawn(cases, settings, "games", of, queries)
    for upto in range(1, len(queries) + 1):
        some = [one for one in cases if one[0] in queries[:upto]]
        part = drawn(some, settings, "games", [one[0] for one in some], queries[:upto])
        assert part == [one for one in found if one[0] in queries[:upto]]
        assert len(part) == ceil(round(share * len(some), 9))
