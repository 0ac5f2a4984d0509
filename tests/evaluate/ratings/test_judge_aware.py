"""Judge-aware Bradley-Terry against closed forms, against plain Bradley-Terry, and on judges of known worth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.results_folder import game

from ragassay.evaluate.ratings.bradley_terry import POINTS, rate
from ragassay.evaluate.ratings.judge_aware import JudgeAware, JudgedGames, judged_games, rate_by_judges
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.ratings.win_table import contests
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import Game

LOG = (0.9, 0.4, 0.0, -0.3, -1.0)
NAMES = ("e", "d", "c", "b", "a")
"""Strongest last in the alphabet."""


def chance(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


def expected_games(reliability: Sequence[float], position: Sequence[float], n: int, log: Sequence[float] = LOG):
    """What the model expects of each pair, order and judge, on each of n queries: games whose scores are chances."""
    rows = [
        (max(i, j), min(i, j), k, query, order, chance(g * (log[max(i, j)] - log[min(i, j)]) + order * beta))
        for query in range(n)
        for i, j in combinations(range(len(log)), 2)
        for k, (g, beta) in enumerate(zip(reliability, position, strict=True))
        for order in (1, -1)
    ]
    size = len(log)
    columns = np.array(rows).T
    a, b, judge, query = (column.astype(np.intp) for column in columns[:4])
    judges, queries = tuple(f"j{k}" for k in range(len(reliability))), tuple(f"q{i:04}" for i in range(n))
    return JudgedGames(NAMES[::-1][-size:], judges, queries, size - 1 - a, size - 1 - b, judge, query, *columns[4:])


def rated(games: JudgedGames, replicates: int = 2, *, position: bool = True) -> JudgeAware:
    return rate_by_judges(games, resamples(games.queries, replicates, 7), position=position)


def values(figures: dict) -> dict[str, float | None]:
    return {name: figure.value for name, figure in figures.items()}


def simulated(
    reliability: Sequence[float], position: Sequence[float], n: int, seed: int = 1, log: Sequence[float] = LOG
) -> list[Game]:
    generator = np.random.default_rng(seed)
    games = []
    for query in range(n):
        for i, j in combinations(range(len(log)), 2):
            for k, (g, beta) in enumerate(zip(reliability, position, strict=True)):
                for first, sign in (("a", 1), ("b", -1)):
                    won = generator.random() < chance(g * (log[i] - log[j]) + sign * beta)
                    named = {"judge": f"j{k}", "first": first}
                    games.append(game(f"q{query:04}", NAMES[i], NAMES[j], "a" if won else "b", **named))
    return games


def of_games(games: Sequence[Game], replicates: int = 200, *, position: bool = True) -> JudgeAware:
    return rated(judged_games(games, NAMES, [row.query_id for row in games]), replicates, position=position)


def test_what_the_model_expects_gives_its_parameters_back():
    reliability, position = np.array([1.4, 0.7, 0.2]), np.array([0.0, 0.8, -0.4])
    found = rated(expected_games(reliability.tolist(), position.tolist(), 400))
    scale = np.sqrt((reliability**2).sum() / (reliability**4).sum())
    assert found.converged
    assert list(values(found.reliability).values()) == pytest.approx(reliability * scale, abs=2e-3)
    assert list(values(found.position).values()) == pytest.approx([chance(b) for b in position], abs=1e-3)
    ratings = [found.ratings[name].value for name in NAMES]
    log = np.array(LOG) - np.mean(LOG)
    assert ratings == pytest.approx(500 + POINTS * log / scale, abs=0.5)


@given(st.lists(st.tuples(st.sampled_from("abt"), st.booleans()), min_size=30, max_size=60), st.integers(0, 99))
def test_one_judge_without_a_position_effect_is_plain_bradley_terry(drawn: list[tuple[str, bool]], seed: int):
    """One order of each game, ties as half wins: value and interval are those of `bradley_terry`."""
    pairs = list(combinations("abcd", 2))
    games = [
        game(f"q{at // 3:02}", *pairs[(at * 5 + seed) % 6], {"t": "tie"}.get(winner, winner), "a" if first else "b")
        for at, (winner, first) in enumerate(drawn)
    ]
    queries = sorted({row.query_id for row in games})
    draws = resamples(queries, 60, 7)
    plain = rate(contests(verdicts(games), "abcd", queries, "games"), draws, ties="half")
    found = rate_by_judges(judged_games(games, "abcd", queries), draws, position=False)
    assert found.position == {}
    for agent, figure in plain.figures.items():
        mine = found.ratings[agent]
        assert (mine.n, mine.n_failed) == (figure.n, figure.n_failed)
        assert (mine.value is None) == (figure.value is None)
        if figure.value is not None:
            assert mine.value == pytest.approx(figure.value, abs=1e-3)
            assert found.reliability[""].value in (1.0, None)


def test_two_agents_in_both_orders_have_a_closed_form():
    """Davidson and Beaver 1977: half the sum of both log odds is strength, half the difference the order effect."""
    wins = {"a": 700, "b": 400}
    n = 1000
    games = [
        game(f"q{i:04}", "x", "y", "a" if i < wins[first] else "b", first, judge="j")
        for i in range(n)
        for first in "ab"
    ]
    queries = [row.query_id for row in games]
    found = rate_by_judges(judged_games(games, "xy", queries), resamples(queries, 2, 7))
    first, second = np.log(0.7 / 0.3), np.log(0.4 / 0.6)
    assert found.ratings["x"].value == pytest.approx(500 + POINTS * (first + second) / 4, abs=0.1)
    assert found.position["j"].value == pytest.approx(chance((first - second) / 2), abs=1e-3)


def test_two_agents_and_two_judges_have_a_closed_form():
    """Without an order effect, reliabilities are as the judges' log odds, on the scale where g^4 sums up to g^2."""
    odds = np.array([1.5, 0.6])
    games = expected_games((odds / odds[0]).tolist(), [0.0, 0.0], 4000, log=(odds[0], 0.0))
    found = rated(games, position=False)
    expected = odds * np.sqrt((odds**2).sum() / (odds**4).sum())
    assert list(values(found.reliability).values()) == pytest.approx(expected, abs=2e-3)


