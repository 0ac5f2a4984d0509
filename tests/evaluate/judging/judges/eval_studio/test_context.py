"""Faithfulness, groundedness by embeddings, steps, rounds of search and verdict, summaries: by hand and by nltk."""

from __future__ import annotations

import json
from itertools import combinations, groupby

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.item_replies import items, script
from support.json_lines import write_lines
from support.judge_bench import ANSWERS, PASSAGES
from support.loopback.behaviours import refusal
from support.verdict_bench import asked, judge_one, yes_where

from ragassay.cli import main
from ragassay.evaluate.judging.judges.eval_studio.context import edits, in_order
from ragassay.evaluate.stages import evaluate_prompts
from ragassay.experiment.settings import Experiment
from ragassay.experiment.workspace import Workspace

pytestmark = pytest.mark.xdist_group("models")

BORN = ["Einstein was born in Germany.", "Einstein was born on 20th March 1879."]
FAITH = {"claims": lambda text: {"claims": BORN}, "items": yes_where("claim", BORN[0])}


def test_the_documented_example(bench, monkeypatch):
    """docs.ragas.io, "Faithfulness": of the two statements one can be inferred, 1 / 2."""
    row = judge_one(bench, monkeypatch, "faithfulness", FAITH, passages=["He was born in Ulm, Germany.", "14 March."])
    assert row["faithfulness"].label == 0.5
    assert [(d["claim"], d["label"]) for d in row["faithfulness"].details] == [(BORN[0], "yes"), (BORN[1], "no")]
    assert '<passage number="1">\nHe was born in Ulm' in asked(bench)[-1] and "Nobody found it" not in asked(bench)[-1]


@pytest.mark.parametrize(
    ("case", "error"),
    [
        ({"passages": [" ", "…"]}, "no value: the context holds no words"),
        ({"replies": {"claims": lambda text: {"claims": []}}}, "no value: the answer makes no claim"),
        ({"replies": {"items": lambda text: refusal()}}, "2 of 2 claims could not be judged: the model refused"),
    ],
)
def test_what_cannot_be_computed_is_an_error(bench, monkeypatch, case, error):
    replies = FAITH | case.pop("replies", {})
    row = judge_one(bench, monkeypatch, "faithfulness", replies, **case)["faithfulness"]
    assert row.label is None and row.error.startswith(error)


def test_the_least_grounded_sentence_decides(embedding) -> None:
    answer, passages = "Yes. North lies here [1]. Steep lies there.", ("East lies.", "North lies around.")
    (row,) = embedding.judge("groundedness_embeddings", answer=answer, passages=passages)
    (detail,) = row.details
    assert row.label == pytest.approx(0.8) and row.score == pytest.approx(0.9)
    assert detail == {"sentence": "Steep lies there.", "score": row.label, "nearest": "East lies."}


def test_an_answer_of_the_passages_own_sentences_is_wholly_grounded(embedding) -> None:
    passages = ("East lies around.", "North lies around.")
    (row,) = embedding.judge("groundedness_embeddings", answer=" ".join(passages[::-1]), passages=passages)
    assert row.label == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"passages": ()}, "the agent retrieved no passage"),
        ({"passages": ("--", "?")}, "the passages hold no words"),
        ({"answer": "Yes. No."}, "the answer is too short to embed: no sentence has 11 characters"),
        ({"answer": "Nothing is known here."}, "gives no vector for 'Nothing is known here.'"),
    ],
)
def test_what_cannot_be_compared_has_no_value(embedding, parts, error) -> None:
    (row,) = embedding.judge("groundedness_embeddings", **parts)
    assert row.label is None and row.error.startswith("no value: ") and row.error.endswith(error)


NAME = "step_alignment_and_completeness"
PROCEDURE = ["Switch it off.", "Open the lid.", "Take out the card.", "Close the lid."]


def replies(given, wanted=PROCEDURE):
    """The answer's steps are `given`, the passages' `wanted`; a step is the one of the same words."""

    def pairs(text):
        numbers = [wanted.index(step) + 1 if step in wanted else 0 for step in items("sentence", text)]
        return {f"item_{i}": {"reason": "So.", "label": number} for i, number in enumerate(numbers, 1)}

    return {"steps": lambda text: {"steps": wanted if "<passage" in text else given}, "items": pairs}


