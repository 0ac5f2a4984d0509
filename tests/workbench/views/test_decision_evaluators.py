"""The decision's page on what evaluators gave: each can be chosen, by family, also where its scale has no end."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from support.results_folder import TWO_SYSTEMS, answer, assessment, results_folder
from support.workbench import browsing

from ragassay.evaluate.compare import compare
from ragassay.evaluate.report.page import read_results
from ragassay.experiment.workspace import Workspace
from ragassay.records import Passage, Query

TOML = TWO_SYSTEMS.format(
    one="clean",
    other="rude",
    more="""
[evaluate]
judges = ["endless:Surprise", "looping"]
""",
)
OWN = """
from math import inf
from ragassay.evaluate.judging.engine.evaluator import Criterion, Evaluator

class Surprise(Evaluator):
    name = "surprise"
    asks = "nothing"

    @property
    def criteria(self):
        return (Criterion("surprise", lowest=1.0, highest=inf, lower_is_better=True),)

    def steps(self, case):
        return []
"""
QUERIES = [Query(_id=f"q{i}", text=f"What is {i}?") for i in range(24)]
LOOPING = ("unique_sentences", "longest_repeated_substring", "compression_ratio")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delitem(sys.modules, "endless", raising=False)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "endless.py").write_text(OWN)
    rows = [assessment(q.id, "clean", "surprise", 10.0 + i) for i, q in enumerate(QUERIES)]
    rows += [assessment(q.id, "rude", "surprise", 15.0 + 2 * i if i else None) for i, q in enumerate(QUERIES)]
    rows += [assessment(q.id, a, name, 0.5) for q in QUERIES for a in ("clean", "rude") for name in LOOPING]
    made = results_folder(
        tmp_path,
        TOML,
        queries=QUERIES,
        passages=[Passage(_id="p1", text="…")],
        answers=[answer(q.id, a, "So it is.", "p1") for q in QUERIES for a in ("clean", "rude")],
        relevance=[],
        pointwise=[],
        games=[],
        judgments=rows,
    )
    compare(made)
    return made


def test_every_measure_of_the_evaluators_can_be_chosen_by_family(workspace: Workspace):
    with browsing(workspace) as client:
        page = client.get("/results/decision").text
        menu = page[page.index('<select name="measure">') :].split("</select>")[0]
        groups = {
            name: re.findall(r'value="([^"]+)"', part)
            for name, part in re.findall(r'<optgroup label="([^"]+)">(.*?)</optgroup>', menu, re.S)
        }
        assert groups["own"] == ["surprise"] and groups["eval-studio-form"] == list(LOOPING)
        assert "surprise" not in groups["retrieval, answers and games"]
        for name in ("surprise", *LOOPING):
            part = client.get(f"/results/decision?measure={name}", headers={"hx-request": "true"}).text
            assert f"<b>{name.replace('_', ' ')}</b>" in part


def test_a_scale_without_an_end_is_shaded_over_the_values_there_are(workspace: Workspace):
    with browsing(workspace) as client:
        part = client.get("/results/decision?measure=surprise", headers={"hx-request": "true"}).text
    figure = read_results(workspace.figures).evaluations["rude"]["surprise"]
    assert f"{figure.value:.3f}" in part and f"[{figure.ci_low:.3f}, {figure.ci_high:.3f}]" in part
    assert "1 failed" in part and ">inf<" not in part and ">61.000<" in part
    heat = part[part.index('class="heatmap"') :]
    assert {"h0", "h7", "hx"} <= set(re.findall(r'class="(h\w)"', heat.split("</svg>")[0]))
