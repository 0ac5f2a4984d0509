"""`ragassay.testing`: answers that are good enough pass, others fail with a line, what cannot be judged is neither."""

from __future__ import annotations

import shutil

import pytest
from support.json_lines import records, write_lines
from support.loopback.behaviours import reply, status
from support.made_up_results.workspace import make_workspace, write_values_again

import ragassay
from ragassay.errors import InputError, NotJudged
from ragassay.testing import assert_judged, assert_not_worse

ROW = {"query": "What waits?", "answer": "It waits.", "contexts": ["_delay_ms() waits."]}
MAIL = "Write to a@example.com"


@pytest.fixture
def model(bench):
    return {"model": "openai:judge", "base_url": bench.server.base_url}


def grades(bench, label):
    bench.server.script = lambda number, body: reply(f'{{"reason": "so it is", "label": {label}}}')


@pytest.mark.parametrize(("label", "passes"), [(3, True), (2, False)])
def test_the_score_must_reach_what_is_asked(bench, model, label, passes):
    grades(bench, label)
    if passes:
        (record,) = assert_judged(judges=["answer_relevance"], at_least=0.7, **ROW, **model)
        assert record.score == 1.0
    else:
        said = r"answer_relevance has the score 0.667, below 0.7 \(label 2 from 0 to 3\): so it is"
        with pytest.raises(AssertionError, match=said):
            assert_judged(judges=["answer_relevance"], at_least=0.7, **ROW, **model)


def test_without_a_score_each_judge_has_its_own_threshold():
    assert_judged(judges=["pii_leakage"], answer="Nothing here")
    with pytest.raises(AssertionError, match=r"pii_leakage is 1, above .*: 1 found: email"):
        assert_judged(judges=["pii_leakage"], answer=MAIL)


def test_of_what_little_is_good_the_rest_counts():
    assert_judged(judges=["pii_leakage"], answer="Nothing here", at_least=0.9)
    with pytest.raises(AssertionError, match=r"score 0, below 0\.9 .*, of which little is good"):
        assert_judged(judges=["pii_leakage"], answer=MAIL, at_least=0.9)


def test_a_threshold_of_ones_own_goes_before_the_score():
    assert_judged(judges=["pii_leakage"], answer=MAIL, at_least=0.9, thresholds={"pii_leakage": 1})


def test_every_context_is_held_to_it(bench, model):
    bench.server.script = lambda number, body: reply(
        f'{{"reason": "r", "label": "{"no" if "sei" in str(body) else "yes"}"}}'
    )
    row = {"query": "What waits?", "contexts": ["_delay_ms() waits.", "sei() enables interrupts."]}
    with pytest.raises(AssertionError) as raised:
        assert_judged(judges=["chunk_relevance"], **row, **model)
    assert str(raised.value) == "chunk_relevance of context-2 is 0, below 0.5: r"


@pytest.mark.parametrize("wrong", [lambda: reply("I refuse"), lambda: status(400)])
def test_a_failed_judgment_is_no_pass_and_no_failure(bench, model, wrong):
    bench.server.script = lambda number, body: wrong()
    with pytest.raises(NotJudged, match="answer_relevance could not be judged") as raised:
        assert_judged(judges=["answer_relevance"], at_least=0.0, **ROW, **model)
    assert not isinstance(raised.value, AssertionError)


def test_an_answer_is_asserted_on_without_its_context():
    made = assert_judged(answer='{"a": 1}', judges=["json_schema"], at_least=1)
    assert {one.criterion: one.label for one in made} == {
        "json_answer_parses": 1.0,
        "json_answer_fits_schema": 1.0,
        "json_context_parses": None,
        "json_context_fits_schema": None,
    }
    with pytest.raises(AssertionError, match="json_answer_parses is 0, below"):
        assert_judged(answer="{", judges=["json_schema"])
    with pytest.raises(NotJudged, match="json_context_parses could not be judged"):
        assert_judged(answer="1", judges=["json_schema"], thresholds={"json_context_parses": 1})


