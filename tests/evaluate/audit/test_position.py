"""Judges that rank by where answers stand are found out, and move no agent: a scripted judge for each fault."""

from __future__ import annotations

import random
from itertools import pairwise, product
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from support.results_folder import answer, game
from support.scripted_games import AGENTS, coin, finding, guessed, names, play

from ragassay.evaluate.audit.position import audit_echo, audit_places, audit_position, flips_by_guessing
from ragassay.evaluate.inputs.clusters import Clusters
from ragassay.evaluate.judging.engine.cases import ListCase
from ragassay.evaluate.judging.games import sittings, turns
from ragassay.evaluate.judging.judges.games import games_of
from ragassay.evaluate.ratings import bradley_terry
from ragassay.evaluate.ratings.verdicts import verdicts
from ragassay.evaluate.ratings.win_table import contests
from ragassay.evaluate.statistics.resamples import resamples
from ragassay.records import IDENTICAL, Query, RankedList

SIX = ("amber", "beryl", "coral", "diamond", "emerald", "flint")
QUALITY = dict(zip(SIX, (1.0, 0.8, 0.6, 0.4, 0.2, 0.0), strict=True))


def ranked(n, scores, agents=SIX, presentations=2, seated=None):
    """(games, lists) of `n` queries in balanced orders; `scores(query, presentation, agents as shown)` is a score each.

    seated: (query, presentation) to the agents as shown, where the orders are not to be balanced.
    """
    games, lists, turn = [], [], turns(names(n), "7:presentations")
    for query in names(n):
        for sitting in sittings(agents, turn[query], presentations):
            order = sitting.agents[::-1] if sitting.turned else sitting.agents
            order = seated(query, sitting.presentation) if seated else order
            given = scores(query, sitting.presentation, order)
            levels = sorted(set(given), reverse=True)
            groups = tuple(tuple(a for a, s in zip(order, given, strict=True) if s == level) for level in levels)
            shown = tuple((agent,) for agent in order)
            answers = tuple(answer(query, agent, agent) for agent in agents)
            row = RankedList(query_id=query, presentation=sitting.presentation, judge="j", shown=shown, order=groups)
            lists.append(row)
            games += games_of(ListCase(Query(_id=query, text="?"), answers, shown, sitting.presentation, ()), row, "j")
    return games, lists


def of_quality(query, presentation, order):
    """The agents' qualities, with luck of a query's own; the same however they are shown."""
    return [QUALITY[agent] + random.Random(f"{query}:{agent}").gauss(0, 0.8) for agent in order]


def with_bonus(bonus):
    """The same, and a bonus by place."""
    return lambda *case: [score + bonus(place) for place, score in enumerate(of_quality(*case))]


def as_shown(query, presentation, order):
    return [-place for place, _ in enumerate(order)]


def the_reverse(query, presentation, order):
    return [place for place, _ in enumerate(order)]


def draws(n, per_section=1):
    return resamples(names(n), 200, 7, Clusters.named(names(n), [f"s{i // per_section:03d}" for i in range(n)]))


def ratings(games, n):
    return bradley_terry.rate(contests(verdicts(games), SIX, names(n)), draws(n)).figures


def told(n, scores, **more):
    games, lists = ranked(n, scores, **more)
    agents = more.get("agents", SIX)
    return games, audit_places(games, agents, draws(n)), audit_echo(lists, draws(n))


def test_a_sober_judge_gets_no_warning_and_places_win_half_of_their_pairs():
    games, (trend, *places), (echo,) = told(36, of_quality)
    assert trend.p is None and trend.figure.value == 0 and trend.figure.ci_low < 0 < trend.figure.ci_high
    assert [row.subject for row in places] == list("123456")
    assert all(row.figure.ci_low < 0.5 < row.figure.ci_high and row.figure.n == 36 * 2 * 5 for row in places)
    assert {row.warning for row in (trend, *places, echo)} == {None}
    assert "By any presentation alone, " in trend.sentence and audit_position(games, SIX, draws(36))[0].warning is None


