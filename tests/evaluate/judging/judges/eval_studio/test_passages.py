"""Retrieved passages: by hand, Ragas' documented examples, scikit-learn's precision and scipy's harmonic mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hmean
from sklearn.metrics import average_precision_score
from support.item_replies import between, items, verdicts
from support.loopback.behaviours import refusal
from support.verdict_bench import asked, judge_one, yes_where

from ragassay.errors import InputError
from ragassay.evaluate.judging.catalog import experiment_evaluators
from ragassay.evaluate.judging.engine.evaluator import NO_VALUE, Criterion, Evaluator
from ragassay.evaluate.judging.engine.question import JudgeFailed
from ragassay.evaluate.judging.judges.eval_studio.passages import RagasScore, average_precision, harmonic
from ragassay.experiment.reading import load_experiment
from ragassay.experiment.workspace import Workspace

pytestmark = pytest.mark.xdist_group("models")

PASSAGES = ("East lies here. Steep lies here.", "North lies here.", "East lies here.")  # 0.6, 1 and 0 to "north"


def test_recall_is_the_highest_and_precision_the_mean_relevancy(embedding) -> None:
    recall, precision = embedding.judge("context_relevancy_soft", passages=PASSAGES)
    assert recall.criterion == "soft_recall" and recall.label == pytest.approx(1.0)
    assert precision.criterion == "soft_precision" and precision.label == pytest.approx((0.6 + 1 + 0) / 3)
    assert [(d["passage"], pytest.approx(d["score"])) for d in recall.details] == [("p1", 0.6), ("p2", 1), ("p3", 0)]


def test_a_passage_of_short_sentences_is_taken_with_them(embedding) -> None:
    recall, _ = embedding.judge("context_relevancy_soft", passages=("North.",))
    assert recall.label == pytest.approx(1.0)


@pytest.mark.parametrize(("settings", "label"), [({}, 1 / 2), ({"relevant_from": 0.55}, 1.0), ({"depth": 1}, 0.0)])
def test_the_first_passage_with_a_near_sentence(embedding, settings, label) -> None:
    (row,) = embedding.judge("context_mrr", passages=PASSAGES, **settings)
    assert row.label == row.score == pytest.approx(label)


def test_the_eleventh_passage_comes_too_late(embedding) -> None:
    passages = (*(f"East lies {number}." for number in range(10)), "North lies here.")
    (row,) = embedding.judge("context_mrr", passages=passages)
    assert row.label == 0.0 and row.error is None and row.details == ()
    (row,) = embedding.judge("context_mrr", passages=passages, depth=11)
    assert row.label == pytest.approx(1 / 11)
    assert row.details == ({"passage": "p11", "rank": 11, "score": pytest.approx(1.0)},)


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"passages": ()}, "the agent retrieved no passage"),
        ({"passages": ("North lies here.", "--")}, "passage 'p2' holds no words"),
        ({"question": "?"}, "the question holds no words"),
        ({"question": "why"}, "gives no vector for 'why'"),
    ],
)
def test_what_cannot_be_compared_has_no_value(embedding, parts, error) -> None:
    for row in embedding.judge("context_relevancy_soft,context_mrr", **parts):
        assert row.label is None and row.error.startswith("no value: ") and row.error.endswith(error)


FRANCE = "France is in Western Europe. Its capital is Paris."
TOWER, GATE = "The Eiffel Tower is in Paris.", "The Brandenburg Gate is in Berlin."


def useful(*texts):
    return lambda text: {"reason": "So.", "label": "yes" if between("passage", text) in texts else "no"}


@pytest.mark.parametrize(("passages", "value"), [((TOWER, GATE), 1.0), ((GATE, TOWER), 0.5), ((GATE, GATE + "!"), 0.0)])
def test_precision_of_the_documented_example(bench, monkeypatch, passages, value):
    """docs.ragas.io, "Context Precision": the useful chunk first is 1 (0.9999…), behind a useless one 0.5."""
    row = judge_one(bench, monkeypatch, "context_precision", {"reason,label": useful(TOWER)}, passages=passages)
    assert row["context_precision"].label == value
    assert [d["passage"] for d in row["context_precision"].details] == ["p1", "p2"]


def test_a_passage_that_cannot_be_judged_fails_the_answer(bench, monkeypatch):
    replies = {"reason,label": lambda text: refusal() if GATE in text else useful(TOWER)(text)}
    row = judge_one(bench, monkeypatch, "context_precision", replies, passages=(TOWER, GATE))["context_precision"]
    assert row.label is None and row.error.startswith("1 of 2 passages could not be judged: the model refused")


@given(st.lists(st.booleans(), min_size=1, max_size=20).filter(any))
def test_precision_is_scikit_learns_average_precision(flags):
    assert average_precision(flags) == pytest.approx(average_precision_score(flags, [-i for i in range(len(flags))]))


def test_recall_of_the_documented_example(bench, monkeypatch):
    """docs.ragas.io, "Context Recall": the first sentence can be attributed to the context, the second cannot."""
    replies = {"items": yes_where("sentence", "France is in Western Europe.")}
    row = judge_one(bench, monkeypatch, "context_recall", replies, expected=FRANCE)["context_recall"]
    assert row.label == 0.5 and [d["label"] for d in row.details] == ["yes", "no"]


def test_relevancy_counts_the_sentences_of_all_passages(bench, monkeypatch):
    """Two of five sentences; each passage is asked about by itself, whoever retrieved it."""
    passages = ("One. Two. Three.", "Four. Five.")
    replies = {"items": yes_where("sentence", "Two.", "Five.")}
    row = judge_one(bench, monkeypatch, "context_relevancy", replies, passages=passages)["context_relevancy"]
    assert row.label == pytest.approx(2 / 5)
    assert sorted(len(items("sentence", text)) for text in asked(bench)) == [2, 3]


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


MISSING = "1 of 4 parts could not be judged: no value: the answer evades"


@pytest.mark.parametrize(("answer", "label", "error"), [("0", 0, None), ("-0.2", 0, None), ("Evasive.", None, MISSING)])
def test_a_part_that_is_0_makes_it_0_and_a_missing_one_leaves_it_missing(bench, monkeypatch, answer, label, error):
    row = judge_one(bench, monkeypatch, "ragas_score", REPLIES, answer=answer)["ragas_score"]
    assert (row.label, row.error) == (label, error)


def test_the_published_example():
    """Ragas' README of 2023: context precision 0.817, faithfulness 0.892 and answer relevancy 0.874 make 0.860."""
    assert harmonic([0.817, 0.892, 0.874]) == pytest.approx(0.860, abs=5e-4)


@given(st.lists(st.floats(0.001, 1), min_size=4, max_size=4))
def test_it_is_scipys(values):
    assert harmonic(values) == pytest.approx(hmean(values))