@given(st.permutations(range(5)), st.permutations(range(3)))
@settings(max_examples=8, deadline=None)
def test_names_do_not_matter(agents: list[int], judges: list[int]):
    games = simulated([1.2, 0.8, 0.3], [0.2, 0.0, -0.5], 12)
    new = {NAMES[i]: NAMES[to] for i, to in enumerate(agents)}
    of = {f"j{k}": f"j{to}" for k, to in enumerate(judges)}
    renamed = [
        row.model_copy(update={"agent_a": new[row.agent_a], "agent_b": new[row.agent_b], "judge": of[row.judge]})
        for row in games
    ]
    one, other = of_games(games, 20), of_games(renamed, 20)
    for mine, theirs, name in (
        (one.ratings, other.ratings, new),
        (one.reliability, other.reliability, of),
        (one.position, other.position, of),
    ):
        for key, figure in mine.items():
            same = theirs[name[key]]
            assert (same.n, same.n_failed) == (figure.n, figure.n_failed)
            assert same.value == pytest.approx(figure.value, abs=1e-5)
            assert same.ci_low == pytest.approx(figure.ci_low, abs=1e-5)


def test_all_winners_turned_round_turn_the_ratings_and_nothing_of_the_judges_but_their_place():
    games = simulated([1.2, 0.8, 0.3], [0.6, 0.0, -0.5], 12)
    turned = [row.model_copy(update={"winner": {"a": "b", "b": "a"}[row.winner or ""]}) for row in games]
    one, other = of_games(games, 2), of_games(turned, 2)
    for agent in NAMES:
        assert (one.ratings[agent].value or 0) + (other.ratings[agent].value or 0) == pytest.approx(1000, abs=1e-4)
    for judge in ("j0", "j1", "j2"):
        assert one.reliability[judge].value == pytest.approx(other.reliability[judge].value, abs=1e-6)
        assert (one.position[judge].value or 0) + (other.position[judge].value or 0) == pytest.approx(1, abs=1e-6)


