"""The judge stage with a panel of models: all asked in the same rounds, each on record, and read as one."""

from __future__ import annotations

from collections import Counter

import pytest
from support.results_folder import answer, experiment
from support.scripted_judge import RECORDED, Scripted, all_answers, fair, workspace
from support.several_judges import PANEL, ByModel

from ragassay.evaluate.make_judgments import make_judgments
from ragassay.evaluate.ratings.verdicts import panel_verdicts, verdicts
from ragassay.files import read_qrels, read_records
from ragassay.models.requests import Reply
from ragassay.records import Game, Judgment, RankedList, Repeat


def judged_by(tmp_path, caller, **judge):
    space = workspace(tmp_path, all_answers(), model=PANEL[0], panel=PANEL, **judge)
    return space, make_judgments(space, caller)


def test_all_models_are_asked_in_the_same_rounds_and_the_files_hold_what_they_say_as_one(tmp_path):
    caller = ByModel()
    space, outcome = judged_by(tmp_path, caller)
    rounds = [Counter(batch.model for batch in batches) for batches in caller.rounds]
    assert rounds == [dict.fromkeys(PANEL, 1), dict.fromkeys(PANEL, 4)]
    asked = [batch.requests for batch in caller.rounds[1] if batch.label == "pointwise"]
    assert len({tuple(request.messages for request in requests) for requests in asked}) == 1
    assert outcome.n_records == 3 * (6 + 36 + 12) and outcome.n_failed == 0
    relevance, pointwise = (read_records(path, Judgment) for path in (space.relevance, space.pointwise))
    assert {row.judge for row in relevance + pointwise} == {"panel"}
    assert read_qrels(space.qrels) == {q: {"p1": 2, "p2": 1, "p3": 0} for q in ("q1", "q2")}
    assert len(pointwise) == 2 * 3 * len(RECORDED)
    for judge in PANEL:
        own = read_records(space.judge_relevance(judge), Judgment)
        assert {row.judge for row in own} == {judge} and len(own) == 6
        assert [row.label for row in own[:3]] == ([0, 1, 2] if judge == PANEL[1] else [2, 1, 0])
        assert len(read_records(space.judge_pointwise(judge), Judgment)) == 36


def test_a_game_goes_to_the_majority_and_each_judge_keeps_its_rows(tmp_path):
    space, _ = judged_by(tmp_path, ByModel())
    games = read_records(space.games, Game)
    assert Counter(row.judge for row in games) == dict.fromkeys(PANEL, 12)
    found = verdicts(games)
    assert [v.winner for v in found if v.judge == PANEL[1]][:3] == ["b", "b", "tie"]
    assert [v.winner for v in panel_verdicts(found, PANEL)][:3] == ["a", "a", "tie"]


def test_where_one_judge_fails_two_that_differ_meet_at_the_lower_label_and_two_failures_are_one(tmp_path):
    caller = ByModel(fails=lambda label, text: label == "relevance")
    space, outcome = judged_by(tmp_path, caller)
    assert outcome.n_failed == 6 and "6 of 18 relevance judgments failed" in outcome.notices[0]
    assert [row.label for row in read_records(space.relevance, Judgment)][:3] == [0, 1, 0]
    gone = Scripted(lambda label, text: Reply(error="HTTP 500") if label == "relevance" else fair(label, text))
    space, _ = judged_by(tmp_path / "again", gone)
    assert {row.error for row in read_records(space.relevance, Judgment)} == {"HTTP 500"}
    assert read_qrels(space.qrels) == {}


class OneAlwaysTies(Scripted):
    """The first judge of the panel calls every game a tie; the others are sober."""

    def _reply(self, batch, request):
        ties = batch.model == PANEL[1] and batch.label.startswith("games")
        self.say = (lambda label, text: {"reason": "Equal.", "verdict": "C"}) if ties else fair
        return super()._reply(batch, request)


def test_adaptive_play_goes_by_the_majority_and_all_judges_play_the_same_games(tmp_path):
    queries = tuple(f"q{n:02}" for n in range(40))
    told = {"bm25-rag": "util/delay.h", "ours": "io.h", "theirs": "sei()"}
    texts = [answer(query, agent, f"{text} ({query})", "p1") for query in queries for agent, text in told.items()]

    def games(root, judge, panel):
        settings = {"model": judge, "panel": panel, "games": "adaptive", "adaptive_max_games": 1.0}
        space = workspace(tmp_path / root, texts, queries=queries, **settings)
        make_judgments(space, OneAlwaysTies(fair))
        return read_records(space.games, Game)

    many = games("many", PANEL[1], (PANEL[1], PANEL[0], PANEL[2]))
    sober, ties = ({key(row) for row in games(name, name, ())} for name in PANEL[:2])
    assert len(sober) < len(ties), "the leader is told early"
    assert all({key(row) for row in many if row.judge == judge} == sober for judge in PANEL)


def key(row):
    return row.query_id, row.agent_a, row.agent_b, row.first


def test_lists_and_repeats_are_of_every_judge(tmp_path):
    def order(label, text):
        if not label.startswith("listwise"):
            return fair(label.split("-repeat-")[0], text)
        letters = [name for name in "ABC" if f'<answer name="{name}">' in text]
        return {"reason": "So it is.", "order": [[name] for name in letters]}

    caller = Scripted(order)
    space, outcome = judged_by(tmp_path, caller, games="listwise", repeats=1, repeat_share=0.5)
    lists, games = read_records(space.lists, RankedList), read_records(space.games, Game)
    assert outcome.n_failed == 0 or lists[0].error is None, outcome.notices
    assert Counter(row.judge for row in lists) == dict.fromkeys(PANEL, 4)
    assert Counter(row.judge for row in games) == dict.fromkeys(PANEL, 12)
    again = Counter(row.judge for row in read_records(space.repeats, Repeat))
    assert set(again) == set(PANEL) and len(set(again.values())) == 1
    assert [{batch.model for batch in batches} for batches in caller.rounds] == [set(PANEL)] * 3


def test_what_an_earlier_panel_said_goes(tmp_path):
    space, _ = judged_by(tmp_path, ByModel())
    alone = workspace(tmp_path, all_answers())
    make_judgments(alone, Scripted(fair))
    assert not space.judges.exists()


def test_model_is_the_first_of_the_panel_unless_it_names_another():
    assert experiment(judge={"model": PANEL[1], "panel": PANEL}).judge.model == PANEL[1]
    made = experiment().model_validate(
        {"questions": {"source": "own"}, "answer": {"model": "openai:m"}, "judge": {"panel": list(PANEL)}}
    )
    assert made.judge.model == made.evaluating_model == PANEL[0] and made.model_names() == {"openai:m", *PANEL}


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ({"panel": ["openai:j"]}, "panel names one model"),
        ({"panel": ["file:a/b", "file:a-b"]}, "would share a folder"),
        ({}, "model"),
    ],
)
def test_a_panel_that_cannot_be_is_refused(judge, said):
    tables = {"questions": {"source": "own"}, "answer": {"model": "openai:m"}, "judge": judge}
    with pytest.raises(ValueError, match=said):
        experiment().model_validate(tables)
