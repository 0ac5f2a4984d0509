"""`ragassay.run` and `ragassay.read_results`: the whole job, and its figures as one long table."""

from __future__ import annotations

import json
import sys

import pandas as pd
import pytest
from support.loopback.server import ScriptedServer
from support.made_up_results.workspace import make_workspace
from support.small_corpus import answer_everything, make_corpus, own_folder

import ragassay
from ragassay.cli import main
from ragassay.errors import InputError, MissingExtra


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return make_workspace(tmp_path_factory.mktemp("made"), 12, hostile=False).results


def test_the_long_table_has_every_figure_of_results_json(finished):
    told = json.loads((finished / "results.json").read_text())
    found = ragassay.read_results(finished)
    frame = found.to_pandas()
    assert list(frame) == ["group", "agent", "measure", "value", "n", "n_failed", "ci_low", "ci_high"]
    for group in ("retrieval", "pointwise", "evaluations", "answers"):
        rows = frame[frame["group"] == group]
        assert len(rows) == sum(len(row) for row in told[group].values())
        for row in rows.to_dict("records"):
            figure = told[group][row["agent"]][row["measure"]]
            assert {name: None if pd.isna(row[name]) else row[name] for name in figure} == figure
    for name in ("elo", "bradley_terry"):
        ratings = {one.agent: one.value for one in found.figures if one.measure == name}
        assert ratings == {agent: figure["value"] for agent, figure in told[name].items()}
    assert told["elo"] != told["bradley_terry"]
    assert found.verdict == told["verdict"]["sentence"] and list(found.agents) == told["agents"]


def test_printed_it_is_the_decision_and_a_line_an_agent(finished):
    found = ragassay.read_results(finished)
    lines = repr(found).splitlines()
    assert len(lines) < 60 and max(map(len, lines)) <= 100
    assert " ".join(found.verdict.split()) in " ".join(" ".join(lines).split())
    assert all(any(line.startswith(agent[:20]) for line in lines) for agent in found.agents)


def test_a_figure_stands_once(finished):
    frame = ragassay.read_results(finished).to_pandas()
    assert not frame.duplicated(["group", "agent", "measure"]).any() and set(frame["n_failed"]) - {0}


def test_without_pandas_the_extra_is_named_and_the_figures_are_there(finished, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = ragassay.read_results(finished)
    assert found.figures
    with pytest.raises(MissingExtra, match=r'pip install "ragassay\[pandas\]"'):
        found.to_pandas()


def test_a_folder_without_figures_is_said(tmp_path):
    with pytest.raises(InputError, match=r"results.json: there are no figures yet; run `ragassay compare` first"):
        ragassay.read_results(tmp_path)


def test_the_whole_job_as_the_command_line_does_it(tmp_path, monkeypatch, capsys):
    corpus = own_folder(tmp_path, monkeypatch)
    with ScriptedServer("openai", answer_everything) as server:
        make_corpus(corpus, "openai:gpt-4o", server.base_url)
        found = ragassay.run("mine", max_cost=5)
        printed = capsys.readouterr()
        asked = len(server.requests)
        assert main(["run", "mine", "--results", "by-cli", "--max-cost", "5"]) == found.exit_status
        again = ragassay.run(corpus, results=tmp_path / "results" / "mine")
    assert printed.out == "" and "report: running" in printed.err
    assert asked and set(found.agents) == {"bm25-rag", "bm25-rag-fusion"} and found.report.exists()
    assert again.results == found.results
    by_cli = ragassay.read_results("by-cli").results
    assert (by_cli.pointwise, by_cli.wins, by_cli.n_queries) == (found.results.pointwise, found.results.wins, 4)


def test_what_the_run_cannot_use_is_said(tmp_path):
    with pytest.raises(InputError, match=r"there is no such folder; `ragassay new CORPUS a\.pdf` makes"):
        ragassay.run(tmp_path / "nowhere")
    with pytest.raises(InputError, match="the name of a folder is empty"):
        ragassay.run("")
