"""Prediction-powered inference: closed forms, the paper's formula, and what must hold whatever the labels are."""

from __future__ import annotations

from math import ceil, inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import norm, t

from ragassay.evaluate.statistics.power import labels_needed
from ragassay.evaluate.statistics.ppi import (
    Sample,
    correct_difference,
    correct_mean,
    effective_labels,
    helps,
    posterior,
    ppi_difference,
    ppi_mean,
    tuned_lambda,
)
from ragassay.evaluate.statistics.resamples import expanded_tail


def _sample(
    judged: list[float], human: list[float | None], weight: list[float] | None = None, high: float = 1.0
) -> Sample:
    return Sample(
        np.arange(len(judged)),
        np.array(judged, dtype=float),
        np.array([np.nan if label is None else label for label in human]),
        np.array(weight or [1.0] * len(judged)),
        0.0,
        high,
    )


def _made(n: int, labels: int, agree: float, seed: int = 1) -> Sample:
    generator = np.random.default_rng(seed)
    truth = (generator.random(n) < 0.7).astype(float)
    judged = np.where(generator.random(n) < agree, truth, 1 - truth)
    return _sample(list(judged), [*truth[:labels], *[None] * (n - labels)])


def test_lambda_0_is_the_classical_mean_and_its_t_interval() -> None:
    sample = _made(200, 40, 0.9)
    labels = sample.human[:40]
    found = ppi_mean(sample, lam=0.0)
    low, high = stats.t.interval(0.95, 39, loc=labels.mean(), scale=stats.sem(labels))
    assert found.value == pytest.approx(labels.mean())
    assert (found.ci_low, found.ci_high) == pytest.approx((low, high))


@pytest.mark.parametrize("lam", [0.0, 0.3, 1.0, None])
def test_labels_on_everything_give_their_mean_whatever_the_judge_says(lam: float | None) -> None:
    sample = _made(60, 60, 0.6)
    assert ppi_mean(sample, lam=lam).value == pytest.approx(float(sample.human.mean()))


@pytest.mark.parametrize("lam", [0.2, 0.7])
def test_the_value_is_the_papers(lam: float) -> None:
    """PPI++, section 2: the paper's lambda multiplies the mean over the unlabelled alone."""
    sample = _made(200, 40, 0.85)
    f, y, unlabelled = sample.judged[:40], sample.human[:40], sample.judged[40:]
    papers = lam * len(unlabelled) / 200
    expected = papers * unlabelled.mean() + (y - papers * f).mean()
    assert ppi_mean(sample, lam=lam).value == pytest.approx(expected)


def test_the_tuned_lambda_has_the_least_standard_error() -> None:
    sample = _made(4000, 300, 0.8)
    errors = {lam: ppi_mean(sample, lam=lam).standard_error or 9 for lam in np.linspace(0, 1, 101)}
    assert tuned_lambda(sample) == pytest.approx(min(errors, key=lambda lam: errors[lam]), abs=0.02)


def test_weights_undo_the_oversampling() -> None:
    """Half the items are right; wrong ones were drawn three times as often."""
    judged, human = [0.5] * 8, [1.0, 0.0, 0.0, 0.0, None, None, None, None]
    assert ppi_mean(_sample(judged, human, [3.0, 1.0, 1.0, 1.0, 1, 1, 1, 1])).value == pytest.approx(0.5)


def test_items_of_one_cluster_count_as_one() -> None:
    one = _made(100, 20, 0.8)
    four = Sample(
        np.repeat(one.cluster, 4), np.repeat(one.judged, 4), np.repeat(one.human, 4), np.repeat(one.weight, 4), 0.0, 1.0
    )
    assert ppi_mean(four).standard_error == pytest.approx(ppi_mean(one).standard_error)
    assert correct_mean(four, 3).low == pytest.approx(correct_mean(one, 3).low, abs=1e-9)


