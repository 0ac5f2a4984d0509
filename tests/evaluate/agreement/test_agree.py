"""Figures of agreement against textbooks, other libraries and what must hold for any labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)
from support.textbooks import FLEISS_BY_SUBJECT, KRIPPENDORFF

from ragassay.errors import InputError
from ragassay.evaluate.agreement.agree import PairAgreement, agree
from ragassay.evaluate.agreement.label_tables import Label, Ratings

CARCINOMA = [[22, 2, 2, 0], [5, 7, 14, 0], [0, 2, 36, 0], [0, 1, 17, 10]]
"""Two pathologists: Agresti, Categorical Data Analysis (2002), table 10.8; kappa .493, standard error .057."""
MULTIPLE_SCLEROSIS = {
    "Winnipeg": [[38, 5, 0, 1], [33, 11, 3, 0], [10, 14, 5, 6], [3, 7, 3, 10]],
    "New Orleans": [[5, 3, 0, 0], [3, 11, 4, 0], [2, 13, 3, 4], [1, 2, 4, 14]],
}
"""Two neurologists, two groups of patients: Landis and Koch, Biometrics 33 (1977), table 1; kappa .208 and .297."""
LARGE_METER = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI_METER = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]
"""Peak expiratory flow, l/min, 17 subjects, first readings: Bland and Altman, The Lancet 327 (1986), table 1."""


def ratings(*columns: list[Label | None] | list[float | None], clusters: list[str] | None = None) -> Ratings:
    labels = tuple(tuple(float(x) if isinstance(x, int | float) else x for x in column) for column in columns)
    numeric = not any(isinstance(x, str) for column in labels for x in column)
    names = tuple(clusters or map(str, range(len(columns[0]))))
    return Ratings("labels.csv", tuple(f"r{i}" for i, _ in enumerate(columns)), labels, names, numeric, "query_id")


def first(*columns, **options) -> PairAgreement:
    return agree(ratings(*columns), bootstrap=100, **options).pairs[0]


def value(pair: PairAgreement, name: str) -> float:
    found = pair.figures[name].value
    assert found is not None
    return found


def from_counts(counts: list[list[int]]) -> tuple[list[int], list[int]]:
    cells = [(i, j) for i, row in enumerate(counts) for j, n in enumerate(row) for _ in range(n)]
    return [i for i, _ in cells], [j for _, j in cells]


@pytest.mark.parametrize(
    ("rows", "level", "alpha"),
    [
        (KRIPPENDORFF, "nominal", 904 / 1216),  # in its own arithmetic
        (KRIPPENDORFF, "ordinal", 0.815),
        (KRIPPENDORFF, "interval", 0.849),
        # dustalov/evalica, gcl.csv and python/evalica/test_alpha.py (Apache-2.0)
        ([["a", "a", "b", "b"], [None, "b", "b", "a"], ["a", "b", "b", "a"], ["a", "a", "a", "b"]], "nominal", 0.08333),
        # Fleiss' kappa of the same: 1 - alpha = (1 - kappa) (n - 1) / n, for pairs drawn without replacement.
        (list(map(list, zip(*FLEISS_BY_SUBJECT, strict=True))), "nominal", 0.2156),
    ],
)
def test_textbook_alphas(rows, level: str, alpha: float):
    found = agree(ratings(*rows), bootstrap=100)
    figure = found.all_raters[f"krippendorff_alpha({level})"]
    assert figure.value == pytest.approx(alpha, abs=5e-4) and figure.n + figure.n_failed == len(rows[0])
    assert figure.n_failed == sum(sum(label is not None for label in unit) < 2 for unit in zip(*rows, strict=True))
    if isinstance(rows[0][0], str):
        assert "order" in found.all_raters_undefined["krippendorff_alpha(ordinal)"]


@pytest.mark.parametrize(
    ("counts", "name", "kappa"),
    [
        (CARCINOMA, "kappa", 0.493),
        ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], "kappa", 0.492),  # Cohen 1960, table 1: p_o .70, p_c .41
        ([[24, 8, 13], [8, 13, 11], [10, 9, 64]], "kappa", 0.389),  # Agresti and Winner 1997: Siskel and Ebert
        (MULTIPLE_SCLEROSIS["Winnipeg"], "kappa", 0.208),
        (MULTIPLE_SCLEROSIS["New Orleans"], "kappa", 0.297),
        (MULTIPLE_SCLEROSIS["Winnipeg"], "kappa(linear)", 0.380),  # R's vcd, Kappa(MSPatients)
        (MULTIPLE_SCLEROSIS["New Orleans"], "kappa(linear)", 0.477),
        ([[20, 5], [10, 15]], "kappa", 0.4),  # Wikipedia's worked example of Cohen's kappa
    ],
)
def test_cohens_kappa_of_textbooks(counts: list[list[int]], name: str, kappa: float):
    assert value(first(*from_counts(counts)), name) == pytest.approx(kappa, abs=5e-4)


def test_bland_and_altmans_peak_flow_meters():
    found = first(MINI_METER, LARGE_METER)
    bias, high = value(found, "bias"), value(found, "limit_high")
    sd = (high - bias) / 1.96
    # The paper: mean difference -2.1, standard deviation 38.8; its limits, -79.7 and 75.5, are of 2 of these.
    assert (bias, sd) == (pytest.approx(-2.1, abs=0.05), pytest.approx(38.8, abs=0.05))
    assert (bias - 2 * sd, bias + 2 * sd) == (pytest.approx(-79.7, abs=0.1), pytest.approx(75.5, abs=0.1))
    # Its 95% interval of the bias: -22.0 to 17.8.
    figure = found.figures["bias"]
    assert (figure.ci_low, figure.ci_high) == (pytest.approx(-22.0, abs=4), pytest.approx(17.8, abs=4))


def test_the_interval_of_a_large_sample_is_that_of_the_textbook():
    figure = agree(ratings(*from_counts(CARCINOMA)), bootstrap=2000).pairs[0].figures["kappa"]
    assert figure.ci_low == pytest.approx(0.493 - 1.96 * 0.057, abs=0.03)
    assert figure.ci_high == pytest.approx(0.493 + 1.96 * 0.057, abs=0.03)


labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=40)


@given(labels)
def test_as_scikit_learn_and_scipy_have_it(pairs: list[tuple[int, int]]):
    human, judge = [list(side) for side in zip(*pairs, strict=True)]
    found = first(human, judge, relevant="2")
    for name, weights in (("kappa", None), ("kappa(linear)", "linear"), ("kappa(quadratic)", "quadratic")):
        if len({*human, *judge}) > 1:
            assert value(found, name) == pytest.approx(cohen_kappa_score(human, judge, weights=weights), abs=1e-8)
        else:
            assert found.figures[name].value is None and "all labels are equal" in found.undefined[name]
    for name, theirs in (("tau_b", kendalltau), ("rho", spearmanr)):
        if len(set(human)) > 1 and len(set(judge)) > 1:
            assert value(found, name) == pytest.approx(theirs(human, judge).statistic, abs=1e-8)
        else:
            assert found.figures[name].value is None and found.undefined[name]
    truth, said = [[x >= 2 for x in side] for side in (human, judge)]
    for name, score in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score)):
        ours = found.figures[f"{name}(rel=2)"].value
        assert ours is None or ours == pytest.approx(score(truth, said, zero_division=0), abs=1e-8)
    (tn, fp), (fn, tp) = confusion_matrix(truth, said, labels=[False, True])
    rates = {
        "false_positive_rate": (fp, fp + tn),
        "false_negative_rate": (fn, fn + tp),
        "accuracy": (tp + tn, len(pairs)),
    }
    for name, (part, whole) in rates.items():
        assert found.figures[f"{name}(rel=2)"].value == (pytest.approx(part / whole, abs=1e-8) if whole else None)
    gaps = np.subtract(judge, human)
    assert value(found, "bias") == pytest.approx(gaps.mean(), abs=1e-8)
    assert value(found, "limit_high") == pytest.approx(gaps.mean() + 1.96 * gaps.std(ddof=1), abs=1e-8)
    assert value(found, "off_by_one") == pytest.approx((abs(gaps) <= 1).mean(), abs=1e-8)


@given(labels, st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_the_names_of_queries_matter(pairs: list[tuple[int, int]], random):
    clusters = [f"q{i // 2}" for i, _ in enumerate(pairs)]
    rows = [(*pair, cluster) for pair, cluster in zip(pairs, clusters, strict=True)]
    random.shuffle(rows)
    one = agree(ratings(*map(list, zip(*pairs, strict=True)), clusters=clusters), bootstrap=100)
    other = agree(ratings([r[0] for r in rows], [r[1] for r in rows], clusters=[r[2] for r in rows]), bootstrap=100)
    for name, figure in one.pairs[0].figures.items():
        assert other.pairs[0].figures[name].model_dump() == pytest.approx(figure.model_dump(), abs=1e-7)


@given(labels)
def test_intervals_hold_their_value_and_stay_where_it_can_lie(pairs: list[tuple[int, int]]):
    found = first(*map(list, zip(*pairs, strict=True)), relevant="2")
    for name, figure in found.figures.items():
        assert (figure.value is None) == (name in found.undefined)
        if figure.ci_low is not None and figure.ci_high is not None and figure.value is not None:
            assert figure.ci_low - 1e-9 <= figure.value <= figure.ci_high + 1e-9
            assert name in {"bias", "limit_low", "limit_high"} or (figure.ci_low >= -1 and figure.ci_high <= 1)


def test_perfect_agreement_has_an_interval_that_does_not_collapse():
    figure = first([0, 1] * 15, [0, 1] * 15).figures["kappa"]
    # 30 like observations: at most 1 - .025^(1/30) disagree, half as many as by chance at most.
    assert figure.value == 1 and figure.ci_high == 1
    assert figure.ci_low == pytest.approx(1 - (1 - 0.025 ** (1 / 30)) / 0.5, abs=1e-9)


def test_rows_of_one_query_are_worth_less_than_rows_of_many():
    human, judge = [0, 1, 1, 0, 1, 0, 1, 1] * 12, [0, 1, 0, 0, 1, 0, 1, 1] * 12
    rows = sorted(zip(human, judge, strict=True), key=lambda row: row[0] == row[1])
    columns = [list(side) for side in zip(*rows, strict=True)]
    alone = agree(ratings(*columns)).pairs[0].figures["kappa"]
    together = agree(ratings(*columns, clusters=[f"q{i // 8}" for i in range(96)])).pairs[0].figures["kappa"]
    assert alone.value == together.value
    widths = [f.ci_high - f.ci_low for f in (alone, together) if f.ci_low is not None and f.ci_high is not None]
    assert len(widths) == 2 and widths[1] > 1.3 * widths[0]


@pytest.mark.parametrize(
    ("columns", "scale", "says"),
    [
        (([0, 1, None, 1, 0], [0, 1, 1, None, 0]), (), "2 of 5 pairs lack a label"),
        (([0, 1, 1, 0], [2, 3, 3, 2]), (), "uses no label that"),
        (([0, 1, 3, 3], [0, 1, 3, 1]), (), "2 never occurs: name the whole scale with --scale"),
        (([0, 1, 8, 1], [0, 1, 9, 1]), ("0", "1"), "outside the scale, each a category of its own: 8, 9"),
        (([0, 1], [1, 2]), (), ""),
        (([0, 1, 3, 3], [0, 1, 3, 1]), ("0", "1", "2", "3"), ""),
    ],
)
def test_what_a_reader_must_know_of_the_labels_is_a_note(columns, scale, says: str):
    found = agree(ratings(*columns, clusters=[f"q{i}" for i, _ in enumerate(columns[0])]), scale=scale, bootstrap=100)
    assert len(found.notes) == bool(says) and says in " ".join(found.notes)
    lacking = sum(None in pair for pair in zip(*columns, strict=True))
    assert (found.pairs[0].n_missing, found.pairs[0].figures["kappa"].n_failed) == (lacking, lacking)


def test_a_label_outside_the_scale_keeps_its_own_category():
    human, judge = [0, 1, 2, 2, 1, 0], [0, 1, 2, 7, 1, 7]
    found = agree(ratings(human, judge), scale=["0", "1", "2", "3"], bootstrap=100)
    matrix = found.pairs[0].confusion
    assert matrix is not None and matrix.labels == ("0", "1", "2", "3", "7")
    assert [row[4] for row in matrix.counts] == [1, 0, 1, 0, 0]
    assert value(found.pairs[0], "kappa") == pytest.approx(cohen_kappa_score(human, judge))
    for weights in ("linear", "quadratic"):
        expected = cohen_kappa_score(human, judge, weights=weights, labels=[0, 1, 2, 3, 7])
        assert value(found.pairs[0], f"kappa({weights})") == pytest.approx(expected)


def test_rare_labels_have_an_interval_that_says_how_little_is_known():
    """One 0 among 30 by people, which the judge missed: Jeffreys' posterior of the table's 4 cells, by simulation."""
    human, judge = [0] + [1] * 29, [1] * 29 + [0]
    figure = first(human, judge).figures["kappa"]
    drawn = np.random.default_rng(1).dirichlet([0.5, 1.5, 1.5, 28.5], 40000)
    rows, columns = drawn[:, 0] + drawn[:, 1], drawn[:, 0] + drawn[:, 2]
    chance = rows * columns + (1 - rows) * (1 - columns)
    expected = np.quantile((drawn[:, 0] + drawn[:, 3] - chance) / (1 - chance), 0.98)
    assert figure.ci_high is not None and figure.ci_high == pytest.approx(expected, abs=0.12) and figure.ci_high > 0.4


def test_words_in_a_declared_order_have_one():
    human, judge = ["low", "mid", "high", "mid"], ["low", "high", "high", "low"]
    found = agree(ratings(human, judge), scale=["low", "mid", "high"], relevant="mid", bootstrap=100).pairs[0]
    places = [["low", "mid", "high"].index(x) for x in human], [["low", "mid", "high"].index(x) for x in judge]
    assert value(found, "kappa(quadratic)") == pytest.approx(cohen_kappa_score(*places, weights="quadratic"))
    assert value(found, "recall(rel=mid)") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (([1, None, 2], [None, 1, None]), "no row has a label of both"),
        ((["yes", "no"], ["correct", "wrong"]), "share no label"),
    ],
)
def test_what_cannot_be_compared_is_refused(columns, says: str):
    with pytest.raises(InputError, match=says):
        agree(ratings(*columns))


def test_measured_values_have_ranks_and_no_categories():
    generator = np.random.default_rng(3)
    human = generator.random(120)
    judge = human + 0.1 * generator.random(120)
    found = first(human.tolist(), judge.tolist())
    assert value(found, "rho") == pytest.approx(spearmanr(human, judge).statistic)
    assert "measured values" in found.undefined["kappa"] and found.confusion is None


def test_one_judges_odd_labels_leave_every_figure_of_another_as_it_is():
    """Also the threshold that goes without saying: of 0 to 3 it is 2, and 7 is on no such scale."""
    human, judge, odd = [0, 1, 3, 2, 0, 3], [0, 2, 3, 1, 0, 2], [0, 7, 3, -5, 0, 3]
    alone, beside = first(human, judge, thresholds=True), first(human, judge, odd, thresholds=True)
    assert (alone.figures, alone.undefined, alone.confusion) == (beside.figures, beside.undefined, beside.confusion)
    assert value(beside, "recall(rel=2)") == pytest.approx(2 / 3)


def thresholds(pair: PairAgreement) -> list[str]:
    return [name[len("kappa(rel=") : -1] for name in pair.figures if name.startswith("kappa(rel=")]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=30))
def test_each_threshold_as_scikit_learn_has_it(pairs: list[tuple[int, int]]):
    human, judge = zip(*pairs, strict=True)
    found = first(list(human), list(judge), thresholds=True)
    for label in sorted(set(human))[1:]:
        yes = [[x >= label for x in side] for side in (human, judge)]
        expected = {"balanced_accuracy": balanced_accuracy_score(*yes), "accuracy": accuracy_score(*yes)}
        if any(yes[1]) and not all(yes[1]):
            expected |= {"kappa": cohen_kappa_score(*yes), "tau_b": matthews_corrcoef(*yes)}
        for name, value in expected.items():
            assert found.figures[f"{name}(rel={label})"].value == pytest.approx(value, abs=1e-6)


FINE, WORDS = list(range(20)), (["no", "maybe", "yes", "yes"], ["no", "yes", "yes", "maybe"])
GRADES = ([0, 1, 3, 3], [0, 7, 3, 1])


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        (GRADES, {}, ["1", "3"]),
        (GRADES, {"relevant": "7"}, ["1", "3", "7"]),
        (GRADES, {"scale": ("0", "1", "2", "3")}, ["1", "2", "3"]),
        ((FINE, FINE), {}, []),
        ((FINE, FINE), {"relevant": "5"}, ["5"]),
        (WORDS, {}, []),
        (WORDS, {"relevant": "yes"}, ["yes"]),
        (WORDS, {"scale": ("no", "maybe", "yes")}, ["maybe", "yes"]),
    ],
)
def test_thresholds_are_labels_of_people_or_those_declared_and_the_one_asked_for(columns, options, expected):
    assert thresholds(first(*columns, thresholds=True, **options)) == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1, width=16)), min_size=3, max_size=40))
def test_tau_of_few_labels_with_measured_values_is_scipys(pairs: list[tuple[int, float]]):
    human, judge = (list(side) for side in zip(*pairs, strict=True))
    expected = kendalltau(human, judge).statistic
    if np.isfinite(expected):
        assert value(first(human, judge), "tau_b") == pytest.approx(expected)


def test_alpha_of_many_raters_is_krippendorffs_of_the_same_units_taken_apart():
    """Thirty-three raters, a fifth of the labels missing: every ordered pair of a unit, by definition."""
    generator = np.random.default_rng(5)
    table = np.where(generator.random((33, 20)) < 0.2, np.nan, generator.integers(0, 4, (33, 20)))
    columns = [[None if np.isnan(x) else float(x) for x in row] for row in table]
    found = agree(ratings(*columns), bootstrap=100).all_raters["krippendorff_alpha(interval)"].value
    units = [unit[~np.isnan(unit)] for unit in table.T]
    observed = sum(((u[:, None] - u[None]) ** 2).sum() / (len(u) - 1) for u in units)
    every = np.concatenate(units)
    expected = ((every[:, None] - every[None]) ** 2).sum() / (len(every) - 1)
    assert found == pytest.approx(1 - observed / expected, abs=1e-6)
