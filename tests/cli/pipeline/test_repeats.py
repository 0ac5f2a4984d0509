"""answer.repeats: each built-in agent asks each query so often; with 1 nothing is other than it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import tiny_models
from support.json_lines import records
from support.loopback.behaviours import reply
from support.loopback.server import ScriptedServer
from support.schema_replies import reply_to
from support.small_corpus import edit, make_corpus

from ragassay.cli import main

pytestmark = pytest.mark.xdist_group("models")

MORE = """
[evaluate]
judges = ["umbrela", "no_answer", "nuggets", "citations", "golden_similarity", "hallucination"]
k = [1, 3]
[evaluate.settings.hallucination]
model = {cross!r}
"""


class Model:
    """Answers everything; an answer to a question is another one each time it is asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, number: int, body: dict[str, Any]):
        if body.get("response_format"):
            return reply(reply_to(body))
        self.asked += 1
        return reply(f"Answer {self.asked} says reset [1].")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A whole run with two answers to each query: the corpus, the results, and how often an answer was asked for."""
    folder = tmp_path_factory.mktemp("repeats")
    embedding = tiny_models.sentence_model(folder / "sentence")
    cross = tiny_models.cross_encoder(folder / "cross", ("contradiction", "entailment", "neutral"))
    model = Model()
    with pytest.MonkeyPatch.context() as patch, ScriptedServer("openai", model) as server:
        patch.setenv("OPENAI_API_KEY", "sk-test-key-000")
        patch.chdir(folder)
        corpus = make_corpus(folder / "mine", "openai:m", server.base_url, more=MORE.format(cross=cross))
        edit(corpus, "fusion_queries = 2", "fusion_queries = 2\nrepeats = 2")
        edit(corpus, "k = 3\n\n[answer]", f"k = 3\nembedding = {json.dumps(embedding)}\n\n[answer]")
        assert main(["run", str(corpus)]) == 0
        yield corpus, folder / "results" / "mine", model.asked


def test_every_query_is_asked_twice_and_the_second_answers_stand_apart(done) -> None:
    _, results, asked = done
    first, again = (records(results / kind / "bm25-rag.jsonl") for kind in ("answers", "answer-runs"))
    assert [row["query_id"] for row in first] == [row["query_id"] for row in again]
    assert {row["run"] for row in again} == {2} and "run" not in first[0]
    texts = {row["answer"] for kind in ("answers", "answer-runs") for row in records(results / kind / "bm25-rag.jsonl")}
    assert len(texts) == 2 * len(first) and asked % 2 == 0


def test_the_further_runs_are_judged_but_for_their_passages(done) -> None:
    _, results, _ = done
    first, again = (records(results / name) for name in ("judgments.jsonl", "judgment-runs.jsonl"))
    assert {row["criterion"] for row in first} - {row["criterion"] for row in again} == {"umbrela"}
    assert {row["subject"] for row in again} == {"bm25-rag", "bm25-rag-fusion"}
    owed = [row for row in first if row["criterion"] != "umbrela"]
    assert len(again) == len(owed)


def test_consistency_of_the_experiment_and_its_export(done, monkeypatch, capsys) -> None:
    import csv

    corpus, results, _ = done
    monkeypatch.chdir(corpus.parent)
    assert main(["consistency", str(corpus), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads((results / "consistency.json").read_text())
    assert set(found["agents"]) == {"bm25-rag", "bm25-rag-fusion"}
    assert {"rougeL", "bert_score", "query_answered", "hallucination", "nuggets_all"} <= set(
        found["agents"]["bm25-rag"]
    )
    # "Answer 1 says reset [1]." and "Answer 9 ...": 4 of 5 words, whatever the numbers are
    assert found["agents"]["bm25-rag"]["rouge1"]["mean"]["value"] == pytest.approx(0.8)
    out = corpus.parent / "out.csv"
    assert main(["export", str(corpus), "--format", "open-rag-eval", "--out", str(out)]) == 0
    rows = list(csv.DictReader(out.open(encoding="utf-8", newline="")))
    assert len(rows) == 2 * len(records(results / "queries.jsonl"))
    row = rows[0]
    for run in (1, 2):
        assert {"text", "citations"} == set(json.loads(row[f"run_{run}_generated_answer"])[0])
        grades = json.loads(row[f"run_{run}_retrieval_score_umbrela_scores"])
        assert float(row[f"run_{run}_retrieval_score_mean_umbrela_score"]) == pytest.approx(
            sum(grades.values()) / len(grades)
        )
        at = json.loads(row[f"run_{run}_retrieval_score_precision_metrics"])
        top = [grade >= 2 for grade in grades.values()]
        assert at["precision@"] == pytest.approx({"1": float(top[0]), "3": sum(top[:3]) / 3})
        assert json.loads(row[f"run_{run}_generation_score_no_answer_score"])["query_answered"] in {"yes", "no"}
        assert 0 <= float(row[f"run_{run}_generation_score_hallucination_score"]) <= 1
    assert json.loads(row["consistency_rouge_score"])["stats"]["mean"] == pytest.approx(0.8)
    labels = {(r["query_id"], r["subject"], r["criterion"]): r["label"] for r in records(results / "judgments.jsonl")}
    for row in rows:
        expected = labels[row["query_id"], row["agent"], "weighted_f1"]
        given = row["run_1_generation_score_citation_f1_score"]
        assert (float(given) if given else None) == expected
        said = json.loads(row["run_1_generation_score_no_answer_score"])["query_answered"]
        assert labels[row["query_id"], row["agent"], "query_answered"] == (said == "yes")


def test_a_second_time_nothing_is_to_be_done_and_a_plan_counts_both(done, monkeypatch, capsys) -> None:
    corpus, _, asked = done
    monkeypatch.chdir(corpus.parent)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-000")
    assert main(["run", str(corpus)]) == 0
    assert "running" not in capsys.readouterr().err
    assert main(["plan", str(corpus), "--json"]) == 0
    answers = next(row for row in json.loads(capsys.readouterr().out) if row["stage"] == "answer")
    assert (answers["calls"], answers["from_cache"]) == (asked, asked)


def test_with_one_answer_there_are_no_runs(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-000")
    with ScriptedServer("openai", Model()) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        for stage in ("ingest", "questions", "retrieve", "answer"):
            assert main([stage, str(corpus)]) == 0
    results = tmp_path / "results" / "mine"
    assert not (results / "answer-runs").exists()
    manifest = json.loads((results / "manifests" / "answer.json").read_text())
    assert "answer.repeats" not in manifest["settings"] and not [n for n in manifest["outputs"] if "runs" in n]
    assert main(["consistency", str(corpus)]) == 2
    assert "every agent answers once; set repeats = 3 under [answer]" in capsys.readouterr().err
    assert main(["export", str(corpus), "--format", "open-rag-eval", "--out", "x.csv"]) == 2
    assert "there are no judgments to export" in capsys.readouterr().err
