"""Games as items of a correction: after adaptive play each counts as in the win rate, judged or labelled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay.evaluate.human_labels.corrections import Labels, game_items, sample_of, weighted
from ragassay.evaluate.human_labels.frame import draw, games
from ragassay.evaluate.inputs.clusters import ALONE
from ragassay.evaluate.inputs.labels import GAME
from ragassay.evaluate.ratings.verdicts import Verdict
from ragassay.evaluate.ratings.win_table import win_rate_by_query
from ragassay.evaluate.statistics.ppi import posterior, ppi_difference, ppi_mean
from ragassay.records import Winner

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
    added = {agent: np.array([*win_rate_by_query(uneven, agent, QUERIES).values()], dtype=float) for agent in "ab"}
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


def test_a_game_is_drawn_by_what_it_counts(uneven: list[Verdict]) -> None:
    """Twelve queries over those on which the pair met: games of a and c are drawn four times as often as a and b's."""
    chances = {unit.place[0]: chance for unit, chance, _ in draw(games(uneven), 3, 1)}
    assert chances["a:c"] == pytest.approx(4 * chances["a:b"])
    assert chances["b:c"] == pytest.approx(2 * chances["a:b"])
