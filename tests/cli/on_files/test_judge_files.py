"""Bad input to `ragassay judge`: one sentence and status 2; texts that are not there are errors, never "no value"."""

from __future__ import annotations

import textwrap

import pytest
from support.json_lines import records, write_lines
from support.judge_bench import ANSWERS, PASSAGES, QUERIES

from ragassay.cli import main

CLASS = """
    from ragassay.evaluate.judging.engine.evaluator import Criterion, Evaluator, LabelJudge

    class Own(Evaluator):
        name = "own"
        judge = "nobody"

        def steps(self, case):
            {body}

    class Nameless(Evaluator):
        def steps(self, case):
            return []

    class Spaced(Nameless):
        name = "a b"

    class Stepless(Evaluator):
        name = "stepless"

    class OneLabel(LabelJudge):
        name = "one"
        labels = ("only",)
"""


def write(path, rows):
    return str(write_lines(path, rows))


@pytest.fixture
def judge(bench, capsys):
    """A function that runs `ragassay judge` on these rows, and gives its status and what it said."""

    def judge(names, answers=ANSWERS, passages=PASSAGES, queries=QUERIES, more=()):
        options = ["--answers", write(bench.folder / "answers.jsonl", answers)]
        options += ["--passages", write(bench.folder / "passages.jsonl", passages)] if passages else []
        options += ["--queries", write(bench.folder / "queries.jsonl", queries)] if queries else []
        model = [] if "--config" in more else ["--model", "openai:judge", "--base-url", bench.server.base_url]
        out = ["--out", str(bench.folder / "judgments.jsonl")]
        status = main(["judge", *options, *model, "--with", names, *out, *more])
        return status, capsys.readouterr().err

    return judge


def rows(bench):
    return records(bench.folder / "judgments.jsonl")


@pytest.mark.parametrize("name", ["groundedness", "agent_groundedness", "context_sufficiency", "nuggets"])
def test_passages_that_are_not_at_hand_are_a_failure_and_not_no_value(judge, bench, name):
    status, _ = judge(name, passages=None)
    errors = {row["error"] for row in rows(bench)}
    assert status == 0 and errors and all("not in the corpus" in error for error in errors)
    assert not any(error.startswith("no value") for error in errors)


def test_an_agent_owes_an_answer_to_every_query_and_what_it_lacks_failed(judge, bench):
    status, _ = judge("correctness", answers=[*ANSWERS, ANSWERS[0] | {"agent": "theirs"}])
    made = {(row["subject"], row["query_id"]): row for row in rows(bench)}
    assert status == 0 and len(made) == 4
    assert made["theirs", "q2"]["label"] is None and "the agent's file has no answer" in made["theirs", "q2"]["error"]
    assert all(row.get("error") is None for key, row in made.items() if key != ("theirs", "q2"))


def test_a_judge_of_passages_wants_their_texts(judge):
    assert judge("no_answer,umbrela", passages=None) == (
        2,
        "ragassay: --passages is missing; umbrela judges passages: give their texts\n",
    )


ASKED = {"query_id": "q1", "query": "Which?", "answer": "That.", "expected_response": "This."}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"passages": [*PASSAGES, PASSAGES[0]]}, "passages.jsonl: has 'p1' twice"),
        ({"queries": [*QUERIES, QUERIES[1]]}, "queries.jsonl: has 'q2' twice"),
        (
            {"answers": [ANSWERS[0] | {"answer": "x" * 1_000_001}]},
            "answers.jsonl:1: the answer is 1,000,001 characters",
        ),
        ({"passages": [PASSAGES[0] | {"text": "x" * 1_000_001}]}, "passages.jsonl:1: the passage is 1,000,001"),
        ({"queries": [QUERIES[0] | {"text": "x" * 100_001}]}, "queries.jsonl:1: the query is 100,001 characters long"),
        ({"answers": [ANSWERS[0] | {"latency_s": float("nan")}]}, "answers.jsonl:1: latency_s is nan"),
        (
            {"answers": [ASKED, ASKED | {"agent": "b", "query": "How?"}], "queries": None},
            "answers.jsonl:2: query 'q1' is not as in a line before",
        ),
        (
            {"answers": [ASKED, ASKED | {"agent": "b", "expected_response": "Else."}], "queries": None},
            "answers.jsonl:2: query 'q1' is not as in a line before",
        ),
        ({"answers": [ASKED | {"query": ""}], "queries": None}, "answers.jsonl:1: has an empty query"),
    ],
)
def test_files_that_contradict_themselves(judge, files, said):
    status, err = judge("no_answer", **files)
    assert status == 2 and said in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"expected_response": ["a", "b"]}, "query 'q1': metadata.expected_response is not a text"),
        ({"expected_docs": "manual.pdf"}, "query 'q1': metadata.expected_docs is not a list of ids"),
        ({"expected_docs": [1]}, "query 'q1': metadata.expected_docs is not a list of ids"),
    ],
)
def test_ground_truth_of_the_wrong_kind_is_not_passed_over(judge, metadata, said):
    status, err = judge("correctness,document_recall", queries=[QUERIES[0] | {"metadata": metadata}, QUERIES[1]])
    assert status == 2 and said in err and err.count("\n") == 1


