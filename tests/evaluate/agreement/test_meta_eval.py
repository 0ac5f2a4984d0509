"""An evaluator against labelled rows: the figures by hand, what fails, and what cannot be held against each other."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from support.json_lines import write_lines
from support.judge_bench import bench  # noqa: F401  (a fixture)
from support.loopback.behaviours import reply

from ragassay.cli import main
from ragassay.evaluate.agreement.meta_eval import precision_at_set_share
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
PAIRS = [(PEOPLE[name], JUDGE[name]) for name in PEOPLE]


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
    return main(["agree", "meta-eval", *model, *options])


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
    theirs = {"tau_b": kendalltau(*zip(*PAIRS, strict=True)), "rho": spearmanr(*zip(*PAIRS, strict=True))}
    for name, ranks in theirs.items():
        assert found["ranks"][name]["value"] == pytest.approx(ranks.statistic, abs=1e-4)
        assert found["p"][name] == pytest.approx(ranks.pvalue, rel=1e-4) and found["n_clusters"] == 5
    assert meta_eval(bench, "--judge", "umbrela", *passages_set) == 0
    assert f"p (pairs taken as independent): tau_b {theirs['tau_b'].pvalue:.2g}" in capsys.readouterr().out


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
    for seed in range(2):
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
    assert main(["agree", "meta-eval", *own_judge, "--labelled", file]) == 2
    assert "completely-support, partially-support, refute" in capsys.readouterr().err
    assert (
        main(["agree", "meta-eval", *own_judge, "--labelled", file, "--relevant", "completely-support", "--json"]) == 0
    )
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
    assert main(["agree", "meta-eval", *options, "--model", "file:a", "--model", "file:b"]) == 3
    files = sorted((tmp_path / "work" / "requests").iterdir())
    assert [file.name for file in files] == ["evaluate-context_relevance-0001.jsonl", "evaluate-umbrela-0001.jsonl"]
    for file in files:
        lines = list(map(json.loads, file.read_text().splitlines()))
        assert len(lines) == 5 and {line["body"]["model"] for line in lines} == {"a"}
        assert (keys := [line["custom_id"] for line in lines]) == sorted(keys)


def test_a_judge_of_answers_is_not_held_against_labels_of_passages(bench, own_judge, passages_set, capsys):  # noqa: F811
    assert main(["agree", "meta-eval", *own_judge, *passages_set]) == 2
    assert "labels passages, and fits judges answers" in capsys.readouterr().err
    assert not bench.server.requests


def figure_of(rows, whole, relevant=frozenset({"yes"})):
    """rows: (label, judge's verdict, how often), each alone."""
    people = [label for label, _, count in rows for _ in range(count)]
    said = [verdict for _, verdict, count in rows for _ in range(count)]
    return precision_at_set_share(people, said, [str(place) for place, _ in enumerate(people)], relevant, whole)


def test_each_label_has_the_weight_of_the_set_as_bayes_has_it():
    # the sensitivity is 37/50, the false-positive rate 10/50; 21% of the set are yes
    found, why = figure_of(
        [("yes", True, 37), ("yes", False, 13), ("no", True, 10), ("no", False, 40)], {"yes": 210, "no": 790}
    )
    assert why is None
    assert found.value == pytest.approx(0.21 * 0.74 / (0.21 * 0.74 + 0.79 * 0.2), abs=1e-6)
    assert found.ci_low < 0.45 and found.ci_high > 0.55 and (found.n, found.n_failed) == (100, 0)
    rows = [("yes", True, 8), ("yes", False, 2), ("half", True, 5), ("half", False, 5)]
    rows += [("no", True, 1), ("no", False, 9)]
    for relevant, hits in (({"yes"}, 80), ({"yes", "half"}, 105)):
        found, _ = figure_of(rows, {"yes": 100, "half": 50, "no": 1000}, relevant)
        assert found.value == pytest.approx(hits / (80 + 25 + 100), abs=1e-6)


@given(st.integers(1, 20), st.integers(0, 20), st.integers(0, 20), st.integers(1, 20))
def test_where_the_set_has_the_shares_of_the_rows_it_is_their_precision(hits, missed, extra, right):
    rows = [("yes", True, hits), ("yes", False, missed), ("no", True, extra), ("no", False, right)]
    found, _ = figure_of(rows, {"yes": hits + missed, "no": extra + right})
    assert found.value == pytest.approx(hits / (hits + extra), abs=1e-6)
    assert 0 <= found.ci_low <= found.value <= found.ci_high <= 1


def test_a_judge_that_was_never_wrong_is_less_sure_where_little_is_to_be_found():
    rows = [("yes", True, 50), ("no", False, 50)]
    even, rare = (figure_of(rows, {"yes": share, "no": 100 - share})[0] for share in (50, 5))
    assert even.value == rare.value == even.ci_high == rare.ci_high == 1
    assert rare.ci_low < even.ci_low < 1


def test_what_was_not_judged_or_never_drawn_leaves_no_figure():
    found, why = figure_of([("yes", True, 5), ("no", None, 5)], {"yes": 5, "no": 50})
    assert found.value is None and (found.n, found.n_failed) == (5, 5)
    assert why == "no row that people labelled no was judged, and the set has such"
    assert figure_of([("yes", False, 5), ("no", False, 5)], {"yes": 5, "no": 5})[1] == (
        "the judge labelled nothing as relevant"
    )