def test_a_judge_who_throws_dice_moves_nobody():
    good = simulated([1.0, 1.0], [0.0, 0.0], 60)
    dice = [row.model_copy(update={"judge": "dice"}) for row in simulated([0.0], [0.0], 60, seed=5)]
    alone, beside = of_games(good), of_games([*good, *dice])
    worth = beside.reliability["dice"]
    assert worth.value == pytest.approx(0, abs=0.12) and (worth.ci_low or 0) < 0 < (worth.ci_high or 0)
    assert any(note.startswith("dice: its reliability is not told from 0") for note in beside.notes)
    for agent in NAMES:
        one, other = alone.ratings[agent], beside.ratings[agent]
        assert one.value == pytest.approx(other.value, abs=10)
        widths = [(figure.ci_high or 0) - (figure.ci_low or 0) for figure in (one, other)]
        assert widths[1] < 1.15 * widths[0]
    as_one = of_games([row.model_copy(update={"judge": "all"}) for row in [*good, *dice]], 2)
    assert (as_one.ratings["e"].value or 0) < (beside.ratings["e"].value or 0) - 20  # as one judge, all are pulled in


def test_a_judge_who_contradicts_the_others_is_named():
    found = of_games(simulated([1.0, 1.0, -1.0], [0.0, 0.0, 0.0], 40))
    assert (found.reliability["j2"].ci_high or 0) < 0 < (found.reliability["j0"].ci_low or 0)
    assert "j2: its verdicts contradict those of the others" in found.notes
    ratings = [found.ratings[name].value or 0 for name in NAMES]
    assert ratings == sorted(ratings, reverse=True)


def test_two_judges_who_contradict_each_other_share_no_order():
    found = of_games(simulated([1.0, -1.0], [0.0, 0.0], 40))
    assert "no judge is sure to go with the others" in found.notes[0]
    assert all((f.ci_low or 0) < 500 < (f.ci_high or 0) for f in found.ratings.values() if f.value is not None)


def test_of_a_judge_who_always_takes_the_first_only_that_is_told():
    games = simulated([1.0, 1.0], [0.0, 0.0], 30)
    games += [
        game(f"q{i:04}", "a", "b", "a" if f == "a" else "b", f, judge="first") for i in range(30) for f in "ab"[i % 2 :]
    ]
    found = of_games(games)
    assert found.reliability["first"].value is None and "first: its games do not tell its reliability" in found.notes
    place = found.position["first"]
    assert 0.95 < (place.value or 0) <= (place.ci_high or 0) <= 1 and place.n == 45
    assert found.position["j0"].value == pytest.approx(0.5, abs=0.07)


def test_an_agent_that_always_wins_has_no_finite_rating():
    found = of_games(simulated([50.0, 50.0], [0.0, 0.0], 4))
    assert set(values(found.ratings).values()) | set(values(found.reliability).values()) == {None}
    assert "one-sided, no finite ratings" in found.notes[0]


def test_one_dice_thrower_does_not_make_a_one_sided_judge_finite():
    games = [*simulated([50.0], [0.0], 30), *(r.model_copy(update={"judge": "k"}) for r in simulated([0.0], [0.0], 30))]
    found = of_games(games, 20)
    assert "the verdicts of the judges that go together run one way" in found.notes[0]
    assert set(values(found.ratings).values()) == {None}


def test_what_failed_is_counted_and_not_a_tie():
    games = simulated([1.0, 1.0], [0.0, 0.0], 20)
    lost = [game("q0000", "a", "b", None, judge="j0"), game("q0001", "a", "b", None, judge="j9")]
    found = of_games([*games, *lost])
    assert values(found.ratings) == values(of_games(games).ratings)
    assert [found.ratings[name].n_failed for name in ("a", "b", "c")] == [2, 2, 0]
    assert (found.reliability["j0"].n, found.reliability["j0"].n_failed) == (400, 1)
    assert (found.reliability["j9"].value, found.reliability["j9"].n, found.reliability["j9"].n_failed) == (None, 0, 1)


def test_agents_without_games_are_said_and_nothing_at_all_is_no_crash():
    games = simulated([1.0], [0.0], 20)
    queries = [row.query_id for row in games]
    found = rate_by_judges(judged_games(games, [*NAMES, "idle"], queries), resamples(queries, 20, 7))
    assert found.ratings["idle"].value is None and any("not rated" in note and "idle" in note for note in found.notes)
    none = rate_by_judges(judged_games([], NAMES, []), resamples([], 20, 7))
    assert set(values(none.ratings).values()) == {None} and none.notes == ("no ratings: no game has a winner",)
