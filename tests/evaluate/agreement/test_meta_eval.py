"""An evaluator against labelled rows: the figures by hand, what fails, and what cannot be held against each other."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from support.json_lines import write_lines
from support.judge_bench import bench  # noqa: F401  (a fixture)
from support.loopback.behaviours import reply

from ragassay.cli import main
from ragassay.errors import InputError
from ragassay.evaluate.agreement.labelled_sets import deranged, read_relevance, read_rows, sample
from ragassay.evaluate.agreement.meta_eval import relevant_labels, verdict_figures
from ragassay.files import read_records
from ragassay.records import Assessment


def grade(final):
    steps = {"intent": "To know.", "match": final, "trustworthiness": 3, "reason": "So it is.", "final": final}
    return reply(json.dumps(steps))


def label(value):
    return reply(json.dumps({"reason": "So it is.", "label": value}))


PEOPLE = {"p1": 3, "p2": 2, "p3": 2, "p4": 0, "p5": 1}
JUDGE = {"p1": 3, "p2": 2, "p3": 1, "p4": 2, "p5": 0}
"""Yes from 2: people 1 1 1 0 0, the judge 1 1 0 1 0."""


@pytest.fixture
def passages_set(tmp_path):
    """Five labelled passages of as many queries."""
    places = range(1, 6)
    write_lines(tmp_path / "corpus.jsonl", [{"_id": f"p{n}", "text": f"Passage number {n}."} for n in places])
    write_lines(tmp_path / "queries.jsonl", [{"_id": f"q{n}", "text": f"What is in number {n}?"} for n in places])
    (tmp_path / "qrels.trec").write_text("".join(f"q{n} 0 p{n} {PEOPLE[f'p{n}']}\n" for n in places))
    files = {"labelled": "qrels.trec", "passages": "corpus.jsonl", "queries": "queries.jsonl"}
    return [part for name, file in files.items() for part in (f"--{name}", str(tmp_path / file))]


def by_number(labels, made=grade):
    """Replies by the number that the request's passage has; None is prose."""

    def script(number, body):
        text = body["messages"][1]["content"]
        value = labels[next(f"p{n}" for n in range(1, 6) if f"Passage number {n}" in text)]
        return reply("I would rather not.") if value is None else made(value)

    return script


def meta_eval(bench, *options: str) -> int:  # noqa: F811
    model = ["--model", "openai:judge", "--base-url", bench.server.base_url, "--work", str(bench.folder / "work")]
    return main(["meta-eval", *model, *options])


def test_the_figures_of_five_passages_are_those_worked_by_hand(bench, passages_set, capsys):  # noqa: F811
    bench.server.script = by_number(JUDGE)
    assert meta_eval(bench, "--judge", "umbrela", *passages_set, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    binary = {name: figure["value"] for name, figure in found["binary"].items()}
    # true positives 2, false positives 1, false negatives 1, true negatives 1
    assert binary == pytest.approx(
        {
            "precision": 2 / 3,
            "recall": 2 / 3,
            "f1": 2 / 3,
            "kappa": (3 / 5 - 13 / 25) / (1 - 13 / 25),
            "accuracy": 3 / 5,
            "false_positive_rate": 1 / 2,
            "false_negative_rate": 1 / 3,
        },
        abs=1e-4,
    )
    assert found["graded"]["agreement"]["value"] == pytest.approx(2 / 5)
    assert found["graded"]["off_by_one"]["value"] == pytest.approx(4 / 5)
    assert (found["n_rows"], found["n_relevant"], found["relevant"], found["threshold"]) == (5, 3, "from 2", 2)
    assert found["confusion"] == {
        "people": ["0", "1", "2", "3"],
        "judge": ["0", "1", "2", "3"],
        "counts": [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]],
    }
    for figure in (*found["binary"].values(), *found["graded"].values()):
        assert figure["n"] == 5 and figure["n_failed"] == 0
        assert figure["ci_low"] <= figure["value"] <= figure["ci_high"]


