"""What a second run does and says: failures, prices, recorded replies, people's labels."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import records
from support.loopback.behaviours import Behaviour, status
from support.loopback.server import ScriptedServer
from support.small_corpus import answer_everything, make_corpus

from ragassay.cli import main


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")


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


def test_a_folder_of_before_the_values_is_compared_again_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        main(["run", str(corpus)])
        results = tmp_path / "results/mine"
        manifest = json.loads((results / "manifests/compare.json").read_text())
        written = (results / "values.jsonl").read_bytes()
        (results / "values.jsonl").unlink()
        del manifest["outputs"]["values.jsonl"]
        (results / "manifests/compare.json").write_text(json.dumps(manifest))
        assert main(["gate", str(results), "--baseline", str(results)]) == 2
        capsys.readouterr()
        main(["run", str(corpus)])
        said = capsys.readouterr().err
    assert "compare: running (its output values.jsonl is not there yet" in said
    assert [line for line in said.splitlines() if ": running" in line and "compare" not in line] == []
    assert (results / "values.jsonl").read_bytes() == written


def test_a_stage_alone_says_which_one_before_it_is_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        main(["run", str(corpus)])
        capsys.readouterr()
        assert main(["compare", str(corpus)]) == 0 and "not up to date" not in capsys.readouterr().err
        roles = "an apprentice who solders her first board, with much patience and little light"
        text = (corpus / "experiment.toml").read_text()
        (corpus / "experiment.toml").write_text(text.replace("[questions]", f'[questions]\nroles = ["{roles}"]'))
        assert main(["compare", str(corpus)]) == 0
        mend = f"`ragassay questions {corpus}` brings it up to date"
        assert 'note: questions is not up to date (questions.roles: [] is now ["an app' in (
            said := capsys.readouterr().err
        )
        assert mend in said and "compare: up to date" in said
        (corpus / "experiment.toml").write_text(text.replace("[questions]", f'[questions]\nroles = ["{roles}!"]'))
        main(["questions", str(corpus)])
        capsys.readouterr()
        (corpus / "experiment.toml").write_text(text.replace("[questions]", f'[questions]\nroles = ["{roles}?"]'))
        main(["compare", str(corpus)])
        assert 'little light!"] is now …' in (said := capsys.readouterr().err) and 'little light?"])' in said


def test_a_price_given_later_enters_the_figures_without_a_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        assert main(["run", str(corpus)]) == 0
        assert capsys.readouterr().err.count("the price of openai:m is not known") == 1
        n_calls = len(server.requests)
        with (corpus / "experiment.toml").open("a") as settings:
            settings.write("prices_usd_per_million = { input = 1.0, output = 2.0 }\nmax_tokens = 4000\n")
        text = (corpus / "experiment.toml").read_text().replace("max_tokens = 4000\n", "")
        (corpus / "experiment.toml").write_text(text)
        assert main(["run", str(corpus)]) == 0
        assert "is not known" not in capsys.readouterr().err
        assert len(server.requests) == n_calls
    usage = json.loads((tmp_path / "results/mine/results.json").read_text())["usage"]
    assert all(row["cost_usd"] > 0 for row in usage)


def test_recorded_replies_are_asked_anew_when_they_are_to_be_ignored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        assert main(["run", str(corpus)]) == 0
        n_calls = len(server.requests)
        shutil.move(tmp_path / "results/mine/replies", corpus / "replies")
        assert main(["run", str(corpus)]) == 0 and len(server.requests) == n_calls
        capsys.readouterr()
        assert main(["run", str(corpus), "--ignore-recorded"]) == 0
        assert "questions: running (--ignore-recorded)" in capsys.readouterr().err
        assert len(server.requests) == 2 * n_calls


@pytest.mark.parametrize("text", ["", "query-id\tcorpus-id\tscore\nnobody\tnothing\t1\n"])
def test_peoples_labels_that_fit_no_query_are_named_and_the_run_goes_on(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
):
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        (corpus / "qrels.tsv").write_text(text)
        assert main(["run", str(corpus)]) == 5
    results = json.loads((tmp_path / "results/mine/results.json").read_text())
    assert any("qrels.tsv labels no query of the test set" in notice for notice in results["notices"])
    assert (tmp_path / "results/mine/report.html").exists() and not results["retrieval_people"]


def test_what_a_kill_left_half_written_is_cleared(tmp_path: Path):
    corpus = make_corpus(tmp_path / "mine", "file:m")
    left = tmp_path / "results" / "mine" / "answers" / ".bm25-rag.jsonl.4711.part"
    left.parent.mkdir(parents=True)
    left.write_text('{"query_id"')
    main(["ingest", str(corpus), "--results", str(tmp_path / "results" / "mine")])
    assert not left.exists()


def test_a_key_that_a_later_stage_lacks_is_said_before_anything_is_paid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:m", server.base_url)
        toml = corpus / "experiment.toml"
        toml.write_text(toml.read_text().replace('[judge]\nmodel = "openai:m"', '[judge]\nmodel = "anthropic:j"'))
        assert main(["run", str(corpus), "--results", str(tmp_path / "results")]) == 2
        assert "ANTHROPIC_API_KEY" in capsys.readouterr().err
        assert not server.requests
