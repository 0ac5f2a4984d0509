"""AutoNuggetizer: nuggets once a query, scores for each answer, worked by hand from the definition.

The scores of 301 topics that others computed are checked by benchmarks/judges/nugget_scores.py.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import judge_bench
from support.item_replies import between, fields_of, items, script, verdicts
from support.loopback.behaviours import refusal

from ragassay.evaluate.judging.judges.nuggets import SCORES, Assigned, nugget_scores

UMBRELA = "intent,match,trustworthiness,reason,final"
NUGGETS = "nuggets"
LABELS = "items"

TEXTS = ["a is one", "b is two", "c is three"]
TWO = [
    {"query_id": "q1", "agent": "one", "answer": "It has a and half of b.", "passages": ["p1", "p2"]},
    {"query_id": "q1", "agent": "two", "answer": "It has nothing.", "passages": ["p1"]},
]


def grade(final):
    return {"intent": "To know.", "match": 1, "trustworthiness": 1, "reason": "So.", "final": final}


def importance(text):
    return ["vital" if item.startswith(("a", "b")) else "okay" for item in items("nugget", text)]


def labels(text):
    """Importance where there is no answer; else a supported, b partly, by an answer that has them."""
    if "<answer>" not in text:
        return verdicts(importance(text))
    answer = between("answer", text)
    marks = {"a": "support", "b": "partial_support"} if "has a" in answer else {}
    return verdicts([marks.get(item[0], "not_support") for item in items("nugget", text)])


def judged(bench, *more, names="nuggets", answers=TWO, final=2, made=TEXTS, **by_fields):
    """The records where passages have this grade and queries these nuggets, and other replies as they are given."""
    replies = {UMBRELA: lambda text: grade(final), NUGGETS: lambda text: {"nuggets": made}, LABELS: labels}
    bench.server.script = script(replies | by_fields)
    return bench.judge(names, *more, answers=answers)


def asked(bench, fields):
    return [r.body for r in bench.server.requests if fields_of(r.body) == fields]


def values(rows, query="q1", agent="one"):
    return {
        row.criterion.removeprefix("nuggets_"): row.label
        for row in rows
        if (row.query_id, row.subject) == (query, agent)
    }


def test_scores_by_hand(bench):
    """Nuggets a, b vital and c okay. One: 1, 0.5, 0. Two: nothing. All 1.5/3, vital 1.5/2, weighted 1.5/2.5."""
    rows = judged(bench)
    assert values(rows) == pytest.approx(dict(zip(SCORES, (0.5, 0.75, 0.6, 1 / 3, 0.5, 0.4), strict=True)))
    assert set(values(rows, agent="two").values()) == {0.0}
    assert rows[0].details == (
        {"nugget": "a is one", "importance": "vital", "assignment": "support", "reason": "Because 1."},
        {"nugget": "b is two", "importance": "vital", "assignment": "partial_support", "reason": "Because 2."},
        {"nugget": "c is three", "importance": "okay", "assignment": "not_support", "reason": "Because 3."},
    )
    assert len(asked(bench, NUGGETS)) == 1


def test_nuggets_are_made_from_passages_of_grade_1_or_more_by_the_requests_of_umbrela(bench):
    grades = {UMBRELA: lambda text: grade(0 if "busy wait keeps" in text else 1)}
    rows = judged(bench, names="umbrela,nuggets", **grades)
    (body,) = asked(bench, NUGGETS)
    shown = body["messages"][-1]["content"]
    assert "declares _delay_ms()" in shown and "busy wait keeps" not in shown
    assert len(asked(bench, UMBRELA)) == 2
    assert [row.label for row in rows if row.criterion == "umbrela"] == [1, 0]


@pytest.mark.parametrize(("most", "rounds"), [(99, 3), (31, 1)])
def test_as_open_rag_eval_all_passages_are_shown_in_every_iteration(bench, most, rounds):
    """autonugget_metric.py: the same context `nugget_creation_iters` times, until there are 30 nuggets."""

    def made(text):
        known = text.count("a is one")
        return {"nuggets": [*TEXTS, *(f"d is {n}" for n in range(28 if most == 31 else known))]}

    judged(bench, *bench.config("[evaluate.settings.nuggets]", "iterations = 3"), nuggets=made)
    shown = [body["messages"][-1]["content"] for body in asked(bench, NUGGETS)]
    assert len(set(shown)) == rounds
    assert all("declares _delay_ms()" in text and "busy wait keeps" in text for text in shown)


@pytest.mark.parametrize(
    ("final", "made", "why"),
    [(0, TEXTS, "no passage of grade 1 or more was retrieved"), (3, [], "there is no nugget")],
)
def test_no_nugget_is_no_value(bench, final, made, why):
    rows = [row for row in judged(bench, final=final, made=made) if row.query_id == "q1"]
    assert len(rows) == 12
    assert {(row.label, row.error) for row in rows} == {(None, f"no value: {why}")}


def test_without_vital_nuggets_the_vital_scores_have_no_value(bench):
    rows = judged(bench, made=["c is three"])
    assert values(rows) == dict(zip(SCORES, (0, None, 0, 0, None, 0), strict=True))
    errors = {row.error for row in rows if row.criterion == "nuggets_vital" and row.query_id == "q1"}
    assert errors == {"no value: no nugget is vital"}


def test_thirty_nuggets_are_weighed_in_tens_and_the_best_twenty_kept(bench):
    many = [f"{'c' if i < 25 else 'a'} number {i}" for i in range(40)]
    rows = judged(bench, made=many, answers=TWO[:1])
    sizes = [len(items("nugget", body["messages"][-1]["content"])) for body in asked(bench, LABELS)]
    assert sizes == [10, 10, 10, 10, 10]
    assert [detail["nugget"] for detail in rows[0].details] == many[25:30] + many[:15]
    assert values(rows)["vital"] == 1


def test_a_list_grows_from_round_to_round_and_long_nuggets_are_left_out(bench, monkeypatch):
    """25 passages make three rounds; a nugget of 13 words is not kept, and the record says so."""
    passages = [{"_id": f"p{i}", "title": "", "text": f"Fact {i} is a."} for i in range(1, 26)]
    seen = []

    def make(text):
        seen.append(text)
        return {"nuggets": [*(["a is one"] if len(seen) > 1 else []), "b " + "word " * 12, "B " + "WORD " * 12]}

    answer = {"query_id": "q1", "agent": "one", "answer": "It has a.", "passages": [p["_id"] for p in passages]}
    monkeypatch.setattr(judge_bench, "PASSAGES", passages)
    rows = judged(bench, final=1, answers=[answer], nuggets=make)
    assert [text.count("Fact ") for text in seen] == [10, 10, 5]
    assert "There is no nugget so far." in seen[0] and "a is one" not in seen[1]
    assert "<nugget>\na is one\n</nugget>" in seen[2]
    assert [detail["nugget"] for detail in rows[0].details] == ["a is one"]
    assert rows[0].reason == "left out for having more than 12 words: 1"


def test_a_passage_that_could_not_be_graded_fails_the_query(bench):
    grades = {UMBRELA: lambda text: refusal() if "busy wait keeps" in text else grade(2)}
    rows = [row for row in judged(bench, **grades) if row.query_id == "q1"]
    assert {row.label for row in rows} == {None}
    assert all(row.error.startswith("1 of 2 passages could not be judged: the model refused") for row in rows)


def test_an_answer_whose_nuggets_could_not_be_assigned_fails_alone(bench):
    def some(text):
        return refusal() if "<answer>" in text and "nothing" in between("answer", text) else labels(text)

    rows = judged(bench, items=some)
    assert values(rows)["vital"] == 0.75
    errors = {row.error[:34] for row in rows if row.subject == "two" and row.query_id == "q1"}
    assert errors == {"3 of 3 nuggets could not be judged"}


def test_in_mode_probability_each_nugget_is_asked_by_itself(bench):
    def token(text):
        if "<passage>" in text:
            return {"0": 0.1, "1": 0.2, "2": 0.4, "3": 0.3}
        (nugget,) = items("nugget", text)
        if "<answer>" not in text:
            return {"yes": 0.7, "no": 0.3} if nugget.startswith(("a", "b")) else {"yes": 0.2, "no": 0.8}
        return {"2": 0.8, "1": 0.1, "0": 0.1} if nugget.startswith("a") else {"0": 0.2, "1": 0.6, "2": 0.2}

    rows = judged(bench, "--mode", "probability", answers=TWO[:1], **{"": token})
    assert values(rows)["weighted"] == pytest.approx((1 + 0.5 + 0.5 * 0.5) / 2.5)
    assert rows[0].details[0] == {
        "nugget": "a is one",
        "importance": "vital",
        "assignment": "support",
        "probability": pytest.approx(0.8),
    }


def test_the_prompts_of_the_user_take_the_place_of_ours(bench):
    for name in ("make", "weigh"):
        (bench.folder / f"{name}.md").write_text(f"Mine: {name}.\n## User\nGo.\n")
    prompts = 'creation_prompt = "make.md"\nimportance_prompt = "weigh.md"'
    config = bench.config('[evaluate]\njudges = ["nuggets"]', "[evaluate.settings.nuggets]", prompts)
    marks = {LABELS: lambda text: verdicts(["vital" if text == "Go." else "support"])}
    assert values(judged(bench, *config, made=["a is one"], answers=TWO[:1], **marks))["vital"] == 1
    systems = {r.body["messages"][0]["content"] for r in bench.server.requests}
    assert {"Mine: make.", "Mine: weigh."} < systems


assigned = st.builds(
    Assigned,
    st.sampled_from(["vital", "okay"]),
    st.sampled_from(["support", "partial_support", "not_support"]),
)


def test_a_nugget_without_importance_counts_in_all_alone():
    scores = nugget_scores([Assigned("vital", "support"), Assigned(None, "not_support")])
    assert scores["all"] == 0.5
    assert scores["vital"] == scores["weighted"] == 1


def test_nothing_has_no_score():
    assert nugget_scores([]) == dict.fromkeys(SCORES)


@given(st.lists(assigned, min_size=1))
def test_scores_are_shares_and_strict_is_never_more(nuggets):
    scores = nugget_scores(nuggets)
    for name in ("all", "vital", "weighted"):
        strict, loose = scores[f"strict_{name}"], scores[name]
        assert (strict is None) == (loose is None)
        assert loose is None or 0 <= strict <= loose <= 1
    assert set(scores) == set(SCORES)