@pytest.mark.parametrize("body", ["return [self.assess(case, float('nan'))]", "return [self.assess(case, 2.0)]"])
def test_a_label_off_the_scale_is_an_error_record(judge, bench, monkeypatch, body):
    assert own(judge, bench, monkeypatch, "Own", body)[0] == 0
    assert [row["label"] for row in rows(bench)] == [None, None]
    assert all("is not from 0 to 1" in row["error"] for row in rows(bench))


def test_a_judge_that_ends_the_process_is_an_error_record(judge, bench, monkeypatch):
    assert own(judge, bench, monkeypatch, "Own", "raise SystemExit(3)")[0] == 0
    assert all("SystemExit" in row["error"] for row in rows(bench))


@pytest.mark.parametrize("body", ["return []", "return 2 * [self.assess(case, 1.0)]"], ids=["none", "twice"])
def test_a_judge_that_gives_other_records_than_it_owes_is_an_error_record(judge, bench, monkeypatch, body):
    status, err = own(judge, bench, monkeypatch, "Own", body)
    assert status == 0 and [row["error"] for row in rows(bench)] == ["the judge did not cover what was asked"] * 2
    said = "2 of 2 own judgments failed; the commonest error (2 times): the judge did not cover what was asked"
    assert f"note: {said}\n" in err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Nameless", "has no fitting `name`"),
        ("Spaced", "has no fitting `name`"),
        ("Stepless", "has no `steps`"),
        ("OneLabel", "the scale of 'one' does not rise"),
    ],
)
def test_a_class_that_cannot_judge_is_refused(judge, bench, monkeypatch, name, said):
    status, err = own(judge, bench, monkeypatch, name, "return []")
    assert status == 2 and said in err and err.count("\n") == 1


def own(judge, bench, monkeypatch, name, body):
    """Judge by a class in a module of this test's own name."""
    monkeypatch.chdir(bench.folder)
    module = "bad_" + "".join(letter for letter in bench.folder.name if letter.isalnum())
    (bench.folder / f"{module}.py").write_text(textwrap.dedent(CLASS).format(body=body))
    return judge(f"{module}:{name}")


@pytest.mark.parametrize(
    ("table", "names", "said"),
    [
        ('name = "query_answered"', "query_answered,no_answer", "two judges give the criterion 'query_answered'"),
        ('name = "umbrela"', "umbrela", "'umbrela' is the name of a judge of ours"),
        ('name = "triad"', "triad", "'triad' is the name of a judge of ours"),
        ('name = "own"\nlabels = ["only"]', "own", "labels names at least two labels"),
        ('name = "own"\nlabels = ["1", "0"]', "own", "labels that are numbers stand without quotes"),
        ('name = "own"\nlabels = ["no", " "]', "own", "labels names a label without a letter"),
    ],
)
def test_a_prompt_s_table_that_cannot_be_used(judge, bench, table, names, said):
    status, err = custom(judge, bench, table, names, "{{ answer }}")
    assert status == 2 and said in err and err.count("\n") == 1


def test_a_prompt_that_names_what_there_is_not_says_which(judge, bench):
    status, err = custom(judge, bench, 'name = "own"', "own", '{{ fence("answer", answr) }}')
    assert status == 2 and "'answr' is undefined" in err and "given here: answer" in err


def test_signs_that_only_look_like_digits_are_words(judge, bench):
    """Superscripts are digits to Python and no numbers."""
    status, _ = custom(judge, bench, 'name = "own"\nlabels = ["\u00b2", "\u00b3"]', "own", "{{ answer }}")
    assert status == 0 and [row["label"] for row in rows(bench)] == [1.0, 1.0]


def custom(judge, bench, table, names, prompt):
    """Judge with a `[[evaluate.custom]]` of this table and the user's part of its prompt."""
    (bench.folder / "own.md").write_text(f"Judge.\n## User\n{prompt}\n")
    return judge(names, more=bench.config('[[evaluate.custom]]\nprompt = "own.md"', table))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["CORPUS", "--mode", "label"], "--mode does not go with CORPUS"),
        (["CORPUS", "--base-url", "http://127.0.0.1/"], "--base-url does not go with CORPUS"),
        (["--answers", "a", "--out", "o", "--with", "no_answer", "--results", "r"], "--results goes with CORPUS only"),
        (["--answers", "a", "--out", "o", "--with", "no_answer", "--retry-failed"], "--retry-failed goes with CORPUS"),
        (["--answers", "a", "--out", "o", "--with", "safety", "--model", "openai:j", "--max-cost", "-1"], "--max-cost"),
        (["--answers", "a", "--out", "o", "--with", "safety", "--model", "j"], "see --model and --base-url"),
        (["--answers", "a", "--out", "o", "--with", "safety", "--base-url", "http://x/"], "--base-url is without"),
        (
            ["--answers", "a", "--out", "o", "--with", "safety", "--model", "openai:j", "--base-url", "not one"],
            "an address is such as",
        ),
    ],
)
def test_options_that_would_be_ignored_are_refused(options, said, capsys):
    assert main(["judge", *options]) == 2
    assert said in capsys.readouterr().err


def test_what_is_read_is_not_written_over(bench, capsys):
    path = write(bench.folder / "a.jsonl", [{"query": "Which?", "answer": "That."}])
    before = (bench.folder / "a.jsonl").read_bytes()
    options = ["--answers", path, "--out", path, "--with", "no_answer", "--model", "openai:j"]
    assert main(["judge", *options]) == 2 and "--out is a file that is read" in capsys.readouterr().err
    assert (bench.folder / "a.jsonl").read_bytes() == before
