"""What is measured of a question, counted by hand; the two-sample test by looks and meaning: scikit-learn's figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from support.question_pool import looks

from ragassay.synth import looks as module
from ragassay.synth.looks import (
    TOLD,
    Features,
    Passages,
    auc,
    auc_interval,
    differences,
    features_of,
    fit_logistic,
    form_of,
    is_identifier,
    principal_components,
    questions_check,
    told_apart,
    told_apart_by_meaning,
)

pytestmark = pytest.mark.usefixtures("few_resamples")


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RESAMPLES", 20)


TEXTS = [
    "The fuse bits select the clock source of the device.",
    "Call pgm_read_byte to read a byte from program memory.",
    "Interrupts are enabled by sei().",
]
PASSAGES = Passages(TEXTS, "en")


def test_a_question_beside_its_passage() -> None:
    """Content words: read, byte, flash; the passage has the first two. "read a byte from" are 4 of its 8 words."""
    found = features_of("How do I read a byte from flash?", PASSAGES, "en")
    assert found == Features(8, 32, 2 / 3, 0.5, 0, 1, 0, 0, 0, 0)


def test_a_question_that_shares_nothing_with_any_passage() -> None:
    found = features_of("Warranty of ACME-9000 toasters", PASSAGES, "en")
    assert (found.shared_words, found.longest_run, found.identifiers, found.keywords) == (0, 0, 1, 1)
    assert features_of("Why?", Passages([], "en"), "en").shared_words == 0


def test_the_best_passage_is_the_first_of_bm25() -> None:
    """rank-bm25 would put the same first: only the second passage has the rare word."""
    assert PASSAGES.best("What does pgm_read_byte do?") == TEXTS[1]
    assert PASSAGES.best("zebra") == ""


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("How to use external RAM?", "wh"),
        ("Shouldn't I initialize all my variables?", "yes_no"),
        ("Can I use C++ on the AVR?", "yes_no"),
        ("When building the tools on Windows, should I take Cygwin?", "yes_no"),
        ("When I turn on -O2, why does my loop go away?", "wh"),
        ("I am using floating point math. Why is the compiled code so big?", "wh"),
        ("My UART is generating nonsense! Port F is completely broken!", "statement"),
        ("Vitamin C prevents the common cold in children.", "statement"),
        ("avr-ld default linker script location", "keywords"),
        ("Explain how fuses are set.", "wh"),
        ("Kann ich eine Tabelle im Flash ablegen?", "yes_no"),
        ("Warum wird meine Schleife entfernt?", "wh"),
        ("¿Puedo usar C++ en el AVR?", "yes_no"),
        ("看门狗定时器的超时时间是多少？", "wh"),
    ],
)
def test_forms(question: str, form: str) -> None:
    assert form_of(question) == form


NAMES = ["sei()", "pgm_read_byte", "avrGcc", "UART1", "-O2", "C++", "io.h", "MCUCR,", '"sin()"']
WORDS = ["What", "re-enabled", "don't", "“flash”,", "(many)", "a", "...", "undefined?", "end."]


@pytest.mark.parametrize(("word", "is_one"), [*((name, True) for name in NAMES), *((word, False) for word in WORDS)])
def test_names_of_things_and_words_that_are_none(word: str, is_one: bool) -> None:
    assert is_identifier(word) == is_one


def test_scripts_without_spaces_have_words_too() -> None:
    assert features_of("看门狗定时器的超时时间是多少？", PASSAGES, "zh").words == 7


def test_each_is_told_in_words() -> None:
    assert tuple(TOLD) == Features._fields


scores = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=12)


@given(scores, scores)
def test_the_area_is_scikit_learns(positive: list[float], negative: list[float]) -> None:
    truth = [1] * len(positive) + [0] * len(negative)
    assert np.isclose(auc(np.array(positive), np.array(negative)), roc_auc_score(truth, positive + negative))


@pytest.mark.parametrize(("shift", "seed"), [(0.0, 1), (30.0, 3)])
def test_the_regression_is_scikit_learns(shift: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, positive, times = rng.normal(size=(60, 4)), np.arange(60) >= 20, rng.integers(1, 4, 60).astype(float)
    points[positive] += shift
    rows = np.repeat(np.arange(60), times.astype(int))
    theirs = LogisticRegression(C=1.0, class_weight="balanced", tol=1e-10, max_iter=10_000)
    theirs.fit(points[rows], positive[rows])
    [ours, _] = fit_logistic(np.stack([points, points]), positive, np.stack([times, np.ones(60)]))
    assert np.allclose(ours, [*theirs.intercept_, *theirs.coef_[0]], atol=1e-4)


def test_newcombes_published_intervals() -> None:
    """Newcombe 2006, part 2: where all pairs are in order the lower end is the area whose own error reaches 1."""
    low, high = auc_interval(1.0, 36, 36)
    error = (1 - low) / 1.959963984540054
    spread = (1 - low) / (2 - low) + low / (1 + low)
    assert high == pytest.approx(1) and error**2 == pytest.approx(low * (1 - low) * (1 + 35 * spread) / 36**2)
    assert auc_interval(0.7, 36, 36, error=0.2)[0] < auc_interval(0.7, 36, 36)[0] < 0.7


def test_two_halves_of_one_set_are_not_told_apart() -> None:
    found = [told_apart(looks(36, 10, rng), looks(36, 10, rng), seed=1) for rng in map(np.random.default_rng, range(3))]
    assert sum(one.ci_low <= 0.5 <= one.ci_high for one in found if one) >= 2  # type: ignore[operator]
    assert 0.4 < np.mean([one.value for one in found if one and one.value is not None]) < 0.6


def test_a_set_twice_as_long_is_told_apart_and_why_is_said() -> None:
    rng = np.random.default_rng(4)
    experts, written = looks(20, 10, rng), looks(30, 40, rng)
    check = questions_check(experts, written, seed=7)
    assert check.auc is not None and check.auc.value == 1.0 and check.auc.n == 50
    assert check.auc.ci_low is not None and 0.8 < check.auc.ci_low < 1 and check.auc.ci_high == pytest.approx(1)
    assert [row.feature for row in check.features[:2]] in (["words", "characters"], ["characters", "words"])
    told = check.said or ""
    assert told.startswith("experts' and written questions are told apart with an AUC of 1.00 [0.")
    assert "on 20 and 30 (0.5 is ideal); most by: length in" in told


def test_below_ten_of_either_nothing_is_said() -> None:
    rng = np.random.default_rng(4)
    experts, written = looks(12, 10, rng), looks(12, 12, rng)
    few = questions_check(experts[:9], written, seed=7)
    assert few.auc is None and len(few.features) == 10
    assert few.said == (
        "whether experts' and written questions can be told apart is not said of 9 and 12: it takes 10 of each"
    )
    assert questions_check([], written, seed=7).said is None


def test_differences_are_cohens() -> None:
    """Means 2 and 5 with variances 1 and 9: (5 - 2) / sqrt((1 + 9) / 2). What does not vary has no such difference."""
    base = looks(1, 10, np.random.default_rng(1))[0]._replace(wh=0.0)
    experts = [base._replace(words=1.0), base._replace(words=3.0)]
    written = [base._replace(words=2.0, wh=1.0), base._replace(words=8.0, wh=1.0)]
    rows = {row.feature: row for row in differences(experts, written)}
    assert rows["words"].difference == pytest.approx(3 / 5**0.5)
    assert rows["wh"].difference is None and rows["characters"].difference == 0.0
    assert differences(experts, written)[0].feature == "wh"


EXPERTS, WRITTEN = [f"e{i}" for i in range(30)], [f"w{i}" for i in range(30)]


def embedding(apart: float) -> Callable[[Sequence[str]], npt.NDArray[np.floating]]:
    """Twenty numbers a text, those of written ones `apart` standard deviations away along one direction."""

    def embed(texts: Sequence[str]) -> npt.NDArray[np.floating]:
        rows = np.random.default_rng(5).normal(size=(len(texts), 20))
        rows[:, 0] += [apart * text.startswith("w") for text in texts]
        return rows

    return embed


def look(text: str) -> Features:
    return looks(1, 10, np.random.default_rng(int(text[1:])))[0]


def test_components_are_scikit_learns_but_for_their_signs() -> None:
    rows = np.random.default_rng(3).normal(size=(40, 12))
    ours, theirs = principal_components(rows, 5), PCA(5).fit_transform(rows)
    assert np.allclose(np.abs(ours), np.abs(theirs))
    assert principal_components(np.ones((4, 3)), 5).shape == (4, 0)


@pytest.mark.parametrize(("apart", "told"), [(0.0, False), (6.0, True)])
def test_what_looks_alike_is_told_apart_by_its_meaning_alone(apart: float, told: bool) -> None:
    found = told_apart_by_meaning(EXPERTS, WRITTEN, look, embedding(apart), seed=1)
    assert found is not None and found.n == 60 and found.ci_low is not None
    assert (found.ci_low > 0.5) is told


def test_too_few_are_not_embedded() -> None:
    def never(texts: Sequence[str]) -> npt.NDArray[np.floating]:
        raise AssertionError(texts)

    assert told_apart_by_meaning(EXPERTS[:9], WRITTEN, look, never, seed=1) is None
