"""The simulated judge of whole lists: its games are those that the product makes, and the product's verdicts hold."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.coverage.listwise import EQUAL, Cell, thurstone, told_apart
from benchmarks.coverage.ranking_judge import Judge, World, play, ranks, truth
from benchmarks.coverage.verdict import decided
from ragassay.evaluate.judging.engine.cases import ListCase
from ragassay.evaluate.judging.judges.games import games_of
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.ratings.win_table import contests
from ragassay.evaluate.statistics.clustered import intervals
from ragassay.records import Answer, Query, RankedList

WINNERS = {1: "a", 0: "tie", -1: "b"}
EXPERIMENTS = 400


def by_rank(world, ahead):
    """Agents in groups, best first, from whether each pair's first agent is ahead (1), level (0) or behind (-1)."""
    behind = Counter(dict.fromkeys(world.names, 0))
    for (one, other), sign in zip(world.pairs.tolist(), ahead, strict=True):
        behind[world.names[other]] += sign == 1
        behind[world.names[one]] += sign == -1
    return tuple(tuple(n for n in world.names if behind[n] == rank) for rank in sorted(set(behind.values())))


def lists_of(world, judged):
    """(query, presentation, places, order) of the first experiment."""
    for number, query in enumerate(world.queries):
        for at in range(judged.outcome.shape[2]):
            shown = by_rank(world, np.where(judged.ahead[0, number, at], 1, -1).tolist())
            yield query, at + 1, shown, by_rank(world, judged.outcome[0, number, at].tolist())


def games_of_the_product(world, judged):
    """As they are made from replies with these orders."""
    rows = []
    for query, presentation, shown, order in lists_of(world, judged):
        answers = tuple(Answer(query_id=query, agent=name, answer=name) for name in world.names)
        case = ListCase(Query(id=query, text=query), answers, shown, presentation, ())
        rows += games_of(
            case, RankedList(query_id=query, presentation=presentation, judge="j", shown=shown, order=order), "j"
        )
    return rows


@pytest.mark.parametrize("presentations", [1, 2, 3])
def test_what_is_simulated_are_the_games_of_the_product_and_their_verdicts(presentations: int):
    world = World(EQUAL, 13)
    judged = play(world, Judge(presentations, first=0.5), 1, np.random.default_rng(5))
    games = games_of_the_product(world, judged)
    assert [game.winner for game in games] == [WINNERS[sign] for sign in judged.outcome[0].reshape(-1).tolist()]
    assert [game.first == "a" for game in games] == judged.ahead[0].reshape(-1).tolist()
    found = verdicts(games)
    scores = (1 + judged.verdict[0]) / 2
    assert contests(found, world.names, world.queries).score.tolist() == scores.reshape(-1).tolist()
    if presentations > 1:
        assert [v.flipped for v in found] == judged.flipped[0].reshape(-1).tolist()
        assert [v.lean for v in found] == judged.to_first[0].sum(axis=1).reshape(-1).tolist()


def test_agents_stand_equally_often_in_each_place_and_the_second_list_is_the_first_in_reverse():
    world = World(EQUAL, 12)
    lists = list(lists_of(world, play(world, Judge(2), 1, np.random.default_rng(6))))
    places = Counter(
        (place, agent) for _, number, shown, _ in lists if number == 1 for place, agent in enumerate(shown)
    )
    assert set(places.values()) == {2} and len(places) == 36
    assert all(second[2] == first[2][::-1] for first, second in zip(lists[::2], lists[1::2], strict=True))


def test_answers_closer_than_the_threshold_to_the_next_one_are_level_with_it():
    seen = np.array([[0.4, 1.0, 0.7, -1.0, 2.0]])
    assert ranks(seen, 0.35).tolist() == [[1, 1, 1, 2, 0]]
    assert ranks(seen, 0.0).tolist() == [[3, 1, 2, 4, 0]]


def test_the_judge_ties_and_agrees_with_itself_as_often_as_was_seen():
    """Of the demo's answers, 180 pairs: 49 to 56 ties in a presentation, two agree in 91% to 93%, never opposite."""
    judged = play(World(EQUAL, 6000), Judge(2), 1, np.random.default_rng(7))
    assert 49 / 180 <= (judged.outcome == 0).mean() <= 56 / 180
    assert 0.91 <= 1 - judged.flipped.mean() <= 0.93
    assert (judged.outcome[:, :, 0] * judged.outcome[:, :, 1] == -1).mean() < 0.001


def test_thurstones_strengths_are_those_by_which_the_shares_came_about():
    strengths = np.array([0.6, 0.1, -0.2, -0.5])
    wins = norm.cdf((strengths[:, None] - strengths) / np.sqrt(2))
    np.fill_diagonal(wins, 0)
    assert thurstone(wins) == pytest.approx(strengths, abs=0.005)


@pytest.mark.parametrize("per_section", [1, 5])
@pytest.mark.parametrize("first", [0.0, 0.5])
def test_of_equal_agents_ranked_together_none_is_called_better_or_the_best_too_often(per_section: int, first: float):
    cell = Cell.of(World(EQUAL, 50, per_section, 0.5 * (per_section > 1)), Judge(2, first=first), EXPERIMENTS)
    beyond_chance = 0.05 + 2 * np.sqrt(0.05 * 0.95 / EXPERIMENTS)
    assert told_apart(cell)[0] <= beyond_chance
    assert (decided(cell.tables) >= 0).mean() <= beyond_chance


def test_intervals_hold_with_the_pairs_of_a_query_kept_together_and_not_with_each_by_itself():
    judge, world = Judge(2), World(EQUAL, 50)
    cell, rate = Cell.of(world, judge, EXPERIMENTS), truth(EQUAL, judge).points
    _, low, high = intervals(cell.tables.seen, np.ones(50), world.clusters, (0.0, 1.0))
    held = ((low <= rate) & (rate <= high)).mean()
    points, won = cell.tables.seen.mean(axis=-1), cell.tables.shares.mean(axis=-1)
    of_one_game = (points + won) / 2 - points**2
    alone = np.abs(points - rate) <= norm.ppf(0.975) * np.sqrt(of_one_game / (5 * 50))
    assert held >= 0.94 > 0.85 > alone.mean()
