"""All pairs of agents: tests against closed forms and scipy, matching, Holm, verdicts, and what would decide."""

from __future__ import annotations

import random
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nct, ttest_rel, wilcoxon
from scipy.stats import t as student

from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.statistics.paired_comparison import compare_pairs, pair_by_query, pairs_by_query
from ragassay.evaluate.statistics.power import detectable, effect_interval, needed_interval, needed_units
from ragassay.evaluate.statistics.resamples import holm
from ragassay.evaluate.statistics.sign_flip import flip_p


def named(values):
    return {f"q{n:03d}": value for n, value in enumerate(values)}


def by_enumeration(sums):
    totals = [abs(sum(s * v for s, v in zip(signs, sums, strict=True))) for signs in product((-1, 1), repeat=len(sums))]
    return sum(total >= abs(sum(sums)) - 1e-9 for total in totals) / len(totals)


@given(st.lists(st.sampled_from([0.0, 1.0, -1.0, 0.5, 1 / 3, -0.2, 0.387, -0.631]), min_size=1, max_size=9))
def test_sign_flips_of_few_sections_are_exact(sums):
    if not any(sums):
        assert flip_p(np.array(sums), 7) is None
        return
    assert flip_p(np.array(sums), 7) == pytest.approx(by_enumeration(sums), rel=1e-5)


def test_holms_correction_is_rs():
    """R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01, None, 0.03]) == [pytest.approx(0.03), None, pytest.approx(0.06)]
    assert holm([]) == []


A = [0.2, 1.0, 0.5, 1.0, 0.3, 0.9, 0.1, 0.8, 0.65, 0.4]
B = [0.1, 0.7, 0.6, 0.5, 0.1, 0.2, 0.05, 0.3, 0.5, 0.31]


def test_without_sections_the_tests_are_the_textbooks():
    (found,) = compare_pairs("m", {"a": named(A), "b": named(B)})
    gaps = np.array(A) - np.array(B)
    assert found.p_wilcoxon == pytest.approx(wilcoxon(np.round(gaps, 9), method="asymptotic").pvalue, rel=1e-5)
    assert found.p_t == pytest.approx(ttest_rel(A, B).pvalue, rel=1e-5)
    ends = ttest_rel(A, B).confidence_interval()
    assert (found.difference.ci_low, found.difference.ci_high) == pytest.approx((ends.low, ends.high))
    assert found.effect_size == pytest.approx(gaps.mean() / gaps.std(ddof=1))
    assert found.p_sign_flip == pytest.approx(by_enumeration(gaps.tolist()), rel=1e-5)


def test_with_sections_of_one_size_the_tests_are_of_their_means():
    """CR3 around the whole mean: s / sqrt(G - 1) of G section means; detectable: the power of that t-test."""
    gaps = np.round(np.random.default_rng(4).normal(0.2, 0.4, size=24), 3)
    one = named(gaps.tolist())
    sections = Clusters.named(list(one), [f"s{n // 3}" for n in range(24)])
    (found,) = compare_pairs("m", {"a": one, "b": named([0.0] * 24)}, sections)
    means = gaps.reshape(8, 3).mean(axis=1)
    error = means.std(ddof=1) / np.sqrt(7)
    assert found.n_sections == 8
    assert found.p_t == pytest.approx(2 * student.sf(abs(means.mean()) / error, 7), rel=1e-5)
    assert found.p_wilcoxon == pytest.approx(wilcoxon(means, method="exact").pvalue, rel=1e-5)
    assert found.p_sign_flip == pytest.approx(by_enumeration(means.tolist()), rel=1e-5)
    ends = student.interval(0.95, 7, means.mean(), means.std(ddof=1) / np.sqrt(8))
    assert (found.difference.ci_low, found.difference.ci_high) == pytest.approx(ends)
    assert found.detectable == pytest.approx((student.ppf(0.975, 7) + student.ppf(0.8, 7)) * error)


def test_detectable_is_at_the_level_of_one_pair_among_all():
    rng = np.random.default_rng(6)
    values = {agent: named(rng.normal(size=30).round(3).tolist()) for agent in "abc"}
    rows = compare_pairs("m", values)
    gaps = np.array(list(values["a"].values())) - np.array(list(values["b"].values()))
    error = gaps.std(ddof=1) / np.sqrt(30)
    assert rows[0].detectable == pytest.approx((student.isf(0.05 / 3 / 2, 29) + student.ppf(0.8, 29)) * error)


@pytest.mark.parametrize("ties", [False, True])
def test_wilcoxons_test_of_many_sections_is_scipys_normal_approximation(ties):
    gaps = np.random.default_rng(8).normal(0.1, 0.5, size=90)
    gaps = np.round(2 * gaps) / 2 if ties else np.round(gaps, 9)
    (row,) = compare_pairs("m", {"a": named(gaps.tolist()), "b": named([0.0] * 90)}, width=None)
    assert row.p_wilcoxon == pytest.approx(wilcoxon(gaps[gaps != 0], method="asymptotic").pvalue, rel=1e-5)


some_values = st.dictionaries(st.sampled_from("pqrstu"), st.none() | st.sampled_from([0.0, 0.5, 1.0]))


@given(st.lists(some_values, min_size=2, max_size=4))
def test_many_agents_are_matched_as_any_two_of_them_are(rows):
    clusters = Clusters.named(list("pqrst"), list("xxyyz"))
    for (a, b), pair in zip(combinations(rows, 2), pairs_by_query(rows, clusters), strict=True):
        both = sorted(q for q in a.keys() & b.keys() if a[q] is not None and b[q] is not None)
        owed = sorted(a.keys() | b.keys())
        assert list(pair.clusters.queries) == both and pair.gaps.tolist() == [a[q] - b[q] for q in both]
        assert list(pair.lacking_a) == [q for q in owed if a.get(q) is None]
        assert list(pair.lacking_b) == [q for q in owed if b.get(q) is None]
        assert [pair.clusters.names[n] for n in pair.clusters.numbers] == [
            {"p": "x", "q": "x", "r": "y", "s": "y", "t": "z"}.get(q, f"query {q}") for q in both
        ]


def test_of_one_section_it_is_said_that_it_stands_for_one():
    values = {"a": named([1.0] * 9), "b": named([0.0, 1.0, 0.5] * 3)}
    (found,) = compare_pairs("m", values, Clusters.named(list(values["a"]), ["s"] * len(values["a"])))
    said = (
        "a and b are not distinguishable with these 9 queries on m: they all come from one section, and stand for one."
    )
    assert (found.verdict, found.sentence) == ("not distinguishable", said)


DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Crossed less self-fertilized maize, in eighths of an inch (Fisher, The Design of Experiments, 1935, section 17)."""