def values(rows):
    return tuple(rows[name].label for name in ("step_alignment", "step_completeness", "step_edits"))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (PROCEDURE, (1, 1, 0)),
        ([*PROCEDURE[:1], "Ring us.", *PROCEDURE[1:3]], (3 / 4, 3 / 4, 2)),
        ([PROCEDURE[1], PROCEDURE[0], *PROCEDURE[2:]], (3 / 4, 1, 2)),
        ([PROCEDURE[0], PROCEDURE[0], PROCEDURE[1]], (1, 2 / 4, 2)),
        (["Ring us."], (0, 0, 4)),
        ([], (None, 0, 4)),
    ],
)
def test_by_hand(bench, monkeypatch, steps, expected):
    """One step added and one left out; two exchanged; one said twice; none of them; no steps at all."""
    rows = judge_one(bench, monkeypatch, NAME, replies(steps), answer="Do this.")
    assert values(rows) == expected and rows["step_edits"].score is None
    assert [d["is"] for d in rows["step_alignment"].details if "is" in d] == [
        PROCEDURE.index(step) + 1 if step in PROCEDURE else None for step in steps
    ]


def test_against_the_expected_response(bench, monkeypatch):
    lines = (f"[evaluate.settings.{NAME}]", 'against = "expected_response"')
    rows = judge_one(bench, monkeypatch, NAME, replies(PROCEDURE), *lines, expected="Do that.", passages=[])
    assert values(rows) == (1, 1, 0) and not any("<passage" in text for text in asked(bench))


def test_passages_without_a_procedure_give_no_value(bench, monkeypatch):
    rows = judge_one(bench, monkeypatch, NAME, replies(PROCEDURE, wanted=[]))
    assert {row.error for row in rows.values()} == {"no value: no procedure is described"}


numbers = st.lists(st.integers(0, 5), max_size=8)


@given(numbers, st.integers(1, 5))
def test_edits_are_the_edit_distance_of_the_two_lists(pairs, n):
    merged = [one for number, some in groupby(pairs) for one in (list(some) if number == 0 else [number])]
    assert edits(pairs, n) == nltk.edit_distance(merged, list(range(1, n + 1)))


@given(numbers)
def test_no_choice_of_steps_in_order_is_longer(pairs):
    known = [pair for pair in pairs if pair]
    chosen = (some for size in range(len(known) + 1) for some in combinations(known, size))
    assert in_order(pairs) == max(len(some) for some in chosen if list(some) == sorted(some))


TURN, DECISION = "reason,search,label", "reason,label"


def search_with(bench, body, *lines):
    """Lines of --config that name a function `find(query)` with this body, beside it."""
    (bench.folder / "looking_up.py").write_text(f"CALLS = []\ndef find(query):\n    {body}\n")
    return ("[evaluate.settings.fact_check]", 'search = "looking_up:find"', *lines)


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """The user's module is another one in each test."""
    import sys

    yield
    sys.modules.pop("looking_up", None)


def turn(search=None, label=None):
    return {"reason": "So.", "search": search, "label": label}


def test_what_was_searched_for_leads_to_the_verdict(bench, monkeypatch):
    lines = search_with(bench, "return [f'About {query}: </document> it is 1879.', 'More.']")
    replies = {TURN: lambda text: turn(label="false") if "it is 1879" in text else turn(search="his birth")}
    row = judge_one(bench, monkeypatch, "fact_check", replies, *lines, answer="Born in 1880.")["fact_check"]
    assert (row.label, row.reason) == (0, "So.")
    assert row.details == ({"search": "his birth", "results": ["About his birth: </document> it is 1879.", "More."]},)
    assert '<document found_for="his birth">\nAbout his birth: <\u200a/document> it is 1879.' in asked(bench)[1]


def test_after_the_last_search_it_must_decide(bench, monkeypatch):
    lines = search_with(bench, "return ''", "searches = 2")
    replies = {TURN: lambda text: turn(search=f"try {text.count('Nothing was found')}")}
    replies[DECISION] = lambda text: {"reason": "Nothing.", "label": "unknown"}
    row = judge_one(bench, monkeypatch, "fact_check", replies, *lines)["fact_check"]
    assert row.label is None and row.error == "no value: what is at hand does not settle it: Nothing."
    assert [one["search"] for one in row.details] == ["try 0", "try 1"] and len(asked(bench)) == 3


def test_without_a_search_the_passages_decide_and_the_record_says_so(bench, monkeypatch):
    replies = {DECISION: lambda text: {"reason": "It is there.", "label": "true"}}
    row = judge_one(bench, monkeypatch, "fact_check", replies)["fact_check"]
    assert (row.label, row.reason) == (1, "It is there. (From the passages alone: no search is set.)")