def test_beside_the_order_of_labels_stands_its_p(bench, passages_set, capsys):  # noqa: F811
    bench.server.script = by_number(JUDGE)
    assert meta_eval(bench, "--judge", "umbrela", *passages_set, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    people, judge = list(PEOPLE.values()), list(JUDGE.values())
    assert {name: figure["value"] for name, figure in found["ranks"].items()} == pytest.approx(
        {"tau_b": kendalltau(people, judge).statistic, "rho": spearmanr(people, judge).statistic}, abs=1e-4
    )
    expected = {"tau_b": kendalltau(people, judge).pvalue, "rho": spearmanr(people, judge).pvalue}
    assert found["p"] == pytest.approx(expected, rel=1e-4) and found["n_clusters"] == 5
    assert meta_eval(bench, "--judge", "umbrela", *passages_set) == 0
    assert f"p (pairs taken as independent): tau_b {expected['tau_b']:.2g}" in capsys.readouterr().out
    assert meta_eval(bench, "--judge", "umbrela", *passages_set, "--prompts", "paper", "--prompts", "ragassay") == 0
    assert f"p {expected['tau_b']:.2g}" in capsys.readouterr().out


def test_rows_that_cannot_be_judged_are_counted_and_said(bench, passages_set, capsys):  # noqa: F811
    bench.server.script = by_number({**JUDGE, "p4": None})
    out = bench.folder / "judgments.jsonl"
    assert meta_eval(bench, "--judge", "umbrela", *passages_set, "--out", str(out)) == 0
    printed = capsys.readouterr()
    assert "1 of 5 rows could not be judged" in printed.err
    assert "1.0000" in printed.out, "without p4 nothing is a false positive"
    assert [row.error is None for row in read_records(out, Assessment)] == [True, True, True, False, True]


def test_all_rows_failed_leaves_no_figure(bench, passages_set, capsys):  # noqa: F811
    bench.server.script = by_number(dict.fromkeys(JUDGE))
    assert meta_eval(bench, "--judge", "umbrela", *passages_set, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {(f["value"], f["n"], f["n_failed"]) for f in found["binary"].values()} == {(None, 0, 5)}
    assert set(found["undefined"].values()) == {"no row has both labels"}
    assert sum(found["errors"].values()) == 5


def test_what_counts_is_known_from_the_whole_set_and_not_from_what_is_drawn(bench, passages_set, capsys):  # noqa: F811
    bench.server.script = by_number(JUDGE)
    for seed in range(5):
        assert meta_eval(bench, "--judge", "umbrela", *passages_set, "--n", "2", "--seed", str(seed), "--json") == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["n_rows"], found["relevant"], found["seed"]) == (2, "from 2", seed)


def test_a_threshold_of_ones_own(bench, passages_set, capsys):  # noqa: F811
    bench.server.script = by_number(JUDGE)
    options = ["--judge", "umbrela", *passages_set, "--json"]
    assert meta_eval(bench, *options, "--binary-at", "3", "--relevant", "3") == 0
    assert json.loads(capsys.readouterr().out)["binary"]["accuracy"]["value"] == 1
    assert meta_eval(bench, *options, "--binary-at", "4") == 2
    assert "4 is not above 0 and up to 3" in capsys.readouterr().err


def test_passages_without_a_label_from_a_run_count_as_not_relevant(tmp_path, passages_set):
    run = tmp_path / "bm25.trec"
    run.write_text("q1 Q0 p1 1 3.0 bm25\nq1 Q0 p2 2 2.0 bm25\nq1 Q0 p3 3 1.0 bm25\n")
    files = [Path(option) for option in passages_set[1::2]]
    labelled = read_relevance(*files, negatives=run, depth=2)
    assert [(row.case.query.id, row.subject, row.label) for row in labelled.rows][:2] == [
        ("q1", "p1", 3),
        ("q1", "p2", 0),
    ]
    assert len(labelled.rows) == 6
    assert labelled.notes == (f"1 passages without a label, from {run}, are taken as not relevant",)


CLAIMS = [
    {"claim": "Passage number 1 is dry.", "evidence": "It is dry.", "stance": "completely-support"},
    {"claim": "Passage number 2 is dry.", "evidence": "It is wet.", "stance": "refute"},
    {"claim": "Passage number 3 is dry.", "evidence": "It is somewhat dry.", "stance": "partially-support"},
]


@pytest.fixture
def own_judge(bench):  # noqa: F811
    """An experiment file with a judge of one prompt: yes or no."""
    (bench.folder / "fits.md").write_text(
        "Does the document say so?\n## User\n{{ fence('answer', answer) }}\n"
        "{% for passage in passages %}{{ fence('passage', passage.text) }}{% endfor %}\n"
    )
    config = bench.config('[[evaluate.custom]]\nname = "fits"\nprompt = "fits.md"')
    return ["--judge", "fits", *config, "--work", str(bench.folder / "work")]


def test_claims_with_labels_that_are_words(bench, own_judge, capsys):  # noqa: F811
    bench.server.script = by_number({"p1": "yes", "p2": "no", "p3": "yes"}, label)
    file = str(write_lines(bench.folder / "claims.jsonl", CLAIMS))
    assert main(["meta-eval", *own_judge, "--labelled", file]) == 2
    assert "completely-support, partially-support, refute" in capsys.readouterr().err
    assert main(["meta-eval", *own_judge, "--labelled", file, "--relevant", "completely-support", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["threshold"], found["n_relevant"]) == ("claims", 0.5, 1)
    assert found["binary"]["precision"]["value"] == pytest.approx(1 / 2)
    assert found["binary"]["recall"]["value"] == 1
    assert found["graded"] == {}
    assert found["confusion"]["people"] == ["completely-support", "partially-support", "refute"]
    shown = bench.server.requests[0].body["messages"][1]["content"]
    assert "<answer>" in shown and "<passage>" in shown


def test_a_claim_is_judged_whole_with_one_request(bench, capsys):  # noqa: F811
    def script(number, body):
        grades = {"number 1": 3, "number 2": 0, "number 3": 2}
        found = next(grade for word, grade in grades.items() if word in body["messages"][1]["content"])
        return reply(json.dumps({"evidence": ["NOTHING FOUND"], "reason": "So it is.", "label": found}))

    bench.server.script = script
    file = str(write_lines(bench.folder / "claims.jsonl", CLAIMS))
    options = ["--judge", "groundedness", "--labelled", file, "--relevant", "completely-support", "--json"]
    assert meta_eval(bench, *options) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(bench.server.requests) == 3
    assert (found["threshold"], found["binary"]["precision"]["value"]) == (2, pytest.approx(1 / 2))
    assert found["confusion"]["judge"] == ["0", "2", "3"]
    assert meta_eval(bench, *options, "--set", "scale=[0, 1]", "--set", "split=whole") == 0
    assert json.loads(capsys.readouterr().out)["errors"], "grades of 2 and 3 are not on a scale of 0 to 1"
    assert meta_eval(bench, *options, "--set", "splits=whole") == 2


def test_answers_of_other_questions_are_the_negatives_of_answer_relevance(bench, capsys):  # noqa: F811
    def script(number, body):
        shown = body["messages"][1]["content"]
        asked = shown.split("What is ")[1].split("?")[0]
        return label(3 if f"It is {asked}." in shown else 0)

    bench.server.script = script
    rows = [{"question": f"What is {n}?", "answer": f"It is {n}."} for n in range(8)]
    file = str(write_lines(bench.folder / "pairs.jsonl", rows))
    assert meta_eval(bench, "--judge", "answer_relevance", "--labelled", file, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: found["binary"][name]["value"] for name in ("precision", "recall", "kappa")} == {
        "precision": 1,
        "recall": 1,
        "kappa": 1,
    }
    assert found["notes"] == [
        "half of the questions were given the answer of another, which counts as not answering them"
    ]


def test_a_judge_that_needs_what_the_set_lacks_asks_nothing(bench, capsys):  # noqa: F811
    file = str(write_lines(bench.folder / "pairs.jsonl", [{"question": f"{n}?", "answer": f"{n}."} for n in range(4)]))
    assert meta_eval(bench, "--judge", "correctness", "--labelled", file) == 2
    assert "has no expected_response, which correctness needs" in capsys.readouterr().err
    assert meta_eval(bench, "--judge", "triad", "--labelled", file) == 2
    assert "name one of context_relevance" in capsys.readouterr().err
    assert not bench.server.requests


def test_correctness_rows_carry_what_was_expected(tmp_path):
    rows = [
        {"question": "Where?", "answer": "Here.", "expected": ["Here", "There"], "label": "yes"},
        {"question": "When?", "answer": "Now.", "expected": "Later", "label": "no"},
    ]
    labelled = read_rows(write_lines(tmp_path / "rows.jsonl", rows))
    assert labelled.kind == "correctness"
    assert [row.label for row in labelled.rows] == [1, 0]
    expected = [row.case.query.metadata["expected_response"] for row in labelled.rows]
    assert expected == ["Here\nThere", "Later"]
    table = tmp_path / "rows.csv"
    table.write_text('question,answer,expected,label\nWhere?,Here.,"[""Here"", ""There""]",1\n')
    assert read_rows(table).rows[0].case.query.metadata["expected_response"] == expected[0]


def test_half_of_the_questions_get_the_answer_of_another(tmp_path):
    rows = [{"question": f"What is {n}?", "answer": f"It is {n}."} for n in range(20)]
    labelled = read_rows(write_lines(tmp_path / "pairs.jsonl", rows), seed=3)
    assert [row.label for row in labelled.rows].count(1) == 10
    for number, row in enumerate(labelled.rows):
        own = row.case.answers[0].text == f"It is {number}."
        assert own == (row.label == 1)
    assert read_rows(tmp_path / "pairs.jsonl", seed=3) == labelled
    assert read_rows(tmp_path / "pairs.jsonl", seed=4) != labelled


@given(st.lists(st.sampled_from(["yes", "Yes ", "no", "1990", "Paris"]), min_size=2, max_size=30), st.integers(0, 99))
def test_no_answer_stays_in_its_place_where_that_can_be(answers, seed):
    alike = [answer.strip().casefold() for answer in answers]
    if max(map(alike.count, alike)) * 2 > len(answers):
        with pytest.raises(InputError, match="more than half"):
            deranged(answers, random.Random(seed), Path("f"))
        return
    found = deranged(answers, random.Random(seed), Path("f"))
    assert sorted(found) == sorted(answers)
    assert all(a.strip().casefold() != b for a, b in zip(found, alike, strict=True))


def test_a_balanced_draw_takes_half_of_what_counts_and_evenly_of_the_rest(tmp_path):
    stances = ["completely-support"] * 30 + ["irrelevant"] * 100 + ["refute"] * 5 + ["partially-support"] * 20
    rows = [{"claim": f"Claim {n}", "document": "D", "label": stance} for n, stance in enumerate(stances)]
    labelled = read_rows(write_lines(tmp_path / "claims.jsonl", rows))
    drawn = sample(labelled, 40, 7, relevant_labels(labelled, ["completely-support"]).labels)
    counts = {stance: sum(row.label == stance for row in drawn.rows) for stance in set(stances)}
    assert counts == {"completely-support": 20, "irrelevant": 8, "partially-support": 7, "refute": 5}


def test_of_a_balanced_draw_precision_is_given_at_the_share_of_the_set_too(bench, passages_set, capsys):  # noqa: F811
    bench.server.script = by_number(JUDGE)
    options = ["--judge", "umbrela", *passages_set, "--n", "4", "--balance"]
    assert meta_eval(bench, *options, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    # of the two passages of grade 2 one was drawn and counts twice: p2, found, or p3, missed; p4 is a false positive
    expected = 3 / 4 if found["binary"]["recall"]["value"] == 1 else 1 / 2
    assert found["binary"]["precision_at_set_share"]["value"] == pytest.approx(expected)
    assert (found["n_relevant"], found["set_rows"], found["set_relevant"]) == (2, 5, 3)
    assert "each label its weight in the set" in found["notes"][0]
    assert meta_eval(bench, *options, "--prompts", "paper", "--prompts", "ragassay") == 0
    printed = capsys.readouterr().out
    assert "(2 of 4; 3 of 5 in the whole set)" in printed and "at_set_share" in printed


def test_a_draw_over_all_grades_takes_as_many_of_each_and_is_the_same_again(tmp_path):
    grades = [0] * 60 + [1] * 25 + [2] * 10 + [3] * 5
    rows = [{"claim": f"Claim {n}", "document": "D", "label": grade} for n, grade in enumerate(grades)]
    labelled = read_rows(write_lines(tmp_path / "claims.jsonl", rows))
    for n, expected in ((20, [5, 5, 5, 5]), (22, [6, 6, 5, 5]), (40, [13, 12, 10, 5]), (200, [60, 25, 10, 5])):
        drawn = sample(labelled, n, 7, evenly=True)
        assert [sum(row.label == grade for row in drawn.rows) for grade in range(4)] == expected
        assert sample(labelled, n, 7, evenly=True) == drawn
    assert sample(labelled, 20, 8, evenly=True) != sample(labelled, 20, 7, evenly=True)


def test_several_judges_stand_in_one_table_each_with_its_own_failures(bench, passages_set, capsys):  # noqa: F811
    def script(number, body):
        steps = "intent" in body["response_format"]["json_schema"]["schema"]["properties"]
        return by_number(JUDGE)(number, body) if steps else by_number({**PEOPLE, "p4": None}, label)(number, body)

    bench.server.script = script
    both = ["--judge", "umbrela, context_relevance", *passages_set]
    out = bench.folder / "judgments.jsonl"
    assert meta_eval(bench, *both, "--json", "--out", str(out)) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["judge"] for one in found] == ["umbrela", "context_relevance"]
    assert [one["binary"]["kappa"]["value"] for one in found] == pytest.approx([1 / 6, 1], abs=1e-4)
    assert [(one["binary"]["f1"]["n"], one["binary"]["f1"]["n_failed"]) for one in found] == [(5, 0), (4, 1)]
    assert len(read_records(out, Assessment)) == 10
    asked = len(bench.server.requests)
    assert meta_eval(bench, *both) == 0
    printed = capsys.readouterr()
    assert len(bench.server.requests) == asked, "every reply is there"
    lines = [re.split(" {2,}", line) for line in printed.out.splitlines()]
    rows = {line[0]: line for line in lines}
    assert rows["umbrela"][1:7] == ["2", "0.667", "0.667", "0.667", "0.167", "0.800"]
    assert rows["umbrela"][8:10] == ["5", "0"] and rows["context_relevance"][8:10] == ["4", "1"]
    assert "context_relevance: 1 of 5 rows could not be judged" in printed.err


def test_models_and_wordings_stand_side_by_side_too(bench, passages_set, capsys):  # noqa: F811
    bench.server.script = by_number(PEOPLE, label)
    both = ["--judge", "context_relevance", *passages_set, "--prompts", "paper", "--prompts", "ragassay"]
    assert meta_eval(bench, *both, "--model", "openai:other", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["model"], one["prompts"]) for one in found] == [
        (model, prompts) for model in ("openai:judge", "openai:other") for prompts in ("paper", "ragassay")
    ]
    assert len(bench.server.requests) == 4 * 5
    assert meta_eval(bench, *both) == 0
    assert "context_relevance, ragassay" in " ".join(capsys.readouterr().out.split())


def test_requests_of_several_judges_are_written_at_once_and_of_two_models_in_turn(tmp_path, passages_set):
    options = ["--judge", "umbrela,context_relevance", *passages_set, "--work", str(tmp_path / "work")]
    assert main(["meta-eval", *options, "--model", "file:a", "--model", "file:b"]) == 3
    files = sorted((tmp_path / "work" / "requests").iterdir())
    assert [file.name for file in files] == ["evaluate-context_relevance-0001.jsonl", "evaluate-umbrela-0001.jsonl"]
    assert all(json.loads(file.read_text().splitlines()[0])["body"]["model"] == "a" for file in files)


def test_a_draw_may_keep_rows_of_one_claim_apart(tmp_path):
    rows = [{"claim": f"Claim {n % 4}", "document": f"D{n}", "label": n % 2} for n in range(40)]
    drawn = sample(read_rows(write_lines(tmp_path / "claims.jsonl", rows)), 40, 7, apart=True)
    assert len(drawn.rows) == 4 and len({row.cluster for row in drawn.rows}) == 4


def test_a_judge_of_answers_is_not_held_against_labels_of_passages(bench, own_judge, passages_set, capsys):  # noqa: F811
    assert main(["meta-eval", *own_judge, *passages_set]) == 2
    assert "labels passages, and fits judges answers" in capsys.readouterr().err
    assert not bench.server.requests


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"claim": "A", "document": "B", "label": ""}], "rows.jsonl:1: has no label"),
        ([{"claim": "A", "document": "B", "label": 1}, {"claim": "", "document": "B", "label": 1}], ":2: has no claim"),
        (
            [{"claim": "A", "document": "B", "label": 1}, {"claim": "A", "document": "B", "label": "so"}],
            ":2: labels are",
        ),
        ([{"text": "A"}], "of no kind"),
        ([], "no rows"),
    ],
)
def test_a_row_that_cannot_be_used_is_said_with_its_line(tmp_path, rows, said):
    with pytest.raises(InputError, match=said):
        read_rows(write_lines(tmp_path / "rows.jsonl", rows))


def test_a_file_model_leaves_its_requests_and_status_3(tmp_path, passages_set):
    options = ["--judge", "umbrela", *passages_set, "--model", "file:judge", "--work", str(tmp_path / "work")]
    assert main(["meta-eval", *options]) == 3
    lines = (tmp_path / "work" / "requests" / "evaluate-umbrela-0001.jsonl").read_text().splitlines()
    keys = [json.loads(line)["custom_id"] for line in lines]
    assert len(keys) == 5 and keys == sorted(keys)


def test_verdicts_of_others_get_the_same_figures():
    figures, _ = verdict_figures(
        [True, True, False, False], [True, None, False, True], list("abcd"), bootstrap=100, seed=7
    )
    assert (figures["accuracy"].n, figures["accuracy"].n_failed) == (3, 1)
    assert figures["precision"].value == pytest.approx(1 / 2)


def test_labels_of_answers_are_not_left_out_unless_asked_for(tmp_path):
    path = write_lines(
        tmp_path / "a.jsonl", [{"question": f"q{n}?", "answer": f"a{n}", "label": n % 2} for n in range(4)]
    )
    with pytest.raises(InputError, match="labels answers, but says not what was expected"):
        read_rows(path)
    assert len(read_rows(path, "answers").rows) == 4