@pytest.mark.parametrize(
    "bonus", [lambda place: 1.0 * (place == 0), lambda place: -0.1 * place], ids=["first", "falling"]
)
def test_a_judge_that_favours_the_first_place_is_found_out_and_over_two_presentations_moves_no_agent(bonus):
    n = 72
    games, (trend, *places), _ = told(n, with_bonus(bonus))
    sober, _ = ranked(n, of_quality)
    assert trend.p < 0.001 and trend.figure.ci_low > 0 and "favours answers shown earlier" in trend.sentence
    assert places[0].p < 0.001 and places[0].figure.ci_low > 0.5
    biased, fair = ratings(games, n), ratings(sober, n)
    assert max(SIX, key=lambda agent: biased[agent].value) == max(SIX, key=lambda agent: fair[agent].value) == "amber"
    for agent in SIX:
        assert abs(biased[agent].value - fair[agent].value) < (fair[agent].ci_high - fair[agent].ci_low) / 2


@pytest.mark.parametrize(("judge", "sign"), [(as_shown, 1), (the_reverse, -1)], ids=["order", "reverse"])
def test_a_judge_that_gives_back_the_order_shown_or_its_reverse_is_named_and_ties_all(judge, sign):
    n = 24
    games, (trend, *places), (echo,) = told(n, judge)
    assert echo.figure.value == (sign > 0) and echo.fair == pytest.approx(1 / factorial(6)) and echo.p < 0.001
    assert echo.warning.startswith(
        "The judge may be repeating the order it was shown: 48 of 48 lists came back exactly "
    )
    assert ("in its reverse" in echo.warning) == (sign < 0) and "0.1% would by chance" in echo.warning
    assert trend.figure.value == sign and [row.figure.value for row in places][:: len(places) - 1] == [
        sign > 0,
        sign < 0,
    ]
    assert {v.winner for v in verdicts(games)} == {"tie"}
    assert {figure.value for figure in ratings(games, n).values()} == {500.0}


def test_a_sober_judge_whose_order_is_a_row_of_the_square_is_not_called_an_echo():
    """With the same order on every query one presentation in six is as shown, and its other is the reverse of it."""
    n, agents = 36, ("amber", "beryl")
    row = sittings(SIX, 0, 1)[0].agents
    _, _, (echo,) = told(n, lambda query, presentation, order: [-row.index(agent) for agent in order])
    assert echo.figure.value == pytest.approx(1 / 6) and echo.fair == pytest.approx(1 / 720)
    assert echo.warning is None and "12 of 72 lists" in echo.sentence and "12 exactly in its reverse" in echo.sentence
    assert audit_echo(ranked(n, as_shown, agents=agents)[1], draws(n)) == (), "lists of two say nothing of it"


def test_the_first_place_of_lists_whose_others_tie():
    """The first wins all of its 5 pairs of 15, so tau is a third; each other loses one of five and ties four."""
    _, (trend, *places), _ = told(12, lambda query, presentation, order: [1, 0, 0, 0, 0, 0])
    assert trend.figure.value == pytest.approx(5 / 15)
    assert [row.figure.value for row in places] == [1.0, *[pytest.approx(0.4)] * 5]
    assert all(row.p == pytest.approx(min(1, 6 * 2 / 2**12)) for row in places)


@given(st.permutations(range(5)))
def test_tau_is_kendalls(order):
    _, (trend, *_), _ = told(
        1, lambda query, presentation, agents: [-rank for rank in order], agents=SIX[:5], presentations=1
    )
    assert trend.figure.value == pytest.approx(kendalltau(range(5), order).statistic)