def test_what_could_not_be_judged_counts_beside_what_could():
    with pytest.raises(NotJudged, match="json_answer_parses could not be judged: the JSON is nested too deep"):
        assert_judged(answer="[" * 100_000, contexts=["{}"], judges=["json_schema"])


def test_a_condition_for_the_answer_alone_is_asserted_on():
    assert_judged(answer="abc", conditions={"answer": '"abc"'}, judges=["text_matching"])
    with pytest.raises(AssertionError, match="text_matching is 0"):
        assert_judged(answer="xyz", conditions={"answer": '"abc"'}, judges=["text_matching"])


def test_a_blank_answer_is_no_pass():
    with pytest.raises(NotJudged, match="the answer is empty"):
        assert_judged(judges=["pii_leakage"], answer=" ", at_least=0.0)


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"judges": "pii_leakage", "answer": "a"}, "judges is not a list of names"),
        ({"judges": [], "answer": "a"}, "judges is not a list of names"),
        ({"judges": ["pii"], "answer": "a"}, "there is no judge named 'pii'"),
        ({"judges": ["groundedness"], "answer": "a"}, "assert_judged: contexts is missing"),
        ({"judges": ["correctness"], "query": "q", "answer": "a", "expected_response": " "}, "correctness needs it"),
        ({"judges": ["safety"], "query": "q", "answer": "a"}, "safety asks a model and none is named"),
        ({"judges": ["pii_leakage"], "answer": "a", "at_least": 7}, "at_least is 7; it is a score, from 0 to 1"),
        ({"judges": ["pii_leakage"], "answer": "a", "thresholds": {"safety": 1}}, "names 'safety'"),
        ({"judges": ["pii_leakage"], "answer": ["a", "b"]}, "more than one row"),
    ],
)
def test_what_cannot_be_used_is_said(keywords, said):
    with pytest.raises(InputError, match=said):
        assert_judged(**keywords)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_workspace(tmp_path_factory.mktemp("made"), 24, hostile=False, failures=False).results


@pytest.fixture
def runs(made, tmp_path):
    """(new, baseline), alike."""
    for name in ("new", "old"):
        shutil.copytree(made, tmp_path / name)
    return tmp_path / "new", tmp_path / "old"


def relabel(run, label):
    rows = records(run / "pointwise.jsonl")
    write_lines(run / "pointwise.jsonl", [row | {"label": label} for row in rows])
    write_values_again(run)


def test_the_same_run_is_not_worse(runs):
    assert_not_worse(*runs)
    assert_not_worse(*(ragassay.read_results(run) for run in runs))


def test_a_worse_run_fails_with_the_sentence_of_the_gate(runs):
    new, old = runs
    relabel(new, 0)
    relabel(old, 2)
    with pytest.raises(AssertionError) as raised:
        assert_not_worse(new, old, measures=["accuracy"], max_drop=0.1)
    first, *lines = str(raised.value).splitlines()
    assert first.startswith("Worse than the baseline. 24 queries, the same in both runs.")
    assert lines and all("accuracy: 2.000 to 0.000" in line.lower() and line.endswith(": worse") for line in lines)


def test_an_undecided_run_passes_only_where_that_is_allowed(runs):
    new, old = runs
    rows = records(new / "pointwise.jsonl")
    changed = [row | {"label": (row["label"] + 1) % 3} if i % 5 == 0 else row for i, row in enumerate(rows)]
    write_lines(new / "pointwise.jsonl", changed)
    write_values_again(new)
    with pytest.raises(AssertionError, match="Undecided against the baseline"):
        assert_not_worse(new, old, measures=["accuracy"], max_drop=0.0)
    assert_not_worse(new, old, measures=["accuracy"], max_drop=0.0, allow_undecided=True)


def test_other_queries_are_refused(runs):
    new, old = runs
    write_lines(new / "queries.jsonl", records(new / "queries.jsonl")[:-1])
    with pytest.raises(InputError, match="a gate compares runs over the same queries"):
        assert_not_worse(new, old)