def test_darwins_maize():
    """Fisher: t = 2.148 with 14 degrees of freedom; section 21: 1,726 of 32,768 choices of signs lead as far."""
    (found,) = compare_pairs("m", {"a": named(DARWIN), "b": named([0.0] * 15)}, width=None)
    assert found.p_t == pytest.approx(2 * student.sf(2.148, 14), abs=1e-4)
    assert found.p_sign_flip == pytest.approx(1726 / 32768, abs=5e-5)


def test_students_sleep():
    """R's t.test(paired = TRUE) on its data set `sleep`: p = 0.002833, -2.4598858 to -0.7001142."""
    one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    (found,) = compare_pairs("m", {"a": named(one), "b": named(two)}, width=None)
    assert found.p_t == pytest.approx(0.002833, abs=1e-6)
    assert (found.difference.ci_low, found.difference.ci_high) == pytest.approx((-2.4598858, -0.7001142), abs=1e-7)
    assert found.p_sign_flip == 2 / 512  # nine differ, and all the same way


def test_queries_are_matched_by_id_and_what_is_lacking_is_named():
    one, two = named(A) | {"x": 1.0, "y": None}, named(B) | {"z": 0.0, "y": 0.3}
    two["q000"] = None
    found = pair_by_query(one, two)
    assert (found.lacking_a, found.lacking_b) == (("y", "z"), ("q000", "x"))
    (row,) = compare_pairs("m", {"a": one, "b": two})
    assert (row.difference.n, row.difference.n_failed) == (9, 4)


