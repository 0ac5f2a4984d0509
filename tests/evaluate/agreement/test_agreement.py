"""Figures of agreement against textbooks, other libraries and what must hold for any labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import (
    cohen_kappa_score,
    confusion_matrix,
    f1_score,
    precision_score,
    recall_score,
)

from ragassay.errors import InputError
from ragassay.evaluate.agreement.agree import Agreement, PairAgreement, agree
from ragassay.evaluate.agreement.estimates import bootstrap_interval
from ragassay.evaluate.agreement.label_tables import Label, Ratings
from ragassay.evaluate.agreement.systems import order_agreement
from ragassay.evaluate.audit.judge_audit import repeat_consistency

KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""Four observers, twelve units: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), example C."""

FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
"""Ten subjects, fourteen raters, five labels: the worked example of Fleiss' kappa in Wikipedia, 0.210."""

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
    return agree(ratings(*columns), bootstrap=200, **options).pairs[0]


def value(pair: PairAgreement, name: str) -> float:
    found = pair.figures[name].value
    assert found is not None
    return found


def from_counts(counts: list[list[int]]) -> tuple[list[int], list[int]]:
    cells = [(i, j) for i, row in enumerate(counts) for j, n in enumerate(row) for _ in range(n)]
    return [i for i, _ in cells], [j for _, j in cells]


def test_krippendorffs_textbook_alphas():
    found = agree(ratings(*KRIPPENDORFF), bootstrap=200).all_raters
    # Krippendorff 2011, example C: nominal .743 (904/1216 in its own arithmetic), ordinal .815, interval .849.
    assert found["krippendorff_alpha(nominal)"].value == pytest.approx(904 / 1216, abs=1e-9)
    assert found["krippendorff_alpha(ordinal)"].value == pytest.approx(0.815, abs=5e-4)
    assert found["krippendorff_alpha(interval)"].value == pytest.approx(0.849, abs=5e-4)
    assert found["krippendorff_alpha(nominal)"].n == 11 and found["krippendorff_alpha(nominal)"].n_failed == 1


def test_alpha_of_words_with_labels_missing():
    # dustalov/evalica, gcl.csv and python/evalica/test_alpha.py (Apache-2.0): 0.0833333.
    rows = [
        ["NN", "NN", "VBP", "VBP"],
        [None, "VBP", "VBP", "NN"],
        ["NN", "VBP", "VBP", "NN"],
        ["NN", "NN", "NN", "VBP"],
    ]
    found = agree(ratings(*rows), bootstrap=200)
    assert found.all_raters["krippendorff_alpha(nominal)"].value == pytest.approx(0.0833333, abs=1e-7)
    assert "order" in found.all_raters_undefined["krippendorff_alpha(ordinal)"]


def test_alpha_is_fleiss_kappa_with_its_correction_for_few_labels():
    units = [[label for label, n in enumerate(row) for _ in range(n)] for row in FLEISS]
    columns = [list(column) for column in zip(*units, strict=True)]
    alpha = agree(ratings(*columns), bootstrap=100).all_raters["krippendorff_alpha(nominal)"].value
    # 1 - alpha = (1 - kappa) (n - 1) / n: Krippendorff expects pairs drawn without replacement.
    assert alpha is not None and 1 - (1 - alpha) * 140 / 139 == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(
    ("counts", "kappa"),
    [
        (CARCINOMA, 0.493),
        ([[88, 14, 18], [10, 40, 10], [2, 6, 12]], 0.492),  # Cohen 1960, table 1: p_o .70, p_c .41
        ([[24, 8, 13], [8, 13, 11], [10, 9, 64]], 0.389),  # Agresti and Winner 1997: Siskel and Ebert, 160 films
        (MULTIPLE_SCLEROSIS["Winnipeg"], 0.208),
        (MULTIPLE_SCLEROSIS["New Orleans"], 0.297),
        ([[20, 5], [10, 15]], 0.4),  # Wikipedia's three worked examples of Cohen's kappa
        ([[45, 15], [25, 15]], 0.1304),
        ([[25, 35], [5, 35]], 0.2593),
    ],
)
def test_cohens_kappa_of_textbooks(counts: list[list[int]], kappa: float):
    assert value(first(*from_counts(counts)), "kappa") == pytest.approx(kappa, abs=5e-4)


@pytest.mark.parametrize(("city", "linear"), [("Winnipeg", 0.380), ("New Orleans", 0.477)])
def test_weighted_kappa_of_the_neurologists(city: str, linear: float):
    # R's vcd, Kappa(MSPatients): "weighted" with its equal-spacing weights.
    assert value(first(*from_counts(MULTIPLE_SCLEROSIS[city])), "kappa(linear)") == pytest.approx(linear, abs=5e-4)


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
    figure = agree(ratings(*from_counts(CARCINOMA)), bootstrap=4000).pairs[0].figures["kappa"]
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


