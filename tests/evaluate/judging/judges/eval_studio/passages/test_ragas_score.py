"""The Ragas score: the example that Ragas published, scipy's harmonic mean, and four parts that are asked once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hmean
from support.item_replies import items, verdicts
from support.verdict_bench import asked, judge_one

from ragassay.errors import InputError
from ragassay.evaluate.judging.catalog import experiment_evaluators
from ragassay.evaluate.judging.engine.evaluator import NO_VALUE, Criterion, Evaluator
from ragassay.evaluate.judging.engine.question import JudgeFailed
from ragassay.evaluate.judging.judges.eval_studio.passages import RagasScore, harmonic
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace

PARTS = "faithfulness,context_precision,context_recall"


class Relevancy(Evaluator):
    """Stands for the evaluator of this name: a number that the answer's text says."""

    name = "answer_relevancy"
    calls = 0.0

    @property
    def criteria(self):
        return (Criterion(self.name, -1.0, 1.0),)

    def steps(self, case):
        if case.text == "Evasive.":
            raise JudgeFailed(f"{NO_VALUE}the answer evades")
        return [self.assess(case, float(case.text))]


@pytest.fixture(autouse=True)
def relevancy(monkeypatch):
    parts = [Relevancy if kind.name == Relevancy.name else kind for kind in RagasScore.made_of]
    monkeypatch.setattr(RagasScore, "made_of", tuple(parts))


def half(text):
    """yes for the first of two items."""
    return verdicts(
        ["yes" if i == 0 else "no" for i, _ in enumerate([*items("claim", text), *items("sentence", text)])]
    )


REPLIES = {
    "claims": lambda text: {"claims": ["One.", "Two."]},
    "items": half,
    "reason,label": lambda text: {"reason": "So.", "label": "yes"},
}
TWO = "One thing. Another thing."


def test_the_harmonic_mean_of_its_parts_which_are_paid_for_once(bench, monkeypatch):
    """F 1/2, AR 0.8, CP 1, CR 1/2: 4 / (2 + 1.25 + 1 + 2) = 0.64."""
    rows = judge_one(bench, monkeypatch, f"ragas_score,{PARTS}", REPLIES, answer="0.8", expected=TWO)
    assert rows["ragas_score"].label == pytest.approx(0.64)
    assert rows["ragas_score"].details[0] == {name: rows[name].label for name in PARTS.split(",")} | {
        "answer_relevancy": 0.8
    }
    assert len(asked(bench)) == 4


@pytest.mark.parametrize("names", ["ragas_score", f"ragas_score,{PARTS}"])
def test_its_parts_are_asked_by_the_settings_of_their_names(bench, monkeypatch, names):
    """Asked as the evaluator is that judges beside it, so that nothing is asked twice; alone, the same is asked."""
    lines = ("[evaluate.settings.context_precision]", 'criteria = "Heed the tables."')
    rows = judge_one(bench, monkeypatch, names, REPLIES, *lines, answer="0.8", expected=TWO)
    heeding = [request for request in bench.server.requests if "Heed the tables." in str(request.body["messages"])]
    assert rows["ragas_score"].label == pytest.approx(0.64)
    assert (len(heeding), len(bench.server.requests)) == (1, 4)


def test_settings_of_what_is_no_part_are_refused(bench):
    bench.config("[evaluate]", 'judges = ["ragas_score"]', "[evaluate.settings.groundedness]", 'criteria = "x"')
    with pytest.raises(InputError, match="is of a judge that is not in"):
        experiment_evaluators(Workspace(bench.folder, bench.folder, load_experiment(bench.folder / "experiment.toml")))


@pytest.mark.parametrize("answer", ["0", "-0.2"])
def test_a_part_that_is_0_makes_it_0(bench, monkeypatch, answer):
    assert judge_one(bench, monkeypatch, "ragas_score", REPLIES, answer=answer)["ragas_score"].label == 0


def test_a_missing_part_leaves_it_missing(bench, monkeypatch):
    row = judge_one(bench, monkeypatch, "ragas_score", REPLIES, answer="Evasive.")["ragas_score"]
    assert (row.label, row.error) == (None, "1 of 4 parts could not be judged: no value: the answer evades")


def test_the_published_example():
    """Ragas' README of 2023: context precision 0.817, faithfulness 0.892 and answer relevancy 0.874 make 0.860."""
    assert harmonic([0.817, 0.892, 0.874]) == pytest.approx(0.860, abs=5e-4)


@given(st.lists(st.floats(0.001, 1), min_size=4, max_size=4))
def test_it_is_scipys(values):
    assert harmonic(values) == pytest.approx(hmean(values))
