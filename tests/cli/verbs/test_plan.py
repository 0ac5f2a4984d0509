"""The plan: near what the recorded run took, exact where replies are at hand, and nothing asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.loopback.server import ScriptedServer
from support.places import ROOT
from support.small_corpus import answer_everything, contents, make_corpus

from benchmarks.tables.plan_accuracy import planned_and_recorded
from ragassay.cli import main


def test_the_plan_is_within_15_percent_of_what_the_recorded_run_took():
    planned, recorded = planned_and_recorded(ROOT / "corpora" / "avr-libc")
    assert set(planned) == set(recorded) == {"questions", "retrieve", "answer", "judge"}
    for stage, took in recorded.items():
        assert planned[stage] == pytest.approx(took, rel=0.15), stage


def rows(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, int]]:
    return {row["stage"]: row for row in json.loads(capsys.readouterr().out)}


def test_it_asks_nobody_changes_nothing_and_after_the_run_all_is_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-not-a-key")
    with ScriptedServer("openai", answer_everything) as server:
        corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o", server.base_url)
        assert main(["plan", str(corpus), "--json"]) == 0
        before = rows(capsys)
        assert not server.requests
        assert before["questions"]["from_cache"] == 0 and not before["questions"]["estimated"]
        assert before["judge"]["estimated"]

        assert main(["run", str(corpus)]) == 0
        n_calls = len(server.requests)
        files = contents(tmp_path / "results")
        capsys.readouterr()
        assert main(["plan", str(corpus), "--json"]) == 0
        after = rows(capsys)
        assert len(server.requests) == n_calls and contents(tmp_path / "results") == files
    assert all(row["calls"] == row["from_cache"] and row["cost_usd"] == 0 for row in after.values())
    assert sum(row["calls"] for row in after.values()) == n_calls


def test_hosted_models_are_priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    corpus = make_corpus(tmp_path / "mine", "openai:gpt-4o")
    assert main(["plan", str(corpus), "--json"]) == 0
    row = rows(capsys)["questions"]
    assert row["cost_usd"] == pytest.approx(row["input_tokens"] * 2.5e-6 + row["output_tokens"] * 10e-6), (
        "OpenAI's list"
    )