def test_all_equal_labels_leave_kappa_undefined_and_the_rest_stands():
    found = first([1] * 9, [1] * 9)
    assert {name for name in found.figures if name.startswith(("kappa", "krippendorff", "tau", "rho"))} <= set(
        found.undefined
    )
    assert value(found, "agreement") == value(found, "accuracy(rel=1)") == value(found, "off_by_one") == 1
    assert value(found, "bias") == 0


def test_a_judge_that_always_says_the_same_agrees_as_chance_does():
    found = first([0, 1] * 20, [1] * 40)
    figure = found.figures["kappa"]
    assert figure.value == 0 and figure.ci_low is not None and figure.ci_high is not None
    assert -0.2 < figure.ci_low < 0 < figure.ci_high < 0.2 and "judge" in found.undefined["tau_b"]


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


def test_pairs_with_a_missing_label_are_counted_and_said():
    found: Agreement = agree(ratings([0, 1, None, 1, 0], [0, 1, 1, None, 0]), bootstrap=100)
    assert (found.pairs[0].n_pairs, found.pairs[0].n_missing) == (3, 2)
    assert found.pairs[0].figures["kappa"].n_failed == 2
    assert any("2 of 5 pairs lack a label" in note for note in found.notes)


def test_numbers_of_two_scales_are_noticed():
    found = agree(ratings([0, 1, 1, 0], [2, 3, 3, 2]), bootstrap=100)
    assert any("uses no label that" in note for note in found.notes)
    assert not any("uses no label" in note for note in agree(ratings([0, 1], [1, 2]), bootstrap=100).notes)


def test_a_label_outside_the_scale_keeps_its_own_category():
    human, judge = [0, 1, 2, 2, 1, 0], [0, 1, 2, 7, 1, 7]
    found = agree(ratings(human, judge), scale=["0", "1", "2", "3"], bootstrap=100)
    matrix = found.pairs[0].confusion
    assert matrix is not None and matrix.labels == ("0", "1", "2", "3", "7")
    assert [row[4] for row in matrix.counts] == [1, 0, 1, 0, 0]
    assert value(found.pairs[0], "kappa") == pytest.approx(cohen_kappa_score(human, judge))
    expected = cohen_kappa_score(human, judge, weights="linear", labels=[0, 1, 2, 3, 7])
    assert value(found.pairs[0], "kappa(linear)") == pytest.approx(expected)
    assert any("outside the scale" in note for note in found.notes)


def test_two_raters_labels_outside_the_scale_are_two_categories_and_no_agreement():
    found = agree(ratings([0, 1, 8, 1], [0, 1, 9, 1]), scale=["0", "1"], bootstrap=100)
    matrix = found.pairs[0].confusion
    assert matrix is not None and matrix.labels == ("0", "1", "8", "9")
    assert value(found.pairs[0], "agreement") == 0.75


def test_a_label_between_others_that_never_occurs_counts_where_it_is_declared_and_is_named_where_not():
    human, judge = [0, 1, 3, 3, 1, 0, 3], [0, 1, 3, 1, 1, 3, 3]
    seen, whole = (agree(ratings(human, judge), scale=scale, bootstrap=100) for scale in ([], ["0", "1", "2", "3"]))
    for weights in ("linear", "quadratic"):
        name = f"kappa({weights})"
        assert value(seen.pairs[0], name) == pytest.approx(cohen_kappa_score(human, judge, weights=weights))
        theirs = cohen_kappa_score(human, judge, weights=weights, labels=[0, 1, 2, 3])
        assert value(whole.pairs[0], name) == pytest.approx(theirs)
    assert any("2 never occurs: name the whole scale with --scale" in note for note in seen.notes)
    assert not any("never occurs" in note for note in whole.notes)


@given(labels)
def test_quadratic_kappa_is_lins_concordance(pairs: list[tuple[int, int]]):
    """Fleiss and Cohen 1973 with Lin 1989, equation 2: 2 cov / (var + var + squared gap of the means), moments by n."""
    x, y = np.array(pairs, dtype=float).T
    if len({*x, *y}) > 1:
        found = first(x.tolist(), y.tolist(), scale=["0", "1", "2", "3"])
        expected = 2 * np.cov(x, y, bias=True)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
        assert value(found, "kappa(quadratic)") == pytest.approx(expected, abs=1e-8)


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


