"""The statistics behind the page, against scipy, closed forms and properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, linregress, ttest_ind
from scipy.stats import t as student

from ragassay.evaluate.inputs.clusters import clusters_of_rows
from ragassay.evaluate.validity.difficulty import FAILED, PASSED, authors, difficulty, smallest_subset
from ragassay.evaluate.validity.leak import Overlap, is_copied, overlap
from ragassay.evaluate.validity.people import people
from ragassay.evaluate.validity.questions import Measured, Question, Reading, group_difference, slopes
from ragassay.evaluate.validity.realism import Corpus, coverage
from ragassay.evidence import Span
from ragassay.synth.questions.reject import shape_of, words_of


def measured(values: np.ndarray, sections: list[str] | None = None) -> Measured:
    n_variants, n = values.shape
    clusters = clusters_of_rows(sections or [f"{at:04}" for at in range(n)])
    names = tuple(f"v{at:03}" for at in range(n_variants))
    return Measured(names, tuple("ab"[at % 2] for at in range(n_variants)), values, clusters, "evidence_recall")


def question(at: int, author: str | None = "x:m") -> Question:
    return Question(str(at), f"q{at}", f"c{at}", author)


def test_a_difference_of_groups_is_welch_s_but_for_one_cluster_in_all():
    rng = np.random.default_rng(1)
    values = rng.random((3, 40))
    inside = np.arange(40) < 20
    found = group_difference(values, inside, clusters_of_rows([str(n) for n in range(40)]))
    for row, value, error in zip(values, found.value, found.error, strict=True):
        test = ttest_ind(row[inside], row[~inside], equal_var=False)
        assert value == pytest.approx(row[inside].mean() - row[~inside].mean())
        assert error == pytest.approx(value / test.statistic * np.sqrt(40 / 39 * 19 / 20))


def test_questions_asked_twice_of_a_section_decide_no_more_than_once():
    values, inside = np.random.default_rng(2).random((2, 30)), np.arange(30) % 2 == 0
    once = clusters_of_rows([str(n) for n in range(30)])
    twice = clusters_of_rows([str(n) for n in (*range(30), *range(30))])
    x = values[0] + 0.1
    for function, second in ((group_difference, inside), (slopes, x)):
        one = function(values, second, once)
        two = function(np.tile(values, 2), np.tile(second, 2), twice)
        np.testing.assert_allclose([two.value, two.error, two.df], [one.value, one.error, one.df], atol=1e-12)


def test_a_slope_is_scipy_s_and_its_interval_that_of_a_jackknife():
    rng = np.random.default_rng(3)
    x, y = rng.random(25), rng.random(25)
    found = slopes(y[None], x, clusters_of_rows([f"{n:02}" for n in range(25)]))
    assert found.value[0] == pytest.approx(linregress(x, y).slope)
    left = [linregress(np.delete(x, n), np.delete(y, n)).slope for n in range(25)]
    assert found.error[0] == pytest.approx(np.sqrt(24 / 25 * ((np.array(left) - found.value[0]) ** 2).sum()))
    assert np.isnan(slopes(y[None], np.ones(25), clusters_of_rows(["a"] * 25)).value[0])


def test_an_interval_of_unlike_slopes_holds_the_truth_about_as_often_as_it_says():
    rng, held = np.random.default_rng(4), 0
    for _ in range(300):
        sections = np.repeat(np.arange(12), 3)
        x = rng.random(36)
        y = 0.5 * x + rng.normal(0, 0.2, 12)[sections] + rng.normal(0, 0.2, 36)
        (figure,) = slopes(y[None], x, clusters_of_rows([f"{s:02}" for s in sections])).figures()
        held += figure.ci_low <= 0.5 <= figure.ci_high
    assert 0.92 <= held / 300 <= 0.99


@given(st.lists(st.sampled_from(["ein", "zwei", "drei", "vier"]), min_size=1, max_size=8), st.data())
def test_a_run_is_the_longest_that_both_have(asked: list[str], data: st.DataObject):
    there = data.draw(st.lists(st.sampled_from(["ein", "zwei", "drei", "vier"]), max_size=12))
    found = overlap(" ".join(asked), " ".join(there), Reading(words_of, lambda t: shape_of(t, "de").content, str))
    runs = [asked[a:b] for a in range(len(asked)) for b in range(a + 1, len(asked) + 1)]
    longest = max((len(r) for r in runs if any(there[at : at + len(r)] == r for at in range(len(there)))), default=0)
    assert found.run == longest and found.run_share == pytest.approx(longest / len(asked))


@pytest.mark.parametrize(
    ("run", "share", "copied"),
    [(6, 0.6, True), (5, 1.0, False), (6, 0.59, False), (40, 0.3, False), (1, 0.1, False), (7, 0.7, True)],
)
def test_copied_is_what_has_many_words_in_a_row_that_are_most_of_the_question(run: int, share: float, copied: bool):
    assert is_copied(Overlap(0.0, run, share)) == copied


def test_pages_that_only_touch_the_evidence_are_not_covered():
    pages = {("a", n): Span("a", 100 * n, 100 * n + 100) for n in (1, 2, 3)} | {("b", 2): Span("b", 200, 300)}
    corpus = Corpus({}, pages)
    asked = [Question("q", "How?", "c", "x:m", doc="a")]
    reading = Reading(words_of, lambda t: shape_of(t, "de").content, str)
    found = coverage(asked, {"q": [Span("a", 200, 300)]}, corpus, {}, (), reading)
    assert (found.figures["pages"].value, found.figures["pages"].n) == (0.25, 4)
    found = coverage(asked, {"q": [Span("a", 199, 301)]}, corpus, {}, (), reading)
    assert found.figures["pages"].value == 0.75


def test_two_characters_of_a_script_without_spaces_are_a_word():
    found = overlap(
        "看门狗定时器", "要停止看门狗定时器,请写寄存器", Reading(words_of, lambda t: shape_of(t, "zh").content, str)
    )
    assert (found.run, found.run_share, found.shared) == (3.0, 1.0, 1.0)


def test_discrimination_is_the_item_rest_correlation_and_difficulty_the_mean():
    values = np.random.default_rng(5).random((12, 10))
    values[:, 3], values[:, 4] = 1.0, 0.0
    questions = [question(at) for at in range(10)]
    found = difficulty(questions, measured(values), seed=7)
    for at, row in enumerate(found.questions):
        assert row.difficulty.value == pytest.approx(values[:, at].mean())
        if at not in (3, 4):
            rest = np.delete(values, at, axis=1).mean(axis=1)
            assert row.discrimination.value == pytest.approx(np.corrcoef(values[:, at], rest)[0, 1])
    assert found.questions[3].discrimination.value is None
    assert (found.figures["all_pass"].value, found.figures["all_fail"].value) == (0.1, 0.1)
    assert found.figures["alike"].value == 0.2


def test_only_a_question_that_surely_goes_against_the_others_is_said_to():
    """One falls where others rise; one is noise, whose interval has both signs; two stand at the bars."""
    rise = np.linspace(PASSED, FAILED, 12)[::-1, None]
    values = np.repeat(rise, 10, axis=1) + np.random.default_rng(3).normal(0, 1e-3, (12, 10))
    values[:, 4], values[:, 5] = 1 - values[:, 4], np.tile([0.2, 0.8], 6)
    values[:, 6], values[:, 7] = PASSED, FAILED
    found = difficulty([question(at) for at in range(10)], measured(values), seed=7)
    noise = found.questions[5].discrimination
    assert noise.ci_low < 0 < noise.ci_high and found.questions[4].discrimination.ci_high < 0
    assert found.figures["against"].value == 0.1
    assert (found.figures["all_pass"].value, found.figures["all_fail"].value) == (0.1, 0.1)


def test_where_questions_say_the_same_one_is_enough_and_where_they_say_nothing_few_are_not():
    same = np.repeat(np.random.default_rng(6).random((16, 1)), 20, axis=1)
    assert len(smallest_subset(measured(same), 7).questions) == 1
    noise = np.random.default_rng(6).random((40, 20))
    found = smallest_subset(measured(noise), 7)
    assert len(found.questions) > 10 and found.tau_b_chosen.value >= found.tau_b.value
    assert smallest_subset(measured(np.ones((16, 20))), 7) is None


def test_orders_beside_people_s_are_scipy_s_and_reversed_ones_contradict():
    rng = np.random.default_rng(8)
    means = np.linspace(0.2, 0.8, 10)[:, None]
    values = np.clip(means + rng.normal(0, 0.15, (10, 60)), 0, 1)
    questions = [question(at, None if at < 30 else "x:m") for at in range(60)]
    (found,) = people(questions, {"evidence": measured(values)}, 7).beside
    tau = kendalltau(values[:, :30].mean(axis=1), values[:, 30:].mean(axis=1)).statistic
    assert found.figures["tau_b"].value == pytest.approx(tau)
    assert found.figures["tau_b"].ci_low > 0 and found.figures["contradicted"].value == 0.0
    reverse = values.copy()
    reverse[:, 30:] = 1 - reverse[:, 30:]
    told = people(questions, {"evidence": measured(reverse)}, 7)
    assert told.beside[0].figures["contradicted"].value == 1.0 and told.beside[0].worth.bound == "fewer than"
    assert "contradict people's" in told.warnings[0]


def test_what_may_be_chance_is_no_contradiction():
    """Of four variants that differ little, written questions see two the other way round, which may be luck."""
    questions = [question(at, None if at < 30 else "x:m") for at in range(60)]
    seen = set()
    for seed in range(8):
        means = np.array([0.3, 0.4, 0.5, 0.6])[:, None]
        values = np.clip(means + np.random.default_rng(seed).normal(0, 0.5, (4, 60)), 0, 1)
        values[:2, 30:] = values[1::-1, 30:]
        values[0, 30:] += 0.2
        told = people(questions, {"evidence": measured(values)}, 7)
        wrong = told.beside[0].figures["contradicted"]
        if wrong.value is not None:
            surely = wrong.value > 0.05 and wrong.ci_low is not None and wrong.ci_low > 0
            assert bool(told.warnings) == surely
            seen.add((wrong.value > 0.05, surely))
    assert seen >= {(True, False), (True, True), (False, False)}


def test_a_favour_is_told_at_the_level_of_all_groups_and_families_together():
    """Bonferroni, by scipy's t: two families by three authors are six tests."""
    seen = set()
    for seed in range(12):
        values = np.random.default_rng(seed).random((6, 36))
        values[::2, :12] += 0.15
        asked = [question(at, f"{'xyz'[at // 12]}:m") for at in range(36)]
        part = measured(values)
        found = authors(asked, part, [None], [], 7).favours
        lead = part.by_family - part.by_family.mean(axis=0)
        for number, name in enumerate("xyz"):
            of = group_difference(lead, np.arange(36) // 12 == number, part.clusters)
            p = 2 * student.sf(np.abs(of.value / of.error), of.df)
            rows = [one for one in found if one.group == f"{name}:m"]
            assert [one.told for one in rows] == (p < 0.05 / 6).tolist()
            seen |= {(one < 0.05 / 2, one < 0.05 / 3, one < 0.05 / 6) for one in p}
    assert {(True, True, False), (True, True, True), (False, False, False)} <= seen


def test_few_real_questions_are_not_compared():
    questions = [question(at, None if at < 9 else "x:m") for at in range(30)]
    found = people(questions, {"evidence": measured(np.random.default_rng(9).random((4, 30)))}, 7)
    assert found.beside == () and "9 of people's questions have a value of every variant" in found.abstained
