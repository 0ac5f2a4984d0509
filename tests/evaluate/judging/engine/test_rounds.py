"""Evaluators over files: what is owed is there, whatever the model says; those that prepare see all cases once."""

from __future__ import annotations

import json
import textwrap

import pytest
from support.judge_bench import ANSWERS
from support.loopback.behaviours import reply
from support.made_cases import case_of, evaluator_of, judged

from ragassay.evaluate.judging.engine.rounds import complete
from ragassay.records import Assessment


def test_a_second_run_asks_nothing(bench):
    first = bench.judge("umbrela")
    asked = len(bench.server.requests)
    assert bench.judge("umbrela") == first
    assert len(bench.server.requests) == asked == 3


def test_an_agent_that_did_not_answer_owes_an_error_record(bench):
    bench.server.script = lambda number, body: reply(json.dumps({"reason": "So.", "label": "yes"}))
    prompt = bench.folder / "polite.md"
    prompt.write_text("Is the answer polite?\n## User\n{{ fence('answer', answer) }}\n")
    config = bench.config('[[evaluate.custom]]\nname = "polite"\nprompt = "polite.md"')
    _, failed = bench.judge("polite", *config, answers=ANSWERS[:1])
    assert (failed.label, failed.error) == (None, "no answer to judge: the agent's file has no answer")


MODULE = """
    from pathlib import Path
    from ragassay.evaluate.judging.engine.evaluator import Evaluator
    from ragassay.errors import InputError

    class Length(Evaluator):
        name = "length"

        def prepare(self, cases):
            with Path("seen.txt").open("a") as stream:
                stream.write(" ".join(case.query.id for case in cases) + "\\n")
            {fault}
            self.longest = max(len(case.text) for case in cases)

        def steps(self, case):
            {later}
            return [self.assess(case, len(case.text) / self.longest)]
"""


@pytest.fixture
def judge(bench, monkeypatch, request):
    """A function that judges by `length`, whose module is named after the test, with a fault of its preparation."""
    monkeypatch.chdir(bench.folder)
    name = "own_" + "".join(letter for letter in request.node.name if letter.isalnum())

    def judge(fault: str = "pass", with_: str = "", more: tuple[str, ...] = (), later: str = "pass"):
        (bench.folder / f"{name}.py").write_text(textwrap.dedent(MODULE).format(fault=fault, later=later))
        return bench.judge(f"{name}:Length{with_}", *more)

    return judge


def test_it_sees_every_case_once_before_the_first_is_judged(judge, bench) -> None:
    assert [row.label for row in judge()] == [26 / 28, 1.0]
    assert (bench.folder / "seen.txt").read_text() == "q1 q2\n"


def test_a_preparation_that_fails_is_an_error_record_for_each_case(judge, bench) -> None:
    rows = judge("raise ValueError('no room')")
    assert bench.status == 0
    assert [row.error for row in rows] == ["the judge could not be prepared (ValueError: no room)"] * 2


@pytest.mark.parametrize("place", ["fault", "later"])
def test_what_the_user_can_mend_stops_the_run(judge, bench, capsys, place) -> None:
    assert judge(**{place: "raise InputError('the folder is empty')"}) == [] and bench.status == 2
    assert "the folder is empty" in capsys.readouterr().err


def test_nothing_is_prepared_while_replies_are_missing(judge, bench) -> None:
    assert judge(with_=",umbrela", more=("--model", "file:judge")) == []
    assert bench.status == 3 and not (bench.folder / "seen.txt").exists()


def test_a_record_of_what_was_not_asked_for_is_an_error_of_what_was(monkeypatch) -> None:
    steps = type(evaluator_of("looping")).steps
    others = lambda self, case: [row.model_copy(update={"query_id": "q9"}) for row in steps(self, case)]  # noqa: E731
    monkeypatch.setattr(type(evaluator_of("looping")), "steps", others)
    rows = judged(evaluator_of("looping"), case_of("So it is. It is so."))
    assert {(row.query_id, row.label, row.error) for row in rows} == {
        ("q1", None, "the judge did not cover what was asked")
    }


@pytest.mark.parametrize("made", [["p1", "p1"], ["p3"]], ids=["twice", "not owed"])
def test_a_record_that_is_made_twice_or_that_nobody_owed_is_a_fault_of_ours(made) -> None:
    def record(subject: str) -> Assessment:
        return Assessment(query_id="q", subject=subject, judge="j", criterion="c", label=1.0)

    owed = [record(name).model_copy(update={"label": None, "error": "not judged"}) for name in ("p1", "p2")]
    assert [row.error for row in complete(owed, [record("p2")])] == ["not judged", None]
    with pytest.raises(RuntimeError, match="was not owed"):
        complete(owed, [record(name) for name in made])