def test_another_judges_labels_do_not_move_a_judges_kappa():
    human, judge, other = [0, 1, 3, 3], [0, 3, 3, 1], [2, 2, 2, 2]
    alone, beside = first(human, judge), first(human, judge, other)
    assert alone.figures == beside.figures


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
    assert value(found, "tau_b") == pytest.approx(kendalltau(human, judge).statistic)
    assert "measured values" in found.undefined["kappa"] and found.confusion is None


def test_repeat_consistency_is_the_share_of_pairs_of_repeats_that_agree():
    items = [[1, 1, 1], [1, 1, 2], [0, None, 0], [2, None, None]]
    figure = repeat_consistency(items, ["a", "a", "b", "c"])
    assert figure.value == pytest.approx((1 + 1 / 3 + 1) / 3) and (figure.n, figure.n_failed) == (3, 1)
    # Fleiss 1971's mean P_i of the same worked example: 0.378.
    units = [[float(label) for label, n in enumerate(row) for _ in range(n)] for row in FLEISS]
    assert repeat_consistency(units, list("abcdefghij")).value == pytest.approx(0.378, abs=5e-4)


def test_a_perfectly_consistent_judge_is_not_certain_to_be_one():
    figure = repeat_consistency([[2, 2, 2]] * 40, [str(i) for i in range(40)])
    assert figure.value == 1 and figure.ci_low is not None and 0.85 < figure.ci_low < 0.95
    empty = repeat_consistency([[None, 1]], ["a"])
    assert empty.value is None and empty.n_failed == 1


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_the_order_of_systems_as_scipy_has_it(scores: list[tuple[int, int]]):
    one, other = [np.array(side, dtype=np.float64) for side in zip(*scores, strict=True)]
    for name, theirs in (("tau_b", kendalltau), ("rho", spearmanr)):
        found = order_agreement(name, one, other)
        if np.ptp(one) and np.ptp(other):
            assert found == pytest.approx(theirs(one, other).statistic, abs=1e-9)
        else:
            assert found is None


def test_kappa_at_few_labels_and_a_near_perfect_judge_is_covered():
    """Kappa .96, 30 labels, where the percentile interval covers under half: the bar is 93%, less 2 standard errors."""
    generator, covered = np.random.default_rng(5), 0
    for seed in range(300):
        human = generator.integers(0, 2, 30)
        judge = np.where(generator.random(30) < 0.02, 1 - human, human)
        figure = agree(ratings(human.tolist(), judge.tolist()), bootstrap=200, seed=seed).pairs[0].figures["kappa"]
        covered += figure.ci_low is not None and figure.ci_high is not None and figure.ci_low <= 0.96 <= figure.ci_high
    assert covered / 300 > 0.93 - 2 * (0.93 * 0.07 / 300) ** 0.5


def test_no_interval_where_no_resample_differs():
    assert bootstrap_interval(0.0, np.zeros(100), 10, bounded=True) == (None, None)


def test_one_judges_odd_labels_leave_every_figure_of_another_as_it_is():
    """Also the threshold that goes without saying: of 0 to 3 it is 2, and 7 is on no such scale."""
    human, judge, odd = [0, 1, 3, 2, 0, 3], [0, 2, 3, 1, 0, 2], [0, 7, 3, -5, 0, 3]
    alone, beside = first(human, judge, thresholds=True), first(human, judge, odd, thresholds=True)
    assert (alone.figures, alone.undefined, alone.confusion) == (beside.figures, beside.undefined, beside.confusion)
    assert value(beside, "recall(rel=2)") == pytest.approx(2 / 3)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1, width=16)), min_size=3, max_size=40))
def test_tau_of_few_labels_with_measured_values_is_scipys(pairs: list[tuple[int, float]]):
    human, judge = (list(side) for side in zip(*pairs, strict=True))
    expected = kendalltau(human, judge).statistic
    if np.isfinite(expected):
        assert value(first(human, judge), "tau_b") == pytest.approx(expected)


def test_alpha_of_many_raters_is_krippendorffs_of_the_same_units_taken_apart():
    """Thirty-three raters, a fifth of the labels missing: every ordered pair of a unit, by definition."""
    generator = np.random.default_rng(5)
    table = np.where(generator.random((33, 60)) < 0.2, np.nan, generator.integers(0, 4, (33, 60)))
    columns = [[None if np.isnan(x) else float(x) for x in row] for row in table]
    found = agree(ratings(*columns), bootstrap=100).all_raters["krippendorff_alpha(interval)"].value
    units = [unit[~np.isnan(unit)] for unit in table.T]
    observed = sum(((u[:, None] - u[None]) ** 2).sum() / (len(u) - 1) for u in units)
    every = np.concatenate(units)
    expected = ((every[:, None] - every[None]) ** 2).sum() / (len(every) - 1)
    assert found == pytest.approx(1 - observed / expected, abs=1e-6)