def test_where_one_presentation_alone_would_have_others_first_it_is_said():
    """amber always stands first in the first presentation and last in the second."""

    def seated(query, presentation):
        return ("amber", "beryl", "coral")[:: 1 if presentation == 1 else -1]

    _, (trend, *_), _ = told(12, as_shown, agents=SIX[:3], seated=seated)
    assert "favours answers shown earlier: by one presentation alone amber would lead" in trend.warning
    assert "by all together amber, beryl and coral" in trend.warning


def test_a_judge_that_errs_at_random_is_called_biased_no_more_often_than_one_in_twenty():
    runs, n, found = 30, 12, np.zeros(2)
    for run in range(runs):

        def noisy(query, presentation, order, run=run):
            return [random.Random(f"{run}:{query}:{presentation}:{agent}").random() for agent in order]

        _, (trend, *_), (echo,) = told(n, noisy, agents=SIX[:4])
        found += [trend.p is not None and trend.p < 0.05, echo.warning is not None]
    assert found[0] / runs < 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5 and found[1] / runs < 0.05


def test_failed_lists_are_counted_and_pairs_have_no_places():
    games, lists = ranked(6, of_quality)
    failed = [row.model_copy(update={"winner": None, "error": "no"}) if row.presentation == 2 else row for row in games]
    trend, *places = audit_places(failed, SIX, draws(6))
    assert (trend.figure.n, trend.figure.n_failed) == (6 * 15, 6 * 15) and places[0].figure.n_failed == 6 * 5
    gone = [row.model_copy(update={"order": None, "error": "no"}) if row.presentation == 2 else row for row in lists]
    (echo,) = audit_echo(gone, draws(6))
    assert (echo.figure.n, echo.figure.n_failed) == (6, 6)
    assert audit_echo([row for row in gone if row.error], draws(6)) == ()
    assert audit_places([game("q000", "amber", "beryl", "a")], SIX, draws(1)) == ()


def test_queries_of_a_section_are_tested_together():
    games, _ = ranked(24, as_shown)
    alone, together = (audit_places(games, SIX, draws(24, each))[0] for each in (1, 12))
    assert alone.p < 0.001 and together.p == pytest.approx(0.5), "two sections: 2 / 2^2"
    assert all(one.figure.value == other.figure.value for one, other in pairwise([alone, together]))


# Pairs in both orders.


def pair_ratings(games, n, agents=AGENTS):
    found = verdicts(games)
    return bradley_terry.rate(contests(found, agents, names(n)), resamples(names(n), 100, 7)).figures


@pytest.mark.parametrize("first", [True, False])
def test_a_judge_that_always_takes_one_place_is_found_out_and_moves_no_rating(first):
    n = 20
    games = play(n, lambda query, one, other: one if first else other)
    rows = audit_position(games, AGENTS, resamples(names(n), 200, 7))
    rate, favoured = finding(rows, "flip_rate"), finding(rows, "first_favoured")
    assert (rate.figure.value, rate.figure.n) == (1.0, 60)
    assert favoured.figure.value == float(first)
    assert favoured.p < 0.001
    assert f"favours the answer shown {'first' if first else 'second'}" in favoured.warning
    assert {figure.value for figure in pair_ratings(games, n).values()} == {500.0}


def test_a_fair_judge_who_errs_at_random_has_no_favourite_place():
    n = 40
    games = play(n, lambda query, a, b: min(a, b) if coin(query, a, b) < 0.7 else max(a, b))
    rows = audit_position(games, AGENTS, resamples(names(n), 500, 7))
    rate, favoured = finding(rows, "flip_rate"), finding(rows, "first_favoured")
    assert rate.figure.ci_low < 2 * 0.7 * 0.3 < rate.figure.ci_high
    assert favoured.p > 0.05
    assert favoured.warning is None
    assert "Judged in either order alone, amber would lead as well." in favoured.sentence


