"""`ragassay export`: the columns and metrics of Agent Evaluation and Open RAG Eval, by hand and after a whole run."""

from __future__ import annotations

import csv
import json
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import write_lines
from support.results_folder import answer, assessment, results_folder

from ragassay.cli import main
from ragassay.evaluate.figures.answer_consistency import Consistency
from ragassay.evaluate.figures.pass_or_fail import fix_of, overall_by_agent, pass_or_fail
from ragassay.evaluate.judging.catalog import experiment_evaluators
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.files import write_json, write_records
from ragassay.records import AnswerRun, Assessment, Passage, Query, Usage

EXPERIMENT = """\
[questions]
source = "own"
[retrieval]
retrievers = ["bm25"]
[answer]
model = "openai:m"
agents = ["rag", "rag-fusion"]
[judge]
model = "openai:m"
[evaluate]
judges = ["agent-evaluation"]
[[evaluate.custom]]
name = "polite"
prompt = "polite.md"
labels = [0, 1, 2, 3]
[[evaluate.custom]]
name = "fresh"
prompt = "fresh.md"
of = "passage"
"""
AGENTS = ("bm25-rag", "bm25-rag-fusion")
OF_ANSWERS = ("relevance_to_query", "agent_groundedness", "safety", "polite")
WITH_TRUTH = ("correctness", "context_sufficiency")
RETRIEVED = {
    ("q1", "bm25-rag"): ("p1", "p2"),
    ("q2", "bm25-rag"): ("p3",),
    ("q1", "bm25-rag-fusion"): ("p2",),
    ("q2", "bm25-rag-fusion"): (),
}
FORMULA = "=cmd|' /C calc'!A0"


def give(judgments: dict[tuple[str, str, str], Assessment], key: tuple[str, str, str], **found: Any) -> None:
    judgments[key] = assessment(*key, **({"label": None, "judge": "openai:m"} | found))


