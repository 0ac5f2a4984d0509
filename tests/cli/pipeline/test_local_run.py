"""The whole job with the smallest local model: llama.cpp, its grammars and its probabilities, on a PDF of two pages.

What the model says is of no worth, and nothing here depends on it: a reply that does not do is a record with an error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from support.finished_run.counts import check_ledger
from support.finished_run.run import Run
from support.json_lines import records
from support.made_up_results.page import Page
from support.pdf_maker import make_pdf
from support.small_corpus import page

from ragassay.cli import main
from ragassay.evaluate.judging.judges.games import PairwiseReply
from ragassay.evaluate.judging.judges.pointwise import reply_schema as pointwise_schema
from ragassay.evaluate.judging.judges.relevance import RelevanceReply
from ragassay.experiment.tables import JudgeSettings, ModelSettings
from ragassay.models.endpoint import Endpoint
from ragassay.models.local.model import SMALLEST
from ragassay.models.requests import Request
from ragassay.prompts import Message
from ragassay.retrieval.agents.answering import Rewritten
from ragassay.synth.questions.from_passages import quotes_schema
from ragassay.synth.questions.from_passages import reply_schema as questions_schema
from ragassay.synth.questions.need_writer import Need, NeedQuestion, NeedQuestions, Needs, evidence_schema
from ragassay.synth.questions.slots import at_most

pytestmark = pytest.mark.slow

SETTINGS = f"""
[models."{SMALLEST}"]
context_tokens = 2048
max_tokens = 120
threads = 1
cache_ram_mib = 16
"""

QUESTIONS_ALONE = f"""
[ingest]
section_tokens = 120
passage_words = 40
passage_overlap_words = 8

[questions]
style = "passage"
sections = 1
per_section = 1
few_shot = 1
quota = {{ "{SMALLEST}" = 1 }}

[answer]
model = "{SMALLEST}"

[judge]
model = "{SMALLEST}"
"""

WHOLE_JOB = f"""
[ingest]
section_tokens = 120
passage_words = 40
passage_overlap_words = 8

[questions]
source = "own"

[retrieval]
retrievers = ["bm25"]
k = 1

[answer]
model = "{SMALLEST}"
fusion_queries = 2
fusion_prompt = "rewrite.md"

[[agent]]
name = "ours"
kind = "file"
path = "ours.jsonl"

[judge]
model = "{SMALLEST}"
factors = ["correctness"]

[compare]
tournaments = 10
bootstrap = 100
"""

REWRITE = """\
You write search queries.

## User
Write {{ count }} search queries such as {"queries":["watchdog timer reset","disable the watchdog"]}.