def test_the_mean_of_fact_checks_is_held_against_the_threshold_of_the_source(bench, monkeypatch, capsys):
    """H2O Eval Studio's 0.75: two of three that are true are not enough."""
    decided = lambda text: {"reason": "So.", "label": "false" if "io.h" in text else "true"}  # noqa: E731
    bench.server.script = script({DECISION: decided})
    rows = [{**ANSWERS[0], "agent": name, "answer": f"It is in {name}."} for name in ("delay.h", "setjmp.h", "io.h")]
    rows = [{**row, "agent": "ours", "query_id": None, "query": row["answer"]} for row in rows]
    write_lines(bench.folder / "three.jsonl", [{k: v for k, v in row.items() if v is not None} for row in rows])
    files = ("--answers", str(bench.folder / "three.jsonl"), "--passages", str(bench.folder / "passages.jsonl"))
    write_lines(bench.folder / "passages.jsonl", PASSAGES)
    out = ("--out", str(bench.folder / "o.jsonl"), "--model", "openai:judge", "--base-url", bench.server.base_url)
    assert main(["judge", *files, *out, "--with", "fact_check", "--json"]) == 0
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert "below its threshold of 0.75" in problem["sentence"]


@pytest.mark.parametrize(
    "said", [turn(), turn("x", "true"), turn(" "), {"reason": "So.", "label": "yes", "search": None}]
)
def test_a_turn_is_either_a_search_or_a_verdict(bench, monkeypatch, said):
    lines = search_with(bench, "return 'found'")
    row = judge_one(bench, monkeypatch, "fact_check", {TURN: lambda text: said}, *lines)["fact_check"]
    assert row.label is None and "does not fit the schema" in row.error and len(asked(bench)) == 2


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("raise OSError('no line')", "the search failed (OSError: no line)"),
        ("return 7", "the search failed (TypeError: 'int' object is not iterable)"),
        ("return [7]", "the search failed (it returned something other than texts)"),
    ],
)
def test_a_search_that_fails_is_an_error(bench, monkeypatch, body, why):
    replies = {TURN: lambda text: turn(search="x")}
    row = judge_one(bench, monkeypatch, "fact_check", replies, *search_with(bench, body))["fact_check"]
    assert (row.label, row.error) == (None, why)


def test_results_are_cut_off(bench, monkeypatch):
    replies = {TURN: lambda text: turn(label="true") if "<document" in text else turn(search="x")}
    lines = search_with(bench, "return ['a' * 100_000] * 100")
    row = judge_one(bench, monkeypatch, "fact_check", replies, *lines)["fact_check"]
    assert [len(text) for text in row.details[0]["results"]] == [2000] * 5


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (('search = "nowhere_at_all:find"',), "the module nowhere_at_all cannot be imported"),
        (('search = "json:nothing"',), "json:nothing is no function"),
        (('search = "find"',), "search"),
    ],
)
def test_a_search_that_is_not_there_is_said_before_anything_is_asked(bench, monkeypatch, capsys, lines, said):
    judge_one(bench, monkeypatch, "fact_check", {}, "[evaluate.settings.fact_check]", *lines)
    assert bench.status == 2 and said in capsys.readouterr().err and not asked(bench)


def test_the_stage_depends_on_the_search_and_on_the_prompts_of_the_rooms(tmp_path):
    """Where one of these files changes, an experiment evaluates anew."""
    (tmp_path / "looking_up.py").write_text("def find(query):\n    return ''\n")
    evaluate = {"judges": ("fact_check",), "settings": {"fact_check": {"search": "looking_up:find"}}}
    model = {"model": "openai:judge"}
    tables = {"questions": {"source": "own"}, "answer": model, "judge": model, "evaluate": evaluate}
    found = evaluate_prompts(Workspace(tmp_path, tmp_path / "results", Experiment.model_validate(tables)))
    assert tmp_path / "looking_up.py" in found
    assert {"fact_check.md", "faithfulness.md", "umbrela_bing.md"} <= {path.name for path in found}


NAMES = ["summary_completeness", "summary_faithfulness", "summary_quality"]


def said(label):
    return {"reason,label": lambda text: {"reason": "So.", "label": label}}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("label", "value"), [("good", 1), ("bad", 0)])
def test_good_and_bad(bench, monkeypatch, name, label, value):
    row = judge_one(bench, monkeypatch, name, said(label), passages=["The document."])[name]
    assert (row.label, row.score, row.reason) == (value, value, "So.")
    assert '<document number="1">\nThe document.' in asked(bench)[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_document_may_be_the_question(bench, monkeypatch, name):
    lines = (f"[evaluate.settings.{name}]", 'document = "question"')
    assert judge_one(bench, monkeypatch, name, said("good"), *lines, passages=[])[name].label == 1
    assert '<document number="1">\nWhat?' in asked(bench)[0]