def test_a_judge_who_is_always_right_is_left_alone_with_an_interval() -> None:
    sample = _made(400, 40, 1.0)
    found = correct_mean(sample, 3)
    assert found.value == pytest.approx(float(sample.judged.mean()))
    assert tuned_lambda(sample) == 1.0
    assert 0.05 < found.high - found.low < 0.25


def test_all_right_is_jeffreys_upper_and_lower_end() -> None:
    """One stratum and 30 of 30 right: the Beta(30.5, 0.5) of Jeffreys' prior."""
    drawn = posterior(_sample([1.0] * 30, [1.0] * 30), 200_000, 3).value
    assert np.quantile(drawn, [0.025, 0.5]) == pytest.approx(stats.beta.ppf([0.025, 0.5], 30.5, 0.5), abs=3e-3)


def test_a_judge_harsher_on_one_agent_is_not_that_agents_fault() -> None:
    """Both are right on 70%; of one's right answers the judge misses 15%, of the other's 5%."""
    generator = np.random.default_rng(5)
    truth = (generator.random((2, 2000)) < 0.7).astype(float)
    judged = [
        np.where(generator.random(2000) < share, row, 0.0) for row, share in zip(truth, (0.95, 0.85), strict=True)
    ]
    pair = [_sample(list(f), [*y[:300], *[None] * 1700]) for f, y in zip(judged, truth, strict=True)]
    found = correct_difference(pair[0], pair[1])
    assert judged[0].mean() - judged[1].mean() > 0.05
    assert found.low < 0 < found.high


def test_a_judge_unlike_people_does_not_help() -> None:
    assert helps((_made(400, 40, 0.95),)) is True
    assert helps((_made(400, 40, 0.5),)) is False
    assert helps((_sample([1.0] * 40, [1.0, 0.0] * 20),)) is None


def test_no_label_is_refused() -> None:
    with pytest.raises(ValueError, match="no item has a label"):
        ppi_mean(_sample([1.0, 0.0], [None, None]))


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from([0.0, 1.0, 2.0, None])), min_size=5))
def test_the_interval_is_within_the_scale_holds_the_value_and_has_a_width(
    rows: list[tuple[float, float | None]],
) -> None:
    rows = [*rows, (1.0, 1.0)]
    found = correct_mean(_sample([f for f, _ in rows], [y for _, y in rows], high=2.0), 3, replicates=400)
    assert 0 <= found.low <= found.value <= found.high <= 2
    assert found.high - found.low > 1e-6


@pytest.mark.parametrize("gap", [0.0, 0.05, 0.1, 0.2])
def test_a_difference_where_all_is_labelled_is_scipys_paired_t_test(gap: float) -> None:
    """Exactly: there is no item left that might have an error."""
    generator = np.random.default_rng(11)
    a = (generator.random(400) < 0.6 + gap).astype(float)
    b = (generator.random(400) < 0.6).astype(float)
    pair = _sample(list(a), list(a)), _sample(list(b), list(b))
    theirs = stats.ttest_rel(a, b)
    found = correct_difference(*pair)
    assert found.p == pytest.approx(float(theirs.pvalue))
    ends = theirs.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))


def test_p_is_below_5_percent_exactly_where_the_interval_leaves_out_0() -> None:
    for seed in range(40):
        a, b = _made(200, 60, 0.85, seed), _made(200, 60, 0.75, seed + 1000)
        found = correct_difference(a, b)
        assert found.p is not None and 0 < found.p <= 1
        assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


def test_pseudo_residuals_widen_by_the_range_over_the_effective_labels_of_each_agent() -> None:
    """Closed form, 40 labels of 100: two agents' variance of ((1 - n / N) / n)^2 each; on 0 to 2 four times that."""
    for high in (1.0, 2.0):
        a, b = (_sample([0.0, high] * 50, [0.0, high] * 20 + [None] * 60, high=high) for _ in range(2))
        found = ppi_difference(a, b)
        assert ppi_difference(a, b, pseudo_residuals=0.0).standard_error == 0
        assert found.standard_error == pytest.approx(0.6 * np.sqrt(2) * high / 40)
        assert found.ci_high == pytest.approx(stats.t.ppf(0.975, 39) * 0.6 * np.sqrt(2) * high / 40)


