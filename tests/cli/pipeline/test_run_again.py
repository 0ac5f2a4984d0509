"""What a second run does and says: failures, prices, recorded replies, people's labels."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records
from support.loopback.behaviours import Behaviour, reply, status
from support.loopback.server import ScriptedServer
from support.schema_replies import reply_to
from support.small_corpus import answer_everything, edit, make_corpus
from support.small_run import SmallRun

from ragassay.cli import main


def test_what_failed_is_said_again_and_retried_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    failing = [True]

    def script(number: int, body: dict[str, Any]) -> Behaviour:
        wrong = failing[0] and "response_format" not in body
        return status(400) if wrong else answer_everything(number, body)

    with ScriptedServer("openai", script) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url, retries=0)
        main(["run", str(corpus)])
        failing[0] = False
        capsys.readouterr()
        main(["run", str(corpus)])
        assert "answer: up to date (8 failed; --retry-failed tries them again)" in capsys.readouterr().err
        main(["run", str(corpus), "--retry-failed"])
        assert "answer: running (8 failed last time)" in capsys.readouterr().err
    answers = records(tmp_path / "results/mine/answers/bm25-rag.jsonl")
    assert all(answer["error"] is None for answer in answers)


def test_the_limit_is_of_all_stages_together_of_this_run_and_of_those_before(tmp_path: Path):
    """Above what each stage costs and below what all do, it stops the last that pays, and so does the next run."""

    def script(number: int, body: dict[str, Any]) -> Behaviour:
        return reply(reply_to(body), input_tokens=5000)

    with ScriptedServer("openai", script) as server:
        corpora = [make_corpus(tmp_path / name, "openai:m", server.base_url) for name in ("whole", "limited")]
        for corpus in corpora:
            edit(corpus, "timeout_s = 20.0", "prices_usd_per_million = { input = 10.0, output = 0.0 }")
            edit(corpus, "max_concurrency = 8", "max_concurrency = 1")
        assert main(["run", str(corpora[0])]) == 0
        usage = json.loads((tmp_path / "results/whole/results.json").read_text())["usage"]
        cost = {row["stage"]: row["cost_usd"] for row in usage}
        before, limit = len(server.requests), (max(cost.values()) + sum(cost.values())) / 2
        assert main(["run", str(corpora[1]), "--max-cost", str(limit)]) == 4
        paid = len(server.requests) - before
        assert max(cost.values()) < paid * 0.05 <= limit
        assert main(["run", str(corpora[1]), "--max-cost", str(limit)]) == 4
        assert len(server.requests) - before == paid


def test_a_folder_of_before_the_values_is_compared_again_and_nothing_else(finished: SmallRun, capsys):
    results = finished.results
    manifest = json.loads((results / "manifests/compare.json").read_text())
    written = (results / "values.jsonl").read_bytes()
    (results / "values.jsonl").unlink()
    del manifest["outputs"]["values.jsonl"]
    (results / "manifests/compare.json").write_text(json.dumps(manifest))
    assert main(["gate", str(results), "--baseline", str(results)]) == 2
    capsys.readouterr()
    main(["run", "mine"])
    said = capsys.readouterr().err
    assert "compare: running (its output values.jsonl is not there yet" in said
    assert [line for line in said.splitlines() if ": running" in line and "compare" not in line] == []
    assert (results / "values.jsonl").read_bytes() == written


def test_a_document_that_is_gone_makes_its_stage_run_again(finished: SmallRun, capsys: pytest.CaptureFixture[str]):
    (finished.corpus / "errata.pdf").unlink()
    assert main(["ingest", "mine"]) == 0
    assert "ingest: running (errata.pdf is gone)" in capsys.readouterr().err


def test_a_stage_alone_says_which_one_before_it_is_stale(finished: SmallRun, capsys: pytest.CaptureFixture[str]):
    assert main(["compare", "mine"]) == 0 and "not up to date" not in capsys.readouterr().err
    roles = "an apprentice who solders her first board, with much patience and little light"
    finished.set("[questions]", f'[questions]\nroles = ["{roles}"]')
    assert main(["compare", "mine"]) == 0
    said = capsys.readouterr().err
    assert 'note: questions is not up to date (questions.roles: [] is now ["an app' in said
    assert "`ragassay questions mine` brings it up to date" in said and "compare: up to date" in said
    finished.set(roles, f"{roles}!")
    main(["questions", "mine"])
    capsys.readouterr()
    finished.set(f"{roles}!", f"{roles}?")
    main(["compare", "mine"])
    said = capsys.readouterr().err
    assert 'little light!"] is now …' in said and 'little light?"])' in said


def test_a_price_given_later_enters_the_figures_without_a_call(finished: SmallRun, capsys: pytest.CaptureFixture[str]):
    with (finished.corpus / "experiment.toml").open("a") as settings:
        settings.write("prices_usd_per_million = { input = 1.0, output = 2.0 }\n")
    assert main(["run", "mine"]) == 0
    assert "is not known" not in capsys.readouterr().err
    assert finished.asked() == 0
    usage = json.loads((finished.results / "results.json").read_text())["usage"]
    assert all(row["cost_usd"] > 0 for row in usage)


def test_recorded_replies_are_asked_anew_when_they_are_to_be_ignored(finished: SmallRun, capsys):
    n_replies = sum(len(path.read_text().splitlines()) for path in (finished.results / "replies").iterdir())
    shutil.move(finished.results / "replies", finished.corpus / "replies")
    assert main(["run", "mine"]) == 0 and finished.asked() == 0
    capsys.readouterr()
    assert main(["run", "mine", "--ignore-recorded"]) == 0
    assert "questions: running (--ignore-recorded)" in capsys.readouterr().err
    assert finished.asked() == n_replies


@pytest.mark.parametrize("text", ["", "query-id\tcorpus-id\tscore\nnobody\tnothing\t1\n"])
def test_peoples_labels_that_fit_no_query_are_named_and_the_run_goes_on(finished: SmallRun, text: str):
    (finished.corpus / "qrels.tsv").write_text(text)
    assert main(["run", "mine"]) == 5
    results = json.loads((finished.results / "results.json").read_text())
    assert any("qrels.tsv labels no query of the test set" in notice for notice in results["notices"])
    assert (finished.results / "report.html").exists() and not results["retrieval_people"]


def test_what_a_kill_left_half_written_is_cleared(tmp_path: Path):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    left = tmp_path / "results" / "mine" / "answers" / ".bm25-rag.jsonl.4711.part"
    left.parent.mkdir(parents=True)
    left.write_text('{"query_id"')
    main(["ingest", str(corpus), "--results", str(tmp_path / "results" / "mine")])
    assert not left.exists()