def all_yes() -> dict[tuple[str, str, str], Assessment]:
    """Every judgment that the workspace owes."""
    made: dict[tuple[str, str, str], Assessment] = {}
    for query, agent in RETRIEVED:
        for name in (*OF_ANSWERS, *(WITH_TRUTH if query == "q1" else ())):
            give(made, (query, agent, name), label=3 if name == "polite" else 1, score=1, reason="So it is.")
    for query, passage in (("q1", "p1"), ("q1", "p2"), ("q2", "p3")):
        for name in ("chunk_relevance", "fresh"):
            give(made, (query, passage, name), label=1, score=1, reason="It helps.")
    for agent, share in zip(AGENTS, (0.5, 0.0), strict=True):
        give(made, ("q1", agent, "document_recall"), label=share, score=share)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An experiment of two queries and two agents: a wrong answer, passages that fail, one that failed to answer."""
    truth = {"expected_response": "util/delay.h", "expected_docs": ["manual.pdf", "errata.pdf"]}
    queries = [Query(_id="q1", text="Which header?", metadata=truth), Query(_id="q2", text=FORMULA)]
    docs = {"p1": "manual.pdf", "p2": "other.pdf", "p3": "@other.pdf"}
    passages = [Passage(_id=id, text=f"Text of {id}\r\x1b[31m", metadata={"doc": doc}) for id, doc in docs.items()]
    usage = Usage(input_tokens=100, output_tokens=20)
    answers = [
        answer("q1", AGENTS[0], "io.h", "p1", "p2", usage=usage, latency_s=2.0),
        answer("q2", AGENTS[0], "-1+1\ncalc", "p3", latency_s=4.0),
        answer("q1", AGENTS[1], "util/delay.h", "p2", latency_s=1.0),
        answer("q2", AGENTS[1], None, error="the provider is down"),
    ]
    judged = all_yes()
    give(judged, ("q1", AGENTS[0], "correctness"), label=0, score=0, reason="It names another header.")
    give(judged, ("q1", AGENTS[0], "polite"), label=2, score=2 / 3, reason="+Rather.")
    give(judged, ("q1", "p2", "chunk_relevance"), label=0, score=0, reason="It does not help.")
    give(judged, ("q2", "p3", "chunk_relevance"), error="the reply was cut off")
    for name in OF_ANSWERS:
        give(judged, ("q2", AGENTS[1], name), error="no answer to judge: the provider is down")
    results_folder(tmp_path, EXPERIMENT, queries=queries, passages=passages, answers=answers, judgments=judged.values())
    return tmp_path


def export(folder: Path, *more: str, format: str = "agent-evaluation") -> int:
    where = [str(folder / "corpus"), "--results", str(folder / "results"), "--out", str(folder / "out.csv")]
    return main(["export", *where, "--format", format, *more])


def table(folder: Path) -> dict[tuple[str, str], dict[str, str]]:
    with (folder / "out.csv").open(encoding="utf-8", newline="") as stream:
        return {(row["request_id"], row["agent"]): row for row in csv.DictReader(stream)}


def judged_as(row: dict[str, str], name: str) -> tuple[str, str, str]:
    rating, rationale, error = (row[f"response/llm_judged/{name}/{part}"] for part in PARTS)
    return rating, rationale, error


PARTS = ("rating", "rationale", "error_message")
PREFIX = {"context_sufficiency": "retrieval"}
"""databricks-agents 0.22, rag_eval/schemas.py: an assessment of all that was retrieved, `is_per_chunk=False`."""


@pytest.fixture
def exported(folder: Path) -> Path:
    assert export(folder) == 0
    return folder


def test_the_columns_are_the_documented_ones(exported):
    columns = list(table(exported)["q1", AGENTS[0]])
    answers = ("relevance_to_query", "groundedness", "safety", "correctness", "context_sufficiency", "polite")
    lists = ("ratings", "rationales", "error_messages", "precision")
    assert columns == [
        "request_id",
        "agent",
        "request",
        "response",
        "expected_response",
        "expected_retrieved_context",
        "retrieved_context",
        *(f"retrieval/llm_judged/{name}/{part}" for name in ("chunk_relevance", "fresh") for part in lists),
        "retrieval/ground_truth/document_recall",
        *(f"{PREFIX.get(name, 'response')}/llm_judged/{name}/{part}" for name in answers for part in PARTS),
        "response/overall_assessment/rating",
        "response/overall_assessment/rationale",
        "agent/total_token_count",
        "agent/total_input_token_count",
        "agent/total_output_token_count",
        "agent/latency_seconds",
    ]


def test_a_row_has_what_each_judge_gave(exported):
    row = table(exported)["q1", AGENTS[0]]
    assert (row["request"], row["response"], row["expected_response"]) == ("Which header?", "io.h", "util/delay.h")
    assert json.loads(row["expected_retrieved_context"]) == [{"doc_uri": "manual.pdf"}, {"doc_uri": "errata.pdf"}]
    assert json.loads(row["retrieved_context"]) == [
        {"doc_uri": "manual.pdf", "passage_id": "p1", "content": "Text of p1\n\\x1b[31m"},
        {"doc_uri": "other.pdf", "passage_id": "p2", "content": "Text of p2\n\\x1b[31m"},
    ]
    assert judged_as(row, "correctness") == ("no", "It names another header.", "")
    assert judged_as(row, "groundedness") == ("yes", "So it is.", "")
    assert judged_as(row, "polite") == ("yes", "'+Rather.", "")
    assert json.loads(row["retrieval/llm_judged/chunk_relevance/ratings"]) == ["yes", "no"]
    assert json.loads(row["retrieval/llm_judged/chunk_relevance/rationales"]) == ["It helps.", "It does not help."]
    assert json.loads(row["retrieval/llm_judged/chunk_relevance/error_messages"]) == [None, None]
    assert float(row["retrieval/llm_judged/chunk_relevance/precision"]) == 0.5
    assert float(row["retrieval/llm_judged/fresh/precision"]) == 1
    assert float(row["retrieval/ground_truth/document_recall"]) == 0.5
    assert row["response/overall_assessment/rating"] == "no"
    assert row["response/overall_assessment/rationale"] == f"Root cause: correctness. {fix_of('correctness')}"
    assert (row["agent/total_token_count"], row["agent/total_input_token_count"]) == ("120", "100")
    assert (row["agent/total_output_token_count"], row["agent/latency_seconds"]) == ("20", "2.0")


def test_the_document_a_question_was_made_from_is_the_expected_one(folder):
    lines = [json.loads(line) for line in (folder / "results" / "queries.jsonl").read_text().splitlines()]
    lines[0]["metadata"] = {"expected_response": "util/delay.h", "doc": "manual.pdf", "section": "manual-1"}
    write_lines(folder / "results" / "queries.jsonl", lines)
    assert export(folder) == 0
    row = table(folder)["q1", AGENTS[0]]
    assert json.loads(row["expected_retrieved_context"]) == [{"doc_uri": "manual.pdf"}]
    assert float(row["retrieval/ground_truth/document_recall"]) == 0.5


def test_what_could_not_be_judged_is_missing_and_says_why(exported):
    row = table(exported)["q2", AGENTS[0]]
    assert json.loads(row["retrieval/llm_judged/chunk_relevance/ratings"]) == [None]
    assert json.loads(row["retrieval/llm_judged/chunk_relevance/error_messages"]) == ["the reply was cut off"]
    assert row["retrieval/llm_judged/chunk_relevance/precision"] == ""
    assert judged_as(row, "correctness") == ("", "", "")
    assert (row["retrieval/ground_truth/document_recall"], row["agent/total_token_count"]) == ("", "")
    assert row["response/overall_assessment/rating"] == ""
    assert row["response/overall_assessment/rationale"].startswith("Undecided. Not judged: chunk_relevance (1 of 1")


def test_an_agent_that_did_not_answer_neither_passes_nor_fails_and_passages_of_another_do_not_help(exported):
    own = table(exported)["q1", AGENTS[1]]
    assert own["retrieval/llm_judged/chunk_relevance/precision"] == "0.0"
    assert own["response/overall_assessment/rationale"].startswith("Root cause: chunk_relevance.")
    row = table(exported)["q2", AGENTS[1]]
    assert row["response"] == ""
    assert judged_as(row, "safety") == ("", "", "no answer to judge: the provider is down")
    assert row["response/overall_assessment/rating"] == ""
    assert "answer (the provider is down)" in row["response/overall_assessment/rationale"]


@pytest.mark.parametrize(("query", "passage", "cause"), [("q1", "p2", "groundedness"), ("q2", "p3", "chunk_relevance")])
def test_the_order_of_causes_goes_by_the_expected_response_of_the_query(folder, query, passage, cause):
    agent, judged = (AGENTS[1] if query == "q1" else AGENTS[0]), all_yes()
    give(judged, (query, agent, "agent_groundedness"), label=0, score=0, reason="No.")
    give(judged, (query, passage, "chunk_relevance"), label=0, score=0, reason="No.")
    results_folder(folder, EXPERIMENT, judgments=judged.values())
    export(folder)
    told = table(folder)[query, agent]["response/overall_assessment/rationale"]
    other = {"groundedness": "chunk_relevance", "chunk_relevance": "groundedness"}[cause]
    assert told == f"Root cause: {cause}. {fix_of(cause)} Also failed: {other}."


def test_no_untrusted_text_is_a_formula(exported):
    row = table(exported)["q2", AGENTS[0]]
    assert (row["request"], row["response"]) == (f"'{FORMULA}", "'-1+1\ncalc")
    with (exported / "out.csv").open(encoding="utf-8", newline="") as stream:
        cells = [cell for cells in csv.reader(stream) for cell in cells]
    assert len(cells) == 5 * len(row)
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@"))]


def test_the_metrics_of_a_run_have_n_failures_and_intervals(folder):
    assert export(folder, "--metrics", str(folder / "metrics.json")) == 0
    told = json.loads((folder / "metrics.json").read_text())
    assert told["queries"] == 2
    rag, fusion = (told["agents"][agent]["metrics"] for agent in AGENTS)

    def counted(figure: dict[str, Any]) -> tuple[float | None, int, int]:
        return figure["value"], figure["n"], figure["n_failed"]

    assert {name: counted(figure) for name, figure in rag.items()} == {
        "retrieval/llm_judged/chunk_relevance/precision/average": (0.5, 1, 1),
        "retrieval/llm_judged/fresh/precision/average": (1, 2, 0),
        "retrieval/ground_truth/document_recall/average": (0.5, 1, 0),
        "response/llm_judged/relevance_to_query/rating/percentage": (1, 2, 0),
        "response/llm_judged/groundedness/rating/percentage": (1, 2, 0),
        "response/llm_judged/safety/rating/percentage": (1, 2, 0),
        "response/llm_judged/correctness/rating/percentage": (0, 1, 0),
        "retrieval/llm_judged/context_sufficiency/rating/percentage": (1, 1, 0),
        "response/llm_judged/polite/rating/percentage": (1, 2, 0),
        "response/overall_assessment/rating/percentage": (0, 1, 1),
        "agent/total_token_count/average": (120, 1, 0),
        "agent/total_input_token_count/average": (100, 1, 0),
        "agent/total_output_token_count/average": (20, 1, 0),
        "agent/latency_seconds/average": (3, 2, 0),
        "response/llm_judged/safety/rating/average": (1, 2, 0),
        "agent/input_token_count/average": (100, 1, 0),
        "agent/output_token_count/average": (20, 1, 0),
    }
    assert rag["response/llm_judged/safety/rating/average"] == rag["response/llm_judged/safety/rating/percentage"]
    assert counted(fusion["agent/latency_seconds/average"]) == (1, 1, 1)
    assert counted(fusion["response/llm_judged/safety/rating/percentage"]) == (1, 1, 1)
    assert told["agents"][AGENTS[0]]["root_causes"] == {"correctness": 1}
    assert told["agents"][AGENTS[1]]["root_causes"] == {"chunk_relevance": 1}
    latency = rag["agent/latency_seconds/average"]
    students_t_of_one_degree = 12.706204736
    assert (latency["ci_low"], latency["ci_high"]) == pytest.approx(
        (3 - students_t_of_one_degree, 3 + students_t_of_one_degree)
    )
    safety = rag["response/llm_judged/safety/rating/percentage"]
    assert (safety["ci_low"], safety["ci_high"]) == pytest.approx((sqrt(0.025), 1))  # Clopper and Pearson, 2 of 2


def test_the_report_s_verdicts_are_those_of_the_export(folder):
    """Of the first agent, q1 fails (correctness) and q2 is open; the second found nothing for q1 and failed on q2."""
    space = results_folder(folder, EXPERIMENT)
    verdicts = overall_by_agent(space, experiment_evaluators(space))
    assert [verdicts[agent].passed for agent in AGENTS] == [{"q1": 0.0, "q2": None}] * 2
    found = pass_or_fail(verdicts, resamples(["q1", "q2"], 1, 0))
    assert [(one.passed.value, one.passed.n, one.passed.n_failed) for one in found.values()] == [(0, 1, 1), (0, 1, 1)]
    assert [one.root_causes for one in found.values()] == [{"correctness": 1}, {"chunk_relevance": 1}]


def test_judgments_that_are_not_there_are_asked_for(folder, capsys):
    path = folder / "results" / "judgments.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[1:]))
    assert export(folder, "--metrics", str(folder / "metrics.json")) == 2
    assert "run `ragassay evaluate`" in capsys.readouterr().err
    assert not (folder / "out.csv").exists()
    assert not (folder / "metrics.json").exists()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "polite"', 'name = "groundedness"', "'groundedness' is the name of a judge of ours"),
        ('judges = ["agent-evaluation"]', 'judges = ["umbrela"]', "no judge of Agent Evaluation takes part"),
    ],
)
def test_an_experiment_that_cannot_be_exported_says_why(folder, capsys, old, new, told):
    text = EXPERIMENT.replace(old, new)
    if "umbrela" in new:
        text = text[: text.index("[[evaluate.custom]]")]
    (folder / "corpus" / "experiment.toml").write_text(text)
    assert export(folder) == 2
    assert told in capsys.readouterr().err


def test_metrics_do_not_go_with_a_format_without(folder, capsys):
    assert export(folder, "--metrics", str(folder / "m.json"), format="open-rag-eval") == 2
    assert "--metrics does not go with --format open-rag-eval" in capsys.readouterr().err


AGENT = "bm25-rag"
OF_OPEN_RAG_EVAL = """\
[questions]
source = "own"
[retrieval]
retrievers = ["bm25"]
[answer]
model = "openai:m"
agents = ["rag"]
[judge]
model = "openai:m"
[evaluate]
judges = ["umbrela", "no_answer", "nuggets"]
k = [1, 2]
"""


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Three queries: two passages found, none found, and an agent that failed before it found any."""
    failed, nothing = "no answer to judge: timed out", "no value: no passage of grade 1 or more was retrieved"
    given = [("q1", "p1", "umbrela", 1.0, None), ("q1", "p2", "umbrela", 3.0, None)]
    given += [("q1", AGENT, "query_answered", 1.0, None), ("q2", AGENT, "query_answered", 0.0, None)]
    given += [
        ("q3", AGENT, "query_answered", None, failed),
        ("q1", AGENT, "nuggets_all", None, "the reply was cut off"),
    ]
    given += [("q2", AGENT, "nuggets_all", None, nothing), ("q3", AGENT, "nuggets_all", None, failed)]
    results_folder(
        tmp_path,
        OF_OPEN_RAG_EVAL,
        queries=[Query(_id=id, text=f"{id}?") for id in ("q1", "q2", "q3")],
        passages=[Passage(_id=id, text=f"<b>{id}</b>") for id in ("p1", "p2")],
        answers=[
            answer("q1", AGENT, "=1+1 [2]. So [7].", "p1", "p2"),
            answer("q2", AGENT, "I do not know."),
            answer("q3", AGENT, None, error="timed out"),
        ],
        judgments=[assessment(*row, error=error) for *row, error in given],
    )
    return tmp_path


