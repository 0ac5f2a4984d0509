"""Verdicts on differences that people's labels correct: in results.json, on the page and in the terminal."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import cohen_kappa_score
from support.made_up_results.page import Page
from support.made_up_results.workspace import make_workspace

from ragassay.evaluate.compare import compare
from ragassay.evaluate.inputs.labels import read_labels
from ragassay.evaluate.report.page import read_results, report
from ragassay.evaluate.report.tables import corrected_verdicts
from ragassay.evaluate.report.terminal import ranked_table
from ragassay.evaluate.results import NOT_DISTINGUISHABLE, CorrectedFigure, Results
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Judgment


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Sixty queries, and a person's label on every answer's accuracy: one agent's are all 2, another's all 0."""
    made = make_workspace(tmp_path_factory.mktemp("run"), 60, failures=False)
    rows = [row for row in read_records(made.pointwise, Judgment) if row.criterion == "accuracy"]
    best, worst = sorted({row.subject for row in rows})[:2]
    always = {best: 2.0, worst: 0.0}
    said = [f"ann,,{r.query_id},{r.subject},accuracy,{always.get(r.subject, r.label):g}\n" for r in rows]
    made.own_labels.write_text("who,when,query,subject,criterion,label\n" + "".join(said), encoding="utf-8")
    compare(made)
    report(made)
    return made


def _differences(results: Results) -> list[CorrectedFigure]:
    assert results.corrected is not None
    return [figure for figure in results.corrected.figures if figure.other is not None]


def test_verdicts_are_by_holm_over_the_pairs(workspace: Workspace) -> None:
    found = _differences(read_results(workspace.figures))
    ordered = sorted(found, key=lambda figure: figure.p or 0.0)
    largest = 0.0
    for place, figure in enumerate(ordered):
        assert figure.p is not None and figure.p_holm is not None
        largest = max(largest, min(1.0, (len(found) - place) * figure.p))  # Holm 1979
        assert figure.p_holm == pytest.approx(largest, rel=1e-5)
        sign = (figure.corrected.value or 0.0) > 0
        assert figure.verdict == (("better" if sign else "worse") if largest <= 0.05 else NOT_DISTINGUISHABLE)
    decided = {figure.verdict for figure in found}
    assert NOT_DISTINGUISHABLE in decided and decided & {"better", "worse"}


def test_means_and_what_could_not_be_corrected_have_no_verdict(workspace: Workspace) -> None:
    results = read_results(workspace.figures)
    assert results.corrected is not None
    for figure in results.corrected.figures:
        if figure.other is None:
            assert (figure.p, figure.p_holm, figure.verdict) == (None, None, None)


def test_the_sheet_the_table_and_the_terminal_say_so(workspace: Workspace) -> None:
    results = read_results(workspace.figures)
    ((measure, said),) = corrected_verdicts(results)
    found = _differences(results)
    level = sum(figure.verdict == NOT_DISTINGUISHABLE for figure in found)
    assert (measure == "accuracy" and f"{level} of {len(found)}" in said) or f"{level} not" in said
    page = workspace.report.read_text(encoding="utf-8")
    assert said in Page(page).text and "over all pairs of a measure (Holm)" in page
    stream = io.StringIO()
    Console(file=stream, width=200).print(ranked_table(results))
    assert f"corrected by people, accuracy: {said}" in stream.getvalue()


def test_few_pairs_are_named_with_the_better_agent_first(workspace: Workspace) -> None:
    results = read_results(workspace.figures)
    assert results.corrected is not None
    one = _differences(results)[0].model_copy(update={"agent": "a", "other": "b", "verdict": "worse"})
    level = one.model_copy(update={"verdict": NOT_DISTINGUISHABLE})
    pair = results.corrected.model_copy(update={"figures": (one, level)})
    said = corrected_verdicts(results.model_copy(update={"corrected": pair}))
    assert said == [("accuracy", "b better than a; 1 of 2 pairs not distinguishable")]
    alone = results.corrected.model_copy(update={"figures": (one,)})
    assert corrected_verdicts(results.model_copy(update={"corrected": alone})) == [("accuracy", "b better than a")]
    assert corrected_verdicts(results.model_copy(update={"corrected": None})) == []


def test_judge_and_people_agree_as_scikit_learn_and_scipy_say(workspace: Workspace) -> None:
    results = read_results(workspace.figures)
    assert results.corrected is not None
    (found,) = results.corrected.agreement
    judged = {
        (row.query_id, row.subject): row.label
        for row in read_records(workspace.pointwise, Judgment)
        if row.criterion == "accuracy"
    }
    said = {label.key[:2]: label.label for label in read_labels(workspace.own_labels)}
    keys = sorted(said)
    people, judge = [said[key] for key in keys], [judged[key] for key in keys]
    assert (found.criterion, found.n_pairs, found.n_missing) == ("accuracy", len(keys), 0)
    figures = {name: figure.value for name, figure in found.figures.items()}
    assert figures["kappa(quadratic)"] == pytest.approx(cohen_kappa_score(people, judge, weights="quadratic"))
    assert figures["tau_b"] == pytest.approx(kendalltau(people, judge).statistic)
    assert found.n_clusters < found.n_pairs and figures["rho"] == pytest.approx(spearmanr(people, judge).statistic)
    # of 999 permutations of whole sections none comes near
    assert found.p["tau_b"] == found.p["rho"] == 0.001
    gaps = np.subtract(judge, people)
    assert figures["bias"] == pytest.approx(gaps.mean())
    assert figures["limit_high"] == pytest.approx(gaps.mean() + 1.96 * gaps.std(ddof=1))
    for figure in found.figures.values():
        assert figure.value is None or figure.ci_low is None or figure.ci_low <= figure.value <= (figure.ci_high or 9)


def test_page_and_terminal_say_how_judge_and_people_agree(workspace: Workspace) -> None:
    page = workspace.report.read_text(encoding="utf-8")
    assert 'id="agreement"' in page and "Krippendorff" in page and "judge − people" in page
    stream = io.StringIO()
    Console(file=stream, width=200).print(ranked_table(read_results(workspace.figures)))
    assert "judge and people, accuracy: kappa (quadratic)" in stream.getvalue()