def test_what_was_drawn_surely_has_no_error_that_is_unseen() -> None:
    """Forty items drawn surely, 20 of 60 others: as if these 60 were all there is, three fifths of the whole."""
    labels, judged = [1.0, 0.0] * 30, [1.0, 0.0] * 50
    both = _sample(judged, [*labels, *[None] * 40], [1.0] * 40 + [3.0] * 20 + [1.0] * 40)
    rest = _sample(judged[40:], [*labels[40:], *[None] * 40], [3.0] * 20 + [1.0] * 40)
    errors = [_unseen(sample) for sample in (both, rest)]
    assert errors[0] == pytest.approx(0.6 * errors[1])


def _unseen(sample: Sample) -> float:
    """The standard error that pseudo-residuals add."""
    found, without = ppi_difference(sample, sample), ppi_difference(sample, sample, pseudo_residuals=0.0)
    assert found.standard_error is not None and without.standard_error == 0
    return found.standard_error


def test_where_nothing_varies_and_all_is_labelled_there_still_is_an_interval() -> None:
    better, worse = _sample([1.0] * 30, [1.0] * 30), _sample([0.0] * 30, [0.0] * 30)
    found = correct_difference(better, worse)
    assert found.p is not None and 0.8 < found.low < found.value == pytest.approx(1.0)


def test_effective_labels_are_fewer_with_unequal_weights_and_in_clusters() -> None:
    """Kish 1965: (sum w)^2 / sum w^2, and m labels of a cluster worth m / (1 + (m - 1) / 2)."""
    assert effective_labels(np.arange(4), np.ones(4)) == pytest.approx(4)
    assert effective_labels(np.arange(3), np.array([1.0, 2.0, 3.0])) == pytest.approx(36 / 14)
    assert effective_labels(np.arange(20) // 5, np.ones(20)) == pytest.approx(20 / (1 + 4 * 0.5))


def test_labels_on_one_cluster_give_no_difference() -> None:
    with pytest.raises(ValueError, match="fewer than two clusters"):
        correct_difference(_sample([1.0, 0.0], [1.0, None]), _sample([1.0, 0.0], [1.0, None]))


def test_equal_agents_have_p_1_and_a_mean_has_none() -> None:
    sample = _made(100, 40, 0.9)
    assert correct_difference(sample, sample).p == 1.0
    assert correct_mean(sample, 3).p is None


def test_a_stratum_where_all_labels_are_1_has_clopper_and_pearsons_lower_limit() -> None:
    """Brown, Cai and DasGupta 2001, section 4.1.2: (alpha / 2)^(1 / n), at the expanded tail; Jeffreys' is nearer."""
    n = 300
    sample = _sample([1.0] * n, [1.0] * n)
    tail = expanded_tail(n, 0.95)
    assert correct_mean(sample, 3, replicates=40000).low == pytest.approx(tail ** (1 / n), abs=3e-3)
    assert stats.beta.ppf(tail, n + 0.5, 0.5) > tail ** (1 / n) + 3e-3


HIGH, N_CLUSTERS, DRAWS = 2.0, 12, 20_000


def made(seed: int, agree: float, ends: bool = False) -> Sample:
    """Three answers in each of twelve sections, graded 0 to 2; people labelled three of four, and agree so often.

    ends: where the judge says 0 people always agree, so that this stratum's labels all lie at an end.
    """
    generator = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(N_CLUSTERS), 3)
    judged = generator.choice([0.0, 1.0, 2.0], len(cluster), p=[0.3, 0.3, 0.4])
    other = generator.choice([0.0, 1.0, 2.0], len(cluster))
    same = (generator.random(len(cluster)) < agree) | (ends & (judged == 0))
    human = np.where(same, judged, other)
    human[::4] = np.nan
    return Sample(cluster, judged, human, np.ones(len(cluster)), 0.0, HIGH)


