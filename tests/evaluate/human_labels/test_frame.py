"""Drawing what to label: the probabilities kept are those it was drawn with, and weights undo them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.results_folder import judgment

from ragassay.evaluate.human_labels.frame import Unit, draw, numbers, probabilities, systematic, unsure
from ragassay.evaluate.human_labels.sheet import Drawn, inclusion

SIZES = [1.0, 3.0, 1.0, 2.0, 3.0, 1.0, 1.0]
VALUES = [2.0, 0.0, 1.0, 1.0, 2.0, 0.0, 1.0]


def test_every_sample_counted_the_weighted_sum_is_unbiased() -> None:
    """The samples change only at the summed probabilities' fractions: all of them, each with its probability."""
    chances = probabilities(SIZES, 3)
    sums = [sum(chances[: index + 1]) % 1 for index in range(len(chances))]
    cuts = [0.0, *sorted(set(sums) - {0.0}), 1.0]
    expected, shares = 0.0, [0.0] * len(SIZES)
    for low, high in pairwise(cuts):
        drawn = systematic(chances, (low + high) / 2)
        expected += (high - low) * sum(VALUES[index] / chances[index] for index in drawn)
        for index in drawn:
            shares[index] += high - low
    assert shares == pytest.approx(chances)
    assert expected == pytest.approx(sum(VALUES))


@given(st.lists(st.floats(0.1, 5), min_size=1, max_size=30), st.integers(1, 30), st.floats(0, 0.999))
def test_as_many_are_drawn_as_asked(sizes: list[float], n: int, start: float) -> None:
    n = min(n, len(sizes))
    chances = probabilities(sizes, n)
    assert sum(chances) == pytest.approx(n)
    assert max(chances) <= 1
    assert abs(len(systematic(chances, start)) - n) <= 1


def test_what_is_too_large_for_its_share_is_drawn_surely() -> None:
    assert probabilities([10.0, 1.0, 1.0], 2) == [1.0, 0.5, 0.5]


def test_each_stratum_gets_its_share_for_any_seed() -> None:
    units = [Unit("answers", ((f"q{i}", "a" if i % 2 else "b", "accuracy"),), ("ab"[i % 2],), 0.0) for i in range(40)]
    for seed in range(20):
        drawn = [unit for unit, _, taken in draw(units, 10, seed) if taken]
        assert sum(unit.place == ("a",) for unit in drawn) == 5


@pytest.mark.parametrize(
    ("label", "probability", "expected", "value"),
    [(2, None, None, 0), (1, None, None, 1), (2, 0.9, None, 0.2), (1, 0.6, 1.5, 1), (0, 0.9, 0.1, 0.2)],
)
def test_unsure(label: float, probability: float | None, expected: float | None, value: float) -> None:
    row = judgment("q", "s", "c", label, probability=probability, expected=expected)
    assert unsure(row) == pytest.approx(value)


def test_two_sheets_together() -> None:
    def frame(probability: float, drawn: bool) -> list[Drawn]:
        return [
            Drawn(
                item="i1", kind="answers", query="q", subject="a", criterion="c", probability=probability, drawn=drawn
            )
        ]

    both = inclusion([frame(0.5, True), frame(0.25, False)])
    assert both == {("q", "a", "c"): float(1 - Fraction(1, 2) * Fraction(3, 4))}
    assert inclusion([frame(0.5, False)]) == {}


def test_labels_are_shared_between_kinds_and_what_is_little_is_taken_whole() -> None:
    passages = [Unit("passages", tuple((f"q{i}", f"p{j}", "relevance") for j in range(10)), (), 0.0) for i in range(9)]
    answers = [Unit("answers", ((f"q{i}", "a", "c"),), (), 0.0) for i in range(20)]
    assert numbers({"passages": passages, "answers": answers, "games": []}, 100) == {"answers": 20, "passages": 8}