{{ fence("question", question) }}
"""

QUERY = "How do I reset the watchdog timer?"
AGENTS = ["bm25-rag", "bm25-rag-fusion", "ours"]


def make_corpus(folder: Path, experiment: str) -> Path:
    folder.mkdir()
    make_pdf(folder / "manual.pdf", [page(1), page(2)])
    (folder / "experiment.toml").write_text(experiment + SETTINGS)
    (folder / "questions.txt").write_text("How do I stop the watchdog from resetting my board?\n")
    (folder / "rewrite.md").write_text(REWRITE)
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": QUERY}) + "\n")
    ours = {"query_id": "q1", "agent": "ours", "answer": "Write 31 to register R10 and wait.", "passages": []}
    (folder / "ours.jsonl").write_text(json.dumps(ours) + "\n")
    return folder


@dataclass(frozen=True)
class Job:
    """A finished run, its exit status and what it said."""

    run: Run
    status: int

    def rows(self, name: str) -> list[dict[str, Any]]:
        return records(self.run.results / name)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("local")
    corpus = make_corpus(folder / "tiny", WHOLE_JOB)
    results = folder / "results" / "tiny"
    status = main(["run", str(corpus), "--results", str(results)])
    return Job(Run(corpus, results), status)


def test_it_ends_with_a_report_and_every_record_that_is_owed(job: Job) -> None:
    assert job.status == 0
    for agent in AGENTS:
        (answer,) = job.rows(f"answers/{agent}.jsonl")
        assert (answer["answer"] is None) != (answer["error"] is None)
    pooled = sorted({p for agent in AGENTS for p in job.rows(f"answers/{agent}.jsonl")[0]["passages"]})
    assert pooled and [row["subject"] for row in job.rows("relevance.jsonl")] == pooled
    pointwise = job.rows("pointwise.jsonl")
    owed = {
        (agent, criterion) for agent in AGENTS for criterion in (*JudgeSettings(model="local:m").criteria, "refusal")
    }
    assert {(row["subject"], row["criterion"]) for row in pointwise} == owed and len(pointwise) == len(owed) == 18
    games = job.rows("games.jsonl")
    assert len({(row["agent_a"], row["agent_b"], row["first"]) for row in games}) == len(games) == 6
    for row in job.rows("relevance.jsonl") + pointwise:
        assert (row["label"] is None) != (row["error"] is None)
    assert all((game["winner"] is None) != (game["error"] is None) for game in games)


def test_judgments_carry_the_probabilities_they_come_from(job: Job) -> None:
    """`mode = "auto"` asks a local model for one token; plain RAG and our own answer cannot fail to be judged."""
    judged = [row for row in job.rows("relevance.jsonl") + job.rows("pointwise.jsonl") if row["error"] is None]
    assert len(judged) >= 1 + 2 * 6
    for row in judged:
        assert 1 / 3 <= row["probability"] <= 1 and 0 <= row["expected"] <= 2
        assert row["label"] in (0, 1, 2) and abs(row["expected"] - row["label"]) <= 2 * (1 - row["probability"]) + 1e-9
    played = [g for g in job.rows("games.jsonl") if {g["agent_a"], g["agent_b"]} == {"bm25-rag", "ours"}]
    assert len(played) == 2
    for game in played:
        assert 0 < game["probability"] < 1
        assert game["winner"] == ("a" if game["probability"] > 0.5 else "b")


def test_no_grammar_was_refused(job: Job) -> None:
    errors = [
        row["error"] for name in ("rewrites", "relevance", "pointwise", "games") for row in job.rows(f"{name}.jsonl")
    ]
    errors += [job.rows(f"answers/{agent}.jsonl")[0]["error"] for agent in AGENTS]
    assert not [error for error in errors if error and ("grammar" in error or "status 400" in error)]
    assert job.rows("answers/bm25-rag.jsonl")[0]["error"] is None
    assert job.rows("answers/ours.jsonl")[0]["error"] is None


def test_the_report_says_beside_the_decision_that_this_judge_is_worthless(job: Job) -> None:
    text = " ".join(Page((job.run.results / "report.html").read_text()).text.split())
    told = f"{SMALLEST} judged: it is there to try the plumbing, and its judgments are worthless"
    assert told in text and text.index(told) < text.index("What next")


def test_a_second_run_calls_nothing_and_starts_no_model(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a model was started")

    monkeypatch.setattr("ragassay.models.local.model.start", refuse)
    command = ["run", str(job.run.corpus), "--results", str(job.run.results)]
    assert main(command) == job.status
    figures = (job.run.results / "results.json").read_bytes()
    for path in (job.run.results / "manifests").glob("*.json"):
        path.unlink()
    assert main(command) == job.status
    assert (job.run.results / "results.json").read_bytes() == figures


def test_tokens_are_counted_and_cost_nothing(job: Job) -> None:
    usage = {row["stage"]: row for row in job.run.figures["usage"]}
    assert set(usage) == {"questions", "retrieve", "answer", "judge"}
    for row in usage.values():
        assert row["input_tokens"] > 0 and row["output_tokens"] > 0 and row["cost_usd"] == 0


def test_the_questions_stage_alone(tmp_path: Path) -> None:
    """What it writes may all be rejected (status 6, in one sentence); the ledger accounts for each question."""
    corpus, results = make_corpus(tmp_path / "alone", QUESTIONS_ALONE), tmp_path / "results" / "alone"
    assert main(["ingest", str(corpus), "--results", str(results)]) == 0
    assert main(["questions", str(corpus), "--results", str(results)]) in (0, 1, 6)
    run = Run(corpus, results)
    check_ledger(run)
    (row,) = run.ledger
    assert row["asked"] == 1 and row["written"] + row["unwritten"] + row["failed"] == 1
    assert len(run.queries) == row["sampled"] <= 1


def test_llama_cpp_takes_the_grammar_of_every_reply_we_ask_for() -> None:
    schemas: list[type[BaseModel]] = [
        questions_schema(10),
        questions_schema(50),
        at_most(10, Needs, Need),
        at_most(10, NeedQuestions, NeedQuestion),
        evidence_schema(10),
        evidence_schema(10, golden_answers=True),
        quotes_schema(10, quotes=True, golden_answer=False),
        quotes_schema(10, quotes=True, golden_answer=True),
        quotes_schema(10, quotes=False, golden_answer=True),
        Rewritten,
        RelevanceReply,
        pointwise_schema(["relevance", "accuracy", "completeness", "precision"]),
        PairwiseReply,
    ]
    endpoint = Endpoint(SMALLEST, ModelSettings(context_tokens=512, threads=1, cache_ram_mib=0, max_tokens=1))
    try:
        for schema in schemas:
            body = endpoint.call(Request((Message("user", "Reply."),), schema=schema))
            assert body["choices"][0]["message"]["content"].startswith("{"), schema
    finally:
        endpoint.close()