def drawn(sample: Sample) -> dict[str, np.ndarray]:
    """In every draw: the mean, as it is for either end of an interval, and its two variances."""
    generator = np.random.default_rng(20261120)
    weights = generator.gamma(1.0, size=(DRAWS, N_CLUSTERS))
    strata = [sample.judged == 0, (sample.judged > 0) & (sample.judged < HIGH), sample.judged == HIGH]
    shares = np.array([weights[:, sample.cluster[rows]].sum(axis=1) for rows in strata])
    shares /= shares.sum(axis=0)
    parts = [_stratum(sample, rows, weights, generator) for rows in strata]
    low, high, mean, square = (sum(s * part[k] for s, part in zip(shares, parts, strict=True)) for k in range(4))
    within = sum(s * (part[3] - part[2] ** 2) for s, part in zip(shares, parts, strict=True))
    return {"low": low, "high": high, "within": within, "spread": square - mean**2}


def _stratum(
    sample: Sample, rows: np.ndarray, weights: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """The mean for either end, the mean, and the mean square; labels count by their effective number of clusters."""
    known = rows & ~np.isnan(sample.human)
    y, cluster = sample.human[known], sample.cluster[known]
    each = np.unique(cluster, return_counts=True)[1]
    by_label = weights[:, cluster] * (each.sum() / (each**2).sum() if len(each) else 0.0)
    sums, labels, squares = by_label.sum(axis=1), by_label @ y, by_label @ y**2
    zero, full = (generator.gamma(0.5, size=DRAWS) for _ in range(2))
    total = sums + zero + full
    mean, square = (labels + HIGH * full) / total, (squares + HIGH**2 * full) / total
    whole = generator.gamma(1.0, size=DRAWS)
    low = labels / (sums + whole) if len(y) and (y == HIGH).all() else mean
    high = (labels + HIGH * whole) / (sums + whole) if len(y) and (y == 0).all() else mean
    return low, high, mean, square


TAIL = norm.cdf(-sqrt(N_CLUSTERS / (N_CLUSTERS - 1)) * t.ppf(0.975, N_CLUSTERS - 1))
"""Hesterberg 2015, section 4.3."""

CASES = [(1, 0.8, False), (2, 0.5, False), (3, 0.9, True)]


@pytest.mark.parametrize(("seed", "agree", "ends"), CASES)
def test_the_ends_of_a_corrected_mean(seed: int, agree: float, ends: bool) -> None:
    sample = made(seed, agree, ends)
    found, own = correct_mean(sample, 7, replicates=DRAWS), drawn(sample)
    assert found.low == pytest.approx(min(np.quantile(own["low"], TAIL), found.value), abs=0.02)
    assert found.high == pytest.approx(max(np.quantile(own["high"], 1 - TAIL), found.value), abs=0.02)


@pytest.mark.parametrize(("seed", "agree", "ends"), CASES)
def test_the_labels_needed(seed: int, agree: float, ends: bool) -> None:
    """within / (room - what the unlabelled leave), and the interval that holds equal tails and the shortest."""
    sample = made(seed, agree, ends)
    own, n = drawn(sample), len(sample.judged)
    room = (0.4 / norm.ppf(0.975)) ** 2 - np.maximum(own["spread"] - own["within"], 0) / n
    enough = (room > 0) & (own["within"] <= n * room)
    numbers = np.sort(np.where(enough, np.maximum(own["within"] / np.where(enough, room, 1.0), 1), inf))
    inside = ceil(0.95 * DRAWS)
    shortest = int(np.argmin(numbers[inside:] - numbers[: DRAWS - inside]))
    tails = np.quantile(numbers, [TAIL, 1 - TAIL])
    found = labels_needed(sample, 0.4, 7, replicates=DRAWS)
    ends = min(numbers[shortest], tails[0]), max(numbers[shortest + inside], tails[1])
    assert (found.ci_low, found.value, found.ci_high) == pytest.approx(
        (ceil(ends[0]), ceil(np.median(numbers)), ceil(ends[1])), abs=1
    )