@given(st.integers(0, 10_000))
def test_the_order_of_queries_and_of_agents_changes_nothing(seed):
    rng = random.Random(seed)
    table = {a: named([rng.choice([0, 0.2, 1.0]) for _ in range(15)]) for a in "abc"}
    sections = Clusters.named(list(table["a"]), [f"s{int(query[1:]) // 3}" for query in table["a"]])
    shuffled = {a: dict(rng.sample(sorted(row.items()), 15)) for a, row in table.items()}
    assert compare_pairs("m", table, sections) == compare_pairs("m", shuffled, sections)
    turned = {frozenset((r.agent_a, r.agent_b)): r for r in compare_pairs("m", dict(reversed(table.items())), sections)}
    for row in compare_pairs("m", table, sections):
        other = turned[frozenset((row.agent_a, row.agent_b))]
        assert (row.p_t, row.p_sign_flip, row.p_holm) == (other.p_t, other.p_sign_flip, other.p_holm)
        assert {row.verdict, other.verdict} in ({"better", "worse"}, {"not distinguishable"})


def test_fifty_queries_of_two_sections_are_not_fifty_witnesses():
    """Each query by itself, a t-test would be far below 5%."""
    sections = Clusters.named([f"q{n:03d}" for n in range(50)], [f"s{n % 2}" for n in range(50)])
    one, two = named([1.0 if n % 2 else 0.6 for n in range(50)]), named([0.1 if n % 2 else 0.5 for n in range(50)])
    (row,) = compare_pairs("m", {"a": one, "b": two}, sections)
    assert row.verdict == "not distinguishable" and row.n_sections == 2
    assert compare_pairs("m", {"a": one, "b": two})[0].verdict == "better"


def test_like_differences_are_decided_by_the_permutation():
    (row,) = compare_pairs("m", {"a": named([1.0] * 12), "b": named([0.0] * 12)})
    assert (row.p_t, row.p_sign_flip, row.verdict) == (None, pytest.approx(2 / 2**12, rel=1e-5), "better")
    (few,) = compare_pairs("m", {"a": named([1.0] * 5), "b": named([0.0] * 5)})
    assert few.verdict == "not distinguishable"
    (same,) = compare_pairs("m", {"a": named(A), "b": named(A)})
    assert (same.verdict, same.p_holm, same.difference.value) == ("not distinguishable", None, 0)
    assert same.difference.ci_low < 0 < same.difference.ci_high


@pytest.mark.parametrize(
    ("one", "two"), [({}, {}), ({"q": 1.0}, {"r": 1.0}), ({"q": None}, {"q": 1.0}), ({"q": 1.0},) * 2]
)
def test_nothing_in_common_is_said_and_not_guessed(one, two):
    (row,) = compare_pairs("m", {"a": one, "b": two})
    assert (row.verdict, row.p_t, row.needed, row.detectable) == ("not distinguishable", None, None, None)


def test_the_sentence_says_what_it_would_take():
    rng = random.Random(5)
    one = named([rng.choice([0.0, 1.0, 1.0]) for _ in range(40)])
    two = {query: value if n % 5 else 1 - value for n, (query, value) in enumerate(one.items())}
    (row,) = compare_pairs("RR@5", {"a": one, "b": two})
    assert row.verdict == "not distinguishable" and "with these 40 queries" in row.sentence
    assert row.needed is not None and row.detectable is not None


def test_detectable_and_needed_agree_with_the_power_of_the_t_test():
    """Power from scipy's noncentral t."""
    for units, effect in ((20, 0.6), (50, 0.4)):
        least = detectable(1 / np.sqrt(units), units - 1, 0.05)
        power = nct.sf(student.ppf(0.975, units - 1), units - 1, least * np.sqrt(units))
        assert power == pytest.approx(0.8, abs=0.01)
        needed = int(np.ceil(needed_units(np.array(effect), 0.05)))
        assert nct.sf(student.ppf(0.975, needed - 1), needed - 1, effect * np.sqrt(needed)) == pytest.approx(
            0.8, abs=0.01
        )