def test_a_win_against_a_tie_leans_to_its_place():
    played = [("q000", "a", "a"), ("q000", "tie", "b"), ("q001", "b", "a"), ("q001", "tie", "b")]
    games = [game(query, "amber", "beryl", winner, first) for query, winner, first in played]
    rows = audit_position(games, AGENTS[:2], resamples(names(2), 100, 7))
    assert finding(rows, "flip_rate").figure.value == 1.0
    assert finding(rows, "first_favoured").figure.value == 0.5


@given(st.tuples(*[st.integers(0, 3)] * 3).filter(any), st.integers(2, 4))
def test_of_lists_it_is_the_chance_that_not_all_presentations_name_one_winner(counts, n):
    kinds = [kind for kind, count in zip(("first", "second", "tie"), counts, strict=True) for _ in range(count)]
    orders = ("ab" * n)[:n]
    unlike = [len({*map(won, orders, drawn)}) > 1 for drawn in product(kinds, repeat=n)]
    games = [
        game(str(number), "amber", "beryl", won(first, kind), first, presentation=place)
        for number, kind in enumerate(kinds)
        for place, first in enumerate(orders, 1)
    ]
    assert flips_by_guessing(games) == pytest.approx(sum(unlike) / len(unlike)) and flips_by_guessing([]) is None


def test_a_flip_that_leans_to_neither_place_says_nothing_of_a_favourite():
    """Of four presentations the earlier answer won one and lost one."""
    rows = [("a", "a"), ("b", "a"), ("a", "tie"), ("b", "tie")]
    games = [
        game("q000", "amber", "beryl", winner, first, presentation=number)
        for number, (first, winner) in enumerate(rows, 1)
    ]
    found = audit_position(games, AGENTS[:2], resamples(names(1), 100, 7))
    assert finding(found, "flip_rate").figure.value == 1.0 and finding(found, "first_favoured").figure.n == 0


def won(first, kind):
    """The winner's letter in a game whose order is `first`."""
    return kind if kind == "tie" else first if kind == "first" else {"a": "b", "b": "a"}[first]


def guess_warning(games, n=60):
    return finding(audit_position(games, AGENTS, resamples(names(n), 200, 7)), "flip_rate").warning


@pytest.mark.parametrize(("tie", "taste"), [(1 / 3, 0.5), (0.0, 0.5), (0.1, 0.8), (0.6, 0.3)])
def test_a_judge_that_guesses_is_named_in_most_runs(tie, taste):
    named_so = [guess_warning(guessed(seed, tie=tie, taste=taste)) for seed in range(3)]
    assert sum(said is not None for said in named_so) >= 2, "the interval's upper end is missed in 2.5%"
    assert all(said.startswith("The judge may be guessing: ") for said in named_so if said)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2])
def test_a_consistent_judge_is_not_said_to_guess(share):
    """It is right but for a share of its verdicts; a fifth of the pairs are ties."""

    def judge(query, a, b):
        right = "tie" if coin(query, *sorted((a, b))) < 0.2 else min(a, b)
        return right if coin(query, a, b, "slip") >= share else max(a, b)

    assert guess_warning(play(60, judge)) is None


def test_equal_answers_are_not_held_for_a_steady_judge():
    """Half of the pairs need no judge; of the others it guesses, which the flip rate of all would not show."""
    games = guessed(3, n=120, tie=0.0)
    half = [
        row.model_copy(update={"winner": "tie", "reason": IDENTICAL}) for row in games if int(row.query_id[1:]) < 60
    ]
    rest = [row for row in games if int(row.query_id[1:]) >= 60]
    rows = audit_position([*half, *rest], AGENTS, resamples(names(120), 200, 7))
    alone = audit_position(rest, AGENTS, resamples(names(120), 200, 7))
    assert finding(rows, "flip_rate").figure == finding(alone, "flip_rate").figure
    assert " of 180 winners changed" in finding(rows, "flip_rate").warning
    assert finding(rows, "flip_rate").sentence.endswith(" 180 identical pairs are left out, being no question.")
    assert guess_warning(half, 120) is None, "where no judge was asked, none guessed"
