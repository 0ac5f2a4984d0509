"""The names of `ragassay`: what docs/from-python.md shows of files runs as it stands there; a run and its figures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from support.loopback.server import ScriptedServer
from support.made_up_results.workspace import make_workspace
from support.places import ROOT
from support.small_corpus import answer_everything, make_corpus, own_folder

import ragassay
from ragassay.cli import main
from ragassay.errors import InputError, MissingExtra

TEXTS = {
    "p1": "The header util/delay.h declares _delay_ms, which waits in a busy loop.",
    "p2": "The watchdog resets the chip when nobody feeds it in time.",
    "p3": "Timers count pulses of the clock, divided by a prescaler.",
}
ASKED = {"q1": "Which header declares _delay_ms?", "q2": "What resets the chip?", "q3": "What do timers count?"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    def lines(name, rows):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    lines("corpus.jsonl", [{"_id": id, "title": "", "text": text} for id, text in TEXTS.items()])
    queries = zip(ASKED.items(), "aab", strict=True)
    lines("queries.jsonl", [{"_id": id, "text": text, "metadata": {"section": s}} for (id, text), s in queries])
    places = list(zip(ASKED, TEXTS, strict=True))
    (tmp_path / "qrels.tsv").write_text("".join(f"{query} 0 {passage} 1\n" for query, passage in places))
    (tmp_path / "run.trec").write_text("".join(f"{query} Q0 {passage} 1 0.5 x\n" for query, passage in places[:2]))
    pairs = (("one", "two"), ("two", "three"), ("one", "three"))
    games = [(query, a, b, "b" if query == "q3" else "a") for query in ASKED for a, b in pairs]
    names = ("query_id", "agent_a", "agent_b", "winner")
    lines("games.jsonl", [{**dict(zip(names, game, strict=True)), "first": "a"} for game in games])
    labels = ["query_id,ana,model", *(f"q{n},{n % 3},{n % 3 if n else 1}" for n in range(12))]
    (tmp_path / "labels.csv").write_text("\n".join(labels))
    made = make_workspace(tmp_path / "made", 24, failures=False)
    for name in ("old", "new"):
        shutil.copytree(made.results, tmp_path / "results" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_the_page_shows_runs_and_says_what_the_verbs_say(folder, capsys):
    page = (ROOT / "docs" / "from-python.md").read_text().split("## On files")[1]
    found: dict[str, object] = {}
    exec(re.search(r"```python\n(.*?)```", page, re.S)[1], found)
    assert capsys.readouterr().out.count("| measure | mean") == 1
    scores, ratings = found["scores"], found["ratings"]
    assert [str(row[1]).split()[0] for row in scores.rows] == ["0.6667", "0.6667"]
    assert "lacks" in scores.notes[0]
    assert [row[0] for row in ratings.rows] == ["one", "two", "three"]
    assert 0 < found["agreement"].pairs[0].figures["kappa"].value < 1
    assert found["gate"].verdict == "not worse"
    assert [found["found"][query][0][0] for query in ASKED] == list(TEXTS)
    assert found["faults"].n == 3


def test_what_cannot_be_used_is_an_input_error(folder):
    with pytest.raises(ragassay.InputError, match="nowhere"):
        ragassay.score("nowhere.tsv", "run.trec")
    with pytest.raises(ragassay.InputError, match="no-measure"):
        ragassay.score("qrels.tsv", "run.trec", measures=["no-measure"])


def test_every_name_is_there_and_none_is_loaded_before_it_is_asked_for():
    for name in ragassay.__all__:
        assert getattr(ragassay, name) is not None
    assert set(ragassay.__all__) <= set(dir(ragassay))
    with pytest.raises(AttributeError, match="no attribute 'wrong'"):
        _ = ragassay.wrong
    code = "import sys, ragassay; print(*sorted(name for name in sys.modules if name.startswith('ragassay')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["ragassay"]


def test_what_a_verb_needs_is_loaded_when_it_is_called():
    code = "import sys; from ragassay import read_results, run, score; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    rooms = ("ragassay.calls", "ragassay.cli", "ragassay.models", "ragassay.retrieval", "ragassay.synth")
    assert "ragassay.functions.verbs" in loaded and not [name for name in loaded if name.startswith(rooms)]


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