def test_the_interval_of_the_effect_leaves_t_in_its_tails():
    for t in (-3.1, -0.4, 0.0, 2.2, 7.5):
        low, high = effect_interval(np.array(t), np.array(11.0), np.array(12.0))
        assert nct.cdf(t, 11, float(low) * np.sqrt(12)) == pytest.approx(0.975, abs=1e-6)
        assert nct.cdf(t, 11, float(high) * np.sqrt(12)) == pytest.approx(0.025, abs=1e-6)


def test_where_the_effect_may_be_none_no_number_is_enough():
    value, low, high = needed_interval(np.array([0.5, 6.0]), np.array(19.0), np.array(20.0), 0.05)
    assert np.isinf(high[0]) and np.isfinite(high[1])
    assert (low <= value).all() and (value <= high).all()


GAPS = (0.1, -0.2, 0.3, 0.0, -0.1, 0.1, 0.2, -0.3, 0.0, 0.1)
"""Mean 0.02, standard deviation 0.1814, so the 90% interval (t with 9 degrees: 1.8331) is -0.0851 to 0.1251."""


@pytest.mark.parametrize(("matters", "equal"), [(0.126, True), (0.125, False), (0.09, False), (0.5, True)])
def test_practically_equal_is_a_90_percent_interval_within_what_matters(matters, equal):
    spread = np.std(GAPS, ddof=1)
    ends = [0.02 + side * 1.8331129 * spread / np.sqrt(10) for side in (-1, 1)]
    assert ends == pytest.approx([-0.0851, 0.1251], abs=2e-4)
    values = {"a": named([0.5 + gap for gap in GAPS]), "b": named([0.5] * 10)}
    for order in (("a", "b"), ("b", "a")):
        row = compare_pairs("m", {name: values[name] for name in order}, matters=matters)[0]
        assert row.verdict == ("practically equal" if equal else "not distinguishable")
        assert (f"they differ by less than {matters:g}" in row.sentence) == equal
    assert compare_pairs("m", values)[0].verdict == "not distinguishable"


def test_a_difference_beyond_chance_may_still_be_one_that_does_not_matter():
    values = {"a": named([0.52, 0.53] * 20), "b": named([0.5] * 40)}
    assert compare_pairs("m", values)[0].verdict == "better"
    assert compare_pairs("m", values, matters=0.05)[0].verdict == "practically equal"
    assert compare_pairs("m", values, matters=0.02)[0].verdict == "better"


def test_few_queries_are_never_practically_equal_by_being_all_alike():
    values = {"a": named([1.0] * 6), "b": named([1.0] * 6)}
    assert compare_pairs("m", values, matters=0.05)[0].verdict == "not distinguishable"
    many = {"a": named([1.0] * 200), "b": named([1.0] * 200)}
    assert compare_pairs("m", many, matters=0.05)[0].verdict == "practically equal"


OTHER = {"better": "worse", "worse": "better"}
values = st.lists(st.floats(0, 1), min_size=6, max_size=12)


@given(values, values)
def test_verdicts_turn_and_figures_stay(one, other):
    n = min(len(one), len(other))
    table = {name: {f"q{i}": row[i] for i in range(n)} for name, row in (("a", one), ("b", other))}
    (up,) = compare_pairs("toxicity", table)
    (down,) = compare_pairs("toxicity", table, lower_is_better=True)
    assert down.verdict == OTHER.get(up.verdict, up.verdict)
    assert (down.difference, down.p_t, down.p_holm, down.needed) == (up.difference, up.p_t, up.p_holm, up.needed)


def test_the_sentence_says_so():
    table = {"clean": {f"q{i}": 0.01 * i for i in range(9)}, "rude": {f"q{i}": 0.8 + 0.01 * (i % 4) for i in range(9)}}
    (row,) = compare_pairs("toxicity", table, lower_is_better=True)
    assert row.sentence.startswith("clean is better than rude on toxicity (lower is better), by 0.7")
