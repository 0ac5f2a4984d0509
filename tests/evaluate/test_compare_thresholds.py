"""`compare` with evaluators: direction, shares, problems and insights in results.json; nothing of them without."""

from __future__ import annotations

import sys

import pytest
from support.results_folder import answer, assessment, two_systems

from ragassay.evaluate.compare import compare
from ragassay.evaluate.report.page import report
from ragassay.files import read_json
from ragassay.records import Query

TOML = """
[evaluate]
judges = ["own:Toxicity"]
{more}
[evaluate.thresholds]
toxicity = 0.3
"""
OWN = """
from ragassay.evaluate.judging.engine.evaluator import Criterion, Evaluator

class Toxicity(Evaluator):
    name = "toxicity"
    asks = "nothing"
    tags = ("safe",)

    @property
    def criteria(self):
        return (Criterion("toxicity", lower_is_better=True),)

    def steps(self, case):
        return []
"""
QUERIES = [Query(_id=f"q{i}", text=f"What is {i}?") for i in range(8)]


@pytest.fixture(autouse=True)
def forget_own_code(monkeypatch):
    """The judge's module is another file in each test."""
    monkeypatch.delitem(sys.modules, "own", raising=False)
    yield
    sys.modules.pop("own", None)


def compared(tmp_path, more="", n=8):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "own.py").write_text(OWN)
    rows = [assessment(q.id, "clean", "toxicity", 0.01 * i) for i, q in enumerate(QUERIES[:n])]
    rows += [assessment(q.id, "rude", "toxicity", 0.9 - 0.01 * (i % 3)) for i, q in enumerate(QUERIES[:n])]
    said = {"clean": "So it is.", "rude": "!"}
    answers = [answer(q.id, agent, text, "p1") for q in QUERIES for agent, text in said.items()]
    more = TOML.format(more=more)
    workspace = two_systems(tmp_path, "clean", "rude", more, queries=QUERIES, answers=answers, judgments=rows)
    compare(workspace)
    report(workspace)
    return read_json(workspace.figures), workspace.report.read_text(encoding="utf-8")


def test_little_is_good_everywhere(tmp_path):
    found, page = compared(tmp_path)
    assert found["lower_is_better"] == ["toxicity"] and found["thresholds"] == {"toxicity": 0.3}
    row = next(one for one in found["comparisons"] if one["measure"] == "toxicity")
    winner = row["agent_a"] if row["verdict"] == "better" else row["agent_b"]
    assert winner == "clean" and "(lower is better)" in row["sentence"]
    assert found["threshold_shares"]["clean"]["toxicity"]["passed"]["value"] == 1.0
    assert found["threshold_shares"]["rude"]["toxicity"]["failed"]["value"] == 1.0
    kinds = {(one["kind"], one["agent"]): one for one in found["problems"]}
    assert set(kinds) == {("beyond_threshold", "rude"), ("too_short", "rude")}
    assert kinds["beyond_threshold", "rude"]["sure"] is True
    told = {one["kind"]: one for one in found["insights"]}
    assert (told["best"]["subject"], told["worst"]["subject"], told["best"]["told_apart"]) == ("clean", "rude", True)
    assert told["hardest_question"]["subject"] in {"q6", "q7"} and told["hardest_question"]["figure"]["n"] == 2
    assert found["evaluator_tags"]["safe"] == ["toxicity"] and found["evaluator_families"] == {"toxicity": "own"}
    assert "Leaderboards" in page and "own: 1 criterion" in page
    assert "lower is better" in page and "Problems and insights" in page and "≤ 0.3" in page


def test_of_the_first_rows_alone_nothing_else_is_missing(tmp_path):
    found, _ = compared(tmp_path, "max_rows = 8", n=4)
    figure = found["evaluations"]["clean"]["toxicity"]
    assert (figure["n"], figure["n_failed"]) == (4, 0)
