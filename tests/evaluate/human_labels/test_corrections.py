"""What people's labels correct: items of answers and games; verdicts in the results, on page and terminal."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sklearn.metrics import cohen_kappa_score
from support.made_up_results.page import Page
from support.made_up_results.workspace import make_workspace
from support.results_folder import findings

from ragassay.evaluate.compare import compare
from ragassay.evaluate.human_labels.corrections import (
    Labels,
    answer_items,
    game_items,
    ranking_items,
    sample_of,
    weighted,
)
from ragassay.evaluate.human_labels.frame import draw, games
from ragassay.evaluate.inputs.clusters import ALONE
from ragassay.evaluate.inputs.labels import GAME, read_labels
from ragassay.evaluate.judging.judges.relevance import CRITERION
from ragassay.evaluate.ratings.verdicts import Verdict
from ragassay.evaluate.ratings.win_table import win_rates_by_query
from ragassay.evaluate.report.page import read_results, report
from ragassay.evaluate.report.tables import corrected_verdicts
from ragassay.evaluate.report.terminal import RankedTable
from ragassay.evaluate.results import NOT_DISTINGUISHABLE, CorrectedFigure, Results
from ragassay.evaluate.statistics.ppi import posterior, ppi_difference, ppi_mean
from ragassay.experiment.workspace import Workspace
from ragassay.files import read_records
from ragassay.records import Judgment, Winner

QUERIES = [f"q{number:02d}" for number in range(12)]


def _game(query: str, a: str, b: str, winner: Winner) -> Verdict:
    return Verdict(query, a, b, "judge", winner, False, None, 2)


@pytest.fixture
def uneven() -> list[Verdict]:
    """a meets b on all twelve queries and wins every second, c on the first three and wins all; b beats c on six."""
    found = [_game(query, "a", "b", "a" if number % 2 else "b") for number, query in enumerate(QUERIES)]
    found += [_game(query, "a", "c", "a") for query in QUERIES[:3]]
    return found + [_game(query, "b", "c", "b") for query in QUERIES[:6]]


def _all_labelled(found: list[Verdict]) -> Labels:
    """People say what the judge says."""
    return weighted(
        {(v.query_id, f"{v.agent_a}:{v.agent_b}", GAME): v.score_of([v.agent_a]) or 0.0 for v in found}, None
    )


def test_a_pair_counts_the_same_however_often_it_met(uneven: list[Verdict]) -> None:
    """a wins half of its games with b and all with c: three quarters; by the game it would be 9 of 15."""
    known = _all_labelled(uneven)
    for labels in (known, Labels({key: said for key, said in known.said.items() if key[0] < "q08"}, known.weight)):
        sample = sample_of(game_items(uneven, "a", labels), ALONE.of(QUERIES), 1.0)
        assert ppi_mean(sample).value == pytest.approx(0.75)
        assert np.median(posterior(sample, 4000, 7).share @ [0.0, 0.0, 1.0]) == pytest.approx(0.75, abs=0.02)


def test_a_perfect_judges_error_is_that_of_the_win_rate(uneven: list[Verdict]) -> None:
    """The spread over queries of what each adds to the win rate, which is worked out elsewhere by other code."""
    known = _all_labelled(uneven)
    a, b = (sample_of(game_items(uneven, agent, known), ALONE.of(QUERIES), 1.0) for agent in "ab")
    rates = win_rates_by_query(uneven, "ab")
    added = {agent: np.array([*row.values()], dtype=float) for agent, row in rates.items()}
    assert ppi_mean(a).standard_error == pytest.approx(added["a"].std(ddof=1) / np.sqrt(12))
    gap = ppi_difference(a, b, pseudo_residuals=0.0)
    assert gap.value == pytest.approx((added["a"] - added["b"]).mean())
    assert gap.standard_error == pytest.approx((added["a"] - added["b"]).std(ddof=1) / np.sqrt(12))


@given(st.lists(st.sampled_from(["a", "b", "tie"]), min_size=36, max_size=36))
def test_where_all_pairs_meet_on_all_queries_every_game_counts_1(won: list[Winner]) -> None:
    pairs = [(query, *pair) for query in QUERIES for pair in (("a", "b"), ("a", "c"), ("b", "c"))]
    found = [_game(*pair, winner) for pair, winner in zip(pairs, won, strict=True)]
    items = game_items(found, "a", _all_labelled(found))
    assert {(item.size, item.opponent) for item in items} == {(1.0, "")}
    assert {unit.counts for unit in games(found)} == {1.0}


def test_a_judgment_that_failed_is_no_item() -> None:
    (item,) = answer_items({"accuracy": {"q00": 2.0, "q01": None}}, "a", "accuracy", Labels({}, {}))
    assert (item.query, item.judged) == ("q00", 2.0)


def test_a_ranking_is_corrected_where_all_its_passages_have_a_label() -> None:
    """The relevant one stands second: 1 / 2. On q01 nobody said what the first is."""
    ranking = {query: [("p1", 2.0), ("p2", 1.0)] for query in ("q00", "q01")}
    said = {("q00", "p1", CRITERION): 0.0, ("q00", "p2", CRITERION): 2.0, ("q01", "p2", CRITERION): 2.0}
    made, measure = findings(rankings={"a": ranking}), "RR(rel=2)@5"
    values = {measure: {"q00": 1.0, "q01": 0.0}}
    found = ranking_items(made, values, "a", measure, 5, Labels(said, dict.fromkeys(said, 1.0)))
    assert [(one.query, one.judged, one.human) for one in found] == [("q00", 1.0, 0.5), ("q01", 0.0, None)]


def test_a_game_is_drawn_by_what_it_counts(uneven: list[Verdict]) -> None:
    """Twelve queries over those on which the pair met: games of a and c are drawn four times as often as a and b's."""
    chances = {unit.place[0]: chance for unit, chance, _ in draw(games(uneven), 3, 1)}
    assert chances["a:c"] == pytest.approx(4 * chances["a:b"])
    assert chances["b:c"] == pytest.approx(2 * chances["a:b"])


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Forty queries, and a person's label on every answer's accuracy: one agent's are all 2, another's all 0."""
    made = make_workspace(tmp_path_factory.mktemp("run"), 40, failures=False)
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
    results = read_results(workspace.figures)
    assert results.corrected is not None
    means = [figure for figure in results.corrected.figures if figure.other is None]
    assert means and {(figure.p, figure.p_holm, figure.verdict) for figure in means} == {(None, None, None)}
    found = _differences(results)
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


def test_the_sheet_the_table_and_the_terminal_say_so(workspace: Workspace) -> None:
    results = read_results(workspace.figures)
    ((measure, said),) = corrected_verdicts(results)
    found = _differences(results)
    level = sum(figure.verdict == NOT_DISTINGUISHABLE for figure in found)
    assert (measure == "accuracy" and f"{level} of {len(found)}" in said) or f"{level} not" in said
    page = workspace.report.read_text(encoding="utf-8")
    assert said in Page(page).text and "over all pairs of a measure (Holm)" in page
    stream = io.StringIO()
    Console(file=stream, width=200).print(RankedTable(results))
    assert f"corrected by people, accuracy: {said}" in stream.getvalue()
    assert 'id="agreement"' in page and "Krippendorff" in page and "judge − people" in page
    assert "judge and people, accuracy: kappa (quadratic)" in stream.getvalue()


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


def test_judge_and_people_agree_as_scikit_learn_says(workspace: Workspace) -> None:
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
    kappa = cohen_kappa_score(people, judge, weights="quadratic")
    assert found.figures["kappa(quadratic)"].value == pytest.approx(kappa)
    assert found.figures["bias"].value == pytest.approx(np.subtract(judge, people).mean())
    # of 999 permutations of whole sections none comes near
    assert found.n_clusters < found.n_pairs and found.p["tau_b"] == found.p["rho"] == 0.001