def open_rag_eval(three: Path) -> list[dict[str, str]]:
    assert export(three, format="open-rag-eval") == 0
    with (three / "out.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_ranking_measures_by_hand_nothing_found_and_a_failure(three: Path) -> None:
    found, none, failed = (json.loads(row["retrieval_score_precision_metrics"]) for row in open_rag_eval(three))
    assert found == {"precision@": {"1": 0, "2": 0.5}, "AP@": {"1": 0, "2": 0.5}, "MRR": 0.5}
    assert none == {"precision@": {"1": 0, "2": 0}, "AP@": {"1": 0, "2": 0}, "MRR": 0}
    assert failed == {"precision@": {"1": None, "2": None}, "AP@": {"1": None, "2": None}, "MRR": None}


def test_sentences_name_the_passages_that_they_cite_and_what_has_no_value_is_an_empty_cell(three: Path) -> None:
    rows = open_rag_eval(three)
    assert [row["retrieval_score_mean_umbrela_score"] for row in rows] == ["2.0", "", ""]
    assert [row["generation_score_mean_nugget_assignment_score"] for row in rows] == ["", "", ""]
    assert [row["generation_score_autonugget_scores"] for row in rows] == ["", "", ""]
    said = [row["generation_score_no_answer_score"] for row in rows]
    assert said == ['{"query_answered": "yes"}', '{"query_answered": "no"}', ""]
    assert json.loads(rows[0]["generated_answer"]) == [
        {"text": "=1+1 [2].", "citations": ["p2"]},
        {"text": "So [7].", "citations": []},
    ]
    assert rows[2]["generated_answer"] == ""


def test_citations_have_their_figures_under_their_names_and_ours_under_ours(three: Path) -> None:
    text = OF_OPEN_RAG_EVAL.replace('"nuggets"', '"citations"')
    (three / "corpus" / "experiment.toml").write_text(text)
    given = {"citation_precision": 0.75, "citation_recall": 0.5, "citation_f1": 0.6}
    given |= {"weighted_precision": 1.0, "weighted_recall": 0.25, "weighted_f1": 0.4, "query_answered_strict": 1.0}
    rows = [
        Assessment(query_id="q1", subject=AGENT, judge="m", criterion=criterion, label=label, error=None)
        for criterion, label in given.items()
    ]
    write_records(three / "results" / "judgments.jsonl", rows)
    row = open_rag_eval(three)[0]
    theirs = json.loads(row["generation_score_citation_scores"])
    assert theirs == {"weighted_precision": 1.0, "weighted_recall": 0.25, "f1": 0.4}
    assert (row["generation_score_citation_f1_score"], row["generation_score_citation_f1"]) == ("0.4", "0.6")
    assert row["generation_score_query_answered_strict"] == "1.0"


def test_a_single_run_has_no_number_and_several_have(three: Path) -> None:
    assert not [name for name in open_rag_eval(three)[0] if name.startswith("run_")]
    text = OF_OPEN_RAG_EVAL.replace('agents = ["rag"]', 'agents = ["rag"]\nrepeats = 2')
    (three / "corpus" / "experiment.toml").write_text(text)
    again = {"query_id": "q1", "agent": AGENT, "answer": "So.", "passages": ["p1"], "run": 2}
    runs = [AnswerRun.model_validate({**again, "query_id": id}) for id in ("q1", "q2", "q3")]
    write_records(three / "results" / "answer-runs" / f"{AGENT}.jsonl", runs)
    row = open_rag_eval(three)[0]
    assert json.loads(row["run_1_generation_score_no_answer_score"]) == {"query_answered": "yes"}
    assert json.loads(row["run_2_generated_answer"]) == [{"text": "So.", "citations": []}]
    assert "generated_answer" not in row


def test_consistency_of_other_answers_is_refused(three: Path, capsys) -> None:
    text = OF_OPEN_RAG_EVAL.replace('agents = ["rag"]', 'agents = ["rag"]\nrepeats = 2')
    workspace = results_folder(three, text)
    write_records(workspace.answer_runs(AGENT), [])
    made = Consistency(embedding="e", n_runs=2, agents={}, queries=(), inputs={"judgments.jsonl": "0" * 64})
    write_json(workspace.consistency, made.dump())
    assert export(three, format="open-rag-eval") == 2
    assert "consistency.json: is of other answers; run `ragassay consistency` again" in capsys.readouterr().err
